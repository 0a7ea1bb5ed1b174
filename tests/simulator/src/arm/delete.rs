//! DELETE, with everything below.

use jiff::Timestamp;
use serde_json::json;

use crate::error::ArmError;
use crate::exchange::Answer;
use crate::id::ResourceId;
use crate::json;
use crate::operation::{OperationRule, Style, Verb};
use crate::state::{Call, Handled, State};

impl State {
    pub(super) fn delete(&mut self, call: &Call<'_>, id: &ResourceId) -> Handled {
        let version = self.admitted(call, id, "delete")?;
        if !version.verbs.delete {
            return Err(ArmError::method_not_allowed("DELETE", &id.arm_type()));
        }
        if self.store.visible(id).is_none() {
            return match id.is_group() {
                true => Err(ArmError::group_not_found(id.name())),
                false => Ok(Answer::empty(204)),
            };
        }
        let arm_type = id.arm_type();
        let mut rule = self.settings.operation_rule(&arm_type);
        for behaviour in self.behaviours.of(&arm_type) {
            rule = rule.or(&behaviour.operations());
        }
        let by_spec = match (id.is_group(), version.verbs.delete_long_running) {
            (true, _) => Style::Location,
            (false, true) => Style::Both,
            (false, false) => Style::Immediate,
        };
        match rule.delete.unwrap_or(by_spec) {
            Style::Immediate => {
                self.remove(id, call.now);
                Ok(Answer::empty(200))
            }
            style => Ok(self.begin_delete(call, id, style, &rule)),
        }
    }

    fn begin_delete(
        &mut self,
        call: &Call<'_>,
        id: &ResourceId,
        style: Style,
        rule: &OperationRule,
    ) -> Answer {
        let before = self
            .store
            .get(id)
            .map(|resource| (resource.body.clone(), resource.desired.clone()));
        if let Some(resource) = self.store.get_mut(id) {
            let path = ["properties", "provisioningState"];
            if json::at(&resource.body, &path).is_some() {
                json::set(&mut resource.body, &path, json!("Deleting"));
            }
        }
        let operation = self.start_operation(call, id, Verb::Delete, style, rule, before);
        let headers = operation.announce(call);
        let mut answer = Answer::empty(202);
        answer.headers.extend(headers);
        answer
    }

    /// Takes a resource and everything below it out of Azure.
    pub(crate) fn remove(&mut self, id: &ResourceId, now: Timestamp) {
        self.store.remember(id);
        for removed in self.store.remove_tree(id) {
            for behaviour in self.behaviours.of(&removed.id.arm_type()) {
                behaviour.removed(&mut self.store, &removed, now);
            }
        }
        self.refresh_parent(id);
    }
}
