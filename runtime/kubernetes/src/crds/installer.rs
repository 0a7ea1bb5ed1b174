//! Installs CRDs and keeps their conversion pointed at the webhook. What a CRD contains comes from outside.

use std::collections::BTreeSet;
use std::pin::{Pin, pin};
use std::time::Duration;

use armature_engine::crd::{
    ConversionWebhook, CrdOptions, WebhookEndpoint, custom_resource_definition, name,
};
use armature_shapes::kind::KindInfo;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures::stream::FuturesUnordered;
use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::core::{ObjectList, Request};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Config, Event, watcher};
use serde_json::{Map, Value, json};

use super::installed::{INJECTIONS, InstalledCrd};
use super::labels::CrdLabels;
use super::versions::CrdVersions;
use crate::error::message;
use crate::names::FIELD_MANAGER;
use crate::stored::written::{Written, WrittenObject};

/// CRDs that are written at the same time.
const CONCURRENT_WRITES: usize = 4;

/// CRDs in one page: they are large, and only a few bytes of each are kept.
const PAGE: u32 = 20;

/// Objects in one page, which is in memory as a whole: each may be 1.5 MB long, and only a few bytes of it are kept.
const OBJECT_PAGE: u32 = 50;

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
    /// The objects of a kind cannot be listed.
    #[error("cannot see which versions objects of {name} were written by: {message}")]
    Objects {
        /// Name of the CRD.
        name: String,
        /// What the server said.
        message: String,
    },
    /// Some CRDs are not served in time.
    #[error(
        "these CRDs are not established, and no other one was within {seconds} s: {names}; `kubectl describe crd` says why"
    )]
    NotEstablished {
        /// How long was waited for one more.
        seconds: u64,
        /// Names and what their conditions say.
        names: String,
    },
}

/// Where a CRD has its objects converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// Nowhere.
    Nowhere,
    /// By our webhook, trusted as it must be.
    Here,
    /// By our webhook, through another bundle of authorities.
    HereOutdated,
    /// By another webhook.
    Elsewhere,
}

/// The CRDs on a server, of whatever origin.
///
/// # Errors
/// [`CrdError::List`] when they cannot be listed.
pub async fn installed_crds(client: &Client) -> Result<Vec<InstalledCrd>, CrdError> {
    let crds: Api<InstalledCrd> = Api::all(client.clone());
    let mut found = Vec::new();
    let mut page = ListParams::default().limit(PAGE);
    loop {
        let listed = crds.list(&page).await;
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

/// By which versions the objects of an installed CRD were written; nothing where we may not see all objects, or where they
/// cannot be read as they are stored.
///
/// # Errors
/// [`CrdError::Objects`] when they cannot be listed.
pub async fn written(
    client: &Client,
    kind: &KindInfo,
    crd: &InstalledCrd,
) -> Result<Option<Written>, CrdError> {
    // Read as they are stored, without the webhook's help.
    let mut versions = crd.spec.versions.iter();
    let Some(storage) = versions.find(|version| version.storage && version.served) else {
        return Ok(None);
    };
    let path = format!("/apis/{}/{}/{}", kind.group, storage.name, kind.plural);
    let failed = |message: String| {
        let name = name(kind);
        CrdError::Objects { name, message }
    };
    let mut written = Written::default();
    let mut page = ListParams::default().limit(OBJECT_PAGE);
    loop {
        let request = Request::new(&path).list(&page);
        let request = request.map_err(|error| failed(error.to_string()))?;
        let listed: ObjectList<WrittenObject> = match client.request(request).await {
            Ok(listed) => listed,
            Err(kube::Error::Api(status)) if status.is_forbidden() => return Ok(None),
            Err(error) => return Err(failed(message(&error))),
        };
        for object in &listed.items {
            written.add(kind, object);
        }
        match listed.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(Some(written)),
        }
    }
}

/// Installs CRDs on one API server.
#[derive(Clone)]
pub struct CrdInstaller {
    client: Client,
    crds: Api<InstalledCrd>,
    endpoint: WebhookEndpoint,
    labels: CrdLabels,
    amendments: Vec<(&'static str, Amend)>,
}

/// Adds something to a kind's CRD, such as texts for people in its schemas.
pub type Amend = fn(&KindInfo, &mut Value);

impl CrdInstaller {
    /// An installer whose CRDs convert through the webhook at this endpoint, and that carry these labels.
    pub fn new(client: Client, endpoint: WebhookEndpoint, labels: CrdLabels) -> Self {
        Self {
            crds: Api::all(client.clone()),
            client,
            endpoint,
            labels,
            amendments: Vec::new(),
        }
    }

    /// The same with CRDs that have something added, under a name that tells it from other additions.
    #[must_use]
    pub fn amended(mut self, name: &'static str, amend: Amend) -> Self {
        self.amendments.push((name, amend));
        self
    }

    /// The CRDs on the server, of whatever origin.
    pub async fn installed(&self) -> Result<Vec<InstalledCrd>, CrdError> {
        installed_crds(&self.client).await
    }

    /// Creates or updates the CRDs of these kinds, each with the versions chosen for it, so that the API server
    /// trusts the webhook through this bundle of authorities (PEM). Fields that others manage stay theirs. Returns the metadata
    /// that they have then.
    pub async fn apply(
        &self,
        crds: &[(&'static KindInfo, CrdVersions)],
        bundle: &str,
    ) -> Result<Vec<ObjectMeta>, CrdError> {
        let parameters = PatchParams::apply(FIELD_MANAGER).force();
        let mut writes = FuturesUnordered::new();
        let mut became = Vec::new();
        for (kind, versions) in crds {
            if writes.len() == CONCURRENT_WRITES {
                became.extend(writes.try_next().await?);
            }
            // Composed one by one: all of them together take megabytes.
            let crd = self.compose(kind, versions, bundle);
            writes.push(self.write(name(kind), &parameters, Patch::Apply(crd)));
        }
        while let Some(metadata) = writes.try_next().await? {
            became.push(metadata);
        }
        Ok(became)
    }

    /// All that decides what [`CrdInstaller::apply`] makes of these kinds, but for the program itself.
    pub fn decided_by(&self, crds: &[(&'static KindInfo, CrdVersions)], bundle: &str) -> Value {
        let kinds = crds
            .iter()
            .map(|(kind, versions)| format!("{}: {versions:?}", name(kind)));
        json!({
            "conversion": self.webhook(bundle).to_json(),
            "labels": self.labels.0,
            "amendments": self.amendments.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "kinds": kinds.collect::<Vec<_>>(),
        })
    }

    /// Points the conversion of installed CRDs at the webhook, trusted through this bundle. Who made a CRD may have had
    /// cert-manager write another bundle, which ends; nothing else of them is touched.
    pub async fn point_conversion(
        &self,
        kinds: &[&'static KindInfo],
        bundle: &str,
    ) -> Result<(), CrdError> {
        let parameters = PatchParams::default();
        let nobody: Map<String, Value> = INJECTIONS
            .map(|annotation| (annotation.to_owned(), Value::Null))
            .into_iter()
            .collect();
        let mut conversion = self.webhook(bundle).to_json();
        let config = &mut conversion["webhook"]["clientConfig"];
        // A CRD has one of the two, and may have the other one until now.
        for way in ["service", "url"] {
            config[way] = config[way].take();
        }
        for kind in kinds {
            let patch = json!({
                "metadata": { "annotations": nobody },
                "spec": { "conversion": conversion },
            });
            self.write(name(kind), &parameters, Patch::Merge(patch))
                .await?;
        }
        Ok(())
    }

    /// Where an installed CRD has its objects converted, compared with our webhook and this bundle.
    pub fn conversion(&self, crd: &InstalledCrd, bundle: &str) -> Conversion {
        let there = &crd.spec.conversion;
        if there["strategy"] != "Webhook" {
            return Conversion::Nowhere;
        }
        let mut there = there["webhook"]["clientConfig"].clone();
        let mut here = self.webhook(bundle).to_json()["webhook"]["clientConfig"].take();
        if there == here {
            return Conversion::Here;
        }
        for config in [&mut there, &mut here] {
            config["caBundle"].take();
        }
        match there == here {
            true => Conversion::HereOutdated,
            false => Conversion::Elsewhere,
        }
    }

    /// The authorities through which an installed CRD of these kinds trusts our webhook; nothing where none does.
    ///
    /// # Errors
    /// [`CrdError`] when a CRD cannot be read.
    pub async fn trusted(&self, kinds: &[&'static KindInfo]) -> Result<Option<String>, CrdError> {
        for kind in kinds {
            let name = name(kind);
            let crd = self.crds.get_opt(&name).await;
            let crd = crd.map_err(|error| CrdError::List {
                message: message(&error),
            })?;
            let Some(crd) = crd else { continue };
            let bundle = trusted_bundle(&crd);
            match self.conversion(&crd, bundle.as_deref().unwrap_or_default()) {
                Conversion::Here => return Ok(bundle),
                Conversion::HereOutdated | Conversion::Nowhere | Conversion::Elsewhere => {}
            }
        }
        Ok(None)
    }

    /// Versions by which the objects of an installed CRD were written, and by which anybody owns fields of them.
    /// Those that are served, where we may not see all objects.
    pub async fn written_versions(
        &self,
        kind: &KindInfo,
        crd: &InstalledCrd,
    ) -> Result<BTreeSet<String>, CrdError> {
        let written = written(&self.client, kind, crd).await?;
        Ok(match written {
            Some(written) => written.versions,
            None => crd.served().cloned().collect(),
        })
    }

    /// The installed CRDs, of whatever origin, and their changes.
    pub fn watch(&self) -> impl Stream<Item = Result<Event<InstalledCrd>, watcher::Error>> + use<> {
        let config = Config::default().page_size(PAGE);
        watcher(self.crds.clone(), config).default_backoff()
    }

    fn webhook(&self, bundle: &str) -> ConversionWebhook {
        ConversionWebhook {
            endpoint: self.endpoint.clone(),
            ca_bundle: Some(BASE64_STANDARD.encode(bundle)),
        }
    }

    fn compose(&self, kind: &KindInfo, versions: &CrdVersions, bundle: &str) -> Value {
        let options = CrdOptions {
            conversion: Some(self.webhook(bundle)),
            versions: versions.served.clone(),
            kept: versions.kept.clone(),
            labels: self.labels.0.clone(),
            operator_version: env!("CARGO_PKG_VERSION").to_owned(),
            known_values: false,
        };
        let mut crd = custom_resource_definition(kind, &options);
        for (_, amend) in &self.amendments {
            amend(kind, &mut crd);
        }
        crd
    }

    async fn write(
        &self,
        name: String,
        parameters: &PatchParams,
        patch: Patch<Value>,
    ) -> Result<ObjectMeta, CrdError> {
        match self.crds.patch_metadata(&name, parameters, &patch).await {
            Ok(crd) => Ok(crd.metadata),
            Err(error) => Err(CrdError::Refused {
                name,
                message: message(&error),
            }),
        }
    }

    /// Waits until the kinds are served. The limit is for the next one of them: hundreds take minutes where the API
    /// server has little to run on, and one that is refused takes forever.
    pub async fn wait_established(
        &self,
        kinds: &[&'static KindInfo],
        limit: Duration,
    ) -> Result<(), CrdError> {
        let mut waiting: BTreeSet<String> = kinds.iter().map(|kind| name(kind)).collect();
        let mut events = pin!(self.watch());
        while !waiting.is_empty() {
            let next = next_established(kinds, &mut waiting, events.as_mut());
            if tokio::time::timeout(limit, next).await.is_err() {
                return Err(CrdError::NotEstablished {
                    seconds: limit.as_secs(),
                    names: waiting.into_iter().collect::<Vec<_>>().join(", "),
                });
            }
        }
        Ok(())
    }
}

/// Waits until one more of the kinds is served, and takes it out of those that are waited for.
async fn next_established(
    kinds: &[&'static KindInfo],
    waiting: &mut BTreeSet<String>,
    mut events: Pin<&mut impl Stream<Item = Result<Event<InstalledCrd>, watcher::Error>>>,
) {
    loop {
        match events.next().await {
            Some(Ok(Event::InitApply(crd) | Event::Apply(crd))) => {
                let mut kinds = kinds.iter().filter(|kind| crd.is_of(kind));
                let served = kinds.find(|kind| crd.serves(kind));
                if served.is_some_and(|kind| waiting.remove(&name(kind))) {
                    return;
                }
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => tracing::debug!(%error, "the watch of CRDs was interrupted"),
            // A watch has no end; without news the limit passes.
            None => std::future::pending().await,
        }
    }
}

/// The authorities through which a CRD trusts its webhook, where it says which.
fn trusted_bundle(crd: &InstalledCrd) -> Option<String> {
    let config = &crd.spec.conversion["webhook"]["clientConfig"];
    let bundle = BASE64_STANDARD.decode(config["caBundle"].as_str()?).ok()?;
    String::from_utf8(bundle).ok()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use armature_shapes::testing::kinds::{GROUP, STORE};
    use http::{Request, Response};
    use kube::client::Body;

    use super::*;

    const OURS: &str = "https://127.0.0.1:7443";

    /// An API server with the CRD of stores, whose objects are converted there, through these authorities.
    fn installer(url: &'static str, bundle: Option<&'static str>) -> CrdInstaller {
        let bundle = bundle.map(|bundle| BASE64_STANDARD.encode(bundle));
        let config = json!({ "url": url, "caBundle": bundle });
        let crd = json!({
            "metadata": { "name": name(&STORE) },
            "spec": {
                "group": STORE.group, "names": { "kind": STORE.kind }, "versions": [],
                "conversion": {
                    "strategy": "Webhook",
                    "webhook": { "clientConfig": config, "conversionReviewVersions": ["v1"] },
                },
            },
        });
        let service = tower::service_fn(move |request: Request<Body>| {
            let is_there = request.uri().path().ends_with(&name(&STORE));
            let missing = json!({"kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound",
                "message": "not found", "metadata": {}});
            let (code, answer) = if is_there {
                (200, &crd)
            } else {
                (404, &missing)
            };
            let answer = Response::builder()
                .status(code)
                .body(Body::from(answer.to_string().into_bytes()))
                .unwrap();
            async move { Ok::<_, Infallible>(answer) }
        });
        let client = Client::new(service, "default");
        let endpoint = WebhookEndpoint::Url(OURS.to_owned());
        CrdInstaller::new(client, endpoint, CrdLabels::default())
    }

    /// A pod that starts without the Secret does not know what the others serve.
    #[tokio::test]
    async fn what_crds_trust_of_ours_is_read_from_the_first_that_is_there() {
        let rows = [
            (OURS, Some("ours"), Some("ours")),
            (OURS, None, None),
            ("https://127.0.0.1:7444", Some("theirs"), None),
        ];
        for (url, bundle, expected) in rows {
            let installer = installer(url, bundle);
            let trusted = installer.trusted(&[&GROUP, &STORE]).await.unwrap();
            assert_eq!(trusted.as_deref(), expected, "{url}");
        }
    }
}
