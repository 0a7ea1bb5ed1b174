//! A plan and its parts, as they are written and read.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::edits::Takes;

/// The form of plans that this release writes and reads.
pub const FORMAT: &str = "armature.azure.com/plan/v1";

/// What would happen, in its order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// [`FORMAT`].
    pub format: String,
    /// Release that made it.
    pub version: String,
    /// Azure was not asked.
    pub offline: bool,
    /// Requests that were sent to Azure, all of them reads.
    pub requests: usize,
    /// The resources, in the order in which it would happen.
    pub resources: Vec<Resource>,
    /// What is wrong beside the resources: files that cannot be read, kinds that cannot be listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// What could not be found out, and is nobody's mistake.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Name {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// What would happen to one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// The object that stands for it.
    #[serde(flatten)]
    pub name: Name,
    /// What would happen.
    pub action: Action,
    /// What Azure calls it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The object that owns it, where that is in the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Name>,
    /// Why, in one word, where nothing can be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why, or what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What would change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<Property>,
    /// What Azure has and the PUT leaves out: the one that would be sent, else the next one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// What the manifest says otherwise and Azure keeps, since Azure moves it by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<LeftAlone>,
    /// Secrets and ConfigMaps that were taken for there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<String>,
    /// What is sent all the same, and may be a slip of the manifest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What would happen to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// It is made.
    Create,
    /// It is changed.
    Update,
    /// Something is to change that only another resource can have.
    Replace,
    /// It is sent; whether it is there was not asked.
    Send,
    /// It is there as it is desired, and is managed from then on.
    Adopt,
    /// It is deleted.
    Delete,
    /// The object goes, and Azure keeps the resource.
    Release,
    /// Nothing can be done until somebody does something.
    Blocked,
    /// Azure is at work on it, or on its owner.
    Waiting,
    /// Somebody wants nothing to be done: it is paused, or another operator's.
    Held,
    /// Nothing.
    Unchanged,
}

impl Action {
    /// All, in the order of a summary.
    pub const ALL: [Self; 11] = [
        Self::Create,
        Self::Update,
        Self::Replace,
        Self::Send,
        Self::Adopt,
        Self::Delete,
        Self::Release,
        Self::Blocked,
        Self::Waiting,
        Self::Held,
        Self::Unchanged,
    ];

    /// Whether something in Azure would change.
    pub fn changes_azure(self) -> bool {
        matches!(
            self,
            Self::Create | Self::Update | Self::Replace | Self::Send | Self::Delete
        )
    }

    /// Before what a PUT leaves out, where people should know: nothing is sent to a resource without a change, and to one that
    /// goes.
    pub fn leaves_out(self) -> Option<&'static str> {
        match self {
            Self::Update | Self::Replace => Some("Azure has, and the PUT leaves out:"),
            Self::Adopt => Some("Azure has, and the next PUT would leave out:"),
            _ => None,
        }
    }

    /// A mark at the beginning of a line.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Create => "+",
            Self::Update => "~",
            Self::Replace => "-/+",
            Self::Send => ">",
            Self::Adopt => "<",
            Self::Delete => "-",
            Self::Release => "o",
            Self::Blocked => "x",
            Self::Waiting => ".",
            Self::Held => "|",
            Self::Unchanged => "=",
        }
    }

    /// In a sentence about one resource.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Replace => "replace",
            Self::Send => "send",
            Self::Adopt => "adopt without a write",
            Self::Delete => "delete",
            Self::Release => "release",
            Self::Blocked => "blocked",
            Self::Waiting => "wait",
            Self::Held => "held",
            Self::Unchanged => "no change",
        }
    }

    /// In a summary, after a number.
    pub fn counted(self) -> &'static str {
        match self {
            Self::Create => "to create",
            Self::Update => "to update",
            Self::Replace => "to replace",
            Self::Send => "to send",
            Self::Adopt => "to adopt",
            Self::Delete => "to delete",
            Self::Release => "to release",
            Self::Blocked => "blocked",
            Self::Waiting => "waiting",
            Self::Held => "held",
            Self::Unchanged => "unchanged",
        }
    }
}

/// A property that would change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Property {
    /// Path in ARM's JSON.
    pub path: String,
    /// What Azure has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// What is desired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// It is a secret, or may be one: no values are shown.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// It can be set on creation only.
    #[serde(default, skip_serializing_if = "is_false")]
    pub create_only: bool,
    /// What Azure makes of this edit, where a rule says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<Takes>,
    /// The rule that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl Property {
    /// Whether only another resource can have the value. What Azure does not show may have it already, and what the manifest
    /// does not name is left to Azure: of these nobody can say so.
    pub fn needs_another_resource(&self) -> bool {
        let is_known = self.hidden || (self.old.is_some() && self.new.is_some());
        match self.takes {
            Some(takes) => takes == Takes::Replacement,
            None => self.create_only && is_known,
        }
    }
}

/// A value that Azure has and the manifest does not name, although it could.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Path in ARM's JSON.
    pub path: String,
    /// What Azure has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// It is a secret, or may be one: the value is not shown.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// Azure's spec says that this is the value where none is sent.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_default: bool,
}

/// A value that Azure moves by itself, where Azure has another one than the manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftAlone {
    /// Path in Azure's JSON.
    pub path: String,
    /// What the manifest says; absent where it must not be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Value>,
    /// What Azure has; absent where it must not be shown, or where Azure does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub azure: Option<Value>,
    /// The rule by which it stays: path, bounds and condition.
    pub rule: String,
    /// What the operator has sent before is not known: if that is another value, this one is an edit, and is sent.
    #[serde(default, skip_serializing_if = "is_false")]
    pub may_be_edit: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl Resource {
    /// What people should know of what a PUT leaves out: all but what stays as it is by Azure's own default.
    pub fn told_left_out(&self) -> Option<(&'static str, Vec<&LeftOut>)> {
        let said = self.action.leaves_out()?;
        let told = self.left_out.iter().filter(|one| !one.is_default);
        let told: Vec<&LeftOut> = told.collect();
        (!told.is_empty()).then_some((said, told))
    }
}

impl Plan {
    /// How many resources there are of an action.
    pub fn count(&self, action: Action) -> usize {
        let resources = self.resources.iter();
        resources.filter(|one| one.action == action).count()
    }

    /// Whether anything in Azure would change.
    pub fn changes_azure(&self) -> bool {
        self.resources.iter().any(|one| one.action.changes_azure())
    }

    /// Whether something is wrong: it cannot all be carried out.
    pub fn has_problems(&self) -> bool {
        !self.problems.is_empty() || self.count(Action::Blocked) > 0
    }

    /// One line about all of it.
    pub fn summary(&self) -> String {
        let counts = Action::ALL.map(|action| (self.count(action), action.counted()));
        let told = counts.iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> = told
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        match told.is_empty() {
            true => "Plan: no resources".to_owned(),
            false => format!("Plan: {}", told.join(", ")),
        }
    }
}
