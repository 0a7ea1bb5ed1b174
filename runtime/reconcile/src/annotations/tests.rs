//! What each text means, where it holds, and what is said of those that mean nothing.

use std::time::Duration;

use armature_shapes::names;
use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::policy::Policy;

fn one(name: &str, text: &str) -> Annotations {
    [(name.to_owned(), text.to_owned())].into()
}

fn none() -> Annotations {
    Annotations::new()
}

fn read(object: &Annotations, namespace: &Annotations) -> Result<Directives, Vec<String>> {
    let found = Directives::read(object, ("team", namespace), Policy::Manage);
    found.map_err(|mistakes| mistakes.iter().map(ToString::to_string).collect())
}

fn end() -> Timestamp {
    "2030-01-31T18:00:00Z".parse().unwrap()
}

/// Annotation, text, and what it makes of the directives.
type Row = (&'static str, &'static str, fn(&mut Directives));

const WORDS: &[Row] = &[
    (names::RECONCILE_POLICY, "manage", |_| {}),
    (names::RECONCILE_POLICY, "skip", |d| d.policy = Policy::Skip),
    (names::RECONCILE_POLICY, "detach-on-delete", |d| {
        d.policy = Policy::DetachOnDelete;
    }),
    (names::RECONCILE_POLICY, "", |_| {}),
    (names::PAUSED, "true", |d| d.pause = Some(Pause::Open)),
    (names::PAUSED, "false", |_| {}),
    (names::PAUSED, "2030-01-31T18:00:00Z", |d| {
        d.pause = Some(Pause::Until(end()));
    }),
    (names::PAUSED, "2030-01-31T20:00:00+02:00", |d| {
        d.pause = Some(Pause::Until(end()));
    }),
    (names::SYNC_PERIOD, "never", |d| {
        d.sync = Some(SyncPeriod::Never);
    }),
    (names::SYNC_PERIOD, "15m", |d| {
        d.sync = Some(SyncPeriod::Every(Duration::from_secs(900)));
    }),
    (names::SYNC_PERIOD, "1h30m", |d| {
        d.sync = Some(SyncPeriod::Every(Duration::from_secs(5400)));
    }),
    (names::ADOPT, "always", |_| {}),
    (names::ADOPT, "if-equal", |d| d.adopt = Adopt::IfEqual),
    (names::ADOPT, "never", |d| d.adopt = Adopt::Never),
    (names::PROTECT, "delete", |d| d.protect = true),
    (names::PROTECT, "none", |_| {}),
    (names::RECONCILE_NOW, "any text", |d| {
        d.reconcile_now = vec!["any text".to_owned()];
    }),
];

#[test]
fn words_mean_the_same_on_object_and_namespace() {
    for (name, text, change) in WORDS {
        let mut expected = Directives::of_policy(Policy::Manage);
        change(&mut expected);
        let said = one(name, text);
        assert_eq!(
            read(&said, &none()),
            Ok(expected.clone()),
            "object: {name}={text}"
        );
        assert_eq!(
            read(&none(), &said),
            Ok(expected),
            "namespace: {name}={text}"
        );
    }
}

#[test]
fn the_objects_word_comes_before_the_namespaces() {
    for (name, mine, theirs, change) in [
        (
            names::RECONCILE_POLICY,
            "detach-on-delete",
            "skip",
            (|d| d.policy = Policy::DetachOnDelete) as fn(&mut Directives),
        ),
        (names::PAUSED, "false", "true", |_| {}),
        (names::SYNC_PERIOD, "never", "1h", |d| {
            d.sync = Some(SyncPeriod::Never);
        }),
        (names::ADOPT, "if-equal", "never", |d| {
            d.adopt = Adopt::IfEqual;
        }),
        (names::PROTECT, "none", "delete", |_| {}),
        // Nobody looks at what does not count.
        (names::ADOPT, "never", "perhaps", |d| d.adopt = Adopt::Never),
    ] {
        let mut expected = Directives::of_policy(Policy::Manage);
        change(&mut expected);
        let found = read(&one(name, mine), &one(name, theirs));
        assert_eq!(found, Ok(expected), "{name}: {mine} before {theirs}");
    }
    let both = read(
        &one(names::RECONCILE_NOW, "1"),
        &one(names::RECONCILE_NOW, "2"),
    );
    assert_eq!(both.unwrap().reconcile_now, ["1", "2"], "a request is one");
}

#[test]
fn flags_hold_on_the_object_alone() {
    for (name, text, (observe, always_put)) in [
        (names::OBSERVE, "true", (true, false)),
        (names::OBSERVE, "false", (false, false)),
        (names::ALWAYS_PUT, "true", (false, true)),
    ] {
        let found = read(&one(name, text), &none()).unwrap();
        assert_eq!((found.observe, found.always_put), (observe, always_put));
        let found = read(&none(), &one(name, text)).unwrap();
        assert_eq!((found.observe, found.always_put), (false, false));
    }
}

/// Each look sends a PUT: no more of them than Azure can live with, whoever names the period.
#[test]
fn what_is_sent_at_every_sync_is_not_sent_more_often_than_every_ten_minutes() {
    let every =
        |text: &str| SyncPeriod::Every(text.parse::<SignedDuration>().unwrap().unsigned_abs());
    for (period, always_put, expected) in [
        (Some("1m"), true, Some(every("10m"))),
        (Some("1m"), false, Some(every("1m"))),
        (Some("10m"), true, Some(every("10m"))),
        (Some("1h"), true, Some(every("1h"))),
        (Some("never"), true, Some(SyncPeriod::Never)),
        // That of the operator.
        (None, true, None),
    ] {
        let period = period.map_or_else(none, |text| one(names::SYNC_PERIOD, text));
        let put = match always_put {
            true => one(names::ALWAYS_PUT, "true"),
            false => none(),
        };
        let both: Annotations = period.clone().into_iter().chain(put.clone()).collect();
        for (object, namespace) in [(&both, &none()), (&put, &period)] {
            let found = read(object, namespace).unwrap().sync;
            assert_eq!(found, expected, "{object:?} {namespace:?}");
        }
    }
}

/// Whoever writes objects must not be able to allow themselves more.
#[test]
fn allowed_scopes_are_those_of_the_namespace() {
    let (narrow, wide) = ("/subscriptions/s/resourceGroups/team", "/subscriptions/s");
    for (object, namespace, expected) in [
        (None, None, None),
        (None, Some(narrow), Some(narrow)),
        (Some(wide), Some(narrow), Some(narrow)),
        (Some(wide), None, None),
        (Some(""), None, None),
    ] {
        let said =
            |text: Option<&str>| text.map_or(none(), |text| one(names::ALLOWED_SCOPES, text));
        let found = read(&said(object), &said(namespace)).unwrap().scopes;
        let found = found.map(|scopes| scopes.to_string());
        assert_eq!(found.as_deref(), expected, "{object:?} {namespace:?}");
    }
    for nothing in ["", " ", "/", "everything"] {
        let mistakes = read(&none(), &one(names::ALLOWED_SCOPES, nothing)).unwrap_err();
        let start = format!(
            "annotation {} of namespace team: '{nothing}' is unknown, expected ARM ids",
            names::ALLOWED_SCOPES
        );
        assert!(mistakes[0].starts_with(&start), "{mistakes:?}");
    }
}

#[test]
fn what_means_nothing_is_named_with_what_is_expected() {
    for (name, text, expected) in [
        (
            names::RECONCILE_POLICY,
            "Skip",
            "manage, skip or detach-on-delete",
        ),
        (names::OBSERVE, "yes", "true or false"),
        (names::ALWAYS_PUT, "", "true or false"),
        (names::PAUSED, "tomorrow", "true, false, or the time"),
        (names::PAUSED, "2030-01-31", "such as 2030-01-31T18:00:00Z"),
        (names::SYNC_PERIOD, "often", "never, or a duration"),
        (names::SYNC_PERIOD, "0s", "between 10s and a year"),
        (names::SYNC_PERIOD, "-15m", "between 10s and a year"),
        (names::SYNC_PERIOD, "9000000h", "between 10s and a year"),
        (names::ADOPT, "ifequal", "always, if-equal or never"),
        (names::PROTECT, "true", "delete or none"),
    ] {
        let mistakes = read(&one(name, text), &none()).unwrap_err();
        let start = format!("annotation {name}: '{text}' is unknown, expected ");
        assert_eq!(mistakes.len(), 1, "{name}={text}");
        assert!(mistakes[0].starts_with(&start), "{mistakes:?}");
        assert!(mistakes[0].contains(expected), "{mistakes:?}");
    }
    let mistakes = read(&none(), &one(names::PROTECT, "yes")).unwrap_err();
    let named = "annotation armature.azure.com/protect of namespace team: 'yes' is unknown";
    assert!(mistakes[0].starts_with(named), "{mistakes:?}");
}

#[test]
fn a_pause_ends() {
    let mut directives = Directives::of_policy(Policy::Manage);
    assert_eq!(directives.paused_at(end()), None);
    directives.pause = Some(Pause::Until(end()));
    let before = end() - SignedDuration::from_secs(1);
    assert_eq!(directives.paused_at(before), Some(Pause::Until(end())));
    assert_eq!(directives.paused_at(end()), None);
}

#[test]
fn an_unknown_word_protects() {
    for (object, namespace, expected) in [
        (None, None, false),
        (Some("delete"), None, true),
        (None, Some("delete"), true),
        (Some("none"), Some("delete"), false),
        (Some("Delete"), None, true),
    ] {
        let said = |text: Option<&str>| text.map_or(none(), |text| one(names::PROTECT, text));
        let found = is_protected(&said(object), &said(namespace));
        assert_eq!(found, expected, "{object:?} {namespace:?}");
    }
}

#[test]
fn what_came_of_adoption_is_read_back() {
    for adoption in [Adoption::Made, Adoption::Adopted, Adoption::Refused] {
        assert_eq!(Adoption::parse(adoption.as_str()), adoption);
    }
    assert_eq!(Adoption::parse("?"), Adoption::Refused);
}

fn two(first: (&str, &str), second: (&str, &str)) -> Annotations {
    [first, second]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into()
}

/// What holds, and whether the object's word is told to count for nothing.
#[test]
fn a_bound_word_is_made_stricter_and_never_weaker() {
    let later = "2031-01-31T18:00:00Z";
    let until = |text: &str| Some(Pause::Until(text.parse().unwrap()));
    type Change = Box<dyn Fn(&mut Directives)>;
    let policy = |policy| Box::new(move |d: &mut Directives| d.policy = policy) as Change;
    let adopt = |adopt| Box::new(move |d: &mut Directives| d.adopt = adopt) as Change;
    let protect = |protect| Box::new(move |d: &mut Directives| d.protect = protect) as Change;
    let pause = |pause| Box::new(move |d: &mut Directives| d.pause = pause) as Change;
    let (policies, paused) = (names::RECONCILE_POLICY, names::PAUSED);
    for (word, name, mine, theirs, change, is_overruled) in [
        (
            "protect",
            names::PROTECT,
            "none",
            "delete",
            protect(true),
            true,
        ),
        (
            "protect",
            names::PROTECT,
            "delete",
            "none",
            protect(true),
            false,
        ),
        (
            "adopt",
            names::ADOPT,
            "always",
            "never",
            adopt(Adopt::Never),
            true,
        ),
        (
            "adopt",
            names::ADOPT,
            "if-equal",
            "never",
            adopt(Adopt::Never),
            true,
        ),
        (
            "adopt",
            names::ADOPT,
            "never",
            "if-equal",
            adopt(Adopt::Never),
            false,
        ),
        (
            "policy",
            policies,
            "manage",
            "skip",
            policy(Policy::Skip),
            true,
        ),
        (
            "policy",
            policies,
            "detach-on-delete",
            "skip",
            policy(Policy::Skip),
            true,
        ),
        (
            "policy",
            policies,
            "manage",
            "detach-on-delete",
            policy(Policy::DetachOnDelete),
            true,
        ),
        (
            "policy",
            policies,
            "skip",
            "manage",
            policy(Policy::Skip),
            false,
        ),
        ("policy", policies, "", "skip", policy(Policy::Skip), false),
        (
            "paused",
            paused,
            "false",
            "true",
            pause(Some(Pause::Open)),
            true,
        ),
        (
            "paused",
            paused,
            later,
            "true",
            pause(Some(Pause::Open)),
            true,
        ),
        (
            "paused",
            paused,
            "true",
            later,
            pause(Some(Pause::Open)),
            false,
        ),
        (
            "paused",
            paused,
            "2030-01-31T18:00:00Z",
            later,
            pause(until(later)),
            true,
        ),
    ] {
        let all = format!("protect, adopt policy,paused,{word}");
        for binding in [word, &all, "what means nothing"] {
            let namespace = two((BINDING, binding), (name, theirs));
            let found = Directives::read(&one(name, mine), ("team", &namespace), Policy::Manage);
            let case = format!("{binding}: {name}: {mine} on {theirs}");
            let found = match (binding, found) {
                ("what means nothing", found) => {
                    let mistakes = found.unwrap_err();
                    assert!(mistakes[0].to_string().contains(BINDING), "{mistakes:?}");
                    continue;
                }
                (_, found) => found.unwrap(),
            };
            let mut expected = Directives::of_policy(Policy::Manage);
            change(&mut expected);
            expected.overruled = found.overruled.clone();
            assert_eq!(found, expected, "{case}");
            let told: Vec<String> = found.overruled.iter().map(ToString::to_string).collect();
            let start = format!(
                "annotation {name}: '{mine}' does not count, '{theirs}' holds: namespace team lets objects say only what is stricter"
            );
            assert_eq!(told.len(), usize::from(is_overruled), "{case}");
            assert!(told.iter().all(|told| told.starts_with(&start)), "{told:?}");
        }
    }
}

#[test]
fn a_namespace_binds_what_it_names_to_what_it_says() {
    // Nothing is said to which the object could be bound.
    let bound = one(BINDING, "protect adopt paused");
    for (name, text) in [
        (names::PROTECT, "none"),
        (names::ADOPT, "always"),
        (names::PAUSED, "false"),
    ] {
        assert!(read(&one(name, text), &bound).unwrap().overruled.is_empty());
    }
    // The operator's policy is what holds in a namespace that names none.
    let manages = one(names::RECONCILE_POLICY, "manage");
    for (binding, expected) in [("policy", Policy::Skip), ("adopt", Policy::Manage)] {
        let namespace = one(BINDING, binding);
        let found = Directives::read(&manages, ("team", &namespace), Policy::Skip).unwrap();
        assert_eq!(found.policy, expected);
    }
    // A word that is not bound stays the object's.
    let other = two((BINDING, "adopt"), (names::PROTECT, "delete"));
    assert!(!read(&one(names::PROTECT, "none"), &other).unwrap().protect);
    // A mistake in a bound word counts, whatever the object says.
    let wrong = two((BINDING, "adopt"), (names::ADOPT, "perhaps"));
    assert!(read(&one(names::ADOPT, "never"), &wrong).is_err());
    // On objects the annotations mean nothing.
    let lifted = two((BINDING, "x"), (CREDENTIAL, "any"));
    assert_eq!(
        read(&lifted, &none()),
        Ok(Directives::of_policy(Policy::Manage))
    );
}

#[test]
fn bounds_that_mean_nothing_are_told() {
    for (name, text, expected) in [
        (
            BINDING,
            "",
            "one or more of protect, adopt, policy and paused",
        ),
        (
            BINDING,
            "protect,adoption",
            "one or more of protect, adopt, policy and paused",
        ),
        (CREDENTIAL, "operator", "own; remove the annotation"),
        (CREDENTIAL, "", "own; remove the annotation"),
        (ALLOWED_IDENTITIES, "my-app", "client ids such as "),
    ] {
        let mistakes = read(&none(), &one(name, text)).unwrap_err();
        let start = format!(
            "annotation {name} of namespace team: '{text}' is unknown, expected {expected}"
        );
        assert!(mistakes[0].starts_with(&start), "{mistakes:?}");
    }
    assert!(read(&none(), &one(CREDENTIAL, "own")).is_ok());
    for (namespace, expected) in [
        (none(), false),
        (one(CREDENTIAL, "own"), true),
        (one(CREDENTIAL, "?"), true),
    ] {
        assert_eq!(needs_own_credential(&namespace), expected);
    }
}

#[test]
fn a_bound_protection_holds_against_the_deletion_of_what_is_above() {
    for (binding, object, namespace, expected) in [
        (None, Some("none"), Some("delete"), false),
        (Some("protect"), Some("none"), Some("delete"), true),
        (Some("adopt"), Some("none"), Some("delete"), false),
        (Some("?"), Some("none"), Some("delete"), true),
        (Some("protect"), Some("delete"), Some("none"), true),
        (Some("protect"), Some("none"), None, false),
    ] {
        let said = |text: Option<&str>| text.map_or(none(), |text| one(names::PROTECT, text));
        let mut of_namespace = said(namespace);
        of_namespace.extend(binding.map(|text| (BINDING.to_owned(), text.to_owned())));
        let found = is_protected(&said(object), &of_namespace);
        assert_eq!(found, expected, "{binding:?} {object:?} {namespace:?}");
    }
}

#[test]
fn long_texts_are_quoted_by_their_beginning_and_what_is_expected_is_told() {
    let text = "x".repeat(100_000);
    let told = read(&one(names::ADOPT, &text), &none()).unwrap_err();
    assert!(
        told[0].ends_with("…' is unknown, expected always, if-equal or never"),
        "{told:?}"
    );
    assert!(told[0].len() < 400, "{told:?}");
}

/// Each path is looked for in each value of a resource: whoever may write both could ask for any amount of work.
#[test]
fn paths_are_few_and_short() {
    let many = |count: usize| vec!["tags.a"; count].join(",");
    let while_on = "properties.count while properties.enableAutoScaling";
    for name in [names::IGNORE_PATHS, names::KEEP_UNKNOWN] {
        for (text, expected) in [
            (String::new(), true),
            ("tags, properties.rules".to_owned(), true),
            (while_on.to_owned(), true),
            (many(100), true),
            (many(101), false),
            ("a".repeat(1000), true),
            ("a".repeat(1001), false),
            (format!("tags,{}", "a".repeat(1001)), false),
        ] {
            let found = read(&one(name, &text), &none());
            assert_eq!(found.is_ok(), expected, "{name} of {} bytes", text.len());
            if let Err(mistakes) = found {
                assert!(
                    mistakes[0].contains("expected at most 100 paths"),
                    "{mistakes:?}"
                );
                assert!(mistakes[0].len() < 400, "{mistakes:?}");
            }
        }
    }
}
