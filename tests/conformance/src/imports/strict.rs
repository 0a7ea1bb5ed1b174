//! A real API server with the CRDs of what was imported, and strict validation.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use armature_controlplane::ControlPlane;
use armature_controlplane::waiting::until_ok;
use armature_e2e::create_namespace;
use armature_generated::KINDS;
use armature_runtime::engine::crd::{CrdOptions, ServedVersions, custom_resource_definition};
use armature_runtime::kind::KindInfo;
use kube::client::Body;
use serde_json::{Value, json};

use super::{Import, NAMESPACE};

/// Has the API server look at every manifest as if it were to be created, and adds to the outcomes what it refuses.
///
/// # Errors
/// When there is no API server, or it does not take a CRD.
pub async fn add(imports: &mut [Import]) -> Result<()> {
    let plane = ControlPlane::start(Default::default()).await?;
    let client = plane.client().await?;
    create_namespace(&client, NAMESPACE).await?;
    let kinds = kinds(imports);
    for (kind, versions) in kinds.values() {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let (status, answer) = send(&client, path, &definition(kind, versions)).await?;
        anyhow::ensure!(status == 201, "{}: {answer}", kind.kind);
    }
    for import in imports {
        for one in &import.imported {
            let Some((kind, _)) = kinds.get(&(one.name.group, one.name.kind)) else {
                continue;
            };
            let version = one.manifest["apiVersion"].as_str().unwrap_or_default();
            let path = format!(
                "/apis/{version}/namespaces/{NAMESPACE}/{}?dryRun=All&fieldValidation=Strict",
                kind.plural
            );
            let what = format!("{} to be served", kind.plural);
            let (status, answer) = until_ok(&what, async || {
                match send(&client, &path, &one.manifest).await {
                    Ok((404, answer)) => Err(answer),
                    sent => Ok(sent),
                }
            })
            .await?;
            if status == 201 {
                continue;
            }
            println!("{} {}: {answer}", import.recording, one.name.name);
            let id = one.id.as_str();
            let mut outcomes = import.outcomes.iter_mut();
            if let Some(outcome) = outcomes.find(|outcome| outcome.id.eq_ignore_ascii_case(id)) {
                outcome
                    .problems
                    .insert(format!("the API server refuses it: {status}"));
            }
        }
    }
    Ok(())
}

type Kinds = BTreeMap<(&'static str, &'static str), (&'static KindInfo, BTreeSet<String>)>;

/// The kinds of all manifests, with the versions that they are in.
fn kinds(imports: &[Import]) -> Kinds {
    let mut kinds = Kinds::new();
    for one in imports.iter().flat_map(|import| &import.imported) {
        let name = (one.name.group, one.name.kind);
        let mut known = KINDS.iter();
        let kind = known.find(|kind| (kind.group, kind.kind) == name);
        let version = one.manifest["apiVersion"].as_str();
        let version = version.and_then(|version| Some(version.split_once('/')?.1));
        if let (Some(kind), Some(version)) = (kind, version) {
            let (_, versions) = kinds.entry(name).or_insert_with(|| (kind, BTreeSet::new()));
            versions.insert(version.to_owned());
        }
    }
    kinds
}

/// The CRD with these versions as the operator would install them. There is no operator that converts, so one of them is
/// stored; nothing is, as every request is a dry run.
fn definition(kind: &'static KindInfo, wanted: &BTreeSet<String>) -> Value {
    let options = CrdOptions {
        versions: ServedVersions::All {
            also: wanted.clone(),
        },
        ..CrdOptions::default()
    };
    let mut definition = custom_resource_definition(kind, &options);
    let spec = &mut definition["spec"];
    spec["conversion"] = json!({"strategy": "None"});
    if let Some(versions) = spec["versions"].as_array_mut() {
        versions.retain(|version| {
            let name = version["name"].as_str();
            name.is_some_and(|name| wanted.contains(name))
        });
        for (position, version) in versions.iter_mut().enumerate() {
            version["storage"] = json!(position == 0);
        }
    }
    definition
}

async fn send(client: &kube::Client, path: &str, body: &Value) -> Result<(u16, String)> {
    let request = http::Request::post(path)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string().into_bytes()))
        .context("a request")?;
    let answer = client.send(request).await?;
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect_bytes().await?;
    Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
}
