//! No spec makes the passes panic: small specs with members removed, swapped and replaced at random either give
//! a model or an error.

use armature_generator::discover::discover;
use armature_generator::load::{SpecRoot, load};
use armature_generator::model::ApiVersion;
use armature_generator::types::build;
use proptest::prelude::*;
use serde_json::{Value, json};

const FILES: [&str; 6] = [
    "widgets/widgets.json",
    "variants/stores.json",
    "embedded/network.json",
    "recursion/trees.json",
    "places/places.json",
    "openapi3/gadgets.json",
];

/// What one mutation puts in the place that its number picks.
#[derive(Clone, Debug)]
enum Mutation {
    Remove,
    Put(Value),
    CopyFrom(usize),
}

fn mutation() -> impl Strategy<Value = (usize, Mutation)> {
    let values = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!("object"),
        json!("array"),
        json!("string"),
        json!(17),
        json!({}),
        json!([]),
        json!({"$ref": "#/definitions/Widget"}),
        json!({"$ref": "#/definitions/Store"}),
        json!({"$ref": "#/definitions/Node"}),
        json!({"allOf": [{"$ref": "#/definitions/Network"}], "discriminator": "kind"}),
        json!({"type": "object", "additionalProperties": {"$ref": "#/definitions/Left"}}),
    ]);
    let what = prop_oneof![
        Just(Mutation::Remove),
        values.prop_map(Mutation::Put),
        any::<usize>().prop_map(Mutation::CopyFrom),
    ];
    (any::<usize>(), what)
}

/// Pointers to every value of a document.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                pointers(member, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

fn mutate(document: &mut Value, (place, what): &(usize, Mutation)) {
    let mut all = Vec::new();
    pointers(document, "", &mut all);
    let target = &all[place % all.len()];
    match what {
        Mutation::Remove => {
            if let Some((parent, name)) = target.rsplit_once('/')
                && let Some(Value::Object(members)) = document.pointer_mut(parent)
            {
                members.shift_remove(&name.replace("~1", "/").replace("~0", "~"));
            }
        }
        Mutation::Put(value) => {
            if let Some(slot) = document.pointer_mut(target) {
                *slot = value.clone();
            }
        }
        Mutation::CopyFrom(from) => {
            let copy = document.pointer(&all[from % all.len()]).cloned();
            if let (Some(copy), Some(slot)) = (copy, document.pointer_mut(target)) {
                *slot = copy;
            }
        }
    }
}

/// Runs the passes over a mutated file beside the files it refers to.
fn run(file: &str, document: &Value) -> Result<usize, String> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let original = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/specs");
    for name in [
        "common/types.json",
        "embedded/shared.json",
        "embedded/gateway.json",
        "embedded/network.json",
        "openapi3/shared.json",
    ] {
        let target = folder.path().join(name);
        std::fs::create_dir_all(target.parent().expect("parent")).expect("folder");
        std::fs::copy(original.join(name), target).expect("copy");
    }
    let target = folder.path().join(file);
    std::fs::create_dir_all(target.parent().expect("parent")).expect("folder");
    std::fs::write(&target, document.to_string()).expect("write");
    let root = SpecRoot::new(folder.path().to_string_lossy().into_owned());
    let set = load(&root, &[file.to_owned()]).map_err(|error| error.to_string())?;
    let found = discover(&set).map_err(|error| error.to_string())?;
    let version = build(&set, ApiVersion::new("2024-01-01"), &found);
    let version = version.map_err(|error| error.to_string())?;
    Ok(version.types.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn mutated_specs_never_panic(
        file in prop::sample::select(FILES.to_vec()),
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        let path = format!("{}/tests/specs/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("spec");
        let mut document: Value = serde_json::from_str(&text).expect("JSON");
        for mutation in &mutations {
            mutate(&mut document, mutation);
        }
        if let Err(error) = run(file, &document) {
            prop_assert!(error.contains(".json"), "no file in `{error}`");
        }
    }
}
