//! What a cluster has of both operators.

use anyhow::Context;
use armature_runtime::kind::KindInfo;
use armature_runtime::kubernetes::InstalledCrd;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Secret, Service};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use kube::core::Selector;
use serde::Serialize;
use serde_json::Value;

use crate::installation::{CREDENTIAL, OURS};

/// The Service that converts objects for Azure Service Operator and admits them.
pub const SERVICE: &str = "azureserviceoperator-webhook-service";

/// The name of its image, whatever registry it is copied to.
const IMAGE: &str = "azureserviceoperator";

/// Annotation of a Deployment that was stopped: how many pods it had.
pub const BEFORE: &str = "armature.azure.com/replicas-before-takeover";

/// Both kinds of webhooks for admission.
pub const ADMISSION: [&str; 2] = [
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
];

/// A Deployment, and what runs of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Workload {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Pods that are wanted.
    pub replicas: i32,
    /// Pods that have not ended.
    pub pods: usize,
    /// Pods that are ready.
    pub ready: i32,
    /// Pods that were wanted before a takeover stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<i32>,
}

impl Workload {
    /// Whether nothing of it runs, nor will.
    pub fn is_stopped(&self) -> bool {
        self.replicas == 0 && self.pods == 0
    }
}

/// A configuration of webhooks for admission.
#[derive(Clone, Debug, PartialEq)]
pub struct Admission {
    /// One of [`ADMISSION`].
    pub kind: &'static str,
    /// All of it.
    pub object: Value,
}

impl Admission {
    /// Its name.
    pub fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }
}

/// What a cluster has of both operators.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Deployments of Azure Service Operator.
    pub former: Vec<Workload>,
    /// The same, whole.
    pub former_deployments: Vec<Deployment>,
    /// Deployments of Armature.
    pub ours: Vec<Workload>,
    /// What admits objects for Azure Service Operator.
    pub admission: Vec<Admission>,
    /// CRDs of kinds that Armature has.
    pub crds: Vec<InstalledCrd>,
    /// Names of other CRDs that convert at Azure Service Operator.
    pub unknown: Vec<String>,
    /// Namespaces in which the operators run that have the Secret of the operator's own credential.
    pub credentials: Vec<String>,
}

/// Whether a CRD has its objects converted by Azure Service Operator.
pub fn converts_there(crd: &InstalledCrd) -> bool {
    crd.spec.conversion["webhook"]["clientConfig"]["service"]["name"] == SERVICE
}

/// The kind of a CRD, where Armature has it.
pub fn kind_of(crd: &InstalledCrd) -> Option<&'static KindInfo> {
    let mut kinds = armature_generated::KINDS.iter().copied();
    kinds.find(|kind| crd.is_of(kind))
}

impl Found {
    /// Looks at a cluster.
    ///
    /// # Errors
    /// When something cannot be listed.
    pub async fn read(client: &Client) -> anyhow::Result<Self> {
        let crds: Api<InstalledCrd> = Api::all(client.clone());
        let crds = all(&crds).await.context("cannot list the CRDs")?;
        let (crds, others): (Vec<_>, Vec<_>) =
            crds.into_iter().partition(|crd| kind_of(crd).is_some());
        let unknown = others.into_iter().filter(converts_there);
        let mut found = Self {
            crds,
            unknown: unknown.filter_map(|crd| crd.metadata.name).collect(),
            admission: admission(client).await?,
            ..Self::default()
        };
        let services = webhook_services(client).await?;
        let deployments: Api<Deployment> = Api::all(client.clone());
        let deployments = deployments.list(&ListParams::default()).await;
        for deployment in deployments.context("cannot list the Deployments")? {
            let is_ours = is_labelled(&deployment);
            let is_former =
                has_its_image(&deployment) || services.iter().any(|it| is_behind(it, &deployment));
            if !is_ours && !is_former {
                continue;
            }
            let workload = workload(client, &deployment).await?;
            match is_ours {
                true => found.ours.push(workload),
                false => {
                    found.former.push(workload);
                    found.former_deployments.push(deployment);
                }
            }
        }
        for namespace in found.namespaces() {
            let secrets: Api<Secret> = Api::namespaced(client.clone(), &namespace);
            let secret = secrets.get_metadata_opt(CREDENTIAL).await;
            let secret =
                secret.with_context(|| format!("cannot read Secret {namespace}/{CREDENTIAL}"))?;
            found.credentials.extend(secret.map(|_| namespace));
        }
        Ok(found)
    }

    /// Namespaces in which an operator is.
    pub fn namespaces(&self) -> Vec<String> {
        let workloads = self.former.iter().chain(&self.ours);
        let mut names: Vec<_> = workloads
            .map(|workload| workload.namespace.clone())
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

async fn all(api: &Api<InstalledCrd>) -> kube::Result<Vec<InstalledCrd>> {
    let (mut found, mut page) = (Vec::new(), ListParams::default().limit(20));
    loop {
        let listed = api.list(&page).await?;
        found.extend(listed.items);
        match listed.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(found),
        }
    }
}

async fn admission(client: &Client) -> anyhow::Result<Vec<Admission>> {
    let mut found = Vec::new();
    for kind in ADMISSION {
        let listed = admission_api(client, kind)
            .list(&ListParams::default())
            .await;
        for object in listed.with_context(|| format!("cannot list the {kind}s"))? {
            let object = serde_json::to_value(object).context("a webhook has no JSON form")?;
            let webhooks = object["webhooks"].as_array().into_iter().flatten();
            let mut services = webhooks.map(|webhook| &webhook["clientConfig"]["service"]["name"]);
            if services.any(|service| service == SERVICE) {
                found.push(Admission { kind, object });
            }
        }
    }
    Ok(found)
}

/// The way to configurations of webhooks of one kind.
pub fn admission_api(client: &Client, kind: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("admissionregistration.k8s.io", "v1", kind);
    Api::all_with(client.clone(), &ApiResource::from_gvk(&kind))
}

fn is_labelled(deployment: &Deployment) -> bool {
    let labels = deployment.metadata.labels.as_ref();
    OURS.split_once('=').is_some_and(|(name, value)| {
        labels.is_some_and(|labels| labels.get(name).is_some_and(|it| it == value))
    })
}

/// The Services that convert for it: they lead to it, whatever its image is called.
async fn webhook_services(client: &Client) -> anyhow::Result<Vec<Service>> {
    let services: Api<Service> = Api::all(client.clone());
    let named = ListParams::default().fields(&format!("metadata.name={SERVICE}"));
    let found = services.list(&named).await;
    Ok(found
        .with_context(|| format!("cannot list the Services called {SERVICE}"))?
        .items)
}

/// Whether a Service leads to the pods of a Deployment.
fn is_behind(service: &Service, deployment: &Deployment) -> bool {
    let selector = service
        .spec
        .as_ref()
        .and_then(|spec| spec.selector.as_ref());
    let template = deployment.spec.as_ref().map(|spec| &spec.template);
    let labels = template.and_then(|template| template.metadata.as_ref()?.labels.as_ref());
    let (Some(selector), Some(labels)) = (selector, labels) else {
        return false;
    };
    let is_in_place = service.metadata.namespace == deployment.metadata.namespace;
    let is_labelled = |(name, value): (&String, &String)| labels.get(name) == Some(value);
    is_in_place && !selector.is_empty() && selector.iter().all(is_labelled)
}

fn has_its_image(deployment: &Deployment) -> bool {
    let template = deployment
        .spec
        .as_ref()
        .and_then(|spec| spec.template.spec.as_ref());
    let containers = template.into_iter().flat_map(|pod| &pod.containers);
    let mut images = containers.filter_map(|container| container.image.as_ref());
    images.any(|image| is_its_image(image))
}

/// Whether a reference names its image: in any registry, with a tag, a digest, both or neither.
pub fn is_its_image(image: &str) -> bool {
    let name = image.split('@').next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    name.split(':').next() == Some(IMAGE)
}

async fn workload(client: &Client, deployment: &Deployment) -> anyhow::Result<Workload> {
    let metadata = &deployment.metadata;
    let namespace = metadata.namespace.clone().unwrap_or_default();
    let spec = deployment.spec.as_ref();
    let pods: Api<Pod> = Api::namespaced(client.clone(), &namespace);
    let labels = spec.and_then(|spec| spec.selector.match_labels.clone());
    let selector = Selector::from_iter(labels.unwrap_or_default());
    let pods = pods
        .list(&ListParams::default().labels_from(&selector))
        .await;
    let pods = pods.with_context(|| format!("cannot list the pods of namespace {namespace}"))?;
    let has_ended = |pod: &&Pod| {
        let phase = pod
            .status
            .as_ref()
            .and_then(|status| status.phase.as_deref());
        !matches!(phase, Some("Succeeded" | "Failed"))
    };
    let status = deployment.status.as_ref();
    let annotations = metadata.annotations.as_ref();
    let before = annotations.and_then(|annotations| annotations.get(BEFORE));
    Ok(Workload {
        namespace,
        name: metadata.name.clone().unwrap_or_default(),
        replicas: spec.and_then(|spec| spec.replicas).unwrap_or(1),
        pods: pods.iter().filter(has_ended).count(),
        ready: status.and_then(|status| status.ready_replicas).unwrap_or(0),
        before: before.and_then(|text| text.parse().ok()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn a_deployment_is_found_by_the_service_that_leads_to_it() {
        let service = |selector: Value| -> Service {
            let metadata = json!({"name": SERVICE, "namespace": "aso"});
            from_value(json!({"metadata": metadata, "spec": {"selector": selector}})).unwrap()
        };
        let deployment = |namespace: &str| -> Deployment {
            let labels = json!({"control-plane": "controller-manager", "more": "x"});
            from_value(json!({
                "metadata": {"name": "renamed", "namespace": namespace},
                "spec": {
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}},
                },
            }))
            .unwrap()
        };
        let ours = service(json!({"control-plane": "controller-manager"}));
        assert!(is_behind(&ours, &deployment("aso")));
        assert!(!is_behind(&ours, &deployment("elsewhere")));
        for other in [json!({}), json!({"control-plane": "another"})] {
            assert!(!is_behind(&service(other), &deployment("aso")));
        }
    }
}
