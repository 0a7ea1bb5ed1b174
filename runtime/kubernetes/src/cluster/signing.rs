//! Signs the notes of all objects that an operator manages, so that none has to be believed without a signature.
//!
//! Who asks for it vouches for the notes as they are. Those that the operator does not believe, and those whose signature does not fit,
//! are signed only where that is asked for: somebody else may have written them. Each object is written once, by its metadata alone, and only where it has not
//! changed since it was read; nothing is sent to Azure. It may be cut off at any point and begun again.

use armature_reconcile::claim;
use armature_reconcile::port::KubernetesError;
use armature_reconcile::signature::{Belief, NoteKeys, SIGNATURE, Verdict};
use armature_shapes::names;
use armature_shapes::resource::{Kind, Object, ObjectKey};
use kube::Client;
use kube::api::{Api, ListParams, Patch};
use serde_json::json;

use super::digest_key::{demand_signatures, read_note_keys};
use super::port::patch_parameters;
use crate::error::request;
use crate::stored::object::StoredObject;

/// Objects in one page.
const PAGE: u32 = 50;

/// How often an object is read again that changed before it was signed.
const ATTEMPTS: usize = 5;

/// Signs notes with the keys of the operator in one namespace.
pub struct NoteSigning {
    client: Client,
    operator: String,
    keys: NoteKeys,
}

/// The objects of a kind, by their signatures.
#[derive(Debug, Default)]
pub struct Unsigned {
    /// How many have one of the current key.
    pub signed: usize,
    /// The others that the operator manages.
    pub unsigned: Vec<Lacking>,
}

/// An object without a signature of the current key.
#[derive(Clone, Debug)]
pub struct Lacking {
    /// The object.
    pub object: Object,
    /// Why.
    pub cause: Cause,
    /// The operator believes its notes as they are, for as long as unsigned ones are believed.
    pub is_believed: bool,
}

/// Why an object has no signature of the current key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// It has none, and needs none yet: it is older than signatures.
    Missing,
    /// It has one of the key before.
    PreviousKey,
    /// It has none, and should have one.
    MissingThoughDue,
    /// It has one that does not fit.
    DoesNotFit,
}

impl Cause {
    /// Whether somebody has to say that the notes are right.
    #[must_use]
    pub fn asks_to_vouch(self) -> bool {
        matches!(self, Self::MissingThoughDue | Self::DoesNotFit)
    }
}

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// It is signed.
    Now,
    /// It is not there any more, no longer this operator's, or signed by the operator meanwhile.
    Gone,
    /// It changed meanwhile, and somebody has to vouch for it.
    LeftOut,
}

/// How an object is signed.
#[derive(Debug, PartialEq)]
enum State {
    NotOurs,
    Signed,
    Lacks(Cause, bool),
}

impl NoteSigning {
    /// With the keys of the operator in this namespace; nothing where it has made none yet.
    ///
    /// # Errors
    /// When the Secret cannot be read, or holds something else.
    pub async fn open(client: Client, operator: &str) -> Result<Option<Self>, KubernetesError> {
        let keys = read_note_keys(&client, operator).await?;
        Ok(keys.map(|keys| Self {
            client,
            operator: operator.to_owned(),
            keys,
        }))
    }

    /// Which objects of a kind have to be signed.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn unsigned(&self, kind: Kind) -> Result<Unsigned, KubernetesError> {
        let api: Api<StoredObject> = Api::all_with(self.client.clone(), &kind);
        let mut page = ListParams::default().limit(PAGE);
        let mut found = Unsigned::default();
        loop {
            let label = || format!("all {}", kind.plural);
            let listed = request("list", label, api.list(&page)).await?;
            for stored in listed.items {
                let object = stored.into_object(kind);
                match self.state(&object) {
                    State::NotOurs => {}
                    State::Signed => found.signed += 1,
                    State::Lacks(cause, is_believed) => found.unsigned.push(Lacking {
                        object,
                        cause,
                        is_believed,
                    }),
                }
            }
            match listed.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(found),
            }
        }
    }

    fn state(&self, object: &Object) -> State {
        let Some(annotations) = &object.metadata.annotations else {
            return State::NotOurs;
        };
        if !claim::is_claimed(object)
            || annotations.get(names::OPERATOR_NAMESPACE) != Some(&self.operator)
        {
            return State::NotOurs;
        }
        let uid = object.metadata.uid.as_deref().unwrap_or_default();
        let belief = self.keys.belief(object);
        let cause = match self.keys.verify(uid, annotations) {
            Verdict::Fits(0) => return State::Signed,
            Verdict::Fits(_) => Cause::PreviousKey,
            Verdict::Missing if belief == Belief::Unsigned => Cause::Missing,
            Verdict::Missing => Cause::MissingThoughDue,
            Verdict::Other => Cause::DoesNotFit,
        };
        State::Lacks(cause, !belief.is_foreign())
    }

    /// Signs the notes of an object as they are, and where it has changed meanwhile as they are then; whatever they are where
    /// somebody `vouches`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn sign(&self, object: Object, vouches: bool) -> Result<Signed, KubernetesError> {
        let key = object.key();
        let mut next = Some(object);
        for _ in 1..ATTEMPTS {
            let Some(object) = next else {
                return Ok(Signed::Gone);
            };
            match self.state(&object) {
                State::NotOurs | State::Signed => return Ok(Signed::Gone),
                State::Lacks(cause, _) if cause.asks_to_vouch() && !vouches => {
                    return Ok(Signed::LeftOut);
                }
                State::Lacks(..) => {}
            }
            match self.write(&object).await {
                Err(KubernetesError::Conflict { .. }) => next = self.read(&key).await?,
                Err(KubernetesError::Gone { .. }) => return Ok(Signed::Gone),
                written => return written.map(|()| Signed::Now),
            }
        }
        Err(KubernetesError::Conflict {
            object: key.to_string(),
        })
    }

    async fn read(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        let read = async { self.api(key).get_opt(&key.name).await };
        let found = request("read", || key.to_string(), read).await?;
        Ok(found.map(|stored| stored.into_object(key.kind)))
    }

    async fn write(&self, object: &Object) -> Result<(), KubernetesError> {
        let (key, metadata) = (object.key(), &object.metadata);
        let annotations = metadata.annotations.clone().unwrap_or_default();
        let uid = metadata.uid.as_deref().unwrap_or_default();
        let body = json!({"metadata": {
            "uid": uid,
            "resourceVersion": metadata.resource_version,
            "annotations": {SIGNATURE: self.keys.sign(uid, &annotations)},
        }});
        let (parameters, patch) = (patch_parameters(), Patch::Merge(body));
        let api = self.api(&key);
        let written = api.patch_metadata(&key.name, &parameters, &patch);
        request("sign the notes of", || key.to_string(), written)
            .await
            .map(drop)
    }

    fn api(&self, key: &ObjectKey) -> Api<StoredObject> {
        Api::namespaced_with(self.client.clone(), &key.namespace, &key.kind)
    }

    /// All objects are signed: within a minute, the operator believes none without a signature.
    ///
    /// # Errors
    /// When the Secret with the keys cannot be changed.
    pub async fn end(&self) -> Result<(), KubernetesError> {
        demand_signatures(&self.client, &self.operator).await
    }

    /// Whether that was so before.
    #[must_use]
    pub fn demands_all(&self) -> bool {
        self.keys.demand_all()
    }
}

#[cfg(test)]
mod tests {
    use armature_engine::compare::DigestKey;
    use armature_shapes::testing::gadget::MODEL;

    use super::*;

    fn object(json: serde_json::Value) -> Object {
        let stored: StoredObject = serde_json::from_str(&json.to_string()).unwrap();
        stored.into_object(Kind(&MODEL))
    }

    #[tokio::test]
    async fn only_claimed_objects_of_this_operator_are_signed_and_some_need_a_word() {
        let (old, new) = (DigestKey::random(), DigestKey::random());
        let before = NoteKeys::new(old.clone(), None, None);
        let other = NoteKeys::new(DigestKey::random(), None, None);
        let since = "2026-01-01T00:00:00Z";
        let config = kube::Config::new("http://127.0.0.1:9".parse().unwrap());
        let signing = NoteSigning {
            client: Client::try_from(config).unwrap(),
            operator: "operators".to_owned(),
            keys: NoteKeys::new(new, Some(old), since.parse().ok()),
        };
        let of = |finalizer: &str, operator: &str| {
            object(json!({"metadata": {
                "name": "a", "namespace": "team", "uid": "u", "finalizers": [finalizer],
                "creationTimestamp": since,
                "annotations": {names::OPERATOR_NAMESPACE: operator},
            }}))
        };
        let signed = |keys: &NoteKeys| {
            let mut object = of(names::FINALIZER, "operators");
            let annotations = object.metadata.annotations.get_or_insert_default();
            let signature = keys.sign("u", annotations).unwrap();
            annotations.insert(SIGNATURE.to_owned(), signature);
            object
        };
        let younger = |mut object: Object| {
            object.metadata.creation_timestamp =
                serde_json::from_value(json!("2026-01-02T00:00:00Z")).unwrap();
            object
        };
        for (case, object, expected) in [
            (
                "older than signatures",
                of(names::FINALIZER, "operators"),
                State::Lacks(Cause::Missing, true),
            ),
            (
                "not signed",
                younger(of(names::FINALIZER, "operators")),
                State::Lacks(Cause::MissingThoughDue, false),
            ),
            (
                "of the key before",
                younger(signed(&before)),
                State::Lacks(Cause::PreviousKey, true),
            ),
            (
                "of a lost key",
                signed(&other),
                State::Lacks(Cause::DoesNotFit, true),
            ),
            (
                "does not fit",
                younger(signed(&other)),
                State::Lacks(Cause::DoesNotFit, false),
            ),
            ("signed", signed(&signing.keys), State::Signed),
            (
                "of another operator",
                of(names::FINALIZER, "others"),
                State::NotOurs,
            ),
            ("not claimed", of("other", "operators"), State::NotOurs),
        ] {
            assert_eq!(signing.state(&object), expected, "{case}");
            // Nothing is written: the server is nowhere.
            if let State::Lacks(cause, _) = expected
                && cause.asks_to_vouch()
            {
                assert_eq!(signing.sign(object, false).await.unwrap(), Signed::LeftOut);
            }
        }
    }
}
