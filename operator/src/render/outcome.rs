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
    /// A Secret among the manifests says which subscription the credential is for.
    pub has_own_credential: bool,
}

impl Ended {
    /// Whether nothing was sent because another object has a mistake of its own.
    pub fn waits(&self) -> bool {
        let reason = self.ready["reason"].as_str().unwrap_or_default();
        let waits = [reason::WAITING_FOR_OWNER, reason::REFERENCE_NOT_FOUND].contains(&reason);
        waits && self.absent == Some(Absent::Mistaken)
    }

    /// Whether the object waits for itself as its owner.
    pub fn waits_for_itself(&self) -> bool {
        self.ready["reason"] == reason::WAITING_FOR_OWNER && self.absent.is_none()
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
        let advice = match (reason, self.has_own_credential) {
            (reason::SUBSCRIPTION_MISMATCH, true) => {
                "; the Secret of the credential, among the manifests, says what it is for"
            }
            _ => advice(reason, self.absent),
        };
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

/// Problems of objects that only wait for another one. The cause is told of that one, but where they wait for each other in a
/// circle: that is told of the first of them.
pub fn without_told(waiting: Vec<Waiting>) -> Vec<Problem> {
    let waits_for: HashMap<_, _> = waiting.iter().map(|one| (&one.object, &one.by)).collect();
    let mut told = HashSet::new();
    let mut problems = Vec::new();
    for one in &waiting {
        let circle = circle(&one.object, &waits_for);
        if circle.is_empty() || circle.iter().any(|object| told.contains(object)) {
            continue;
        }
        let names = circle.iter().chain(circle.first());
        let names: Vec<_> = names.map(|object| object.to_string()).collect();
        told.extend(circle);
        problems.push(Problem {
            path: OWNER.to_owned(),
            message: format!(
                "owners go round in a circle: {}; change the owner of one of them",
                names.join(" → ")
            ),
            ..one.problem.clone()
        });
    }
    problems
}

/// The objects that wait for each other from this one on, until it comes again; none where it is in no circle.
fn circle<'a>(
    first: &'a ObjectKey,
    waits_for: &HashMap<&'a ObjectKey, &'a ObjectKey>,
) -> Vec<&'a ObjectKey> {
    let mut circle = vec![first];
    let mut last = first;
    while let Some(next) = waits_for.get(last) {
        if *next == first {
            return circle;
        }
        if circle.contains(next) {
            break;
        }
        circle.push(next);
        last = next;
    }
    Vec::new()
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
            // What keeps the object from being read at all names the path in its text.
            let is_named =
                why.path.is_empty() && why.message.contains(&format!("{}: ", known.path));
            let is_same = is_within(&why.path, &known.path) || is_within(&known.path, &why.path);
            is_name || is_named || is_same
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
    fn who_says_the_subscription_is_told_where_it_is_another_one() {
        for (has_own_credential, expected) in [
            (true, "the Secret of the credential"),
            (false, "--subscription"),
        ] {
            let ended = Ended {
                ready: json!({"reason": reason::SUBSCRIPTION_MISMATCH, "message": "another"}),
                has_own_credential,
                ..Ended::default()
            };
            let (_, message) = ended.why().expect("a reason");
            assert!(message.contains(expected), "{message}");
        }
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
            told.map(|problem| problem.to_string().replace("Gadget n/", ""))
                .collect::<Vec<_>>()
        };
        let circle = |names: &str| {
            format!(
                ": spec.owner: owners go round in a circle: {names}; change the owner of one of them"
            )
        };
        assert_eq!(told(&[("a", "b"), ("b", "c")]), [""; 0]);
        assert_eq!(told(&[("a", "a")]), [circle("a → a")]);
        assert_eq!(
            told(&[("a", "b"), ("b", "c"), ("c", "b"), ("d", "e"), ("e", "d")]),
            [circle("b → c → b"), circle("d → e → d")]
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
            (vec!["spec.tags"], Some("spec.tags.a"), 1),
            (vec!["spec.tags"], Some("spec.tagsOf"), 2),
            (vec!["spec.location"], Some("spec"), 1),
            (vec!["spec.location"], Some(""), 2),
        ] {
            let known = known.into_iter().map(problem).collect();
            assert_eq!(merge(known, why.map(problem)).len(), expected, "{why:?}");
        }
    }
}
