//! An object, a Secret or a ConfigMap, and the state that it is in.

use armature_runtime::reconcile::claim;
use armature_runtime::reconcile::condition::reason;
use armature_runtime::resource::Object;
use serde::Serialize;
use serde_json::Value;

/// What an object's `Ready` condition says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ready {
    /// `True`, `False` or `Unknown`; empty before the operator has seen the object.
    pub status: String,
    /// Reason in one word.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Text for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// What others need, or what needs others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// API group; empty for a Secret or ConfigMap.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Whether it is there.
    pub exists: bool,
    /// What its condition says; empty for a Secret or ConfigMap.
    pub ready: Ready,
    /// It is being deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleting: bool,
    /// What Azure calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl Node {
    /// An object that is there.
    pub fn of(object: &Object) -> Self {
        let key = object.key();
        Self {
            group: key.kind.0.group.to_owned(),
            kind: key.kind.0.kind.to_owned(),
            namespace: key.namespace,
            name: key.name,
            exists: true,
            ready: ready(object),
            deleting: object.metadata.deletion_timestamp.is_some(),
            id: claim::resource_id(object).map(str::to_owned),
        }
    }

    /// Something that is named and may be there.
    pub fn named(group: &str, kind: &str, namespace: &str, name: &str, exists: bool) -> Self {
        Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            exists,
            ready: Ready::default(),
            deleting: false,
            id: None,
        }
    }

    /// Whether others can build on it.
    pub fn is_fine(&self) -> bool {
        self.exists && (self.group.is_empty() || self.ready.status == "True")
    }

    /// What a check has against it, where one has.
    pub fn said_by_check(&self) -> Option<&str> {
        let checks = [
            reason::BLOCKED,
            reason::POSTPONED,
            reason::POST_CHECK_FAILED,
        ];
        let is_held = !self.is_fine() && checks.contains(&self.ready.reason.as_str());
        is_held.then_some(self.ready.message.as_str())
    }

    /// Kind, namespace and name.
    pub fn title(&self) -> String {
        format!("{} {}/{}", self.kind, self.namespace, self.name)
    }

    /// Its state in one line.
    pub fn state(&self) -> String {
        if !self.exists {
            return "does not exist".to_owned();
        }
        let leaving = if self.deleting { ", being deleted" } else { "" };
        let state = match (self.group.is_empty(), self.ready.status.as_str()) {
            (true, _) => "exists".to_owned(),
            (_, "True") => "ready".to_owned(),
            (_, "") => "not looked at yet".to_owned(),
            _ => format!("not ready ({})", self.ready.reason),
        };
        state + leaving
    }
}

fn ready(object: &Object) -> Ready {
    let status = object.status.as_ref();
    let status = status.and_then(|text| serde_json::from_str::<Value>(text.get()).ok());
    let conditions = status
        .as_ref()
        .and_then(|status| status["conditions"].as_array());
    let mut conditions = conditions.into_iter().flatten();
    let found = conditions.find(|condition| condition["type"] == "Ready");
    let text = |member: &str| {
        let text = found.and_then(|condition| condition[member].as_str());
        text.unwrap_or_default().to_owned()
    };
    Ready {
        status: text("status"),
        reason: text("reason"),
        message: text("message"),
    }
}
