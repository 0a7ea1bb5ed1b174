//! The type that a file gives in place of the spec's.

use super::outcome::Outcome;
use super::stage::{Site, Stage};
use crate::curation::{Aspect, PlainType, PropertyRule};
use crate::model::{EnumType, TypeDef, TypeRef, TypeTable};
use crate::naming::identities;

pub(super) const STAGE: Stage = Stage {
    heeds: &[Aspect::Type, Aspect::Items, Aspect::Values],
    run,
};

fn run(site: Site<'_>, rule: &PropertyRule, outcome: &mut Outcome) {
    let given = outcome.property.ty.clone();
    if let Some(ty) = rule.ty {
        let ty = plain(ty);
        outcome.note(Aspect::Type, ty != given);
        outcome.property.ty = ty;
    }
    if let Some(items) = rule.items {
        let ty = with_items(&outcome.property.ty, plain(items));
        outcome.note(Aspect::Items, ty != outcome.property.ty);
        outcome.property.ty = ty;
    }
    if let Some(values) = &rule.values {
        let of_spec = enum_of(site.types, &given);
        outcome.note(
            Aspect::Values,
            of_spec.is_none_or(|it| it.values != *values),
        );
        let known = EnumType {
            values: values.clone(),
            // Better values do not close a list.
            extensible: of_spec.is_some_and(|it| it.extensible),
            ..EnumType::default()
        };
        let property = &mut outcome.property;
        let now = property.ty.named();
        let id = identities::values(site.owner, &property.name, site.words, now);
        property.ty = property.ty.with_core(TypeRef::Named(id.clone()));
        outcome.added = Some((id, known));
    }
    outcome.given = (outcome.property.ty != given).then_some(given);
}

fn plain(ty: PlainType) -> TypeRef {
    match ty {
        PlainType::Boolean => TypeRef::Bool,
        PlainType::Integer => TypeRef::Integer(None),
        PlainType::Number => TypeRef::Number,
        PlainType::String => TypeRef::String,
        PlainType::Json => TypeRef::Json,
        PlainType::StringMap => TypeRef::Map(Box::new(TypeRef::String)),
        PlainType::JsonMap => TypeRef::Map(Box::new(TypeRef::Json)),
    }
}

/// The list or map with items of another type.
fn with_items(ty: &TypeRef, items: TypeRef) -> TypeRef {
    match ty {
        TypeRef::List(_) => TypeRef::List(Box::new(items)),
        TypeRef::Map(_) => TypeRef::Map(Box::new(items)),
        other => other.clone(),
    }
}

/// The enum behind a type of the spec.
fn enum_of<'t>(types: &'t TypeTable, ty: &TypeRef) -> Option<&'t EnumType> {
    match types.get(ty.named()?)? {
        TypeDef::Enum(known) => Some(known),
        TypeDef::Object(_) => None,
    }
}
