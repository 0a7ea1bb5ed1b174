//! What the way back needs, kept in a ConfigMap in the former operator's namespace.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};

use anyhow::Context;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, DeleteParams, ObjectMeta, PostParams};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::found::{Found, converts_there};

/// Name of the ConfigMap.
pub const NAME: &str = "armature-takeover";

/// Its one key: JSON, compressed, because webhooks of hundreds of kinds are more than a ConfigMap takes.
const KEY: &str = "record.json.gz";

/// The form that this release writes and reads.
const FORMAT: &str = "armature.azure.com/takeover/v1";

/// What was there before a takeover.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    format: String,
    /// Configurations of webhooks for admission, with their kinds.
    pub admission: Vec<Value>,
    /// CRDs by their names.
    pub crds: BTreeMap<String, KeptCrd>,
    /// Objects that were not ready.
    pub not_ready: BTreeSet<String>,
}

/// What is kept of a CRD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptCrd {
    /// `spec.conversion`.
    pub conversion: Value,
    /// Annotations by which cert-manager writes its bundle.
    pub annotations: BTreeMap<String, String>,
    /// Names of its versions.
    pub versions: BTreeSet<String>,
}

impl Record {
    /// Of a cluster as it is now.
    pub fn of(found: &Found, not_ready: BTreeSet<String>) -> Self {
        let admission = found.admission.iter().map(|admission| {
            let mut object = admission.object.clone();
            object["kind"] = admission.kind.into();
            // What the server gave it.
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata
                    .retain(|name, _| ["name", "labels", "annotations"].contains(&name.as_str()));
            }
            object
        });
        let crds = found.crds.iter().filter(|crd| converts_there(crd));
        let crds = crds.map(|crd| {
            let annotations = crd.metadata.annotations.clone().unwrap_or_default();
            let versions = crd.spec.versions.iter();
            let kept = KeptCrd {
                conversion: crd.spec.conversion.clone(),
                annotations: annotations
                    .into_iter()
                    .filter(|(name, _)| name.starts_with("cert-manager.io/"))
                    .collect(),
                versions: versions.map(|version| version.name.clone()).collect(),
            };
            (crd.metadata.name.clone().unwrap_or_default(), kept)
        });
        Self {
            format: FORMAT.to_owned(),
            admission: admission.collect(),
            crds: crds.collect(),
            not_ready,
        }
    }

    fn compress(&self) -> anyhow::Result<Vec<u8>> {
        let text = serde_json::to_vec(self).context("the record has no JSON form")?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder
            .write_all(&text)
            .context("cannot compress the record")?;
        encoder.finish().context("cannot compress the record")
    }

    fn expand(bytes: &[u8]) -> anyhow::Result<Self> {
        let mut text = String::new();
        GzDecoder::new(bytes).read_to_string(&mut text)?;
        let record: Self = serde_json::from_str(&text)?;
        anyhow::ensure!(
            record.format == FORMAT,
            "it has the form {}, and this release reads {FORMAT}; use the release that wrote it",
            record.format
        );
        Ok(record)
    }

    /// The record of a namespace, if there is one.
    ///
    /// # Errors
    /// When the API server does not answer, or the ConfigMap is none of ours.
    pub async fn load(client: &Client, namespace: &str) -> anyhow::Result<Option<Self>> {
        let found = maps(client, namespace).get_opt(NAME).await;
        let found = found.with_context(|| format!("cannot read ConfigMap {namespace}/{NAME}"))?;
        let Some(map) = found else { return Ok(None) };
        let data = map.binary_data.unwrap_or_default();
        let read = || Self::expand(&data.get(KEY).with_context(|| format!("it has no {KEY}"))?.0);
        let record =
            read().with_context(|| format!("ConfigMap {namespace}/{NAME} cannot be read"))?;
        Ok(Some(record))
    }

    /// Keeps the record. One that is there stays: what a takeover has begun to change is in no cluster any more.
    ///
    /// # Errors
    /// When the API server refuses it.
    pub async fn keep(&self, client: &Client, namespace: &str) -> anyhow::Result<()> {
        let map = ConfigMap {
            metadata: ObjectMeta {
                name: Some(NAME.to_owned()),
                ..ObjectMeta::default()
            },
            binary_data: Some([(KEY.to_owned(), ByteString(self.compress()?))].into()),
            ..ConfigMap::default()
        };
        let created = maps(client, namespace)
            .create(&PostParams::default(), &map)
            .await;
        created.with_context(|| format!("cannot write ConfigMap {namespace}/{NAME}"))?;
        Ok(())
    }

    /// Removes the record.
    ///
    /// # Errors
    /// When the API server refuses it.
    pub async fn remove(client: &Client, namespace: &str) -> anyhow::Result<()> {
        let removed = maps(client, namespace)
            .delete(NAME, &DeleteParams::default())
            .await;
        removed.with_context(|| format!("cannot remove ConfigMap {namespace}/{NAME}"))?;
        Ok(())
    }
}

fn maps(client: &Client, namespace: &str) -> Api<ConfigMap> {
    Api::namespaced(client.clone(), namespace)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn webhooks_of_hundreds_of_kinds_fit_into_a_config_map() {
        let kept = KeptCrd {
            conversion: json!({"webhook": {"clientConfig": {"caBundle": "QUJD".repeat(600)}}}),
            annotations: BTreeMap::new(),
            versions: (0..8)
                .map(|number| format!("v1api2024010{number}"))
                .collect(),
        };
        let webhook =
            json!({"name": "mutate.azure.com", "clientConfig": {"caBundle": "QUJD".repeat(600)}});
        let record = Record {
            format: FORMAT.to_owned(),
            admission: vec![json!({"webhooks": vec![webhook; 600]}); 2],
            crds: (0..294)
                .map(|number| (format!("kind-{number}"), kept.clone()))
                .collect(),
            not_ready: BTreeSet::new(),
        };
        let bytes = record.compress().unwrap();
        assert!(bytes.len() < 100_000, "{} bytes", bytes.len());
        assert_eq!(Record::expand(&bytes).unwrap(), record);
        let other = Record {
            format: "armature.azure.com/takeover/v9".to_owned(),
            ..record
        };
        let error = Record::expand(&other.compress().unwrap()).unwrap_err();
        assert!(error.to_string().contains("takeover/v9"), "{error}");
    }
}
