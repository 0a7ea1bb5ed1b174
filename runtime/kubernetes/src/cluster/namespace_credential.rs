//! Which namespaces have a credential of their own, kept by the metadata-only watch of Secrets. Names of namespaces are
//! all that is kept.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

/// Namespaces with a credential of their own.
#[derive(Default)]
pub struct NamespaceCredentials {
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    namespaces: HashSet<String>,
    /// What is watched and whose first list is complete: a namespace, or all where there is none.
    listed: HashSet<Option<String>>,
}

impl NamespaceCredentials {
    /// Whether the namespace has one; nothing while that is not known. May be behind the server.
    pub fn has(&self, namespace: &str) -> Option<bool> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let is_listed = state
            .listed
            .iter()
            .any(|scope| scope.as_deref().is_none_or(|scope| scope == namespace));
        is_listed.then(|| state.namespaces.contains(namespace))
    }

    /// Takes in that a namespace has one now, or has none any more.
    pub fn set(&self, namespace: &str, has: bool) {
        self.change(|state| {
            if has {
                state.namespaces.insert(namespace.to_owned());
            } else {
                state.namespaces.remove(namespace);
            }
        });
    }

    /// Ends a list of one namespace, or of all: those that are not in it have none.
    pub fn finish_list(&self, scope: Option<&str>, found: HashSet<String>) {
        self.change(|state| {
            match scope {
                Some(scope) => {
                    state.namespaces.remove(scope);
                    state.namespaces.extend(found);
                }
                None => state.namespaces = found,
            }
            state.listed.insert(scope.map(str::to_owned));
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.write().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_not_known() {
        let known = NamespaceCredentials::default();
        known.set("a", true);
        assert_eq!(known.has("a"), None);
        known.finish_list(Some("a"), HashSet::from(["a".to_owned()]));
        assert_eq!((known.has("a"), known.has("b")), (Some(true), None));
        known.set("a", false);
        assert_eq!(known.has("a"), Some(false));
    }

    #[test]
    fn a_list_replaces_what_was_known_of_its_place() {
        let known = NamespaceCredentials::default();
        known.finish_list(None, HashSet::from(["a".to_owned(), "b".to_owned()]));
        known.finish_list(Some("b"), HashSet::new());
        assert_eq!((known.has("a"), known.has("b")), (Some(true), Some(false)));
        known.finish_list(None, HashSet::new());
        assert_eq!((known.has("a"), known.has("c")), (Some(false), Some(false)));
    }
}
