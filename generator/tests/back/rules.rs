//! Pass 4: every way in which a curation file can be wrong, with the line it is wrong in.

use armature_generator::curate::{GroupConfig, curate};
use armature_generator::model::{Group, TypeRef};

use super::models::{group, inner, named, object, resource, string, version};

const HEAD: &str = r#"group = "test"
specs = "specification/test"
naming = "legacy"
[versions]
"2022-01-01" = ["test.json"]
"2023-01-01" = ["test.json"]
[kinds.Thing]
type = "Microsoft.Test/things"
"#;

fn model() -> Group {
    let types = || {
        vec![
            object(
                "ThingSpec",
                vec![
                    inner("subnetId", TypeRef::String),
                    inner("rule", named("IpRule")),
                ],
            ),
            object("ThingStatus", vec![string("id"), string("phase")]),
            object("IpRule", vec![string("value")]),
        ]
    };
    let thing = || resource("Thing", "Microsoft.Test/things");
    let part = || resource("Part", "Microsoft.Test/parents/parts");
    let mut new = types();
    new.push(object("PartSpec", vec![string("x")]));
    new.push(object("PartStatus", vec![string("x")]));
    group(vec![
        version("2022-01-01", vec![thing()], types()),
        version("2023-01-01", vec![thing(), part()], new),
    ])
}

fn fault(rules: &str) -> String {
    let config = GroupConfig::parse("specs/test.toml", format!("{HEAD}{rules}")).expect("form");
    match curate(model(), &config) {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn rules_without_a_match_say_where_and_what_is_near() {
    for (rules, expected) in [
        (
            "[kinds.Wrong]\ntype = \"Microsoft.Test/thing\"\n",
            "specs/test.toml:10: no ARM type `Microsoft.Test/thing` in any api-version of the group; did you mean `Microsoft.Test/things`?",
        ),
        (
            "[kinds.Part]\ntype = \"Microsoft.Test/parents/parts\"\nversions = [\"2022-01-01\"]\n",
            "specs/test.toml:11: no `Part` to export from api-version `2022-01-01` in any api-version of the group; did you mean `2023-01-01`?",
        ),
        (
            "[types.IPRules]\nvalue = \"plain\"\n",
            "specs/test.toml:9: no type `IPRules` in any api-version of the group; did you mean `IpRule`?",
        ),
        (
            "[types.Thing]\nsubnetID = \"reference\"\n",
            "specs/test.toml:10: no exported property of `Thing` named `subnetID` in any api-version of the group; did you mean `subnetId`?",
        ),
        (
            "[types.Thing]\nzzz = \"reference\"\n",
            "specs/test.toml:10: no exported property of `Thing` named `zzz` in any api-version of the group; remove the rule, or check the name against the spec",
        ),
        (
            "[types.Thing]\nphase = { as = \"remove\", side = \"spec\" }\n",
            "specs/test.toml:10: no exported property of `Thing` named `phase` in any api-version of the group; it exists only where the rule does not apply: on the other side, in other api-versions, or in no exported kind",
        ),
        (
            "[types.Thing]\nsubnetId = { as = \"reference\", versions = [\"2021-01-01\"] }\n",
            "specs/test.toml:10: no exported property of `Thing` named `subnetId` in any api-version of the group; it exists only where the rule does not apply: on the other side, in other api-versions, or in no exported kind",
        ),
        (
            "[types.Thing]\nsubnetId = { was = \"subNetId\" }\n",
            "specs/test.toml:10: no property of `Thing` named `subNetId` in any api-version of the group; did you mean `subnetId`?",
        ),
    ] {
        assert_eq!(fault(rules), expected, "{rules}");
    }
}

#[test]
fn parts_that_do_not_exist_are_errors() {
    let head = HEAD.replace("[versions]", "parts = [\"IPRul\"]\n[versions]");
    let config = GroupConfig::parse("specs/test.toml", head).expect("form");
    let error = curate(model(), &config).expect_err("no such part");
    assert_eq!(
        error.to_string(),
        "specs/test.toml:4: no type `IPRul` in any api-version of the group; did you mean `IpRule`?"
    );
}

#[test]
fn kinds_have_names_that_kubernetes_and_rust_take() {
    for kind in [
        "thing",
        "\"Thing{\"",
        "\"\"",
        "\"2Things\"",
        "\"Some Thing\"",
    ] {
        let head = HEAD.replace("[kinds.Thing]", &format!("[kinds.{kind}]"));
        let config = GroupConfig::parse("specs/test.toml", head).expect("form");
        let error = curate(model(), &config).expect_err(kind).to_string();
        let expected = "is no name for a kind; expected a capital letter, then letters and digits";
        assert!(error.starts_with("specs/test.toml:7: "), "{error}");
        assert!(error.ends_with(expected), "{error}");
    }
}

#[test]
fn rules_that_match_and_do_not_fit_are_errors() {
    assert_eq!(
        fault("[kinds.Again]\ntype = \"Microsoft.Test/things\"\n"),
        "specs/test.toml:8: `Again` exports this ARM type already; remove one of the two"
    );
    assert_eq!(
        fault("[kinds.Part]\ntype = \"Microsoft.Test/parents/parts\"\n"),
        "specs/test.toml:10: `Part` belongs to a `Microsoft.Test/parents`, which no kind exports; export that as well"
    );
    assert_eq!(
        fault("[types.IpRule]\nvalue = \"child-kind\"\n"),
        "specs/test.toml:9: `child-kind` works for properties of an exported kind, and `IpRule` is none"
    );
}
