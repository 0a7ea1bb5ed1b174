//! Which members of shared maps and lists are ours: noted list by list, each member under what it is called.
//!
//! Beside each list that is known stands a marker, so that nothing is concluded about one that became shared later. The items of a
//! list are noted under the first of their identities that all of ours have, as Azure answered them, or as they were sent where it
//! has not; those that nothing tells apart by what they say.

use std::collections::BTreeSet;

use armature_shapes::shape::path::Path;
use serde_json::Value;

use super::collections::{Collection, Found};
use super::keyed::Keyed;
use super::leaves::{identities, identity, says};
use super::lookup::PLACES;
use super::member::{Items, Member};
use super::name::Name;
use super::{Comparison, shared_member};

/// Stands among members where there are none anymore: what paths tell may be of one that has gone.
const NO_MEMBER: &str = "";

/// How the marker of a list ends whose items are known by what they say.
const BY_CONTENT: &str = "what it says";

/// Most items that say nothing of which it is remembered that they were sent.
const MOST_FILLED: usize = 16;

/// Most values of an item of which any part may be what the spec named.
const MOST_PARTS: usize = 8;

/// Whose a member is that the spec does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// It was the spec's, and is to go.
    Ours,
    /// It never was.
    Others,
    /// That is not known.
    Unknown,
}

/// Names of members, and markers of lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Members(BTreeSet<Name>);

/// An item as the spec has it and as Azure has it.
struct Entry<'v> {
    spec: Option<&'v Value>,
    azure: Option<&'v Value>,
}

impl Members {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.0.iter()
    }

    /// Adds what another one knows.
    pub fn extend(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// Reads names to the end.
    pub fn read(rest: &mut &[u8]) -> Option<Self> {
        let mut all = Self::default();
        while !rest.is_empty() {
            all.0.insert(Name::read(rest)?);
        }
        Some(all)
    }

    pub fn has(&self, path: &str, keyed: Keyed<'_>) -> bool {
        !self.0.is_empty() && self.0.contains(&Name::of(path, keyed))
    }

    /// Whether a member of a map or list that is not noted may have been ours.
    pub fn is_unsure_of(&self, list: &str, keyed: Keyed<'_>) -> bool {
        self.has(&unsure(list), keyed)
    }

    /// Whether it tells which members of a map or list are ours.
    pub fn covers(&self, list: &str, keyed: Keyed<'_>) -> bool {
        self.has(&marker(list), keyed)
    }

    /// Whether a member is ours; nothing where the map or list is not noted.
    pub fn is_ours(&self, member: &Member<'_>, keyed: Keyed<'_>) -> Option<bool> {
        let has_any = || member.paths().iter().any(|path| self.has(path, keyed));
        if !self.covers(member.list, keyed) {
            let is_known = has_any() || self.has_content(member, keyed);
            return is_known.then_some(true);
        }
        let Some((_, field)) = member.items else {
            let list = [member.list.to_owned()];
            let whole = shared_member(&list, member.path).unwrap_or(member.path);
            return Some(self.has(whole, keyed));
        };
        let mut is_marked = false;
        for names in identities(field) {
            if !self.has(&marker_by(member.list, &names.join("+")), keyed) {
                continue;
            }
            is_marked = true;
            let path = identity(member.value, names);
            let path = path.map(|it| Path::Root(member.list).key(&it).to_string());
            if path.is_some_and(|path| self.has(&path, keyed)) {
                return Some(true);
            }
        }
        if self.has(&marker_by(member.list, BY_CONTENT), keyed) {
            is_marked = true;
            if self.has_content(member, keyed) {
                return Some(true);
            }
        }
        Some(!is_marked && has_any())
    }

    /// How many of so many items of the spec that say nothing, and that Azure does not have as such, were sent before: Azure made
    /// something of them that nobody can tell, and has no fewer items now than it had then.
    pub fn filled(&self, list: &str, (count, length): (usize, usize), keyed: Keyed<'_>) -> usize {
        let was_sent = |count: &usize| {
            let mut lengths = 0..=length.min(PLACES);
            self.has_filled(list, *count, keyed)
                && lengths.any(|length| self.has(&filled_to(list, *count, length), keyed))
        };
        let mut counts = (1..=count.min(MOST_FILLED)).rev();
        counts.find(was_sent).unwrap_or_default()
    }

    /// Whether so many items that say nothing were sent and Azure did not have them as such.
    pub fn has_filled(&self, list: &str, count: usize, keyed: Keyed<'_>) -> bool {
        self.has(&filled(list, count), keyed)
    }

    /// Whether an item says what one of ours does, and maybe more.
    fn has_content(&self, member: &Member<'_>, keyed: Keyed<'_>) -> bool {
        let Some(items) = member.items else {
            return false;
        };
        let list = member.list;
        let mut said = says(items, member.value);
        if said.is_empty() {
            let [first, second] = contents(list, said.iter());
            return self.has(&first, keyed) && self.has(&second, keyed);
        }
        said.retain(|(path, _)| self.has(&part(list, path), keyed));
        let is_known = |said: &[&(String, String)]| {
            let [first, second] = contents(list, said.iter().copied());
            !said.is_empty() && self.has(&first, keyed) && self.has(&second, keyed)
        };
        let whole: Vec<_> = said.iter().collect();
        if said.len() > MOST_PARTS {
            let without = |left_out: usize| -> Vec<_> {
                let parts = said.iter().enumerate();
                let parts = parts.filter(|(at, _)| *at != left_out);
                parts.map(|(_, part)| part).collect()
            };
            return is_known(&whole) || (0..said.len()).any(|at| is_known(&without(at)));
        }
        (1..1_u32 << said.len()).any(|chosen| {
            let parts = said.iter().enumerate();
            let parts = parts.filter(|(at, _)| chosen & (1 << at) != 0);
            is_known(&parts.map(|(_, part)| part).collect::<Vec<_>>())
        })
    }

    /// The members of the spec, as Azure has them where it does, with those of Azure's alone that are ours. Of a list with one of
    /// which it is unknown whose it is, no more is concluded. `is_read` is whether Azure answers what was sent.
    pub fn of(
        (comparison, is_read): (&Comparison<'_>, bool),
        (keyed, before): (Keyed<'_>, Option<&Self>),
        whose: &dyn Fn(&Member<'_>) -> Whose,
    ) -> Self {
        let mut all = Self::default();
        for list in comparison.collections() {
            let (named, others) = match is_read {
                true => list.members_as_sent(),
                false => list.members(),
            };
            let others = others
                .iter()
                .map(|found| (whose(&list.member(found)), found));
            let others: Vec<_> = others.collect();
            match others.iter().any(|(whose, _)| *whose == Whose::Unknown) {
                true => all.note(&unsure(&list.path), keyed),
                false => all.note(&marker(&list.path), keyed),
            }
            if is_read {
                all.note_filled(&list, &named, keyed);
            }
            let kept = others.iter().filter(|(whose, _)| *whose == Whose::Ours);
            let kept = kept.map(|(_, found)| *found);
            match list.items {
                None => {
                    let paths = named.iter().chain(kept).map(|found| &found.path);
                    paths.for_each(|path| all.note(path, keyed));
                }
                Some(items) => {
                    let named = named.iter().map(|found| Entry {
                        spec: Some(found.value),
                        azure: found.counterpart,
                    });
                    let kept = kept.map(|found| Entry {
                        spec: None,
                        azure: Some(found.value),
                    });
                    let entries: Vec<Entry<'_>> = named.chain(kept).collect();
                    all.note_items((&list.path, items), &entries, keyed);
                }
            }
        }
        comparison.shared_members(&mut |member| all.note(member, keyed));
        // A list that has gone may come again.
        let before = before.filter(|before| !before.is_empty());
        let lists = comparison.shared.iter();
        let known = lists.filter(|list| before.is_some_and(|it| it.covers(list, keyed)));
        known.for_each(|list| all.note(&marker(list), keyed));
        if before.is_some() && all.is_empty() {
            all.note(NO_MEMBER, keyed);
        }
        all
    }

    /// Notes items that say nothing and that Azure has otherwise, if at all.
    fn note_filled(&mut self, list: &Collection<'_>, named: &[Found<'_>], keyed: Keyed<'_>) {
        let length = list.length();
        for count in 1..=list.filled(named).min(MOST_FILLED) {
            self.note(&filled(&list.path, count), keyed);
            self.note(&filled_to(&list.path, count, length), keyed);
        }
    }

    fn note(&mut self, text: &str, keyed: Keyed<'_>) {
        self.0.insert(Name::of(text, keyed));
    }

    /// Notes items under the first identity that all of them have; by what they say where there is none.
    fn note_items(
        &mut self,
        (list, items): (&str, Items),
        entries: &[Entry<'_>],
        keyed: Keyed<'_>,
    ) {
        if entries.is_empty() {
            return;
        }
        // What Azure shows is what it will be known by.
        let shown =
            |entry: &Entry<'_>, names: &[&str]| identity(entry.azure.or(entry.spec)?, names);
        let mut candidates = identities(items.1);
        let common = candidates.find(|names| {
            let mut entries = entries.iter();
            entries.all(|entry| shown(entry, names).is_some())
        });
        let noted: Vec<&[&str]> = match common {
            Some(names) => {
                self.note(&marker_by(list, &names.join("+")), keyed);
                vec![names]
            }
            None => identities(items.1).collect(),
        };
        for entry in entries {
            for value in [entry.spec, entry.azure].into_iter().flatten() {
                let called = noted.iter().filter_map(|names| identity(value, names));
                let root = Path::Root(list);
                called.for_each(|it| self.note(&root.key(&it).to_string(), keyed));
            }
        }
        if common.is_none() {
            self.note_contents((list, items), entries, keyed);
        }
    }

    fn note_contents(
        &mut self,
        (list, items): (&str, Items),
        entries: &[Entry<'_>],
        keyed: Keyed<'_>,
    ) {
        self.note(&marker_by(list, BY_CONTENT), keyed);
        for entry in entries {
            let said = says(items, entry.spec.or(entry.azure).unwrap_or(&Value::Null));
            let mut shown = entry.azure.map(|azure| says(items, azure));
            // Of Azure's answer what the spec names.
            if let Some(shown) = &mut shown {
                shown.retain(|(path, _)| said.iter().any(|(known, _)| known == path));
            }
            for said in [Some(said), shown].into_iter().flatten() {
                said.iter()
                    .for_each(|it| self.note(&part(list, &it.0), keyed));
                let contents = contents(list, said.iter());
                contents.iter().for_each(|it| self.note(it, keyed));
            }
        }
    }
}

#[cfg(test)]
impl Members {
    /// As earlier releases noted them: by paths alone, without saying of which lists.
    pub fn of_earlier(comparison: &Comparison<'_>, keyed: Keyed<'_>) -> Self {
        let mut all = Self::default();
        comparison.shared_members(&mut |member| all.note(member, keyed));
        all
    }
}

fn marker(list: &str) -> String {
    format!("{list}[]")
}

fn unsure(list: &str) -> String {
    format!("{list}[] unsure")
}

fn marker_by(list: &str, names: &str) -> String {
    format!("{list}[] by {names}")
}

fn filled(list: &str, count: usize) -> String {
    format!("{list}[] filled {count}")
}

fn filled_to(list: &str, count: usize, length: usize) -> String {
    format!("{list}[] filled {count} of {length}")
}

fn part(list: &str, path: &str) -> String {
    format!("{list}[] says {path}")
}

/// What an item says as two texts, so that it is known by twice as many bytes: many combinations of parts are tried.
fn contents<'p>(list: &str, said: impl Iterator<Item = &'p (String, String)>) -> [String; 2] {
    let parts: Vec<String> = said
        .map(|(path, text)| format!("{path:?}={text:?}"))
        .collect();
    let parts = parts.join(",");
    ["is", "is indeed"].map(|word| format!("{list}[] {word} {parts}"))
}
