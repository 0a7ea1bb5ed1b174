//! Circles in a graph, and the edges that close them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Edges with their weight: how much would have to change to take one away.
pub type Edges = BTreeMap<(String, String), usize>;

/// A largest set of nodes that all lead to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circle {
    /// The nodes, in order of their names.
    pub members: Vec<String>,
    /// Edges without which there is no circle, the lightest that were found.
    pub closing: Vec<(String, String)>,
}

/// All circles of a graph.
pub fn circles(edges: &Edges) -> Vec<Circle> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in edges.keys() {
        next.entry(from).or_default().push(to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = next
        .keys()
        .map(|&node| (node, reach(&next, node)))
        .collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (&node, ahead) in &reached {
        if !ahead.contains(node) || seen.contains(node) {
            continue;
        }
        let members: Vec<&str> = ahead
            .iter()
            .copied()
            .filter(|other| reached.get(other).is_some_and(|back| back.contains(node)))
            .collect();
        seen.extend(members.iter().copied());
        found.push(Circle {
            closing: closing(edges, &members),
            members: members.into_iter().map(str::to_owned).collect(),
        });
    }
    found
}

/// Nodes that can be reached from this one by at least one edge.
fn reach<'a>(next: &BTreeMap<&'a str, Vec<&'a str>>, from: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(node) = waiting.pop() {
        for &to in next.get(node).into_iter().flatten() {
            if reached.insert(to) {
                waiting.push(to);
            }
        }
    }
    reached
}

/// Takes the lightest edge out of a shortest way round until there is none.
fn closing(edges: &Edges, members: &[&str]) -> Vec<(String, String)> {
    let inside = |node: &String| members.contains(&node.as_str());
    let mut left: Edges = edges
        .iter()
        .filter(|((from, to), _)| inside(from) && inside(to))
        .map(|(edge, weight)| (edge.clone(), *weight))
        .collect();
    let mut removed = Vec::new();
    while let Some(round) = shortest_round(&left) {
        let lightest = round.into_iter().min_by_key(|edge| left.get(edge).copied());
        if let Some(edge) = lightest {
            left.remove(&edge);
            removed.push(edge);
        }
    }
    removed
}

fn shortest_round(edges: &Edges) -> Option<Vec<(String, String)>> {
    let starts: BTreeSet<&String> = edges.keys().map(|(from, _)| from).collect();
    starts
        .into_iter()
        .filter_map(|start| round_from(edges, start))
        .min_by_key(Vec::len)
}

fn round_from(edges: &Edges, start: &String) -> Option<Vec<(String, String)>> {
    let mut before: BTreeMap<&String, &String> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(node) = waiting.pop_front() {
        let ahead = edges
            .range((node.clone(), String::new())..)
            .map(|(edge, _)| edge);
        for (from, to) in ahead.take_while(|(from, _)| from == node) {
            if before.contains_key(to) {
                continue;
            }
            before.insert(to, from);
            if to == start {
                return Some(walk_back(&before, start));
            }
            waiting.push_back(to);
        }
    }
    None
}

fn walk_back(before: &BTreeMap<&String, &String>, start: &String) -> Vec<(String, String)> {
    let mut round = Vec::new();
    let mut node = start;
    while let Some(&from) = before.get(node) {
        round.push((from.clone(), node.clone()));
        node = from;
        if node == start {
            break;
        }
    }
    round.reverse();
    round
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(list: &[(&str, &str, usize)]) -> Edges {
        list.iter()
            .map(|(from, to, weight)| (((*from).to_owned(), (*to).to_owned()), *weight))
            .collect()
    }

    #[test]
    fn a_line_is_no_circle() {
        assert_eq!(
            circles(&edges(&[("a", "b", 1), ("b", "c", 1), ("a", "c", 1)])),
            []
        );
    }

    #[test]
    fn the_lightest_edge_closes_a_circle() {
        let found = circles(&edges(&[
            ("a", "b", 3),
            ("b", "c", 1),
            ("c", "a", 2),
            ("c", "d", 1),
        ]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].members, ["a", "b", "c"]);
        assert_eq!(found[0].closing, [("b".to_owned(), "c".to_owned())]);
    }

    #[test]
    fn circles_apart_are_told_apart() {
        let found = circles(&edges(&[
            ("a", "b", 1),
            ("b", "a", 2),
            ("b", "c", 1),
            ("c", "d", 2),
            ("d", "c", 1),
        ]));
        let members: Vec<usize> = found.iter().map(|circle| circle.members.len()).collect();
        assert_eq!(members, [2, 2]);
        assert_eq!(found[1].closing, [("d".to_owned(), "c".to_owned())]);
    }
}
