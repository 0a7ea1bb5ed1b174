//! What a cluster has, kept up to date by what watches tell.

use std::collections::{BTreeMap, BTreeSet};

use armature_runtime::kubernetes::StoredObject;
use armature_runtime::resource::Kind;
use kube::runtime::watcher::{Error, Event};

use super::node::Node;
use super::relations::{Id, id_of};

/// Group and name of a kind.
type KindName = (&'static str, &'static str);

/// The objects of the kinds that are followed.
#[derive(Default)]
pub struct Followed {
    nodes: BTreeMap<Id, Node>,
    /// Objects that a list that runs has not shown yet.
    unseen: BTreeMap<KindName, BTreeSet<Id>>,
    told: BTreeSet<KindName>,
    problems: BTreeMap<KindName, String>,
}

impl Followed {
    /// Takes in what a watch tells.
    pub fn take(&mut self, kind: Kind, told: Result<Event<StoredObject>, Error>) {
        let name = (kind.0.group, kind.0.kind);
        match told {
            Ok(Event::Init) => {
                let ids = self.nodes.keys();
                let of_kind =
                    ids.filter(|(group, kind, ..)| (group.as_str(), kind.as_str()) == name);
                self.unseen.insert(name, of_kind.cloned().collect());
            }
            Ok(Event::InitApply(object) | Event::Apply(object)) => {
                let node = Node::of(&object.into_object(kind));
                let id = id_of(&node);
                if let Some(unseen) = self.unseen.get_mut(&name) {
                    unseen.remove(&id);
                }
                self.nodes.insert(id, node);
            }
            Ok(Event::Delete(object)) => {
                let node = Node::of(&object.into_object(kind));
                self.nodes.remove(&id_of(&node));
            }
            Ok(Event::InitDone) => {
                for id in self.unseen.remove(&name).unwrap_or_default() {
                    self.nodes.remove(&id);
                }
                self.problems.remove(&name);
                self.told.insert(name);
            }
            Err(error) => {
                let problem = format!("cannot follow {}: {}", kind.0.kind, said(&error));
                self.problems.insert(name, problem);
                self.told.insert(name);
            }
        }
    }

    /// Whether of so many kinds each has told what there is, or that it cannot.
    pub fn is_complete(&self, kinds: usize) -> bool {
        self.told.len() >= kinds
    }

    /// The objects, as a table has them.
    pub fn objects(&self) -> Vec<&Node> {
        let mut found: Vec<&Node> = self.nodes.values().collect();
        found.sort_by_key(|node| (&node.namespace, &node.group, &node.kind, &node.name));
        found
    }

    /// Sentences about kinds that cannot be followed now.
    pub fn problems(&self) -> Vec<&str> {
        self.problems.values().map(String::as_str).collect()
    }
}

/// What the API server said; else what went wrong.
fn said(error: &Error) -> String {
    match error {
        Error::InitialListFailed(error)
        | Error::WatchStartFailed(error)
        | Error::WatchFailed(error) => match error {
            kube::Error::Api(status) => status.message.clone(),
            kube::Error::Service(error) => error.to_string(),
            error => error.to_string(),
        },
        Error::WatchError(status) => status.message.clone(),
        error => error.to_string(),
    }
}

/// Objects that are other ones than before, and those that are gone.
pub fn changes<'n>(before: &'n [Node], now: &[&'n Node]) -> (Vec<&'n Node>, Vec<&'n Node>) {
    let known: BTreeMap<Id, &Node> = before.iter().map(|node| (id_of(node), node)).collect();
    let there: BTreeSet<Id> = now.iter().map(|node| id_of(node)).collect();
    let changed = now
        .iter()
        .filter(|node| known.get(&id_of(node)) != Some(*node));
    let gone = before.iter().filter(|node| !there.contains(&id_of(node)));
    (changed.copied().collect(), gone.collect())
}

#[cfg(test)]
mod tests {
    use armature_generated::KINDS;
    use serde_json::json;

    use super::*;

    fn kind(name: &str) -> Kind {
        let mut kinds = KINDS.iter();
        Kind(kinds.find(|kind| kind.kind == name).expect("a kind"))
    }

    fn object(name: &str, ready: &str) -> StoredObject {
        let condition = json!({"type": "Ready", "status": ready, "reason": "R"});
        let object = json!({
            "metadata": {"name": name, "namespace": "n"}, "spec": {},
            "status": {"conditions": [condition]},
        });
        serde_json::from_str(&object.to_string()).expect("an object")
    }

    fn names(followed: &Followed) -> Vec<String> {
        let nodes = followed.objects();
        let names = nodes
            .iter()
            .map(|node| format!("{} {} {}", node.kind, node.name, node.ready.status));
        names.collect()
    }

    #[test]
    fn lists_and_changes_come_together() {
        let (group, account) = (kind("ResourceGroup"), kind("StorageAccount"));
        let mut followed = Followed::default();
        followed.take(group, Ok(Event::Init));
        followed.take(group, Ok(Event::InitApply(object("a", "False"))));
        followed.take(group, Ok(Event::InitApply(object("b", "True"))));
        followed.take(group, Ok(Event::InitDone));
        assert!(!followed.is_complete(2));
        let forbidden = Box::new(kube::core::Status::failure("not yours", "Forbidden"));
        let forbidden = Error::InitialListFailed(kube::Error::Api(forbidden));
        followed.take(account, Err(forbidden));
        assert!(followed.is_complete(2));
        assert_eq!(
            followed.problems(),
            ["cannot follow StorageAccount: not yours"]
        );
        followed.take(group, Ok(Event::Apply(object("a", "True"))));
        followed.take(group, Ok(Event::Delete(object("b", "True"))));
        assert_eq!(names(&followed), ["ResourceGroup a True"]);

        // A list anew: what went in between is not in it. What another kind has stays.
        followed.take(account, Ok(Event::Init));
        followed.take(account, Ok(Event::InitApply(object("s", "True"))));
        followed.take(account, Ok(Event::InitDone));
        assert!(followed.problems().is_empty());
        followed.take(group, Ok(Event::Init));
        followed.take(group, Ok(Event::InitApply(object("c", "True"))));
        assert_eq!(
            followed.objects().len(),
            3,
            "nothing is gone before all is told"
        );
        followed.take(group, Ok(Event::InitDone));
        assert_eq!(
            names(&followed),
            ["ResourceGroup c True", "StorageAccount s True"]
        );
    }

    #[test]
    fn what_changed_is_told_and_what_is_gone() {
        let node = |name: &str, ready: &str| {
            Node::of(&object(name, ready).into_object(kind("ResourceGroup")))
        };
        let before = [node("a", "True"), node("b", "False"), node("c", "True")];
        let now = [node("a", "True"), node("b", "True"), node("d", "False")];
        let now: Vec<&Node> = now.iter().collect();
        let (changed, gone) = changes(&before, &now);
        assert_eq!(changed, [now[1], now[2]]);
        assert_eq!(gone, [&before[2]]);
    }
}
