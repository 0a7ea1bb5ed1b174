//! What was found, as it is written for programs.

use std::fmt;

use armature_runtime::azure::credential::CredentialError;
use armature_runtime::kubernetes::InstalledCrd;
use armature_runtime::reconcile::outcome::Failure;
use armature_runtime::resource::ObjectKey;
use serde::Serialize;

/// Reason of what is wrong with a credential, as conditions of its objects have it.
const CREDENTIAL: &str = "Failed";

/// The key that names a file of the operator's pod.
const IDENTITY_FILE: &str = "AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS";

/// Reason of a CRD whose versions are not all known.
const UNKNOWN_VERSION: &str = "UnknownVersion";

/// What a check has come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// Objects that were looked at.
    pub objects: usize,
    /// Secrets with credentials that were looked at.
    pub secrets: usize,
    /// What would be refused.
    pub findings: Vec<Finding>,
    /// What could not be looked at to the end, because something that it needs is missing.
    pub unseen: Vec<Finding>,
    /// What could not be read, so that nobody knows of it.
    pub problems: Vec<String>,
    /// What the check took for granted.
    pub notes: Vec<String>,
}

/// One thing, and what would be refused of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Which.
    #[serde(flatten)]
    pub of: Subject,
    /// Why in one word, as the condition of the object will have it.
    pub reason: String,
    /// Where in it, as far as that is one place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What is refused, and what to do, as the condition will have it.
    pub message: String,
}

/// Something of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// Its namespace, where it is in one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its API group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}

impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            namespace,
            kind,
            name,
            ..
        } = self;
        match namespace.as_str() {
            "" => write!(formatter, "{kind} {name}"),
            _ => write!(formatter, "{kind} {namespace}/{name}"),
        }
    }
}

impl Finding {
    /// What would be refused of an object.
    pub fn of_object(key: &ObjectKey, failure: &Failure) -> Self {
        Self {
            of: Subject {
                namespace: key.namespace.clone(),
                group: key.kind.0.group.to_owned(),
                kind: key.kind.0.kind.to_owned(),
                name: key.name.clone(),
            },
            reason: failure.reason.clone(),
            path: path_in(&failure.message),
            message: failure.message.clone(),
        }
    }

    /// A Secret whose credential is refused.
    pub fn of_secret(namespace: &str, name: &str, error: &CredentialError) -> Self {
        let key = match error {
            CredentialError::Key { key, .. }
            | CredentialError::Value { key, .. }
            | CredentialError::Identity { key, .. } => Some(*key),
            CredentialError::File { .. } => Some(IDENTITY_FILE),
            _ => None,
        };
        Self {
            of: Subject {
                namespace: namespace.to_owned(),
                group: String::new(),
                kind: "Secret".to_owned(),
                name: name.to_owned(),
            },
            reason: CREDENTIAL.to_owned(),
            path: key.map(|key| format!("data.{key}")),
            message: error.to_string(),
        }
    }

    /// A CRD with versions that this release does not have.
    pub fn of_crd(crd: &InstalledCrd, path: &str, error: impl fmt::Display) -> Self {
        Self {
            of: Subject {
                namespace: String::new(),
                group: "apiextensions.k8s.io".to_owned(),
                kind: "CustomResourceDefinition".to_owned(),
                name: crd.metadata.name.clone().unwrap_or_default(),
            },
            reason: UNKNOWN_VERSION.to_owned(),
            path: Some(path.to_owned()),
            message: error.to_string(),
        }
    }
}

/// The place that a message begins with, as messages about one property or annotation do.
fn path_in(message: &str) -> Option<String> {
    let (head, _) = message.split_once(": ")?;
    if let Some(name) = head.strip_prefix("annotation ") {
        let name = name.split(' ').next()?;
        return Some(format!("metadata.annotations[{name}]"));
    }
    let is_path = !head.contains(char::is_whitespace) && head.contains('.');
    is_path.then(|| head.to_owned())
}

#[cfg(test)]
mod tests {
    use super::path_in;

    #[test]
    fn a_place_is_what_a_message_begins_with() {
        for (message, expected) in [
            (
                "spec.owner.armId: '/subscriptions/s' is outside",
                Some("spec.owner.armId"),
            ),
            (
                "properties.tags[a]: '/subscriptions/s' is outside",
                Some("properties.tags[a]"),
            ),
            (
                "annotation armature.azure.com/protect of namespace a: 'x' is unknown",
                Some("metadata.annotations[armature.azure.com/protect]"),
            ),
            ("the resource: '/subscriptions/s' is outside", None),
            ("the spec names more than 4000 members", None),
            ("Ready: no path", None),
        ] {
            assert_eq!(path_in(message).as_deref(), expected, "{message}");
        }
    }
}
