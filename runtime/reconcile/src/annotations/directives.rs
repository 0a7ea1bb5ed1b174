//! What holds for an object, from its own annotations and those of its namespace.

use armature_shapes::names;
use jiff::Timestamp;

use super::Annotations;
use super::binding::{
    BINDS, Binding, OWN, Overruled, end_of_pause, of_adopt, of_pause, of_policy, of_protect,
};
use super::mistake::Mistake;
use super::value::{Adopt, Pause, SyncPeriod};
use super::word::{
    ADOPT, ALLOWED_SCOPES, ALWAYS_PUT, IDENTITIES, IGNORE_PATHS, KEEP_UNKNOWN, OBSERVE, PAUSED,
    POLICY, PROTECT, SYNC_PERIOD, Word,
};
use crate::allowed_scopes::AllowedScopes;
use crate::policy::Policy;

/// How strict a word is, and when it ends.
type Strictness<T> = (fn(&T) -> i64, fn(&T) -> Option<Timestamp>);

/// What holds for an object: its own annotations, else those of its namespace, else the operator's defaults; where the namespace
/// binds its objects, the stricter one.
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
    /// Where the object may be, as its namespace says; the operator's default where it does not.
    pub scopes: Option<AllowedScopes>,
    /// What was asked for by `reconcile-now`, of the object and of the namespace; empty when nothing was.
    pub reconcile_now: Vec<String>,
    /// Words of the object that do not count, since its namespace binds it.
    pub overruled: Vec<Overruled>,
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
            scopes: None,
            reconcile_now: Vec::new(),
            overruled: Vec::new(),
        }
    }

    /// Reads both places; `default` holds where neither names a policy.
    ///
    /// # Errors
    /// Every text that means nothing. Those of the namespace count only where the object says nothing itself, or is bound.
    pub fn read(
        object: &Annotations,
        namespace: (&str, &Annotations),
        default: Policy,
    ) -> Result<Self, Vec<Mistake>> {
        let mut reader = Reader {
            object,
            namespace,
            mistakes: Vec::new(),
            overruled: Vec::new(),
        };
        // What they say is looked at elsewhere; a mistake in them is told, and sends nothing.
        reader.on_namespace(&BINDS);
        reader.on_namespace(&OWN);
        reader.on_namespace(&IDENTITIES);
        reader.on_object(&IGNORE_PATHS);
        reader.on_object(&KEEP_UNKNOWN);
        let binding = Binding::of(namespace.1);
        let of_operator = binding.policy.then_some((default, default.as_str()));
        let directives = Self {
            policy: reader
                .bindable(&POLICY, binding.policy, (of_policy, |_| None), of_operator)
                .unwrap_or(default),
            observe: reader.on_object(&OBSERVE).unwrap_or(false),
            always_put: reader.on_object(&ALWAYS_PUT).unwrap_or(false),
            pause: reader
                .bindable(&PAUSED, binding.paused, (of_pause, end_of_pause), None)
                .flatten(),
            sync: reader.anywhere(&SYNC_PERIOD),
            adopt: reader
                .bindable(&ADOPT, binding.adopt, (of_adopt, |_| None), None)
                .unwrap_or_default(),
            protect: reader
                .bindable(&PROTECT, binding.protect, (of_protect, |_| None), None)
                .unwrap_or(false),
            scopes: reader.on_namespace(&ALLOWED_SCOPES),
            reconcile_now: [object, namespace.1]
                .iter()
                .filter_map(|annotations| annotations.get(names::RECONCILE_NOW).cloned())
                .collect(),
            overruled: std::mem::take(&mut reader.overruled),
        };
        match reader.mistakes {
            mistakes if mistakes.is_empty() => Ok(directives.limited()),
            mistakes => Err(mistakes),
        }
    }

    /// The same with no more writes than others can live with.
    fn limited(mut self) -> Self {
        if self.always_put {
            self.sync = self.sync.map(SyncPeriod::with_put);
        }
        self
    }

    /// The pause that holds now.
    pub fn paused_at(&self, now: Timestamp) -> Option<Pause> {
        self.pause.filter(|pause| match pause {
            Pause::Open => true,
            Pause::Until(end) => *end > now,
        })
    }
}

/// Reads words and collects mistakes.
struct Reader<'a> {
    object: &'a Annotations,
    namespace: (&'a str, &'a Annotations),
    mistakes: Vec<Mistake>,
    overruled: Vec<Overruled>,
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
        self.on_namespace(word)
    }

    /// The object's word, else the namespace's; where the namespace binds it, the stricter one of them. `default` is the word
    /// of the operator that binds where the namespace has none.
    fn bindable<T: Copy>(
        &mut self,
        word: &Word<T>,
        is_bound: bool,
        (strictness, end): Strictness<T>,
        default: Option<(T, &str)>,
    ) -> Option<T> {
        if !is_bound {
            return self.anywhere(word);
        }
        let (name, annotations) = self.namespace;
        let of_namespace = self.on_namespace(word);
        let bound = match (of_namespace, text(annotations, word.name)) {
            (Some(bound), Some(text)) => Some((bound, text)),
            _ => default,
        };
        let own = self.on_object(word);
        let (Some(said), Some((bound, holds))) = (own, bound) else {
            return own.or(bound.map(|(bound, _)| bound));
        };
        if strictness(&said) >= strictness(&bound) {
            return own;
        }
        let end = end(&bound);
        self.overruled.push(Overruled {
            annotation: word.name,
            text: text(self.object, word.name).unwrap_or_default().to_owned(),
            holds: holds.to_owned(),
            namespace: name.to_owned(),
            end,
        });
        Some(bound)
    }

    /// The namespace's word, whatever the object says.
    fn on_namespace<T>(&mut self, word: &Word<T>) -> Option<T> {
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
