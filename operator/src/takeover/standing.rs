//! What stands beside Azure Service Operator's Deployment and acts on it, or on who comes in its place: whoever applies it, and bindings
//! of its service account.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, RoleBinding, Subject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{Api, ListParams};

use super::exception::Exception;

/// Labels of Flux's objects that apply others, each with the kind and the label of its namespace.
const FLUX: [(&str, &str, &str); 2] = [
    (
        "HelmRelease",
        "helm.toolkit.fluxcd.io/name",
        "helm.toolkit.fluxcd.io/namespace",
    ),
    (
        "Kustomization",
        "kustomize.toolkit.fluxcd.io/name",
        "kustomize.toolkit.fluxcd.io/namespace",
    ),
];

/// How Argo CD marks what it applies: `APPLICATION:GROUP/KIND:NAMESPACE/NAME`.
const ARGO: &str = "argocd.argoproj.io/tracking-id";

/// Who applies a Deployment again and again: it would start what a takeover has stopped, and where it is deleted it deletes the Secret and
/// the service account that are Armature's by then.
pub fn kept_by(deployment: &Deployment) -> Option<Exception> {
    let metadata = &deployment.metadata;
    let text = |map: &Option<std::collections::BTreeMap<String, String>>, name: &str| {
        map.as_ref().and_then(|map| map.get(name)).cloned()
    };
    let of = format!(
        "Deployment {}/{}",
        metadata.namespace.as_deref().unwrap_or_default(),
        metadata.name.as_deref().unwrap_or_default()
    );
    for (kind, name, namespace) in FLUX {
        if let Some(name) = text(&metadata.labels, name) {
            let namespace = text(&metadata.labels, namespace).unwrap_or_default();
            let message = format!(
                "Flux's {kind} {namespace}/{name} applies it, and starts it again when it is stopped: suspend that first, and take it out of git \
                 suspended (deleting it deletes the Secret and the service account, too)"
            );
            return Some(Exception::new(of, message));
        }
    }
    let tracked = text(&metadata.annotations, ARGO)?;
    let application = tracked.split(':').next().unwrap_or_default();
    let message = format!(
        "Argo CD's application {application} applies it, and starts it again when it is stopped: switch its automatic sync off first, and delete \
         it without its resources (--cascade=orphan; else the Secret and the service account go, too)"
    );
    Some(Exception::new(of, message))
}

/// The bindings that give a service account rights, but for those that Armature's chart made.
///
/// # Errors
/// When they cannot be listed.
pub async fn bindings(
    client: &Client,
    (namespace, account): (&str, &str),
) -> kube::Result<Vec<String>> {
    let all = ListParams::default();
    let of_cluster: Api<ClusterRoleBinding> = Api::all(client.clone());
    let of_cluster = of_cluster.list(&all).await?.items.into_iter();
    let of_cluster = of_cluster.map(|it| ("ClusterRoleBinding", it.metadata, it.subjects));
    let of_namespaces: Api<RoleBinding> = Api::all(client.clone());
    let of_namespaces = of_namespaces.list(&all).await?.items.into_iter();
    let of_namespaces = of_namespaces.map(|it| ("RoleBinding", it.metadata, it.subjects));
    let named = of_cluster
        .chain(of_namespaces)
        .filter(|(_, metadata, subjects)| {
            let mut subjects = subjects.iter().flatten();
            subjects.any(|it| is_account(it, namespace, account)) && !is_ours(metadata)
        });
    let mut named: Vec<String> = named
        .map(|(kind, metadata, _)| named_in(kind, metadata))
        .collect();
    named.sort();
    Ok(named)
}

fn is_account(subject: &Subject, namespace: &str, account: &str) -> bool {
    subject.kind == "ServiceAccount"
        && subject.name == account
        && subject.namespace.as_deref() == Some(namespace)
}

fn is_ours(metadata: &ObjectMeta) -> bool {
    let labels = metadata.labels.as_ref();
    labels.is_some_and(|labels| {
        labels
            .get("app.kubernetes.io/name")
            .is_some_and(|name| name == "armature")
    })
}

fn named_in(kind: &str, metadata: ObjectMeta) -> String {
    let name = metadata.name.unwrap_or_default();
    match metadata.namespace {
        None => format!("{kind} {name}"),
        Some(namespace) => format!("{kind} {namespace}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn who_applies_the_deployment_is_told() {
        for (metadata, expected) in [
            (
                json!({"labels": {"app.kubernetes.io/managed-by": "Helm"}}),
                None,
            ),
            (
                json!({"labels": {"helm.toolkit.fluxcd.io/name": "aso", "helm.toolkit.fluxcd.io/namespace": "flux"}}),
                Some("Flux's HelmRelease flux/aso applies it"),
            ),
            (
                json!({"annotations": {"argocd.argoproj.io/tracking-id": "aso:apps/Deployment:aso/controller"}}),
                Some("Argo CD's application aso applies it"),
            ),
        ] {
            let deployment: Deployment = from_value(json!({"metadata": metadata})).unwrap();
            let told = kept_by(&deployment).map(|it| it.message);
            assert_eq!(told.is_some(), expected.is_some(), "{told:?}");
            let told = told.unwrap_or_default();
            assert!(told.starts_with(expected.unwrap_or_default()), "{told}");
        }
    }

    #[test]
    fn a_binding_names_the_account_of_its_namespace() {
        let subject = |kind: &str, namespace: Option<&str>, name: &str| Subject {
            kind: kind.to_owned(),
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            ..Subject::default()
        };
        for (subject, expected) in [
            (subject("ServiceAccount", Some("aso"), "account"), true),
            (subject("ServiceAccount", Some("other"), "account"), false),
            (subject("ServiceAccount", None, "account"), false),
            (subject("User", Some("aso"), "account"), false),
        ] {
            assert_eq!(is_account(&subject, "aso", "account"), expected);
        }
    }
}
