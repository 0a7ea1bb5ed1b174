//! The samples of a folder, and where they go: a namespace and a subscription of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use armature::render::manifest;
use armature_generated::KINDS;
use armature_runtime::kind::{KindInfo, OwnerRule};
use serde_json::{Value, json};

/// Subscription that samples name where the reader's own belongs.
const PLACEHOLDER: &str = "/subscriptions/00000000-0000-0000-0000-000000000000";

/// One object of a folder.
#[derive(Clone, Debug)]
pub struct Sample {
    /// File below the folder of all samples of the group's name: `storage/v1api20230101/account.yaml`.
    pub file: String,
    /// The object.
    pub value: Value,
    /// Its kind; `None` for Secrets and ConfigMaps, and for what there is no kind for.
    pub kind: Option<&'static KindInfo>,
}

impl Sample {
    fn new(file: String, value: Value) -> Self {
        let (group, _) = api_version(&value);
        let kind = KINDS.iter().copied();
        let kind = kind
            .filter(|known| known.group == group)
            .find(|known| value["kind"] == known.kind);
        Self { file, value, kind }
    }

    /// API group and version.
    pub fn api_version(&self) -> (&str, &str) {
        api_version(&self.value)
    }

    /// Kind as it is written.
    pub fn kind_name(&self) -> &str {
        self.value["kind"].as_str().unwrap_or_default()
    }

    /// Name of the object.
    pub fn name(&self) -> &str {
        self.value["metadata"]["name"].as_str().unwrap_or_default()
    }
}

fn api_version(value: &Value) -> (&str, &str) {
    let text = value["apiVersion"].as_str().unwrap_or_default();
    text.split_once('/').unwrap_or(("", text))
}

/// Samples that are applied together.
#[derive(Debug)]
pub struct Folder {
    /// Path below the folder of all samples.
    pub name: String,
    /// Namespace of its objects.
    pub namespace: String,
    /// Subscription of its resources.
    pub subscription: String,
    /// The objects, in the order of files.
    pub samples: Vec<Sample>,
}

impl Folder {
    /// Reads the manifests at these paths, which are below `root`, the folder of a group; `whose` makes the namespace
    /// one of its own among those of several sets of samples.
    pub fn read(group: &str, whose: &str, root: &Path, paths: &[PathBuf]) -> Self {
        let (documents, errors) = manifest::read(paths);
        assert!(errors.is_empty(), "{errors:?}");
        let below = |path: &Path| match path.strip_prefix(root) {
            Ok(path) if path.as_os_str().is_empty() => group.to_owned(),
            Ok(path) => format!("{group}/{}", path.display()),
            Err(_) => panic!("{} is not below {}", path.display(), root.display()),
        };
        let name = paths.first().map_or(group.to_owned(), |path| below(path));
        let namespace = format!("{whose}-{}", name.replace(['/', '.'], "-"));
        let subscription = uuid_of(&namespace);
        let samples = documents.into_iter().map(|document| {
            let file = below(Path::new(&*document.origin.file));
            let own = format!("/subscriptions/{subscription}");
            let mut value = with_text(document.value, PLACEHOLDER, &own);
            value["metadata"]["namespace"] = namespace.clone().into();
            Sample::new(file, value)
        });
        Self {
            samples: samples.collect(),
            name,
            namespace,
            subscription,
        }
    }

    /// Files of the samples.
    pub fn files(&self) -> Vec<String> {
        self.samples
            .iter()
            .map(|sample| sample.file.clone())
            .collect()
    }

    /// Gives samples whose owner is no sample another one of its kind, as whoever publishes them does to try them.
    pub fn adopt(&mut self) {
        let mut names: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for sample in &self.samples {
            if let Some(kind) = sample.kind {
                let names = names.entry(kind.kind).or_default();
                names.push(sample.name().to_owned());
            }
        }
        for sample in &mut self.samples {
            let Some(OwnerRule::Kind { kind, .. }) = sample.kind.map(|kind| kind.owner) else {
                continue;
            };
            let Some(owners) = names.get(kind) else {
                continue;
            };
            let name = &mut sample.value["spec"]["owner"]["name"];
            if name
                .as_str()
                .is_some_and(|name| !owners.iter().any(|owner| owner == name))
            {
                *name = owners[0].clone().into();
            }
        }
    }

    /// Adds the key vaults that samples refer to and that no sample is. In Azure the name is one of the folder's own: a
    /// deleted vault keeps its name from others for a while.
    pub fn add_missing_vaults(&mut self) {
        let mut names = BTreeSet::new();
        for sample in &self.samples {
            vaults_in(&sample.value["spec"], &mut names);
        }
        let is_there =
            |sample: &Sample, name: &str| sample.kind_name() == "Vault" && sample.name() == name;
        names.retain(|name| !self.samples.iter().any(|sample| is_there(sample, name)));
        for name in names {
            let value = json!({
                "apiVersion": "keyvault.azure.com/v1api20230701",
                "kind": "Vault",
                "metadata": {"name": name, "namespace": self.namespace},
                "spec": {
                    "azureName": format!("vault-{}", &self.subscription[24..]),
                    "location": "westus3",
                    "owner": {"name": "aso-sample-rg"},
                    "properties": {
                        "sku": {"family": "A", "name": "standard"},
                        "tenantId": "00000000-0000-0000-0000-000000000002",
                    },
                },
            });
            let file = format!("{} (key vault of the test)", self.name);
            self.samples.insert(0, Sample::new(file, value));
        }
    }

    /// Adds the resource groups that samples have as owners and that no sample is.
    pub fn add_missing_groups(&mut self) {
        let is_group = |kind: &&KindInfo| kind.kind == "ResourceGroup";
        let group = KINDS.iter().copied().find(is_group).unwrap();
        let owner = OwnerRule::Kind {
            group: group.group,
            kind: group.kind,
        };
        let owned = self
            .samples
            .iter()
            .filter(|sample| sample.kind.is_some_and(|kind| kind.owner == owner));
        let names: BTreeSet<String> = owned
            .filter_map(|sample| sample.value["spec"]["owner"]["name"].as_str())
            .map(str::to_owned)
            .collect();
        for name in names {
            let is_there =
                |sample: &Sample| sample.kind_name() == group.kind && sample.name() == name;
            if self.samples.iter().any(is_there) {
                continue;
            }
            let value = json!({
                "apiVersion": format!("{}/{}", group.group, group.versions[0].name),
                "kind": group.kind,
                "metadata": {"name": name, "namespace": self.namespace},
                "spec": {"location": "westus3"},
            });
            let file = format!("{} (resource group of the test)", self.name);
            self.samples.insert(0, Sample::new(file, value));
        }
    }
}

/// Names of the key vaults that a value refers to.
fn vaults_in(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| vaults_in(item, names)),
        Value::Object(members) => {
            if value["group"] == "keyvault.azure.com"
                && value["kind"] == "Vault"
                && let Some(name) = value["name"].as_str()
            {
                names.insert(name.to_owned());
            }
            members.values().for_each(|member| vaults_in(member, names));
        }
        _ => {}
    }
}

/// A GUID that depends on the text alone.
fn uuid_of(text: &str) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("5a3d1e50-0000-4000-8000-{:012x}", hash & 0xffff_ffff_ffff)
}

/// The value with another text in place of this one, in every string.
fn with_text(value: Value, from: &str, to: &str) -> Value {
    match value {
        Value::String(text) => text.replace(from, to).into(),
        Value::Array(items) => {
            let items = items.into_iter().map(|item| with_text(item, from, to));
            items.collect()
        }
        Value::Object(members) => {
            let members = members.into_iter();
            members
                .map(|(name, member)| (name, with_text(member, from, to)))
                .collect()
        }
        other => other,
    }
}

/// Name and path of the folders in a folder, in order of name.
pub fn folders_in(path: &Path) -> Vec<(String, PathBuf)> {
    let mut folders = entries(path);
    folders.retain(|(_, path)| path.is_dir());
    folders
}

/// Name and path of everything in a folder, in order of name.
pub fn entries(path: &Path) -> Vec<(String, PathBuf)> {
    let entries =
        std::fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut entries: Vec<(String, PathBuf)> = entries
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                entry.path(),
            )
        })
        .collect();
    entries.sort();
    entries
}
