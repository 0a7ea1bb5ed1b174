//! A real API server and the operator beside the server of the recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use armature::Operator;
use armature_controlplane::ControlPlane;
use armature_controlplane::waiting::{LIMIT, until_ok};
use armature_e2e::{OPERATOR_NAMESPACE, Objects, Shown, create_namespace, operator_config};
use armature_exposure::{Place, SeenSecrets, random_value, scrape, shown_in};
use armature_generated::KINDS;
use armature_runtime::kind::KindInfo;
use armature_runtime::names::NAMESPACE_CREDENTIAL;
use armature_runtime::reconcile::time::Time;
use armature_simulator::Running;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, ObjectMeta, PostParams};
use kube::core::GroupVersionKind;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

use super::server::Recordings;
use crate::data::Recording;
use crate::run;

/// How many times as fast as on the wall the operator's time passes: an hour in 18 seconds.
const SPEED: u32 = 200;
/// Longer than any test, at that speed too.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Objects of one kind that are reconciled at once: as if each recording had an operator of its own.
const WORKERS: usize = 32;

/// How often the objects of all recordings are looked at.
const POLL: Duration = Duration::from_secs(2);

/// Subscription of all recordings.
const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000000";

/// What the operator runs in.
pub struct World {
    azure: Running<Recordings>,
    client: kube::Client,
    states: watch::Receiver<States>,
    shown: Shown,
    secrets: SeenSecrets,
    /// Objects before their deletion.
    kept: Mutex<Vec<Place>>,
    operator: Operator,
    _plane: ControlPlane,
    _folder: TempDir,
}

/// All objects, as the operator left them a moment ago.
pub type States = Arc<BTreeMap<ObjectName, Value>>;

/// Namespace, group, kind and name of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectName {
    /// Namespace.
    pub namespace: String,
    /// API group: several groups have a kind of the same name.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
}

impl World {
    /// Starts all parts.
    ///
    /// # Errors
    /// When one does not start.
    pub async fn start(recordings: &[Recording]) -> Result<Self> {
        let shown = Shown::start().await?;
        let plane = ControlPlane::start(Default::default()).await?;
        let client = plane.client().await?;
        create_namespace(&client, OPERATOR_NAMESPACE).await?;
        let azure = Running::start("127.0.0.1:0", Vec::new(), |endpoint| {
            Recordings::new(recordings, endpoint)
        })
        .await?;
        let folder = tempfile::tempdir()?;
        let ca_file = folder.path().join("ca.pem");
        std::fs::write(&ca_file, azure.ca_pem())?;
        let mut config = operator_config(&plane, azure.endpoint(), ca_file).await?;
        config.time = Time::times(SPEED);
        // Azure's time is that of the recording.
        config.longest_hold_before_put = FOREVER;
        config.longest_hold_before_delete = FOREVER;
        config.max_concurrent_reconciles = Some(WORKERS);
        let kinds = kinds_of(recordings)?;
        config.crd_pattern = pattern(&kinds).parse()?;
        let operator = Operator::start(config).await?;
        // On a busy machine this takes longer than the CRDs tell.
        until_ok("all kinds to be served", async || {
            all(&client, &kinds).await
        })
        .await;
        let (sender, states) = watch::channel(States::default());
        tokio::spawn(look(client.clone(), kinds, sender));
        Ok(Self {
            azure,
            secrets: SeenSecrets::watch(client.clone()),
            client,
            states,
            shown,
            kept: Mutex::default(),
            operator,
            _plane: plane,
            _folder: folder,
        })
    }

    /// The server of the recordings.
    pub fn azure(&self) -> &Recordings {
        self.azure.service()
    }

    /// A namespace for the recording at this index, with the credential that leads to it.
    ///
    /// # Errors
    /// When the namespace cannot be created.
    pub async fn namespace(&self, index: usize, recording: &Recording) -> Result<Objects> {
        let name = recording.name.replace('_', "-");
        create_namespace(&self.client, &name).await?;
        let credential = credential(Recordings::client(index));
        self.give(&name, NAMESPACE_CREDENTIAL, credential).await?;
        Ok(Objects::new(self.client.clone(), &name))
    }

    /// Creates a Secret.
    ///
    /// # Errors
    /// When it cannot be created.
    pub async fn give(
        &self,
        namespace: &str,
        name: &str,
        values: BTreeMap<String, String>,
    ) -> Result<()> {
        let secret = Secret {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                ..ObjectMeta::default()
            },
            string_data: Some(values),
            ..Secret::default()
        };
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        secrets.create(&PostParams::default(), &secret).await?;
        Ok(())
    }

    /// Keeps the objects of a namespace as they are, for the search for secrets.
    pub fn keep(&self, namespace: &str) {
        let states = self.states.borrow().clone();
        let own = states
            .iter()
            .filter(|(name, _)| name.namespace == namespace);
        let places = own.map(|(name, object)| Place::new(&name.name, object.to_string()));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(places);
    }

    /// Fails when a secret of any recording is shown anywhere.
    ///
    /// # Errors
    /// When what is shown cannot be read.
    ///
    /// # Panics
    /// With the names of the secrets and places.
    pub async fn assert_no_secret_is_shown(&self) -> Result<()> {
        let mut places = self.shown.everything().await;
        places.extend(shown_in(&self.client, None).await?);
        let kept = &self.kept;
        places.append(&mut kept.lock().unwrap_or_else(PoisonError::into_inner));
        let address = self.operator.metrics_address();
        let metrics = scrape(address.context("no metrics")?).await?;
        places.push(Place::new("metrics", metrics));
        self.secrets.all().await?.assert_hidden(&places, None);
        Ok(())
    }

    /// Waits until a question about all objects has an answer.
    ///
    /// # Errors
    /// When it has none and no object of any recording changes any more: they all live at the same time, so one may have to
    /// wait for many.
    pub async fn wait<T>(&self, mut question: impl FnMut(&States) -> Option<T>) -> Result<T> {
        let mut states = self.states.clone();
        loop {
            if let Some(answer) = question(&states.borrow_and_update()) {
                return Ok(answer);
            }
            let changed = tokio::time::timeout(LIMIT, states.changed()).await;
            let changed = changed.context("nothing changes any more")?;
            changed.context("nobody looks any more")?;
        }
    }
}

fn credential(client: String) -> BTreeMap<String, String> {
    [
        ("AZURE_SUBSCRIPTION_ID", SUBSCRIPTION),
        ("AZURE_TENANT_ID", SUBSCRIPTION),
        ("AZURE_CLIENT_ID", &client),
        ("AZURE_CLIENT_SECRET", &random_value()),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into()
}

/// Kinds of the manifests, of which alone there are objects: hundreds of others need not be installed and looked at.
fn kinds_of(recordings: &[Recording]) -> Result<Vec<&'static KindInfo>> {
    let mut names = BTreeSet::new();
    for recording in recordings {
        for document in run::manifests(recording)?.into_iter().flatten() {
            let text = |member: &str| document.value[member].as_str().map(str::to_owned);
            names.insert((text("apiVersion"), text("kind")));
        }
    }
    let is_used = |kind: &&&KindInfo| {
        names.iter().any(|(version, name)| {
            let group = version
                .as_deref()
                .and_then(|version| version.split('/').next());
            (group, name.as_deref()) == (Some(kind.group), Some(kind.kind))
        })
    };
    Ok(KINDS.iter().filter(is_used).copied().collect())
}

/// The pattern of CRDs that names these kinds.
fn pattern(kinds: &[&KindInfo]) -> String {
    let names = kinds
        .iter()
        .map(|kind| format!("{}/{}", kind.group, kind.kind));
    names.collect::<Vec<_>>().join(";")
}

/// Looks at all objects until nobody wants to know.
async fn look(client: kube::Client, kinds: Vec<&'static KindInfo>, sender: watch::Sender<States>) {
    while !sender.is_closed() {
        match all(&client, &kinds).await {
            Ok(states) => {
                sender.send_if_modified(|known| {
                    let is_new = **known != states;
                    if is_new {
                        *known = Arc::new(states);
                    }
                    is_new
                });
            }
            Err(error) => println!("the objects cannot be listed: {error:#}"),
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn all(
    client: &kube::Client,
    kinds: &[&'static KindInfo],
) -> Result<BTreeMap<ObjectName, Value>> {
    let mut states = BTreeMap::new();
    for kind in kinds {
        let as_cached = ListParams::default().match_any();
        for object in stored(client, kind).list(&as_cached).await? {
            let name = ObjectName {
                namespace: object.metadata.namespace.clone().unwrap_or_default(),
                group: kind.group.to_owned(),
                kind: kind.kind.to_owned(),
                name: object.metadata.name.clone().unwrap_or_default(),
            };
            states.insert(name, serde_json::to_value(object)?);
        }
    }
    Ok(states)
}

/// Objects of a kind as they are stored: nothing has to be converted.
fn stored(client: &kube::Client, kind: &KindInfo) -> Api<DynamicObject> {
    let gvk = GroupVersionKind::gvk(kind.group, kind.hub.storage_version, kind.kind);
    Api::all_with(
        client.clone(),
        &ApiResource::from_gvk_with_plural(&gvk, kind.plural),
    )
}
