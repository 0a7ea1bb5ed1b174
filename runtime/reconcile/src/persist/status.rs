//! What the status says: the verdict, and what annotations ask for.

use serde_json::{Map, Value, json};

use super::Known;
use crate::action::Finish;
use crate::annotations::Directives;
use crate::backoff::Requeue;
use crate::condition::{self, Verdict, reason};
use crate::side_condition::{self, Told};

/// What the status says beside the verdict.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// What annotations ask for; nothing while one of them means nothing.
    pub directives: Option<&'a Directives>,
    /// Now, UTC in whole seconds (RFC 3339).
    pub now: &'a str,
}

impl Words<'_> {
    /// The status after this end of a pass; nothing where the pass says nothing.
    pub(super) fn status(&self, known: &Known<'_>, finish: &Finish) -> Option<Value> {
        let paused = finish.paused.as_deref();
        if finish.verdict.is_none() && paused.is_none() {
            return None;
        }
        let mut status = known.status.clone();
        if let Some(verdict) = &finish.verdict {
            status = says_verdict(&status, verdict, known.generation, self.now);
        }
        let Some(directives) = self.directives else {
            return Some(status);
        };
        if paused.is_some() {
            status = self.says_that_nothing_is_there(status, known.generation);
        }
        let told = Told {
            generation: known.generation,
            served: paused.is_none() && !matches!(finish.requeue, Requeue::PutOff(_)),
        };
        let conditions = status.get_mut("conditions").map(Value::take);
        let conditions = conditions.unwrap_or_default();
        let conditions = side_condition::update(conditions, directives, paused, told, self.now);
        status["conditions"] = conditions;
        Some(status)
    }

    /// A paused object that was never looked at is not ready, or tools would take it for done. One that was keeps what
    /// was said.
    fn says_that_nothing_is_there(&self, status: Value, generation: i64) -> Value {
        let conditions = status.get("conditions").unwrap_or(&Value::Null);
        if condition::ready(conditions).is_some() {
            return status;
        }
        let message = "paused before anything was sent to Azure";
        let verdict = Verdict::progress(reason::PAUSED, message);
        says_verdict(&status, &verdict, generation, self.now)
    }
}

/// The status with the verdict worked in: conditions first, as the API has them.
#[must_use]
pub fn says_verdict(status: &Value, verdict: &Verdict, generation: i64, now: &str) -> Value {
    let old = status.get("conditions").unwrap_or(&Value::Null);
    let conditions = condition::update(old, verdict, generation, now);
    let mut members = Map::new();
    members.insert("conditions".to_owned(), conditions);
    for (name, value) in status.as_object().into_iter().flatten() {
        if name != "conditions" && name != "observedGeneration" {
            members.insert(name.clone(), value.clone());
        }
    }
    members.insert("observedGeneration".to_owned(), json!(generation));
    Value::Object(members)
}

/// The conditions and the observed generation of a status whose rest Kubernetes does not take, for this reason.
#[must_use]
pub fn says_alone(status: &Value, why: &str) -> Value {
    let mut alone = json!({
        "conditions": status["conditions"],
        "observedGeneration": status["observedGeneration"],
    });
    let conditions = alone["conditions"].as_array_mut();
    let ready = conditions.and_then(|list| list.iter_mut().find(|item| item["type"] == "Ready"));
    if let Some(ready) = ready {
        let said = ready["message"].as_str().filter(|said| !said.is_empty());
        let said = said.map_or_else(String::new, |said| format!("{said}; "));
        let message = format!(
            "{said}what Azure has of the resource is not in the status, which Kubernetes refused: {why}"
        );
        ready["message"] = Value::from(message);
    }
    alone
}
