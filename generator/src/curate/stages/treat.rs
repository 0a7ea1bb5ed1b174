//! What a value stands for in Kubernetes: the spec of ARM has ids, secrets and values of other resources as strings.

use super::super::naming;
use super::fit::holds_object;
use super::outcome::Outcome;
use super::stage::{Site, Stage};
use crate::curation::{Aspect, PropertyRule, Side, Treatment};
use crate::model::{ConfigMapImport, Decision, Meaning, Property, Rules, TypeRef};

pub(super) const STAGE: Stage = Stage {
    heeds: &[Aspect::Treatment],
    run,
};

fn run(site: Site<'_>, rule: &PropertyRule, outcome: &mut Outcome) {
    let is_secret_object =
        outcome.property.secret && holds_object(site.types, &outcome.property.ty);
    if is_secret_object {
        // Its members are what users write; what of them is secret was decided when they were.
        outcome.property.secret = false;
        outcome.note(Aspect::Treatment, rule.treatment == Some(Treatment::Plain));
        let why = "a secret object: it stays, with the members that are secrets as such";
        outcome.decide(Decision::heuristic(why));
    }
    // The status is as ARM has it.
    if site.side == Side::Status {
        return;
    }
    let proposal = proposal(&outcome.property);
    let proposed = proposal.map_or(Treatment::Plain, |(word, _)| word);
    let word = rule.treatment.unwrap_or(proposed);
    let before = outcome.property.clone();
    let result = treated(before.clone(), word);
    match (rule.treatment, proposal) {
        (Some(_), _) => {
            let by_itself = treated(before.clone(), proposed);
            outcome.note(Aspect::Treatment, result != by_itself);
        }
        (None, Some((_, why))) => outcome.decide(Decision::heuristic(why)),
        (None, None) => {}
    }
    if let Some(ty) = outcome.given.take() {
        // Where a reference or a secret takes the place of a type, it does not matter which one that was.
        if treated(Property { ty, ..before }, word) == result {
            outcome.effects.remove(&Aspect::Type);
            outcome.effects.remove(&Aspect::Items);
            outcome.effects.remove(&Aspect::Values);
        }
    }
    (outcome.property, outcome.twin) = result;
}

/// What the spec says a value stands for, and how.
fn proposal(property: &Property) -> Option<(Treatment, &'static str)> {
    if property.secret {
        Some((Treatment::Secret, "a secret: key of a Secret"))
    } else if property.meaning == Meaning::ArmId {
        Some((Treatment::Reference, "an ARM id: reference to a resource"))
    } else {
        None
    }
}

/// The property as users of the spec see it, with its `FromConfig`, `FromSecret` or `Reference` twin if it has one.
fn treated(property: Property, word: Treatment) -> (Property, Option<Property>) {
    match word {
        Treatment::Reference => (reference(property, TypeRef::Reference), None),
        Treatment::WellKnownReference => (reference(property, TypeRef::WellKnownReference), None),
        Treatment::Secret => (secret(property), None),
        Treatment::SecretMap => (with_type(property, TypeRef::SecretMap), None),
        Treatment::ReferenceOrPlain => {
            let twin = reference(property.clone(), TypeRef::Reference);
            either(property, twin)
        }
        Treatment::ConfigMap => {
            let twin = from_config(&property, ConfigMapImport::Optional);
            either(property, twin)
        }
        Treatment::SecretOrPlain => {
            let twin = from_secret(&property);
            either(property, twin)
        }
        Treatment::ConfigMapRequired => (from_config(&property, ConfigMapImport::Required), None),
        // The last three have left by now.
        Treatment::Plain | Treatment::Remove | Treatment::ChildKind | Treatment::Flatten => {
            (property, None)
        }
    }
}

/// A value and the twin that may stand in its place: with one of the two there, the other is not required.
fn either(property: Property, twin: Property) -> (Property, Option<Property>) {
    let optional = |property| Property {
        required: false,
        ..property
    };
    (optional(property), Some(optional(twin)))
}

fn with_type(property: Property, core: TypeRef) -> Property {
    Property {
        ty: core,
        rules: Rules::default(),
        item_rules: Rules::default(),
        meaning: Meaning::Plain,
        ..property
    }
}

fn reference(property: Property, core: TypeRef) -> Property {
    let is_list = matches!(property.ty, TypeRef::List(_));
    let ty = property.ty.with_core(core);
    Property {
        name: naming::reference(&property.name, is_list),
        ..with_type(property, ty)
    }
}

fn secret(property: Property) -> Property {
    let ty = match &property.ty {
        TypeRef::Map(_) => TypeRef::SecretMap,
        other => other.with_core(TypeRef::Secret),
    };
    Property {
        secret: true,
        ..with_type(property, ty)
    }
}

/// The twin of a value that may be in a Secret.
fn from_secret(property: &Property) -> Property {
    Property {
        name: naming::from_secret(&property.name),
        required: false,
        secret: true,
        ..with_type(property.clone(), TypeRef::Secret)
    }
}

fn from_config(property: &Property, import: ConfigMapImport) -> Property {
    Property {
        name: naming::from_config(&property.name),
        required: property.required && import == ConfigMapImport::Required,
        ..with_type(property.clone(), TypeRef::ConfigMap(import))
    }
}
