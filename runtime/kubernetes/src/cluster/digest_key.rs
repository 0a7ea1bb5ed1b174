//! The operator's key of the digests that it keeps in objects, which also signs its notes there: random bytes in a Secret of its
//! namespace.
//!
//! | key of the Secret | what it is |
//! |---|---|
//! | `key` | the key of digests and signatures |
//! | `previous` | the one before it, after a rotation: what it has signed is believed |
//! | `signing-since` | when this operator, or the key, began to sign (RFC 3339): objects that are older need no signature |
//! | `all-signed-since` | since when none is believed without a signature, whatever its age |
//!
//! Releases before signatures know the first alone. Where the Secret is lost another key takes its place. Nothing is sent because
//! of that: digests of another key are read as none, and what it has signed as notes of another operator.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use armature_engine::compare::DigestKey;
use armature_reconcile::port::KubernetesError;
use armature_reconcile::signature::NoteKeys;
use armature_reconcile::time::whole_seconds;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::json;
use tokio::time::Instant;

use crate::error::request;
use crate::names::FIELD_MANAGER;

/// Name of the Secret.
const SECRET: &str = "armature-digest-key";
/// Key of the Secret: what digests are made and notes are signed with.
const KEY: &str = "key";
/// The key before it.
const PREVIOUS: &str = "previous";
/// Since when notes are signed.
const SIGNING_SINCE: &str = "signing-since";
/// Since when all are.
const ALL_SIGNED_SINCE: &str = "all-signed-since";

/// How long keys are worked with before the Secret is looked at again: so soon a rotation counts without a restart.
const FRESH: Duration = Duration::from_secs(60);

/// What the Secret holds.
#[derive(Clone, PartialEq)]
struct Keys {
    digests: DigestKey,
    notes: NoteKeys,
    /// Nobody has written down yet since when notes are signed.
    is_new: bool,
}

/// The key that the operator in this namespace has; nothing where it has made none yet.
///
/// # Errors
/// When the Secret cannot be read, or holds something else.
pub async fn read_digest_key(
    client: &Client,
    namespace: &str,
) -> Result<Option<DigestKey>, KubernetesError> {
    let found = DigestKeys::new(namespace).read(client).await?;
    Ok(found.map(|found| found.digests))
}

/// The same of the keys that notes are signed with.
///
/// # Errors
/// As [`read_digest_key`].
pub(super) async fn read_note_keys(
    client: &Client,
    namespace: &str,
) -> Result<Option<NoteKeys>, KubernetesError> {
    let found = DigestKeys::new(namespace).read(client).await?;
    Ok(found.map(|found| found.notes))
}

/// Writes down that all objects are signed.
///
/// # Errors
/// When the Secret cannot be changed.
pub(super) async fn demand_signatures(
    client: &Client,
    namespace: &str,
) -> Result<(), KubernetesError> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let now = whole_seconds(Timestamp::now());
    let body = json!({"data": {ALL_SIGNED_SINCE: ByteString(now.into_bytes())}});
    let (parameters, patch) = (patch_parameters(), Patch::Merge(body));
    let label = || format!("Secret {namespace}/{SECRET}");
    let written = secrets.patch(SECRET, &parameters, &patch);
    request("change", label, written).await.map(drop)
}

/// Reads the keys, or makes them, and looks again now and then whether they are still the same.
pub struct DigestKeys {
    namespace: String,
    held: Mutex<Option<Held>>,
    /// Whose turn it is to ask.
    turn: tokio::sync::Mutex<()>,
}

/// Keys, and when they were read.
#[derive(Clone)]
struct Held {
    keys: Keys,
    at: Instant,
}

impl Held {
    fn is_fresh(&self) -> bool {
        self.at.elapsed() < FRESH
    }
}

impl DigestKeys {
    /// The keys in the operator's own namespace.
    pub fn new(namespace: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            held: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// The key of digests. A failure is asked again with the next call.
    ///
    /// # Errors
    /// When the Secret can be neither read nor made, or holds something else.
    pub async fn get(&self, client: &Client) -> Result<DigestKey, KubernetesError> {
        Ok(self.keys(client).await?.digests)
    }

    /// The keys that notes are signed with.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn of_notes(&self, client: &Client) -> Result<NoteKeys, KubernetesError> {
        Ok(self.keys(client).await?.notes)
    }

    async fn read(&self, client: &Client) -> Result<Option<Keys>, KubernetesError> {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), &self.namespace);
        let secret = request("read", || self.label(), secrets.get_opt(SECRET)).await?;
        secret.map(|secret| self.keys_in(&secret)).transpose()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> Option<Held> {
        self.lock().clone()
    }

    /// Keys that are known, or were until somebody looks again: one pass asks, and no other waits for it.
    async fn keys(&self, client: &Client) -> Result<Keys, KubernetesError> {
        let held = self.held();
        let _turn = match &held {
            Some(held) if held.is_fresh() => return Ok(held.keys.clone()),
            Some(held) => match self.turn.try_lock() {
                Ok(turn) => turn,
                Err(_) => return Ok(held.keys.clone()),
            },
            None => self.turn.lock().await,
        };
        let keys = match self.held() {
            // Somebody has asked meanwhile.
            Some(held) if held.is_fresh() => return Ok(held.keys),
            Some(held) => self.read_again(client, held.keys).await,
            None => self.read_or_create(client).await?,
        };
        let at = Instant::now();
        *self.lock() = Some(Held {
            keys: keys.clone(),
            at,
        });
        Ok(keys)
    }

    /// What the Secret holds by now. Where it is gone or makes no sense the keys of before stay, and it is told: to sign with
    /// others, or with none, would have all objects taken over anew because of a slip.
    async fn read_again(&self, client: &Client, before: Keys) -> Keys {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), &self.namespace);
        let read = request("read", || self.label(), secrets.get_opt(SECRET));
        let read = async {
            match read.await? {
                // That it cannot be written down was told before.
                Some(secret) if before.is_new => self.keys_in(&secret).map(Some),
                Some(secret) => {
                    let now = whole_seconds(Timestamp::now());
                    let keys = self.begin_signing(&secrets, secret, &now).await;
                    keys.map(Some)
                }
                None => Ok(None),
            }
        };
        let secret = self.label();
        match read.await {
            Ok(Some(keys)) => {
                if keys != before {
                    tracing::info!(%secret, "the keys of digests and signatures are others now");
                }
                keys
            }
            Ok(None) => {
                tracing::error!(
                    %secret,
                    "the Secret is gone, and the keys in it are used until this process ends: restore it; a restart makes others"
                );
                before
            }
            Err(error) => {
                tracing::warn!(%error, "the keys of before are used");
                before
            }
        }
    }

    async fn read_or_create(&self, client: &Client) -> Result<Keys, KubernetesError> {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), &self.namespace);
        let now = whole_seconds(Timestamp::now());
        let read = || request("read", || self.label(), secrets.get_opt(SECRET));
        if let Some(secret) = read().await? {
            return self.begin_signing(&secrets, secret, &now).await;
        }
        let parameters = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        let secret = self.secret(&DigestKey::random(), &now);
        let created = secrets.create(&parameters, &secret);
        match request("create", || self.label(), created).await {
            Ok(_) => self.keys_in(&secret),
            // Another replica was faster.
            Err(KubernetesError::Conflict { .. }) => match read().await? {
                Some(secret) => self.begin_signing(&secrets, secret, &now).await,
                None => Err(KubernetesError::Conflict {
                    object: self.label(),
                }),
            },
            Err(error) => Err(error),
        }
    }

    /// The keys in a Secret. In one of a release that signed nothing, it is written down since when notes are signed; where that
    /// is refused, objects are believed without a signature.
    async fn begin_signing(
        &self,
        secrets: &Api<Secret>,
        secret: Secret,
        now: &str,
    ) -> Result<Keys, KubernetesError> {
        let keys = self.keys_in(&secret)?;
        if !keys.is_new {
            return Ok(keys);
        }
        let body = json!({
            "metadata": {"resourceVersion": secret.metadata.resource_version},
            "data": {SIGNING_SINCE: ByteString(now.as_bytes().to_vec())},
        });
        let (parameters, patch) = (patch_parameters(), Patch::Merge(body));
        let written = secrets.patch(SECRET, &parameters, &patch);
        match request("change", || self.label(), written).await {
            Ok(secret) => self.keys_in(&secret),
            // Another replica was faster; the next call reads what it wrote.
            Err(conflict @ KubernetesError::Conflict { .. }) => Err(conflict),
            Err(error) => {
                tracing::warn!(
                    %error,
                    "notes are signed, and objects without a signature are believed until the next start: allow the operator \
                     to patch this Secret (the chart does)"
                );
                Ok(keys)
            }
        }
    }

    fn label(&self) -> String {
        format!("Secret {}/{SECRET}", self.namespace)
    }

    fn secret(&self, key: &DigestKey, now: &str) -> Secret {
        let data = [
            (KEY, key.as_bytes().to_vec()),
            (SIGNING_SINCE, now.as_bytes().to_vec()),
        ];
        let data = data.map(|(name, bytes)| (name.to_owned(), ByteString(bytes)));
        Secret {
            metadata: ObjectMeta {
                name: Some(SECRET.to_owned()),
                namespace: Some(self.namespace.clone()),
                ..ObjectMeta::default()
            },
            data: Some(data.into()),
            ..Secret::default()
        }
    }

    fn keys_in(&self, secret: &Secret) -> Result<Keys, KubernetesError> {
        let entry = |name: &str| secret.data.as_ref()?.get(name);
        let key = |name: &str| {
            let key = DigestKey::from_bytes(&entry(name)?.0);
            Some(key.ok_or_else(|| {
                let length = DigestKey::LENGTH;
                self.unusable(name, &format!("must hold {length} bytes"))
            }))
        };
        let time = |name: &str| {
            let text = String::from_utf8_lossy(&entry(name)?.0).into_owned();
            let time = text.trim().parse::<Timestamp>();
            Some(time.map_err(|error| {
                self.unusable(
                    name,
                    &format!("must be a time as 2026-01-31T12:00:00Z ({error})"),
                )
            }))
        };
        let digests = key(KEY).transpose()?;
        let digests = digests.ok_or_else(|| self.unusable(KEY, "is not there"))?;
        let since = understood(time(SIGNING_SINCE));
        let notes = NoteKeys::new(digests.clone(), understood(key(PREVIOUS)), since);
        // Only that it is there counts: who mistypes the time wants no unsigned object believed.
        let all = entry(ALL_SIGNED_SINCE).filter(|text| !text.0.trim_ascii().is_empty());
        Ok(Keys {
            digests,
            is_new: since.is_none(),
            notes: match all {
                Some(_) => notes.demanding_all(),
                None => notes,
            },
        })
    }

    fn unusable(&self, name: &str, why: &str) -> KubernetesError {
        let remedy = match name {
            KEY => "delete the Secret, and the operator makes another one",
            _ => "correct it, or remove it from the Secret",
        };
        KubernetesError::Other {
            operation: "use",
            object: self.label(),
            message: format!("its key '{name}' {why}; {remedy}"),
        }
    }
}

/// What an administrator has written into the Secret by hand, where it means something: a mistake stops no pass.
fn understood<T>(read: Option<Result<T, KubernetesError>>) -> Option<T> {
    match read? {
        Ok(read) => Some(read),
        Err(error) => {
            tracing::error!(%error, "an entry of the Secret with the keys of notes does not count");
            None
        }
    }
}

fn patch_parameters() -> PatchParams {
    PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;

    use http::{Method, Request, Response};
    use kube::client::Body;

    use super::*;

    const NOW: &str = "2026-01-31T12:00:00Z";

    /// The Secret with one entry that is another one, or none.
    fn with(secret: &Secret, name: &str, bytes: Option<&[u8]>) -> Secret {
        let mut secret = secret.clone();
        let data = secret.data.get_or_insert_default();
        match bytes {
            Some(bytes) => data.insert(name.to_owned(), ByteString(bytes.to_vec())),
            None => data.remove(name),
        };
        secret
    }

    #[test]
    fn what_is_stored_is_read() {
        let keys = DigestKeys::new("operators");
        let (key, old) = (DigestKey::random(), DigestKey::random());
        let since: Timestamp = NOW.parse().unwrap();
        let secret = keys.secret(&key, NOW);
        let read = |secret: &Secret| keys.keys_in(secret).unwrap();
        let notes = |previous, since| NoteKeys::new(key.clone(), previous, since);
        let found = read(&secret);
        assert!(found.digests == key && !found.is_new);
        assert_eq!(found.notes, notes(None, Some(since)));

        let earlier = with(&secret, SIGNING_SINCE, None);
        let found = read(&earlier);
        assert!(found.is_new, "of a release that signed nothing");
        assert_eq!(found.notes, notes(None, None));

        let rotated = with(&secret, PREVIOUS, Some(old.as_bytes()));
        assert_eq!(read(&rotated).notes, notes(Some(old), Some(since)));
        let all = with(&secret, ALL_SIGNED_SINCE, Some(NOW.as_bytes()));
        assert!(read(&all).notes.demand_all());
    }

    #[test]
    fn another_key_is_refused_with_what_to_do() {
        let keys = DigestKeys::new("operators");
        let secret = keys.secret(&DigestKey::random(), NOW);
        for bytes in [Some("short"), None] {
            let secret = with(&secret, KEY, bytes.map(str::as_bytes));
            let Err(error) = keys.keys_in(&secret) else {
                panic!("{bytes:?} is taken");
            };
            let error = error.to_string();
            for part in ["operators/armature-digest-key", "delete the Secret"] {
                assert!(error.contains(part), "{error}");
            }
        }
    }

    /// Every pass needs the keys.
    #[test]
    fn a_mistake_beside_the_key_stops_nothing() {
        let keys = DigestKeys::new("operators");
        let secret = keys.secret(&DigestKey::random(), NOW);
        let right = keys.keys_in(&secret).unwrap();
        for (name, text) in [(PREVIOUS, "short"), (ALL_SIGNED_SINCE, " ")] {
            let found = keys.keys_in(&with(&secret, name, Some(text.as_bytes())));
            let found = found.unwrap();
            assert!(found.notes == right.notes && !found.is_new, "{name}");
        }
        let unclear = with(&secret, ALL_SIGNED_SINCE, Some(b"yes"));
        let found = keys.keys_in(&unclear).unwrap();
        assert!(found.notes.demand_all(), "that all are is clear enough");
        let unclear = with(&secret, SIGNING_SINCE, Some(b"soon"));
        assert!(keys.keys_in(&unclear).unwrap().is_new, "it is written anew");
    }

    /// An API server that has this one Secret, and how often it was asked.
    #[derive(Clone, Default)]
    struct Server {
        secret: Arc<Mutex<Option<Secret>>>,
        asked: Arc<Mutex<Vec<Method>>>,
    }

    impl Server {
        fn client(&self) -> Client {
            let server = self.clone();
            let service = tower::service_fn(move |request: Request<Body>| {
                let server = server.clone();
                async move {
                    let method = request.method().clone();
                    let sent = request.into_body().collect_bytes().await.unwrap();
                    Ok::<_, Infallible>(server.answer(method, &sent))
                }
            });
            Client::new(service, "operators")
        }

        fn answer(&self, method: Method, sent: &[u8]) -> Response<Body> {
            self.asked.lock().unwrap().push(method.clone());
            let mut secret = self.secret.lock().unwrap();
            if method == Method::POST {
                *secret = serde_json::from_slice(sent).unwrap();
            }
            let (code, text) = match &*secret {
                Some(secret) => (200, serde_json::to_string(secret).unwrap()),
                None => (
                    404,
                    json!({"kind": "Status", "status": "Failure", "code": 404,
                    "reason": "NotFound", "message": "", "metadata": {}})
                    .to_string(),
                ),
            };
            let answer = Response::builder().status(code);
            answer.body(Body::from(text.into_bytes())).unwrap()
        }

        fn change(&self, name: &str, bytes: Option<&[u8]>) {
            let mut secret = self.secret.lock().unwrap();
            *secret = secret.as_ref().map(|secret| with(secret, name, bytes));
        }

        fn asked(&self) -> usize {
            std::mem::take(&mut *self.asked.lock().unwrap()).len()
        }
    }

    /// A pass more than a minute later.
    async fn later(keys: &DigestKeys, client: &Client) -> Keys {
        tokio::time::advance(FRESH).await;
        keys.keys(client).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_rotation_counts_within_a_minute_without_a_restart() {
        let (server, keys) = (Server::default(), DigestKeys::new("operators"));
        let client = server.client();
        let first = keys.keys(&client).await.unwrap();
        assert_eq!(server.asked(), 2, "looked for, and made");
        for _ in 0..3 {
            assert!(keys.keys(&client).await.unwrap() == first);
        }
        assert_eq!(server.asked(), 0);

        let other = DigestKey::random();
        server.change(PREVIOUS, Some(first.digests.as_bytes()));
        server.change(KEY, Some(other.as_bytes()));
        assert!(keys.keys(&client).await.unwrap() == first);
        let rotated = later(&keys, &client).await;
        assert!(rotated.digests == other);
        let since = server.secret.lock().unwrap().clone().unwrap().data.unwrap();
        let since = String::from_utf8(since[SIGNING_SINCE].0.clone()).unwrap();
        let ring = NoteKeys::new(other, Some(first.digests), since.parse().ok());
        assert_eq!(rotated.notes, ring);
        assert_eq!(server.asked(), 1);

        server.change(ALL_SIGNED_SINCE, Some(NOW.as_bytes()));
        assert!(later(&keys, &client).await.notes.demand_all());
    }

    /// What a restart would make of it, nobody has asked for yet.
    #[tokio::test(start_paused = true)]
    async fn a_slip_in_the_secret_changes_no_key() {
        let (server, keys) = (Server::default(), DigestKeys::new("operators"));
        let client = server.client();
        let first = keys.keys(&client).await.unwrap();
        let stored = server.secret.lock().unwrap().clone();
        server.change(KEY, Some(b"short"));
        assert!(later(&keys, &client).await == first);
        *server.secret.lock().unwrap() = None;
        server.asked();
        assert!(later(&keys, &client).await == first);
        assert_eq!(server.asked(), 1, "no other is made");
        *server.secret.lock().unwrap() = stored;
        assert!(later(&keys, &client).await == first);
    }

    /// A restart of the API server, or a slow one, holds no pass up.
    #[tokio::test(start_paused = true)]
    async fn while_one_pass_looks_again_no_other_waits() {
        let (server, keys) = (Server::default(), DigestKeys::new("operators"));
        let client = server.client();
        let first = keys.keys(&client).await.unwrap();
        let _turn = keys.turn.lock().await;
        assert!(later(&keys, &client).await == first);
    }
}
