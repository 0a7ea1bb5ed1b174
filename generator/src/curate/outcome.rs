//! What a rule, or the heuristics alone, make of one property.

use std::collections::BTreeSet;

use super::naming;
use super::pattern::keep_re2;
use crate::curation::{PlainType, PropertyRule, Side, Treatment};
use crate::model::{
    ArmPlace, ConfigMapImport, Decision, EnumType, Meaning, ObjectType, Property, Rules, TypeDef,
    TypeId, TypeRef, TypeTable,
};
use crate::naming::identities;
use crate::types::embedded::ENVELOPE;

/// Where a property stands.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    /// Types before curation.
    pub types: &'a TypeTable,
    /// Words that the specs give to types.
    pub words: &'a BTreeSet<String>,
    /// Type that has the property.
    pub owner: &'a TypeId,
    /// Side of that type.
    pub side: Side,
    /// Whether that type is the root of a kind.
    pub is_root: bool,
    /// Whether absent lists and maps are sent.
    pub explicit_collections: bool,
}

/// What became of a property.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// It, with its `FromConfig` twin if it has one; nothing if it is left out.
    pub properties: Vec<Property>,
    /// Enum that a rule made for it.
    pub added: Option<(TypeId, EnumType)>,
    /// Whether it is a list of kinds of their own.
    pub is_child_list: bool,
    /// Whether its members take its place.
    pub is_flattened: bool,
    /// What the heuristics decided.
    pub decisions: Vec<Decision>,
    /// Enum behind the type, from the spec or from a rule.
    values: Option<EnumType>,
}

/// Outcomes are equal when users cannot tell them apart.
impl PartialEq for Outcome {
    fn eq(&self, other: &Self) -> bool {
        let values = |it: &Self| {
            it.values
                .as_ref()
                .map(|it| (it.values.clone(), it.extensible))
        };
        let plain = |it: &Self| {
            let is_enum = it.values.is_some();
            let mut properties = it.properties.clone();
            for property in &mut properties {
                if is_enum && property.ty.named().is_some() {
                    property.ty = property.ty.with_core(TypeRef::String);
                }
            }
            properties
        };
        self.is_child_list == other.is_child_list
            && self.is_flattened == other.is_flattened
            && values(self) == values(other)
            && plain(self) == plain(other)
    }
}

/// What becomes of a property.
pub(super) fn outcome(site: Site<'_>, property: &Property, rule: Option<&PropertyRule>) -> Outcome {
    let mut outcome = Outcome::default();
    let treatment = rule.and_then(|rule| rule.treatment);
    if let Some(Treatment::Remove | Treatment::ChildKind) = treatment {
        outcome.is_child_list = treatment == Some(Treatment::ChildKind) && site.side == Side::Spec;
        return outcome;
    }
    if treatment == Some(Treatment::Flatten) {
        outcome.is_flattened = true;
        return outcome;
    }
    let is_kept = rule.is_some_and(|rule| treatment.is_some() || rule.rename.is_some());
    if !is_kept && is_envelope(site, property) {
        let why = "the operator makes it of name and owner";
        outcome.decisions.push(Decision::heuristic(why));
        return outcome;
    }
    let mut property = property.clone();
    if site.side == Side::Status {
        property.required = false;
        property.rules = status_rules(&property.rules);
        property.item_rules = status_rules(&property.item_rules);
    }
    for rules in [&mut property.rules, &mut property.item_rules] {
        if let Some(pattern) = keep_re2(rules) {
            let what = format!("pattern `{pattern}` dropped: Kubernetes does not know its form");
            outcome.decisions.push(Decision::heuristic(what));
        }
    }
    if property.name == "location" && property.ty == TypeRef::String {
        property.meaning = Meaning::Location;
    }
    if let Some(rule) = rule {
        retype(site, &mut property, rule, &mut outcome);
    }
    outcome.values = enum_of(site.types, &property, outcome.added.as_ref());
    let Outcome { decisions, .. } = &mut outcome;
    outcome.properties = match site.side {
        Side::Spec => treat(property, treatment, decisions),
        // Secrets never come back from ARM; the rest of the status is as ARM has it.
        Side::Status if property.secret || is_secret(treatment) => {
            decisions.push(Decision::heuristic(
                "a secret: it never comes back from Azure",
            ));
            Vec::new()
        }
        Side::Status => vec![property],
    };
    finish(site, rule, &mut outcome.properties);
    outcome
}

/// Whether a spec does without the property because the operator makes it of name and owner. A rule may keep it.
fn is_envelope(site: Site<'_>, property: &Property) -> bool {
    site.is_root
        && site.side == Side::Spec
        && property.place.path().len() == 1
        && ENVELOPE.contains(&property.name.as_str())
}

fn finish(site: Site<'_>, rule: Option<&PropertyRule>, properties: &mut [Property]) {
    if let (Some(rule), Some(first)) = (rule, properties.first_mut()) {
        if let Some(name) = &rule.rename {
            first.name.clone_from(name);
        }
        first.was.clone_from(&rule.was);
        if let (Some(required), Side::Spec) = (rule.required, site.side) {
            first.required = required;
        }
    }
    for property in properties {
        let is_collection = matches!(property.ty, TypeRef::List(_) | TypeRef::Map(_));
        property.explicit = site.side == Side::Spec
            && site.explicit_collections
            && is_collection
            && matches!(property.place, ArmPlace::At(_));
    }
}

fn enum_of(
    types: &TypeTable,
    property: &Property,
    added: Option<&(TypeId, EnumType)>,
) -> Option<EnumType> {
    if let Some((_, known)) = added {
        return Some(known.clone());
    }
    match types.get(property.ty.named()?)? {
        TypeDef::Enum(known) => Some(known.clone()),
        TypeDef::Object(_) => None,
    }
}

/// What a treatment needs, if `ty` is not that.
pub(super) fn misfit(
    types: &TypeTable,
    treatment: Treatment,
    ty: &TypeRef,
) -> Option<&'static str> {
    let is_text = |ty: &TypeRef| match ty {
        TypeRef::Named(name) => matches!(types.get(name), Some(TypeDef::Enum(_))),
        ty => matches!(ty, TypeRef::String | TypeRef::Json),
    };
    let core = core(ty);
    let (fits, needed) = match treatment {
        Treatment::Reference | Treatment::WellKnownReference => {
            (is_text(core), "a string, or a list or map of strings")
        }
        Treatment::Secret => (is_text(core), "a string, or a list or map of strings"),
        Treatment::SecretMap => (
            matches!(ty, TypeRef::Map(_) | TypeRef::Json),
            "a map of strings",
        ),
        Treatment::ConfigMap | Treatment::ConfigMapRequired => (is_text(ty), "a string"),
        Treatment::ChildKind => (matches!(ty, TypeRef::List(_)), "a list"),
        Treatment::Flatten => (object_of(types, ty).is_some(), "an object"),
        Treatment::Plain | Treatment::Remove => (true, ""),
    };
    (!fits).then_some(needed)
}

/// The object behind a type that is neither list nor map, with its identity.
pub(super) fn object_of<'t>(
    types: &'t TypeTable,
    ty: &TypeRef,
) -> Option<(&'t TypeId, &'t ObjectType)> {
    let TypeRef::Named(name) = ty else {
        return None;
    };
    match types.get_key_value(name)? {
        (name, TypeDef::Object(object)) => Some((name, object)),
        (_, TypeDef::Enum(_)) => None,
    }
}

/// The type within lists and maps.
fn core(ty: &TypeRef) -> &TypeRef {
    match ty {
        TypeRef::List(item) | TypeRef::Map(item) => core(item),
        other => other,
    }
}

fn is_secret(treatment: Option<Treatment>) -> bool {
    matches!(treatment, Some(Treatment::Secret | Treatment::SecretMap))
}

/// Statuses are never validated; what remains says how to read the value.
fn status_rules(rules: &Rules) -> Rules {
    Rules {
        format: rules.format.clone(),
        ..Rules::default()
    }
}

/// The property as users of the spec see it, with its `FromConfig` twin if it has one.
fn treat(
    property: Property,
    treatment: Option<Treatment>,
    decisions: &mut Vec<Decision>,
) -> Vec<Property> {
    match treatment {
        Some(Treatment::Reference) => vec![reference(property, TypeRef::Reference)],
        Some(Treatment::WellKnownReference) => {
            vec![reference(property, TypeRef::WellKnownReference)]
        }
        Some(Treatment::Secret) => vec![secret(property)],
        Some(Treatment::SecretMap) => vec![with_type(property, TypeRef::SecretMap)],
        Some(Treatment::ConfigMap) => config_map(property, ConfigMapImport::Optional),
        Some(Treatment::ConfigMapRequired) => config_map(property, ConfigMapImport::Required),
        Some(Treatment::Plain) => vec![property],
        Some(Treatment::Remove | Treatment::ChildKind | Treatment::Flatten) => Vec::new(),
        None if property.secret => {
            decisions.push(Decision::heuristic("a secret: key of a Secret"));
            vec![secret(property)]
        }
        None if property.meaning == Meaning::ArmId => {
            decisions.push(Decision::heuristic("an ARM id: reference to a resource"));
            vec![reference(property, TypeRef::Reference)]
        }
        None => vec![property],
    }
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

fn config_map(property: Property, import: ConfigMapImport) -> Vec<Property> {
    let mut twin = with_type(property.clone(), TypeRef::ConfigMap(import));
    twin.name = naming::from_config(&property.name);
    twin.required = property.required && import == ConfigMapImport::Required;
    match import {
        ConfigMapImport::Required => vec![twin],
        ConfigMapImport::Optional => vec![
            Property {
                required: false,
                ..property
            },
            twin,
        ],
    }
}

fn retype(site: Site<'_>, property: &mut Property, rule: &PropertyRule, outcome: &mut Outcome) {
    if let Some(ty) = rule.ty {
        property.ty = match ty {
            PlainType::Boolean => TypeRef::Bool,
            PlainType::Integer => TypeRef::Integer(None),
            PlainType::Number => TypeRef::Number,
            PlainType::String => TypeRef::String,
            PlainType::Json => TypeRef::Json,
            PlainType::StringMap => TypeRef::Map(Box::new(TypeRef::String)),
        };
    }
    if let Some(values) = &rule.values {
        let now = property.ty.named();
        let id = identities::values(site.owner, &property.name, site.words, now);
        let known = EnumType {
            values: values.clone(),
            ..EnumType::default()
        };
        outcome.added = Some((id.clone(), known));
        property.ty = property.ty.with_core(TypeRef::Named(id));
    }
}
