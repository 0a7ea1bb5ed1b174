//! Pass 4: what rules and heuristics make of a model.

mod page;
mod retirements;
mod rules;

use armature_generator::curate::curate;
use armature_generator::curation::GroupConfig;
use armature_generator::model::{
    ApiVersion, ArmPlace, Discriminated, Group, Meaning, NameRule, Owner, Property, TypeDef,
    TypeId, TypeRef, UuidText, VariantType,
};
use armature_generator::naming::TypeNames;

use crate::common::lines as render;
use crate::common::models::{
    enumeration, group, inner, list, map, named, object, resource, string, version,
};

const HEAD: &str = r#"
group = "test"
naming = "hybrid"

[sources.specs]
folder = "specification/test"
versions."2023-01-01" = ["test.json"]

[kinds.Thing]
type = "Microsoft.Test/things"
"#;

fn things(spec: Vec<Property>, status: Vec<Property>, more: Vec<(TypeId, TypeDef)>) -> Group {
    let mut types = vec![object("ThingSpec", spec), object("ThingStatus", status)];
    types.extend(more);
    group(vec![version(
        "2023-01-01",
        vec![resource("Thing", "Microsoft.Test/things")],
        types,
    )])
}

fn curated(group: Group, rules: &str) -> String {
    let config = GroupConfig::parse("specs/test.toml", format!("{HEAD}{rules}")).expect("form");
    let group = curate(group, &config).expect("rules apply");
    group.versions.values().map(render::version).collect()
}

#[test]
fn roots_get_the_operators_fields_and_lose_arms_envelope() {
    let group = things(
        vec![string("name"), string("location"), string("id")],
        vec![
            string("name"),
            string("id"),
            inner("endpoints", named("Endpoints")),
        ],
        vec![
            object("Unreached", vec![string("x")]),
            object("Endpoints", vec![string("web")]),
        ],
    );
    let rules = r#"
secrets = { key1 = { action = "listKeys", value = "keys[keyName=key1].value" }, id = { id = "subscription" } }
config-maps = { endpoint = "endpoints.web", other = "" }
"#;
    insta::assert_snapshot!(curated(group, rules));
}

#[test]
fn references_secrets_and_config_maps() {
    let mut arm_id = inner("subnetId", TypeRef::String);
    arm_id.meaning = Meaning::ArmId;
    arm_id.required = true;
    let mut secret = inner("password", TypeRef::String);
    secret.secret = true;
    let mut issuer = inner("issuer", TypeRef::String);
    issuer.required = true;
    let mut group_id = inner("groupId", TypeRef::String);
    group_id.required = true;
    let spec = vec![
        arm_id.clone(),
        secret.clone(),
        issuer,
        inner("vaultIds", list(TypeRef::String)),
        inner("serviceId", TypeRef::String),
        inner("settings", map(TypeRef::String)),
        inner("token", TypeRef::String),
        inner("notAReferenceId", TypeRef::String),
        inner("webhook", TypeRef::String),
        group_id.clone(),
    ];
    let status = vec![
        arm_id,
        secret,
        inner("token", TypeRef::String),
        inner("webhook", TypeRef::String),
        group_id,
    ];
    let rules = r#"
[types.Thing]
groupId = "reference-or-plain"
issuer = "config-map"
notAReferenceId = "config-map-required"
serviceId = "well-known-reference"
settings = "secret-map"
token = "secret"
vaultIds = "reference"
webhook = "secret-or-plain"
"#;
    insta::assert_snapshot!(curated(things(spec, status, Vec::new()), rules));
}

/// One that says what of it is secret, one that does not, a list of the latter, and one that a rule calls plain.
#[test]
fn objects_that_are_secrets_stay_objects() {
    let secret = |name: &str, ty: TypeRef| {
        let mut property = inner(name, ty);
        property.secret = true;
        property
    };
    let properties = |suffix: &str| {
        let of = |name: &str| named(&format!("{name}{suffix}"));
        vec![
            secret("marked", of("Marked")),
            secret("unmarked", of("Unmarked")),
            secret("several", list(of("Unmarked"))),
            secret("open", of("Open")),
        ]
    };
    let mut types = Vec::new();
    for suffix in ["", "Status"] {
        let of = |name: &str| format!("{name}{suffix}");
        let marked = vec![string("endpoint"), secret("key", TypeRef::String)];
        let unmarked = vec![
            string("key"),
            inner("size", TypeRef::Integer(None)),
            inner("below", named(&of("Below"))),
        ];
        types.push(object(&of("Marked"), marked));
        types.push(object(&of("Unmarked"), unmarked));
        types.push(object(&of("Below"), vec![string("token")]));
        types.push(object(&of("Open"), vec![string("key")]));
    }
    let rules = "[types.Thing]\nopen = \"plain\"\n";
    let group = things(properties(""), properties("Status"), types);
    insta::assert_snapshot!(curated(group, rules));
}

#[test]
fn rules_overrule_heuristics_and_specs() {
    let mut arm_id = inner("scope", TypeRef::String);
    arm_id.meaning = Meaning::ArmId;
    let spec = vec![
        arm_id,
        inner("bypass", named("Bypass")),
        inner("mode", named("Mode")),
        inner("odd", TypeRef::Json),
        inner("gone", TypeRef::String),
        inner("phase", TypeRef::String),
    ];
    let status = vec![
        inner("gone", TypeRef::String),
        inner("phase", TypeRef::String),
        inner("mode", TypeRef::String),
    ];
    let more = vec![enumeration("Bypass", &["A"]), enumeration("Mode", &["A"])];
    let rules = r#"
[types.Thing]
bypass = { type = "string" }
gone = "remove"
mode = { values = ["A", "B"], side = "spec" }
odd = { rename = "even", type = "boolean", required = true }
phase = { as = "remove", side = "spec" }
scope = "plain"
"#;
    insta::assert_snapshot!(curated(things(spec, status, more), rules));
}

#[test]
fn children_of_a_kind_leave_its_spec_and_keep_their_path() {
    let spec = vec![inner("subnets", list(named("Subnet"))), string("location")];
    let status = vec![inner("subnets", list(named("SubnetStatus")))];
    let more = vec![
        object("Subnet", vec![string("prefix")]),
        object("SubnetStatus", vec![string("prefix")]),
    ];
    let rules = "[types.Thing]\nsubnets = \"child-kind\"\n";
    insta::assert_snapshot!(curated(things(spec, status, more), rules));
}

#[test]
fn lists_that_others_add_to_are_known_by_their_path_in_arm() {
    let curated = |path: &str| {
        let spec = vec![inner("rules", list(named("Rule"))), string("location")];
        let more = vec![object("Rule", vec![string("name")])];
        let text = format!("{HEAD}keep-unknown = [\"{path}\"]\n");
        let config = GroupConfig::parse("specs/test.toml", text).expect("form");
        let group = curate(things(spec, vec![], more), &config);
        let group = group.map_err(|error| error.to_string())?;
        let paths = group
            .versions
            .values()
            .map(|it| it.resources[0].keep_unknown.clone());
        Ok::<_, String>(paths.collect::<Vec<_>>())
    };
    let rules = ["properties", "rules"].map(str::to_owned).to_vec();
    assert_eq!(curated("rules"), Ok(vec![vec![rules]]));
    for (path, part) in [
        ("location", "needs a list or a map"),
        ("rule", "the spec of `Thing` has no `rule`"),
    ] {
        let message = curated(path).unwrap_err();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn rules_for_other_words_are_read_and_their_paths_are_there() {
    let curated = |rule: &str| {
        let spec = vec![
            inner("rules", list(named("Rule"))),
            inner("tiers", map(string("x").ty)),
            string("location"),
        ];
        let status = vec![inner("current", named("Current"))];
        let more = vec![
            object("Rule", vec![string("name"), inner("value", string("x").ty)]),
            object("Current", vec![string("tier")]),
        ];
        let text = format!("{HEAD}equal = [\n    '{rule}',\n]\n");
        let config = GroupConfig::parse("specs/test.toml", text).expect("form");
        let group = curate(things(spec, status, more), &config);
        let group = group.map_err(|error| error.to_string())?;
        Ok::<_, String>(group.values["Thing"].equal.clone())
    };
    for rule in [
        "location as any-case",
        "properties.rules[].name as address",
        "properties.rules[].properties.value unset as None or \"\"",
        "properties.tiers[] same A or B while location is nothing",
        "location also as properties.current.tier",
        "properties.rules[].name counts while properties.rules[].properties.value is A",
    ] {
        assert_eq!(curated(rule), Ok(vec![rule.to_owned()]));
    }
    for (rule, part) in [
        ("loction as any-case", "did you mean `location`?"),
        (
            "location as adress",
            "no word `adress`; did you mean `address`?",
        ),
        (
            "properties.rules[].nme as xml",
            "no api-version has `properties.rules[].nme`",
        ),
        ("properties.rules.name as xml", "write `[]` for the items"),
        (
            "properties.current.tier as xml",
            "`properties.current.tier`",
        ),
        (
            "location also in properties.none",
            "no api-version has `properties.none`",
        ),
        ("location is xml", "begins with none of"),
        ("location same A or", "`A or` is no value"),
        ("location counts", "needs a condition"),
        ("location as xml while tier", "is no condition"),
    ] {
        let message = curated(rule).unwrap_err();
        assert!(message.contains(part), "{message}");
        assert!(message.contains("specs/test.toml:12"), "{message}");
    }
}

#[test]
fn variants_and_empty_objects_go_with_what_they_hold() {
    let mut group = things(
        vec![
            Property::with_place("good", ArmPlace::Variant, named("Good")),
            Property::with_place("bad", ArmPlace::Variant, named("Bad")),
            inner("empty", named("Empty")),
            inner("holdsEmpty", list(named("HoldsEmpty"))),
        ],
        Vec::new(),
        vec![
            object("Good", vec![string("kind")]),
            object("Bad", vec![string("kind")]),
            object("Empty", Vec::new()),
            object("HoldsEmpty", vec![inner("empty", named("Empty"))]),
        ],
    );
    let version = group.versions.get_mut(&ApiVersion::new("2023-01-01"));
    let types = &mut version.expect("version").types;
    if let Some(TypeDef::Object(root)) = types.get_mut(&TypeId::of_schema("ThingSpec")) {
        let variant = |value: &str, property: &str| VariantType {
            value: value.to_owned(),
            property: property.to_owned(),
        };
        root.discriminated = Some(Discriminated {
            property: "kind".to_owned(),
            variants: vec![variant("Good", "good"), variant("Bad", "bad")],
        });
    }
    let rules = "[types.Thing]\nbad = \"remove\"\n";
    insta::assert_snapshot!(curated(group, rules));
}

#[test]
fn kinds_are_renamed_and_other_types_move_off_their_names() {
    let mut thing = resource("StoreThing", "Microsoft.Test/things");
    thing.name = NameRule::OneOf(vec!["a".to_owned(), "b".to_owned()]);
    thing.owner = Owner::Any;
    let mut other = resource("Other", "Microsoft.Test/others");
    other.name = NameRule::Fixed("default".to_owned());
    other.owner = Owner::None;
    let group = group(vec![version(
        "2023-01-01",
        vec![other, thing],
        vec![
            object("StoreThingSpec", vec![inner("thing", named("Thing"))]),
            object("StoreThingStatus", vec![string("id")]),
            object("Thing", vec![string("x")]),
            object("OtherSpec", vec![string("x")]),
            object("OtherStatus", vec![string("id")]),
        ],
    )]);
    let rules =
        "azure-name-from-config = true\n[kinds.Different]\ntype = \"microsoft.test/OTHERS\"\n";
    insta::assert_snapshot!(curated(group, rules));
}

/// Only where Azure Service Operator has the choice, users have it.
#[test]
fn a_name_may_be_a_uuid() {
    let convention = "namingConvention";
    for (word, text, has_choice) in [
        ("uuid", UuidText::WithOwnerId, true),
        ("uuid-without-owner-id", UuidText::WithoutOwnerId, false),
    ] {
        let rules = format!("{HEAD}azure-name = \"{word}\"\n");
        let config = GroupConfig::parse("specs/test.toml", rules).expect("form");
        let group = things(vec![string("x")], vec![string("id")], Vec::new());
        let group = curate(group, &config).expect("rules apply");
        let version = group.versions.values().next().expect("a version");
        let name = &version.resources[0].name;
        let is_it = matches!(name, NameRule::Uuid { text: found, .. } if *found == text);
        assert!(is_it, "{word}: {name:?}");
        let has_property = version.types.values().any(|definition| match definition {
            TypeDef::Object(object) => object.properties.iter().any(|it| it.name == convention),
            _ => false,
        });
        assert_eq!(has_property, has_choice, "{word}");
    }
}

/// A name that a kind takes from a type is not another type's, whether a kind reaches that or not.
#[test]
fn a_type_that_moves_off_a_kinds_name_takes_no_other_types() {
    let spec = vec![inner("thing", named("Thing"))];
    let more = vec![object("Thing", vec![string("x")])];
    let mut group = things(spec, Vec::new(), more);
    let version = group.versions.values_mut().next().expect("a version");
    version.words.insert("ThingValue".to_owned());
    let group = curate(
        group,
        &GroupConfig::parse("specs/test.toml", HEAD).expect("form"),
    );
    let group = group.expect("rules apply");
    let version = group.versions.values().next().expect("a version");
    let names = TypeNames::of_version(version);
    let moved = names.get(&TypeId::of_schema("Thing")).expect("a name");
    assert_eq!(moved.as_str(), "ThingValueValue");
}

#[test]
fn explicit_collections_are_marked() {
    let config = HEAD.replace("naming", "explicit-collections = true\nnaming");
    let config = GroupConfig::parse("specs/test.toml", config).expect("form");
    let spec = vec![
        inner("list", list(TypeRef::String)),
        inner("map", map(TypeRef::String)),
        inner("text", TypeRef::String),
    ];
    let group = curate(things(spec, Vec::new(), Vec::new()), &config).expect("rules apply");
    let text = group.versions.values().map(render::version);
    insta::assert_snapshot!(text.collect::<String>());
}
