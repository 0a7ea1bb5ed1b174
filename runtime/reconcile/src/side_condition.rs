//! Conditions beside `Ready` that show what annotations ask for. They are there only while an annotation holds, and
//! kstatus takes no notice of them: what an object is waited for stays in `Ready`.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::annotations::{Directives, Pause, SyncPeriod};

/// Nothing is sent to Azure.
const PAUSED: &str = "Paused";
/// The resource must not be deleted.
const PROTECTED: &str = "Protected";
/// The object has a sync period of its own.
const SYNC_PERIOD: &str = "SyncPeriod";
/// Annotations of the object do not count, since its namespace binds it.
pub const OVERRULED: &str = "Overruled";
/// The latest request for a pass at once was served.
const RECONCILE_NOW: &str = "ReconcileNow";

/// Most signs of a user's text that are shown.
const SHOWN: usize = 100;

/// One condition that is to be there, with the status `True`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shown {
    name: &'static str,
    reason: &'static str,
    message: String,
}

/// What is said of the object besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Generation that it is about.
    pub generation: i64,
    /// The pass has served what `reconcile-now` asked for.
    pub served: bool,
}

/// `status.conditions` with the conditions of these directives. `paused` is the text of `Paused`. `now` is UTC in
/// whole seconds (RFC 3339).
pub fn update(
    conditions: Value,
    directives: &Directives,
    paused: Option<&str>,
    told: Told,
    now: &str,
) -> Value {
    let mut list = match conditions {
        Value::Array(list) => list,
        _ => Vec::new(),
    };
    let wanted = wanted(directives, paused, now);
    for name in [PAUSED, PROTECTED, SYNC_PERIOD, OVERRULED] {
        let shown = wanted.iter().find(|shown| shown.name == name);
        set(&mut list, name, shown, told.generation, now);
    }
    let served = served(directives);
    if served.is_none() || told.served {
        set(
            &mut list,
            RECONCILE_NOW,
            served.as_ref(),
            told.generation,
            now,
        );
    }
    Value::Array(list)
}

/// Whether `reconcile-now` asks for a pass that has not been.
pub fn is_requested(conditions: &Value, directives: &Directives) -> bool {
    let Some(wanted) = served(directives) else {
        return false;
    };
    let mut list = conditions.as_array().into_iter().flatten();
    !list.any(|item| item["type"] == RECONCILE_NOW && item["message"] == wanted.message)
}

/// Text of the condition `Paused`.
pub fn paused_message(pause: Pause) -> String {
    match pause {
        Pause::Open => {
            "nothing is sent to Azure, deletion included, until the annotation armature.azure.com/paused goes".to_owned()
        }
        Pause::Until(end) => format!("nothing is sent to Azure, deletion included, until {end}"),
    }
}

fn wanted(directives: &Directives, paused: Option<&str>, now: &str) -> Vec<Shown> {
    let paused = paused.map(|message| Shown {
        name: PAUSED,
        reason: PAUSED,
        message: message.to_owned(),
    });
    let protected = directives.protect.then(|| Shown {
        name: PROTECTED,
        reason: "Delete",
        message: "neither the object nor its resource is deleted, nor what they are in".to_owned(),
    });
    let sync = directives.sync.map(|sync| match sync {
        SyncPeriod::Never => Shown {
            name: SYNC_PERIOD,
            reason: "Never",
            message: "Azure is looked at when something changes, and not from time to time"
                .to_owned(),
        },
        SyncPeriod::Every(period) => Shown {
            name: SYNC_PERIOD,
            reason: "Set",
            message: format!("Azure is looked at every {} s", period.as_secs()),
        },
    });
    let now = now.parse().unwrap_or(Timestamp::MIN);
    let overruled = directives.overruled.iter();
    let overruled = overruled.filter(|overruled| overruled.holds_at(now));
    let overruled: Vec<String> = overruled.map(ToString::to_string).collect();
    let overruled = (!overruled.is_empty()).then(|| Shown {
        name: OVERRULED,
        reason: "BoundByNamespace",
        message: overruled.join("; "),
    });
    [paused, protected, sync, overruled]
        .into_iter()
        .flatten()
        .collect()
}

fn served(directives: &Directives) -> Option<Shown> {
    if directives.reconcile_now.is_empty() {
        return None;
    }
    let texts = directives.reconcile_now.iter();
    let texts: Vec<String> = texts
        .map(|text| format!("'{}'", text.chars().take(SHOWN).collect::<String>()))
        .collect();
    Some(Shown {
        name: RECONCILE_NOW,
        reason: "Served",
        message: format!("{} was served", texts.join(" with ")),
    })
}

fn set(list: &mut Vec<Value>, name: &str, shown: Option<&Shown>, generation: i64, now: &str) {
    let at = list.iter().position(|item| item["type"] == name);
    match (at, shown) {
        (None, None) => {}
        (Some(at), None) => {
            list.remove(at);
        }
        (None, Some(shown)) => list.push(condition(shown, generation, now)),
        (Some(at), Some(shown)) => {
            let mut new = condition(shown, generation, now);
            // The time is when this began to hold.
            if list[at]["message"] == shown.message {
                new["lastTransitionTime"] = list[at]["lastTransitionTime"].clone();
            }
            list[at] = new;
        }
    }
}

fn condition(shown: &Shown, generation: i64, now: &str) -> Value {
    json!({
        "lastTransitionTime": now,
        "message": shown.message,
        "observedGeneration": generation,
        "reason": shown.reason,
        "status": "True",
        "type": shown.name,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use armature_shapes::names;

    use super::*;
    use crate::annotations::BINDING;
    use crate::policy::Policy;

    const EARLY: &str = "2030-01-01T00:00:00Z";
    const LATE: &str = "2030-01-01T01:00:00Z";
    const SERVED: Told = Told {
        generation: 1,
        served: true,
    };

    fn directives(change: impl FnOnce(&mut Directives)) -> Directives {
        let mut directives = Directives::of_policy(Policy::Manage);
        change(&mut directives);
        directives
    }

    fn said(conditions: &Value) -> Vec<String> {
        let list = conditions.as_array().unwrap();
        let text = |item: &Value, field: &str| item[field].as_str().unwrap().to_owned();
        list.iter()
            .map(|item| format!("{}/{}", text(item, "type"), text(item, "reason")))
            .collect()
    }

    #[test]
    fn conditions_come_and_go_with_what_is_asked_for() {
        let ready = json!([{"type": "Ready", "status": "True"}]);
        for (change, paused, expected) in [
            ((|_| {}) as fn(&mut Directives), None, None),
            (|_| {}, Some("until then"), Some("Paused/Paused")),
            (|d| d.protect = true, None, Some("Protected/Delete")),
            (
                |d| d.sync = Some(SyncPeriod::Never),
                None,
                Some("SyncPeriod/Never"),
            ),
            (
                |d| d.sync = Some(SyncPeriod::Every(Duration::from_secs(60))),
                None,
                Some("SyncPeriod/Set"),
            ),
            (
                |d| d.reconcile_now = vec!["1".to_owned()],
                None,
                Some("ReconcileNow/Served"),
            ),
        ] {
            let asked = directives(change);
            let with = update(ready.clone(), &asked, paused, SERVED, EARLY);
            let found: Vec<String> = match with.as_array().unwrap().split_first() {
                Some((first, rest)) if *first == ready[0] => said(&json!(rest)),
                _ => panic!("Ready changed: {with}"),
            };
            let expected: Vec<String> = expected.map(str::to_owned).into_iter().collect();
            assert_eq!(found, expected);
            let again = update(with.clone(), &asked, paused, SERVED, LATE);
            assert_eq!(again, with, "nothing changed");
            let without = update(with, &directives(|_| {}), None, SERVED, LATE);
            assert_eq!(without, ready);
        }
    }

    /// What overrules the object's word is over by itself.
    #[test]
    fn what_a_pause_overrules_is_told_until_its_end() {
        let texts = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let object = [texts(names::PAUSED, "false")].into();
        let bound = texts(BINDING, "paused");
        for (end, early, late) in [
            (
                "2030-01-01T00:30:00Z",
                Some("Overruled/BoundByNamespace"),
                None,
            ),
            (
                "true",
                Some("Overruled/BoundByNamespace"),
                Some("Overruled/BoundByNamespace"),
            ),
        ] {
            let namespace = [bound.clone(), texts(names::PAUSED, end)].into();
            let read = Directives::read(&object, ("team", &namespace), Policy::Manage).unwrap();
            let mut conditions = Value::Null;
            for (now, expected) in [(EARLY, early), (LATE, late)] {
                conditions = update(conditions, &read, None, SERVED, now);
                let expected: Vec<&str> = expected.into_iter().collect();
                assert_eq!(said(&conditions), expected, "{end} at {now}");
            }
        }
    }

    #[test]
    fn a_request_is_served_once() {
        let asked = |text: &str| directives(|d| d.reconcile_now = vec![text.to_owned()]);
        let nothing = directives(|_| {});
        assert!(!is_requested(&Value::Null, &nothing));
        assert!(is_requested(&Value::Null, &asked("1")));
        let not_yet = Told {
            served: false,
            ..SERVED
        };
        let waiting = update(Value::Null, &asked("1"), None, not_yet, EARLY);
        assert!(is_requested(&waiting, &asked("1")), "put off");
        let served = update(waiting, &asked("1"), None, SERVED, EARLY);
        assert!(!is_requested(&served, &asked("1")));
        assert!(is_requested(&served, &asked("2")));
        let next = update(served, &asked("2"), None, SERVED, LATE);
        assert_eq!(next[0]["lastTransitionTime"], LATE);
    }
}
