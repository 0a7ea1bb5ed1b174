//! What the generator says CRDs will be is what the operator makes of the generated tables. Whoever tries lines of a
//! curation file (`cargo xtask parity --propose`) relies on it.

use std::collections::BTreeMap;

use armature_conformance::data;
use armature_generated::KINDS;
use armature_generator::{crd::definitions, curation::GroupConfig, load::SpecRoot, pipeline};
use armature_runtime::engine::crd::{CrdOptions, custom_resource_definition};
use camino::Utf8PathBuf;
use serde_json::Value;

/// Most bytes of all CRDs, and of one.
const ALL_CRDS: usize = 6_500_000;
const LARGEST_CRD: usize = 200_000;

/// Each schema by version of a kind, and under the kind alone its names.
type Schemas = BTreeMap<String, Value>;

#[test]
fn the_generator_foretells_every_crd() -> anyhow::Result<()> {
    let Some(folder) = data::folder() else {
        println!("skipped: no specs, set ARMATURE_AZURE_DATA to their folder");
        return Ok(());
    };
    let folder = Utf8PathBuf::try_from(folder)?;
    let specs =
        SpecRoot::new(folder.join("azure-rest-api-specs")).with_bicep(folder.join("bicep-types"));
    let mut foretold = Schemas::new();
    let groups = format!("{}/../../specs", env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(groups)? {
        let file = entry?.path().join("group.toml");
        if let Ok(text) = std::fs::read_to_string(&file) {
            let config = GroupConfig::parse(file.display().to_string(), text)?;
            let group = pipeline::curated_group(&specs, &config)?;
            for definition in definitions(&group, |_| true)? {
                add(&mut foretold, &definition);
            }
        }
    }
    let mut real = Schemas::new();
    let options = CrdOptions {
        known_values: true,
        ..CrdOptions::default()
    };
    for kind in KINDS {
        add(&mut real, &custom_resource_definition(kind, &options));
    }
    let names = |schemas: &Schemas| schemas.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&foretold), names(&real));
    for (name, schema) in &real {
        let differences = differences("", &foretold[name], schema);
        assert!(differences.is_empty(), "{name}: {differences:#?}");
    }
    Ok(())
}

/// What Azure Service Operator v2.21 says of the kind in `v2/api/containerregistry/v20251101/structure.txt`: there are no shapes of
/// that release to compare with.
#[test]
fn registry_cache_rules_are_as_the_peer_has_them_since_its_release_2_21() {
    let is_it = |kind: &&&armature_runtime::kind::KindInfo| kind.kind == "RegistryCacheRule";
    let kind = KINDS.iter().find(is_it).expect("the kind");
    let crd = custom_resource_definition(kind, &CrdOptions::default());
    let versions = crd["spec"]["versions"].as_array().unwrap();
    let names: Vec<&Value> = versions.iter().map(|version| &version["name"]).collect();
    assert_eq!(names, ["v20251101", "v20251101storage"]);
    assert_eq!(
        crd["metadata"]["name"],
        "registrycacherules.containerregistry.azure.com"
    );
    let properties = |pointer: &str| {
        let pointer = format!("/schema/openAPIV3Schema/properties/{pointer}");
        let found = versions[0].pointer(&pointer).and_then(Value::as_object);
        let found = found.unwrap_or_else(|| panic!("no {pointer}"));
        let mut names: Vec<&str> = found.keys().map(String::as_str).collect();
        names.sort_unstable();
        names.join(" ")
    };
    let spec = "azureName credentialSetResourceReference operatorSpec owner sourceRepository targetRepository";
    assert_eq!(properties("spec/properties"), spec);
    let operator_spec = "configMapExpressions secretExpressions";
    assert_eq!(
        properties("spec/properties/operatorSpec/properties"),
        operator_spec
    );
    // `observedGeneration` is ours, of every kind.
    let status = "conditions creationDate credentialSetResourceId id name observedGeneration provisioningState sourceRepository \
                  systemData targetRepository type";
    assert_eq!(properties("status/properties"), status);
    let system_data =
        "createdAt createdBy createdByType lastModifiedAt lastModifiedBy lastModifiedByType";
    assert_eq!(
        properties("status/properties/systemData/properties"),
        system_data
    );
    let name = versions[0].pointer("/schema/openAPIV3Schema/properties/spec/properties/azureName");
    let name = name.expect("a name");
    let limits = ["maxLength", "minLength", "pattern"].map(|limit| name[limit].clone());
    assert_eq!(
        limits,
        [50.into(), 5.into(), Value::from("^[a-zA-Z0-9-]*$")]
    );
    let required = "/schema/openAPIV3Schema/properties/spec/required";
    assert_eq!(
        versions[0].pointer(required),
        Some(&serde_json::json!(["owner"]))
    );
}

/// What an API server holds of all CRDs at once, and GitOps tools diff: compact JSON, as it is sent.
#[test]
fn all_crds_together_are_small_and_none_is_large() {
    let size = |kind: &&'static armature_runtime::kind::KindInfo| {
        let crd = custom_resource_definition(kind, &CrdOptions::default());
        (crd.to_string().len(), kind.group, kind.kind)
    };
    let sizes = KINDS.iter().map(size).collect::<Vec<_>>();
    let all = sizes.iter().map(|(size, ..)| size).sum::<usize>();
    assert!(
        all <= ALL_CRDS,
        "all CRDs have {all} bytes, more than {ALL_CRDS}"
    );
    let largest = sizes.iter().max().unwrap();
    assert!(
        largest.0 <= LARGEST_CRD,
        "the CRD of {}/{} has {} bytes, more than {LARGEST_CRD}",
        largest.1,
        largest.2,
        largest.0
    );
}

/// Takes a CRD apart: names, and columns and schema of each version but the one that is stored.
fn add(schemas: &mut Schemas, definition: &Value) {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = format!("{}/{}", text(&spec["group"]), text(&spec["names"]["kind"]));
    for version in spec["versions"].as_array().into_iter().flatten() {
        if version["storage"] == true {
            continue;
        }
        let name = format!("{kind} {}", text(&version["name"]));
        let mut schema = version["schema"]["openAPIV3Schema"].clone();
        without_rules(&mut schema);
        let columns = version["additionalPrinterColumns"].clone();
        schemas.insert(format!("{name} columns"), columns);
        schemas.insert(name, schema);
    }
    schemas.insert(kind, spec["names"].clone());
}

/// CEL rules say nothing about the shape of data, and the generator does not tell them.
fn without_rules(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.remove("x-kubernetes-validations");
            members.values_mut().for_each(without_rules);
        }
        Value::Array(items) => items.iter_mut().for_each(without_rules),
        _ => {}
    }
}

/// Where two values differ, as JSON pointers with both sides.
fn differences(at: &str, foretold: &Value, real: &Value) -> Vec<String> {
    match (foretold, real) {
        (Value::Object(left), Value::Object(right)) => {
            let names = left
                .keys()
                .chain(right.keys().filter(|it| !left.contains_key(*it)));
            let below = names.flat_map(|name| {
                let none = &Value::Null;
                let sides = (
                    left.get(name).unwrap_or(none),
                    right.get(name).unwrap_or(none),
                );
                differences(&format!("{at}/{name}"), sides.0, sides.1)
            });
            below.collect()
        }
        _ if foretold == real => Vec::new(),
        _ => vec![format!("{at}: foretold {foretold}, is {real}")],
    }
}
