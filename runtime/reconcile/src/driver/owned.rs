//! Which values Azure moves by itself: the rules of the kind, and the conditions of the user's annotation.

use armature_engine::compare::{MOST_MARKS, Record, Settled};
use armature_engine::owned::{Memory, Moved, Owned, Right, Rule, Scaled, Steps};
use armature_shapes::names;
use serde_json::Value;

use super::named::some;
use super::pass::Pass;
use super::work::{UNSENT, Work};
use crate::action::warning;
use crate::port::{EventNote, KubernetesError};

/// One entry of the annotation `ignore-paths`.
enum Entry<'a> {
    /// A path that is never compared.
    Path(&'a str),
    /// A rule with a condition.
    Rule(&'a str),
}

impl Pass<'_> {
    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let text = self.annotation(names::IGNORE_PATHS).unwrap_or("");
        let entries = text.split(',').map(str::trim);
        let entries = entries.filter(|entry| !entry.is_empty());
        entries.map(|entry| match Rule::is_one(entry) {
            true => Entry::Rule(entry),
            false => Entry::Path(entry),
        })
    }

    /// Paths that the user does not want compared, whatever happens.
    pub(super) fn ignored_paths(&self) -> Vec<String> {
        let paths = self.entries().filter_map(|entry| match entry {
            Entry::Path(path) => Some(path.to_owned()),
            Entry::Rule(_) => None,
        });
        paths.collect()
    }

    /// The rules of the kind and of the user. One that cannot be read leaves nothing alone; of the kinds, tests read all.
    pub(super) fn owned_rules(&self) -> Vec<Rule> {
        let of_kind = self.kind().azure_owned.iter().copied();
        let of_user = self.entries().filter_map(|entry| match entry {
            Entry::Rule(rule) => Some(rule),
            Entry::Path(_) => None,
        });
        // The user's come first: the first that holds decides.
        let rules = of_user.chain(of_kind);
        rules.filter_map(|rule| Rule::parse(rule).ok()).collect()
    }

    /// What is wrong with the user's conditions.
    pub(super) fn rule_mistakes(&self) -> Vec<String> {
        let rules = self.entries().filter_map(|entry| match entry {
            Entry::Rule(rule) => self.rule_mistake(rule),
            Entry::Path(_) => None,
        });
        let rules = rules.map(|fault| format!("annotation {}: {fault}", names::IGNORE_PATHS));
        rules.collect()
    }

    fn rule_mistake(&self, text: &str) -> Option<String> {
        let rule = match Rule::parse(text) {
            Ok(rule) => rule,
            Err(error) => return Some(error.to_string()),
        };
        let version = self.version();
        let is_known = |path: &Steps| path.is_known(version.spec) || path.is_known(version.status);
        if !rule.path.is_known(version.spec) {
            return Some(format!(
                "`{text}`: the spec of {} in version {} has no {}; paths are those of Azure's JSON, as in \
                 properties.enableAutoScaling",
                self.kind().kind,
                version.name,
                rule.path
            ));
        }
        let is_of_members = rule.path.is_of_members(version.spec);
        if matches!(rule.right, Right::Added(_)) && !is_of_members {
            return Some(format!(
                "`{text}`: `added` is about the entries of a map or the items of a list, and {} is neither in version {} of {}",
                rule.path,
                version.name,
                self.kind().kind
            ));
        }
        let unknown = rule.others().find(|path| !is_known(path))?;
        Some(format!(
            "`{text}`: neither spec nor status of {} in version {} have {}",
            self.kind().kind,
            version.name,
            unknown
        ))
    }

    /// Asks whether another resource changes how many units this one has, where Azure has another number than the spec.
    pub(super) async fn learn_scaled(&mut self) -> Result<(), KubernetesError> {
        let may_be_scaled = self
            .owned_rules()
            .iter()
            .any(|rule| rule.right == Right::Autoscaled);
        let is_known = self.findings.payload.scaled != Scaled::Unasked;
        if is_known || !may_be_scaled || !self.asks_scaled().await? {
            return Ok(());
        }
        let lookup = self.reconciler.extensions.scale_lookup().cloned();
        let now = self.reconciler.clock.now();
        let found = match lookup {
            Some(lookup) => lookup.bounds(&self.context(), now).await,
            None => Ok(None),
        };
        self.findings.payload.scaled = match found {
            Ok(None) => Scaled::ByNone,
            Ok(Some((least, most))) => Scaled::Between(least, most),
            Err(error) => {
                tracing::warn!(%error, "whether another resource scales this one cannot be read: the number of units is left alone");
                Scaled::Unreadable
            }
        };
        Ok(())
    }

    /// What is told once of values that are Azure's: one that somebody put there on purpose, and one of which it is not
    /// remembered whether the spec was edited.
    pub(super) fn told_of(&self, owned: &Owned) -> Vec<EventNote> {
        let is_said = |moved: &&Moved| moved.is_told && moved.is_new || moved.is_unknown;
        let said = owned.moved.iter().filter(is_said);
        let said = said.filter(|moved| moved.differs);
        let (forgotten, known): (Vec<&Moved>, Vec<&Moved>) = said.partition(|it| it.is_forgotten);
        let words = |moved: Vec<&Moved>| {
            let texts: Vec<String> = moved.into_iter().map(in_words).collect();
            (!texts.is_empty()).then(|| some(&texts, "; "))
        };
        let known =
            words(known).map(|texts| format!("{texts}: left alone until the spec is edited there"));
        let forgotten = words(forgotten).map(|texts| {
            format!(
                "{texts}: left alone, and an edit there would not be noticed: the object has more than {MOST_MARKS} values that \
                 Azure may move, and of these is not remembered what the spec said. Make the change in Azure, too, or spread the \
                 values over several resources"
            )
        });
        let messages = known.into_iter().chain(forgotten);
        messages
            .map(|message| warning(names::event::OWNED, message))
            .collect()
    }

    /// What is told of values that the first PUT of a claim leaves as others made them, although the spec says something else: by then
    /// nothing was sent. What of them it has ended may look like the service's own way after it.
    pub(super) fn told_carried(&self, work: &Work) -> Option<EventNote> {
        let is_carried = |moved: &&Moved| {
            let is_known = work.record.is_none() && moved.differs && !moved.is_unknown;
            is_known && !UNSENT.contains(&moved.right)
        };
        let carried = work.owned.moved.iter().filter(is_carried);
        let carried: Vec<String> = carried.map(in_words).collect();
        let message = format!(
            "{}: left alone until the spec is edited there",
            some(&carried, "; ")
        );
        (!carried.is_empty()).then(|| warning(names::event::OWNED, message))
    }

    /// What is told once of members that others may have added, or the spec may have named: they stay. Where nothing was edited
    /// since another operator sent it, none of them was.
    pub(super) fn told_unsure(
        &self,
        settled: &Settled,
        before: Option<&Record>,
    ) -> Option<EventNote> {
        let sent = self.book.put_generation();
        let is_edited = sent.is_some_and(|sent| sent != self.generation);
        if settled.unsure.is_empty() || before.is_none() && !is_edited {
            return None;
        }
        let message = format!(
            "Azure has {}: whether the spec named these is not remembered, and they stay. To have one removed, name it as Azure has \
             it and take it out again",
            some(&settled.unsure, ", ")
        );
        Some(warning(names::event::OWNED, message))
    }

    /// What of the desired body is Azure's, where Azure has `observed`.
    pub(super) fn owned(&self, observed: Option<&Value>, memory: Memory<'_>) -> Owned {
        let rules = self.owned_rules();
        let desired = self.findings.desired();
        let observed = (observed, self.findings.payload.scaled);
        Owned::of(self.version().spec, &rules, desired, observed, memory)
    }
}

/// Both values, and the rule by which Azure's stays.
fn in_words(moved: &Moved) -> String {
    if moved.is_hidden {
        return format!("{}: Azure has another value ({})", moved.path, moved.rule);
    }
    let shown =
        |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    format!(
        "{}: Azure has {}, the spec says {} ({})",
        moved.path,
        shown(moved.observed.as_ref()),
        shown(moved.desired.as_ref()),
        moved.rule
    )
}
