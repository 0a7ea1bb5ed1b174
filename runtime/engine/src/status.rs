//! From ARM's JSON to Kubernetes' words: the status of an object, and the spec of one that is to take the resource over.

use serde_json::{Map, Value};

use armature_shapes::kind::VersionInfo;
use armature_shapes::shape::arm_json::find;
use armature_shapes::shape::arm_tree::{ArmTree, chosen_variant};
use armature_shapes::shape::{ArmPlace, Field, Flags, Semantic, StructShape, Type};

/// The status that an ARM resource has in this version's words.
///
/// What the shape does not know is left out, and so is a value of an unexpected JSON type: a status that lacks
/// a field beats no status; so are lists of more than [`LONGEST_LIST`] items, because etcd takes no object of their
/// size (ASO behaviour §2.2 does so for one field of subnets). Secrets never enter. `conditions` are the reconciler's and are not set here.
pub fn status_from_arm(version: &VersionInfo, arm: &Value) -> Value {
    let mut status = from_arm(version.status, arm, LONGEST_LIST);
    // `name` stands in the body of every resource: it is no further member of one.
    let rest = version.status.fields.iter();
    for field in rest.filter(|field| matches!(field.arm, ArmPlace::Further([]))) {
        if let Some(Value::Object(further)) = status.get_mut(field.name) {
            further.retain(|name, _| name != "name");
            if further.is_empty()
                && let Value::Object(status) = &mut status
            {
                status.shift_remove(field.name);
            }
        }
    }
    status
}

/// The spec that an ARM resource has in this version's words: what a PUT of this version could say of it. Secrets never enter;
/// names, owner and what else is between the user and the operator are not in an answer and so not in it.
pub fn spec_from_arm(version: &VersionInfo, arm: &Value) -> Value {
    from_arm(version.spec, arm, usize::MAX)
}

/// Most items of a list in a status: 2,000 ARM ids are half a megabyte, and etcd takes 1.5.
const LONGEST_LIST: usize = 2000;

fn from_arm(shape: &'static StructShape, arm: &Value, longest: usize) -> Value {
    match arm {
        Value::Object(members) => Value::Object(read_struct(shape, members, longest)),
        _ => Value::Object(Map::new()),
    }
}

/// `longest` is the most items that a list may have.
fn read_struct(
    shape: &'static StructShape,
    arm: &Map<String, Value>,
    longest: usize,
) -> Map<String, Value> {
    let mut out = Map::new();
    for field in shape.fields {
        let value = match field.arm {
            ArmPlace::Operator => None,
            ArmPlace::At(at) => find(arm, at).and_then(|value| read_field(field, value, longest)),
            ArmPlace::Variant => read_variant(shape, field, arm, longest),
            ArmPlace::Further(at) => read_further(shape, at, field, arm, longest),
        };
        if let Some(value) = value {
            out.insert(field.name.to_owned(), value);
        }
    }
    out
}

/// What the object at a path has beside the members that the shape knows there; absent when there is nothing.
fn read_further(
    shape: &'static StructShape,
    at: &[&str],
    field: &Field,
    arm: &Map<String, Value>,
    longest: usize,
) -> Option<Value> {
    let tree = ArmTree::of(shape, arm);
    let mut known = &tree;
    for name in at {
        known = known.member(name)?;
    }
    let members = match at {
        [] => arm,
        at => find(arm, at)?.as_object()?,
    };
    let further = members
        .iter()
        .filter(|(name, _)| known.member(name).is_none());
    let further: Map<_, _> = further
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let read = read_field(field, &Value::Object(further), longest)?;
    read.as_object()
        .is_some_and(|further| !further.is_empty())
        .then_some(read)
}

/// The variant that the discriminator names, read from the object itself.
fn read_variant(
    shape: &'static StructShape,
    field: &Field,
    arm: &Map<String, Value>,
    longest: usize,
) -> Option<Value> {
    let Type::Struct(variant) = field.ty else {
        return None;
    };
    let one_of = shape.one_of.as_ref()?;
    if chosen_variant(shape, arm)? != field.name {
        return None;
    }
    let mut members = read_struct(variant, arm, longest);
    // The variant's own shape does not know the discriminator, so it may have taken it for a further member.
    for field in variant.fields {
        if let (ArmPlace::Further([]), Some(Value::Object(further))) =
            (field.arm, members.get_mut(field.name))
        {
            further.retain(|name, _| !name.eq_ignore_ascii_case(one_of.discriminator));
            if further.is_empty() {
                members.shift_remove(field.name);
            }
        }
    }
    Some(Value::Object(members))
}

fn read_field(field: &Field, value: &Value, longest: usize) -> Option<Value> {
    if field.flags.has(Flags::SECRET) {
        return None;
    }
    read(field.ty, value, longest)
}

fn read(ty: Type, value: &Value, longest: usize) -> Option<Value> {
    match ty {
        Type::Bool => value.is_boolean().then(|| value.clone()),
        Type::Integer(_) => armature_shapes::shape::integer(value).map(Value::from),
        Type::Number => value.is_number().then(|| value.clone()),
        Type::String => value.is_string().then(|| value.clone()),
        Type::Json => Some(value.clone()),
        Type::Enum(shape) => value
            .as_str()
            .map(|text| Value::from(shape.canonical(text))),
        Type::Struct(shape) => read_object(shape, value, longest),
        Type::List(shape) => match (shape.item, value) {
            (Type::Struct(item), Value::Object(members))
                if item.semantic == Semantic::ArmIdKeyed =>
            {
                Some(members.keys().map(|id| arm_id_item(id)).collect())
            }
            (item, Value::Array(items)) if items.len() <= longest => {
                let items = items.iter();
                Some(
                    items
                        .filter_map(|value| read(item, value, longest))
                        .collect(),
                )
            }
            _ => None,
        },
        Type::Map(shape) => {
            let members = value.as_object()?.iter();
            let members = members
                .filter_map(|(key, value)| Some((key.clone(), read(shape.value, value, longest)?)))
                .collect::<Map<_, _>>();
            Some(Value::Object(members))
        }
    }
}

fn read_object(shape: &'static StructShape, value: &Value, longest: usize) -> Option<Value> {
    match shape.semantic {
        Semantic::Plain | Semantic::ArmIdKeyed => Some(Value::Object(read_struct(
            shape,
            value.as_object()?,
            longest,
        ))),
        Semantic::Reference | Semantic::WellKnownReference => {
            let id = value.as_str().filter(|id| !id.is_empty())?;
            Some(reference_to(id))
        }
        Semantic::SecretReference | Semantic::SecretMapReference | Semantic::ConfigMapReference => {
            None
        }
    }
}

fn reference_to(id: &str) -> Value {
    serde_json::json!({ "armId": id })
}

fn arm_id_item(id: &str) -> Value {
    serde_json::json!({ "reference": reference_to(id) })
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::gadget::{MODEL, OPEN, VERSION};
    use serde_json::json;

    use super::*;

    #[test]
    fn envelope_is_flattened_unknown_members_dropped_and_casing_forgiven() {
        let arm = json!({
            "id": "/x", "Location": "westus", "etag": "ignored",
            "properties": {"accessTier": "hot", "capacity": 2.0, "unknown": {}, "enabled": "yes"},
        });
        assert_eq!(
            status_from_arm(&VERSION, &arm),
            json!({"id": "/x", "location": "westus", "accessTier": "Hot", "capacity": 2})
        );
        assert_eq!(status_from_arm(&VERSION, &json!("text")), json!({}));
    }

    #[test]
    fn discriminator_chooses_the_variant() {
        let arm = json!({"properties": {"source": {"kind": "BLOB", "properties": {"uri": "u"}}}});
        assert_eq!(
            spec_from_arm(&VERSION, &arm),
            json!({"source": {"blob": {"uri": "u"}}})
        );
        let arm = json!({"properties": {"source": {"kind": "Other"}}});
        assert_eq!(spec_from_arm(&VERSION, &arm), json!({"source": {}}));
    }

    #[test]
    fn ids_become_references_and_secrets_stay_out() {
        let arm = json!({
            "identity": {"type": "UserAssigned", "userAssignedIdentities": {"/id/a": {"clientId": "c"}}},
            "properties": {"subnet": {"id": "/subnets/1"}, "password": "p", "protectedSettings": {"a": "b"}},
        });
        assert_eq!(
            spec_from_arm(&VERSION, &arm),
            json!({
                "identity": {
                    "type": "UserAssigned",
                    "userAssignedIdentities": [{"reference": {"armId": "/id/a"}}],
                },
                "subnetReference": {"armId": "/subnets/1"},
            })
        );
        assert_eq!(MODEL.kind, "Gadget");
    }

    #[test]
    fn a_list_too_long_for_etcd_is_left_out() {
        let zones = |count: usize| json!({"zones": vec!["1"; count]});
        let status = |count| from_arm(VERSION.spec, &zones(count), LONGEST_LIST);
        assert_eq!(status(LONGEST_LIST), zones(LONGEST_LIST));
        assert_eq!(status(LONGEST_LIST + 1), json!({}));
        let spec = spec_from_arm(&VERSION, &zones(LONGEST_LIST + 1));
        assert_eq!(spec, zones(LONGEST_LIST + 1));
    }

    #[test]
    fn further_members_are_those_that_no_field_has() {
        let arm = json!({
            "odata.type": "Metric", "size": 1, "a.b/c": 2, "text": "not a number", "SIZE": 3,
            "properties": {"unit": "u", "x": "y", "z": null},
        });
        assert_eq!(
            status_from_arm(&OPEN, &arm),
            json!({"metric": {
                "size": 1, "unit": "u", "additionalProperties": {"a.b/c": 2},
                "properties_additionalProperties": {"x": "y"},
            }})
        );
        let bare = json!({"odata.type": "Metric", "properties": {"unit": "u"}});
        assert_eq!(
            status_from_arm(&OPEN, &bare),
            json!({"metric": {"unit": "u"}})
        );
    }
}
