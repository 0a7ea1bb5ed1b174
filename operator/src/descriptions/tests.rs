//! What is in the asset, and where it goes.

use std::collections::BTreeSet;

use armature_generated::KINDS;
use armature_runtime::engine::crd::{CrdOptions, ServedVersions, custom_resource_definition};
use serde_json::json;

use super::*;

fn path(text: &str) -> Vec<String> {
    text.split('.').map(str::to_owned).collect()
}

#[test]
fn the_asset_holds_all_groups_within_its_bar() {
    let size = ASSET.len();
    println!("{size} bytes");
    assert!(size < 3_000_000, "{size} bytes");
    let there = sections(ASSET).map(|(group, _)| String::from_utf8_lossy(group).into_owned());
    let there: BTreeSet<String> = there.collect();
    let groups: BTreeSet<String> = KINDS.iter().map(|kind| kind.group.to_owned()).collect();
    assert_eq!(there, groups);
    for group in &groups {
        let found = Descriptions::of(group);
        let kinds = KINDS.iter().filter(|kind| kind.group == group);
        for (kind, version) in kinds.flat_map(|kind| kind.versions.iter().map(move |it| (kind, it)))
        {
            let key = (kind.kind.to_owned(), version.name.to_owned());
            assert!(found.resources.contains_key(&key), "{key:?}");
        }
        let numbers = found.objects.iter().flatten();
        for Entry { text, object, .. } in numbers {
            assert!(text.is_none_or(|at| at < found.texts.len()));
            assert!(object.is_none_or(|at| at < found.objects.len()));
        }
    }
}

#[test]
fn properties_are_found_by_their_path() {
    let found = Descriptions::of("storage.azure.com");
    let text = |of: &str| found.text("StorageAccount", "v1api20230101", &path(of));
    let tier = text("spec.accessTier").unwrap();
    assert!(tier.contains("access tier"), "{tier}");
    assert!(
        text("spec.networkAcls.ipRules.action").is_some(),
        "within a list"
    );
    assert!(text("status.primaryEndpoints.blob").is_some());
    assert_eq!(text("spec.nothing.below"), None);
    assert_eq!(text("spec"), None);
    assert!(
        Descriptions::of("nothing")
            .text("A", "b", &path("spec.c"))
            .is_none()
    );
}

#[test]
fn crds_take_descriptions_and_stay_within_what_etcd_stores() {
    let mut largest = (0, "");
    let (mut plain, mut described) = (0, 0);
    let mut descriptions = BTreeMap::new();
    for kind in KINDS {
        let group = descriptions.entry(kind.group);
        let of_group = group.or_insert_with(|| Descriptions::of(kind.group));
        let options = CrdOptions {
            versions: ServedVersions::All {
                also: BTreeSet::new(),
            },
            ..CrdOptions::default()
        };
        let mut crd = custom_resource_definition(kind, &options);
        plain += crd.to_string().len();
        of_group.put_into(kind.kind, &mut crd);
        let size = crd.to_string().len();
        described += size;
        largest = largest.max((size, kind.kind));
    }
    println!("{plain} bytes without, {described} with; largest {largest:?}");
    assert!(described > plain * 3 / 2, "{described} of {plain}");
    assert!(largest.0 < 1_400_000, "{largest:?}");
}

#[test]
fn schemas_of_lists_and_maps_are_described_within() {
    let found = Descriptions::read(
        "# x\nG g\nT One.\nT Two.\nO name:1:\nO list:0:0 map::0\nR Kind v1,v2 1 -\n",
    );
    let item = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let spec = json!({"properties": {
        "list": {"type": "array", "items": item}, "map": {"additionalProperties": item},
    }});
    let versions =
        json!([{"name": "v2", "schema": {"openAPIV3Schema": {"properties": {"spec": spec}}}}]);
    let mut crd = json!({"spec": {"versions": versions}});
    found.put_into("Kind", &mut crd);
    let at = |pointer: &str| {
        let pointer =
            format!("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/{pointer}");
        crd.pointer(&pointer).and_then(Value::as_str)
    };
    assert_eq!(at("list/description"), Some("One."));
    assert_eq!(at("list/items/properties/name/description"), Some("Two."));
    assert_eq!(
        at("map/additionalProperties/properties/name/description"),
        Some("Two.")
    );
    assert_eq!(at("map/description"), None);
}
