//! Schemas of the structs that every kind shares (ASO behaviour §3.2 to §3.4).

use serde_json::{Map, Value, json};

use super::checks::Checks;
use crate::model::CommonType;

/// What an ARM id has to look like.
const ARM_ID: &str = "(?i)(^(/subscriptions/([^/]+)(/resourcegroups/([^/]+))?)?/providers/([^/]+)/([^/]+/[^/]+)(/([^/]+/[^/]+))*$|^/subscriptions/([^/]+)(/resourcegroups/([^/]+))?$)";

/// How a shared struct refers to a resource.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// By group, kind and name.
    Any,
    /// The same, or by a name that Azure knows.
    WellKnown,
    /// By name, as the kind is fixed.
    Known,
}

/// A reference to a resource.
pub(super) fn reference(form: Form, checks: Checks) -> Value {
    let more: &[&str] = match form {
        Form::Any => &["group", "kind", "name"],
        Form::WellKnown => &["group", "kind", "name", "wellKnownName"],
        Form::Known => &["name"],
    };
    let mut properties = strings(more);
    let arm_id = match checks {
        Checks::All => json!({"type": "string", "pattern": ARM_ID}),
        Checks::Types => string(),
    };
    properties.insert("armId".to_owned(), arm_id);
    object(properties, &[], checks)
}

/// A user-assigned identity.
pub(super) fn identity(checks: Checks) -> Value {
    let mut properties = Map::new();
    properties.insert("reference".to_owned(), reference(Form::Any, checks));
    object(properties, &[], checks)
}

/// What is read from a Secret or ConfigMap, which these members name.
pub(super) fn input(members: &[&str], checks: Checks) -> Value {
    object(strings(members), members, checks)
}

/// A struct of the operator's own.
pub(super) fn common(ty: CommonType, checks: Checks) -> Value {
    match ty {
        CommonType::KnownResourceReference => reference(Form::Known, checks),
        CommonType::ArbitraryOwnerReference => reference(Form::Any, checks),
        CommonType::Condition => condition(),
        CommonType::DestinationExpression => {
            let mut properties = destination();
            properties.insert("value".to_owned(), string());
            object(properties, &["name", "value"], checks)
        }
        CommonType::SecretDestination | CommonType::ConfigMapDestination => {
            object(destination(), &["key", "name"], checks)
        }
    }
}

fn destination() -> Map<String, Value> {
    let mut properties = strings(&["key", "name"]);
    for member in ["annotations", "labels"] {
        let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
        properties.insert(member.to_owned(), map);
    }
    properties
}

/// A condition is the operator's own work, and is checked wherever it stands.
fn condition() -> Value {
    let mut properties = strings(&["message", "reason", "severity", "status", "type"]);
    let time = json!({"type": "string", "format": "date-time"});
    properties.insert("lastTransitionTime".to_owned(), time);
    let generation = json!({"type": "integer", "format": "int64"});
    properties.insert("observedGeneration".to_owned(), generation);
    let required = ["lastTransitionTime", "reason", "status", "type"];
    object(properties, &required, Checks::All)
}

fn object(properties: Map<String, Value>, required: &[&str], checks: Checks) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    if checks == Checks::All && !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn strings(members: &[&str]) -> Map<String, Value> {
    let members = members.iter();
    members
        .map(|member| ((*member).to_owned(), string()))
        .collect()
}

fn string() -> Value {
    json!({"type": "string"})
}
