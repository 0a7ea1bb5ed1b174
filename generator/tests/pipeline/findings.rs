//! What fuzzing found in passes 4 to 8, each as the smallest model that shows it.

use armature_generator::curate::curate;
use armature_generator::curation::GroupConfig;
use armature_generator::emit::Notes;
use armature_generator::hub::hubs;
use armature_generator::model::{ApiVersion, Group, NameRule, TypeDef, TypeId, TypeRef, Version};
use armature_generator::naming::{Names, TypeNames};
use armature_generator::pipeline::finish;

use crate::common::lines as render;
use crate::common::models::{enumeration, group, inner, named, object, resource, string, version};

const HEAD: &str = r#"group = "test"
naming = "new"
[sources.specs]
folder = "specification/test"
versions."2023-01-01" = ["test.json"]
[kinds.Thing]
type = "Microsoft.Test/things"
"#;

/// `Thing` with a property of type `ty`, and further types.
fn thing(ty: TypeRef, mut types: Vec<(TypeId, TypeDef)>) -> Version {
    types.push(object("ThingSpec", vec![inner("value", ty)]));
    types.push(object("ThingStatus", vec![string("id")]));
    let thing = resource("Thing", "Microsoft.Test/things");
    version("2023-01-01", vec![thing], types)
}

fn curated(version: Version, rules: &str) -> Result<Group, String> {
    let config = GroupConfig::parse("test.toml", format!("{HEAD}{rules}"));
    let config = config.map_err(|error| error.to_string())?;
    curate(group(vec![version]), &config).map_err(|error| error.to_string())
}

#[track_caller]
fn assert_refused(version: Version, place: &str, expected: &str) {
    let message = curated(version, "").map(|_| ()).expect_err("a fault");
    assert!(message.starts_with(place), "{message}");
    assert!(message.contains(expected), "{message}");
}

#[test]
fn an_arm_type_with_two_paths_is_no_kind() {
    let mut version = thing(TypeRef::String, Vec::new());
    let mut other = version.resources[0].clone();
    other.kind = "ThingSecond".to_owned();
    other.name = NameRule::Fixed("second".to_owned());
    version.resources.push(other);
    assert_refused(
        version,
        "test.toml:7:",
        "would be two resources in api-version `2023-01-01`",
    );
}

#[test]
fn a_kind_must_fit_into_a_crd() {
    let mut types = Vec::new();
    for level in 0..20 {
        let below = named(&format!("Level{}", level + 1));
        let members = vec![inner("left", below.clone()), inner("right", below)];
        types.push(object(&format!("Level{level}"), members));
    }
    types.push(object("Level20", vec![string("end")]));
    let version = thing(named("Level0"), types);
    assert_refused(version, "test.toml:6:", "has more than 250000 properties");
}

#[test]
fn kinds_leave_rusts_names_alone() {
    let version = thing(TypeRef::String, Vec::new());
    let text = HEAD.replace("[kinds.Thing]", "[kinds.Option]");
    let config = GroupConfig::parse("test.toml", text).expect("a form");
    let error = curate(group(vec![version]), &config).map(|_| ());
    let message = error.expect_err("a fault").to_string();
    assert!(
        message.contains("generated code uses the name `Option` itself"),
        "{message}"
    );
}

#[test]
fn a_type_and_a_kind_of_another_version_may_have_one_name() {
    let mut older = thing(TypeRef::String, Vec::new());
    let part = resource("Part", "Microsoft.Test/parts");
    let arm_types = older.arm_types.values_mut();
    arm_types.for_each(|it| it.push(part.arm_type.clone()));
    older.resources.push(part);
    older.types.extend([
        object("PartSpec", vec![string("colour")]),
        object("PartStatus", vec![string("id")]),
    ]);
    let part = object("Part", vec![string("colour")]);
    let mut newer = thing(named("Part"), vec![part]);
    newer.api_version = ApiVersion::new("2024-01-01");
    let text = HEAD.replace(
        "[kinds.Thing]",
        "versions.\"2024-01-01\" = [\"test.json\"]\n[kinds.Part]\ntype = \"Microsoft.Test/parts\"\n[kinds.Thing]",
    );
    let config = GroupConfig::parse("test.toml", text).expect("a form");
    let group = curate(group(vec![older, newer]), &config).expect("curated");
    // The hub has the kind, and the type in a module of the other kind.
    let hubs = hubs(&group).expect("hubs");
    let names = Names::of(&group, &hubs.types).expect("names");
    let types = hubs.types.keys();
    let types: Vec<String> = types
        .map(|id| render::hub_name(id, &hubs, &names))
        .collect();
    let has = |name: &str| types.iter().any(|it| it == name);
    assert!(!has("Part") && has("Thing_Part"), "{types:?}");
    let newer = &group.versions[&ApiVersion::new("2024-01-01")];
    let names = TypeNames::of_version(newer);
    assert!(names.by_name().keys().any(|name| name.as_str() == "Part"));
}

#[test]
fn names_that_are_no_rust_are_written_as_such() {
    let (name, mut colour) = enumeration("Colour", &["red", "RED", "-", "*", "日本"]);
    if let TypeDef::Enum(colour) = &mut colour {
        colour.source = "test.json#/definitions/a\nb\r".to_owned();
    }
    let odd = object(
        "Odd",
        vec![
            string(""),
            string("日本"),
            string("@odata.type"),
            string("self"),
            inner("c", named("Colour")),
        ],
    );
    let version = thing(named("Odd"), vec![(name, colour), odd]);
    let rules = "[types.Odd]\n\"@odata.type\" = { values = [\"a\", \"A\"] }\n";
    let group = curated(version, rules).expect("curated");
    let files = finish(&group, &Notes::default()).expect("formatted").files;
    for (path, text) in files
        .iter()
        .filter(|(path, _)| path.extension() == Some("rs"))
    {
        if let Err(error) = syn::parse_file(text) {
            panic!("{path}: {error}\n{text}");
        }
    }
}

#[test]
fn many_values_of_one_name_take_no_longer_than_others() {
    let seconds = |first: &str, rest: &str| {
        let values: Vec<String> = (1..4000)
            .map(|count| format!("{first}{}", rest.repeat(count)))
            .collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let version = thing(named("Dashes"), vec![enumeration("Dashes", &values)]);
        let group = curated(version, "").expect("curated");
        let started = worked();
        finish(&group, &Notes::default()).expect("formatted");
        worked() - started
    };
    // Beside values of other names and the same length.
    let (others, alike) = (seconds("v", "a"), seconds("", "-"));
    assert!(alike < 10.0 * others + 5.0, "{alike} s, others {others} s");
}

/// Seconds that this thread has worked so far: what else the machine does is not among them. Only Linux tells.
fn worked() -> f64 {
    let Ok(text) = std::fs::read_to_string("/proc/thread-self/stat") else {
        return 0.0;
    };
    // After the name in parentheses; ticks in user mode and in the kernel.
    let (_, fields) = text.rsplit_once(')').expect("a name in parentheses");
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks = ticks.map(|ticks| ticks.parse::<f64>().expect("ticks"));
    ticks.sum::<f64>() / 100.0
}
