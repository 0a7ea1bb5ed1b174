//! What the operator of the cluster is told: the variables of its Deployment, and the Secret with its own settings.

use std::collections::BTreeMap;

use armature_runtime::reconcile::port::DataKind;
use k8s_openapi::api::apps::v1::Deployment;
use kube::Client;
use kube::api::{Api, ListParams};

use crate::takeover::found::{CREDENTIAL, OURS};
use crate::worlds::applied::Live;

/// Variables by name, and what is to be said of them.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    values: BTreeMap<String, String>,
    /// Why they are not known, where that is so.
    pub note: Option<String>,
}

impl Variables {
    /// Those of the operator in a namespace.
    pub async fn read(client: &Client, live: &Live, namespace: &str) -> Self {
        let mut found = Self::default();
        // What is meant for the operator alone may be hidden from who checks.
        let secret = live.data(DataKind::Secret, namespace, CREDENTIAL).await;
        if let Ok(Some(secret)) = secret {
            let texts = secret.values.into_iter();
            found
                .values
                .extend(texts.map(|(name, value)| {
                    (name, String::from_utf8_lossy(&value).trim().to_owned())
                }));
        }
        let deployments: Api<Deployment> = Api::namespaced(client.clone(), namespace);
        let listed = deployments.list(&ListParams::default().labels(OURS)).await;
        let defaults = "its settings are taken to be the defaults; --operator-namespace says where the operator is";
        match listed {
            Ok(listed) if !listed.items.is_empty() => {
                for deployment in &listed {
                    found.values.extend(variables(deployment));
                }
            }
            Ok(_) => {
                let note =
                    format!("no Deployment of Armature is in namespace {namespace}: {defaults}");
                found.note = Some(note);
            }
            Err(error) => {
                found.note = Some(format!(
                    "the Deployment of Armature in namespace {namespace} cannot be read ({error}): {defaults}"
                ));
            }
        }
        found
    }

    /// The value of a variable, where it has one.
    pub fn get(&self, name: &str) -> Option<String> {
        self.values
            .get(name)
            .filter(|value| !value.is_empty())
            .cloned()
    }
}

/// Those that a Deployment spells out.
fn variables(deployment: &Deployment) -> BTreeMap<String, String> {
    let pod = deployment
        .spec
        .as_ref()
        .and_then(|spec| spec.template.spec.as_ref());
    let containers = pod.into_iter().flat_map(|pod| &pod.containers);
    let variables = containers.flat_map(|container| container.env.iter().flatten());
    variables
        .filter_map(|one| Some((one.name.clone(), one.value.clone()?)))
        .collect()
}
