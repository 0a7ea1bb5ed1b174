//! What users ask for by annotations, and the operator's own notes.

use std::collections::BTreeMap;

use armature_engine::compare::DigestKey;
use armature_shapes::names;
use armature_shapes::resource::{Kind, Object};
use armature_shapes::testing::kinds;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::value::RawValue;

use super::expect;
use crate::annotations::{Annotations, Directives, is_protected};
use crate::bookkeeping::{Bookkeeping, Entries};
use crate::claim;
use crate::policy::Policy;
use crate::signature::Belief;

/// Annotations that users write.
pub const WORDS: [&str; 8] = [
    names::RECONCILE_POLICY,
    names::OBSERVE,
    names::ALWAYS_PUT,
    names::PAUSED,
    names::SYNC_PERIOD,
    names::ADOPT,
    names::PROTECT,
    names::ALLOWED_SCOPES,
];

/// Annotations that the operator writes, and reads again whoever has changed them.
pub const NOTES: [&str; 13] = [
    names::OPERATOR_NAMESPACE,
    names::POLLER_RESUME_ID,
    names::POLLER_RESUME_TOKEN,
    names::LATEST_RECONCILED_GENERATION,
    names::BASELINE,
    names::CLAIMED_SPEC,
    names::HELD_SINCE,
    names::UNANSWERED_PUT,
    names::FAILED_OPERATIONS,
    names::ADOPTION,
    names::CLAIMED_WITH,
    names::RESOURCE_ID,
    names::CHILD_RESOURCE_ID_OVERRIDE,
];

/// Texts that mean what holds without them.
const USUAL: [&str; 5] = ["", "manage", "false", "always", "none"];

/// A text of an annotation is understood, or told as a mistake of that annotation: it never counts as if it were not there.
///
/// # Errors
/// Which of that does not hold.
pub fn check_annotation(name: &str, text: &str) -> Result<(), String> {
    let said: Annotations = [(name.to_owned(), text.to_owned())].into();
    let none = Annotations::new();
    let default = Directives::of_policy(Policy::Manage);
    for (object, namespace) in [(&said, &none), (&none, &said)] {
        let counts = match name {
            names::ALLOWED_SCOPES => namespace.contains_key(name),
            names::OBSERVE | names::ALWAYS_PUT => object.contains_key(name),
            _ => true,
        };
        let what = || format!("{name}='{text}'");
        let protected = is_protected(object, namespace);
        match Directives::read(object, ("team", namespace), Policy::Manage) {
            Ok(found) => {
                // No scope at all is not what holds where nothing is said.
                let is_scope = name == names::ALLOWED_SCOPES;
                let is_usual = !counts || (USUAL.contains(&text) && !is_scope);
                expect((found == default) == is_usual, || {
                    format!("{} is understood as {found:?}", what())
                })?;
                expect(found.protect == protected, || {
                    format!("{}: {protected}", what())
                })?;
            }
            Err(mistakes) => {
                let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
                let is_told = told.len() == 1 && told[0].starts_with(&format!("annotation {name}"));
                expect(is_told && counts, || format!("{}: {told:?}", what()))?;
                // A word that means nothing takes no protection away.
                expect(protected == (name == names::PROTECT), || {
                    format!("{}: {protected}", what())
                })?;
            }
        }
    }
    Ok(())
}

/// An object with these annotations and this status, claimed.
pub fn noted(notes: &BTreeMap<String, String>, status: Option<&RawValue>) -> Object {
    let spec = RawValue::from_string(r#"{"owner":{"name":"g"},"location":"westus"}"#.to_owned());
    Object {
        kind: Kind(&kinds::STORE),
        metadata: ObjectMeta {
            name: Some("s".to_owned()),
            namespace: Some("default".to_owned()),
            annotations: Some(notes.clone()),
            finalizers: Some(vec![names::FINALIZER.to_owned()]),
            ..ObjectMeta::default()
        },
        spec: spec.ok(),
        status: status.map(RawValue::to_owned),
    }
}

/// Whatever notes say, they are read; an object that nobody has changed has nothing to be written.
///
/// # Errors
/// Which of that does not hold.
pub fn check_notes(notes: &BTreeMap<String, String>) -> Result<(), String> {
    use Belief::{Foreign, Signed, Unsigned};
    let mut beliefs = [Signed, Unsigned, Foreign].into_iter();
    beliefs.try_for_each(|belief| check_believed(notes, belief))
}

fn check_believed(notes: &BTreeMap<String, String>, belief: Belief) -> Result<(), String> {
    let object = noted(notes, None);
    let mut book = Bookkeeping::of(&object, Entries::new(), belief);
    let difference = book.difference();
    expect(difference.is_empty() || belief.is_foreign(), || {
        format!("{notes:?}: {difference:?} is to be written")
    })?;
    let _ = (
        claim::resource_id(&object),
        claim::id_for_children(&object),
        claim::rank(&object, !belief.is_foreign()),
    );
    let key = DigestKey::random();
    let keyed = key.of("u");
    let _ = (
        book.record(keyed),
        book.claimed(keyed),
        book.earlier_record(),
    );
    let _ = (
        book.put_generation(),
        book.foretold_generation(),
        book.stored_foretold_generation(),
    );
    let _ = (book.adoption(), book.claimed_with(), book.operator());
    let _ = (
        book.held_since(),
        book.unanswered_put(),
        book.failures(1, false),
    );
    book.record_claim(keyed);
    book.unforetell(keyed);
    book.rebase(&object, belief);
    book.forget_operation();
    let _ = book.defer();
    Ok(())
}
