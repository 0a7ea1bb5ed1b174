//! Each fact is broken on purpose, on both sides and below lists and maps.

use serde_json::{Value, json};

use super::*;
use crate::parity::{schema, target};

/// Both spell one schema: `crd` as a CRD does, `shape` as crd-shapes does.
fn both() -> (Value, Value) {
    let object = json!({"type": "object", "required": ["mode"], "properties": {
        "mode": {"type": "string", "enum": ["a", "b"], "maxLength": 4},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }});
    let side = json!({"type": "object", "required": ["mode"], "properties": {
        "mode": {"type": "string", "enum": ["a", "b"], "maxLength": 4},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "list": {"type": "array", "items": object},
        "map": {"type": "object", "additionalProperties": object},
    }});
    let crd = json!({"spec": {
        "group": "a.azure.com",
        "names": {"kind": "Thing", "plural": "things", "categories": ["azure"]},
        "versions": [{
            "name": "v1",
            "additionalPrinterColumns": [{"name": "Ready"}],
            "schema": {"openAPIV3Schema": {"properties": {"spec": side, "status": side}}},
        }],
    }});
    let mut paths = serde_json::Map::new();
    for side in ["spec", "status"] {
        paths.insert(side.to_owned(), json!({"type": "object"}));
        paths.insert(format!("{side}.list"), json!({"type": "array"}));
        paths.insert(format!("{side}.map"), json!({"type": "object"}));
        paths.insert(format!("{side}.list[]"), json!({"type": "object"}));
        paths.insert(format!("{side}.map{{}}"), json!({"type": "object"}));
        for parent in ["", ".list[]", ".map{}"] {
            let mode =
                json!({"type": "string", "enum": ["b", "a"], "required": true, "maxLength": 4});
            paths.insert(format!("{side}{parent}.mode"), mode);
            paths.insert(format!("{side}{parent}.free"), json!({"anything": true}));
        }
    }
    let shape = json!({"Thing": {
        "names": {"kind": "Thing", "plural": "things", "categories": ["azure"]},
        "printerColumns": [{"name": "Ready"}],
        "versions": {"v1": paths},
    }});
    (crd, shape)
}

fn compare(crd: &Value, shape: &Value) -> Vec<Compared> {
    let ours = schema::parse_crds(&crd.to_string()).unwrap();
    let target = target::parse(&shape.to_string()).unwrap();
    group("a.azure.com", &ours["a.azure.com"], &target)
}

/// The findings as `aspect path: what`.
fn findings(crd: &Value, shape: &Value) -> Vec<String> {
    let compared = compare(crd, shape);
    let findings = compared.iter().flat_map(|version| &version.findings);
    findings
        .map(|one| format!("{:?} {}: {}", one.aspect, one.path, one.what))
        .collect()
}

#[test]
fn what_is_equal_is_counted_and_not_reported() {
    let (crd, shape) = both();
    let compared = compare(&crd, &shape);
    assert_eq!(findings(&crd, &shape), [""; 0]);
    let all = Counts {
        total: 11,
        present: 11,
        same_type: 11,
        same_enum: 11,
        same_required: 11,
        matched: 11,
        same_limits: 11,
        extra: 0,
    };
    assert_eq!((compared[0].spec, compared[0].status), (all, all));
}

#[test]
fn every_broken_fact_is_reported_on_both_sides_below_lists_and_maps() {
    let places = [
        ("", ""),
        ("/properties/list/items", ".list[]"),
        ("/properties/map/additionalProperties", ".map{}"),
    ];
    for side in ["spec", "status"] {
        for (place, parent) in places {
            let schema =
                format!("/spec/versions/0/schema/openAPIV3Schema/properties/{side}{place}");
            let path = format!("{side}{parent}");
            let broken = |at: &str, value: Value| {
                let (mut crd, shape) = both();
                let at = format!("{schema}{at}");
                *crd.pointer_mut(&at).expect(&at) = value;
                findings(&crd, &shape)
            };
            for (at, value, expected) in [
                (
                    "/properties/mode/type",
                    json!("integer"),
                    format!("Type {path}.mode: type integer, expected string"),
                ),
                (
                    "/properties/free",
                    json!({"type": "object"}),
                    format!("Type {path}.free: type object, expected anything"),
                ),
                (
                    "/properties/mode/enum",
                    json!(["a", "c"]),
                    format!("Enum {path}.mode: enum lacks [\"b\"], has beyond [\"c\"]"),
                ),
                (
                    "/properties/mode/enum",
                    json!([]),
                    format!("Enum {path}.mode: no enum, expected one"),
                ),
                (
                    "/required",
                    json!([]),
                    format!("Required {path}.mode: optional, expected required"),
                ),
                (
                    "/properties/mode/maxLength",
                    json!(5),
                    format!("Limits {path}.mode: maxLength 5, expected 4"),
                ),
                (
                    "/properties/free",
                    json!(null),
                    format!("Missing {path}.free: missing"),
                ),
            ] {
                assert_eq!(broken(at, value), [expected], "{at} of {path}");
            }
            let required = broken("/required", json!(["mode", "free"]));
            let expected = format!("Required {path}.free: required, expected optional");
            assert_eq!(required, [expected]);
        }
    }
}

#[test]
fn a_path_of_ours_alone_is_reported() {
    let (mut crd, shape) = both();
    let at = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    crd.pointer_mut(at).unwrap()["mine"] = json!({"type": "string"});
    assert_eq!(findings(&crd, &shape), ["Extra spec.mine: only ours"]);
    assert_eq!(compare(&crd, &shape)[0].spec.extra, 1);
}

#[test]
fn names_and_columns_are_compared() {
    let (mut crd, shape) = both();
    crd["spec"]["names"]["shortNames"] = json!(["th"]);
    crd["spec"]["names"]["categories"] = json!(["azure", "mine"]);
    crd["spec"]["versions"][0]["additionalPrinterColumns"] = json!([]);
    assert_eq!(
        findings(&crd, &shape),
        [
            r#"Definition names.categories: ["azure","mine"], expected ["azure"]"#,
            r#"Definition names.shortNames: ["th"], expected nothing"#,
            r#"Definition printerColumns: [], expected [{"name":"Ready"}]"#,
        ]
    );
}

#[test]
fn a_version_that_we_lack_counts_with_all_its_paths() {
    let (crd, mut shape) = both();
    shape["Thing"]["versions"]["v2"] = json!({"spec.a": {}, "spec.b": {}, "status.c": {}});
    let compared = compare(&crd, &shape);
    assert_eq!(compared[1].presence, Presence::OnlyTarget);
    let (spec, status) = (compared[1].spec, compared[1].status);
    assert_eq!((spec.total, spec.present, spec.matched), (2, 0, 0));
    assert_eq!((status.total, status.present, status.matched), (1, 0, 0));
    assert_eq!(
        findings(&crd, &shape),
        ["Version : not ours, 3 paths missing"]
    );
}

#[test]
fn a_version_of_ours_alone_counts_nothing() {
    let (mut crd, shape) = both();
    crd["spec"]["versions"][0]["name"] = json!("v9");
    let compared = compare(&crd, &shape);
    assert_eq!(compared[0].presence, Presence::OnlyTarget);
    assert_eq!(compared[1].presence, Presence::OnlyOurs);
    assert_eq!(compared[1].spec, Counts::default());
}
