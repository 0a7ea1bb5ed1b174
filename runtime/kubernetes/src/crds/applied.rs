//! What the operator has applied of its CRDs. One that starts again finds hundreds of them as it left them, most of the time, and
//! applying them anew would cost the API server half a minute of work and the operator the memory to compose them.
//!
//! A digest stands for all that went into them and for what they became: this very build of the program, its settings, the versions of each
//! kind, and of each CRD its identity, its generation, which counts changes of its spec by anybody, its labels and its annotations.
//! Any other value, or none, and they are applied.

use armature_shapes::digest::short_digest;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};

use crate::names::FIELD_MANAGER;

/// Annotation with the digest.
const APPLIED: &str = "armature.azure.com/applied-crds";

/// Where the digest is kept: an annotation of the Secret that all replicas share, which they may write anyway.
pub struct AppliedCrds {
    secrets: Api<Secret>,
    secret: String,
}

impl AppliedCrds {
    /// A record in the Secret of this name.
    pub fn new(client: kube::Client, namespace: &str, secret: &str) -> Self {
        Self {
            secrets: Api::namespaced(client, namespace),
            secret: secret.to_owned(),
        }
    }

    /// The digest that was noted last. Where it cannot be read there is none.
    pub async fn last(&self) -> Option<String> {
        let secret = self.secrets.get(&self.secret).await.ok()?;
        secret.metadata.annotations?.remove(APPLIED)
    }

    /// Notes a digest.
    ///
    /// # Errors
    /// When the Secret cannot be written, or somebody else has written it meanwhile; then the CRDs are applied again next time.
    pub async fn note(&self, digest: String) -> kube::Result<()> {
        let mut secret = self.secrets.get(&self.secret).await?;
        let annotations = secret.metadata.annotations.get_or_insert_default();
        annotations.insert(APPLIED.to_owned(), digest);
        let parameters = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        // It has the resourceVersion that was read.
        self.secrets
            .replace(&self.secret, &parameters, &secret)
            .await?;
        Ok(())
    }
}

/// The digest of what went in, and of what the CRDs became.
pub fn applied_digest<'m>(what: &Value, became: impl Iterator<Item = &'m ObjectMeta>) -> String {
    let mut became: Vec<Value> = became
        .map(|crd| {
            json!([
                crd.name,
                crd.uid,
                crd.generation,
                crd.labels,
                crd.annotations
            ])
        })
        .collect();
    became.sort_by_key(ToString::to_string);
    short_digest(&json!([what, became]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crd(name: &str, generation: i64) -> ObjectMeta {
        ObjectMeta {
            name: Some(name.to_owned()),
            uid: Some(format!("{name}-uid")),
            generation: Some(generation),
            resource_version: Some("7".to_owned()),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn whatever_changes_a_crd_changes_the_digest_and_nothing_else_does() {
        let what = json!({"program": "a"});
        let digest = |what: &Value, crds: &[ObjectMeta]| applied_digest(what, crds.iter());
        let first = digest(&what, &[crd("a", 1), crd("b", 1)]);
        let mut status_changed = crd("b", 1);
        status_changed.resource_version = Some("8".to_owned());
        assert_eq!(first, digest(&what, &[status_changed, crd("a", 1)]));
        let mut labelled = crd("b", 1);
        labelled.labels = Some([("a".to_owned(), "b".to_owned())].into());
        let mut made_anew = crd("b", 1);
        made_anew.uid = Some("another".to_owned());
        let others = [
            (
                "another program",
                digest(&json!({"program": "b"}), &[crd("a", 1), crd("b", 1)]),
            ),
            ("an edit", digest(&what, &[crd("a", 1), crd("b", 2)])),
            ("a label", digest(&what, &[crd("a", 1), labelled])),
            (
                "another CRD of that name",
                digest(&what, &[crd("a", 1), made_anew]),
            ),
            ("one that is gone", digest(&what, &[crd("a", 1)])),
        ];
        for (why, other) in others {
            assert_ne!(first, other, "{why}");
        }
    }
}
