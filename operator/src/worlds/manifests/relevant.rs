//! Which documents say something about Azure resources: what else a chart makes is none of ours.

use std::collections::BTreeSet;

use armature_runtime::kind::KindInfo;
use serde_json::Value;

use super::manifest::Document;

/// Kinds of Kubernetes itself that say something about Azure resources.
const OF_KUBERNETES: [&str; 3] = ["Secret", "ConfigMap", "Namespace"];

/// The kind of Kubernetes' first group that has the name of one of ours and says nothing about Azure.
const SERVICE: &str = "Service";

/// The documents that matter. Those without a namespace are put into this one.
pub fn relevant(
    documents: &[Document],
    kinds: &[&'static KindInfo],
    namespace: Option<&str>,
) -> Vec<Document> {
    let groups: BTreeSet<&str> = kinds.iter().map(|kind| kind.group).collect();
    let has_kind = |kind: &str| kinds.iter().any(|info| info.kind == kind);
    let is_ours = |document: &&Document| {
        let text = |member: &str| document.value[member].as_str();
        match (text("apiVersion"), text("kind")) {
            (Some(version), Some(kind)) => match version.split_once('/') {
                // A group that is meant to be one of ours is told as a mistake, and so is a kind of ours without a group.
                Some((group, _)) => groups.contains(group) || group.contains("azure"),
                None => OF_KUBERNETES.contains(&kind) || has_kind(kind) && kind != SERVICE,
            },
            // It is told what it lacks.
            _ => true,
        }
    };
    let ours = documents.iter().filter(is_ours).cloned();
    ours.map(|document| placed(document, namespace)).collect()
}

fn placed(mut document: Document, namespace: Option<&str>) -> Document {
    // Event Hubs and Service Bus have a kind of that name, too.
    let is_namespace =
        document.value["kind"] == "Namespace" && document.value["apiVersion"] == "v1";
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
