//! All passes on small spec files.

mod findings;
pub mod generate;

use std::sync::Mutex;

use armature_generator::curation::GroupConfig;
use armature_generator::load::SpecRoot;
use armature_generator::pipeline::{
    Generated, GroupSummary, NoProgress, Options, Progress, generate,
};

const SPEC: &str = r##"{
  "swagger": "2.0",
  "info": { "title": "Test", "version": "2023-01-01" },
  "paths": {
    "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.Test/things/{name}": {
      "put": {
        "parameters": [
          { "name": "name", "in": "path", "required": true, "type": "string", "maxLength": 24 },
          { "name": "body", "in": "body", "schema": { "$ref": "#/definitions/Thing" } }
        ],
        "responses": { "200": { "description": "ok", "schema": { "$ref": "#/definitions/Thing" } } }
      },
      "get": {
        "parameters": [{ "name": "name", "in": "path", "required": true, "type": "string" }],
        "responses": { "200": { "description": "ok", "schema": { "$ref": "#/definitions/Thing" } } }
      }
    }
  },
  "definitions": {
    "Thing": {
      "type": "object",
      "x-ms-azure-resource": true,
      "properties": {
        "id": { "type": "string", "readOnly": true },
        "name": { "type": "string", "readOnly": true },
        "type": { "type": "string", "readOnly": true },
        "location": { "type": "string", "description": "Where it\n   \"is\"." }
      }
    }
  }
}"##;

const CONFIG: &str = r#"group = "test"
naming = "new"
[sources.specs]
folder = "specification/test"
versions."2023-01-01" = ["test.json"]
[kinds.Thing]
type = "Microsoft.Test/things"
"#;

struct Names(Mutex<Vec<String>>);

impl Progress for Names {
    fn group(&self, summary: &GroupSummary) {
        self.0.lock().expect("no panic").push(summary.group.clone());
    }
}

fn specs() -> (tempfile::TempDir, SpecRoot) {
    specs_of(SPEC)
}

fn specs_of(text: &str) -> (tempfile::TempDir, SpecRoot) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("specification/test/stable/2023-01-01");
    std::fs::create_dir_all(&path).expect("folder");
    std::fs::write(path.join("test.json"), text).expect("file");
    let root = folder.path().to_str().expect("path in UTF-8").to_owned();
    (folder, SpecRoot::new(root))
}

fn config(text: &str) -> GroupConfig {
    GroupConfig::parse("specs/test.toml", text).expect("form")
}

#[test]
fn a_spec_becomes_a_crate_and_a_page() {
    let (_folder, specs) = specs();
    let names = Names(Mutex::default());
    let generated =
        generate(&specs, &[config(CONFIG)], Options::default(), &names).expect("generates");
    let paths = generated.files.keys().map(|path| path.as_str());
    assert_eq!(
        paths.collect::<Vec<_>>(),
        [
            "deploy/chart/files/crds",
            "deploy/chart/files/groups",
            "docs/reference/index.md",
            "docs/reference/test/thing.md",
            "docs/reference/test.md",
            "generated/all/Cargo.toml",
            "generated/all/src/lib.rs",
            "generated/test/Cargo.toml",
            "generated/test/descriptions.txt",
            "generated/test/src/hub.rs",
            "generated/test/src/kinds/mod.rs",
            "generated/test/src/kinds/thing.rs",
            "generated/test/src/lib.rs",
            "generated/test/src/types.rs",
            "generated/test/src/v20230101.rs",
        ]
    );
    assert_eq!(*names.0.lock().expect("no panic"), ["test"]);
    let summary = &generated.groups[0];
    assert_eq!((summary.kinds, summary.kind_versions), (1, 1));
    assert_eq!((summary.types, summary.shared_types), (3, 3));
    assert_eq!(summary.files, 6);
    let texts = generated
        .files
        .iter()
        .filter(|(path, _)| path.starts_with("generated/test/src"));
    let bytes = texts.map(|(_, text)| text.len()).sum::<usize>();
    assert_eq!(summary.bytes, bytes);
}

/// Some dates without `-preview` are below `preview` all the same, and the other way round.
#[test]
fn an_api_version_is_looked_for_below_stable_and_preview() {
    let (folder, specs) = specs();
    let run = |specs: &SpecRoot, text: &str| {
        let configs = [config(text)];
        generate(specs, &configs, Options::default(), &NoProgress).map(|it| it.files)
    };
    let usual = run(&specs, CONFIG).expect("generates");
    let below = folder.path().join("specification/test");
    std::fs::rename(below.join("stable"), below.join("preview")).expect("moves");
    let fresh = || SpecRoot::new(folder.path().to_str().expect("path in UTF-8"));
    assert_eq!(run(&fresh(), CONFIG).expect("generates").len(), usual.len());

    let dates = ("2023-01-01", "2023-01-01-preview");
    let preview = CONFIG.replace(dates.0, dates.1);
    let (from, to) = (below.join("preview"), below.join("stable"));
    std::fs::rename(from.join(dates.0), from.join(dates.1)).expect("moves");
    std::fs::rename(from, to).expect("moves");
    assert!(run(&fresh(), &preview).is_ok());
    // A message names the usual place.
    let fault = run(&fresh(), CONFIG).expect_err("no file").to_string();
    assert!(
        fault.contains("test/stable/2023-01-01/test.json"),
        "{fault}"
    );
}

/// Two groups over the same file.
fn shared() -> [GroupConfig; 2] {
    let mut other = config(&CONFIG.replace("\"test\"", "\"other\""));
    other.path = "specs/other.toml".to_owned();
    [config(CONFIG), other]
}

fn with_threads(threads: usize) -> (Generated, SpecRoot) {
    let (_folder, specs) = specs();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("pool");
    let generated = pool
        .install(|| generate(&specs, &shared(), Options::default(), &NoProgress))
        .expect("generates");
    (generated, specs)
}

#[test]
fn any_number_of_threads_gives_the_same_bytes_and_parses_a_file_once() {
    let (first, specs) = with_threads(1);
    assert_eq!((specs.files().len(), specs.parsed()), (1, 1));
    for threads in [2, 7] {
        let (again, specs) = with_threads(threads);
        assert_eq!(again.files, first.files, "{threads} threads");
        assert_eq!(specs.parsed(), 1, "{threads} threads");
    }
}

#[test]
fn descriptions_are_in_the_types_only_when_asked_for() {
    let (_folder, specs) = specs();
    let spec = |descriptions| {
        let options = Options {
            descriptions,
            ..Options::default()
        };
        let generated = generate(&specs, &[config(CONFIG)], options, &NoProgress);
        let files = generated.expect("generates").files;
        files[camino::Utf8Path::new("generated/test/src/v20230101.rs")].clone()
    };
    assert!(!spec(false).contains("described"));
    let with = spec(true);
    assert!(
        with.contains(
            "ThingSpec.described(&[\n        (\"location\", \"Where it \\\"is\\\".\"),\n    ]) {"
        ),
        "{with}"
    );
}

/// Of the property, else of what it refers to; of what the manifest can say alone, and only a value that the type has.
#[test]
fn defaults_are_kept_beside_descriptions() {
    let location = r#""location": {"#;
    let more = r##""rules": { "type": "array", "items": { "$ref": "#/definitions/Rule" } },
        "tier": { "$ref": "#/definitions/Tier" },
        "own": { "$ref": "#/definitions/Tier", "default": "Cool" },
        "hot": { "type": "boolean", "default": "true" },
        "made": { "type": "integer", "default": 1, "readOnly": true },
        "location": { "default": "westus","##;
    let definitions = r#""definitions": {
    "Tier": { "type": "string", "enum": ["Hot", "Cool"], "default": "Hot" },
    "Rule": { "type": "object", "properties": { "days": { "type": "integer", "default": 7 } } },"#;
    let text = SPEC
        .replace(location, more)
        .replace(r#""definitions": {"#, definitions);
    let (_folder, specs) = specs_of(&text);
    let generated = generate(&specs, &[config(CONFIG)], Options::default(), &NoProgress);
    let files = generated.expect("generates").files;
    let found = &files[camino::Utf8Path::new("generated/test/descriptions.txt")];
    let expected = "\
# Azure's own descriptions of properties, and their defaults, by `cargo xtask gen`.
G test.azure.com
T Where it \"is\".
D \"westus\"
D \"Cool\"
D 7
D \"Hot\"
O days::=2
O location:0:=0 own::=1 rules::0 tier::=3
O location:0:
R Thing v20230101 1 2
";
    assert_eq!(found, expected);
}

#[test]
fn errors_of_every_pass_come_through() {
    let (_folder, specs) = specs();
    let fault = |configs: &[GroupConfig]| match generate(
        &specs,
        configs,
        Options::default(),
        &NoProgress,
    ) {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    };
    let missing = config(&CONFIG.replace("test.json", "other.json"));
    assert!(fault(&[missing]).contains("specification/test/stable/2023-01-01/other.json"));
    let wrong = config(&CONFIG.replace("Microsoft.Test/things", "Microsoft.Test/thing"));
    assert!(fault(&[wrong]).starts_with("specs/test.toml:7:8: "));
    let mut second = config(CONFIG);
    second.path = "specs/again.toml".to_owned();
    assert_eq!(
        fault(&[config(CONFIG), second]),
        "specs/test.toml and specs/again.toml are both for group `test`; merge them into one file"
    );
}
