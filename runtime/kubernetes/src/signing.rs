//! Signs the notes of all objects that an operator manages, so that none has to be believed without a signature.
//!
//! Who asks for it vouches for the notes as they are. Each object is written once, by its metadata alone, and only where it has not
//! changed since it was read; nothing is sent to Azure. It may be cut off at any point and begun again.

use armature_reconcile::claim;
use armature_reconcile::port::KubernetesError;
use armature_reconcile::signature::{NoteKeys, SIGNATURE, Verdict};
use armature_shapes::names;
use armature_shapes::resource::{Kind, Object, ObjectKey};
use kube::Client;
use kube::api::{Api, ListParams, Patch};
use serde_json::json;

use super::cluster::patch_parameters;
use super::digest_key::{demand_signatures, read_note_keys};
use super::error::request;
use super::stored::StoredObject;

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
    pub unsigned: Vec<Object>,
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
                match self.is_signed(&object) {
                    Some(true) => found.signed += 1,
                    Some(false) => found.unsigned.push(object),
                    None => {}
                }
            }
            match listed.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(found),
            }
        }
    }

    /// Whether an object has a signature of the current key; nothing where it is not this operator's.
    fn is_signed(&self, object: &Object) -> Option<bool> {
        let annotations = object.metadata.annotations.as_ref()?;
        let operator = annotations.get(names::OPERATOR_NAMESPACE);
        let is_ours = claim::is_claimed(object) && operator == Some(&self.operator);
        let uid = object.metadata.uid.as_deref().unwrap_or_default();
        is_ours.then(|| self.keys.verify(uid, annotations) == Verdict::Fits(0))
    }

    /// Signs the notes of an object. Returns whether it was there to be signed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn sign(&self, object: Object) -> Result<bool, KubernetesError> {
        let key = object.key();
        let mut next = Some(object);
        for _ in 1..ATTEMPTS {
            let Some(object) = next else {
                return Ok(false);
            };
            match self.write(&object).await {
                Err(KubernetesError::Conflict { .. }) => next = self.read(&key).await?,
                Err(KubernetesError::Gone { .. }) => return Ok(false),
                written => return written.map(|()| true),
            }
        }
        Err(KubernetesError::Conflict {
            object: key.to_string(),
        })
    }

    async fn read(&self, key: &ObjectKey) -> Result<Option<Object>, KubernetesError> {
        let read = async { self.api(key).get_opt(&key.name).await };
        let found = request("read", || key.to_string(), read).await?;
        let found = found.map(|stored| stored.into_object(key.kind));
        // The operator has signed it meanwhile, or it is no longer its own.
        Ok(found.filter(|object| self.is_signed(object) == Some(false)))
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

    /// All objects are signed: from its next start on, the operator believes none without a signature.
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
    async fn only_claimed_objects_of_this_operator_are_signed() {
        let (old, new) = (DigestKey::random(), DigestKey::random());
        let before = NoteKeys::new(old.clone(), None, None);
        let config = kube::Config::new("http://127.0.0.1:9".parse().unwrap());
        let signing = NoteSigning {
            client: Client::try_from(config).unwrap(),
            operator: "operators".to_owned(),
            keys: NoteKeys::new(new, Some(old), None),
        };
        let of = |finalizer: &str, operator: &str| {
            object(json!({"metadata": {
                "name": "a", "namespace": "team", "uid": "u", "finalizers": [finalizer],
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
        for (case, object, expected) in [
            ("not signed", of(names::FINALIZER, "operators"), Some(false)),
            ("of the key before", signed(&before), Some(false)),
            ("signed", signed(&signing.keys), Some(true)),
            ("of another operator", of(names::FINALIZER, "others"), None),
            ("not claimed", of("other", "operators"), None),
        ] {
            assert_eq!(signing.is_signed(&object), expected, "{case}");
        }
    }
}
