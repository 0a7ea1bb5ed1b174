//! What goes wrong with requests, and what others change in Azure.

use armature_simulator::{Failure, FaultRule, Spoil};
use serde_json::{Value, json};

use crate::named::Path;
use crate::plan::{Change, Trouble};

/// The simulator's rule for trouble of a kind.
pub fn rule(plain: FaultRule, trouble: Trouble) -> FaultRule {
    let status = |status, retry_after| FaultRule {
        status: Some(status),
        retry_after,
        ..plain.clone()
    };
    let spoil = |spoil| FaultRule {
        spoil: Some(spoil),
        ..plain.clone()
    };
    match trouble {
        Trouble::Throttled => status(429, Some(7)),
        Trouble::Internal => status(500, None),
        Trouble::BadGateway => status(502, None),
        Trouble::Busy => status(503, Some(3)),
        Trouble::Forbidden => status(403, None),
        Trouble::Cut => FaultRule {
            reset: true,
            ..plain
        },
        Trouble::Lost => spoil(Spoil::Reset),
        Trouble::Truncated => spoil(Spoil::Truncated),
        Trouble::FailedOperation => FaultRule {
            fail_operation: Some(Failure {
                code: "OperationFailed".to_owned(),
                message: "it went wrong".to_owned(),
            }),
            ..plain
        },
        Trouble::Stale => FaultRule {
            stale: true,
            ..plain
        },
    }
}

/// Members that say what a resource is; nobody changes them in place.
const FIXED: [&str; 9] = [
    "id",
    "name",
    "type",
    "kind",
    "etag",
    "location",
    "provisioningState",
    "createMode",
    "objectType",
];

/// A change of the resource: path and new value, `null` for none. It changes what the manifest names, or adds beside it.
pub fn drift_of(
    resource: &Value,
    body: &Value,
    change: Change,
    pick: u16,
) -> Option<(Path, Value)> {
    let mut places = Vec::new();
    common(resource, body, &mut Vec::new(), &mut places);
    if change == Change::Add {
        let has_tags = resource.get("tags").is_some_and(Value::is_object);
        return has_tags.then(|| {
            let path = ["tags".to_owned(), format!("other{}", pick % 3)];
            (path.to_vec(), json!("of others"))
        });
    }
    let (path, value) = places.get(usize::from(pick).checked_rem(places.len())?)?;
    let new = match (change, value) {
        (Change::Remove, _) => Value::Null,
        (_, Value::String(text)) => json!(format!("{text}-changed")),
        (_, Value::Bool(is_set)) => json!(!is_set),
        (_, Value::Number(number)) => json!(number.as_i64().unwrap_or(0).saturating_add(1)),
        (_, Value::Array(items)) if items.is_empty() => return None,
        (_, Value::Array(items)) => json!(items[1..]),
        _ => return None,
    };
    Some((path.clone(), new))
}

/// Values that the manifest names and the resource has, lists as a whole.
fn common(resource: &Value, body: &Value, path: &mut Path, places: &mut Vec<(Path, Value)>) {
    match (resource, body) {
        (Value::Object(resource), Value::Object(body)) => {
            for (name, value) in body {
                let Some(found) = resource.get(name) else {
                    continue;
                };
                if FIXED.contains(&name.as_str()) {
                    continue;
                }
                path.push(name.clone());
                common(found, value, path, places);
                path.pop();
            }
        }
        (Value::Object(_), _) | (_, Value::Object(_)) => {}
        (value, _) => places.push((path.clone(), value.clone())),
    }
}
