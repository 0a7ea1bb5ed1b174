//! ARM itself: what each method does to each kind of path.
//!
//! Rules that hold for every resource type live here; those of one provider in [`crate::behaviour`].

mod action;
mod delete;
mod deleted_vaults;
mod embedded;
mod graph;
mod metadata;
mod operations;
mod read;
mod write;

use http::Method;

use crate::error::ArmError;
use crate::id::{ResourceId, Target};
use crate::state::{Call, Handled, State};

impl State {
    /// Answers an ARM request whose sender is known.
    pub(crate) fn dispatch(&mut self, call: &Call<'_>) -> Handled {
        let path = call.request.path.as_str();
        if let Some(answer) = self.operation_status(call) {
            return answer;
        }
        if let Some(answer) = self.graph_query(call) {
            return answer;
        }
        if let Some(answer) = self.metadata(call) {
            return answer;
        }
        if let Some(answer) = self.cancel_subscription(call) {
            return answer;
        }
        if let Some(answer) = self.deleted_vault(call) {
            return answer;
        }
        let target = Target::parse(path).ok_or_else(|| ArmError::invalid_path(path))?;
        match (&call.request.method, target) {
            (&Method::GET, Target::Item(id)) => self.get(call, &id),
            (&Method::HEAD, Target::Item(id)) => self.head(call, &id),
            (&Method::PUT, Target::Item(id)) => self.put(call, &id),
            (&Method::PATCH, Target::Item(id)) => self.patch(call, &id),
            (&Method::DELETE, Target::Item(id)) => self.delete(call, &id),
            (&Method::GET, Target::Collection { parent, arm_type }) => {
                self.list(call, parent.as_ref(), &arm_type)
            }
            (
                &Method::POST,
                Target::Collection {
                    parent: Some(id), ..
                },
            ) => self.act(call, &id),
            (method, _) => Err(ArmError::method_not_allowed(method.as_str(), path)),
        }
    }

    /// Refuses what hangs below something that is not there. `action` is ARM's word for the request.
    pub(crate) fn check_ancestors(&self, id: &ResourceId, action: &str) -> Result<(), ArmError> {
        let mut chain = Vec::new();
        let mut above = id.parent();
        while let Some(ancestor) = above {
            above = ancestor.parent();
            chain.push(ancestor);
        }
        for (index, ancestor) in chain.iter().enumerate().rev() {
            if ancestor.is_subscription() {
                let name = ancestor.name();
                if !self.has_subscription(name) {
                    return Err(ArmError::subscription_not_found(name));
                }
            } else if self.store.visible(ancestor).is_none() && !is_location(ancestor) {
                if ancestor.is_group() {
                    return Err(ArmError::group_not_found(ancestor.name()));
                }
                let child = index.checked_sub(1).map_or(id, |below| &chain[below]);
                let child_type = child.arm_type();
                let relative = child_type.split_once('/').map_or("", |(_, rest)| rest);
                return Err(ArmError::parent_not_found(action, relative, ancestor));
            }
        }
        Ok(())
    }

    /// The id as Azure spells it: its parent as it was created, its type as the spec has it.
    pub(crate) fn spell(&self, id: &ResourceId) -> ResourceId {
        if let Some(resource) = self.store.get(id) {
            return resource.id.clone();
        }
        let parent = id
            .parent()
            .and_then(|parent| self.store.get(&parent))
            .map(|parent| &parent.id);
        let arm_type = id.arm_type();
        let arm_type = self
            .catalog
            .get(&arm_type)
            .map_or(arm_type.as_str(), |known| known.name);
        id.spelled(parent, arm_type)
    }
}

/// Whether this is a location of a provider, which is there without anybody making it: quotas hang below.
fn is_location(id: &ResourceId) -> bool {
    let arm_type = id.arm_type();
    let mut segments = arm_type.split('/').skip(1);
    segments
        .next()
        .is_some_and(|it| it.eq_ignore_ascii_case("locations"))
        && segments.next().is_none()
}
