//! What has to come before what: owners, references, and whoever writes a Secret or ConfigMap.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use armature_runtime::kubernetes::{Target, targets};
use armature_runtime::reconcile::port::DataKind;
use armature_runtime::resource::Object;

/// The order of objects.
#[derive(Debug, Default)]
pub struct Order {
    /// Positions of objects: each after all that it needs, as near to the order of the inputs as that allows.
    pub sequence: Vec<usize>,
    /// The same in turns: all of one turn can be looked at together.
    pub turns: Vec<Vec<usize>>,
}

/// A Secret or ConfigMap: which of the two, namespace and name.
pub type DataId = (DataKind, String, String);

/// Secrets and ConfigMaps that objects write.
pub fn exported<'o>(objects: impl IntoIterator<Item = &'o Object>) -> BTreeSet<DataId> {
    let mut found = BTreeSet::new();
    for object in objects {
        let namespace = object.key().namespace;
        for target in targets(object) {
            if let Target::Export { kind, name } = target {
                found.insert((kind, namespace.clone(), name));
            }
        }
    }
    found
}

impl Order {
    /// The order of these objects.
    pub fn of(objects: &[Object]) -> Self {
        let needs = needs(objects);
        let mut walk = Walk {
            needs: &needs,
            depth: vec![None; objects.len()],
            open: vec![false; objects.len()],
            sequence: Vec::new(),
        };
        for position in 0..objects.len() {
            walk.visit(position);
        }
        let mut turns: Vec<Vec<usize>> = Vec::new();
        for position in &walk.sequence {
            let depth = walk.depth[*position].unwrap_or(0);
            if turns.len() <= depth {
                turns.resize(depth + 1, Vec::new());
            }
            turns[depth].push(*position);
        }
        Self {
            sequence: walk.sequence,
            turns,
        }
    }
}

/// For each object the positions of those that it needs.
fn needs(objects: &[Object]) -> Vec<Vec<usize>> {
    let mut by_name: HashMap<(&str, &str, String, String), usize> = HashMap::new();
    let mut writers: BTreeMap<DataId, usize> = BTreeMap::new();
    let all: Vec<BTreeSet<Target>> = objects.iter().map(targets).collect();
    for (position, object) in objects.iter().enumerate() {
        let key = object.key();
        by_name.insert(
            (
                key.kind.0.group,
                key.kind.0.kind,
                key.namespace.clone(),
                key.name,
            ),
            position,
        );
        for target in &all[position] {
            if let Target::Export { kind, name } = target {
                let id = (*kind, key.namespace.clone(), name.clone());
                writers.entry(id).or_insert(position);
            }
        }
    }
    let found = |position: usize, target: &Target| {
        let namespace = objects[position].key().namespace;
        match target {
            Target::Object { group, kind, name } | Target::Owner { group, kind, name } => {
                let key = (group.as_str(), kind.as_str(), namespace, name.clone());
                by_name.get(&key).copied()
            }
            Target::Data { kind, name } => writers.get(&(*kind, namespace, name.clone())).copied(),
            Target::OwnerId { .. } | Target::Export { .. } => None,
        }
    };
    let of_one = |(position, targets): (usize, &BTreeSet<Target>)| {
        let needed = targets.iter().filter_map(|target| found(position, target));
        let needed: BTreeSet<usize> = needed.filter(|needed| *needed != position).collect();
        needed.into_iter().collect()
    };
    all.iter().enumerate().map(of_one).collect()
}

struct Walk<'a> {
    needs: &'a [Vec<usize>],
    depth: Vec<Option<usize>>,
    /// On the way to the current one: who needs one of these is in a circle, and does not wait for it.
    open: Vec<bool>,
    sequence: Vec<usize>,
}

impl Walk<'_> {
    fn visit(&mut self, position: usize) -> usize {
        if let Some(depth) = self.depth[position] {
            return depth;
        }
        self.open[position] = true;
        let mut depth = 0;
        for needed in &self.needs[position] {
            if !self.open[*needed] {
                depth = depth.max(1 + self.visit(*needed));
            }
        }
        self.open[position] = false;
        self.depth[position] = Some(depth);
        self.sequence.push(position);
        depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(needs: &[Vec<usize>]) -> (Vec<usize>, Vec<Option<usize>>) {
        let mut walk = Walk {
            needs,
            depth: vec![None; needs.len()],
            open: vec![false; needs.len()],
            sequence: Vec::new(),
        };
        for position in 0..needs.len() {
            walk.visit(position);
        }
        (walk.sequence, walk.depth)
    }

    #[test]
    fn what_is_needed_comes_first_and_the_rest_stays_where_it_was() {
        let (sequence, depth) = walk(&[vec![2], vec![], vec![3], vec![]]);
        assert_eq!(sequence, [3, 2, 0, 1]);
        assert_eq!(depth, [Some(2), Some(0), Some(1), Some(0)]);
    }

    #[test]
    fn a_circle_has_an_order_too() {
        let (mut sequence, _) = walk(&[vec![1], vec![2], vec![0]]);
        sequence.sort_unstable();
        assert_eq!(sequence, [0, 1, 2]);
    }
}
