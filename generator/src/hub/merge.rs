//! Merging the types of a class into one hub type.

use std::collections::BTreeMap;

use super::Member;
use super::classes::{Classes, Node};
use super::step::Step;
use crate::model::{
    Discriminated, EnumType, MissingType, ObjectType, Origin, Property, Rules, TypeDef, TypeId,
    TypeRef, TypeTable,
};

/// Hub types of one kind.
#[derive(Default)]
pub(super) struct Merged {
    /// The hub types.
    pub(super) types: TypeTable,
    /// What leads from a version's property to that of the hub: by hub type, version and name. Nothing where the
    /// hub has it under the same name.
    pub(super) steps: BTreeMap<(TypeId, usize, String), Step>,
}

/// The versions' forms of one property of a class, newest first.
struct Forms<'a> {
    /// Type in the hub.
    ty: TypeRef,
    forms: Vec<(usize, &'a Property)>,
}

/// Merges every class. `storage` is the index of the storage version.
pub(super) fn merge(
    members: &[Member<'_>],
    classes: &Classes<'_>,
    storage: usize,
) -> Result<Merged, MissingType> {
    let mut merged = Merged::default();
    for (hub, nodes) in classes.members() {
        let definition = if classes.is_enum(hub) {
            merge_enums(classes, nodes)
        } else {
            merge_objects(members, classes, (hub, nodes), storage, &mut merged)?
        };
        merged.types.insert(hub.clone(), definition);
    }
    Ok(merged)
}

fn merge_enums(classes: &Classes<'_>, nodes: &[Node]) -> TypeDef {
    let mut union = EnumType::default();
    for (version, ty) in nodes.iter().rev() {
        if let Some(TypeDef::Enum(definition)) = classes.definition(*version, ty) {
            union.extensible |= definition.extensible;
            for value in &definition.values {
                if !union.values.contains(value) {
                    union.values.push(value.clone());
                }
            }
        }
    }
    TypeDef::Enum(union)
}

fn merge_objects(
    members: &[Member<'_>],
    classes: &Classes<'_>,
    (hub, nodes): (&TypeId, &[Node]),
    storage: usize,
    merged: &mut Merged,
) -> Result<TypeDef, MissingType> {
    let objects = nodes
        .iter()
        .rev()
        .filter_map(|(version, ty)| Some((*version, classes.object(*version, ty)?)))
        .collect::<Vec<_>>();
    let stored = objects.iter().any(|(version, _)| *version == storage);
    let names = classes.hub_names(nodes);
    let mut by_name = BTreeMap::<&str, Vec<(usize, &Property)>>::new();
    for (version, object) in &objects {
        for property in &object.properties {
            let name = names.get(property.name.as_str()).copied();
            let forms = by_name.entry(name.unwrap_or(&property.name)).or_default();
            forms.push((*version, property));
        }
    }
    let mut properties = Vec::new();
    for (name, forms) in &by_name {
        let groups = compatible(classes, forms)?;
        for (index, group) in groups.iter().enumerate() {
            let mut property = merge_forms(group, objects.len());
            (*name).clone_into(&mut property.name);
            if index > 0 {
                let (newest, _) = group.forms[0];
                let version = &members[newest].version.api_version;
                property.name = format!("{name}V{}", version.compact());
            }
            for (version, form) in &group.forms {
                if let Some(step) = step(&form.name, &property.name, index == 0) {
                    let key = (hub.clone(), *version, form.name.clone());
                    merged.steps.insert(key, step);
                }
            }
            let has_storage = group.forms.iter().any(|(version, _)| *version == storage);
            property.stashed = stored && !has_storage;
            properties.push(property);
        }
    }
    properties.sort_by_key(|property| (property.name != "conditions", property.name.clone()));
    let newest = objects.first().map(|(_, object)| *object);
    Ok(TypeDef::Object(ObjectType {
        properties,
        discriminated: discriminated(&objects),
        arm_resource: newest.is_some_and(|object| object.arm_resource),
        description: None,
        source: newest.map_or_else(String::new, |object| object.source.clone()),
        left_out: Vec::new(),
        definition: newest.and_then(|object| object.definition.clone()),
    }))
}

/// What leads from a version's property to the hub's, if the names differ.
fn step(version: &str, hub: &str, is_compatible: bool) -> Option<Step> {
    let (from, to) = (version.to_owned(), hub.to_owned());
    match (from == to, is_compatible) {
        (true, _) => None,
        (false, true) => Some(Step::Rename {
            version: from,
            hub: to,
        }),
        (false, false) => Some(Step::Retype {
            version: from,
            hub: to,
        }),
    }
}

/// Sorts the forms of a property into groups whose values can be carried over, the newest form's first.
fn compatible<'a>(
    classes: &Classes<'_>,
    forms: &[(usize, &'a Property)],
) -> Result<Vec<Forms<'a>>, MissingType> {
    let mut groups = Vec::<Forms<'a>>::new();
    for (version, property) in forms {
        let ty = match property.ty.named() {
            Some(inner) => {
                let hub = classes.hub_type(*version, inner)?;
                property.ty.with_core(TypeRef::Named(hub.clone()))
            }
            None => property.ty.clone(),
        };
        let is_enum = |ty: &TypeRef| matches!(ty, TypeRef::Named(hub) if classes.is_enum(hub));
        let found = groups
            .iter_mut()
            .find_map(|group| Some((merge_types(&group.ty, &ty, &is_enum)?, group)));
        match found {
            Some((ty, group)) => {
                group.ty = ty;
                group.forms.push((*version, property));
            }
            None => groups.push(Forms {
                ty,
                forms: vec![(*version, property)],
            }),
        }
    }
    Ok(groups)
}

/// The type that holds values of both, if there is one: enums are strings, integers are integers whatever their
/// width.
fn merge_types(
    newer: &TypeRef,
    older: &TypeRef,
    is_enum: &dyn Fn(&TypeRef) -> bool,
) -> Option<TypeRef> {
    let is_text = |ty: &TypeRef| *ty == TypeRef::String || is_enum(ty);
    match (newer, older) {
        (TypeRef::Integer(_), TypeRef::Integer(_)) => Some(newer.clone()),
        (TypeRef::List(newer), TypeRef::List(older)) => {
            merge_types(newer, older, is_enum).map(|item| TypeRef::List(Box::new(item)))
        }
        (TypeRef::Map(newer), TypeRef::Map(older)) => {
            merge_types(newer, older, is_enum).map(|item| TypeRef::Map(Box::new(item)))
        }
        _ if newer == older => Some(newer.clone()),
        _ if is_text(newer) && is_text(older) => Some(TypeRef::String),
        _ => None,
    }
}

/// One property from its forms: the newest one's facts, but only those constraints that hold in every version,
/// because every version's values are stored.
fn merge_forms(group: &Forms<'_>, members: usize) -> Property {
    let (_, newest) = group.forms[0];
    let all = |test: &dyn Fn(&Property) -> bool| group.forms.iter().all(|(_, form)| test(form));
    let any = |test: &dyn Fn(&Property) -> bool| group.forms.iter().any(|(_, form)| test(form));
    let keep = |rules: &dyn Fn(&Property) -> &Rules| {
        if all(&|form| rules(form) == rules(newest)) {
            rules(newest).clone()
        } else {
            Rules::default()
        }
    };
    Property {
        ty: group.ty.clone(),
        required: group.forms.len() == members && all(&|form| form.required),
        secret: any(&|form| form.secret),
        write_only: any(&|form| form.write_only),
        rules: keep(&|form| &form.rules),
        item_rules: keep(&|form| &form.item_rules),
        was: None,
        default: None,
        description: None,
        origin: Origin::default(),
        ..newest.clone()
    }
}

/// The variants of all versions; the newest names the discriminator.
fn discriminated(objects: &[(usize, &ObjectType)]) -> Option<Discriminated> {
    let mut all = objects
        .iter()
        .filter_map(|(_, object)| object.discriminated.as_ref());
    let mut union = all.next()?.clone();
    for older in all {
        for variant in &older.variants {
            if !union.variants.contains(variant) {
                union.variants.push(variant.clone());
            }
        }
    }
    Some(union)
}
