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

use super::installed::InstalledCrd;
use super::names::FIELD_MANAGER;
use crate::kind::KindInfo;

/// CRDs that are written at the same time.
const CONCURRENT_WRITES: usize = 4;

/// CRDs in one page: they are large, and only a few bytes of each are kept.
const PAGE: u32 = 20;

/// How the API server reaches the conversion webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookAddress {
    /// A URL, for a webhook outside the cluster.
    Url(String),
    /// A Service in the cluster; the path is `/convert`.
    Service {
        /// Namespace of the Service.
        namespace: String,
        /// Name of the Service.
        name: String,
        /// Port of the Service.
        port: u16,
    },
}

/// Why CRDs are not installed.
#[derive(Debug, thiserror::Error)]
pub enum CrdError {
    /// The server refused a CRD.
    #[error("the Kubernetes API refused CRD {name}: {source}")]
    Refused {
        /// Name of the CRD.
        name: String,
        /// What the server said.
        source: Box<kube::Error>,
    },
    /// CRDs cannot be listed.
    #[error("cannot list the installed CRDs: {0}")]
    List(#[source] Box<kube::Error>),
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
    address: WebhookAddress,
}

impl CrdInstaller {
    /// An installer whose CRDs convert through the webhook at this address.
    pub fn new(client: Client, address: WebhookAddress) -> Self {
        Self {
            crds: Api::all(client),
            address,
        }
    }

    /// The CRDs on the server, of whatever origin.
    pub async fn installed(&self) -> Result<Vec<InstalledCrd>, CrdError> {
        let mut found = Vec::new();
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let listed = self.crds.list(&page).await;
            let listed = listed.map_err(|source| CrdError::List(Box::new(source)))?;
            found.extend(listed.items);
            match listed.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(found),
            }
        }
    }

    /// Creates or updates the CRDs, each a complete manifest, so that the API server trusts the webhook through
    /// this bundle of authorities (PEM). Fields that others manage stay theirs.
    pub async fn apply(&self, crds: Vec<Value>, bundle: &str) -> Result<(), CrdError> {
        stream::iter(crds.into_iter().map(Ok))
            .try_for_each_concurrent(CONCURRENT_WRITES, |mut crd| async move {
                crd["spec"]["conversion"] = self.conversion(bundle);
                let name = crd["metadata"]["name"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                let parameters = PatchParams::apply(FIELD_MANAGER).force();
                self.crds
                    .patch_metadata(&name, &parameters, &Patch::Apply(&crd))
                    .await
                    .map(drop)
                    .map_err(|source| refused(name, source))
            })
            .await
    }

    /// Points the conversion of installed CRDs at the webhook, trusted through this bundle; nothing else of them
    /// is touched.
    pub async fn point_conversion(
        &self,
        kinds: &[&'static KindInfo],
        bundle: &str,
    ) -> Result<(), CrdError> {
        let patch = json!({ "spec": { "conversion": self.conversion(bundle) } });
        for kind in kinds {
            let name = crd_name(kind);
            self.crds
                .patch_metadata(&name, &PatchParams::default(), &Patch::Merge(&patch))
                .await
                .map_err(|source| refused(name, source))?;
        }
        Ok(())
    }

    /// Waits until the kinds are served.
    pub async fn wait_established(
        &self,
        kinds: &[&'static KindInfo],
        limit: Duration,
    ) -> Result<(), CrdError> {
        let mut waiting: BTreeSet<String> = kinds.iter().map(|kind| crd_name(kind)).collect();
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
                        waiting.remove(&crd_name(kind));
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => tracing::debug!(%error, "the watch of CRDs was interrupted"),
                None => return,
            }
        }
    }

    fn conversion(&self, bundle: &str) -> Value {
        let mut client = match &self.address {
            WebhookAddress::Url(url) => json!({ "url": url }),
            WebhookAddress::Service {
                namespace,
                name,
                port,
            } => json!({
                "service": { "namespace": namespace, "name": name, "path": "/convert", "port": port }
            }),
        };
        client["caBundle"] = BASE64_STANDARD.encode(bundle).into();
        json!({
            "strategy": "Webhook",
            "webhook": { "conversionReviewVersions": ["v1"], "clientConfig": client },
        })
    }
}

/// Name of a kind's CRD.
pub fn crd_name(kind: &KindInfo) -> String {
    format!("{}.{}", kind.plural, kind.group)
}

fn refused(name: String, source: kube::Error) -> CrdError {
    CrdError::Refused {
        name,
        source: Box::new(source),
    }
}
