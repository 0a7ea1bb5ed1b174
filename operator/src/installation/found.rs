//! Where an operator is installed: by its Deployment's label.

use std::collections::BTreeMap;

use armature_runtime::reconcile::port::DataKind;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Container;
use kube::api::{Api, ListParams};

use super::variables::{Sources, Variables, sources};
use crate::settings::last::CONFIG_MAP;
use crate::worlds::applied::Live;

/// Label by which Armature's Deployments are found, as the chart has it.
pub const OURS: &str = "app.kubernetes.io/name=armature";

pub use crate::settings::SECRET as CREDENTIAL;

/// Its container, as the chart names it.
const CONTAINER: &str = "operator";

/// Where it is unless somebody says so.
const USUAL: &str = "armature-system";

/// What follows from not knowing.
const DEFAULTS: &str =
    "its settings are taken to be the defaults; --operator-namespace says where the operator is";

/// The operator of a cluster.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its namespace, or the one where it would be.
    pub namespace: String,
    /// What it is told.
    pub variables: Variables,
    /// Why there is none, where none or more than one was found.
    absence: Option<String>,
    /// Why nobody could look for it.
    failure: Option<String>,
}

impl Found {
    /// The operator of a namespace; where none is named, of the usual one, or of the only one that has any.
    pub async fn read(live: &Live, named: Option<&str>) -> Self {
        let (client, usual) = (live.client(), named.unwrap_or(USUAL));
        let here = Api::namespaced(client.clone(), usual);
        let there = match list(&here, usual).await {
            Ok(found) if found.is_empty() && named.is_none() => {
                let everywhere = Api::all(client.clone());
                list(&everywhere, "all namespaces").await
            }
            listed => listed,
        };
        let (deployments, failure) = match there {
            Ok(deployments) => (deployments, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let absence = absence(&deployments, usual).filter(|_| failure.is_none());
        let deployment = deployments.first().filter(|_| absence.is_none());
        let namespace = deployment.and_then(namespace_of);
        let mut found = Self {
            namespace: namespace.unwrap_or_else(|| usual.to_owned()),
            variables: Variables::default(),
            absence,
            failure,
        };
        if let Some(container) = deployment.and_then(container) {
            found.variables = variables(container, live, &found.namespace).await;
        }
        found
    }

    /// The same with the files of the operator's own credential.
    pub async fn with_credential(mut self, live: &Live) -> Self {
        let secret = live.data(DataKind::Secret, &self.namespace, CREDENTIAL);
        let counted = counted(live, &self.namespace).await.ok().flatten();
        match secret.await {
            Ok(Some(secret)) => {
                self.variables = self.variables.with_files(secret.values, counted.as_ref());
            }
            Ok(None) => {}
            // What is meant for the operator alone may be hidden from others.
            Err(_) => {
                let unread = format!("all of Secret {CREDENTIAL}");
                self.variables.unread.insert(unread);
            }
        }
        self
    }

    /// The same with what counted of settings when it started last, which may be the Secret's. An operator that keeps no record of that
    /// reads no settings there.
    pub async fn with_counted(mut self, live: &Live) -> Self {
        if self.absence.is_some() || self.failure.is_some() {
            return self;
        }
        match counted(live, &self.namespace).await {
            Ok(Some(counted)) => {
                self.variables = self.variables.with_files(BTreeMap::new(), Some(&counted));
            }
            Ok(None) => {}
            Err(_) => {
                let unread = format!("what counted at the last start (ConfigMap {CONFIG_MAP})");
                self.variables.unread.insert(unread);
            }
        }
        self
    }

    /// What could not be read, as sentences.
    pub fn unread(&self) -> Vec<String> {
        let failure = self.failure.as_ref();
        let failure = failure.map(|why| {
            format!("whether Armature is installed is not known, since {why}: {DEFAULTS}")
        });
        let unread = &self.variables.unread;
        let unread: Vec<&str> = unread.iter().map(String::as_str).collect();
        let unread = (!unread.is_empty()).then(|| {
            format!(
                "settings of the operator in namespace {} could not be read and are taken to be unset: {}",
                self.namespace,
                unread.join(", ")
            )
        });
        failure.into_iter().chain(unread).collect()
    }

    /// The same, and that there is none.
    pub fn notes(&self) -> Vec<String> {
        self.absence.iter().cloned().chain(self.unread()).collect()
    }
}

/// What counted of settings when the operator started last.
async fn counted(live: &Live, namespace: &str) -> anyhow::Result<Option<BTreeMap<String, String>>> {
    let found = live
        .data(DataKind::ConfigMap, namespace, CONFIG_MAP)
        .await?;
    Ok(found.map(|it| {
        let values = it.values.into_iter();
        let values = values.map(|(key, value)| (key, String::from_utf8_lossy(&value).into_owned()));
        values.collect()
    }))
}

/// Why these are not the Deployments of one operator, where that is so.
fn absence(deployments: &[Deployment], usual: &str) -> Option<String> {
    let mut namespaces: Vec<String> = deployments.iter().filter_map(namespace_of).collect();
    namespaces.sort();
    namespaces.dedup();
    match namespaces.as_slice() {
        [_] => None,
        [] => Some(format!(
            "no Deployment of Armature is in namespace {usual}: {DEFAULTS}"
        )),
        several => Some(format!(
            "Deployments of Armature are in namespaces {}: {DEFAULTS}",
            several.join(", ")
        )),
    }
}

/// The Deployments, or why they are not known, in words.
async fn list(deployments: &Api<Deployment>, place: &str) -> Result<Vec<Deployment>, String> {
    let listed = deployments.list(&ListParams::default().labels(OURS)).await;
    match listed {
        Ok(listed) => Ok(listed.items),
        Err(kube::Error::Api(status)) if status.code == 403 => {
            Err(format!("you may not list Deployments in {place}"))
        }
        Err(_) => Err(format!(
            "the API server does not list Deployments in {place}"
        )),
    }
}

fn namespace_of(deployment: &Deployment) -> Option<String> {
    deployment.metadata.namespace.clone()
}

/// The operator's container.
fn container(deployment: &Deployment) -> Option<&Container> {
    let containers = &deployment.spec.as_ref()?.template.spec.as_ref()?.containers;
    let named = containers.iter().find(|it| it.name == CONTAINER);
    named.or_else(|| containers.first())
}

async fn variables(container: &Container, live: &Live, namespace: &str) -> Variables {
    let mut read = Sources::new();
    for (kind, name) in sources(container) {
        let values = match live.data(kind, namespace, &name).await {
            Ok(found) => Some(found.map(|found| found.values).unwrap_or_default()),
            Err(_) => None,
        };
        read.insert((kind, name), values);
    }
    Variables::of(container, &read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_one_namespace() {
        let of = |namespace: &str| {
            let mut deployment = Deployment::default();
            deployment.metadata.namespace = Some(namespace.to_owned());
            deployment
        };
        for (namespaces, note) in [
            (
                vec![],
                Some("no Deployment of Armature is in namespace usual"),
            ),
            (vec!["a"], None),
            (vec!["a", "a"], None),
            (vec!["b", "a"], Some("in namespaces a, b: ")),
        ] {
            let deployments: Vec<_> = namespaces.iter().map(|name| of(name)).collect();
            let told = absence(&deployments, "usual");
            assert_eq!(told.is_some(), note.is_some(), "{namespaces:?}: {told:?}");
            let note = note.unwrap_or_default();
            assert!(
                told.is_none_or(|told| told.contains(note)),
                "{namespaces:?}"
            );
        }
    }
}
