//! Which documents say something about Azure resources: what else a chart makes is none of ours.

use std::collections::BTreeSet;

use armature_runtime::kind::KindInfo;
use serde_json::Value;

use super::manifest::Document;

/// Kinds of Kubernetes itself that say something about Azure resources.
const OF_KUBERNETES: [&str; 3] = ["Secret", "ConfigMap", "Namespace"];

/// The documents that matter. Those without a namespace are put into this one.
pub fn relevant(
    documents: &[Document],
    kinds: &[&'static KindInfo],
    namespace: Option<&str>,
) -> Vec<Document> {
    let groups: BTreeSet<&str> = kinds.iter().map(|kind| kind.group).collect();
    let is_ours = |document: &&Document| {
        let text = |member: &str| document.value[member].as_str();
        match (text("apiVersion"), text("kind")) {
            (Some("v1"), Some(kind)) => OF_KUBERNETES.contains(&kind),
            (Some(version), Some(_)) => version
                .split_once('/')
                .is_some_and(|(group, _)| groups.contains(group) || group.ends_with(".azure.com")),
            // It is told what it lacks.
            _ => true,
        }
    };
    let ours = documents.iter().filter(is_ours).cloned();
    ours.map(|document| placed(document, namespace)).collect()
}

/// Whether a document is for kustomize alone: `armature import` writes one beside its manifests.
pub fn is_kustomization(document: &Document) -> bool {
    let version = document.value["apiVersion"].as_str();
    version.is_some_and(|version| version.starts_with("kustomize.config.k8s.io/"))
}

fn placed(mut document: Document, namespace: Option<&str>) -> Document {
    let is_namespace = document.value["kind"] == "Namespace";
    let metadata = document.value.get_mut("metadata");
    if let (Some(namespace), Some(Value::Object(metadata)), false) =
        (namespace, metadata, is_namespace)
    {
        let own = metadata.entry("namespace").or_insert(Value::Null);
        if own.is_null() {
            *own = Value::from(namespace);
        }
    }
    document
}
