//! The chain from an object to the one thing that is in the way.

use std::collections::BTreeSet;

use serde::Serialize;

use super::advice::advice;
use super::node::Node;
use super::relations::{Id, Need, Relations};

/// Why an object is not ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// The object.
    pub object: Node,
    /// What is in the way; nothing where the object is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// All that the object needs, and what that needs: with how deep it is, and how it is needed.
    pub chain: Vec<Link>,
    /// Rules of its kind for values that Azure moves by itself: there the resource may be another one than the spec says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub azure_owned: Vec<&'static str>,
}

/// The thing that is in the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// Which.
    pub of: Node,
    /// What to do about it.
    pub advice: String,
}

/// One thing that something needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// 1 for what the object itself needs.
    pub depth: usize,
    /// How it is needed.
    pub need: Need,
    /// Which.
    pub of: Node,
}

impl Why {
    /// Looks for what keeps an object from being ready; nothing where there is no such object.
    pub fn of(relations: &Relations, id: &Id) -> Option<Self> {
        let object = relations.node(id)?.clone();
        let mut walk = Walk {
            relations,
            seen: BTreeSet::from([id.clone()]),
            chain: Vec::new(),
        };
        walk.descend(id, 1);
        let cause = (!object.is_fine()).then(|| {
            let of = cause(relations, id, &mut BTreeSet::new()).unwrap_or_else(|| object.clone());
            Cause {
                advice: advice(&of),
                of,
            }
        });
        Some(Self {
            azure_owned: azure_owned(&object),
            object,
            cause,
            chain: walk.chain,
        })
    }
}

fn azure_owned(object: &Node) -> Vec<&'static str> {
    let mut kinds = armature_generated::KINDS.iter();
    let kind = kinds.find(|it| it.group == object.group && it.kind == object.kind);
    kind.map_or_else(Vec::new, |kind| kind.azure_owned.to_vec())
}

struct Walk<'a> {
    relations: &'a Relations,
    seen: BTreeSet<Id>,
    chain: Vec<Link>,
}

impl Walk<'_> {
    fn descend(&mut self, id: &Id, depth: usize) {
        for (need, needed) in self.relations.needs(id) {
            let Some(node) = self.relations.node(needed) else {
                continue;
            };
            self.chain.push(Link {
                depth,
                need: *need,
                of: node.clone(),
            });
            if self.seen.insert(needed.clone()) {
                self.descend(needed, depth + 1);
            }
        }
    }
}

/// The first thing on the way down that is not fine although all that it needs is. A Secret that nobody has written yet is
/// its writer's matter.
fn cause(relations: &Relations, id: &Id, seen: &mut BTreeSet<Id>) -> Option<Node> {
    if !seen.insert(id.clone()) {
        return None;
    }
    let node = relations.node(id)?;
    if node.is_fine() {
        return None;
    }
    let needs = relations.needs(id).iter();
    let deeper = needs.filter_map(|(_, needed)| cause(relations, needed, seen));
    let deeper = deeper.collect::<Vec<_>>().into_iter().next();
    Some(deeper.unwrap_or_else(|| node.clone()))
}
