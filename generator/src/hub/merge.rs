//! Merging the types of a class into one hub type.

use std::collections::{BTreeMap, BTreeSet};

use super::Member;
use super::classes::{ClassId, Classes, Node, hub_names, object};
use super::step::Step;
use crate::model::{
    Discriminated, EnumType, ObjectType, Origin, Property, Rules, TypeDef, TypeName, TypeRef,
    TypeTable,
};

/// Hub types of one kind.
pub(super) struct Merged {
    /// The hub types.
    pub(super) types: TypeTable,
    /// Name of each class's hub type.
    pub(super) names: BTreeMap<ClassId, TypeName>,
    /// What leads from a version's property to that of the hub: by class, version and name. Nothing where the
    /// hub has it under the same name.
    pub(super) steps: BTreeMap<(ClassId, usize, String), Step>,
}

/// The versions' forms of one property of a class, newest first.
struct Forms<'a> {
    /// Type in the hub.
    ty: TypeRef,
    forms: Vec<(usize, &'a Property)>,
}

/// Merges every class. `storage` is the index of the storage version.
pub(super) fn merge(members: &[Member<'_>], classes: &Classes, storage: usize) -> Merged {
    let mut merged = Merged {
        types: TypeTable::new(),
        names: names(classes, members),
        steps: BTreeMap::new(),
    };
    for (class, nodes) in &classes.members {
        let definition = if object(members, nodes[0].0, &nodes[0].1).is_some() {
            merge_objects(members, classes, *class, storage, &mut merged)
        } else {
            merge_enums(members, nodes)
        };
        let name = merged.names[class].clone();
        merged.types.insert(name, definition);
    }
    merged
}

/// The newest member's name; an older one's is told apart by its api-version when the name is taken.
fn names(classes: &Classes, members: &[Member<'_>]) -> BTreeMap<ClassId, TypeName> {
    let newest = |nodes: &[Node]| {
        let version = nodes.iter().map(|(version, _)| *version).max();
        let node = nodes.iter().find(|(index, _)| Some(*index) == version);
        node.cloned()
    };
    let mut order = classes
        .members
        .iter()
        .filter_map(|(class, nodes)| newest(nodes).map(|node| (node, *class)))
        .collect::<Vec<_>>();
    order.sort_by(|((left, _), _), ((right, _), _)| right.cmp(left));
    let mut taken = BTreeSet::new();
    let mut names = BTreeMap::new();
    for ((version, name), class) in order {
        let mut chosen = name.clone();
        if !taken.insert(chosen.clone()) {
            let compact = members[version].version.api_version.compact();
            chosen = TypeName::new(format!("{name}V{compact}"));
            taken.insert(chosen.clone());
        }
        names.insert(class, chosen);
    }
    names
}

fn merge_enums(members: &[Member<'_>], nodes: &[Node]) -> TypeDef {
    let mut union = EnumType::default();
    for (version, name) in nodes.iter().rev() {
        if let Some(TypeDef::Enum(definition)) = members[*version].version.types.get(name) {
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
    classes: &Classes,
    class: ClassId,
    storage: usize,
    merged: &mut Merged,
) -> TypeDef {
    let nodes = &classes.members[&class];
    let objects = nodes
        .iter()
        .rev()
        .filter_map(|(version, name)| Some((*version, object(members, *version, name)?)))
        .collect::<Vec<_>>();
    let stored = objects.iter().any(|(version, _)| *version == storage);
    let names = hub_names(members, nodes);
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
        let groups = compatible(members, classes, merged, forms);
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
                    merged
                        .steps
                        .insert((class, *version, form.name.clone()), step);
                }
            }
            let has_storage = group.forms.iter().any(|(version, _)| *version == storage);
            property.stashed = stored && !has_storage;
            properties.push(property);
        }
    }
    properties.sort_by_key(|property| (property.name != "conditions", property.name.clone()));
    let newest = objects.first().map(|(_, object)| *object);
    TypeDef::Object(ObjectType {
        properties,
        discriminated: discriminated(&objects),
        arm_resource: newest.is_some_and(|object| object.arm_resource),
        description: None,
        source: newest.map_or_else(String::new, |object| object.source.clone()),
        left_out: Vec::new(),
        definition: newest.and_then(|object| object.definition.clone()),
    })
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
    members: &[Member<'_>],
    classes: &Classes,
    merged: &Merged,
    forms: &[(usize, &'a Property)],
) -> Vec<Forms<'a>> {
    let mut groups = Vec::<Forms<'a>>::new();
    for (version, property) in forms {
        let ty = hub_type(&property.ty, *version, classes, merged);
        let enums = |ty: &TypeRef| is_enum(ty, members, classes, merged);
        let found = groups
            .iter_mut()
            .find_map(|group| Some((merge_types(&group.ty, &ty, &enums)?, group)));
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
    groups
}

/// The type with names of hub types in place of a version's.
fn hub_type(ty: &TypeRef, version: usize, classes: &Classes, merged: &Merged) -> TypeRef {
    let class = ty.named().and_then(|name| classes.of_type(version, name));
    match class {
        Some(class) => ty.with_core(TypeRef::Named(merged.names[&class].clone())),
        None => ty.clone(),
    }
}

/// Whether a hub type is an enum.
fn is_enum(ty: &TypeRef, members: &[Member<'_>], classes: &Classes, merged: &Merged) -> bool {
    let TypeRef::Named(name) = ty else {
        return false;
    };
    let class = merged.names.iter().find(|(_, hub)| *hub == name);
    class.is_some_and(|(class, _)| {
        let (version, name) = &classes.members[class][0];
        object(members, *version, name).is_none()
    })
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
