//! Bringing samples into the form in which the recorded test applied them.
//!
//! That test made a resource group of its own for each folder of samples and put the samples into it. In most
//! folders it gave the samples random Azure names, but not their references (`refs/`), and it chose owners by kind.
//! References to kinds that
//! Armature does not have cannot be resolved among the samples; their ARM ids are in the recording.

use std::collections::BTreeMap;

use armature::render::manifest::Document;
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, NameRule, OwnerRule};
use serde_json::{Map, Value, json};

use crate::data::Exchange;

/// Beginning of random names.
const RANDOM: &str = "asotest";
/// Beginning of the name of the test's own resource group.
const OWN_GROUP: &str = "asotest-rg-";
/// Name that samples have for the resource group.
const SAMPLE_GROUP: &str = "aso-sample-rg";

/// Fields that samples spell in another casing, and their names: the recorded test read samples in Go, which does not mind.
const SPELLED: [(&str, &str); 2] = [("ARMID", "armId"), ("GroupReferences", "groupReferences")];

/// Kind of resource groups.
const GROUP: &str = "ResourceGroup";
/// Name of a manifest that is the test's own resource group.
const OWN_GROUP_MANIFEST: &str = "own-rg";

/// Rewrites the samples; `kinds` are the known ones. Documents of other kinds are dropped.
pub fn apply(
    mut documents: Vec<Document>,
    exchanges: &[Exchange],
    kinds: &[&'static KindInfo],
) -> Vec<Document> {
    let recorded: Vec<ResourceId> = exchanges
        .iter()
        .filter(|exchange| exchange.method == "PUT")
        .filter_map(|exchange| ResourceId::parse(path(&exchange.url)).ok())
        .collect();
    for document in &mut documents {
        spell(&mut document.value);
    }
    let elsewhere = other_kinds(&documents, &recorded, kinds);
    let mut known: Vec<(Document, &KindInfo)> = documents
        .into_iter()
        .filter_map(|document| {
            let kind = kind_of(&document.value, kinds)?;
            Some((document, kind))
        })
        .collect();
    rename(&mut known, &recorded);
    own_group(&mut known, &recorded, kinds);
    adopt(&mut known);
    take_into_own_group(&mut known, &recorded);
    if let Some(group) = recorded.iter().find(|id| is_own_group(id)) {
        for (document, _) in &mut known {
            replace_group(&mut document.value, group.name());
        }
    }
    let mut documents: Vec<Document> = known.into_iter().map(|(document, _)| document).collect();
    for document in &mut documents {
        replace_references(&mut document.value, &elsewhere);
    }
    documents
}

/// Whether a PUT is the one of the test's own resource group, which is in no sample.
pub fn is_own_group(id: &ResourceId) -> bool {
    id.arm_type() == "Microsoft.Resources/resourceGroups" && id.name().starts_with(OWN_GROUP)
}

/// Path of a URL.
pub fn path(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

fn kind_of(manifest: &Value, kinds: &[&'static KindInfo]) -> Option<&'static KindInfo> {
    let (group, version) = manifest["apiVersion"].as_str()?.split_once('/')?;
    let kind = manifest["kind"].as_str()?;
    kinds
        .iter()
        .find(|info| info.group == group && info.kind == kind && info.version(version).is_some())
        .copied()
}

/// Gives samples the random name that was recorded for their type. A name that was recorded as it is in the
/// sample stays.
fn rename(documents: &mut [(Document, &KindInfo)], recorded: &[ResourceId]) {
    let mut random: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    // Names that are made of the test's own namespace.
    let is_made_up = |id: &ResourceId| {
        documents.iter().any(|(_, kind)| {
            matches!(kind.name, NameRule::Uuid { .. }) && id.has_type(kind.remote_type())
        })
    };
    for id in recorded.iter().filter(|id| !is_own_group(id)) {
        if id.name().starts_with(RANDOM) || is_made_up(id) {
            let names = random.entry(id.arm_type().to_lowercase()).or_default();
            if !names.contains(&id.name()) {
                names.push(id.name());
            }
        }
    }
    for (document, kind) in documents {
        let manifest = &mut document.value;
        let is_reference = document.origin.file.contains("/refs/");
        let name = azure_name(manifest).to_owned();
        let arm_type = kind.remote_type().to_lowercase();
        let is_recorded = recorded
            .iter()
            .any(|id| id.arm_type().to_lowercase() == arm_type && id.name() == name);
        if is_reference || is_recorded || matches!(kind.name, NameRule::Fixed(_)) {
            continue;
        }
        let Some(names) = random.get_mut(&arm_type).filter(|names| !names.is_empty()) else {
            continue;
        };
        let name = names.remove(0);
        if let Some(spec) = manifest["spec"].as_object_mut() {
            spec.insert("azureName".to_owned(), Value::from(name));
        }
    }
}

/// Gives samples whose owner is not among them the one object that can be their owner: the recorded test chose
/// owners by kind, so some samples name owners that do not exist.
fn adopt(documents: &mut [(Document, &KindInfo)]) {
    let mut names: BTreeMap<(&str, &str), Vec<Value>> = BTreeMap::new();
    for (document, kind) in documents.iter() {
        let name = document.value["metadata"]["name"].clone();
        names.entry((kind.group, kind.kind)).or_default().push(name);
    }
    for (document, kind) in documents {
        let OwnerRule::Kind { group, kind } = kind.owner else {
            continue;
        };
        let Some(owner) = document.value.pointer_mut("/spec/owner/name") else {
            continue;
        };
        if let Some([only]) = names.get(&(group, kind)).map(Vec::as_slice) {
            *owner = only.clone();
        }
    }
}

/// Gives samples that were recorded in the test's own resource group that group for an owner, also where the samples have a
/// group of their own.
fn take_into_own_group(documents: &mut [(Document, &KindInfo)], recorded: &[ResourceId]) {
    let Some(own) = recorded.iter().find(|id| is_own_group(id)) else {
        return;
    };
    let mut groups = documents.iter().filter(|(_, kind)| kind.kind == GROUP);
    let group = groups.find(|(group, _)| azure_name(&group.value) == own.name());
    let Some(name) = group.map(|(group, _)| group.value["metadata"]["name"].clone()) else {
        return;
    };
    for (document, kind) in documents {
        let is_there = recorded.iter().any(|id| {
            id.has_type(kind.remote_type())
                && id.resource_group() == own.resource_group()
                && id.name() == azure_name(&document.value)
        });
        let in_group = matches!(kind.owner, OwnerRule::Kind { kind: GROUP, .. });
        let owner = document.value.pointer_mut("/spec/owner/name");
        if let Some(owner) = owner.filter(|_| in_group && is_there) {
            *owner = name.clone();
        }
    }
}

/// Gives fields their names.
fn spell(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (sample, name) in SPELLED {
                if let Some(member) = members.remove(sample) {
                    members.insert(name.to_owned(), member);
                }
            }
            members.values_mut().for_each(spell);
        }
        Value::Array(items) => items.iter_mut().for_each(spell),
        _ => {}
    }
}

/// Puts the test's own resource group into ARM ids that samples spell out.
fn replace_group(value: &mut Value, group: &str) {
    match value {
        Value::String(text) => {
            let (from, to) = (
                format!("/resourceGroups/{SAMPLE_GROUP}/"),
                format!("/resourceGroups/{group}/"),
            );
            *text = text.replace(&from, &to);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace_group(item, group)),
        Value::Object(members) => {
            members
                .values_mut()
                .for_each(|member| replace_group(member, group));
        }
        _ => {}
    }
}

fn azure_name(manifest: &Value) -> &str {
    let given = manifest.pointer("/spec/azureName").and_then(Value::as_str);
    let name = manifest.pointer("/metadata/name").and_then(Value::as_str);
    given.or(name).unwrap_or_default()
}

/// ARM ids of objects whose kinds are not known, by group, kind and name.
fn other_kinds(
    documents: &[Document],
    recorded: &[ResourceId],
    kinds: &[&'static KindInfo],
) -> BTreeMap<[String; 3], String> {
    let mut ids = BTreeMap::new();
    for document in documents {
        let manifest = &document.value;
        if kind_of(manifest, kinds).is_some() {
            continue;
        }
        let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str);
        let (Some(api_version), Some(kind)) = (text("/apiVersion"), text("/kind")) else {
            continue;
        };
        let (group, name) = (
            api_version.split('/').next().unwrap_or_default(),
            text("/metadata/name").unwrap_or_default(),
        );
        let azure_name = azure_name(manifest);
        let is_reference = document.origin.file.contains("/refs/");
        let found = recorded.iter().find(|id| {
            let last = id.arm_type().to_lowercase();
            let last = last.rsplit('/').next().unwrap_or_default().to_owned();
            let fits = kind.to_lowercase().ends_with(last.trim_end_matches('s'))
                || last.trim_end_matches('s').ends_with(&kind.to_lowercase());
            id.name() == azure_name || (fits && !is_reference && id.name().starts_with(RANDOM))
        });
        if let Some(id) = found {
            let key = [group, kind, name].map(str::to_owned);
            ids.insert(key, id.as_str().to_owned());
        }
    }
    ids
}

/// Puts `armId` in the place of references to objects whose kinds are not known.
fn replace_references(value: &mut Value, ids: &BTreeMap<[String; 3], String>) {
    match value {
        Value::Array(items) => {
            for item in items {
                replace_references(item, ids);
            }
        }
        Value::Object(members) => {
            if let Some(id) = reference_key(members).and_then(|key| ids.get(&key)) {
                *members = Map::from_iter([("armId".to_owned(), Value::from(id.as_str()))]);
                return;
            }
            for member in members.values_mut() {
                replace_references(member, ids);
            }
        }
        _ => {}
    }
}

fn reference_key(members: &Map<String, Value>) -> Option<[String; 3]> {
    let text = |name: &str| members.get(name)?.as_str().map(str::to_owned);
    Some([text("group")?, text("kind")?, text("name")?])
}

/// The resource group that the test made: the manifest of this name where there is one, else a new one.
fn own_group<'a>(
    documents: &mut Vec<(Document, &'a KindInfo)>,
    recorded: &[ResourceId],
    kinds: &[&'a KindInfo],
) {
    let Some(id) = recorded.iter().find(|id| is_own_group(id)) else {
        return;
    };
    let is_group = |document: &Document, name: &str| {
        document.value["kind"] == GROUP && document.value["metadata"]["name"] == name
    };
    let own = documents
        .iter_mut()
        .find(|(document, _)| is_group(document, OWN_GROUP_MANIFEST));
    if let Some((document, _)) = own {
        document.value["spec"]["azureName"] = json!(id.name());
        return;
    }
    let is_taken = documents
        .iter()
        .any(|(document, _)| is_group(document, SAMPLE_GROUP));
    let name = match is_taken {
        true => OWN_GROUP_MANIFEST,
        false => SAMPLE_GROUP,
    };
    let document = Document {
        origin: Default::default(),
        value: json!({
            "apiVersion": "resources.azure.com/v1api20200601",
            "kind": GROUP,
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"azureName": id.name(), "location": "westus2"},
        }),
    };
    let kind = kinds.iter().find(|kind| kind.kind == GROUP);
    documents.extend(kind.map(|kind| (document, *kind)));
}
