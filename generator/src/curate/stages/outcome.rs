//! A property on its way through the stages, and the record of what they did.

use std::collections::BTreeSet;

use crate::curation::Aspect;
use crate::model::{Decision, EnumType, Property, TypeId, TypeRef};

/// What became of a property so far.
pub(in crate::curate) struct Outcome {
    /// It; as it was last, once it is left out.
    pub property: Property,
    /// The property beside it that takes the value from a ConfigMap or a Secret.
    pub twin: Option<Property>,
    /// Why it is left out, if it is.
    pub exit: Option<Exit>,
    /// Enum that a rule made for it.
    pub added: Option<(TypeId, EnumType)>,
    /// What the heuristics decided.
    pub decisions: Vec<Decision>,
    /// Statements of the rule that changed something.
    pub effects: BTreeSet<Aspect>,
    /// Whether it is there because of the rule; which of two statements keeps it, nobody can say.
    pub is_kept: bool,
    /// Its type before a rule gave it another.
    pub given: Option<TypeRef>,
}

/// How a property is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::curate) enum Exit {
    /// Nothing takes its place.
    Gone,
    /// It is a list of kinds of their own.
    ChildList,
    /// Its members take its place.
    Flattened,
}

impl Outcome {
    /// A property that no stage has seen.
    pub fn of(property: Property) -> Self {
        Self {
            property,
            twin: None,
            exit: None,
            added: None,
            decisions: Vec::new(),
            effects: BTreeSet::new(),
            is_kept: false,
            given: None,
        }
    }

    /// Whether it would be another without the rule.
    pub fn is_ruled(&self) -> bool {
        self.is_kept || !self.effects.is_empty()
    }

    /// Records that a statement did something, if it did.
    pub fn note(&mut self, aspect: Aspect, did_something: bool) {
        if did_something {
            self.effects.insert(aspect);
        }
    }

    /// Records what the heuristics decided.
    pub fn decide(&mut self, decision: Decision) {
        self.decisions.push(decision);
    }

    /// Leaves it out.
    pub fn leave(&mut self, exit: Exit) {
        self.exit = Some(exit);
    }

    /// What is in its place: it, its twin, or nothing.
    pub fn into_properties(self) -> impl Iterator<Item = Property> {
        let kept = self.exit.is_none().then_some(self.property);
        kept.into_iter().chain(self.twin)
    }
}
