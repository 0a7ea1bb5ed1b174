//! A cluster and an Azure in memory, and the real reconciler between them.

use std::sync::Arc;

use armature_generated::KINDS;
use armature_runtime::arm::ArmAccess;
use armature_runtime::arm::testing::{MemoryAzure, reconciler};
use armature_runtime::azure::CredentialKey;
use armature_runtime::conversion;
use armature_runtime::extension::{Context, Registry, Resolver};
use armature_runtime::id::ResourceId;
use armature_runtime::kind::KindInfo;
use armature_runtime::names;
use armature_runtime::reconcile::driver::Reconciler;
use armature_runtime::reconcile::testing::{Journal, MemoryCluster};
use armature_runtime::resource::{Kind, Object, ObjectKey};
use serde_json::{Value, json};

pub const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000001";

/// More passes than any object takes to become ready.
const PASSES: usize = 6;

pub struct World {
    pub cluster: Arc<MemoryCluster>,
    pub azure: Arc<MemoryAzure>,
    pub extensions: Registry,
    journal: Journal,
    reconciler: Reconciler,
}

/// The kind of a name as `kusto Cluster`.
pub fn kind(name: &str) -> &'static KindInfo {
    let mut kinds = KINDS.iter();
    let found = kinds.find(|kind| format!("{} {}", kind.category, kind.kind) == name);
    found.unwrap_or_else(|| panic!("there is no kind {name}"))
}

impl World {
    /// An empty one with these extensions.
    pub fn new(extensions: Registry) -> Self {
        let journal = Journal::default();
        let cluster = Arc::new(MemoryCluster::with_kinds(journal.clone(), KINDS));
        let azure = Arc::new(MemoryAzure::new(journal.clone(), SUBSCRIPTION));
        let reconciler = reconciler(&cluster, &azure, extensions.clone());
        Self {
            cluster,
            azure,
            extensions,
            journal,
            reconciler,
        }
    }

    /// Applies an object in the newest version that is served by default.
    pub fn apply(&self, kind_name: &str, name: &str, spec: Value) -> ObjectKey {
        let kind = kind(kind_name);
        let version = kind.served_unasked().next_back().unwrap();
        let manifest = json!({
            "apiVersion": format!("{}/{}", kind.group, version.name),
            "kind": kind.kind,
            "metadata": {"name": name, "namespace": "default"},
            "spec": spec,
        });
        let stored = conversion::to_hub(kind, version.name, manifest);
        let stored = stored.unwrap_or_else(|error| panic!("{kind_name}: {error}"));
        self.cluster.apply(kind, name, &stored["spec"])
    }

    /// Applies an object and brings it to rest; what happened until then is forgotten.
    pub async fn settle(&self, kind_name: &str, name: &str, spec: Value) -> ObjectKey {
        let key = self.apply(kind_name, name, spec);
        self.passes(&key).await;
        self.journal.take();
        key
    }

    /// A resource group `shop`.
    pub async fn group(&self) {
        let spec = json!({"location": "westeurope"});
        self.settle("resources ResourceGroup", "shop", spec).await;
    }

    /// As many passes as an object takes to become ready.
    pub async fn passes(&self, key: &ObjectKey) {
        for _ in 0..PASSES {
            self.reconciler.reconcile(key).await;
        }
    }

    /// Lets the object rest, and tells what was sent to Azure for it and what it says then.
    pub async fn look(&self, key: &ObjectKey) -> String {
        self.passes(key).await;
        let lines = self.journal.take();
        let is_write = |line: &String| {
            ["PUT ", "POST ", "DELETE "]
                .iter()
                .any(|verb| line.starts_with(verb))
        };
        let writes: Vec<String> = lines.into_iter().filter(is_write).collect();
        let (ready, message) = match self.cluster.object(key) {
            Some(_) => (
                self.cluster.condition(key, "Ready"),
                self.cluster.message(key),
            ),
            None => ("gone".to_owned(), String::new()),
        };
        format!("{}; {ready}: {message}", writes.join(", "))
    }

    /// The resource's id in Azure.
    pub fn id(&self, key: &ObjectKey) -> String {
        let id = self.cluster.annotation(key, names::RESOURCE_ID);
        id.unwrap_or_else(|| panic!("{key} has no id: {}", self.cluster.message(key)))
    }

    /// Changes a property of the resource in Azure.
    pub fn change(&self, key: &ObjectKey, property: &str, value: Value) {
        let id = self.id(key);
        let mut body = self
            .azure
            .get(&id)
            .unwrap_or_else(|| panic!("{id} is not there"));
        body["properties"][property] = value;
        self.azure.set(&id, body);
    }

    /// What the kind's importer says of a resource with this status.
    pub async fn import(&self, kind_name: &str, id: &str, spec: Value, status: Value) -> String {
        let kind = Kind(kind(kind_name));
        let raw = |value: Value| serde_json::value::to_raw_value(&value).unwrap();
        let object = Object {
            kind,
            metadata: Default::default(),
            spec: Some(raw(spec)),
            status: Some(raw(status)),
        };
        let context = Context {
            resolver: Resolver::new(self.cluster.clone(), "default".to_owned()),
            access: ArmAccess::new(self.azure.clone(), CredentialKey::Global).into(),
            id: Some(ResourceId::parse(id).unwrap()),
            api_version: "",
            owner: None,
            span: tracing::Span::none(),
            cancellation: Default::default(),
        };
        let import = self.extensions.of(kind).import(&context, &object).await;
        format!("{:?}", import.unwrap())
    }
}
