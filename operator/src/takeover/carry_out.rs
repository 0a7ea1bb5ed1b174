//! What is done for a step.

use std::collections::BTreeSet;

use anyhow::Context;
use armature_runtime::kubernetes::InstalledCrd;
use k8s_openapi::api::apps::v1::Deployment;
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Map, Value, json};

use super::found::{ADMISSION, BEFORE, Found, Workload, admission_api};
use super::record::Record;
use super::steps::Task;

/// Does a task. What is done already is no error.
///
/// # Errors
/// When the API server refuses it.
pub async fn carry_out(
    client: &Client,
    namespace: &str,
    task: &Task,
    found: &Found,
    record: Option<&Record>,
    not_ready: &BTreeSet<String>,
) -> anyhow::Result<()> {
    match task {
        Task::KeepRecord => {
            let record = Record::of(found, not_ready.clone());
            record.keep(client, namespace).await
        }
        Task::Stop(workload) => {
            let mut annotations = Map::new();
            annotations.insert(BEFORE.to_owned(), workload.replicas.to_string().into());
            scale(client, workload, 0, annotations).await
        }
        Task::Start(workload) => {
            let mut annotations = Map::new();
            annotations.insert(BEFORE.to_owned(), Value::Null);
            scale(client, workload, workload.before.unwrap_or(1), annotations).await
        }
        Task::RemoveAdmission => remove_admission(client, found).await,
        Task::RestoreAdmission => restore_admission(client, record).await,
        Task::TakeOutStatus(names) => take_out_status(client, names).await,
        Task::RestoreConversion(names) => restore_conversion(client, names, record).await,
    }
}

async fn scale(
    client: &Client,
    workload: &Workload,
    replicas: i32,
    annotations: Map<String, Value>,
) -> anyhow::Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), &workload.namespace);
    let patch = json!({
        "metadata": { "annotations": annotations },
        "spec": { "replicas": replicas },
    });
    let (parameters, patch) = (PatchParams::default(), Patch::Merge(patch));
    let patched = deployments.patch(&workload.name, &parameters, &patch).await;
    patched.with_context(|| {
        format!(
            "cannot scale Deployment {}/{} to {replicas}",
            workload.namespace, workload.name
        )
    })?;
    Ok(())
}

async fn remove_admission(client: &Client, found: &Found) -> anyhow::Result<()> {
    for admission in &found.admission {
        let api = admission_api(client, admission.kind);
        let removed = api.delete(admission.name(), &DeleteParams::default()).await;
        removed
            .with_context(|| format!("cannot delete {} {}", admission.kind, admission.name()))?;
    }
    Ok(())
}

async fn restore_admission(client: &Client, record: Option<&Record>) -> anyhow::Result<()> {
    for kept in record.into_iter().flat_map(|record| &record.admission) {
        let kind = ADMISSION.into_iter().find(|kind| kept["kind"] == *kind);
        let kind = kind.context("the record names a webhook of no known kind")?;
        let mut object: DynamicObject = serde_json::from_value(kept.clone())
            .context("the record has a webhook that cannot be read")?;
        object.types = None;
        match admission_api(client, kind)
            .create(&PostParams::default(), &object)
            .await
        {
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            created => {
                created.with_context(|| {
                    format!("cannot create {kind} {}", kept["metadata"]["name"])
                })?;
            }
        }
    }
    Ok(())
}

/// Which properties of a schema have a `default` that the API server fills in for objects.
const DEFAULTS: [&str; 2] = ["/status", "/status/properties/conditions"];

/// How often a CRD is written that others change at the same time.
const WRITE_ATTEMPTS: usize = 5;

async fn take_out_status(client: &Client, names: &[String]) -> anyhow::Result<()> {
    let crd = ApiResource::erase::<InstalledCrd>(&());
    let crds: Api<DynamicObject> = Api::all_with(client.clone(), &crd);
    for name in names {
        let changed = without_defaults(&crds, name).await;
        changed.with_context(|| format!("cannot change CRD {name}"))?;
    }
    Ok(())
}

/// Takes the defaults out of one CRD. What somebody writes in between is not lost: the API server refuses an older version of
/// the CRD, which is read again then.
async fn without_defaults(crds: &Api<DynamicObject>, name: &str) -> kube::Result<()> {
    let mut attempts = WRITE_ATTEMPTS;
    loop {
        let mut crd = crds.get(name).await?;
        let versions = crd.data["spec"]["versions"].as_array_mut();
        for version in versions.into_iter().flatten() {
            let properties = &mut version["schema"]["openAPIV3Schema"]["properties"];
            for parent in DEFAULTS {
                let parent = properties
                    .pointer_mut(parent)
                    .and_then(Value::as_object_mut);
                parent.and_then(|parent| parent.remove("default"));
            }
        }
        attempts -= 1;
        match crds.replace(name, &PostParams::default(), &crd).await {
            Err(kube::Error::Api(status)) if status.is_conflict() && attempts > 0 => {}
            replaced => return replaced.map(drop),
        }
    }
}

async fn restore_conversion(
    client: &Client,
    names: &[String],
    record: Option<&Record>,
) -> anyhow::Result<()> {
    let crds: Api<InstalledCrd> = Api::all(client.clone());
    for name in names {
        let kept = record.and_then(|record| record.crds.get(name));
        let kept = kept.with_context(|| format!("the record has no CRD {name}"))?;
        let mut conversion = kept.conversion.clone();
        if let Some(config) = conversion.pointer_mut("/webhook/clientConfig") {
            // Of the two, a CRD has one.
            for way in ["url", "service"] {
                config[way] = config[way].take();
            }
        }
        let patch = json!({
            "metadata": { "annotations": kept.annotations },
            "spec": { "conversion": conversion },
        });
        let (parameters, patch) = (PatchParams::default(), Patch::Merge(patch));
        let patched = crds.patch_metadata(name, &parameters, &patch).await;
        patched.with_context(|| format!("cannot change CRD {name}"))?;
    }
    Ok(())
}
