//! The object as the decision sees it, from what the pass has of it.

use std::time::Duration;

use armature_shapes::kind::OwnerRule;
use serde_json::Value;

use super::pass::Pass;
use crate::annotations::{Directives, Mistake};
use crate::claim;
use crate::condition;
use crate::decide::LOOK_AGAIN;
use crate::policy::Policy;
use crate::remote::{Operation, Verb};
use crate::view::{Manager, OwnerForm, ResourceView, Steps, StoredOperation};
use crate::young::Youth;

impl Pass<'_> {
    /// The object as the decision sees it.
    pub(super) fn view(&self) -> ResourceView {
        let metadata = &self.object.metadata;
        let rules = self.rule_mistakes();
        let (directives, mistakes) = match self.directives() {
            Ok(directives) if rules.is_empty() => (directives, None),
            Ok(_) => (Directives::of_policy(Policy::Skip), Some(rules.join("; "))),
            // Nothing of it counts; reading only is the safest of all.
            Err(mistakes) => (Directives::of_policy(Policy::Skip), Some(joined(&mistakes))),
        };
        ResourceView {
            generation: self.generation,
            deleting: metadata.deletion_timestamp.is_some(),
            claimed: self.is_claimed(),
            manager: self.manager(),
            mistakes,
            paused: self.paused(&directives),
            policy: directives.policy,
            adopt: directives.adopt,
            adoption: self.book.adoption(),
            protected: directives.protect,
            observe: directives.observe,
            always_put: directives.always_put,
            owner: self.owner_form(),
            has_resource_id: claim::resource_id(&self.object).is_some(),
            subscription: self
                .id()
                .and_then(|id| id.arm()?.subscription().map(str::to_owned)),
            operation: self.stored_operation(),
            has_unsent_edit: !directives.policy.allows_put() && self.is_unsent(),
            put_generation: self.book.put_generation(),
            put_may_run: self.awaits_unanswered_put() || self.put_may_run(),
            hold: self.hold(),
            pause: self.pause(),
            looked_at_for: self.looked_at_for(),
            is_looked_at_often: self.youth().is_some_and(Youth::is_looked_at_often),
            asks_twice: self.asks_twice(),
            unvouched: self.is_unvouched(),
            verbs: self.version().verbs,
            steps: self.steps(),
        }
    }

    /// Whether this generation was not sent, and the object does not pass over that already.
    fn is_unsent(&self) -> bool {
        let generation = self.generation;
        self.book.put_generation() != Some(generation)
            && !condition::is_well_without_words(self.forms.status(), generation)
    }

    pub(super) fn asks_twice(&self) -> bool {
        let now = self.reconciler.clock.now();
        let lasted = self.reconciler.absences.lasted(&self.object, now);
        let is_sure = lasted
            .and_then(|lasted| Duration::try_from(lasted).ok())
            .is_some_and(|lasted| lasted >= LOOK_AGAIN);
        self.may_hold_children() && !is_sure
    }

    /// Whether Azure has shown the resource before, of a kind in which other objects make something.
    pub(super) fn may_hold_children(&self) -> bool {
        self.forms.was_shown() && !self.version().child_lists.is_empty()
    }

    fn looked_at_for(&self) -> Duration {
        let now = self.reconciler.clock.now();
        let passed = self.first_look.map(|first| now.duration_since(first));
        passed
            .and_then(|passed| Duration::try_from(passed).ok())
            .unwrap_or_default()
    }

    fn manager(&self) -> Manager {
        match self.book.operator() {
            None => Manager::Nobody,
            Some(namespace) if namespace == self.reconciler.settings.operator_namespace => {
                Manager::Us
            }
            Some(namespace) => Manager::Other(namespace.to_owned()),
        }
    }

    pub(super) fn owner_form(&self) -> OwnerForm {
        if self.kind().owner == OwnerRule::None {
            return OwnerForm::None;
        }
        match self.owner_arm_id() {
            Some(id) if !id.is_empty() => OwnerForm::ArmId,
            _ => OwnerForm::Named,
        }
    }

    /// The running operation, as far as its annotations can be read.
    pub(super) fn operation(&self) -> Option<Operation> {
        let (id, token) = self.book.operation()?;
        let operation = self.ways.session.resume(id, token)?;
        let is_ours = !self.book.is_operation_foreign() || self.is_on_own_path(&operation);
        is_ours.then_some(operation)
    }

    pub(super) fn stored_operation(&self) -> StoredOperation {
        if !self.book.has_operation() {
            return StoredOperation::None;
        }
        match self.operation() {
            Some(operation) => match operation.verb {
                Verb::Remove => StoredOperation::Delete,
                Verb::Prepare => StoredOperation::Prerequisite,
                Verb::Write => StoredOperation::Put,
            },
            None => StoredOperation::Unreadable,
        }
    }

    fn steps(&self) -> Steps {
        Steps {
            owner_check: self.points.has_owner_checker() && self.kind().owner != OwnerRule::None,
            pre_check: self.points.has_pre_checker(),
            post_check: self.points.has_post_checker(),
            export: self.wants_exports(),
            success_hook: self.points.has_success_handler(),
        }
    }

    fn wants_exports(&self) -> bool {
        let Some(operator_spec) = self
            .forms
            .spec()
            .get("operatorSpec")
            .and_then(Value::as_object)
        else {
            return false;
        };
        let filled = |value: &Value| match value {
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            _ => false,
        };
        [
            "secrets",
            "configMaps",
            "secretExpressions",
            "configMapExpressions",
        ]
        .iter()
        .any(|name| operator_spec.get(*name).is_some_and(filled))
    }
}

/// All mistakes in one text.
fn joined(mistakes: &[Mistake]) -> String {
    let texts: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    texts.join("; ")
}
