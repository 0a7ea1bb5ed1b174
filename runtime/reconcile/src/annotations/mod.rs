//! What users ask for by annotations of an object and of its namespace, read into one typed value.
//!
//! | module | what lives here |
//! |---|---|
//! | `value` | what an annotation may ask for, and the texts that mean it |
//! | `word` | the annotations: name, texts, and what is expected |
//! | `mistake` | an annotation whose text means nothing |
//! | `binding` | what a namespace says that its objects cannot lift |
//! | `directives` | what holds for an object |
//!
//! Fail safe: a word that is not known is a [`Mistake`], never a default. What does not live here: what follows from a
//! directive ([`mod@super::decide`]), and annotations that the operator writes for itself, but for the answer to [`Adopt`].

mod binding;
mod directives;
mod mistake;
#[cfg(test)]
mod tests;
mod value;
mod word;

use std::collections::BTreeMap;

pub use binding::{BINDING, CREDENTIAL, Overruled, is_protected, needs_own_credential};
pub use directives::Directives;
pub use mistake::Mistake;
pub use value::{Adopt, Adoption, Pause, SyncPeriod, client_ids};
pub use word::{ALLOWED_IDENTITIES, OF_NAMESPACES};

/// Annotations of an object or a namespace.
pub type Annotations = BTreeMap<String, String>;
