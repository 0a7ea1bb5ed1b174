//! Why a pass has sent nothing, in words for who wrote the manifest.

use std::collections::{HashMap, HashSet};

use armature_runtime::reconcile::annotations::{Annotations, Directives};
use armature_runtime::reconcile::condition::reason;
use armature_runtime::reconcile::policy::Policy;
use armature_runtime::resource::{Object, ObjectKey};
use serde_json::Value;

use crate::worlds::manifests::admission::Wrong;
use crate::worlds::manifests::cluster::Absent;
use crate::worlds::manifests::problem::Problem;

/// Path of the owner.
const OWNER: &str = "spec.owner";

/// An object that is not sent because another one has a mistake.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The object.
    pub object: ObjectKey,
    /// What it waits for.
    pub by: ObjectKey,
    /// That it does, for the case that nothing else is told.
    pub problem: Problem,
}

/// The end of a pass that sent nothing.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// The object's `Ready` condition.
    pub ready: Value,
    /// What was asked for in vain.
    pub absent: Option<Absent>,
    /// The user lets the operator read the resource, and not write it.
    pub only_reads: bool,
    /// An object before it that stands for the same resource.
    pub holder: Option<ObjectKey>,
}

impl Ended {
    /// Whether nothing was sent because another object has a mistake of its own.
    pub fn waits(&self) -> bool {
        let reason = self.ready["reason"].as_str().unwrap_or_default();
        let waits = [reason::WAITING_FOR_OWNER, reason::REFERENCE_NOT_FOUND].contains(&reason);
        waits && self.absent == Some(Absent::Mistaken)
    }

    /// Why nothing was sent; `None` where nothing should have been.
    pub fn why(&self) -> Option<Wrong> {
        let text = |member: &str| self.ready[member].as_str().unwrap_or_default();
        let (reason, message) = (text("reason"), text("message"));
        if reason == reason::AZURE_RESOURCE_NOT_FOUND && self.only_reads {
            return None;
        }
        if let (reason::AZURE_RESOURCE_NOT_FOUND, Some(holder)) = (reason, &self.holder) {
            let message = format!(
                "{holder} stands for the same resource and writes it; the operator would only read it for this object"
            );
            return Some((String::new(), message));
        }
        if message.is_empty() {
            let message =
                "nothing is sent, and no condition says why; this is a defect of armature";
            return Some((String::new(), message.to_owned()));
        }
        let (path, message) = split(reason, message);
        let advice = advice(reason, self.absent);
        Some((path.to_owned(), format!("{message}{advice}")))
    }
}

/// Messages of the reconciler begin with the path of what they are about, where it is not clear from the reason.
fn split<'m>(reason: &str, message: &'m str) -> (&'m str, &'m str) {
    let is_path = |path: &str| path.starts_with("spec") && !path.contains(' ');
    match message.split_once(": ") {
        Some((path, rest)) if is_path(path) => (path, rest),
        _ => match reason {
            reason::WAITING_FOR_OWNER | reason::SUBSCRIPTION_MISMATCH => (OWNER, message),
            _ => ("", message),
        },
    }
}

/// What to do about something that is in no manifest, or not where the requests are to go.
pub fn advice(reason: &str, absent: Option<Absent>) -> &'static str {
    match (reason, absent) {
        (reason::WAITING_FOR_OWNER | reason::REFERENCE_NOT_FOUND, Some(Absent::Manifest)) => {
            "; add its manifest or give its armId"
        }
        (reason::WAITING_FOR_OWNER | reason::REFERENCE_NOT_FOUND, Some(Absent::Kind)) => {
            "; give its armId"
        }
        (reason::WAITING_FOR_OWNER | reason::REFERENCE_NOT_FOUND, Some(Absent::Mistaken)) => {
            ": its manifest has a mistake, which is told where it stands"
        }
        (reason::SECRET_NOT_FOUND | reason::CONFIG_MAP_NOT_FOUND, Some(Absent::Manifest)) => {
            "; add its manifest"
        }
        (reason::SUBSCRIPTION_MISMATCH, _) => "; --subscription says what the credential is for",
        _ => "",
    }
}

/// Problems of objects that only wait for another one, without those whose cause is told of that one: what is left waits in
/// a circle.
pub fn without_told(waiting: Vec<Waiting>) -> Vec<Problem> {
    let waits_for: HashMap<_, _> = waiting
        .iter()
        .map(|one| (one.object.clone(), one.by.clone()))
        .collect();
    let ends = |first: &ObjectKey| {
        let mut seen = HashSet::from([first]);
        let mut last = first;
        while let Some(next) = waits_for.get(last) {
            if !seen.insert(next) {
                return false;
            }
            last = next;
        }
        true
    };
    let circles = waiting.iter().filter(|one| !ends(&one.object));
    circles.map(|one| one.problem.clone()).collect()
}

/// Whether a path is another one or lies below it.
fn is_within(path: &str, above: &str) -> bool {
    let below = path.strip_prefix(above);
    below
        .is_some_and(|below| below.is_empty() || !above.is_empty() && below.starts_with(['.', '[']))
}

/// All problems of an object, with one for what is both wrong by itself and therefore not sent.
pub fn merge(mut problems: Vec<Problem>, why: Option<Problem>) -> Vec<Problem> {
    let is_told = |why: &Problem| {
        problems.iter().any(|known| {
            let is_name = known.path == "metadata.name" && why.path == "spec.azureName";
            is_name || is_within(&why.path, &known.path)
        })
    };
    let new = why.filter(|why| !is_told(why));
    problems.extend(new);
    problems
}

/// Whether the user keeps the operator from writing the resource, by the object or its namespace.
pub fn only_reads(object: &Object, namespace: (&str, &Annotations)) -> bool {
    let none = Annotations::new();
    let own = object.metadata.annotations.as_ref().unwrap_or(&none);
    Directives::read(own, namespace, Policy::Manage)
        .is_ok_and(|directives| !directives.policy.allows_put() || directives.observe)
}

#[cfg(test)]
mod tests {
    use armature_runtime::resource::Kind;
    use armature_runtime::testing::gadget::MODEL;
    use serde_json::json;

    use super::*;

    fn why(reason: &str, message: &str, absent: Option<Absent>) -> Option<String> {
        let ended = Ended {
            ready: json!({"reason": reason, "message": message}),
            absent,
            ..Ended::default()
        };
        ended
            .why()
            .map(|(path, message)| format!("{path}|{message}"))
    }

    #[test]
    fn a_reason_names_the_path_and_what_to_do() {
        use reason::*;
        let (manifest, kind) = (Some(Absent::Manifest), Some(Absent::Kind));
        for (reason, message, absent, expected) in [
            (FAILED, "spec.a[0].b: bad: x", None, "spec.a[0].b|bad: x"),
            (FAILED, "bad: x", manifest, "|bad: x"),
            (
                WAITING_FOR_OWNER,
                "the owner K n/o does not exist",
                manifest,
                "spec.owner|the owner K n/o does not exist; add its manifest or give its armId",
            ),
            (
                WAITING_FOR_OWNER,
                "the owner K n/o is not ready yet",
                None,
                "spec.owner|the owner K n/o is not ready yet",
            ),
            (
                REFERENCE_NOT_FOUND,
                "spec.r: K o: there is no kind K in group g",
                kind,
                "spec.r|K o: there is no kind K in group g; give its armId",
            ),
            (
                CONFIG_MAP_NOT_FOUND,
                "spec.n: the ConfigMap n/c does not exist",
                manifest,
                "spec.n|the ConfigMap n/c does not exist; add its manifest",
            ),
            (
                CONFIG_MAP_NOT_FOUND,
                "spec.n: the ConfigMap c has no key k",
                None,
                "spec.n|the ConfigMap c has no key k",
            ),
            (
                SUBSCRIPTION_MISMATCH,
                "elsewhere",
                None,
                "spec.owner|elsewhere; --subscription says what the credential is for",
            ),
        ] {
            assert_eq!(why(reason, message, absent).as_deref(), Some(expected));
        }
        let none = why("", "", None).expect("a reason");
        assert!(none.contains("defect"), "{none}");
    }

    #[test]
    fn what_is_only_read_is_no_problem() {
        let ended = Ended {
            ready: json!({"reason": reason::AZURE_RESOURCE_NOT_FOUND, "message": "not there"}),
            only_reads: true,
            ..Ended::default()
        };
        assert_eq!(ended.why(), None);
        let ended = Ended {
            only_reads: false,
            ..ended
        };
        assert_eq!(ended.why(), Some((String::new(), "not there".to_owned())));
    }

    #[test]
    fn who_waits_for_a_mistake_is_not_told_of_and_who_waits_in_a_circle_is() {
        let key = |name: &str| ObjectKey {
            kind: Kind(&MODEL),
            namespace: "n".to_owned(),
            name: name.to_owned(),
        };
        let told = |waits: &[(&str, &str)]| {
            let waiting = waits.iter().map(|(object, by)| Waiting {
                object: key(object),
                by: key(by),
                problem: Problem::at(&Default::default(), *object, ""),
            });
            let told = without_told(waiting.collect()).into_iter();
            told.map(|problem| problem.path).collect::<Vec<_>>()
        };
        assert_eq!(told(&[("a", "b"), ("b", "c")]), [""; 0]);
        assert_eq!(told(&[("a", "a")]), ["a"]);
        assert_eq!(
            told(&[("a", "b"), ("b", "c"), ("c", "b"), ("d", "e")]),
            ["a", "b", "c"]
        );
    }

    #[test]
    fn what_is_told_at_a_path_is_told_once() {
        let problem = |path: &str| Problem::at(&Default::default(), path, path);
        for (known, why, expected) in [
            (vec![], None, 0),
            (vec![], Some("spec.a"), 1),
            (vec!["spec.a"], Some("spec.a"), 1),
            (vec!["spec.a"], Some("spec.b"), 2),
            (vec!["metadata.name"], Some("spec.azureName"), 1),
        ] {
            let known = known.into_iter().map(problem).collect();
            assert_eq!(merge(known, why.map(problem)).len(), expected, "{why:?}");
        }
    }
}
