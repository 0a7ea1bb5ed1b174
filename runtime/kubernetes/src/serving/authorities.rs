//! The authorities of a certificate of ours, where whoever checks it may read them: in a ConfigMap, so that nobody needs to read the
//! Secret in which their keys are.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::json;

use crate::error::message;
use crate::names::FIELD_MANAGER;

/// Puts them, by their key, into the ConfigMap. Nothing of the operator's depends on it: a role of an earlier release does not allow it.
pub(super) async fn publish(config_maps: &Api<ConfigMap>, name: &str, bundle: (&str, &str)) {
    match try_publish(config_maps, name, bundle).await {
        Ok(()) => {}
        // Another replica was first, with the same.
        Err(kube::Error::Api(status)) if status.is_conflict() || status.is_already_exists() => {}
        Err(error) => {
            let error = message(&error);
            tracing::warn!(config_map = name, %error, "the authorities of the certificate are in its Secret alone");
        }
    }
}

async fn try_publish(
    config_maps: &Api<ConfigMap>,
    name: &str,
    (key, bundle): (&str, &str),
) -> kube::Result<()> {
    let data = BTreeMap::from([(key.to_owned(), bundle.to_owned())]);
    let Some(known) = config_maps.get_opt(name).await? else {
        let parameters = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        let mut wanted = ConfigMap {
            data: Some(data),
            ..ConfigMap::default()
        };
        wanted.metadata.name = Some(name.to_owned());
        return config_maps.create(&parameters, &wanted).await.map(drop);
    };
    let is_known = known.data.as_ref().and_then(|data| data.get(key)) == data.get(key);
    if !is_known {
        let parameters = PatchParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let patch = Patch::Merge(json!({ "data": data }));
        config_maps.patch(name, &parameters, &patch).await?;
    }
    Ok(())
}
