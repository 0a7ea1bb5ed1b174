//! Which types of different versions stand at the same place.

use std::collections::BTreeMap;

use super::Member;
use crate::model::{ObjectType, TypeDef, TypeName, TypeRef};

/// A type of one version, by index of the version.
pub(super) type Node = (usize, TypeName);
/// Identifies a class.
pub(super) type ClassId = usize;

/// Partition of all types of a kind's versions: a forest, in which the root of a type's tree is its class.
pub(super) struct Classes {
    of: BTreeMap<Node, ClassId>,
    /// What each class was joined to; itself where it is a root.
    joined: Vec<ClassId>,
    /// Members per class, oldest version first, then by name.
    pub(super) members: BTreeMap<ClassId, Vec<Node>>,
}

impl Classes {
    /// Starts at the roots and joins types of properties of one name until nothing changes.
    pub(super) fn of(members: &[Member<'_>]) -> Self {
        let mut of = BTreeMap::<Node, ClassId>::new();
        for (index, member) in members.iter().enumerate() {
            let roots = [&member.resource.spec, &member.resource.status];
            for name in crate::model::reachable(&member.version.types, roots) {
                let id = of.len();
                of.insert((index, name), id);
            }
        }
        let mut classes = Self {
            joined: (0..of.len()).collect(),
            of,
            members: BTreeMap::new(),
        };
        for (index, pair) in members.windows(2).enumerate() {
            let (old, new) = (pair[0].resource, pair[1].resource);
            for (left, right) in [(&old.spec, &new.spec), (&old.status, &new.status)] {
                classes.join(&(index, left.clone()), &(index + 1, right.clone()));
            }
        }
        while classes.join_properties(members) {}
        classes.members = classes.collect();
        classes
    }

    /// The class of a type, if a root of the kind reaches it.
    pub(super) fn of_type(&self, version: usize, name: &TypeName) -> Option<ClassId> {
        let id = self.of.get(&(version, name.clone()))?;
        Some(self.root(*id))
    }

    fn root(&self, mut id: ClassId) -> ClassId {
        while self.joined[id] != id {
            id = self.joined[id];
        }
        id
    }

    fn collect(&self) -> BTreeMap<ClassId, Vec<Node>> {
        let mut members = BTreeMap::<ClassId, Vec<Node>>::new();
        for (node, id) in &self.of {
            members
                .entry(self.root(*id))
                .or_default()
                .push(node.clone());
        }
        members
    }

    fn join(&mut self, left: &Node, right: &Node) -> bool {
        let (Some(&left), Some(&right)) = (self.of.get(left), self.of.get(right)) else {
            return false;
        };
        let (left, right) = (self.root(left), self.root(right));
        self.joined[right] = left;
        left != right
    }

    /// One round over all classes: joins the types of properties of one name. True when anything was joined.
    fn join_properties(&mut self, members: &[Member<'_>]) -> bool {
        let mut pairs = Vec::new();
        for nodes in self.collect().into_values() {
            let names = hub_names(members, &nodes);
            let mut first = BTreeMap::<&str, (usize, &TypeRef)>::new();
            for (version, name) in &nodes {
                let Some(object) = object(members, *version, name) else {
                    continue;
                };
                for property in &object.properties {
                    let here = (*version, &property.ty);
                    let name = names.get(property.name.as_str()).copied();
                    let name = name.unwrap_or(&property.name);
                    let there = *first.entry(name).or_insert(here);
                    if let Some((left, right)) = same_place(members, there, here) {
                        pairs.push((left, right));
                    }
                }
            }
        }
        let mut changed = false;
        for (left, right) in pairs {
            changed |= self.join(&left, &right);
        }
        changed
    }
}

/// Properties of a class that have another name in the hub: name in some version → name in the hub.
pub(super) fn hub_names<'a>(members: &[Member<'a>], nodes: &[Node]) -> BTreeMap<&'a str, &'a str> {
    let objects = nodes
        .iter()
        .filter_map(|(version, name)| object(members, *version, name));
    objects
        .flat_map(|object| &object.properties)
        .filter_map(|property| Some((property.was.as_deref()?, property.name.as_str())))
        .collect()
}

/// The object type of a version under this name.
pub(super) fn object<'a>(
    members: &[Member<'a>],
    version: usize,
    name: &TypeName,
) -> Option<&'a ObjectType> {
    match members[version].version.types.get(name) {
        Some(TypeDef::Object(object)) => Some(object),
        _ => None,
    }
}

/// The named types of two references that have the same lists and maps around them and are of one sort.
fn same_place(
    members: &[Member<'_>],
    (left_version, left): (usize, &TypeRef),
    (right_version, right): (usize, &TypeRef),
) -> Option<(Node, Node)> {
    match (left, right) {
        (TypeRef::List(left), TypeRef::List(right)) | (TypeRef::Map(left), TypeRef::Map(right)) => {
            same_place(members, (left_version, left), (right_version, right))
        }
        (TypeRef::Named(left), TypeRef::Named(right)) => {
            let is_object = |version, name| object(members, version, name).is_some();
            let same = is_object(left_version, left) == is_object(right_version, right);
            same.then(|| ((left_version, left.clone()), (right_version, right.clone())))
        }
        _ => None,
    }
}
