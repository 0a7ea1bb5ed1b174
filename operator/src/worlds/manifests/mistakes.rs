//! What the schema says about a manifest, told once and with what is meant.

use armature_runtime::shape::{Path, Problem, ProblemKind, StructShape, Type, kind_of, nearest};
use serde_json::Value;

use super::problem::Wrong;

/// Name of the level that ARM's bodies have and manifests have not.
pub const PROPERTIES: &str = "properties";
/// Most members that are named.
const NAMED: usize = 4;

/// Values of a spec that are there and null. The API server takes none: a template has printed a name without its value.
pub fn nulls(shape: &'static StructShape, spec: &Value) -> Vec<Wrong> {
    let mut found = Vec::new();
    look_for_nulls(Type::Struct(shape), spec, &Path::Root("spec"), &mut found);
    found
}

/// What is said of a null.
pub fn no_value(path: String) -> Wrong {
    let message = "has no value, which an API server refuses; give it one or take it out";
    (path, message.to_owned())
}

fn look_for_nulls(ty: Type, value: &Value, path: &Path<'_>, found: &mut Vec<Wrong>) {
    match (ty, value) {
        (Type::Json, _) => {}
        (_, Value::Null) => found.push(no_value(path.to_string())),
        (Type::Struct(shape), Value::Object(members)) => {
            for (name, value) in members {
                if let Some(field) = shape.field(name) {
                    look_for_nulls(field.ty, value, &path.member(name), found);
                }
            }
        }
        (Type::List(list), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                look_for_nulls(list.item, item, &path.item(index), found);
            }
        }
        (Type::Map(map), Value::Object(members)) => {
            for (name, value) in members {
                look_for_nulls(map.value, value, &path.member(name), found);
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
    Some(format!("{}{named}", no_properties(level)))
}

/// What is said of ARM's level: where its members stand in a manifest.
pub fn no_properties(level: &str) -> String {
    format!(
        "manifests have no `{PROPERTIES}`; its members stand one level higher, directly in {level}"
    )
}

/// What is said of a member that is none of these.
pub fn no_such_field(name: &str, known: &[&'static str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("no such field, did you mean `{near}`?"),
        None => "no such field".to_owned(),
    }
}

/// That a value is no text.
pub fn no_text(value: &Value) -> String {
    let found = kind_of(value);
    let quotes = needs_quotes("a string", found);
    format!("expected a string, found {found}{quotes}")
}

/// What to do where YAML has made a boolean or a number of a word.
pub fn needs_quotes(expected: &str, found: &str) -> &'static str {
    let is_of_yaml = ["a boolean", "an integer", "a number with a fraction"].contains(&found);
    match expected == "a string" && is_of_yaml {
        true => "; write it in quotes",
        false => "",
    }
}

/// A path without its last member, and that; the whole path where the last is no plain name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.')
        .filter(|(_, name)| !name.contains(['"', ']']))
        .unwrap_or((path, ""))
}

/// One step of a path.
enum Step {
    Member(String),
    Item(usize),
}

/// The steps of a path, without the spec.
fn steps(path: &str) -> Vec<Step> {
    let mut rest = path.strip_prefix("spec").unwrap_or(path);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('[')
            && quoted.starts_with('"')
        {
            // Names that are not plain stand in quotes.
            let mut texts = serde_json::Deserializer::from_str(quoted).into_iter::<String>();
            let Some(Ok(name)) = texts.next() else {
                break;
            };
            let end = texts.byte_offset();
            rest = quoted[end..].strip_prefix(']').unwrap_or_default();
            steps.push(Step::Member(name));
            continue;
        }
        let is_item = rest.starts_with('[');
        let below = rest.trim_start_matches(['.', '[']);
        let (step, after) = below.split_at(below.find(['.', '[', ']']).unwrap_or(below.len()));
        rest = after.strip_prefix(']').unwrap_or(after);
        match step.parse() {
            Ok(index) if is_item => steps.push(Step::Item(index)),
            _ => steps.push(Step::Member(step.to_owned())),
        }
    }
    steps
}

fn at<'v>(spec: &'v Value, path: &str) -> Option<&'v Value> {
    steps(path).iter().try_fold(spec, |value, step| match step {
        Step::Item(index) => value.get(index),
        Step::Member(name) => value.get(name),
    })
}

fn shape_at(shape: &'static StructShape, path: &str) -> Option<&'static StructShape> {
    let steps = steps(path);
    let found = steps
        .iter()
        .try_fold(Type::Struct(shape), |ty, step| match (ty, step) {
            (Type::Struct(shape), Step::Member(name)) => shape.field(name).map(|field| field.ty),
            (Type::Map(map), Step::Member(_)) => Some(map.value),
            (Type::List(list), Step::Item(_)) => Some(list.item),
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
                json!({"owner": owner, "location": "x", "tags": {"a.b/c": null, "d \"e": null}}),
                vec!["spec.tags[\"a.b/c\"]: null", "spec.tags[\"d \\\"e\"]: null"],
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
