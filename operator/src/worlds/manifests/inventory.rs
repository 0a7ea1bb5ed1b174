//! Everything that is in the manifests, found by name.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use armature_runtime::engine::collect;
use armature_runtime::id::ResourceId;
use armature_runtime::kind::KindInfo;
use armature_runtime::names;
use armature_runtime::reconcile::annotations::Annotations;
use armature_runtime::reconcile::port::DataKind;
use armature_runtime::resource::{Object, ObjectKey};
use armature_runtime::shape::kind_of;
use serde_json::Value;

use super::admission::{self, Admitted, Wrong};
use super::data::{Data, Values};
use super::known_kinds::KnownKinds;
use super::manifest::Document;
use super::metadata;
use super::mistakes::no_text;
use super::problem::{Origin, Problem};

/// Subscription in ids when none is given.
pub const PLACEHOLDER_SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000000";

/// Key of a credential's subscription in its Secret (ASO behaviour §5.2).
const SUBSCRIPTION: &str = "AZURE_SUBSCRIPTION_ID";

/// Namespace of objects that name none, as kubectl has it.
const DEFAULT_NAMESPACE: &str = "default";

/// One resource of the manifests.
#[derive(Debug)]
pub struct Resource {
    /// Where it is from.
    pub origin: Origin,
    /// The object that an API server would store if it took the manifest.
    pub object: Object,
    /// ARM id of the owner, where the manifest gives one.
    pub owner_id: Option<String>,
    /// Why an API server would not take the manifest.
    pub problems: Vec<Problem>,
    /// What it takes, and what may be a slip.
    pub warnings: Vec<Problem>,
}

impl Resource {
    /// A problem of this object.
    pub fn problem(&self, path: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem::at(&self.origin, path, message).of(self.object.key().to_string())
    }
}

/// All manifests.
#[derive(Default)]
pub struct Manifests {
    kinds: KnownKinds,
    resources: Vec<Resource>,
    positions: HashMap<ObjectKey, usize>,
    data: Data,
    namespaces: BTreeMap<String, Annotations>,
    /// What is no object for a mistake of its own.
    mistaken: BTreeSet<Named>,
    keeps_pauses: bool,
}

impl Manifests {
    /// Sorts documents by what they are. Problems of documents that are no resource are returned beside it.
    pub fn new(documents: &[Document], kinds: &[&'static KindInfo]) -> (Self, Vec<Problem>) {
        Self::default().read(documents, kinds)
    }

    /// The same in a world in which time passes: what is paused stays so.
    pub fn with_pauses(
        documents: &[Document],
        kinds: &[&'static KindInfo],
    ) -> (Self, Vec<Problem>) {
        let manifests = Self {
            keeps_pauses: true,
            ..Self::default()
        };
        manifests.read(documents, kinds)
    }

    fn read(self, documents: &[Document], kinds: &[&'static KindInfo]) -> (Self, Vec<Problem>) {
        let mut manifests = Self {
            kinds: KnownKinds::new(kinds),
            ..self
        };
        let mut problems = Vec::new();
        for document in documents {
            if let Err(found) = manifests.add(document) {
                let named = Named::of(&document.value, &manifests.kinds);
                manifests.mistaken.extend(named);
                problems.extend(found);
            }
        }
        (manifests, problems)
    }

    /// The resources, in the order of the manifests.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The object of this key, as it is new.
    pub fn object(&self, key: &ObjectKey) -> Option<&Object> {
        let position = self.positions.get(key)?;
        self.resources
            .get(*position)
            .map(|resource| &resource.object)
    }

    /// Whether there is a manifest for the object that is none for a mistake of its own.
    pub fn is_mistaken(&self, key: &ObjectKey) -> bool {
        let KindInfo { group, kind, .. } = *key.kind.0;
        let known = [(Some(group), Some(kind)), (Some(group), None), (None, None)];
        known.into_iter().any(|(group, kind)| {
            self.mistaken.contains(&Named {
                group,
                kind,
                namespace: key.namespace.clone(),
                name: key.name.clone(),
            })
        })
    }

    /// The kind of this group and name.
    pub fn kind(&self, group: &str, kind: &str) -> Option<&'static KindInfo> {
        self.kinds.get(group, kind)
    }

    /// Values of a Secret or ConfigMap, or marks for what objects take from one that is in no manifest.
    pub fn data(&self, kind: DataKind, namespace: &str, name: &str) -> Option<&Values> {
        self.data.get(kind, namespace, name)
    }

    /// Values of a Secret or ConfigMap that is among the manifests.
    pub fn given_data(&self, kind: DataKind, namespace: &str, name: &str) -> Option<&Values> {
        self.data.given(kind, namespace, name)
    }

    /// The subscription that the credential of an object is for: that of a Secret among the manifests, which the object or its
    /// namespace has, else the given one. Where nobody says it, it is the one that the resource is in.
    pub fn subscription(&self, key: &ObjectKey, place: Option<&ResourceId>, given: &str) -> String {
        let at_place = place.and_then(ResourceId::subscription);
        let at_place = at_place.filter(|_| given == PLACEHOLDER_SUBSCRIPTION);
        let own = self.own_subscription(key);
        own.unwrap_or_else(|| at_place.unwrap_or(given).to_owned())
    }

    /// The subscription of the object's own credential: its Secret is the one that an annotation names, else the namespace's.
    pub fn own_subscription(&self, key: &ObjectKey) -> Option<String> {
        let annotations = self.object(key)?.metadata.annotations.as_ref();
        let named = annotations.and_then(|annotations| annotations.get(names::CREDENTIAL_FROM));
        let name = named.map_or(names::NAMESPACE_CREDENTIAL, String::as_str);
        let values = self.given_data(DataKind::Secret, &key.namespace, name)?;
        let subscription = String::from_utf8_lossy(values.get(SUBSCRIPTION)?);
        let subscription = subscription.trim();
        (!subscription.is_empty()).then(|| subscription.to_owned())
    }

    /// The namespaces of the resources and those that are among the manifests themselves.
    pub fn namespaces(&self) -> BTreeSet<String> {
        let own = self.resources.iter().map(|one| one.object.key().namespace);
        own.chain(self.namespaces.keys().cloned()).collect()
    }

    /// Annotations of a namespace.
    pub fn namespace(&self, name: &str) -> Annotations {
        self.namespaces.get(name).cloned().unwrap_or_default()
    }

    fn add(&mut self, document: &Document) -> Result<(), Vec<Problem>> {
        let origin = &document.origin;
        let [api_version, kind, name] = identity(document)?;
        let namespace = document.value.pointer("/metadata/namespace");
        let namespace = match namespace.unwrap_or(&Value::Null) {
            Value::Null => DEFAULT_NAMESPACE,
            value => value.as_str().ok_or_else(|| {
                let wrong = no_text(value);
                vec![Problem::at(origin, "metadata.namespace", wrong).of(format!("{kind} {name}"))]
            })?,
        };
        if !metadata::is_namespace(namespace) {
            let message = format!(
                "'{namespace}' is no name of a namespace; expected at most 63 lower-case letters, digits and '-'"
            );
            let problem = Problem::at(origin, "metadata.namespace", message);
            return Err(vec![problem.of(format!("{kind} {name}"))]);
        }
        let data_kind = match (api_version, kind) {
            ("v1", "Secret") => DataKind::Secret,
            ("v1", "ConfigMap") => DataKind::ConfigMap,
            ("v1", "Namespace") => return self.add_namespace(document, name),
            _ => return self.add_resource(document, (api_version, kind), namespace, name),
        };
        let problems = metadata::problems(&document.value);
        if !problems.is_empty() {
            return Err(document.told(problems, &format!("{kind} {namespace}/{name}")));
        }
        let added = self.data.add(data_kind, namespace, name, document);
        added.map_err(|problem| vec![problem.of(format!("{kind} {namespace}/{name}"))])
    }

    fn add_namespace(&mut self, document: &Document, name: &str) -> Result<(), Vec<Problem>> {
        let mut annotations =
            admission::annotations(&document.value).map_err(|(path, message)| {
                let problem = Problem::at(&document.origin, path, message);
                vec![problem.of(format!("Namespace {name}"))]
            })?;
        if !self.keeps_pauses {
            admission::without_pause(&mut annotations);
        }
        self.namespaces.insert(name.to_owned(), annotations);
        Ok(())
    }

    fn add_resource(
        &mut self,
        document: &Document,
        (api_version, kind): (&str, &str),
        namespace: &str,
        name: &str,
    ) -> Result<(), Vec<Problem>> {
        let title = format!("{kind} {namespace}/{name}");
        let problem = |(path, message): Wrong| {
            Problem::at(&document.origin, path, message).of(title.as_str())
        };
        let (kind, version) = self
            .kinds
            .of_manifest(api_version, kind)
            .map_err(|(path, message)| vec![problem((path.to_owned(), message))])?;
        let admitted = Admitted {
            kind,
            version,
            namespace,
            name,
            position: self.resources.len(),
            keeps_pause: self.keeps_pauses,
        };
        let problems = document.told(admitted.check(&document.value), &title);
        let warnings = document.told(admitted.warnings(&document.value), &title);
        let object = match admitted.object(&document.value) {
            Ok(object) => object,
            // The schema says more about it.
            Err(_) if !problems.is_empty() => return Err(problems),
            Err(wrong) => return Err(vec![problem(wrong)]),
        };
        let key = object.key();
        if let Some(first) = self.positions.get(&key) {
            let first = &self.resources[*first].origin;
            let message =
                format!("is already in {first}; one object has one manifest: take one of them out");
            return Err(vec![problem((String::new(), message))]);
        }
        let spec = document.value.get("spec").unwrap_or(&Value::Null);
        self.data
            .mark(namespace, &collect::inputs(version.spec, spec));
        let owner_id = spec.pointer("/owner/armId").and_then(Value::as_str);
        self.positions.insert(key, self.resources.len());
        self.resources.push(Resource {
            origin: document.origin.clone(),
            object,
            owner_id: owner_id.map(str::to_owned),
            problems,
            warnings,
        });
        Ok(())
    }
}

/// What every document needs: apiVersion, kind and name.
fn identity(document: &Document) -> Result<[&str; 3], Vec<Problem>> {
    let origin = &document.origin;
    if !document.value.is_object() {
        let message = format!("expected an object, found {}", kind_of(&document.value));
        return Err(vec![Problem::of_document(origin, message)]);
    }
    let text = |path: &str| {
        let found = path
            .split('.')
            .try_fold(&document.value, |value, name| value.get(name));
        match found {
            None | Some(Value::Null) => Err(
                "is missing: every document needs apiVersion, kind and metadata.name".to_owned(),
            ),
            Some(value) => value.as_str().ok_or_else(|| no_text(value)),
        }
        .map_err(|message| Problem::at(origin, path, message))
    };
    let api_version = text("apiVersion").map_err(|problem| vec![problem])?;
    let kind = text("kind").map_err(|problem| vec![problem])?;
    let name = text("metadata.name").map_err(|problem| vec![problem.of(kind)])?;
    Ok([api_version, kind, name])
}

/// What a document says that it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    /// `None` where there is no such group: any may be meant.
    group: Option<&'static str>,
    /// `None` where the group has no such kind: any may be meant.
    kind: Option<&'static str>,
    namespace: String,
    name: String,
}

impl Named {
    fn of(value: &Value, kinds: &KnownKinds) -> Option<Self> {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
        let (group, _) = text("/apiVersion")?.split_once('/')?;
        let kind = kinds.get(group, text("/kind")?);
        Some(Self {
            group: kinds.group(group),
            kind: kind.map(|kind| kind.kind),
            namespace: text("/metadata/namespace")
                .unwrap_or(DEFAULT_NAMESPACE)
                .to_owned(),
            name: text("/metadata/name")?.to_owned(),
        })
    }
}
