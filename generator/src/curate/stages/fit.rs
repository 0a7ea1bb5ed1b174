//! Whether a property has the form that a word of the file needs.

use crate::curation::Treatment;
use crate::model::{ObjectType, TypeDef, TypeId, TypeRef, TypeTable};

/// What a treatment needs, if `ty` is not that.
pub(in crate::curate) fn misfit(
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
        Treatment::ReferenceOrPlain
        | Treatment::ConfigMap
        | Treatment::ConfigMapRequired
        | Treatment::SecretOrPlain => (is_text(ty), "a string"),
        Treatment::ChildKind => (matches!(ty, TypeRef::List(_)), "a list"),
        Treatment::Flatten => (object_of(types, ty).is_some(), "an object"),
        Treatment::Plain | Treatment::Remove => (true, ""),
    };
    (!fits).then_some(needed)
}

/// The object behind a type that is neither list nor map, with its name.
pub(in crate::curate) fn object_of<'t>(
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

/// Whether it is an object, or a list or map of objects.
pub(in crate::curate) fn holds_object(types: &TypeTable, ty: &TypeRef) -> bool {
    object_of(types, core(ty)).is_some()
}

/// The type within lists and maps.
pub(in crate::curate) fn core(ty: &TypeRef) -> &TypeRef {
    match ty {
        TypeRef::List(item) | TypeRef::Map(item) => core(item),
        other => other,
    }
}
