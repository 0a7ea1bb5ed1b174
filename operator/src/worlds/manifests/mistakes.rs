//! What the schema says about a manifest, told once and with what is meant.

use armature_runtime::shape::{Problem, ProblemKind, StructShape, Type};
use serde_json::Value;

use super::problem::Wrong;

/// Name of the level that ARM's bodies have and manifests have not.
const PROPERTIES: &str = "properties";
/// Most members that are named.
const NAMED: usize = 4;

/// Values of a spec that are there and null. The API server takes none: a template has printed a name without its value.
pub fn nulls(shape: &'static StructShape, spec: &Value) -> Vec<Wrong> {
    let mut found = Vec::new();
    look_for_nulls(Type::Struct(shape), spec, "spec", &mut found);
    found
}

/// What is said of a null.
pub fn no_value(path: String) -> Wrong {
    let message = "has no value, which an API server refuses; give it one or take it out";
    (path, message.to_owned())
}

fn look_for_nulls(ty: Type, value: &Value, path: &str, found: &mut Vec<Wrong>) {
    match (ty, value) {
        (Type::Json, _) => {}
        (_, Value::Null) => found.push(no_value(path.to_owned())),
        (Type::Struct(shape), Value::Object(members)) => {
            for (name, value) in members {
                if let Some(field) = shape.field(name) {
                    look_for_nulls(field.ty, value, &format!("{path}.{name}"), found);
                }
            }
        }
        (Type::List(list), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                look_for_nulls(list.item, item, &format!("{path}[{index}]"), found);
            }
        }
        (Type::Map(map), Value::Object(members)) => {
            for (name, value) in members {
                look_for_nulls(map.value, value, &format!("{path}.{name}"), found);
            }
        }
        _ => {}
    }
}

/// Problems without those that follow from another one: a member that is missing because it stands under `properties`, under
/// a name that is nearly its own, or without a value. `said` has paths of which something is said already.
pub fn once(problems: Vec<Problem>, spec: &Value, said: &[Wrong]) -> Vec<Problem> {
    let meant: Vec<String> = problems
        .iter()
        .filter_map(|problem| match &problem.kind {
            ProblemKind::UnknownField { suggestion } => Some((problem, suggestion)),
            _ => None,
        })
        .flat_map(|(problem, suggestion)| {
            let (level, name) = split(&problem.path);
            let below = at(spec, &problem.path).filter(|_| name == PROPERTIES);
            let below = below.and_then(Value::as_object).into_iter().flatten();
            let names = below.map(|(name, _)| name.as_str()).chain(*suggestion);
            names
                .map(|name| format!("{level}.{name}"))
                .collect::<Vec<_>>()
        })
        .collect();
    let is_said = |path: &str| said.iter().any(|(said, _)| said == path);
    let follows = |problem: &Problem| {
        let is_missing = problem.kind == ProblemKind::Missing;
        is_said(&problem.path) || is_missing && meant.contains(&problem.path)
    };
    problems
        .into_iter()
        .filter(|problem| !follows(problem))
        .collect()
}

/// What is meant where a member is unknown and is ARM's `properties`: its members stand one level higher.
pub fn instead_of_properties(
    shape: &'static StructShape,
    spec: &Value,
    problem: &Problem,
) -> Option<String> {
    let ProblemKind::UnknownField { .. } = problem.kind else {
        return None;
    };
    let (level, name) = split(&problem.path);
    if name != PROPERTIES {
        return None;
    }
    let shape = shape_at(shape, level)?;
    let members = at(spec, &problem.path).and_then(Value::as_object);
    let members = members.into_iter().flatten().map(|(name, _)| name);
    let known: Vec<_> = members
        .filter(|name| shape.field(name).is_some())
        .map(|name| format!("{level}.{name}"))
        .collect();
    let named = match known.get(..NAMED) {
        Some(first) if known.len() > NAMED => format!("{}, …", first.join(", ")),
        _ => known.join(", "),
    };
    let named = match named.as_str() {
        "" => String::new(),
        named => format!(": {named}"),
    };
    Some(format!(
        "manifests have no `{PROPERTIES}`; its members stand one level higher, directly in {level}{named}"
    ))
}

/// A path without its last member, and that.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}

/// Members and places of items of a path, without the spec.
fn steps(path: &str) -> impl Iterator<Item = Result<usize, &str>> {
    let below = path.strip_prefix("spec").unwrap_or(path);
    below
        .split(['.', '['])
        .filter(|step| !step.is_empty())
        .map(|step| match step.strip_suffix(']') {
            Some(index) => index.parse().map_err(|_| step),
            None => Err(step),
        })
}

fn at<'v>(spec: &'v Value, path: &str) -> Option<&'v Value> {
    steps(path).try_fold(spec, |value, step| match step {
        Ok(index) => value.get(index),
        Err(name) => value.get(name),
    })
}

fn shape_at(shape: &'static StructShape, path: &str) -> Option<&'static StructShape> {
    let found = steps(path).try_fold(Type::Struct(shape), |ty, step| match (ty, step) {
        (Type::Struct(shape), Err(name)) => shape.field(name).map(|field| field.ty),
        (Type::Map(map), Err(_)) => Some(map.value),
        (Type::List(list), Ok(_)) => Some(list.item),
        _ => None,
    });
    match found? {
        Type::Struct(shape) => Some(shape),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use armature_runtime::shape;
    use armature_runtime::testing::gadget::MODEL;
    use serde_json::json;

    use super::*;

    fn told(spec: &Value) -> Vec<String> {
        let shape = MODEL.versions[1].spec;
        let nulls = nulls(shape, spec);
        let problems = once(shape::check(shape, spec, "spec"), spec, &nulls);
        let problems = problems.into_iter().map(|problem| {
            let meant = instead_of_properties(shape, spec, &problem);
            let message = meant.unwrap_or_else(|| problem.kind.to_string());
            format!("{}: {message}", problem.path)
        });
        let nulls = nulls.into_iter().map(|(path, _)| format!("{path}: null"));
        nulls.chain(problems).collect()
    }

    #[test]
    fn a_mistake_is_told_once_with_what_is_meant() {
        let owner = json!({"name": "rg"});
        for (spec, expected) in [
            (
                json!({"owner": owner, "location": "x", "tags": null}),
                vec!["spec.tags: null"],
            ),
            (
                json!({"owner": owner, "location": "x", "tags": {"a": null}}),
                vec!["spec.tags.a: null"],
            ),
            (
                json!({"owner": owner, "location": "x", "rules": [null, {"name": null}]}),
                vec!["spec.rules[0]: null", "spec.rules[1].name: null"],
            ),
            (
                json!({"owner": owner, "location": "x", "properties": {"accessTier": "Hot", "x": 1}}),
                vec![
                    "spec.properties: manifests have no `properties`; its members stand one level higher, directly in spec: \
                     spec.accessTier",
                ],
            ),
            (
                json!({"owner": owner, "location": "x", "properties": {"accessTier": 1, "capacity": 1, "tags": 1, "rules": 1, "source": 1}}),
                vec![
                    "spec.properties: manifests have no `properties`; its members stand one level higher, directly in spec: \
                     spec.accessTier, spec.capacity, spec.tags, spec.rules, …",
                ],
            ),
            (
                json!({"owner": owner, "location": "x", "rules": [{"properties": {"name": "a", "priority": 1}}]}),
                vec![
                    "spec.rules[0].properties: manifests have no `properties`; its members stand one level higher, directly \
                     in spec.rules[0]: spec.rules[0].name, spec.rules[0].priority",
                ],
            ),
            (
                json!({"owner": owner, "location": "x", "rules": [{"nme": "a"}]}),
                vec!["spec.rules[0].nme: no such field, did you mean `name`?"],
            ),
            (
                json!({"owner": owner, "location": "x", "rules": [{"priority": 1}]}),
                vec!["spec.rules[0].name: required, but not set"],
            ),
        ] {
            assert_eq!(told(&spec), expected, "{spec}");
        }
    }
}
