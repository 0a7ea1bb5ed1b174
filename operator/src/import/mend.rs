//! A spec that the API server takes: what the schema has no place for goes, and is told.

use std::collections::BTreeSet;

use armature_runtime::shape::path::Path;
use armature_runtime::shape::{Problem, ProblemKind, StructShape, Type, check};
use serde_json::{Value, json};

use super::left_out::LeftOut;
use super::secrets::{key, secret};
use super::steps::{Step, at, field, steps, take_out};

/// Takes out whatever the schema refuses, and puts references to Secrets where it wants some.
///
/// # Errors
/// When something that has to be there is not, as a sentence.
pub fn mend(shape: &'static StructShape, spec: &mut Value) -> Result<Vec<LeftOut>, String> {
    let mut left_out = Vec::new();
    let mut filled = BTreeSet::new();
    // From the end, so that places before it stay where they are.
    while let Some(problem) = check(shape, spec, "spec").pop() {
        let steps = steps(&problem.path).ok_or_else(|| problem.to_string())?;
        if problem.kind == ProblemKind::Missing
            && filled.insert(problem.path.clone())
            && fill(shape, spec, &steps, &problem.path)
        {
            continue;
        }
        take(spec, &steps, &problem, &mut left_out)?;
    }
    left_out.reverse();
    Ok(left_out)
}

/// Sets what has to be there and can be told without Azure: a reference to a Secret, a collection without items, a word where
/// there is one alone.
fn fill(shape: &'static StructShape, spec: &mut Value, steps: &[Step], path: &str) -> bool {
    let Some(field) = field(shape, steps) else {
        return false;
    };
    let root = Path::Root("");
    let value = match field.ty {
        Type::List(_) => Some(json!([])),
        Type::Map(_) => Some(json!({})),
        Type::Enum(known) => match known.values {
            [only] => Some(json!(only)),
            _ => None,
        },
        ty => secret(ty, &json!(true), &root.member("?")).map(|mut reference| {
            if let Some(known) = reference.get_mut("key") {
                *known = Value::from(key(path));
            }
            reference
        }),
    };
    let (Some(value), Some((Step::Member(name), above))) = (value, steps.split_last()) else {
        return false;
    };
    match at(spec, above) {
        Some(Value::Object(members)) => {
            members.insert(name.clone(), value);
            true
        }
        _ => false,
    }
}

/// Takes out what is wrong, or what lacks something.
fn take(
    spec: &mut Value,
    steps: &[Step],
    problem: &Problem,
    left_out: &mut Vec<LeftOut>,
) -> Result<(), String> {
    // A reference is nothing without its id.
    let is_of_above = problem.kind == ProblemKind::Missing || problem.path.ends_with(".armId");
    let (place, path) = match is_of_above {
        true => {
            let above = &steps[..steps.len().saturating_sub(1)];
            (above, parent(&problem.path))
        }
        false => (steps, problem.path.as_str()),
    };
    let why = match problem.kind {
        ProblemKind::Missing => format!("{} is required, and Azure does not show it", problem.path),
        ref kind => kind.to_string(),
    };
    let names_the_resource = ["spec.azureName", "spec.owner"].contains(&path);
    if place.is_empty() || names_the_resource {
        return Err(match problem.kind {
            ProblemKind::Missing => why,
            _ => problem.to_string(),
        });
    }
    take_out(spec, place).ok_or_else(|| problem.to_string())?;
    left_out.push(LeftOut {
        path: path.to_owned(),
        why,
    });
    Ok(())
}

/// The path above one that ends with a member.
fn parent(path: &str) -> &str {
    path.rsplit_once(['.', '['])
        .map_or(path, |(above, _)| above)
}

#[cfg(test)]
mod tests {
    use armature_runtime::testing::gadget::VERSION;
    use serde_json::json;

    use super::*;

    fn mended(mut spec: Value) -> (Value, Vec<String>) {
        let left_out = mend(VERSION.spec, &mut spec).unwrap();
        let paths = left_out.into_iter().map(|one| one.path).collect();
        (spec, paths)
    }

    #[test]
    fn what_the_schema_refuses_goes_and_is_told() {
        let (least, owner) = (
            json!({"location": "l", "owner": {"name": "o"}}),
            json!({"name": "o"}),
        );
        let whole = json!({"accessTier": "Hot", "location": "l", "owner": owner});
        let (spec, paths) = mended(whole.clone());
        assert_eq!((spec, paths.len()), (whole, 0));
        let (spec, paths) = mended(json!({
            "owner": owner, "location": "l", "accessTier": "Lukewarm", "capacity": 101, "source": {},
            "rules": [{"priority": 1}, {"name": "kept"}],
            "subnetReference": {"armId": "no id"},
        }));
        assert_eq!(spec["rules"], json!([{"name": "kept"}]));
        let mut rest = spec;
        rest.as_object_mut().unwrap().remove("rules");
        assert_eq!(rest, least);
        let mut paths = paths;
        paths.sort();
        let expected = [
            "accessTier",
            "capacity",
            "rules[0]",
            "source",
            "subnetReference",
        ];
        assert_eq!(paths, expected.map(|path| format!("spec.{path}")));
    }

    #[test]
    fn what_cannot_do_without_is_no_manifest() {
        for (spec, path) in [
            (json!({"owner": {"name": "o"}}), "spec.location"),
            (
                json!({"owner": {"name": "o"}, "location": "l", "azureName": "A!"}),
                "spec.azureName",
            ),
        ] {
            let error = mend(VERSION.spec, &mut spec.clone()).unwrap_err();
            assert!(error.starts_with(path), "{error}");
        }
    }
}
