//! What a foreseen step means for the resource, and for those that build on it.

use armature_runtime::engine::compare::Change;
use armature_runtime::id::RemoteId;
use armature_runtime::reconcile::action::Finish;
use armature_runtime::reconcile::condition::reason;
use armature_runtime::reconcile::driver::Changes;
use armature_runtime::reconcile::driver::foresight::{Foresight, Next};
use serde_json::Value;

use super::edits::{Edit, Takes, Values, judge};
use super::look::Look;
use super::resource::{Action, Property};
use crate::render::outcome::advice;
use crate::worlds::applied::seen::Notes;
use crate::worlds::manifests::cluster::Absent;

/// What becomes of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What would happen.
    pub action: Action,
    /// What Azure calls it.
    pub id: Option<RemoteId>,
    /// Why, in one word.
    pub reason: Option<String>,
    /// Why, or what to do.
    pub message: Option<String>,
    /// What would change.
    pub properties: Vec<Property>,
}

impl Outcome {
    fn new(action: Action, id: Option<RemoteId>) -> Self {
        Self {
            action,
            id,
            reason: None,
            message: None,
            properties: Vec::new(),
        }
    }

    /// Nothing can be done.
    pub fn blocked(reason: &str, message: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.to_owned()),
            message: Some(message.into()),
            ..Self::new(Action::Blocked, None)
        }
    }

    /// Somebody wants nothing to be done.
    pub fn held(message: &str) -> Self {
        Self::new(Action::Held, None).saying(message)
    }

    fn saying(mut self, message: &str) -> Self {
        self.message = Some(message.to_owned()).filter(|message| !message.is_empty());
        self
    }
}

/// Facts beside the pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// Azure was not asked.
    pub offline: bool,
    /// Where the object was until now, when its spec stands for another place.
    pub moved_from: Option<&'a str>,
    /// Where the spec stands for.
    pub place: Option<&'a RemoteId>,
    /// There is a cluster in which to look for what is missing.
    pub has_cluster: bool,
    /// What would happen to the owner.
    pub owner: Option<Action>,
    /// What Azure makes of edits of the kind.
    pub edits: &'a [Edit],
}

/// What a look has come to.
pub fn outcome(look: Look, beside: Beside<'_>) -> Outcome {
    let foresight = match look.foresight {
        Ok(foresight) => foresight,
        Err(error) => return Outcome::blocked(reason::FAILED, error.to_string()),
    };
    let Foresight { next, id, .. } = foresight;
    let id = id.or_else(|| beside.place.cloned());
    match next {
        Next::Put {
            exists,
            message,
            changes,
        } => put(exists, &message, changes, &beside, id),
        Next::Prepare { exists, message } => {
            let action = if exists {
                Action::Update
            } else {
                Action::Create
            };
            Outcome::new(action, id).saying(&format!("first: {message}"))
        }
        Next::Delete => Outcome::new(Action::Delete, id),
        Next::Release { is_gone } => Outcome::new(Action::Release, id).saying(match is_gone {
            true => "Azure has no such resource",
            false => "Azure keeps the resource",
        }),
        Next::Nothing { adopts: true, .. } => Outcome::new(Action::Adopt, id),
        Next::Nothing { only_reads, .. } => {
            let said = if only_reads {
                "the operator only reads it"
            } else {
                ""
            };
            Outcome::new(Action::Unchanged, id).saying(said)
        }
        Next::Ended(finish) => match (ended(&finish, &look.notes, &beside), beside.moved_from) {
            (outcome, Some(before)) if outcome.action == Action::Blocked => {
                moved(outcome, before, beside.place)
            }
            (outcome, _) => Outcome { id, ..outcome },
        },
        Next::PutOff(_) | Next::Absent => Outcome::blocked(
            reason::FAILED,
            "the pass came to no end; this is a defect of armature",
        ),
    }
}

fn put(
    exists: bool,
    message: &str,
    changes: Changes,
    beside: &Beside<'_>,
    id: Option<RemoteId>,
) -> Outcome {
    let properties = properties(changes, exists, beside.edits);
    let is_fixed = properties.iter().any(Property::needs_another_resource);
    let is_refused = |property: &Property| property.takes == Some(Takes::Refused);
    let action = match exists {
        false if beside.offline => Action::Send,
        false => Action::Create,
        true if is_fixed => Action::Replace,
        true => Action::Update,
    };
    // Of what is told property by property the message says nothing new.
    let is_told = exists && properties.iter().any(|property| !property.hidden);
    let is_plain = action == Action::Send || message == "creating the resource in Azure";
    let said = match action {
        Action::Replace => {
            "Azure lets some of this be set on creation only: it refuses the change, or keeps what it has. Delete the \
             resource and have it made again, or put the values back"
        }
        Action::Update if properties.iter().any(is_refused) => {
            "Azure refuses some of this: put the values back, else nothing of it is changed"
        }
        _ if is_told || is_plain => "",
        _ => message,
    };
    Outcome {
        properties,
        ..Outcome::new(action, id).saying(said)
    }
}

/// The properties that a PUT changes. What Azure never shows is told where it is set, and where nothing else tells why
/// there is a PUT.
pub fn properties(changes: Changes, exists: bool, edits: &[Edit]) -> Vec<Property> {
    let Changes { differences, marks } = changes;
    let tells_unseen = !exists || differences.is_empty();
    let mut found: Vec<Property> = Vec::new();
    for difference in differences {
        let create_only = exists && marks.is_create_only(&difference.schema_path);
        let (old, new, hidden) = match difference.change {
            Change::Value { desired, observed } => (observed, desired, false),
            Change::Hidden => (None, None, true),
        };
        let old = old.filter(|old| !old.is_null());
        let values = Values {
            old: old.as_ref(),
            new: new.as_ref(),
        };
        let judged = judge(edits, &difference.schema_path, values).filter(|_| exists);
        found.push(Property {
            path: difference.path,
            hidden,
            create_only,
            takes: judged.map(|(takes, _)| takes),
            rule: judged.map(|(_, edit)| edit.text.clone()),
            old,
            new,
        });
    }
    let unseen = marks.unseen.into_iter().filter(|_| tells_unseen);
    found.extend(unseen.map(|path| Property {
        path,
        old: None,
        new: None,
        hidden: true,
        create_only: false,
        takes: None,
        rule: None,
    }));
    found
}

fn ended(finish: &Finish, notes: &Notes, beside: &Beside<'_>) -> Outcome {
    if let Some(paused) = &finish.paused {
        return Outcome {
            reason: Some(reason::PAUSED.to_owned()),
            ..Outcome::new(Action::Held, None).saying(paused)
        };
    }
    let Some(verdict) = &finish.verdict else {
        let said = finish.event.as_ref().map(|event| event.message.as_str());
        return Outcome::held(said.unwrap_or_default());
    };
    let is_progress = [reason::RECONCILING, reason::DELETING].contains(&verdict.reason.as_str());
    let waits_with_owner =
        verdict.reason == reason::WAITING_FOR_OWNER && beside.owner == Some(Action::Waiting);
    let mut message = verdict.message.clone();
    if !is_progress {
        message.push_str(advice(&verdict.reason, notes.absent));
        let is_absent = notes
            .absent
            .is_some_and(|absent| absent != Absent::Mistaken);
        if is_absent && !beside.has_cluster && is_about_absence(&verdict.reason) {
            message.push_str(", or plan with --cluster if it is there already");
        }
    }
    let action = match is_progress || waits_with_owner {
        true => Action::Waiting,
        false => Action::Blocked,
    };
    Outcome {
        reason: Some(verdict.reason.clone()),
        ..Outcome::new(action, None).saying(&message)
    }
}

fn is_about_absence(reason: &str) -> bool {
    [
        reason::WAITING_FOR_OWNER,
        reason::REFERENCE_NOT_FOUND,
        reason::SECRET_NOT_FOUND,
        reason::CONFIG_MAP_NOT_FOUND,
    ]
    .contains(&reason)
}

/// The spec stands for another place than the object: that takes another resource.
fn moved(outcome: Outcome, before: &str, place: Option<&RemoteId>) -> Outcome {
    let after = place.map(RemoteId::as_str);
    Outcome {
        action: Action::Replace,
        id: place.cloned(),
        properties: vec![Property {
            path: "id".to_owned(),
            old: Some(Value::from(before)),
            new: after.map(Value::from),
            hidden: false,
            create_only: true,
            takes: None,
            rule: None,
        }],
        ..outcome
    }
}

/// Of a resource that Azure does not delete by itself, once its owner is gone: it went along.
pub fn went_along(again: Look) -> Option<Outcome> {
    match again.foresight {
        Ok(Foresight {
            next: Next::Release { is_gone: true },
            id,
            ..
        }) => Some(Outcome::new(Action::Delete, id).saying("it goes with its owner")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use armature_runtime::engine::compare::Difference;
    use armature_runtime::reconcile::backoff::{Requeue, RetryClass};
    use armature_runtime::reconcile::condition::Verdict;
    use armature_runtime::reconcile::outcome::Failure;
    use serde_json::json;

    use super::*;

    fn look(next: Next, absent: Option<Absent>) -> Look {
        Look {
            foresight: Ok(Foresight::of(next)),
            notes: Notes {
                absent,
                assumed: Vec::new(),
            },
        }
    }

    fn put(exists: bool, message: &str, differences: Vec<Difference>) -> Next {
        Next::Put {
            exists,
            message: message.to_owned(),
            changes: Changes {
                differences,
                ..Changes::default()
            },
        }
    }

    fn difference(desired: Value, observed: Value) -> Difference {
        Difference {
            path: "properties.size".to_owned(),
            schema_path: "properties.size".to_owned(),
            change: Change::Value {
                desired: Some(desired),
                observed: Some(observed),
            },
        }
    }

    fn waiting_for_owner() -> Next {
        let failure = Failure::warning(
            reason::WAITING_FOR_OWNER,
            RetryClass::Fast,
            "the owner K n/o does not exist",
        );
        Next::Ended(Finish::failed(&failure))
    }

    #[test]
    fn each_step_is_an_action() {
        let nothing = |adopts| Next::Nothing {
            adopts,
            only_reads: false,
        };
        let progress = Finish::with(
            Verdict::progress(reason::RECONCILING, "waiting for Azure"),
            Requeue::Now,
        );
        let table = [
            (
                put(false, "creating the resource in Azure", vec![]),
                Action::Create,
            ),
            (
                put(true, "x", vec![difference(json!(1), json!(2))]),
                Action::Update,
            ),
            (Next::Delete, Action::Delete),
            (Next::Release { is_gone: false }, Action::Release),
            (nothing(true), Action::Adopt),
            (nothing(false), Action::Unchanged),
            (Next::Ended(progress), Action::Waiting),
            (
                Next::Ended(Finish::paused("until noon", Requeue::Never)),
                Action::Held,
            ),
            (Next::Ended(Finish::silent()), Action::Held),
            (waiting_for_owner(), Action::Blocked),
            (Next::Absent, Action::Blocked),
        ];
        for (next, expected) in table {
            let text = format!("{next:?}");
            let found = outcome(look(next, None), Beside::default());
            assert_eq!(found.action, expected, "{text}");
        }
    }

    #[test]
    fn what_is_missing_comes_with_what_to_do() {
        let told = |has_cluster| {
            let beside = Beside {
                has_cluster,
                ..Beside::default()
            };
            outcome(look(waiting_for_owner(), Some(Absent::Manifest)), beside).message
        };
        let base = "the owner K n/o does not exist; add its manifest or give its armId";
        assert_eq!(told(true).as_deref(), Some(base));
        let more = format!("{base}, or plan with --cluster if it is there already");
        assert_eq!(told(false), Some(more));
    }

    #[test]
    fn what_waits_for_an_owner_that_azure_works_on_waits_too() {
        let beside = Beside {
            owner: Some(Action::Waiting),
            ..Beside::default()
        };
        let found = outcome(look(waiting_for_owner(), None), beside);
        assert_eq!(found.action, Action::Waiting);
    }

    #[test]
    fn a_put_without_a_difference_says_why() {
        let found = outcome(
            look(put(true, "always-put is set", vec![]), None),
            Beside::default(),
        );
        assert_eq!(found.message.as_deref(), Some("always-put is set"));
        let differs = put(
            true,
            "properties.size: …",
            vec![difference(json!(1), json!(2))],
        );
        let found = outcome(look(differs, None), Beside::default());
        assert_eq!(found.message, None);
        assert_eq!(found.properties[0].old, Some(json!(2)));
    }
}
