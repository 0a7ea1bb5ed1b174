//! What the watch of Secrets tells of credentials: which namespaces have one of their own, and which version Secrets have.

use std::collections::HashSet;

use armature_shapes::names::NAMESPACE_CREDENTIAL;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::runtime::watcher::Event;

use crate::cluster::credential::version;
use crate::cluster::port::Cluster;
use crate::stored::item::MetadataOf;

/// Secrets of a list that is under way.
#[derive(Default)]
pub(super) struct ListedSecrets {
    /// Namespace and name of those that may be credentials in use.
    names: HashSet<(String, String)>,
    /// Namespaces with a credential of their own.
    namespaces: HashSet<String>,
}

impl ListedSecrets {
    /// Takes in an event of the watch of one namespace, or of all.
    pub(super) fn note<K>(
        &mut self,
        cluster: &Cluster,
        scope: Option<&str>,
        event: &Event<MetadataOf<K>>,
    ) {
        let versions = &cluster.secret_versions;
        match event {
            Event::Init => {
                *self = Self::default();
                versions.begin_list(scope);
            }
            Event::InitApply(secret) => {
                let (namespace, name) = place(&secret.metadata);
                versions.apply(namespace, name, version_of(&secret.metadata));
                if name == NAMESPACE_CREDENTIAL {
                    self.namespaces.insert(namespace.to_owned());
                }
                if versions.is_read(namespace, name) {
                    self.names.insert((namespace.to_owned(), name.to_owned()));
                }
            }
            Event::InitDone => {
                let found = std::mem::take(self);
                cluster.credentials.finish_list(scope, found.namespaces);
                versions.finish_list(scope, &found.names);
            }
            Event::Apply(secret) => {
                let (namespace, name) = place(&secret.metadata);
                versions.apply(namespace, name, version_of(&secret.metadata));
                if name == NAMESPACE_CREDENTIAL {
                    cluster.credentials.set(namespace, true);
                }
            }
            Event::Delete(secret) => {
                let (namespace, name) = place(&secret.metadata);
                versions.remove(namespace, name);
                if name == NAMESPACE_CREDENTIAL {
                    cluster.credentials.set(namespace, false);
                }
            }
        }
    }
}

fn place(metadata: &ObjectMeta) -> (&str, &str) {
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    (namespace, metadata.name.as_deref().unwrap_or_default())
}

fn version_of(metadata: &ObjectMeta) -> String {
    let uid = metadata.uid.as_deref().unwrap_or_default();
    version(
        uid,
        metadata.resource_version.as_deref().unwrap_or_default(),
    )
}
