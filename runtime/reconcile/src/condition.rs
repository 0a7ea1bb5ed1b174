//! Conditions: `Ready` with ASO's reasons, severities and overwrite rules (ASO behaviour §1.7), and beside it
//! `Reconciling` and `Stalled` as kstatus knows them.

use serde_json::{Map, Value, json};

/// Reasons that the operator itself gives; Azure's error codes are reasons too.
pub mod reason {
    /// All is as the spec says.
    pub const SUCCEEDED: &str = "Succeeded";
    /// Work is going on.
    pub const RECONCILING: &str = "Reconciling";
    /// Deletion is going on.
    pub const DELETING: &str = "Deleting";
    /// The owner is missing or not ready.
    pub const WAITING_FOR_OWNER: &str = "WaitingForOwner";
    /// A referenced resource is missing.
    pub const REFERENCE_NOT_FOUND: &str = "ReferenceNotFound";
    /// A Secret or a key in it is missing.
    pub const SECRET_NOT_FOUND: &str = "SecretNotFound";
    /// A ConfigMap or a key in it is missing.
    pub const CONFIG_MAP_NOT_FOUND: &str = "ConfigMapNotFound";
    /// An ARM id is outside of what the namespace may use.
    pub const SCOPE_NOT_ALLOWED: &str = "ScopeNotAllowed";
    /// The credential is for another subscription.
    pub const SUBSCRIPTION_MISMATCH: &str = "SubscriptionMismatch";
    /// The resource is not in Azure, and the operator may not create it.
    pub const AZURE_RESOURCE_NOT_FOUND: &str = "AzureResourceNotFound";
    /// A Secret or ConfigMap could not be written.
    pub const EXPORT_FAILED: &str = "FailedWritingAdditionalKubernetesObjects";
    /// A check before the PUT blocks.
    pub const BLOCKED: &str = "ReconciliationBlocked";
    /// A check before the PUT puts the work off.
    pub const POSTPONED: &str = "ReconciliationPostponed";
    /// A check after the PUT failed.
    pub const POST_CHECK_FAILED: &str = "PostReconciliationFailure";
    /// Azure has no way to delete the resource.
    pub const DELETION_NOT_SUPPORTED: &str = "DeletionNotSupportedInAzure";
    /// An annotation has a word that means nothing.
    pub const INVALID_ANNOTATION: &str = "InvalidAnnotation";
    /// Nothing is sent to Azure for now.
    pub const PAUSED: &str = "Paused";
    /// The resource, or one below it, must not be deleted.
    pub const PROTECTED: &str = "Protected";
    /// The resource exists in Azure and must not be taken over.
    pub const ADOPTION_REFUSED: &str = "AdoptionRefused";
    /// The namespace's credential that the object was claimed with is gone.
    pub const CREDENTIAL_NOT_FOUND: &str = "CredentialNotFound";
    /// The pass took longer than one may.
    pub const TIMED_OUT: &str = "TimedOut";
    /// Anything else that went wrong here.
    pub const FAILED: &str = "Failed";
    /// No answer from Azure.
    pub const UNKNOWN_ERROR: &str = "UnknownError";
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Will not be retried before something changes.
    Error,
    /// Will be retried.
    Warning,
    /// Normal progress.
    Info,
    /// Nothing is wrong.
    None,
}

impl Severity {
    /// As the condition says it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "Error",
            Self::Warning => "Warning",
            Self::Info => "Info",
            Self::None => "",
        }
    }
}

/// What a pass found out: what `Ready` is to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// `True` or `False`.
    pub ready: bool,
    /// Severity.
    pub severity: Severity,
    /// Reason in one word.
    pub reason: String,
    /// Text for people.
    pub message: String,
}

impl Verdict {
    /// All is well.
    pub fn succeeded() -> Self {
        Self {
            ready: true,
            severity: Severity::None,
            reason: reason::SUCCEEDED.to_owned(),
            message: String::new(),
        }
    }

    /// Work goes on.
    pub fn progress(reason: &str, message: impl Into<String>) -> Self {
        Self {
            ready: false,
            severity: Severity::Info,
            reason: reason.to_owned(),
            message: message.into(),
        }
    }
}

/// `status.conditions` in stored form with the verdict of this pass worked in. The order of conditions that
/// others wrote is kept. `now` is UTC in whole seconds (RFC 3339).
pub fn update(conditions: &Value, verdict: &Verdict, generation: i64, now: &str) -> Value {
    let mut list: Vec<Value> = conditions.as_array().cloned().unwrap_or_default();
    set_ready(&mut list, verdict, generation, now);
    let stalled = verdict.severity == Severity::Error;
    set_abnormal(
        &mut list,
        "Reconciling",
        !verdict.ready && !stalled,
        verdict,
        generation,
        now,
    );
    set_abnormal(&mut list, "Stalled", stalled, verdict, generation, now);
    Value::Array(list)
}

/// Status and reason of `Ready`, as far as there is one.
pub fn ready(conditions: &Value) -> Option<(&str, &str)> {
    let found = find(conditions.as_array()?, "Ready").map(|at| &conditions[at])?;
    Some((text(found, "status"), text(found, "reason")))
}

/// The reason of a condition that is true.
pub fn reason_of<'a>(conditions: &'a Value, name: &str) -> Option<&'a str> {
    let found = find(conditions.as_array()?, name).map(|at| &conditions[at])?;
    (text(found, "status") == "True").then(|| text(found, "reason"))
}

/// Whether kstatus takes an object with this status for done: `Ready` in its newest generation, and nothing abnormal.
pub fn is_current(status: &Value, generation: i64) -> bool {
    let conditions = status.get("conditions").and_then(Value::as_array);
    let list = conditions.map(Vec::as_slice).unwrap_or_default();
    let is_true = |name| find(list, name).is_some_and(|at| text(&list[at], "status") == "True");
    let seen = status.get("observedGeneration").and_then(Value::as_i64);
    is_true("Ready") && !is_true("Reconciling") && !is_true("Stalled") && seen == Some(generation)
}

/// Whether the object is `Ready` in this generation, and there was nothing to tell of it.
pub fn is_well_without_words(status: &Value, generation: i64) -> bool {
    let conditions = status.get("conditions").and_then(Value::as_array);
    let list = conditions.map(Vec::as_slice).unwrap_or_default();
    let ready = find(list, "Ready").map(|at| &list[at]);
    ready.is_some_and(|ready| {
        let is_in_it = generation_of(ready) == generation;
        is_in_it && text(ready, "status") == "True" && text(ready, "message").is_empty()
    })
}

/// The generation in which the object is ready.
pub fn was_ready_in(conditions: &Value) -> Option<i64> {
    let found = find(conditions.as_array()?, "Ready").map(|at| &conditions[at])?;
    (text(found, "status") == "True").then(|| generation_of(found))
}

fn set_ready(list: &mut Vec<Value>, verdict: &Verdict, generation: i64, now: &str) {
    let status = if verdict.ready { "True" } else { "False" };
    let new = condition("Ready", status, verdict, generation, now);
    match find(list, "Ready") {
        None => list.push(new),
        Some(at) => {
            if replaces(&list[at], &new) {
                list[at] = keep_time(&list[at], new);
            }
        }
    }
}

/// Whether the new `Ready` may take the place of the old one (ASO behaviour §1.7, overwrite rule). A waiting
/// reason gives way to `Reconciling`: by then nothing waits any more. A failure does not: it stays visible
/// while the retry runs.
fn replaces(old: &Value, new: &Value) -> bool {
    let (old_generation, new_generation) = (generation_of(old), generation_of(new));
    if new_generation != old_generation {
        return new_generation > old_generation;
    }
    priority(new) >= priority(old) || reason_priority(new) > reason_priority(old)
}

fn priority(condition: &Value) -> u8 {
    match (text(condition, "status"), text(condition, "severity")) {
        ("True", _) => 5,
        ("False", "Info") => 4,
        ("False", _) => 5,
        _ => 3,
    }
}

fn reason_priority(condition: &Value) -> i8 {
    match text(condition, "reason") {
        reason::REFERENCE_NOT_FOUND
        | reason::SECRET_NOT_FOUND
        | reason::CONFIG_MAP_NOT_FOUND
        | reason::AZURE_RESOURCE_NOT_FOUND
        | reason::WAITING_FOR_OWNER => -2,
        reason::RECONCILING => -1,
        _ => 0,
    }
}

/// Conditions that are there only while something is abnormal (kstatus).
fn set_abnormal(
    list: &mut Vec<Value>,
    name: &str,
    present: bool,
    verdict: &Verdict,
    generation: i64,
    now: &str,
) {
    let at = find(list, name);
    match (at, present) {
        (None, false) => {}
        (Some(at), false) => {
            list.remove(at);
        }
        (None, true) => list.push(condition(name, "True", verdict, generation, now)),
        (Some(at), true) => {
            let new = condition(name, "True", verdict, generation, now);
            list[at] = keep_time(&list[at], new);
        }
    }
}

/// The time of a condition is when its status changed, not when its text did.
fn keep_time(old: &Value, mut new: Value) -> Value {
    if text(old, "status") == text(&new, "status")
        && let Some(time) = old.get("lastTransitionTime")
    {
        new["lastTransitionTime"] = time.clone();
    }
    new
}

fn condition(name: &str, status: &str, verdict: &Verdict, generation: i64, now: &str) -> Value {
    let mut fields = Map::new();
    fields.insert("lastTransitionTime".to_owned(), json!(now));
    if !verdict.message.is_empty() {
        fields.insert("message".to_owned(), json!(verdict.message));
    }
    fields.insert("observedGeneration".to_owned(), json!(generation));
    fields.insert("reason".to_owned(), json!(verdict.reason));
    if name == "Ready" && verdict.severity != Severity::None {
        fields.insert("severity".to_owned(), json!(verdict.severity.as_str()));
    }
    fields.insert("status".to_owned(), json!(status));
    fields.insert("type".to_owned(), json!(name));
    Value::Object(fields)
}

fn find(list: &[Value], name: &str) -> Option<usize> {
    list.iter().position(|item| text(item, "type") == name)
}

fn text<'a>(condition: &'a Value, field: &str) -> &'a str {
    condition.get(field).and_then(Value::as_str).unwrap_or("")
}

fn generation_of(condition: &Value) -> i64 {
    condition
        .get("observedGeneration")
        .and_then(Value::as_i64)
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backoff::RetryClass;
    use crate::outcome::Failure;

    const EARLY: &str = "2030-01-01T00:00:00Z";
    const LATE: &str = "2030-01-01T01:00:00Z";

    fn warning(reason: &str) -> Verdict {
        Verdict::from(&Failure::warning(reason, RetryClass::Fast, "wait"))
    }

    fn reconciling() -> Verdict {
        Verdict::progress(reason::RECONCILING, "")
    }

    fn error() -> Verdict {
        Verdict::from(&Failure::error("LocationRequired", "no"))
    }

    #[test]
    fn what_kstatus_takes_for_done() {
        let status = |others: &[Value], observed: i64| {
            let mut conditions = vec![json!({"type": "Ready", "status": "True"})];
            conditions.extend_from_slice(others);
            json!({"conditions": conditions, "observedGeneration": observed})
        };
        let other = |name: &str, status: &str| json!({"type": name, "status": status});
        assert!(is_current(&status(&[], 2), 2));
        assert!(is_current(&status(&[other("Paused", "True")], 2), 2));
        assert!(is_current(&status(&[other("Reconciling", "False")], 2), 2));
        for (others, observed) in [
            (vec![], 1),
            (vec![other("Reconciling", "True")], 2),
            (vec![other("Stalled", "True")], 2),
        ] {
            assert!(!is_current(&status(&others, observed), 2));
        }
        let not_ready = json!({"conditions": [other("Ready", "False")], "observedGeneration": 2});
        assert!(!is_current(&not_ready, 2));
        assert!(!is_current(&Value::Null, 2));
    }

    /// ASO behaviour §1.7, overwrite rule: one row per pair of old and new.
    #[test]
    fn what_replaces_what() {
        let rows = [
            (Verdict::succeeded(), 1, reconciling(), 1, "Succeeded"),
            (Verdict::succeeded(), 1, reconciling(), 2, "Reconciling"),
            (Verdict::succeeded(), 1, warning("Failed"), 1, "Failed"),
            (Verdict::succeeded(), 2, warning("Failed"), 1, "Succeeded"),
            (warning("Failed"), 1, reconciling(), 1, "Failed"),
            (
                warning("WaitingForOwner"),
                1,
                reconciling(),
                1,
                "Reconciling",
            ),
            (
                reconciling(),
                1,
                warning("WaitingForOwner"),
                1,
                "WaitingForOwner",
            ),
            (
                warning("Failed"),
                1,
                warning("SecretNotFound"),
                1,
                "SecretNotFound",
            ),
            (error(), 1, Verdict::succeeded(), 1, "Succeeded"),
            (error(), 1, reconciling(), 2, "Reconciling"),
        ];
        for (old, old_generation, new, new_generation, expected) in rows {
            let first = update(&Value::Null, &old, old_generation, EARLY);
            let second = update(&first, &new, new_generation, LATE);
            let (_, reason) = ready(&second).unwrap();
            assert_eq!(
                reason, expected,
                "{old:?} {old_generation} → {new:?} {new_generation}"
            );
        }
    }

    #[test]
    fn the_same_verdict_changes_nothing() {
        for verdict in [
            Verdict::succeeded(),
            warning("Failed"),
            error(),
            reconciling(),
        ] {
            let first = update(&Value::Null, &verdict, 3, EARLY);
            assert_eq!(update(&first, &verdict, 3, LATE), first);
        }
    }

    #[test]
    fn time_moves_with_the_status_only() {
        let first = update(&Value::Null, &warning("Failed"), 1, EARLY);
        let second = update(&first, &warning("SecretNotFound"), 1, LATE);
        assert_eq!(second[0]["lastTransitionTime"], EARLY);
        let third = update(&second, &Verdict::succeeded(), 1, LATE);
        assert_eq!(third[0]["lastTransitionTime"], LATE);
    }

    /// kstatus: `Reconciling` while work goes on, `Stalled` when only the user can help, neither when ready.
    #[test]
    fn abnormal_conditions_come_and_go() {
        let types = |conditions: &Value| -> Vec<String> {
            let list = conditions.as_array().unwrap();
            list.iter()
                .map(|item| text(item, "type").to_owned())
                .collect()
        };
        let waiting = update(&Value::Null, &warning("WaitingForOwner"), 1, EARLY);
        assert_eq!(types(&waiting), ["Ready", "Reconciling"]);
        let stalled = update(&waiting, &error(), 1, EARLY);
        assert_eq!(types(&stalled), ["Ready", "Stalled"]);
        let ready = update(&stalled, &Verdict::succeeded(), 1, EARLY);
        assert_eq!(types(&ready), ["Ready"]);
    }
}
