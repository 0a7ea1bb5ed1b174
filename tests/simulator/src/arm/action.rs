//! POST: actions of resources, such as listKeys.

use serde_json::{Value, json};

use crate::behaviour::Scene;
use crate::error::ArmError;
use crate::exchange::Answer;
use crate::id::ResourceId;
use crate::operation::Verb;
use crate::state::{Call, Handled, State};

impl State {
    pub(super) fn act(&mut self, call: &Call<'_>, id: &ResourceId) -> Handled {
        let api_version = call.request.api_version()?;
        let arm_type = id.arm_type();
        let version = self
            .catalog
            .find(&arm_type, api_version)?
            .version(api_version)?;
        self.check_ancestors(id, "action")?;
        let Some(resource) = self.store.visible(id).cloned() else {
            return Err(match id.is_group() {
                true => ArmError::group_not_found(id.name()),
                false => ArmError::resource_not_found(&self.spell(id)),
            });
        };
        let action = call.request.path.rsplit('/').next().unwrap_or_default();
        let body = call.request.json()?.unwrap_or_else(|| json!({}));
        let scene = Scene {
            store: &self.store,
            settings: &self.settings,
            now: call.now,
            id: &resource.id,
            version,
            verb: Verb::Update,
            long_running: false,
        };
        let outcome = self
            .behaviours
            .of(&arm_type)
            .find_map(|behaviour| behaviour.action(&scene, &resource, action, &body));
        let Some(outcome) = outcome else {
            return Err(ArmError::gateway(
                404,
                "InvalidResourceAction",
                format!("The resource type '{arm_type}' has no action '{action}' here."),
            ));
        };
        let outcome = outcome?;
        if let Some(changed) = outcome.resource {
            self.overwrite(id, changed);
        }
        Ok(match outcome.answer {
            Some(answer) => Answer::json(200, answer),
            None => Answer::empty(200),
        })
    }

    /// Replaces what Azure shows of a resource.
    pub(crate) fn overwrite(&mut self, id: &ResourceId, body: Value) {
        if let Some(resource) = self.store.get_mut(id) {
            resource.body = body;
            resource.revision += 1;
            if resource.body.get("etag").is_some() {
                resource.body["etag"] = json!(resource.etag());
            }
        }
    }
}
