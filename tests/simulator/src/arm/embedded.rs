//! Children that also stand in their parent's body: subnets of a virtual network, rules of a security group.
//!
//! Which lists these are is in the kind's descriptor (`child_lists`); the child type is the one whose last
//! segment is the list's name. As in Azure, a child that a PUT of the parent leaves out of the list is gone.

use armature_runtime::kind::VersionInfo;
use serde_json::{Value, json};

use crate::catalog::ArmType;
use crate::id::ResourceId;
use crate::json;
use crate::state::{Call, State};

/// Where the parent lists its children, and their type segment.
struct Embedding {
    path: &'static [&'static str],
    segment: &'static str,
}

impl State {
    fn embeddings(&self, arm_type: &str, version: &'static VersionInfo) -> Vec<Embedding> {
        let children: Vec<&ArmType> = self.catalog.children(arm_type).collect();
        let lists = version.child_lists.iter();
        lists
            .filter_map(|path| {
                let last = path.last()?;
                let child = children
                    .iter()
                    .find(|child| child.segment().eq_ignore_ascii_case(last))?;
                Some(Embedding {
                    path,
                    segment: child.segment(),
                })
            })
            .collect()
    }

    /// After a PUT of a parent: makes, changes and removes its embedded children.
    pub(super) fn sync_children(
        &mut self,
        call: &Call<'_>,
        parent: &ResourceId,
        version: &'static VersionInfo,
    ) {
        for embedding in self.embeddings(&parent.arm_type(), version) {
            let Some(resource) = self.store.get(parent) else {
                return;
            };
            let listed = json::at(&resource.desired, embedding.path)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            let mut kept = Vec::new();
            for item in &listed {
                let Some(name) = json::text(item, &["name"]) else {
                    continue;
                };
                let id = parent.child(embedding.segment, name);
                kept.push(id.key());
                let child_version = self
                    .catalog
                    .get(&id.arm_type())
                    .and_then(|entry| entry.version(version.api_version).ok().or(entry.newest()));
                if let Some(child_version) = child_version {
                    self.put_quietly(call, &id, child_version, item);
                }
            }
            for id in self.children_of(parent, embedding.segment) {
                if !kept.contains(&id.key()) {
                    self.store.remove_tree(&id);
                }
            }
            self.write_list(parent, &embedding);
        }
    }

    /// What was desired of a parent, with its embedded children as they are now: what a PATCH changes.
    pub(super) fn with_children(
        &self,
        parent: &ResourceId,
        version: &'static VersionInfo,
        mut desired: Value,
    ) -> Value {
        for embedding in self.embeddings(&parent.arm_type(), version) {
            let children = self.children_of(parent, embedding.segment);
            let bodies: Vec<Value> = children
                .iter()
                .filter_map(|id| {
                    let mut body = self.store.get(id)?.desired.clone();
                    body["name"] = json!(id.name());
                    Some(body)
                })
                .collect();
            if !bodies.is_empty() {
                json::set(&mut desired, embedding.path, json!(bodies));
            }
        }
        desired
    }

    /// After a change of a child: brings its parent's list up to date.
    pub(crate) fn refresh_parent(&mut self, child: &ResourceId) {
        let Some(parent) = child.parent() else { return };
        let Some(resource) = self.store.get(&parent) else {
            return;
        };
        let arm_type = parent.arm_type();
        let version = self
            .catalog
            .get(&arm_type)
            .and_then(|entry| entry.version(&resource.api_version).ok());
        let Some(version) = version else { return };
        let child_type = child.arm_type();
        for embedding in self.embeddings(&arm_type, version) {
            if child_type
                .rsplit('/')
                .next()
                .is_some_and(|segment| segment.eq_ignore_ascii_case(embedding.segment))
            {
                self.write_list(&parent, &embedding);
            }
        }
    }

    fn children_of(&self, parent: &ResourceId, segment: &str) -> Vec<ResourceId> {
        let arm_type = format!("{}/{segment}", parent.arm_type());
        self.store
            .below(parent)
            .filter(|child| child.id.arm_type().eq_ignore_ascii_case(&arm_type))
            .map(|child| child.id.clone())
            .collect()
    }

    fn write_list(&mut self, parent: &ResourceId, embedding: &Embedding) {
        let children = self.children_of(parent, embedding.segment);
        let bodies: Vec<Value> = children
            .iter()
            .filter_map(|id| self.store.visible(id))
            .map(|child| child.body.clone())
            .collect();
        if let Some(resource) = self.store.get_mut(parent) {
            json::set(&mut resource.body, embedding.path, json!(bodies));
        }
    }
}
