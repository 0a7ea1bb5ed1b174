use armature_generated::KINDS;
use serde_json::json;

use super::Takes::{InPlace, Refused, Replacement};
use super::*;

fn judged(rules: &[&str], path: &str, old: &Value, new: &Value) -> Option<Takes> {
    let edits: Vec<Edit> = rules
        .iter()
        .map(|rule| Edit::parse(rule).unwrap())
        .collect();
    let values = Values {
        old: Some(old).filter(|old| !old.is_null()),
        new: Some(new).filter(|new| !new.is_null()),
    };
    judge(&edits, path, values).map(|(takes, _)| takes)
}

#[test]
fn the_values_decide_what_an_edit_takes() {
    let nothing = json!(null);
    let sets = "a replaced unless among X Y or Z W";
    let order = "a refused unless rising X Y Z";
    let table = [
        ("a replaced", json!(1), json!(2), Some(Replacement)),
        ("a refused", json!(1), json!(2), Some(Refused)),
        // It may be there and not shown; and a PUT that does not name it mostly keeps it.
        ("a replaced", nothing.clone(), json!(2), None),
        ("a replaced", json!(1), nothing.clone(), None),
        (
            "a refused unless larger",
            json!(64),
            json!(128),
            Some(InPlace),
        ),
        (
            "a refused unless larger",
            json!(128),
            json!(64),
            Some(Refused),
        ),
        ("a refused unless larger", json!("128"), json!("64"), None),
        ("a refused unless larger", nothing.clone(), json!(64), None),
        ("a refused when smaller", json!(8), json!(4), Some(Refused)),
        ("a refused when smaller", json!(4), json!(8), None),
        (
            "a refused unless later",
            json!("9"),
            json!("14"),
            Some(InPlace),
        ),
        (
            "a refused unless later",
            json!("8.0.21"),
            json!("5.7"),
            Some(Refused),
        ),
        (
            "a refused unless later",
            json!("8.0"),
            json!("8.0.21"),
            None,
        ),
        ("a refused unless later", json!("8"), json!("new"), None),
        (
            "a replaced unless unset",
            nothing.clone(),
            json!("me"),
            Some(InPlace),
        ),
        (
            "a replaced unless unset",
            json!("me"),
            json!("you"),
            Some(Replacement),
        ),
        (
            "a refused when removed",
            json!("me"),
            nothing.clone(),
            Some(Refused),
        ),
        ("a refused when removed", json!("me"), json!("you"), None),
        (order, json!("x"), json!("Z"), Some(InPlace)),
        (order, json!("Z"), json!("X"), Some(Refused)),
        (order, json!("X"), json!("other"), Some(Refused)),
        (order, json!("X"), nothing.clone(), None),
        (sets, json!("X"), json!("y"), Some(InPlace)),
        (sets, json!("X"), json!("Z"), Some(Replacement)),
        (
            "a refused when from true",
            json!(true),
            json!(false),
            Some(Refused),
        ),
        ("a refused when from true", json!(false), json!(true), None),
        (
            "a refused when to kubenet",
            json!("azure"),
            json!("kubenet"),
            Some(Refused),
        ),
        ("a refused when to kubenet", json!("azure"), json!({}), None),
    ];
    for (rule, old, new, expected) in table {
        assert_eq!(
            judged(&[rule], "a", &old, &new),
            expected,
            "{rule}: {old} -> {new}"
        );
    }
}

#[test]
fn a_rule_without_a_condition_is_about_all_below_its_path() {
    let (one, two) = (json!(1), json!(2));
    let table = [
        ("a.b replaced", "a.b", Some(Replacement)),
        ("a.b replaced", "a.b.c", Some(Replacement)),
        ("a.b replaced", "a.b[]", Some(Replacement)),
        ("a.b replaced", "a.bc", None),
        ("a.b replaced", "a", None),
        ("a.b refused unless smaller", "a.b.c", None),
    ];
    for (rule, path, expected) in table {
        assert_eq!(
            judged(&[rule], path, &one, &two),
            expected,
            "{rule}: {path}"
        );
    }
}

#[test]
fn of_several_rules_the_one_against_the_edit_counts() {
    let rules = ["a replaced when from X", "a refused unless among X Y"];
    let table = [
        ("X", "Y", Replacement),
        ("Y", "X", InPlace),
        ("Y", "Z", Refused),
    ];
    for (old, new, expected) in table {
        let found = judged(&rules, "a", &json!(old), &json!(new));
        assert_eq!(found, Some(expected), "{old} -> {new}");
    }
}

#[test]
fn all_that_curation_says_can_be_read() {
    let mut count = 0;
    for kind in KINDS {
        let descriptions = Descriptions::shared(kind.group);
        for rule in descriptions.edits(kind.kind) {
            assert!(Edit::parse(rule).is_some(), "{}: {rule}", kind.kind);
            count += 1;
        }
    }
    assert!(count > 100, "{count} rules");
}
