//! Pass 4: every way in which a curation file can be wrong, with the place it is wrong in and what to do.

use std::fmt::Write as _;

use armature_generator::curate::curate;
use armature_generator::curation::GroupConfig;
use armature_generator::model::{
    Decision, Group, LeftOut, Meaning, NameRule, Origin, Property, TypeDef, TypeId, TypeRef,
};
use armature_generator::types::embedded::{DERIVED, NAMED_BY_AZURE};

use crate::common::models::{
    enumeration, group, inner, list, map, named, object, resource, string, version,
};

const HEAD: &str = r#"group = "test"
naming = "legacy"
[sources.specs]
folder = "specification/test"
versions."2022-01-01" = ["test.json"]
versions."2023-01-01" = ["test.json"]
[kinds.Thing]
type = "Microsoft.Test/things"
"#;

/// An enum that takes no other value.
fn closed(name: &str, values: &[&str]) -> (TypeId, TypeDef) {
    let (name, mut definition) = enumeration(name, values);
    if let TypeDef::Enum(known) = &mut definition {
        known.extensible = false;
    }
    (name, definition)
}

/// `Thing` in both api-versions, `Part` in the newer one; `mode` came with the newer one, too.
fn model() -> Group {
    let arm_id = Property {
        meaning: Meaning::ArmId,
        ..inner("vaultId", TypeRef::String)
    };
    let secret = Property {
        secret: true,
        ..inner("password", TypeRef::String)
    };
    let must = Property {
        required: true,
        ..inner("must", TypeRef::String)
    };
    let spec = [
        inner("subnetId", TypeRef::String),
        inner("networkId", TypeRef::String),
        inner("text", TypeRef::String),
        inner("count", TypeRef::Integer(None)),
        inner("rule", named("IpRule")),
        inner("rules", list(named("IpRule"))),
        inner("tags", map(TypeRef::String)),
        inner("sku", named("Sku")),
        arm_id,
        secret,
        must,
    ];
    let types = |more: &[Property]| {
        let properties = spec.iter().chain(more).cloned().collect();
        vec![
            object("ThingSpec", properties),
            object(
                "ThingStatus",
                vec![string("id"), string("phase"), string("text")],
            ),
            object("IpRule", vec![string("value")]),
            closed("Sku", &["Basic", "Premium"]),
        ]
    };
    let thing = || resource("Thing", "Microsoft.Test/things");
    let part = || resource("Part", "Microsoft.Test/parents/parts");
    let mut new = types(&[inner("mode", TypeRef::String)]);
    new.push(object("PartSpec", vec![string("x")]));
    new.push(object("PartStatus", vec![string("x")]));
    group(vec![
        version("2022-01-01", vec![thing()], types(&[])),
        version("2023-01-01", vec![thing(), part()], new),
    ])
}

fn fault(text: &str) -> String {
    let applied = GroupConfig::parse("test.toml", text).and_then(|it| curate(model(), &it));
    match applied {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Each of `cases` behind the head of the file, with what is told about it.
fn table(cases: &[&str]) -> String {
    let mut table = String::new();
    for case in cases {
        let told = fault(&format!("{HEAD}{case}"));
        let _ = writeln!(
            table,
            "{}\n  => {}\n",
            case.trim_end(),
            told.replace('\n', "\n  => ")
        );
    }
    table
}

#[test]
fn keys_and_values_of_the_wrong_form() {
    let table = table(&[
        "version = [\"2022-01-01\"]",
        "secret = { key = { status = \"phase\" } }",
        "zzz = 1",
        "type = \"again\"",
        "versions = \"2022-01-01\"",
        "versions = [2022]",
        "secrets = { key = \"phase\" }",
        "secrets = { key = { status = \"phase\", id = \"subscription\" } }",
        "secrets = { key = { id = \"name\" } }",
        "config-maps = { key = 7 }",
        "[kinds]\nWidget = \"Microsoft.Test/widgets\"",
        "[kinds.Part]\nversions = [\"2023-01-01\"]",
        "[types]\nThing = \"reference\"",
        "[types.Thing]\nsubnetId = \"referense\"\ntext = { typ = \"string\" }\ncount = true",
        "[types.Thing]\ntext = { as = \"Reference\" }\nsubnetId = { side = \"both\" }\ncount = { type = \"int\" }",
        "[types.Thing]\ncount = { required = \"yes\", values = \"A\" }",
        "[types.Thing]\ntext = \"remove\"\ntext = \"plain\"",
        "[kinds.Thing]\ntype = \"Microsoft.Test/others\"",
        "[type.Thing]\ntext = \"remove\"",
        "[types.Thing\ntext = ",
    ]);
    insta::assert_snapshot!(table);
}

#[test]
fn keys_at_the_top_of_the_wrong_form() {
    let mut table = String::new();
    for (from, to) in [
        ("group = \"test\"\n", ""),
        ("group = \"test\"", "group = 7"),
        ("naming = \"legacy\"", "naming = \"both\""),
        ("naming", "explicit_collections = true\nnaming"),
        ("naming", "explicit-collections = \"yes\"\nnaming"),
        ("= [\"test.json\"]", "= \"test.json\""),
        ("[kinds.Thing]\ntype = \"Microsoft.Test/things\"\n", ""),
    ] {
        let told = fault(&HEAD.replacen(from, to, 1));
        let _ = writeln!(table, "{from:?} -> {to:?}\n  => {told}\n");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn sources_of_versions_that_say_nothing() {
    let mut table = String::new();
    for (from, to) in [
        ("= [\"test.json\"]", "= \"openapi\""),
        ("folder", "files = [\"test.json\"]\nfolder"),
        ("folder", "inherit-from = [\"2021-01-01\"]\nfolder"),
        ("folder", "inherit-from = [\"2023-01-01\"]\nfolder"),
    ] {
        let told = fault(&HEAD.replacen(from, to, 1));
        let _ = writeln!(table, "{from:?} -> {to:?}\n  => {told}\n");
    }
    insta::assert_snapshot!(table);
}

/// What is told about a second source, whose api-version of 2023 has these ARM types, for a kind with this line.
fn told_of_two(arm_types: &[&str], source: &str, line: &str) -> String {
    let mut group = model();
    if let Some(version) = group.versions.values_mut().next_back() {
        let arm_types = arm_types.iter().map(|it| (*it).to_owned());
        version
            .arm_types
            .insert("other".to_owned(), arm_types.collect());
    }
    let text = format!("{HEAD}{line}\n[sources.other]\n{source}\n");
    let applied = GroupConfig::parse("test.toml", text).and_then(|it| curate(group, &it));
    applied.map_or_else(|error| error.to_string(), |_| "no error".to_owned())
}

#[test]
fn a_kind_is_read_from_one_source() {
    let other = "folder = \"other\"\nversions = { \"2023-01-01\" = [\"other.json\"] }";
    let same = "folder = \"specification/test/\"\nversions = { \"2023-01-01\" = [\"other.json\"] }";
    let both = &["Microsoft.Test/things"][..];
    let mut table = String::new();
    for (arm_types, source, line) in [
        (both, other, ""),
        (both, other, "source = \"specs\""),
        (both, other, "source = \"other\""),
        (both, other, "source = \"others\""),
        (&["Microsoft.Test/others"], other, "source = \"specs\""),
        (&["Microsoft.Test/others"], other, "source = \"other\""),
        (&["Microsoft.Test/others"], other, ""),
        (&[], same, ""),
        (&[], "folder = \"other\"\nversions = {}", ""),
        (&[], "folder = \"other\"", ""),
        (&[], "versions = { \"2023-01-01\" = [\"other.json\"] }", ""),
    ] {
        let told = told_of_two(arm_types, source, line).replace('\n', "\n  => ");
        let source = source.replace('\n', "; ");
        let _ = writeln!(table, "{arm_types:?} in {source}; {line}\n  => {told}\n");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn names_that_nothing_has() {
    let table = table(&[
        "[kinds.Wrong]\ntype = \"Microsoft.Test/thing\"",
        "versions = [\"2021-01-01\"]",
        "[kinds.Part]\ntype = \"Microsoft.Test/parents/parts\"\nversions = [\"2022-01-01\"]",
        "secrets = { key = { status = \"fase\" } }\nconfig-maps = { text = \"text\", deep = \"phase.inner\" }",
        "secrets = { key = { status = \"phase\" } }\nsecrets-from = \"2023-02-01\"",
        "secrets = { key = { status = \"phase\" } }\nsecrets-until = \"2023-02-01\"",
        "[types.IPRules]\nvalue = \"plain\"",
        "[types.Thing]\nsubnetID = \"reference\"\nzzz = \"reference\"",
        "[types.Thing]\nphase = { as = \"remove\", side = \"spec\" }",
        "[types.Thing]\nsubnetId = { as = \"reference\", versions = [\"2021-01-01\"] }",
        "[types.Thing]\nmode = { as = \"remove\", versions = [\"2022-01-01\", \"2023-01-01\"] }",
        "[types.Thing]\nsubnetId = { was = \"subNetId\" }",
        "versions = [\"2021-01-01..\"]",
    ]);
    insta::assert_snapshot!(table);
}

#[test]
fn rules_without_effect() {
    let table = table(&[
        "[types.Thing]\nvaultId = \"reference\"",
        "[types.Thing]\npassword = \"secret\"",
        "[types.Thing]\ntext = \"plain\"",
        "[types.Thing]\nmust = { required = true }",
        "[types.Thing]\nsubnetId = { as = \"reference\", required = false }",
        "[types.Thing]\ntext = { type = \"string\" }",
        "[types.Thing]\nsku = { values = [\"Basic\", \"Premium\"] }",
        "[types.Thing]\ntext = { rename = \"text\" }",
        "[types.Thing]\ntext = { absent = \"empty\" }\ntags = { absent = \"nothing\" }",
        "[types.Thing]\ntext = { items = \"json\" }\ntags = { items = \"string\" }",
        "[types.Thing]\ntext = { was = \"text\" }",
        "[types.Thing]\nphase = \"reference\"",
        "[types.Thing]\nsubnetId = { as = \"reference\", side = \"spec\" }",
        "[types.Thing]\nmode = { as = \"remove\", versions = [\"2023-01-01\"] }",
        "[types.Thing]\ntext = { because = \"of that\" }",
        "[types.Thing]\ntext = {}",
        "[types.Thing]",
        "versions = [\"2022-01-01\", \"2023-01-01\"]",
        "secrets-from = \"2023-01-01\"",
        "secrets = { key = { status = \"phase\" } }\nsecrets-from = \"2022-01-01\"",
        "versions = [\"2023-01-01\"]",
        "versions = []",
        "config-maps-from = \"2023-01-01\"",
        "config-maps = { text = \"text\" }\nconfig-maps-from = \"2022-01-01\"",
        "versions = [\"2022-01-01..\"]",
        "config-maps-until = \"2023-01-01\"",
        "config-maps = { text = \"text\" }\nconfig-maps-until = \"2023-01-01\"",
        "[sources.more]\nfolder = \"specification/more\"\non-request = { \"2026-01-01\" = \"bicep\" }",
        "plural = \"things\"",
        "envelope = \"keep\"",
        "envelope = \"flatten\"",
        "azure-name-from-config = false",
    ]);
    insta::assert_snapshot!(table);
}

#[test]
fn rules_that_disagree() {
    let table = table(&[
        "[types.Thing]\nsubnetId = \"reference\"\n[types.ThingSpec]\nsubnetId = \"plain\"",
        "[types.Thing]\nsubnetId = \"reference\"\n[types.ThingSpec]\nsubnetId = \"reference\"",
        "[types.Thing]\ntext = \"remove\"\n[types.ThingStatus]\ntext = \"remove\"",
        "[types.Thing]\ntext = { as = \"reference\", type = \"string\" }",
        "[types.Thing]\ntext = { as = \"secret\", values = [\"A\"] }",
        "[types.Thing]\ntext = { type = \"string\", values = [\"A\"] }",
        "[types.Thing]\ntext = { as = \"remove\", required = true }",
        "[types.Thing]\ntags = { as = \"remove\", absent = \"null\" }",
        "[types.Thing]\ntags = { absent = \"null\", side = \"status\" }",
        "[types.Thing]\ntags = { type = \"json-map\", items = \"json\" }",
        "[types.Thing]\ntext = { required = true, side = \"status\" }",
        "[types.Thing]\ntext = { as = \"remove\", versions = [\"2023-01-01\", \"2023-01-01\"] }",
        "[types.Thing]\nsubnetId = { rename = \"place\" }\nnetworkId = { rename = \"place\" }",
        "[types.Thing]\nsubnetId = { as = \"reference\", rename = \"text\" }",
        "[kinds.Again]\ntype = \"microsoft.test/THINGS\"",
        "[kinds.Part]\ntype = \"Microsoft.Test/parents/parts\"\n[kinds.PART]\ntype = \"Microsoft.Test/others\"",
        "secrets = { key = { status = \"phase\" }, Key = { status = \"text\" } }",
    ]);
    insta::assert_snapshot!(table);
}

#[test]
fn rules_that_do_not_fit() {
    let table = table(&[
        "[kinds.Part]\ntype = \"Microsoft.Test/parents/parts\"",
        "[types.Thing]\ncount = \"reference\"\nrule = \"secret\"\nrules = \"config-map\"\ntext = \"secret-map\"\nsku = \"child-kind\"",
        "[types.IpRule]\nvalue = \"child-kind\"",
        "[types.Thing]\ncount = \"secret-or-plain\"\nrules = \"secret-or-plain\"",
        "[kinds.thing]\ntype = \"Microsoft.Test/others\"\n[kinds.\"Some Thing\"]\ntype = \"x\"\n[kinds.2Things]\ntype = \"y\"",
        "[types.Thing]\ntext = \"flatten\"\nrules = \"flatten\"",
        "[types.Thing]\ntags = { type = \"string\" }",
        "plural = \"Thingies\"",
        "plural = \"others\"\n[kinds.Other]\ntype = \"Microsoft.Test/others\"",
    ]);
    insta::assert_snapshot!(table);
}

#[test]
fn rules_that_do_something_are_fine() {
    for rules in [
        "[types.Thing]\nvaultId = \"plain\"\npassword = \"plain\"",
        "[types.Thing]\ntext = { as = \"config-map\", required = true }",
        "[types.Thing]\ntext = { as = \"remove\", side = \"status\" }",
        "[types.Thing]\nsku = { values = [\"Basic\"] }\nmust = { required = false }",
        "[types.Thing]\ntext = { as = \"remove\", versions = [\"2023-01-01\"] }",
        "[types.Thing]\nmode = { was = \"sku\" }",
        "[types.Thing]\ntext = \"secret-or-plain\"",
        "[types.Thing]\ntext = \"reference-or-plain\"\nvaultId = \"reference-or-plain\"",
        "[types.Thing]\npassword = \"secret-or-plain\"",
        "[types.IpRule]\nvalue = \"well-known-reference\"",
        "[types.Thing]\nrule = \"flatten\"",
        "config-maps = { text = \"text\" }\nconfig-maps-until = \"2022-01-01\"",
        "naming = \"new\"\nplural = \"thing\"",
        "[types.Thing]\ntags = { absent = \"empty\" }",
        "[types.Thing]\ntags = { items = \"json\", absent = \"null\" }",
        "[types.Thing]\ntags = { type = \"json-map\" }",
    ] {
        assert_eq!(fault(&format!("{HEAD}{rules}")), "no error", "{rules}");
    }
}

#[test]
fn parts_must_exist_and_matter() {
    let told =
        |part: &str| fault(&HEAD.replace("[sources", &format!("parts = [{part}]\n[sources")));
    for (part, expected) in [
        (
            "\"IPRul\"",
            "test.toml:3:10: no type `IPRul` in any api-version of the group; did you mean `IpRule`?",
        ),
        (
            "\"IpRule\"",
            "test.toml:3:10: `IpRule` stays whole anyway; remove it",
        ),
        (
            "\"IpRule\", \"IpRule\"",
            "test.toml:3:20: `parts` lists `IpRule` twice; remove one",
        ),
    ] {
        assert_eq!(told(part), expected);
    }
}

/// A definition that stays whole everywhere, in one kind, or of which only the id stays.
#[test]
fn parts_of_kinds_and_their_opposite_must_exist_and_matter() {
    let top = |line: &str| HEAD.replace("[sources", &format!("{line}\n[sources"));
    let of_kind = |line: &str| format!("{HEAD}{line}\n");
    let both = format!("{}parts = [\"IpRule\"]\n", top("parts = [\"IpRule\"]"));
    let mut table = String::new();
    for text in [
        top("id-only = [\"IpRul\"]"),
        top("id-only = [\"IpRule\"]"),
        top("id-only = [\"IpRuleStatus\"]"),
        top("id-only = [\"IpRule\", \"IpRule\"]"),
        top("id-only = [\"IpRule\"]\nparts = [\"IpRule\"]"),
        of_kind("parts = [\"IpRul\"]"),
        of_kind("parts = [\"IpRule\"]"),
        of_kind("parts = [\"IpRule\", \"IpRule\"]"),
        both,
    ] {
        let lines = text.lines().filter(|it| it.contains("IpRul"));
        let lines: Vec<&str> = lines.collect();
        let told = fault(&text).replace('\n', "\n  => ");
        let _ = writeln!(table, "{}\n  => {told}\n", lines.join("; "));
    }
    insta::assert_snapshot!(table);
}

/// A heuristic was there first: the message says which, and what keeps the property.
#[test]
fn rules_for_what_is_left_out_before() {
    let mut table = String::new();
    for (why, of, name) in [
        (NAMED_BY_AZURE, "IpRule", "id"),
        (DERIVED, "IpRule", "id"),
        ("`readOnly`: only Azure sets it", "IpRule", "id"),
        // The status has it.
        (NAMED_BY_AZURE, "ThingSpec", "phase"),
    ] {
        let mut group = model();
        for version in group.versions.values_mut() {
            let of = version.types.get_mut(&TypeId::of_schema(of));
            if let Some(TypeDef::Object(object)) = of {
                object.definition = Some("FirewallRule".to_owned());
                object.left_out.push(LeftOut {
                    name: name.to_owned(),
                    arm: vec![name.to_owned()],
                    origin: Origin {
                        source: String::new(),
                        decisions: vec![Decision::heuristic(why)],
                    },
                });
            }
        }
        let of = of.strip_suffix("Spec").unwrap_or(of);
        let rules = format!("[types.{of}]\n{name} = \"reference\"");
        let config = GroupConfig::parse("test.toml", format!("{HEAD}{rules}")).expect("form");
        let told = curate(group, &config).expect_err("nothing to rule");
        let _ = writeln!(table, "{rules}\n  => {told}\n");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn a_name_that_azure_fixes_comes_from_nowhere() {
    let mut group = model();
    for version in group.versions.values_mut() {
        version.resources[0].name = NameRule::Fixed("default".to_owned());
    }
    for (rule, told) in [
        (
            "azure-name-from-config = true",
            "test.toml:9:26: `azure-name-from-config` has no effect: the name of `Thing` is always the same; remove it",
        ),
        (
            "azure-name = \"uuid\"",
            "test.toml:9:14: `azure-name` has no effect: Azure takes only some names of `Thing`; remove it",
        ),
    ] {
        let text = format!("{HEAD}{rule}\n");
        let config = GroupConfig::parse("test.toml", text).expect("form");
        let found = curate(group.clone(), &config).expect_err("no name to take");
        assert_eq!(found.to_string(), told);
    }
}

/// What is told about a model whose `Thing` has these properties as well.
fn fault_with(more: &[Property], in_status: bool, rules: &str) -> String {
    let mut group = model();
    let root = TypeId::of_schema(if in_status {
        "ThingStatus"
    } else {
        "ThingSpec"
    });
    for version in group.versions.values_mut() {
        if let Some(TypeDef::Object(object)) = version.types.get_mut(&root) {
            object.properties.extend(more.iter().cloned());
        }
    }
    let config = GroupConfig::parse("test.toml", format!("{HEAD}{rules}")).expect("form");
    match curate(group, &config) {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn properties_named_as_the_operators_own_must_be_renamed() {
    let told = |name: &str, side: &str| {
        format!(
            "test.toml:7:8: `Thing.{side}.{name}` is the operator's own, and Azure has a property of that \
             name; give Azure's another: `{name} = {{ rename = \"…\" }}` under [types.Thing]"
        )
    };
    for name in [
        "azureName",
        "azureNameFromConfig",
        "operatorSpec",
        "originalVersion",
        "owner",
    ] {
        let property = [inner(name, TypeRef::String)];
        assert_eq!(fault_with(&property, false, ""), told(name, "spec"));
        assert_eq!(fault_with(&property, true, ""), "no error", "{name}");
        let rename = format!("[types.Thing]\n{name} = {{ rename = \"theirs\" }}");
        assert_eq!(fault_with(&property, false, &rename), "no error", "{name}");
    }
    let conditions = [inner("conditions", list(TypeRef::String))];
    assert_eq!(
        fault_with(&conditions, true, ""),
        told("conditions", "status")
    );
    assert_eq!(fault_with(&conditions, false, ""), "no error");
    // A rule that gives the name is what is wrong then.
    let renamed = "[types.Thing]\ntext = { rename = \"owner\", side = \"spec\" }";
    assert_eq!(
        fault_with(&[], false, renamed),
        told("owner", "spec")
            .replace("7:8", "10:1")
            .replace("and Azure has a property of that name; give Azure's another: `owner = { rename = \"…\" }` under [types.Thing]",
                "so no rule can give it to another property; choose another name")
    );
}

#[test]
fn error_rules_that_cannot_be() {
    let rule = "[[errors]]\ncode = \"Busy\"\nclass = \"retry-slow\"\n";
    let rows: [(&str, &str); 5] = [
        (
            "[[errors]]\nclass = \"fatal\"\n",
            "`code` is missing in `errors`",
        ),
        (
            "[[errors]]\ncode = \"Busy\"\nclass = \"retry\"\n",
            "test.toml:11:9: `errors.class` cannot be `retry`",
        ),
        (
            "[errors]\ncode = \"Busy\"\n",
            "`errors` is a table; expected a list of tables",
        ),
        (
            &format!("{rule}kinds = [\"Thong\"]\n"),
            "test.toml:12:10: no kind is named `Thong`; did you mean `Thing`?",
        ),
        (
            &format!("{rule}{rule}kinds = [\"Thing\"]\n"),
            "test.toml:13:8: a rule above holds for every `Busy` already; remove one of the two",
        ),
    ];
    for (text, told) in rows {
        let fault = fault(&format!("{HEAD}{text}"));
        assert!(fault.contains(told), "{text}\n{fault}");
    }
    let narrow_first = format!("{rule}message = \"soon\"\n{rule}");
    assert_eq!(fault(&format!("{HEAD}{narrow_first}")), "no error");
}
