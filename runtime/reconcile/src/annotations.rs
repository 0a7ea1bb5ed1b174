//! What users ask for by annotations of an object and of its namespace, read into one typed value.
//!
//! Fail safe: a word that is not known is a [`Mistake`], never a default. What follows from a directive is decided in
//! [`mod@super::decide`]; here is only what the texts mean.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use armature_shapes::names;
use jiff::{SignedDuration, Timestamp};

use super::policy::Policy;

/// Annotations of an object or a namespace.
pub type Annotations = BTreeMap<String, String>;

/// Shortest period between two looks at one resource.
const SHORTEST_SYNC: Duration = Duration::from_secs(10);
/// Longest one; whoever wants a longer one wants none.
const LONGEST_SYNC: Duration = Duration::from_secs(366 * 24 * 3600);

/// Annotations that hold on a namespace too, for its objects that do not have them.
pub const OF_NAMESPACES: [&str; 5] = [
    names::RECONCILE_POLICY,
    names::PAUSED,
    names::SYNC_PERIOD,
    names::ADOPT,
    names::PROTECT,
];

/// How long nothing is sent to Azure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Until the annotation goes.
    Open,
    /// Until this moment.
    Until(Timestamp),
}

/// How often a resource that is fine is compared with Azure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncPeriod {
    /// Not before something changes.
    Never,
    /// Every so often.
    Every(Duration),
}

/// What to do with a resource that exists in Azure and that the object has not made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adopt {
    /// Take it over, and make it as the spec says.
    #[default]
    Always,
    /// Take it over where it is as the spec says.
    IfEqual,
    /// Leave it alone.
    Never,
}

/// What came of the question whether the object may manage the resource. Kept in the annotation
/// [`names::ADOPTION`], so that it is asked once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adoption {
    /// The object's PUT makes the resource, or made it.
    Made,
    /// The resource was there, and is the object's now.
    Adopted,
    /// The resource was there, and is not the object's.
    Refused,
}

impl Adoption {
    /// As the annotation has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Adopted => "adopted",
            Self::Refused => "refused",
        }
    }

    /// From the annotation; another text counts as refused, which deletes nothing and asks again.
    pub fn parse(text: &str) -> Self {
        match text {
            "made" => Self::Made,
            "adopted" => Self::Adopted,
            _ => Self::Refused,
        }
    }
}

/// An annotation whose text means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Its name.
    annotation: &'static str,
    /// Its text.
    text: String,
    /// The namespace that has it; the object itself where there is none.
    namespace: Option<String>,
    /// What it should be.
    expected: &'static str,
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            annotation,
            text,
            expected,
            ..
        } = self;
        write!(formatter, "annotation {annotation}")?;
        if let Some(namespace) = &self.namespace {
            write!(formatter, " of namespace {namespace}")?;
        }
        write!(formatter, ": '{text}' is unknown, expected {expected}")
    }
}

/// What holds for an object: its own annotations, else those of its namespace, else the operator's defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directives {
    /// What may be done in Azure.
    pub policy: Policy,
    /// Never change Azure.
    pub observe: bool,
    /// PUT on every pass.
    pub always_put: bool,
    /// Send nothing for a while.
    pub pause: Option<Pause>,
    /// How often to look; the operator's period where it is not said.
    pub sync: Option<SyncPeriod>,
    /// What to do with what exists.
    pub adopt: Adopt,
    /// Never delete the resource.
    pub protect: bool,
    /// What was asked for by `reconcile-now`, of the object and of the namespace; empty when nothing was.
    pub reconcile_now: Vec<String>,
}

impl Directives {
    /// What holds where nothing is said.
    pub fn of_policy(policy: Policy) -> Self {
        Self {
            policy,
            observe: false,
            always_put: false,
            pause: None,
            sync: None,
            adopt: Adopt::default(),
            protect: false,
            reconcile_now: Vec::new(),
        }
    }

    /// Reads both places; `default` holds where neither names a policy.
    ///
    /// # Errors
    /// Every text that means nothing. Those of the namespace count only where the object says nothing itself.
    pub fn read(
        object: &Annotations,
        namespace: (&str, &Annotations),
        default: Policy,
    ) -> Result<Self, Vec<Mistake>> {
        let mut reader = Reader {
            object,
            namespace,
            mistakes: Vec::new(),
        };
        let directives = Self {
            policy: reader.anywhere(&POLICY).unwrap_or(default),
            observe: reader.on_object(&OBSERVE).unwrap_or(false),
            always_put: reader.on_object(&ALWAYS_PUT).unwrap_or(false),
            pause: reader.anywhere(&PAUSED).flatten(),
            sync: reader.anywhere(&SYNC_PERIOD),
            adopt: reader.anywhere(&ADOPT).unwrap_or_default(),
            protect: reader.anywhere(&PROTECT).unwrap_or(false),
            reconcile_now: [object, namespace.1]
                .iter()
                .filter_map(|annotations| annotations.get(names::RECONCILE_NOW).cloned())
                .collect(),
        };
        match reader.mistakes {
            mistakes if mistakes.is_empty() => Ok(directives),
            mistakes => Err(mistakes),
        }
    }

    /// The pause that holds now.
    pub fn paused_at(&self, now: Timestamp) -> Option<Pause> {
        self.pause.filter(|pause| match pause {
            Pause::Open => true,
            Pause::Until(end) => *end > now,
        })
    }
}

/// Whether the resource of an object must not be deleted, not along with another one either. An unknown word
/// protects.
pub fn is_protected(object: &Annotations, namespace: &Annotations) -> bool {
    let said = object
        .get(names::PROTECT)
        .or_else(|| namespace.get(names::PROTECT));
    said.is_some_and(|text| (PROTECT.parse)(text) != Some(false))
}

/// One annotation: its name, what its text means, and what is expected of it.
struct Word<T> {
    name: &'static str,
    parse: fn(&str) -> Option<T>,
    expected: &'static str,
}

const POLICY: Word<Policy> = Word {
    name: names::RECONCILE_POLICY,
    parse: Policy::parse,
    expected: "manage, skip or detach-on-delete",
};

const OBSERVE: Word<bool> = Word {
    name: names::OBSERVE,
    parse: flag,
    expected: "true or false",
};

const ALWAYS_PUT: Word<bool> = Word {
    name: names::ALWAYS_PUT,
    parse: flag,
    expected: "true or false",
};

const PAUSED: Word<Option<Pause>> = Word {
    name: names::PAUSED,
    parse: pause,
    expected: "true, false, or the time of its end such as 2030-01-31T18:00:00Z",
};

const SYNC_PERIOD: Word<SyncPeriod> = Word {
    name: names::SYNC_PERIOD,
    parse: sync_period,
    expected: "never, or a duration between 10s and a year such as 15m or 2h",
};

const ADOPT: Word<Adopt> = Word {
    name: names::ADOPT,
    parse: adopt,
    expected: "always, if-equal or never",
};

const PROTECT: Word<bool> = Word {
    name: names::PROTECT,
    parse: protect,
    expected: "delete or none",
};

fn flag(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn pause(text: &str) -> Option<Option<Pause>> {
    match flag(text) {
        Some(true) => Some(Some(Pause::Open)),
        Some(false) => Some(None),
        None => text
            .parse::<Timestamp>()
            .ok()
            .map(|end| Some(Pause::Until(end))),
    }
}

fn sync_period(text: &str) -> Option<SyncPeriod> {
    if text == "never" {
        return Some(SyncPeriod::Never);
    }
    let duration = text.parse::<SignedDuration>().ok()?;
    let duration = Duration::try_from(duration).ok()?;
    (SHORTEST_SYNC..=LONGEST_SYNC)
        .contains(&duration)
        .then_some(SyncPeriod::Every(duration))
}

fn adopt(text: &str) -> Option<Adopt> {
    match text {
        "always" => Some(Adopt::Always),
        "if-equal" => Some(Adopt::IfEqual),
        "never" => Some(Adopt::Never),
        _ => None,
    }
}

fn protect(text: &str) -> Option<bool> {
    match text {
        "delete" => Some(true),
        "none" => Some(false),
        _ => None,
    }
}

/// Reads words and collects mistakes.
struct Reader<'a> {
    object: &'a Annotations,
    namespace: (&'a str, &'a Annotations),
    mistakes: Vec<Mistake>,
}

impl Reader<'_> {
    /// The object's word.
    fn on_object<T>(&mut self, word: &Word<T>) -> Option<T> {
        let text = text(self.object, word.name)?.to_owned();
        self.understand(word, text, None)
    }

    /// The object's word, else the namespace's.
    fn anywhere<T>(&mut self, word: &Word<T>) -> Option<T> {
        if text(self.object, word.name).is_some() {
            return self.on_object(word);
        }
        let (namespace, annotations) = self.namespace;
        let text = text(annotations, word.name)?.to_owned();
        self.understand(word, text, Some(namespace.to_owned()))
    }

    fn understand<T>(
        &mut self,
        word: &Word<T>,
        text: String,
        namespace: Option<String>,
    ) -> Option<T> {
        let understood = (word.parse)(&text);
        if understood.is_none() {
            self.mistakes.push(Mistake {
                annotation: word.name,
                text,
                namespace,
                expected: word.expected,
            });
        }
        understood
    }
}

/// The text of an annotation. An empty policy is none, as in ASO.
fn text<'a>(annotations: &'a Annotations, name: &str) -> Option<&'a str> {
    let text = annotations.get(name)?;
    (name != names::RECONCILE_POLICY || !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
