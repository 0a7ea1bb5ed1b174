//! Words of a namespace that its objects cannot weaken, and whose credential they may use: what an administrator sets, and who writes
//! objects cannot lift.

use std::fmt;

use armature_shapes::names;
use armature_shapes::quote::shortened;
use jiff::Timestamp;

use super::Annotations;
use super::value::{Adopt, Pause, words};
use super::word::{PROTECT, Word};
use crate::policy::Policy;

/// Annotation of a namespace: which of its own annotations its objects cannot weaken, of `protect`, `adopt`, `policy` and
/// `paused`.
pub const BINDING: &str = "armature.azure.com/binding";

/// Annotation of a namespace: `own`, so that its objects never use the operator's credential.
pub const CREDENTIAL: &str = "armature.azure.com/credential";

/// Whether objects of a namespace must not use the operator's own credential. A text that means nothing keeps them off as well.
pub fn needs_own_credential(namespace: &Annotations) -> bool {
    namespace.contains_key(CREDENTIAL)
}

/// Which words of a namespace bind its objects: they may say what is stricter, and nothing that is weaker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Binding {
    pub protect: bool,
    pub adopt: bool,
    pub policy: bool,
    pub paused: bool,
}

impl Binding {
    /// All of them.
    const EVERYTHING: Self = Self {
        protect: true,
        adopt: true,
        policy: true,
        paused: true,
    };

    /// Those of a namespace. Of a text that means nothing, everything binds.
    pub fn of(namespace: &Annotations) -> Self {
        match namespace.get(BINDING) {
            Some(text) => Self::parse(text).unwrap_or(Self::EVERYTHING),
            None => Self::default(),
        }
    }

    /// Reads words with commas or blanks between them.
    pub fn parse(text: &str) -> Option<Self> {
        let mut binding = Self::default();
        for word in words(text) {
            match word {
                "protect" => binding.protect = true,
                "adopt" => binding.adopt = true,
                "policy" => binding.policy = true,
                "paused" => binding.paused = true,
                _ => return None,
            }
        }
        // An empty text must not pass for no binding.
        (binding != Self::default()).then_some(binding)
    }
}

pub(super) const BINDS: Word<Binding> = Word {
    name: BINDING,
    parse: Binding::parse,
    expected: "one or more of protect, adopt, policy and paused, with commas or spaces between them",
};

pub(super) const OWN: Word<()> = Word {
    name: CREDENTIAL,
    parse: |text| (text == "own").then_some(()),
    expected: "own; remove the annotation to allow the operator's credential",
};

/// A word of an object that does not count, since its namespace binds it to a stricter one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overruled {
    /// The annotation.
    pub(super) annotation: &'static str,
    /// The object's text.
    pub(super) text: String,
    /// What holds in its place.
    pub(super) holds: String,
    /// The namespace.
    pub(super) namespace: String,
    /// When what holds is over by itself.
    pub(super) end: Option<Timestamp>,
}

impl Overruled {
    /// Whether the namespace's word still holds.
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.end.is_none_or(|end| end > now)
    }
}

impl fmt::Display for Overruled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            annotation,
            text,
            holds,
            namespace,
            ..
        } = self;
        let (text, holds) = (shortened(text), shortened(holds));
        write!(
            formatter,
            "annotation {annotation}: '{text}' does not count, '{holds}' holds: namespace {namespace} lets objects say only what is \
             stricter (its annotation {BINDING})"
        )
    }
}

/// How strict a policy is: the less may be done in Azure, the stricter.
pub(super) fn of_policy(policy: &Policy) -> i64 {
    match policy {
        Policy::Manage => 0,
        Policy::DetachOnDelete => 1,
        Policy::Skip => 2,
    }
}

/// How strict an answer to what exists is.
pub(super) fn of_adopt(adopt: &Adopt) -> i64 {
    match adopt {
        Adopt::Always => 0,
        Adopt::IfEqual => 1,
        Adopt::Never => 2,
    }
}

/// How strict a protection is.
pub(super) fn of_protect(protects: &bool) -> i64 {
    i64::from(*protects)
}

/// How strict a pause is: the later it ends, the stricter.
pub(super) fn of_pause(pause: &Option<Pause>) -> i64 {
    match pause {
        None => i64::MIN,
        Some(Pause::Until(end)) => Timestamp::as_second(*end),
        Some(Pause::Open) => i64::MAX,
    }
}

/// When a pause is over.
pub(super) fn end_of_pause(pause: &Option<Pause>) -> Option<Timestamp> {
    match pause {
        Some(Pause::Until(end)) => Some(*end),
        None | Some(Pause::Open) => None,
    }
}

/// Whether the resource of an object must not be deleted, not along with another one either. An unknown word
/// protects.
pub fn is_protected(object: &Annotations, namespace: &Annotations) -> bool {
    let says = |annotations: &Annotations| {
        let text = annotations.get(names::PROTECT)?;
        Some((PROTECT.parse)(text) != Some(false))
    };
    let (own, of_namespace) = (says(object), says(namespace));
    match Binding::of(namespace).protect {
        true => own == Some(true) || of_namespace == Some(true),
        false => own.or(of_namespace) == Some(true),
    }
}
