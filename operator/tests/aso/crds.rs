//! CRDs as it installs them, made of what is known of their schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use kube::Client;
use kube::api::PostParams;
use serde_json::{Map, Value, json};

use super::{NAMESPACE, SERVICE};

/// What is known of the schemas of its CRDs, by group and kind, where that is on this machine.
pub fn shapes() -> Option<BTreeMap<(String, String), Value>> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/azure");
    let folder = std::env::var_os("ARMATURE_AZURE_DATA").map_or(beside, PathBuf::from);
    let mut shapes = BTreeMap::new();
    for entry in std::fs::read_dir(folder.join("crd-shapes")).ok()? {
        let path = entry.unwrap().path();
        let Some(group) = path.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        let text = std::fs::read_to_string(&path).unwrap();
        let kinds: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
        let kinds = kinds.into_iter();
        shapes.extend(kinds.map(|(kind, shape)| ((group.to_owned(), kind), shape)));
    }
    Some(shapes)
}

/// Name of the CRD of a kind.
pub fn name_of(group: &str, shape: &Value) -> String {
    format!("{}.{group}", shape["names"]["plural"].as_str().unwrap())
}

/// Builds the schema of a version from its paths: `spec.list[].map{}.name`.
fn schema(paths: &Map<String, Value>) -> Value {
    let mut root = json!({"type": "object"});
    for (path, shape) in paths {
        let path = segments(path);
        let (last, above) = path.split_last().unwrap();
        let parent = place(&mut root, above);
        if shape["required"] == true {
            let required = parent.entry("required").or_insert_with(|| json!([]));
            required.as_array_mut().unwrap().push(json!(last));
        }
        let words = place(&mut root, &path);
        for (word, value) in shape.as_object().unwrap() {
            match word.as_str() {
                "required" => {}
                "anything" => {
                    let preserve = "x-kubernetes-preserve-unknown-fields";
                    words.insert(preserve.to_owned(), json!(true));
                }
                word => {
                    words.insert(word.to_owned(), value.clone());
                }
            }
        }
    }
    root
}

/// Names of properties with a dot in them, which paths do not mark.
const DOTTED: [&str; 1] = ["odata.type"];

/// The segments of a path.
fn segments(path: &str) -> Vec<&str> {
    let dotted = DOTTED.iter().find_map(|name| path.strip_suffix(name));
    let above = dotted.unwrap_or(path).split('.');
    let segments = above.chain(dotted.map(|above| &path[above.len()..]));
    segments.filter(|segment| !segment.is_empty()).collect()
}

/// The place of a path in a schema, made where it is not there.
fn place<'a>(root: &'a mut Value, path: &[&str]) -> &'a mut Map<String, Value> {
    let mut at = root;
    for segment in path {
        let name = segment.trim_end_matches(['[', ']', '{', '}']);
        at = &mut at["properties"][name];
        for letter in segment.chars() {
            match letter {
                '[' => at = &mut at["items"],
                '{' => at = &mut at["additionalProperties"],
                _ => {}
            }
        }
    }
    if at.is_null() {
        *at = json!({});
    }
    at.as_object_mut().unwrap()
}

/// The version in which it stores a kind's objects: that of Armature's hub, which has its name; of a kind that Armature does
/// not have, the newest.
fn storage_version(group: &str, shape: &Value) -> String {
    let kind = shape["names"]["kind"].as_str().unwrap();
    match super::kind(group, kind) {
        Some(info) => info.hub.storage_version.to_owned(),
        None => {
            let versions = shape["versions"].as_object().unwrap();
            format!("{}storage", versions.keys().next_back().unwrap())
        }
    }
}

/// A CRD as it installs it: each version, and for each another one to store it, one of which is used.
///
/// Where only some versions are in use, the others come without their schemas: the API server takes long over each of them.
fn custom_resource_definition(
    group: &str,
    shape: &Value,
    used: Option<&BTreeSet<String>>,
) -> Value {
    let storage = storage_version(group, shape);
    let columns = &shape["printerColumns"];
    let version = |name: &str, schema: Value| {
        json!({
            "name": name, "served": true, "storage": name == storage, "additionalPrinterColumns": columns,
            "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}},
        })
    };
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let versions = shape["versions"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(name, paths)| {
            // Some are the same under another name.
            let other = paths["same-as"].as_str();
            let paths = other.map_or(paths, |other| &shape["versions"][other]);
            let stored =
                json!({"type": "object", "properties": {"spec": anything, "status": anything}});
            let served = match used.is_none_or(|used| used.contains(name)) {
                true => schema(paths.as_object().unwrap()),
                false => stored.clone(),
            };
            [
                version(name, served),
                version(&format!("{name}storage"), stored),
            ]
        });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": name_of(group, shape),
            "annotations": {
                "cert-manager.io/inject-ca-from": format!("{NAMESPACE}/azureserviceoperator-serving-cert"),
                "controller-gen.kubebuilder.io/version": "v0.18.0",
            },
            "labels": {"app.kubernetes.io/name": "azure-service-operator", "app.kubernetes.io/version": "v2.20.0"},
        },
        "spec": {
            "group": group, "names": shape["names"], "scope": "Namespaced", "preserveUnknownFields": false,
            "versions": versions.collect::<Vec<_>>(),
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"service": {"name": SERVICE, "namespace": NAMESPACE, "path": "/convert", "port": 443}},
            }},
        },
    })
}

/// Installs the CRD of a kind; one that is there becomes what it installs. Versions that are not used come without their schemas.
pub async fn install(client: &Client, group: &str, shape: &Value, used: Option<&BTreeSet<String>>) {
    let mut crd = custom_resource_definition(group, shape, used);
    let (of, kind) = ("apiextensions.k8s.io", "CustomResourceDefinition");
    let api = super::resource(client, of, "v1", kind, None);
    let name = name_of(group, shape);
    let parameters = PostParams::default();
    match api.get_opt(&name).await.unwrap() {
        None => api
            .create(&parameters, &super::dynamic(&crd))
            .await
            .unwrap(),
        Some(known) => {
            crd["metadata"]["resourceVersion"] = json!(known.metadata.resource_version);
            let crd = super::dynamic(&crd);
            api.replace(&name, &parameters, &crd).await.unwrap()
        }
    };
}

/// Names of the Services at which CRDs convert, by names of CRDs.
pub async fn services(client: &Client) -> BTreeMap<String, Value> {
    let (of, kind) = ("apiextensions.k8s.io", "CustomResourceDefinition");
    let api = super::resource(client, of, "v1", kind, None);
    let listed = api.list(&Default::default()).await.unwrap();
    let service = |data: &Value| {
        let service = data.pointer("/spec/conversion/webhook/clientConfig/service/name");
        service.cloned().unwrap_or_default()
    };
    let crds = listed.into_iter();
    crds.map(|crd| (crd.metadata.name.unwrap(), service(&crd.data)))
        .collect()
}
