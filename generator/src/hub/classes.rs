//! Which types of different versions stand at the same place.

use std::collections::{BTreeMap, BTreeSet};

use super::Member;
use crate::model::{MissingType, ObjectType, TypeDef, TypeId, TypeRef};
use crate::naming::identities;

/// A type of one version, by index of the version.
pub(super) type Node = (usize, TypeId);
/// Index of a class in the forest.
type ClassIndex = usize;

/// Partition of all types of a kind's versions: a forest, in which the root of a type's tree is its class.
pub(super) struct Classes<'a> {
    versions: &'a [Member<'a>],
    of: BTreeMap<Node, ClassIndex>,
    /// What each class was joined to; itself where it is a root.
    joined: Vec<ClassIndex>,
    /// Members by the class's hub type, oldest version first, then in order of type.
    members: BTreeMap<TypeId, Vec<Node>>,
    /// The hub type of each class.
    hub: BTreeMap<ClassIndex, TypeId>,
    /// The hub types that are enums.
    enums: BTreeSet<TypeId>,
}

impl<'a> Classes<'a> {
    /// Starts at the roots and joins types of properties of one name until nothing changes.
    pub(super) fn of(versions: &'a [Member<'a>]) -> Self {
        let mut of = BTreeMap::<Node, ClassIndex>::new();
        for (index, member) in versions.iter().enumerate() {
            let roots = [&member.resource.spec, &member.resource.status];
            for ty in crate::model::reachable(&member.version.types, roots) {
                let class = of.len();
                of.insert((index, ty), class);
            }
        }
        let mut classes = Self {
            versions,
            joined: (0..of.len()).collect(),
            of,
            members: BTreeMap::new(),
            hub: BTreeMap::new(),
            enums: BTreeSet::new(),
        };
        for (index, pair) in versions.windows(2).enumerate() {
            let [old, new] = pair else { continue };
            let (old, new) = (old.resource, new.resource);
            for (left, right) in [(&old.spec, &new.spec), (&old.status, &new.status)] {
                classes.join(&(index, left.clone()), &(index + 1, right.clone()));
            }
        }
        while classes.join_properties() {}
        classes.settle();
        classes
    }

    /// The hub types with the types that each is made of, oldest version first.
    pub(super) fn members(&self) -> impl Iterator<Item = (&TypeId, &[Node])> {
        let members = self.members.iter();
        members.map(|(hub, nodes)| (hub, nodes.as_slice()))
    }

    /// The hub type of a version's type.
    ///
    /// # Errors
    /// When no root of the kind reaches the type in that version.
    pub(super) fn hub_type(&self, version: usize, ty: &TypeId) -> Result<&TypeId, MissingType> {
        let class = self.of.get(&(version, ty.clone()));
        let hub = class.and_then(|class| self.hub.get(&self.root(*class)));
        hub.ok_or_else(|| {
            let member = self.versions.get(version);
            let place = member.map_or_else(
                || "the hub".to_owned(),
                |it| format!("`{}` of {}", it.resource.kind, it.version.api_version),
            );
            let ty = ty.clone();
            MissingType { ty, place }
        })
    }

    /// Whether a hub type is an enum.
    pub(super) fn is_enum(&self, hub: &TypeId) -> bool {
        self.enums.contains(hub)
    }

    /// The object type of a version.
    pub(super) fn object(&self, version: usize, ty: &TypeId) -> Option<&'a ObjectType> {
        match self.definition(version, ty)? {
            TypeDef::Object(object) => Some(object),
            TypeDef::Enum(_) => None,
        }
    }

    /// The type of a version.
    pub(super) fn definition(&self, version: usize, ty: &TypeId) -> Option<&'a TypeDef> {
        self.versions.get(version)?.version.types.get(ty)
    }

    /// Properties of a class that have another name in the hub: name in some version → name in the hub.
    pub(super) fn hub_names(&self, nodes: &[Node]) -> BTreeMap<&'a str, &'a str> {
        let objects = nodes
            .iter()
            .filter_map(|(version, ty)| self.object(*version, ty));
        objects
            .flat_map(|object| &object.properties)
            .filter_map(|property| Some((property.was.as_deref()?, property.name.as_str())))
            .collect()
    }

    fn root(&self, mut class: ClassIndex) -> ClassIndex {
        while self.joined[class] != class {
            class = self.joined[class];
        }
        class
    }

    fn collect(&self) -> BTreeMap<ClassIndex, Vec<Node>> {
        let mut members = BTreeMap::<ClassIndex, Vec<Node>>::new();
        for (node, class) in &self.of {
            members
                .entry(self.root(*class))
                .or_default()
                .push(node.clone());
        }
        members
    }

    /// Makes each class a hub type: it is known by its newest member.
    fn settle(&mut self) {
        for (class, nodes) in self.collect() {
            let last = nodes.last().map(|(version, _)| *version);
            let newest = nodes.iter().find(|(version, _)| Some(*version) == last);
            let Some((version, ty)) = newest else {
                continue;
            };
            let Some(member) = self.versions.get(*version) else {
                continue;
            };
            let kind = &member.resource.kind;
            let hub = identities::hub(kind, &member.version.api_version, ty);
            if self.object(*version, ty).is_none() {
                self.enums.insert(hub.clone());
            }
            self.hub.insert(class, hub.clone());
            self.members.insert(hub, nodes);
        }
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
    fn join_properties(&mut self) -> bool {
        let mut pairs = Vec::new();
        for nodes in self.collect().into_values() {
            let names = self.hub_names(&nodes);
            let mut first = BTreeMap::<&str, (usize, &TypeRef)>::new();
            for (version, ty) in &nodes {
                let Some(object) = self.object(*version, ty) else {
                    continue;
                };
                for property in &object.properties {
                    let here = (*version, &property.ty);
                    let name = names.get(property.name.as_str()).copied();
                    let name = name.unwrap_or(&property.name);
                    let there = *first.entry(name).or_insert(here);
                    if let Some((left, right)) = self.same_place(there, here) {
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

    /// The types of a table of two references that have the same lists and maps around them and are of one sort.
    fn same_place(
        &self,
        (left_version, left): (usize, &TypeRef),
        (right_version, right): (usize, &TypeRef),
    ) -> Option<(Node, Node)> {
        match (left, right) {
            (TypeRef::List(left), TypeRef::List(right))
            | (TypeRef::Map(left), TypeRef::Map(right)) => {
                self.same_place((left_version, left), (right_version, right))
            }
            (TypeRef::Named(left), TypeRef::Named(right)) => {
                let is_object = |version, ty| self.object(version, ty).is_some();
                let same = is_object(left_version, left) == is_object(right_version, right);
                same.then(|| ((left_version, left.clone()), (right_version, right.clone())))
            }
            _ => None,
        }
    }
}
