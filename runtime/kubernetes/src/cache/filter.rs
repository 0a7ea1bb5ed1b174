//! What a change of an object means for the queue: pure decisions on the object before and after.

use std::collections::BTreeMap;

use serde::Deserialize;

use armature_azure::credential::ALLOWED_IDENTITIES;
use armature_reconcile::annotations::{BINDING, CREDENTIAL, OF_NAMESPACES};
use armature_reconcile::policy::Policy;
use armature_reconcile::side_condition::OVERRULED;
use armature_reconcile::signature::SIGNATURE;
use armature_shapes::names::{
    ADOPT, ALLOWED_SCOPES, ALWAYS_PUT, CLAIMED_WITH, CREDENTIAL_FROM, IGNORE_PATHS, KEEP_UNKNOWN,
    OBSERVE, OPERATOR_NAMESPACE, PAUSED, POLLER_RESUME_ID, PROTECT, RECONCILE_NOW,
    RECONCILE_POLICY, RESOURCE_ID, SYNC_PERIOD,
};
use armature_shapes::resource::Object;

type Annotations = BTreeMap<String, String>;

/// Whether the object itself must be reconciled (ASO behaviour §1.1): it is new to us, its generation
/// changed, its deletion began, its policy moved to or from `skip` or to or from a word that means nothing, it uses
/// another credential, one of our own annotations for users changed, a pass is asked for, it may use the operator's
/// credential, or one operator hands it to another. Other changes of annotations, labels and status are mostly our own
/// writes.
pub fn needs_reconcile(before: Option<&Object>, after: &Object) -> bool {
    let Some(before) = before else {
        return true;
    };
    let (old, new) = (&before.metadata, &after.metadata);
    old.generation != new.generation
        || old.uid != new.uid
        || old.deletion_timestamp.is_some() != new.deletion_timestamp.is_some()
        || policy_moved(old.annotations.as_ref(), new.annotations.as_ref())
        || is_told_otherwise(before, after)
        || FOR_USERS
            .iter()
            .any(|name| annotation(before, name) != annotation(after, name))
        || is_handed_over(before, after)
        || is_asked_for(old.annotations.as_ref(), new.annotations.as_ref())
        || is_vouched_for(before, after)
        || (annotation(before, CLAIMED_WITH).is_some() && annotation(after, CLAIMED_WITH).is_none())
}

/// Annotations by users that change what the next pass does.
const FOR_USERS: [&str; 9] = [
    CREDENTIAL_FROM,
    OBSERVE,
    ALWAYS_PUT,
    IGNORE_PATHS,
    KEEP_UNKNOWN,
    PAUSED,
    SYNC_PERIOD,
    ADOPT,
    PROTECT,
];

/// Whether somebody has signed the notes as they are (`armature sign-notes`), of an object that may have waited for that.
fn is_vouched_for(before: &Object, after: &Object) -> bool {
    let others = |object: &Object| {
        let mut annotations = object.metadata.annotations.clone().unwrap_or_default();
        annotations.remove(SIGNATURE);
        annotations
    };
    annotation(before, SIGNATURE) != annotation(after, SIGNATURE)
        && !is_ready(after)
        && others(before) == others(after)
}

/// Whether a namespace that binds policies may say something else of the object's than before: of its own word nothing else may
/// follow at once, but the condition [`OVERRULED`] does.
fn is_told_otherwise(before: &Object, after: &Object) -> bool {
    let (old, new) = (
        annotation(before, RECONCILE_POLICY),
        annotation(after, RECONCILE_POLICY),
    );
    let says_least = new.is_some_and(|text| Policy::parse(text) == Some(Policy::Manage));
    old != new && (says_least || Status::of(before).is_some_and(|status| status.has(OVERRULED)))
}

/// Whether `reconcile-now` has another value than before. That it goes asks for nothing.
fn is_asked_for(before: Option<&Annotations>, after: Option<&Annotations>) -> bool {
    let value = |annotations: Option<&Annotations>| annotations?.get(RECONCILE_NOW).cloned();
    let new = value(after);
    new.is_some() && new != value(before)
}

/// The annotations of a namespace of which objects follow the change that do not have them; where a pass is asked for, or what
/// binds all objects changes, all objects do.
pub fn changes_of_namespace(before: &Annotations, after: &Annotations) -> NamespaceChanges {
    // Its words may hold for objects that have words of their own, too.
    let is_bound = after.contains_key(BINDING);
    let (before, after) = (Some(before), Some(after));
    let text_changed = |name: &str| {
        before.and_then(|annotations| annotations.get(name))
            != after.and_then(|annotations| annotations.get(name))
    };
    let changed = |name: &&&str| match **name {
        RECONCILE_POLICY => policy_moved(before, after),
        name => text_changed(name),
    };
    NamespaceChanges {
        names: OF_NAMESPACES.iter().filter(changed).copied().collect(),
        everybody: is_asked_for(before, after)
            || BOUNDS.iter().any(|name| changed(&name))
            || (is_bound && OF_NAMESPACES.iter().any(|name| changed(&name)))
            // One that changes nothing at once may be told to an object whose own does not count.
            || (is_bound && text_changed(RECONCILE_POLICY)),
    }
}

/// Annotations of a namespace that bind its objects, whatever they say.
const BOUNDS: [&str; 4] = [ALLOWED_SCOPES, ALLOWED_IDENTITIES, BINDING, CREDENTIAL];

/// What changed on a namespace.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NamespaceChanges {
    /// Annotations that objects follow which do not have them.
    names: Vec<&'static str>,
    /// Every object is meant.
    everybody: bool,
}

impl NamespaceChanges {
    /// Whether no object is concerned.
    pub fn are_none(&self) -> bool {
        self.names.is_empty() && !self.everybody
    }

    /// Whether this object is concerned.
    pub fn concern(&self, object: &Object) -> bool {
        let follows = |name: &&str| annotation(object, name).is_none_or(String::is_empty);
        self.everybody || self.names.iter().any(follows)
    }
}

/// Whether the operator that an object named is no longer named. Where none was named, one took it: no news.
fn is_handed_over(before: &Object, after: &Object) -> bool {
    let owner = annotation(before, OPERATOR_NAMESPACE);
    owner.is_some() && annotation(after, OPERATOR_NAMESPACE) != owner
}

/// Which objects that wait for this one can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// None.
    Nobody,
    /// Those that refer to it: it has its ARM id now. What it owns waits until it is ready.
    References,
    /// All: it became ready, or is ready at another place.
    Everybody,
}

/// Who can go on because of a change of this object.
pub fn released(before: Option<&Object>, after: &Object) -> Released {
    let id = annotation(after, RESOURCE_ID);
    let has_new_id =
        id.is_some() && before.and_then(|before| annotation(before, RESOURCE_ID)) != id;
    let became_ready = || !before.is_some_and(is_ready);
    if is_ready(after) && (has_new_id || became_ready()) {
        Released::Everybody
    } else if has_new_id {
        Released::References
    } else {
        Released::Nobody
    }
}

/// Whether a policy moved to or from `skip`, or to or from a word that means nothing; other policies do not change what a
/// reconcile does at once.
fn policy_moved(before: Option<&Annotations>, after: Option<&Annotations>) -> bool {
    #[derive(PartialEq, Eq)]
    enum Sort {
        Writes,
        Skips,
        MeansNothing,
    }
    let sort = |annotations: Option<&Annotations>| {
        let text = annotations.and_then(|annotations| annotations.get(RECONCILE_POLICY));
        match text
            .filter(|text| !text.is_empty())
            .map(|text| Policy::parse(text))
        {
            Some(None) => Sort::MeansNothing,
            Some(Some(Policy::Skip)) => Sort::Skips,
            _ => Sort::Writes,
        }
    };
    sort(before) != sort(after)
}

/// What is looked at of a stored status.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    #[serde(default)]
    conditions: Vec<Condition>,
    #[serde(default)]
    observed_generation: Option<i64>,
}

#[derive(Deserialize)]
struct Condition {
    #[serde(default, rename = "type")]
    condition_type: String,
    #[serde(default)]
    status: String,
}

impl Status {
    fn of(object: &Object) -> Option<Self> {
        let text = object.status.as_ref()?;
        serde_json::from_str(text.get()).ok()
    }

    fn has(&self, condition_type: &str) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|found| found.condition_type == condition_type)
    }

    fn is_ready(&self) -> bool {
        let is_it = |found: &Condition| found.condition_type == "Ready" && found.status == "True";
        self.conditions.iter().any(is_it)
    }
}

/// Whether the stored status says `Ready=True`.
pub fn is_ready(object: &Object) -> bool {
    Status::of(object).is_some_and(|status| status.is_ready())
}

/// Whether nobody waits for the object, as far as it says: it is ready as it is, and neither is Azure at work nor is it
/// to be deleted.
pub fn is_settled(object: &Object) -> bool {
    let generation = object.metadata.generation;
    object.metadata.deletion_timestamp.is_none()
        && annotation(object, POLLER_RESUME_ID).is_none()
        && Status::of(object)
            .is_some_and(|status| status.is_ready() && status.observed_generation == generation)
}

/// Whether a change of the namespace's credential lets the object go on. Ready ones use the new credential from their
/// next pass on, without being woken all at once.
pub fn waits_for_namespace_credential(object: &Object) -> bool {
    annotation(object, CREDENTIAL_FROM).is_none() && !is_ready(object)
}

fn annotation<'a>(object: &'a Object, name: &str) -> Option<&'a String> {
    object.metadata.annotations.as_ref()?.get(name)
}

#[cfg(test)]
mod tests {
    use armature_shapes::names::ADOPTION;
    use armature_shapes::resource::Kind;
    use armature_shapes::testing::gadget::MODEL;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
    use serde_json::value::RawValue;

    use super::*;

    fn object(change: impl FnOnce(&mut Object)) -> Object {
        let mut object = Object {
            kind: Kind(&MODEL),
            metadata: ObjectMeta {
                name: Some("a".into()),
                generation: Some(1),
                ..ObjectMeta::default()
            },
            spec: None,
            status: None,
        };
        change(&mut object);
        object
    }

    fn annotated(name: &str, value: &str) -> Object {
        object(|object| {
            object.metadata.annotations = Some([(name.to_owned(), value.to_owned())].into());
        })
    }

    fn ready(status: &str) -> Object {
        let text = format!(r#"{{"conditions":[{{"type":"Ready","status":"{status}"}}],"id":"x"}}"#);
        object(|object| object.status = Some(RawValue::from_string(text).unwrap()))
    }

    #[test]
    fn what_starts_a_reconcile() {
        let plain = object(|_| {});
        let generation = object(|object| object.metadata.generation = Some(2));
        let deleted = object(|object| {
            object.metadata.deletion_timestamp = Some(Time(jiff::Timestamp::UNIX_EPOCH));
        });
        let recreated = object(|object| object.metadata.uid = Some("other".into()));
        let cases = [
            ("the same", &plain, false),
            ("generation", &generation, true),
            ("deletion", &deleted, true),
            ("recreation", &recreated, true),
            ("to skip", &annotated(RECONCILE_POLICY, "skip"), true),
            (
                "to detach",
                &annotated(RECONCILE_POLICY, "detach-on-delete"),
                false,
            ),
            ("credential", &annotated(CREDENTIAL_FROM, "secret"), true),
            ("observe", &annotated(OBSERVE, "true"), true),
            ("always-put", &annotated(ALWAYS_PUT, "true"), true),
            ("ignored paths", &annotated(IGNORE_PATHS, "tags"), true),
            ("paths of others", &annotated(KEEP_UNKNOWN, "tags"), true),
            ("paused", &annotated(PAUSED, "true"), true),
            ("sync period", &annotated(SYNC_PERIOD, "never"), true),
            ("adoption", &annotated(ADOPT, "never"), true),
            ("protection", &annotated(PROTECT, "delete"), true),
            ("a request", &annotated(RECONCILE_NOW, "1"), true),
            (
                "a policy that means nothing",
                &annotated(RECONCILE_POLICY, "Skip"),
                true,
            ),
            ("what came of adoption", &annotated(ADOPTION, "made"), false),
            (
                "whose credential",
                &annotated(CLAIMED_WITH, "operator"),
                false,
            ),
            ("our own name", &annotated(OPERATOR_NAMESPACE, "us"), false),
            ("other annotation", &annotated("note", "1"), false),
            ("status", &ready("True"), false),
        ];
        for (name, after, expected) in cases {
            assert_eq!(needs_reconcile(Some(&plain), after), expected, "{name}");
        }
        assert!(needs_reconcile(None, &plain), "a new object");
        assert!(
            needs_reconcile(Some(&plain), &annotated(SIGNATURE, "v1.x")),
            "somebody vouches for the notes as they are"
        );
        let mut noted = annotated(SIGNATURE, "v1.x");
        let notes = noted.metadata.annotations.get_or_insert_default();
        notes.insert(ADOPTION.to_owned(), "made".to_owned());
        assert!(
            !needs_reconcile(Some(&plain), &noted),
            "the operator's own write"
        );
        let taken = annotated(OPERATOR_NAMESPACE, "a");
        let given = annotated(OPERATOR_NAMESPACE, "b");
        assert!(needs_reconcile(Some(&taken), &given), "given to another");
        assert!(needs_reconcile(Some(&taken), &plain), "given up");
        assert!(!needs_reconcile(Some(&plain), &taken), "taken");
        let (first, second) = (annotated(RECONCILE_NOW, "1"), annotated(RECONCILE_NOW, "2"));
        assert!(needs_reconcile(Some(&first), &second), "another request");
        assert!(!needs_reconcile(Some(&first), &first), "the same request");
        assert!(!needs_reconcile(Some(&first), &plain), "no request");
        // What a namespace says of a policy that changes nothing at once is told at once.
        let (detaches, manages) = (
            annotated(RECONCILE_POLICY, "detach-on-delete"),
            annotated(RECONCILE_POLICY, "manage"),
        );
        let mut overruled = manages.clone();
        let status = r#"{"conditions":[{"type":"Overruled","status":"True"}]}"#;
        overruled.status = Some(RawValue::from_string(status.to_owned()).unwrap());
        for (before, after, expected) in [
            (&plain, &manages, true),
            (&detaches, &manages, true),
            (&manages, &detaches, false),
            (&manages, &plain, false),
            (&overruled, &detaches, true),
            (&overruled, &plain, true),
            (&overruled, &overruled, false),
        ] {
            assert_eq!(needs_reconcile(Some(before), after), expected, "{before:?}");
        }
        let claimed = annotated(CLAIMED_WITH, "namespace");
        assert!(
            needs_reconcile(Some(&claimed), &plain),
            "another credential may be used"
        );
    }

    #[test]
    fn who_follows_a_change_of_the_namespace() {
        let said = |name: &str, text: &str| Annotations::from([(name.into(), text.into())]);
        let none = Annotations::new();
        let plain = object(|_| {});
        let (detached, skipped) = (
            said(RECONCILE_POLICY, "detach-on-delete"),
            said(RECONCILE_POLICY, "skip"),
        );
        let mut bound_to_skip = skipped.clone();
        bound_to_skip.extend(said(BINDING, "policy"));
        let mut bound_to_detach = detached.clone();
        bound_to_detach.extend(said(BINDING, "policy"));
        for (case, before, after, own, expected) in [
            ("nothing", &none, &none, &plain, false),
            (
                "another annotation",
                &none,
                &said("note", "1"),
                &plain,
                false,
            ),
            ("to skip", &none, &skipped, &plain, true),
            ("from skip", &skipped, &none, &plain, true),
            ("to detach", &none, &detached, &plain, false),
            (
                "to what means nothing",
                &none,
                &said(RECONCILE_POLICY, "x"),
                &plain,
                true,
            ),
            (
                "a policy of its own",
                &none,
                &skipped,
                &annotated(RECONCILE_POLICY, "manage"),
                false,
            ),
            (
                "no policy of its own",
                &none,
                &skipped,
                &annotated(RECONCILE_POLICY, ""),
                true,
            ),
            ("a pause", &none, &said(PAUSED, "true"), &plain, true),
            (
                "the end of a pause",
                &said(PAUSED, "true"),
                &none,
                &plain,
                true,
            ),
            (
                "a pause of its own",
                &none,
                &said(PAUSED, "true"),
                &annotated(PAUSED, "false"),
                false,
            ),
            ("a period", &none, &said(SYNC_PERIOD, "1h"), &plain, true),
            (
                "scopes, whatever the object says",
                &none,
                &said(ALLOWED_SCOPES, "/subscriptions/s"),
                &annotated(ALLOWED_SCOPES, "/subscriptions/other"),
                true,
            ),
            (
                "no scopes any more",
                &said(ALLOWED_SCOPES, "/subscriptions/s"),
                &none,
                &plain,
                true,
            ),
            (
                "the operator's credential is taken away",
                &none,
                &said(CREDENTIAL, "own"),
                &annotated(CREDENTIAL_FROM, "mine"),
                true,
            ),
            (
                "other identities",
                &said(ALLOWED_IDENTITIES, "none"),
                &none,
                &plain,
                true,
            ),
            (
                "words that bind",
                &none,
                &said(BINDING, "protect"),
                &annotated(PROTECT, "none"),
                true,
            ),
            (
                "a bound word, whatever the object says",
                &said(BINDING, "policy"),
                &bound_to_skip,
                &annotated(RECONCILE_POLICY, "manage"),
                true,
            ),
            (
                "a bound policy that changes nothing at once",
                &said(BINDING, "policy"),
                &bound_to_detach,
                &annotated(RECONCILE_POLICY, "manage"),
                true,
            ),
            (
                "the end of one",
                &bound_to_detach,
                &said(BINDING, "policy"),
                &annotated(RECONCILE_POLICY, "manage"),
                true,
            ),
            (
                "a request",
                &none,
                &said(RECONCILE_NOW, "1"),
                &annotated(RECONCILE_NOW, "0"),
                true,
            ),
            (
                "no request",
                &said(RECONCILE_NOW, "1"),
                &none,
                &plain,
                false,
            ),
        ] {
            let changes = changes_of_namespace(before, after);
            assert_eq!(changes.concern(own), expected, "{case}");
            assert!(!expected || !changes.are_none(), "{case}");
        }
    }

    #[test]
    fn for_whom_nobody_waits() {
        let observed = |status: &str, generation: i64| {
            let mut object = ready(status);
            let text = object.status.take().unwrap();
            let text = text.get().trim_end_matches('}');
            let text = format!(r#"{text},"observedGeneration":{generation}}}"#);
            object.status = Some(RawValue::from_string(text).unwrap());
            object
        };
        let busy = |name: &str| {
            let mut object = observed("True", 1);
            object.metadata.annotations = annotated(name, "x").metadata.annotations;
            object
        };
        let mut deleted = observed("True", 1);
        deleted.metadata.deletion_timestamp = Some(Time(jiff::Timestamp::UNIX_EPOCH));
        for (name, object, expected) in [
            ("fine", observed("True", 1), true),
            ("fine, and annotated", busy("note"), true),
            ("edited since", observed("True", 0), false),
            ("not ready", observed("False", 1), false),
            ("never looked at", object(|_| {}), false),
            ("Azure is at work", busy(POLLER_RESUME_ID), false),
            ("deleted", deleted, false),
        ] {
            assert_eq!(is_settled(&object), expected, "{name}");
        }
    }

    #[test]
    fn who_waits_for_the_credential_of_the_namespace() {
        for (name, object, expected) in [
            ("no status", object(|_| {}), true),
            ("not ready", ready("False"), true),
            ("ready", ready("True"), false),
            (
                "a credential of its own",
                annotated(CREDENTIAL_FROM, "s"),
                false,
            ),
        ] {
            assert_eq!(waits_for_namespace_credential(&object), expected, "{name}");
        }
    }

    #[test]
    fn what_lets_dependents_go_on() {
        use Released::{Everybody, Nobody, References};
        let plain = object(|_| {});
        let ready_at = |id: &str| {
            let mut object = ready("True");
            object.metadata.annotations = annotated(RESOURCE_ID, id).metadata.annotations;
            object
        };
        let id = || annotated(RESOURCE_ID, "/a");
        let cases = [
            ("ready", Some(&plain), ready("True"), Everybody),
            ("ready when first seen", None, ready("True"), Everybody),
            ("not ready", Some(&plain), ready("False"), Nobody),
            ("still ready", Some(&ready("True")), ready("True"), Nobody),
            (
                "ready again",
                Some(&ready("False")),
                ready("True"),
                Everybody,
            ),
            ("an id", Some(&plain), id(), References),
            ("an id when first seen", None, id(), References),
            ("the same id", Some(&id()), id(), Nobody),
            ("ready with its id", Some(&id()), ready_at("/a"), Everybody),
            ("moved", Some(&ready_at("/a")), ready_at("/b"), Everybody),
        ];
        for (name, before, after, expected) in cases {
            assert_eq!(released(before, &after), expected, "{name}");
        }
    }
}
