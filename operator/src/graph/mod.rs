//! `armature graph`: owners and references with their states, as a drawing or as text that other programs draw.
//!
//! | module | what lives here |
//! |---|---|
//! | this one | what is drawn: things, arrows, and a frame around each resource group |
//! | [`dot`], [`mermaid`] | the same as text for Graphviz and Mermaid |
//! | [`svg`], [`canvas`] | a drawing, with places from a layout library |
//!
//! What does not live here: how things hang together ([`crate::relations`]).

pub mod canvas;
pub mod dot;
pub mod mermaid;
pub mod svg;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::relations::relations::{Id, Need};
use crate::relations::{Node, Relations};

/// Kind that frames stand for.
const RESOURCE_GROUP: (&str, &str) = ("resources.azure.com", "ResourceGroup");

/// Frame of what is in no resource group.
const ELSEWHERE: &str = "in no resource group";

/// Where things are from, which decides what can be said of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A cluster: the operator has written what state they are in.
    Cluster,
    /// Manifests: they are there or not.
    Manifests,
}

/// How a thing is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Others can build on it.
    Ready,
    /// It is not ready.
    Waiting,
    /// It is named and is not there.
    Missing,
    /// Nothing is known of it, or it has no state.
    Plain,
}

impl State {
    /// A name for styles.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Missing => "missing",
            Self::Plain => "plain",
        }
    }

    /// Colours of the inside and of the border.
    pub fn colours(self) -> (&'static str, &'static str) {
        match self {
            Self::Ready => ("#e6f4ea", "#137333"),
            Self::Waiting => ("#fef7e0", "#b06000"),
            Self::Missing => ("#fce8e6", "#c5221f"),
            Self::Plain => ("#f1f3f4", "#5f6368"),
        }
    }
}

/// A thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vertex {
    /// Kind, then namespace and name, then the state where there is something to say.
    pub lines: Vec<String>,
    /// How it is drawn.
    pub state: State,
    /// Position of the frame that it is in.
    pub frame: usize,
}

/// An arrow from what is needed to what needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// Position of what is needed.
    pub needed: usize,
    /// Position of what needs it.
    pub by: usize,
    /// How.
    pub need: Need,
}

/// A resource group with what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What stands at its top.
    pub title: String,
    /// How it is drawn.
    pub state: State,
}

/// What is drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Frames, by namespace and name of the resource group; what is in none comes last.
    pub frames: Vec<Frame>,
    /// Things, by frame.
    pub vertices: Vec<Vertex>,
    /// Arrows.
    pub edges: Vec<Edge>,
}

impl Graph {
    /// What things there are and how they hang together. A resource group is the frame around what is in it; it is a thing
    /// of its own only where something refers to it.
    pub fn new(relations: &Relations, source: Source) -> Self {
        let nodes: BTreeMap<&Id, &Node> = relations.nodes().collect();
        let groups = groups(relations, &nodes);
        let inside: BTreeSet<&Id> = groups.values().flatten().copied().collect();
        let mut titles: Vec<Option<&Id>> = inside.iter().map(|id| Some(*id)).collect();
        titles.sort_by_key(|id| id.map(|(_, _, namespace, name)| (namespace, name)));
        let referred = referred(relations, &nodes);
        let is_drawn = |id: &Id| !inside.contains(id) || referred.contains(id);
        let mut drawn: Vec<&Id> = nodes.keys().copied().filter(|id| is_drawn(id)).collect();
        let group = |id: &Id| match inside.get(id) {
            Some(own) => Some(*own),
            None => groups.get(id).copied().flatten(),
        };
        if drawn.iter().any(|id| group(id).is_none()) {
            titles.push(None);
        }
        let frame = |id: &Id| {
            let group = group(id);
            titles
                .iter()
                .position(|one| *one == group)
                .unwrap_or_default()
        };
        drawn.sort_by_key(|id| (frame(id), *id));
        let position: BTreeMap<&Id, usize> =
            drawn.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        let frames = titles
            .iter()
            .map(|id| match id.and_then(|id| nodes.get(id)) {
                Some(node) => Frame {
                    title: lines(node, source).join(" "),
                    state: state(node, source),
                },
                None => Frame {
                    title: ELSEWHERE.to_owned(),
                    state: State::Plain,
                },
            });
        let frames = frames.collect();
        let vertices = drawn.iter().filter_map(|id| {
            let node = nodes.get(*id)?;
            Some(Vertex {
                lines: lines(node, source),
                state: state(node, source),
                frame: frame(id),
            })
        });
        let vertices = vertices.collect();
        Self {
            frames,
            vertices,
            edges: edges(relations, &nodes, &inside, &position),
        }
    }

    /// Positions of the things in a frame.
    pub fn within(&self, frame: usize) -> impl Iterator<Item = usize> {
        let things = self.vertices.iter().enumerate();
        things.filter_map(move |(at, one)| (one.frame == frame).then_some(at))
    }
}

/// The resource group that each thing is in, by its owners; for a Secret or ConfigMap that of the first who reads or writes it.
fn groups<'a>(
    relations: &'a Relations,
    nodes: &BTreeMap<&'a Id, &'a Node>,
) -> BTreeMap<&'a Id, Option<&'a Id>> {
    let mut found = BTreeMap::new();
    for id in nodes.keys() {
        if !is_group(id) && !id.0.is_empty() {
            found.insert(*id, above(relations, nodes, id));
        }
    }
    let mut data = BTreeMap::new();
    for (id, group) in &found {
        let needs = relations.needs(id).iter();
        for (_, needed) in needs.filter(|(need, _)| *need == Need::Reads) {
            if let Some((known, _)) = nodes.get_key_value(needed) {
                data.entry(*known).or_insert(*group);
            }
        }
    }
    found.extend(data);
    found
}

fn above<'a>(
    relations: &'a Relations,
    nodes: &BTreeMap<&'a Id, &'a Node>,
    id: &'a Id,
) -> Option<&'a Id> {
    let mut id = id;
    // Nothing that owns itself is followed for ever.
    for _ in 0..=nodes.len() {
        let owner = relations.owner(id)?;
        if is_group(owner) {
            return nodes.get_key_value(owner).map(|(known, _)| *known);
        }
        id = owner;
    }
    None
}

fn is_group(id: &Id) -> bool {
    (id.0.as_str(), id.1.as_str()) == RESOURCE_GROUP
}

/// What something refers to beside its owner.
fn referred<'a>(relations: &Relations, nodes: &BTreeMap<&'a Id, &'a Node>) -> BTreeSet<&'a Id> {
    let needs = nodes.keys().flat_map(|id| relations.needs(id));
    let references = needs.filter(|(need, _)| *need != Need::Owner);
    let known = references.filter_map(|(_, id)| nodes.get_key_value(id));
    known.map(|(id, _)| *id).collect()
}

/// Arrows between what is drawn. That something is in a resource group is told by its frame.
fn edges(
    relations: &Relations,
    nodes: &BTreeMap<&Id, &Node>,
    inside: &BTreeSet<&Id>,
    position: &BTreeMap<&Id, usize>,
) -> Vec<Edge> {
    let mut edges = Vec::new();
    for id in nodes.keys() {
        for (need, needed) in relations.needs(id) {
            let is_told = *need == Need::Owner && inside.contains(needed);
            let ends = (position.get(needed), position.get(*id));
            if let (false, (Some(needed), Some(by))) = (is_told, ends) {
                edges.push(Edge {
                    needed: *needed,
                    by: *by,
                    need: *need,
                });
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn lines(node: &Node, source: Source) -> Vec<String> {
    let mut lines = vec![
        node.kind.clone(),
        format!("{}/{}", node.namespace, node.name),
    ];
    match source {
        Source::Cluster => lines.push(node.state()),
        Source::Manifests if !node.exists => lines.push("in no manifest".to_owned()),
        Source::Manifests => {}
    }
    lines
}

fn state(node: &Node, source: Source) -> State {
    match (node.exists, source) {
        (false, _) => State::Missing,
        (true, Source::Manifests) => State::Plain,
        (true, Source::Cluster) if node.group.is_empty() || node.ready.status.is_empty() => {
            State::Plain
        }
        (true, Source::Cluster) if node.is_fine() => State::Ready,
        (true, Source::Cluster) => State::Waiting,
    }
}
