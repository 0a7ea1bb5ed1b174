//! The scopes that hold for the objects of one namespace.

use armature_shapes::names;
use armature_shapes::quote::shortened;

use super::{AllowedScopes, Enforcement};

/// Who says them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An annotation of the namespace.
    Namespace,
    /// A setting of the operator, for namespaces that say nothing.
    Operator,
}

/// The scopes that hold for the objects of one namespace.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The scopes.
    pub scopes: AllowedScopes,
    /// Who says them.
    pub source: Source,
    /// The namespace.
    pub namespace: String,
    /// What becomes of what only a whole request shows.
    pub enforcement: Enforcement,
}

impl Bound {
    /// What is said of an id outside of the scopes, which stands at `what`.
    pub fn refusal(&self, what: &str, id: &str) -> String {
        format!("{what}: '{}' {}", shortened(id), self.advice())
    }

    /// The same where the id must not be told: it comes from a Secret.
    pub fn silent_refusal(&self, what: &str) -> String {
        format!("{what}: its ARM id {}", self.advice())
    }

    /// What is wrong with an id, and what to do, without the id.
    pub fn advice(&self) -> String {
        let Self {
            scopes, namespace, ..
        } = self;
        let (told, adds) = match self.source {
            Source::Namespace => (
                format!("annotation {} of the namespace", names::ALLOWED_SCOPES),
                "add it to the annotation".to_owned(),
            ),
            Source::Operator => (
                "the operator's setting allowed-scopes".to_owned(),
                format!("annotate the namespace with {}", names::ALLOWED_SCOPES),
            ),
        };
        let (outside, inside) = match scopes.0.is_empty() {
            true => (
                format!(
                    "may not be used: namespace {namespace} may use no id at all ({told}: {scopes})"
                ),
                "Have",
            ),
            false => (
                format!(
                    "is outside of what namespace {namespace} may use, which is {scopes} ({told})"
                ),
                "Use what is below one of these, or have",
            ),
        };
        format!(
            "{outside}; nothing is sent. {inside} an administrator {adds}; to let the object go and leave Azure as it is, set {} to \
             detach-on-delete",
            names::RECONCILE_POLICY
        )
    }
}
