//! All passes on small spec files.

use std::sync::Mutex;

use armature_generator::curate::GroupConfig;
use armature_generator::load::SpecRoot;
use armature_generator::pipeline::{GroupSummary, NoProgress, Progress, generate};

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
        "location": { "type": "string" }
      }
    }
  }
}"##;

const CONFIG: &str = r#"group = "test"
specs = "specification/test"
naming = "new"
[versions]
"2023-01-01" = ["test.json"]
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
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("specification/test/stable/2023-01-01");
    std::fs::create_dir_all(&path).expect("folder");
    std::fs::write(path.join("test.json"), SPEC).expect("file");
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
    let generated = generate(&specs, &[config(CONFIG)], &names).expect("generates");
    let paths = generated.files.keys().map(|path| path.as_str());
    assert_eq!(
        paths.collect::<Vec<_>>(),
        [
            "docs/reference/index.md",
            "docs/reference/test.md",
            "generated/all/Cargo.toml",
            "generated/all/src/lib.rs",
            "generated/test/Cargo.toml",
            "generated/test/src/hub/mod.rs",
            "generated/test/src/hub/thing_spec.rs",
            "generated/test/src/kinds/mod.rs",
            "generated/test/src/kinds/thing.rs",
            "generated/test/src/lib.rs",
            "generated/test/src/v20230101/mod.rs",
            "generated/test/src/v20230101/thing_spec.rs",
            "generated/test/src/v20230101/thing_status.rs",
        ]
    );
    assert_eq!(*names.0.lock().expect("no panic"), ["test"]);
    let summary = &generated.groups[0];
    assert_eq!((summary.kinds, summary.kind_versions), (1, 1));
    assert_eq!((summary.types, summary.shared_types), (3, 3));
}

#[test]
fn errors_of_every_pass_come_through() {
    let (_folder, specs) = specs();
    let fault = |configs: &[GroupConfig]| match generate(&specs, configs, &NoProgress) {
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
