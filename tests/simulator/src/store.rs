//! The resources that the simulated Azure holds, by id.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::id::ResourceId;

/// One resource group or resource.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Id with the casing that Azure answers with.
    pub id: ResourceId,
    /// api-version of the last PUT.
    pub api_version: String,
    /// What a GET returns.
    pub body: Value,
    /// What the last PUT or PATCH left of the desired state, write-only members and secrets included.
    pub desired: Value,
    /// Whether GET and lists show it. A resource created with 202 is not there until its operation ends.
    pub visible: bool,
    /// Counts changes; part of the etag.
    pub revision: u64,
    /// The long-running operation that works on it.
    pub operation: Option<String>,
}

impl Resource {
    /// The etag of this revision.
    pub fn etag(&self) -> String {
        let name = format!("{}#{}", self.id.key(), self.revision);
        format!("W/\"{}\"", stable_uuid(&name))
    }
}

/// A UUID that depends on the text alone, so that two runs of a test see the same ids.
pub fn stable_uuid(text: &str) -> String {
    uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, text.as_bytes()).to_string()
}

/// Sixteen bytes that depend on the text alone.
pub fn stable_bytes(text: &str) -> [u8; 16] {
    *uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, text.as_bytes()).as_bytes()
}

/// All resources. Ids are compared without regard to case.
#[derive(Debug, Default)]
pub struct Store {
    resources: BTreeMap<String, Resource>,
    /// What a GET showed before the last write, for those that were written.
    before: BTreeMap<String, Option<Resource>>,
    /// Keys of those that may have changed since somebody asked.
    touched: BTreeMap<String, Option<Cause>>,
    /// The request that whatever changes now is due to.
    pub cause: Option<Cause>,
}

/// The request that made a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// Its `x-ms-correlation-request-id`.
    pub correlation: String,
    /// Client id of who sent it.
    pub principal: String,
}

impl Store {
    /// The resource, visible or not.
    pub fn get(&self, id: &ResourceId) -> Option<&Resource> {
        self.resources.get(&id.key())
    }

    /// The resource, visible or not, to change.
    pub fn get_mut(&mut self, id: &ResourceId) -> Option<&mut Resource> {
        let key = id.key();
        self.touched.insert(key.clone(), self.cause.clone());
        self.resources.get_mut(&key)
    }

    /// The resource if a GET shows it.
    pub fn visible(&self, id: &ResourceId) -> Option<&Resource> {
        self.get(id).filter(|resource| resource.visible)
    }

    /// Notes what a GET shows now, because a write follows.
    pub fn remember(&mut self, id: &ResourceId) {
        let now = self.visible(id).cloned();
        self.before.insert(id.key(), now);
    }

    /// What a GET showed before the last write: nothing, or the resource. `None` when it was never written.
    pub fn before(&self, id: &ResourceId) -> Option<Option<&Resource>> {
        self.before.get(&id.key()).map(Option::as_ref)
    }

    /// Adds or replaces a resource.
    pub fn insert(&mut self, resource: Resource) {
        let key = resource.id.key();
        self.touched.insert(key.clone(), self.cause.clone());
        self.resources.insert(key, resource);
    }

    /// Removes a resource and everything below it; returns what was removed.
    pub fn remove_tree(&mut self, id: &ResourceId) -> Vec<Resource> {
        let mut keys: Vec<String> = self.below(id).map(|child| child.id.key()).collect();
        keys.push(id.key());
        let touched = keys.iter().map(|key| (key.clone(), self.cause.clone()));
        self.touched.extend(touched);
        keys.iter()
            .filter_map(|key| self.resources.remove(key))
            .collect()
    }

    /// Everything below an id, however deep, in order of id.
    pub fn below(&self, id: &ResourceId) -> impl Iterator<Item = &Resource> {
        let prefix = format!("{}/", id.key());
        self.resources
            .range(prefix.clone()..)
            .take_while(move |(key, _)| key.starts_with(&prefix))
            .map(|(_, resource)| resource)
    }

    /// Everything, in order of id.
    pub fn all(&self) -> impl Iterator<Item = &Resource> {
        self.resources.values()
    }

    /// The one resource of a type with this id or this name. `None` when there is none, or more than one of
    /// the name.
    pub fn find(&self, arm_type: &str, id_or_name: &str) -> Option<&Resource> {
        if let Some(id) = ResourceId::parse(id_or_name).filter(|_| id_or_name.contains('/')) {
            return self.get(&id);
        }
        let mut named = self.all().filter(|resource| {
            resource.id.name().eq_ignore_ascii_case(id_or_name)
                && resource.id.arm_type().eq_ignore_ascii_case(arm_type)
        });
        named.next().filter(|_| named.next().is_none())
    }

    /// The resource of a key, visible or not.
    pub fn by_key(&self, key: &str) -> Option<&Resource> {
        self.resources.get(key)
    }

    /// Keys of what may have been added, changed or removed since this was last asked, and by which request.
    pub fn take_touched(&mut self) -> BTreeMap<String, Option<Cause>> {
        std::mem::take(&mut self.touched)
    }

    /// How many resources there are.
    pub fn count(&self) -> usize {
        self.resources.len()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.resources.clear();
        self.before.clear();
        self.touched.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(id: &str) -> Resource {
        Resource {
            id: ResourceId::parse(id).unwrap(),
            api_version: String::new(),
            body: Value::Null,
            desired: Value::Null,
            visible: true,
            revision: 1,
            operation: None,
        }
    }

    #[test]
    fn ids_differ_by_more_than_case() {
        let mut store = Store::default();
        store.insert(resource("/subscriptions/s/resourceGroups/Group"));
        let id = ResourceId::parse("/SUBSCRIPTIONS/S/resourcegroups/GROUP").unwrap();
        assert_eq!(
            store.get(&id).unwrap().id.to_string(),
            "/subscriptions/s/resourceGroups/Group"
        );
    }

    #[test]
    fn removing_a_tree_spares_names_with_the_same_beginning() {
        let mut store = Store::default();
        for id in [
            "/subscriptions/s/resourceGroups/g",
            "/subscriptions/s/resourceGroups/g/providers/A.B/c/d",
            "/subscriptions/s/resourceGroups/g-2",
            "/subscriptions/s/resourceGroups/g-2/providers/A.B/c/d",
        ] {
            store.insert(resource(id));
        }
        let removed =
            store.remove_tree(&ResourceId::parse("/subscriptions/s/resourceGroups/g").unwrap());
        assert_eq!(removed.len(), 2);
        assert_eq!(store.count(), 2);
    }

    #[test]
    fn a_name_finds_a_resource_only_when_it_is_unique() {
        let mut store = Store::default();
        store.insert(resource(
            "/subscriptions/s/resourceGroups/g/providers/A.B/c/d",
        ));
        assert!(store.find("a.b/C", "D").is_some());
        store.insert(resource(
            "/subscriptions/s/resourceGroups/h/providers/A.B/c/d",
        ));
        assert!(store.find("a.b/C", "D").is_none());
        assert!(
            store
                .find(
                    "A.B/c",
                    "/subscriptions/s/resourceGroups/h/providers/A.B/c/d"
                )
                .is_some()
        );
    }
}
