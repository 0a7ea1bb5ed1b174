//! Objects, Secrets and ConfigMaps of the inputs, found by name.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use armature_runtime::engine::collect::KeyReference;
use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::reconcile::port::DataKind;
use armature_runtime::shape::nearest;
use base64::Engine as _;
use serde_json::Value;

use super::manifest::Document;
use super::{Origin, RenderError};

/// Namespace of objects that name none, as kubectl has it.
const DEFAULT_NAMESPACE: &str = "default";
/// Members of a manifest.
const MEMBERS: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];

/// One resource of the inputs.
#[derive(Debug)]
pub struct InputObject {
    /// Where it is from.
    pub origin: Origin,
    /// Its kind.
    pub kind: &'static KindInfo,
    /// The version that the manifest is written in.
    pub version: &'static VersionInfo,
    /// Namespace.
    pub namespace: String,
    /// Name of the Kubernetes object.
    pub name: String,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
    /// `spec`, as written.
    pub spec: Value,
    /// Members of the manifest that do not exist.
    pub unknown: Vec<String>,
}

impl InputObject {
    /// Kind, namespace and name, for messages.
    pub fn title(&self) -> String {
        format!("{} {}/{}", self.kind.kind, self.namespace, self.name)
    }

    /// A problem of this object.
    pub fn error(&self, path: impl Into<String>, message: impl Into<String>) -> RenderError {
        RenderError::at(&self.origin, path, message).of(self.title())
    }
}

type DataId = (DataKind, String, String);

/// All inputs.
#[derive(Debug, Default)]
pub struct Inventory {
    kinds: Vec<&'static KindInfo>,
    objects: Vec<InputObject>,
    by_name: HashMap<(String, String, String, String), usize>,
    data: HashMap<DataId, BTreeMap<String, String>>,
}

impl Inventory {
    /// Sorts documents by what they are. Problems are returned beside it.
    pub fn new(documents: Vec<Document>, kinds: &[&'static KindInfo]) -> (Self, Vec<RenderError>) {
        let mut inventory = Self {
            kinds: kinds.to_vec(),
            ..Self::default()
        };
        let mut errors = Vec::new();
        for document in documents {
            if let Err(error) = inventory.add(document) {
                errors.push(error);
            }
        }
        (inventory, errors)
    }

    /// The resources, in the order of the inputs.
    pub fn objects(&self) -> &[InputObject] {
        &self.objects
    }

    /// The resource of this group, kind, namespace and name.
    pub fn object(
        &self,
        group: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Option<&InputObject> {
        let key = [group, kind, namespace, name].map(str::to_owned);
        self.by_name.get(&key.into()).map(|at| &self.objects[*at])
    }

    /// Whether there is a kind of this group and name.
    pub fn knows(&self, group: &str, kind: &str) -> bool {
        self.kinds
            .iter()
            .any(|known| known.group == group && known.kind == kind)
    }

    /// The value of a key: `Ok(None)` when the Secret or ConfigMap is not among the inputs.
    ///
    /// # Errors
    /// When it is among them and has no such key.
    pub fn value(
        &self,
        kind: DataKind,
        namespace: &str,
        key: &KeyReference,
    ) -> Result<Option<String>, String> {
        let Some(data) = self.all_values(kind, namespace, &key.name) else {
            return Ok(None);
        };
        match data.get(&key.key) {
            Some(value) => Ok(Some(value.clone())),
            None => Err(format!(
                "{kind:?} {namespace}/{} has no key {}",
                key.name, key.key
            )),
        }
    }

    /// All values of a Secret or ConfigMap that is among the inputs.
    pub fn all_values(
        &self,
        kind: DataKind,
        namespace: &str,
        name: &str,
    ) -> Option<&BTreeMap<String, String>> {
        self.data
            .get(&(kind, namespace.to_owned(), name.to_owned()))
    }

    fn add(&mut self, document: Document) -> Result<(), RenderError> {
        let origin = &document.origin;
        let text = |pointer: &str| document.value.pointer(pointer).and_then(Value::as_str);
        let needs = |path: &str| {
            let message = "is missing: every document needs apiVersion, kind and metadata.name";
            RenderError::at(origin, path, message)
        };
        let api_version = text("/apiVersion").ok_or_else(|| needs("apiVersion"))?;
        let kind = text("/kind").ok_or_else(|| needs("kind"))?;
        let name = text("/metadata/name").ok_or_else(|| needs("metadata.name").of(kind))?;
        let namespace = text("/metadata/namespace").unwrap_or(DEFAULT_NAMESPACE);
        let data_kind = match (api_version, kind) {
            ("v1", "Secret") => DataKind::Secret,
            ("v1", "ConfigMap") => DataKind::ConfigMap,
            // Often beside the resources in it, and of no concern to Azure.
            ("v1", "Namespace") => return Ok(()),
            _ => return self.add_object(&document, api_version, kind, namespace, name),
        };
        let title = format!("{kind} {namespace}/{name}");
        let data = read_data(&document).map_err(|error| error.of(title))?;
        self.data
            .insert((data_kind, namespace.to_owned(), name.to_owned()), data);
        Ok(())
    }

    fn add_object(
        &mut self,
        document: &Document,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<(), RenderError> {
        let title = format!("{kind} {namespace}/{name}");
        let (info, version) = self
            .find_kind(api_version, kind)
            .map_err(|(path, message)| {
                RenderError::at(&document.origin, path, message).of(&*title)
            })?;
        let object = InputObject {
            origin: document.origin.clone(),
            kind: info,
            version,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            annotations: annotations(&document.value),
            spec: document.value.get("spec").cloned().unwrap_or(Value::Null),
            unknown: document
                .value
                .as_object()
                .into_iter()
                .flat_map(|members| members.keys())
                .filter(|member| !MEMBERS.contains(&member.as_str()))
                .cloned()
                .collect(),
        };
        let key = [info.group, info.kind, namespace, name].map(str::to_owned);
        if let Some(first) = self.by_name.get(&key.clone().into()) {
            let origin = &self.objects[*first].origin;
            let message = format!("is already in {origin}; one object can only be rendered once");
            return Err(object.error("", message));
        }
        self.by_name.insert(key.into(), self.objects.len());
        self.objects.push(object);
        Ok(())
    }

    /// The kind and version of a manifest, or the path of what is unknown and why.
    fn find_kind(
        &self,
        api_version: &str,
        kind: &str,
    ) -> Result<(&'static KindInfo, &'static VersionInfo), (&'static str, String)> {
        let Some((group, version)) = api_version.split_once('/') else {
            let hint = match self.kinds.iter().find(|info| info.kind == kind) {
                Some(info) => {
                    let newest = info.versions.last().map_or("", |version| version.name);
                    format!(", did you mean '{}/{newest}'?", info.group)
                }
                None => "; only Azure resources, Secrets and ConfigMaps are rendered".to_owned(),
            };
            let message = format!("there is no kind {kind} in '{api_version}'{hint}");
            return Err(("apiVersion", message));
        };
        let of_group: Vec<_> = self
            .kinds
            .iter()
            .filter(|info| info.group == group)
            .collect();
        if of_group.is_empty() {
            let message = format!("unknown group '{group}'{}", self.group_hint(group, kind));
            return Err(("apiVersion", message));
        }
        let Some(info) = of_group.iter().find(|info| info.kind == kind) else {
            let kinds = of_group.iter().map(|info| info.kind);
            let hint = match nearest(kind, kinds.clone()) {
                None if self.kinds.iter().any(|info| info.kind == kind) => {
                    self.group_hint("", kind)
                }
                _ => hint(kind, kinds),
            };
            return Err(("kind", format!("unknown kind '{kind}' in {group}{hint}")));
        };
        match info.version(version) {
            Some(version) => Ok((info, version)),
            None => {
                let versions = info.versions.iter().map(|version| version.name);
                let hint = hint(version, versions);
                let message = format!("unknown version '{version}' of {kind}{hint}");
                Err(("apiVersion", message))
            }
        }
    }

    /// The group that the kind is in; else the nearest by its first word, as the rest is the same for all; else all.
    fn group_hint(&self, group: &str, kind: &str) -> String {
        fn short(group: &str) -> &str {
            group.split('.').next().unwrap_or_default()
        }
        let groups: BTreeSet<_> = self.kinds.iter().map(|info| info.group).collect();
        let of_kind = self.kinds.iter().find(|info| info.kind == kind);
        let near = || {
            let near = nearest(short(group), groups.iter().map(|group| short(group)))?;
            groups.iter().copied().find(|group| short(group) == near)
        };
        match of_kind.map(|info| info.group).or_else(near) {
            Some(group) => format!(", did you mean '{group}'?"),
            None => known(groups),
        }
    }
}

/// The nearest name, or all of them.
fn hint<'a>(name: &str, candidates: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(name, candidates.clone()) {
        Some(near) => format!(", did you mean '{near}'?"),
        None => known(candidates),
    }
}

fn known<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().collect();
    format!("; known are {}", names.join(", "))
}

fn annotations(manifest: &Value) -> BTreeMap<String, String> {
    let found = manifest.pointer("/metadata/annotations");
    let members = found.and_then(Value::as_object).into_iter().flatten();
    members
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// Values of a Secret or ConfigMap: `stringData` over `data`, the latter in base64 for Secrets.
fn read_data(document: &Document) -> Result<BTreeMap<String, String>, RenderError> {
    let is_secret = document.value["kind"] == "Secret";
    let mut values = BTreeMap::new();
    for member in ["data", "stringData"] {
        let found = document.value.get(member).and_then(Value::as_object);
        for (key, value) in found.into_iter().flatten() {
            let wrong = |message: &str| {
                RenderError::at(&document.origin, format!("{member}.{key}"), message)
            };
            let text = value.as_str().ok_or_else(|| wrong("expected a string"))?;
            let text = if is_secret && member == "data" {
                let bytes = base64::engine::general_purpose::STANDARD
                    .decode(text.split_whitespace().collect::<String>())
                    .map_err(|_| wrong("is no base64; plain text belongs into stringData"))?;
                String::from_utf8(bytes).map_err(|_| wrong("is no UTF-8 text"))?
            } else {
                text.to_owned()
            };
            values.insert(key.clone(), text);
        }
    }
    Ok(values)
}
