//! What is wrong with a document of a shape, all of it at once: what an API server would refuse by the CRD.

use serde_json::{Map, Value};

use super::codec::did_you_mean;
use super::path::{Path, kind_of};
use super::{Field, OneOf, Rules, StructShape, Type, integer, nearest};

/// One thing that is wrong. Never shows a value: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, for example `spec.sku.name`.
    pub path: String,
    /// What is wrong and what belongs there.
    pub message: String,
}

/// Checks a document in Kubernetes form: unknown and missing fields, types, known values of enums, constraints
/// and variants. `root` is the name of the document in paths. An explicit `null` is an absent field.
pub fn check(shape: &StructShape, value: &Value, root: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let root = Path::Root(root);
    match value {
        Value::Object(members) => check_struct(shape, members, &root, &mut problems),
        Value::Null => check_struct(shape, &Map::new(), &root, &mut problems),
        other => report(&mut problems, &root, expected("an object", other)),
    }
    problems
}

fn check_struct(
    shape: &StructShape,
    members: &Map<String, Value>,
    path: &Path<'_>,
    problems: &mut Vec<Problem>,
) {
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        let below = path.member(name);
        match shape.field(name) {
            Some(field) => check_value(field, field.ty, field.rules, value, &below, problems),
            None => {
                let names = shape.fields.iter().map(|field| field.name);
                let suggestion = did_you_mean(nearest(name, names));
                report(problems, &below, format!("no such field{suggestion}"));
            }
        }
    }
    let is_set = |name: &str| members.get(name).is_some_and(|value| !value.is_null());
    for field in shape.fields {
        if field.flags.has(super::Flags::REQUIRED) && !is_set(field.name) {
            let message = "is required".to_owned();
            report(problems, &path.member(field.name), message);
        }
    }
    if let Some(one_of) = &shape.one_of {
        check_one_of(one_of, is_set, path, problems);
    }
}

fn check_one_of(
    one_of: &OneOf,
    is_set: impl Fn(&str) -> bool,
    path: &Path<'_>,
    problems: &mut Vec<Problem>,
) {
    let names = one_of.variants.iter().map(|variant| variant.field);
    let set: Vec<&str> = names.clone().filter(|name| is_set(name)).collect();
    if set.len() != 1 {
        let found = match set.as_slice() {
            [] => "none is".to_owned(),
            set => format!("{} are", set.join(" and ")),
        };
        let all = names.collect::<Vec<_>>().join(", ");
        report(
            problems,
            path,
            format!("exactly one of {all} must be set, {found}"),
        );
    }
}

fn check_value(
    field: &Field,
    ty: Type,
    rules: &Rules,
    value: &Value,
    path: &Path<'_>,
    problems: &mut Vec<Problem>,
) {
    let wrong = match (ty, value) {
        (Type::Json, _) => None,
        (Type::Bool, Value::Bool(_)) => None,
        (Type::Bool, _) => Some("a boolean"),
        (Type::Integer(_), _) => match integer(value) {
            #[expect(clippy::cast_precision_loss, reason = "bounds in specs are small")]
            Some(number) => {
                check_number(rules, number as f64, path, problems);
                None
            }
            None => Some("an integer"),
        },
        (Type::Number, _) => match value.as_f64() {
            Some(number) => {
                check_number(rules, number, path, problems);
                None
            }
            None => Some("a number"),
        },
        (Type::String, Value::String(text)) => {
            check_text(rules, text, path, problems);
            None
        }
        (Type::Enum(shape), Value::String(text)) => {
            let known = shape.canonical(text);
            if !shape.values.contains(&known) {
                let all = shape.values.join(", ");
                report(problems, path, format!("must be one of {all}"));
            }
            None
        }
        (Type::String | Type::Enum(_), _) => Some("a string"),
        (Type::Struct(shape), Value::Object(members)) => {
            check_struct(shape, members, path, problems);
            None
        }
        (Type::List(shape), Value::Array(items)) => {
            check_count(rules, items.len(), path, problems);
            for (index, item) in items.iter().enumerate() {
                let rules = field.item_rules;
                check_value(field, shape.item, rules, item, &path.item(index), problems);
            }
            None
        }
        (Type::List(_), _) => Some("a list"),
        (Type::Map(shape), Value::Object(members)) => {
            check_count(rules, members.len(), path, problems);
            for (key, member) in members {
                let rules = field.item_rules;
                check_value(
                    field,
                    shape.value,
                    rules,
                    member,
                    &path.member(key),
                    problems,
                );
            }
            None
        }
        (Type::Struct(_) | Type::Map(_), _) => Some("an object"),
    };
    if let Some(name) = wrong {
        report(problems, path, expected(name, value));
    }
}

fn check_text(rules: &Rules, text: &str, path: &Path<'_>, problems: &mut Vec<Problem>) {
    let length = text.chars().count() as u64;
    if rules.min_length.is_some_and(|least| length < least)
        || rules.max_length.is_some_and(|most| length > most)
    {
        let bounds = bounds(rules.min_length, rules.max_length);
        report(
            problems,
            path,
            format!("must have {bounds} characters, has {length}"),
        );
    }
    let matches = rules.pattern.is_none_or(|pattern| {
        // The generator has checked patterns; one that does not compile says nothing.
        regex::Regex::new(pattern).map_or(true, |pattern| pattern.is_match(text))
    });
    if let Some(pattern) = rules.pattern.filter(|_| !matches) {
        report(problems, path, format!("must match '{pattern}'"));
    }
}

fn check_number(rules: &Rules, number: f64, path: &Path<'_>, problems: &mut Vec<Problem>) {
    if rules.minimum.is_some_and(|least| number < least)
        || rules.maximum.is_some_and(|most| number > most)
    {
        let bounds = bounds(rules.minimum, rules.maximum);
        report(problems, path, format!("must be {bounds}"));
    }
    if let Some(factor) = rules.multiple_of
        && (number / factor).fract() != 0.0
    {
        report(problems, path, format!("must be a multiple of {factor}"));
    }
}

fn check_count(rules: &Rules, count: usize, path: &Path<'_>, problems: &mut Vec<Problem>) {
    let count = count as u64;
    if rules.min_items.is_some_and(|least| count < least)
        || rules.max_items.is_some_and(|most| count > most)
    {
        let bounds = bounds(rules.min_items, rules.max_items);
        report(
            problems,
            path,
            format!("must have {bounds} items, has {count}"),
        );
    }
}

fn bounds<T: std::fmt::Display>(least: Option<T>, most: Option<T>) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => "any".to_owned(),
    }
}

fn expected(name: &str, found: &Value) -> String {
    format!("expected {name}, found {}", kind_of(found))
}

fn report(problems: &mut Vec<Problem>, path: &Path<'_>, message: String) {
    problems.push(Problem {
        path: path.to_string(),
        message,
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::testing::VERSION;
    use crate::shape::Shaped;
    use crate::shape::testing::Everything;

    fn problems(document: &Value) -> Vec<String> {
        check(Everything::SHAPE, document, "spec")
            .into_iter()
            .map(|problem| format!("{}: {}", problem.path, problem.message))
            .collect()
    }

    #[test]
    fn a_document_that_fits_has_no_problem() {
        let document = json!({
            "flag": true, "count": 3.0, "ratio": 1, "text": "a", "anything": [1], "colour": "red",
            "child": {"name": "n", "child": {"flag": false}}, "children": [{}], "matrix": [[1]],
            "labels": {"a": "b"}, "named": {"x": {"name": "n"}}, "texts": null,
        });
        assert_eq!(problems(&document), Vec::<String>::new());
        assert_eq!(problems(&Value::Null), Vec::<String>::new());
    }

    #[test]
    fn every_problem_is_reported_with_its_path() {
        let document = json!({
            "flga": true, "count": 1.5, "ratio": "1", "text": {}, "colour": "Mauve",
            "child": {"child": {"flag": 1}}, "children": [{"nam": "x"}], "matrix": [[1, "2"]],
            "labels": {"a b": 1}, "named": [],
        });
        assert_eq!(
            problems(&document),
            [
                "spec.flga: no such field, did you mean `flag`?",
                "spec.count: expected an integer, found a number with a fraction",
                "spec.ratio: expected a number, found a string",
                "spec.text: expected a string, found an object",
                "spec.colour: must be one of Red, Green, DeepBlue",
                "spec.child.child.flag: expected a boolean, found an integer",
                "spec.children[0].nam: no such field, did you mean `name`?",
                "spec.matrix[0][1]: expected an integer, found a string",
                "spec.labels[\"a b\"]: expected a string, found an integer",
                "spec.named: expected an object, found a list",
            ]
        );
        assert_eq!(
            problems(&json!([])),
            ["spec: expected an object, found a list"]
        );
    }

    #[test]
    fn constraints_say_what_belongs_there() {
        let mut found = Vec::new();
        let root = Path::Root("x");
        let rules = Rules {
            pattern: Some("^a+$"),
            min_length: Some(2),
            max_length: Some(3),
            minimum: Some(1.0),
            multiple_of: Some(0.5),
            max_items: Some(1),
            ..Rules::NONE
        };
        for text in ["aa", "a", "ab"] {
            check_text(&rules, text, &root, &mut found);
        }
        for number in [1.5, 0.5, 1.7] {
            check_number(&rules, number, &root, &mut found);
        }
        for count in [1, 2] {
            check_count(&rules, count, &root, &mut found);
        }
        let messages: Vec<_> = found
            .iter()
            .map(|problem| problem.message.as_str())
            .collect();
        assert_eq!(
            messages,
            [
                "must have 2 to 3 characters, has 1",
                "must match '^a+$'",
                "must be at least 1",
                "must be a multiple of 0.5",
                "must have at most 1 items, has 2",
            ]
        );
    }

    #[test]
    fn required_fields_of_keys_and_references_are_missed() {
        let spec = json!({"password": {"name": "creds"}});
        let found = check(VERSION.spec, &spec, "spec");
        assert!(
            found.contains(&Problem {
                path: "spec.password.key".to_owned(),
                message: "is required".to_owned(),
            }),
            "{found:?}"
        );
    }
}
