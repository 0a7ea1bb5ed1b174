//! CustomResourceDefinitions, composed from kinds and shapes when they are needed.
//!
//! API versions carry full schemas without prose and CEL rules. The storage version is served for the operator
//! and carries no field schema: it is written through conversion only, and the codec checks what it reads. The
//! API server pays for every schema it keeps, so there is one copy of what must be checked and no more.

mod known;
mod rules;
mod schema;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use armature_shapes::kind::{KindInfo, VersionInfo};

/// Which of a kind's API versions are served. The storage version always is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServedVersions {
    /// All that are not [on request](VersionInfo::is_on_request), and these.
    All {
        /// Versions to serve beside them: those of stored objects, and those a user asks for.
        also: BTreeSet<String>,
    },
    /// The newest stable one (the newest of all when there is no stable one) and these.
    Latest {
        /// Versions to serve beside it: those of stored objects, and those a user asks for.
        also: BTreeSet<String>,
    },
}

impl Default for ServedVersions {
    fn default() -> Self {
        Self::All {
            also: BTreeSet::new(),
        }
    }
}

/// Where the API server finds the conversion webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookEndpoint {
    /// A Service in the cluster.
    Service {
        /// Namespace of the Service.
        namespace: String,
        /// Name of the Service.
        name: String,
        /// Path, with the leading slash.
        path: String,
        /// Port of the Service.
        port: u16,
    },
    /// A URL, for operators that run outside of the cluster.
    Url(String),
}

/// The conversion webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionWebhook {
    /// Where it is.
    pub endpoint: WebhookEndpoint,
    /// CA bundle that its certificate is checked against: PEM text, base64 encoded.
    pub ca_bundle: Option<String>,
}

impl ConversionWebhook {
    /// The member `spec.conversion` of a CRD.
    pub fn to_json(&self) -> Value {
        let mut client = match &self.endpoint {
            WebhookEndpoint::Service {
                namespace,
                name,
                path,
                port,
            } => json!({
                "service": {"namespace": namespace, "name": name, "path": path, "port": port},
            }),
            WebhookEndpoint::Url(url) => json!({ "url": url }),
        };
        if let Some(bundle) = &self.ca_bundle {
            client["caBundle"] = json!(bundle);
        }
        json!({
            "strategy": "Webhook",
            "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]},
        })
    }
}

/// What a CRD depends on beside its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrdOptions {
    /// The webhook. Without one the API server cannot convert, and only objects of the storage version work.
    pub conversion: Option<ConversionWebhook>,
    /// Versions to serve.
    pub versions: ServedVersions,
    /// Versions that are not served, in which an earlier release may have stored objects: the API server wants
    /// them to stay in the CRD for as long as its `status.storedVersions` names them.
    pub kept: BTreeSet<String>,
    /// The operator's version, for the label `app.kubernetes.io/version`.
    pub operator_version: String,
    /// Labels that the user wants on CRDs, beside ours.
    pub labels: BTreeMap<String, String>,
    /// The schemas have the known values of open lists, too.
    pub known_values: bool,
}

/// Name of a kind's CRD: `storageaccounts.storage.azure.com`.
pub fn name(kind: &KindInfo) -> String {
    format!("{}.{}", kind.plural, kind.group)
}

/// The CRD of a kind as `apiextensions.k8s.io/v1` JSON.
pub fn custom_resource_definition(kind: &KindInfo, options: &CrdOptions) -> Value {
    let served = served_versions(kind, &options.versions);
    let mut versions: Vec<_> = served
        .into_iter()
        .map(|version| {
            let mut schema = schema::api_version(kind, version);
            if options.known_values {
                known::tell(version.spec, &mut schema["properties"]["spec"]);
            }
            crd_version(version.name, &schema, Role::Served)
        })
        .collect();
    for version in &options.kept {
        versions.push(crd_version(version, &schema::storage_version(), Role::Kept));
    }
    versions.push(crd_version(
        kind.hub.storage_version,
        &schema::storage_version(),
        Role::Storage,
    ));
    let mut spec = Map::new();
    spec.insert("group".to_owned(), json!(kind.group));
    spec.insert("names".to_owned(), names(kind));
    spec.insert("scope".to_owned(), json!("Namespaced"));
    if let Some(webhook) = &options.conversion {
        spec.insert("conversion".to_owned(), webhook.to_json());
    }
    spec.insert("versions".to_owned(), Value::Array(versions));
    let mut labels = json!({
        "app.kubernetes.io/name": "armature",
        "app.kubernetes.io/version": options.operator_version,
    });
    for (name, value) in &options.labels {
        labels[name] = json!(value);
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": name(kind),
            "labels": labels,
        },
        "spec": spec,
    })
}

fn served_versions<'k>(kind: &'k KindInfo, which: &ServedVersions) -> Vec<&'k VersionInfo> {
    let newest = newest_stable(kind).map(|version| version.name);
    let is_served = |version: &VersionInfo| match which {
        ServedVersions::All { also } => !version.is_on_request || also.contains(version.name),
        ServedVersions::Latest { also } => {
            Some(version.name) == newest || also.contains(version.name)
        }
    };
    let versions = kind.versions.iter();
    versions.filter(|version| is_served(version)).collect()
}

/// The newest version that is no preview, else the newest, of those that are served without a request.
pub fn newest_stable(kind: &KindInfo) -> Option<&VersionInfo> {
    let mut newest_first = kind.served_unasked().rev();
    newest_first
        .find(|version| !version.api_version.contains("preview"))
        .or_else(|| kind.served_unasked().next_back())
}

fn names(kind: &KindInfo) -> Value {
    json!({
        "categories": ["azure", kind.category],
        "kind": kind.kind,
        "listKind": format!("{}List", kind.kind),
        "plural": kind.plural,
        "singular": kind.kind.to_lowercase(),
    })
}

/// What a version in a CRD is for.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Served,
    Storage,
    Kept,
}

fn crd_version(name: &str, schema: &Value, role: Role) -> Value {
    json!({
        "name": name,
        "served": role != Role::Kept,
        "storage": role == Role::Storage,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            ready_column("Ready", "status"),
            ready_column("Severity", "severity"),
            ready_column("Reason", "reason"),
            ready_column("Message", "message"),
        ],
    })
}

fn ready_column(name: &str, member: &str) -> Value {
    json!({
        "name": name,
        "type": "string",
        "jsonPath": format!(".status.conditions[?(@.type=='Ready')].{member}"),
    })
}

#[cfg(test)]
mod tests;
