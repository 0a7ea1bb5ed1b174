//! Who owns, refers to, reads and writes what.

use std::collections::BTreeMap;

use armature_runtime::kind::{KindInfo, OwnerRule};
use armature_runtime::kubernetes::{Target, targets};
use armature_runtime::reconcile::port::{DataKind, KubernetesError};
use armature_runtime::resource::Object;
use serde::Serialize;
use serde_json::Value;

use super::node::Node;
use crate::worlds::applied::Live;

/// How one thing needs another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// It is in it.
    Owner,
    /// It names it.
    Reference,
    /// It takes a value from it.
    Reads,
    /// It is written by it.
    WrittenBy,
}

impl Need {
    /// Before a name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Reference => "refers to",
            Self::Reads => "reads",
            Self::WrittenBy => "is written by",
        }
    }
}

/// One thing in a tree.
#[derive(Debug, Serialize)]
pub struct Branch<'a> {
    /// 0 at the top.
    pub depth: usize,
    /// Which.
    #[serde(flatten)]
    pub node: &'a Node,
    /// What it needs beside its owner, which stands above it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Needed<'a>>,
}

/// Something that is needed, and how.
#[derive(Debug, Serialize)]
pub struct Needed<'a> {
    /// How.
    pub need: Need,
    /// Which.
    pub of: &'a Node,
}

/// Group, kind, namespace and name.
pub type Id = (String, String, String, String);

/// What runs, and how it hangs together.
#[derive(Default)]
pub struct Relations {
    nodes: BTreeMap<Id, Node>,
    needs: BTreeMap<Id, Vec<(Need, Id)>>,
    owners: BTreeMap<Id, Id>,
}

impl Relations {
    /// What runs in a cluster, and sentences about what cannot be read.
    ///
    /// # Errors
    /// When the API server does not tell what is installed.
    pub async fn read(
        live: &Live,
        kinds: &[&'static KindInfo],
    ) -> Result<(Self, Vec<String>), KubernetesError> {
        let (objects, mut problems) = live.objects(kinds).await?;
        let mut relations = Self::of(&objects);
        let missing: Vec<Id> = relations.data().cloned().collect();
        for id in missing {
            let (_, kind, namespace, name) = &id;
            let kind = match kind.as_str() {
                "Secret" => DataKind::Secret,
                _ => DataKind::ConfigMap,
            };
            match live.data(kind, namespace, name).await {
                Ok(found) => relations.set_data(&id, found.is_some()),
                // It is not known to be missing.
                Err(error) => {
                    problems.push(error.to_string());
                    relations.set_data(&id, true);
                }
            }
        }
        Ok((relations, problems))
    }

    /// How these objects hang together. Secrets and ConfigMaps are taken for missing until it is said that they are there.
    pub fn of(objects: &[Object]) -> Self {
        let mut relations = Self::default();
        for object in objects {
            let node = Node::of(object);
            relations.nodes.insert(id_of(&node), node);
        }
        for object in objects {
            relations.add(object);
        }
        // Whoever reads what an object writes needs that object.
        let writers = writers(objects);
        for (id, writer) in writers {
            if relations.nodes.contains_key(&id) {
                relations
                    .needs
                    .entry(id)
                    .or_default()
                    .push((Need::WrittenBy, writer));
            }
        }
        relations
    }

    fn add(&mut self, object: &Object) {
        let own = id_of(&Node::of(object));
        let owner = owner(object);
        let mut needs = Vec::new();
        for target in targets(object) {
            let (need, id) = match target {
                Target::Owner { group, kind, name } => {
                    (Need::Owner, (group, kind, own.2.clone(), name))
                }
                Target::Object { group, kind, name } => {
                    let id = (group, kind, own.2.clone(), name);
                    if owner.as_ref() == Some(&id) {
                        continue;
                    }
                    (Need::Reference, id)
                }
                Target::Data { kind, name } => {
                    let id = (String::new(), format!("{kind:?}"), own.2.clone(), name);
                    (Need::Reads, id)
                }
                Target::OwnerId { .. } | Target::Export { .. } => continue,
            };
            let (group, kind, namespace, name) = &id;
            let named = || Node::named(group, kind, namespace, name, false);
            self.nodes.entry(id.clone()).or_insert_with(named);
            needs.push((need, id));
        }
        needs.sort();
        if let Some(owner) = owner {
            self.owners.insert(own.clone(), owner);
        }
        self.needs.insert(own, needs);
    }

    /// All things, by id.
    pub fn nodes(&self) -> impl Iterator<Item = (&Id, &Node)> {
        self.nodes.iter()
    }

    /// The owner that an object names.
    pub fn owner(&self, id: &Id) -> Option<&Id> {
        self.owners.get(id)
    }

    /// The thing of this id.
    pub fn node(&self, id: &Id) -> Option<&Node> {
        self.nodes.get(id)
    }

    /// What a thing needs: its owner first.
    pub fn needs(&self, id: &Id) -> &[(Need, Id)] {
        self.needs.get(id).map_or(&[], Vec::as_slice)
    }

    /// The objects that are there, by namespace, kind and name.
    pub fn objects(&self) -> Vec<&Node> {
        let there = self
            .nodes
            .values()
            .filter(|node| node.exists && !node.group.is_empty());
        let mut found: Vec<&Node> = there.collect();
        found.sort_by_key(|node| (&node.namespace, &node.group, &node.kind, &node.name));
        found
    }

    /// What stands in the tree by owner: all roots, or one object, each with how deep it is and what it needs beside its
    /// owner.
    pub fn tree(&self, root: Option<&Id>) -> Vec<Branch<'_>> {
        let mut below: BTreeMap<&Id, Vec<&Id>> = BTreeMap::new();
        for (id, owner) in &self.owners {
            below.entry(owner).or_default().push(id);
        }
        let roots: Vec<&Id> = match root {
            Some(root) => vec![root],
            None => {
                let nodes = self.nodes.iter().filter(|(_, node)| !node.group.is_empty());
                let ids = nodes.map(|(id, _)| id);
                let is_root = |id: &&Id| {
                    let is_used = below.contains_key(*id) || self.nodes[*id].exists;
                    is_used && !self.owners.contains_key(*id)
                };
                ids.filter(is_root).collect()
            }
        };
        let mut found = Vec::new();
        for root in roots {
            self.descend(root, 0, &below, &mut found);
        }
        found
    }

    fn descend<'a>(
        &'a self,
        id: &Id,
        depth: usize,
        below: &BTreeMap<&Id, Vec<&'a Id>>,
        found: &mut Vec<Branch<'a>>,
    ) {
        let Some(node) = self.nodes.get(id) else {
            return;
        };
        let needs = self.needs(id).iter();
        let beside = needs.filter(|(need, _)| *need != Need::Owner);
        found.push(Branch {
            depth,
            node,
            needs: beside
                .filter_map(|(need, id)| {
                    let of = self.nodes.get(id)?;
                    Some(Needed { need: *need, of })
                })
                .collect(),
        });
        // Nothing that is in itself is shown for ever.
        if depth > self.nodes.len() {
            return;
        }
        for child in below.get(id).into_iter().flatten() {
            self.descend(child, depth + 1, below, found);
        }
    }

    /// Secrets and ConfigMaps.
    pub fn data(&self) -> impl Iterator<Item = &Id> {
        self.nodes.keys().filter(|(group, ..)| group.is_empty())
    }

    /// Says whether a Secret or ConfigMap is there.
    pub fn set_data(&mut self, id: &Id, exists: bool) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.exists = exists;
        }
    }
}

/// Group, kind, namespace and name of a node.
pub fn id_of(node: &Node) -> Id {
    (
        node.group.clone(),
        node.kind.clone(),
        node.namespace.clone(),
        node.name.clone(),
    )
}

fn writers(objects: &[Object]) -> Vec<(Id, Id)> {
    let mut found = Vec::new();
    for object in objects {
        let own = id_of(&Node::of(object));
        for target in targets(object) {
            if let Target::Export { kind, name } = target {
                let id = (String::new(), format!("{kind:?}"), own.2.clone(), name);
                found.push((id, own.clone()));
            }
        }
    }
    found
}

/// The owner that an object names in the cluster.
fn owner(object: &Object) -> Option<Id> {
    let spec: Value = serde_json::from_str(object.spec.as_ref()?.get()).ok()?;
    let text = |member: &str| spec["owner"][member].as_str().map(str::to_owned);
    let (group, kind) = match object.kind.0.owner {
        OwnerRule::Kind { group, kind } => (group.to_owned(), kind.to_owned()),
        OwnerRule::Any => (text("group")?, text("kind")?),
        OwnerRule::None => return None,
    };
    Some((group, kind, object.key().namespace, text("name")?))
}
