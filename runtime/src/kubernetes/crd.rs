//! Installs CRDs and keeps their conversion pointed at the webhook. What a CRD contains comes from outside.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures::{StreamExt, TryStreamExt, stream};
use kube::Client;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, Event, watcher};
use serde_json::{Value, json};

use super::error::message;
use super::installed::InstalledCrd;
use super::labels::CrdLabels;
use super::names::FIELD_MANAGER;
use crate::engine::crd::{
    ConversionWebhook, CrdOptions, ServedVersions, WebhookEndpoint, custom_resource_definition,
    name,
};
use crate::kind::KindInfo;

/// CRDs that are written at the same time.
const CONCURRENT_WRITES: usize = 4;

/// CRDs in one page: they are large, and only a few bytes of each are kept.
const PAGE: u32 = 20;

/// Why CRDs are not installed.
#[derive(Debug, thiserror::Error)]
pub enum CrdError {
    /// The server refused a CRD.
    #[error("the Kubernetes API refused CRD {name}: {message}")]
    Refused {
        /// Name of the CRD.
        name: String,
        /// What the server said.
        message: String,
    },
    /// CRDs cannot be listed.
    #[error("cannot list the installed CRDs: {message}")]
    List {
        /// What the server said.
        message: String,
    },
    /// Some CRDs are not served in time.
    #[error(
        "these CRDs were not established within {seconds} s: {names}; `kubectl describe crd` says why"
    )]
    NotEstablished {
        /// How long was waited.
        seconds: u64,
        /// Names and what their conditions say.
        names: String,
    },
}

/// Installs CRDs on one API server.
#[derive(Clone)]
pub struct CrdInstaller {
    crds: Api<InstalledCrd>,
    endpoint: WebhookEndpoint,
    labels: CrdLabels,
}

impl CrdInstaller {
    /// An installer whose CRDs convert through the webhook at this endpoint, and that carry these labels.
    pub fn new(client: Client, endpoint: WebhookEndpoint, labels: CrdLabels) -> Self {
        Self {
            crds: Api::all(client),
            endpoint,
            labels,
        }
    }

    /// The CRDs on the server, of whatever origin.
    pub async fn installed(&self) -> Result<Vec<InstalledCrd>, CrdError> {
        let mut found = Vec::new();
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let listed = self.crds.list(&page).await;
            let listed = listed.map_err(|error| CrdError::List {
                message: message(&error),
            })?;
            found.extend(listed.items);
            match listed.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(found),
            }
        }
    }

    /// Creates or updates the CRDs of these kinds, each serving the versions chosen for it, so that the API server
    /// trusts the webhook through this bundle of authorities (PEM). Fields that others manage stay theirs.
    pub async fn apply(
        &self,
        kinds: &[(&'static KindInfo, ServedVersions)],
        bundle: &str,
    ) -> Result<(), CrdError> {
        let parameters = PatchParams::apply(FIELD_MANAGER).force();
        let written = kinds.iter().map(|(kind, versions)| {
            // Composed one by one: all of them together take megabytes.
            let crd = self.compose(kind, versions.clone(), bundle);
            self.write(kind, &parameters, Patch::Apply(crd))
        });
        stream::iter(written)
            .buffer_unordered(CONCURRENT_WRITES)
            .try_collect()
            .await
    }

    /// Points the conversion of installed CRDs at the webhook, trusted through this bundle; nothing else of them
    /// is touched.
    pub async fn point_conversion(
        &self,
        kinds: &[&'static KindInfo],
        bundle: &str,
    ) -> Result<(), CrdError> {
        let parameters = PatchParams::default();
        for kind in kinds {
            let mut crd = self.compose(kind, ServedVersions::All, bundle);
            let conversion = crd["spec"]["conversion"].take();
            let patch = json!({ "spec": { "conversion": conversion } });
            self.write(kind, &parameters, Patch::Merge(patch)).await?;
        }
        Ok(())
    }

    fn compose(&self, kind: &KindInfo, versions: ServedVersions, bundle: &str) -> Value {
        let options = CrdOptions {
            conversion: Some(ConversionWebhook {
                endpoint: self.endpoint.clone(),
                ca_bundle: Some(BASE64_STANDARD.encode(bundle)),
            }),
            versions,
            labels: self.labels.0.clone(),
            operator_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        custom_resource_definition(kind, &options)
    }

    async fn write(
        &self,
        kind: &KindInfo,
        parameters: &PatchParams,
        patch: Patch<Value>,
    ) -> Result<(), CrdError> {
        let name = name(kind);
        match self.crds.patch_metadata(&name, parameters, &patch).await {
            Ok(_) => Ok(()),
            Err(error) => Err(CrdError::Refused {
                name,
                message: message(&error),
            }),
        }
    }

    /// Waits until the kinds are served.
    pub async fn wait_established(
        &self,
        kinds: &[&'static KindInfo],
        limit: Duration,
    ) -> Result<(), CrdError> {
        let mut waiting: BTreeSet<String> = kinds.iter().map(|kind| name(kind)).collect();
        let waited = tokio::time::timeout(limit, self.established(kinds, &mut waiting)).await;
        if waited.is_ok() && waiting.is_empty() {
            return Ok(());
        }
        Err(CrdError::NotEstablished {
            seconds: limit.as_secs(),
            names: waiting.into_iter().collect::<Vec<_>>().join(", "),
        })
    }

    async fn established(&self, kinds: &[&'static KindInfo], waiting: &mut BTreeSet<String>) {
        let config = Config::default().page_size(PAGE);
        let mut events = pin!(watcher(self.crds.clone(), config).default_backoff());
        while !waiting.is_empty() {
            match events.next().await {
                Some(Ok(Event::InitApply(crd) | Event::Apply(crd))) => {
                    let served = kinds
                        .iter()
                        .find(|kind| crd.is_of(kind))
                        .filter(|kind| crd.serves(kind));
                    if let Some(kind) = served {
                        waiting.remove(&name(kind));
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => tracing::debug!(%error, "the watch of CRDs was interrupted"),
                None => return,
            }
        }
    }
}
