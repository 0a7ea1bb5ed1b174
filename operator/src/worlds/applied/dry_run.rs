//! What the API server says to a manifest without storing it: its own admission, policies and webhooks among it.

use armature_runtime::resource::ObjectKey;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use serde_json::Value;

use super::live::Live;

/// Whose fields they would be. Nothing is stored, so nobody sees it.
const MANAGER: &str = "armature-plan";

/// What only an API server writes: it takes nobody else's word for it.
const SERVERS: [&str; 5] = [
    "creationTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
];

/// What became of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It would be stored.
    Taken,
    /// It would not: why.
    Refused(String),
    /// Nobody can tell: why.
    Unknown(String),
}

impl Live {
    /// Asks the API server to apply a manifest without storing it.
    pub async fn dry_run(&self, key: &ObjectKey, manifest: &Value) -> Verdict {
        let version = manifest["apiVersion"].as_str().unwrap_or_default();
        let (_, version) = version.split_once('/').unwrap_or_default();
        let kind = key.kind.0;
        let gvk = GroupVersionKind::gvk(kind.group, version, kind.kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, kind.plural);
        let client = self.client().clone();
        let api: Api<DynamicObject> = Api::namespaced_with(client, &key.namespace, &resource);
        let mut manifest = manifest.clone();
        if let Some(metadata) = manifest["metadata"].as_object_mut() {
            metadata.retain(|name, _| !SERVERS.contains(&name.as_str()));
        }
        let parameters = PatchParams::apply(MANAGER).force().dry_run();
        let patch = Patch::Apply(&manifest);
        match api.patch(&key.name, &parameters, &patch).await {
            Ok(_) => Verdict::Taken,
            Err(kube::Error::Api(status)) => verdict(status.code, &status.message),
            Err(error) => Verdict::Unknown(error.to_string()),
        }
    }
}

/// What an error of the API server says of a manifest.
fn verdict(code: u16, message: &str) -> Verdict {
    let lacks_right = ["cannot patch resource", "cannot create resource"];
    let is_about_rights = lacks_right.iter().any(|text| message.contains(text));
    match code {
        401 => Verdict::Unknown(message.to_owned()),
        403 if is_about_rights => Verdict::Unknown(message.to_owned()),
        // A webhook that would be asked in earnest, and that cannot be asked without.
        400 if message.contains("does not support dry run") => Verdict::Unknown(message.to_owned()),
        // The kind is not installed, or the namespace is not there yet; and somebody changed the object at this moment.
        404 | 409 => Verdict::Unknown(message.to_owned()),
        400..500 if code != 429 => Verdict::Refused(message.to_owned()),
        _ => Verdict::Unknown(message.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_about_the_manifest_refuses_it() {
        for (code, message, is_refused) in [
            (
                422,
                "ValidatingAdmissionPolicy 'regions' with binding 'all' denied request: no",
                true,
            ),
            (
                403,
                "admission webhook \"policy.example\" denied the request: no",
                true,
            ),
            (403, "accounts is forbidden: exceeded quota: few", true),
            (
                400,
                "admission webhook \"policy.example\" does not support dry run",
                false,
            ),
            (
                403,
                "storageaccounts.storage.azure.com \"a\" is forbidden: User \"eve\" cannot patch resource \"storageaccounts\"",
                false,
            ),
            (401, "Unauthorized", false),
            (404, "namespaces \"new\" not found", false),
            (429, "too many requests", false),
            (
                500,
                "failed calling webhook \"policy.example\": refused",
                false,
            ),
        ] {
            let found = verdict(code, message);
            assert_eq!(
                matches!(found, Verdict::Refused(_)),
                is_refused,
                "{code} {message}"
            );
            assert_ne!(found, Verdict::Taken);
        }
    }
}
