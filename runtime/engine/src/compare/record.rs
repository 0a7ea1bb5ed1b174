//! What an object remembers of its latest PUT, or of its adoption: one small annotation of keyed digests.
//!
//! It answers two questions. *Was it edited?* By the generation, by the inputs, and by the whole body. *Did Azure
//! drift?* By what Azure returned for that body, path by path where it returned something else.

use armature_shapes::digest::canonical_json;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::former::Former;
use super::keyed::{Keyed, LENGTH};
use super::leaf::Leaf;
use super::look::{Look, Place, REWRITTEN, Rewritten, SHORT};
use super::marked::{Mark, Marked, Remembered};
use super::member::Member;
use super::members::Whose;
use super::timed::{Timed, Topic};
use super::{Comparison, Difference};

/// Bytes of the digests that only tell one key or one release from another.
const TAG: usize = 4;

/// How long a path that a service changes by itself is left alone. Then one PUT finds out whether it still does.
pub const UNSTABLE_FOR: SignedDuration = SignedDuration::from_hours(24);

/// How far what is desired has come in Azure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Applied {
    /// A claim: nothing of it is sent yet, and nothing was there before. It says what Azure is expected to answer.
    Intended,
    /// The PUT was sent, or may have been; what came of it is not known.
    Sent {
        /// Before that PUT there was nothing in Azure.
        first: bool,
    },
    /// Azure took the PUT, and what it made of it has not been read yet.
    Acknowledged,
    /// What Azure made of it was read.
    Confirmed,
}

impl Applied {
    const PENDING: u8 = 1;
    const FIRST: u8 = 2;
    const ANSWERED: u8 = 4;
    const FORETELLS: u8 = 8;

    /// As the annotation has it: a sum of flags.
    fn flags(self) -> u8 {
        match self {
            Self::Intended => Self::PENDING | Self::FIRST | Self::FORETELLS,
            Self::Sent { first: true } => Self::PENDING | Self::FIRST,
            Self::Sent { first: false } => Self::PENDING,
            Self::Acknowledged => Self::PENDING | Self::ANSWERED,
            Self::Confirmed => 0,
        }
    }

    /// Nothing for flags that do not go together.
    fn from_flags(flags: u8) -> Option<Self> {
        // Earlier releases also said whether it was the first PUT that Azure took.
        let flags = match flags & Self::ANSWERED {
            0 => flags,
            _ => flags & !Self::FIRST,
        };
        let all = [
            Self::Intended,
            Self::Sent { first: true },
            Self::Sent { first: false },
            Self::Acknowledged,
            Self::Confirmed,
        ];
        all.into_iter().find(|applied| applied.flags() == flags)
    }
}

/// What is desired, as digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Desired {
    /// `metadata.generation` of the spec.
    pub generation: i64,
    body: [u8; LENGTH],
    inputs: [u8; LENGTH],
    build: [u8; TAG],
}

impl Desired {
    /// `body` is the whole body of the PUT, write-only values and values of Secrets included, in which the order of
    /// lists counts; `inputs` are texts for all that comes from outside the object, in an order that never changes;
    /// `build` is the version of the operator.
    pub fn new(
        keyed: Keyed<'_>,
        generation: i64,
        body: &Value,
        inputs: &[[&str; 3]],
        build: &str,
    ) -> Self {
        let mut of_inputs = keyed.digest("inputs");
        for input in inputs {
            of_inputs.add(input);
        }
        Self {
            generation,
            body: keyed.of("body", &canonical_json(body)),
            inputs: of_inputs.finish(),
            build: keyed.of("build", build),
        }
    }
}

/// A path that the service changes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unstable {
    path: [u8; SHORT],
    /// Since when, in minutes of Unix time.
    since: u32,
}

/// The record. Its digests are keyed: see [`super::DigestKey`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    key: [u8; TAG],
    applied: Applied,
    desired: Desired,
    observed: [u8; LENGTH],
    rewritten: Vec<Rewritten>,
    unstable: Vec<Unstable>,
    /// Nothing where the kind has no rules for values that Azure moves.
    marks: Option<Marked>,
    /// What waits, or is put right with pauses. Few objects have any.
    timed: Vec<Timed>,
    paths: Former,
}

/// The record after a PUT or an adoption, and what is worth telling about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// To be kept.
    pub record: Record,
    /// Paths that were taken out of the spec and that Azure has all the same.
    pub kept: Vec<String>,
    /// Members of shared maps and lists that stay although the spec may have named them: nothing is known of that.
    pub unsure: Vec<String>,
    /// Paths that were found to change by themselves just now.
    pub unstable: Vec<Place>,
    /// How many paths Azure writes in its own way beyond those that are remembered one by one.
    pub forgotten: usize,
}

/// Why a PUT may be called for, before Azure is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// No record that can be read: the direct comparison decides.
    Unknown,
    /// Nothing was edited.
    None,
    /// Something was edited that is no part of the body.
    Harmless,
    /// Nothing was edited, and yet this release of the operator builds another body than the one that was sent.
    Rebuilt,
    /// It was sent and Azure took it: what Azure has now is its answer.
    Sent,
    /// The body was edited, or what was sent did not arrive for certain: it is to be sent.
    Changed,
}

/// Whether the user edited what is desired since it was sent. `reconciled` is the generation that any operator sent
/// last (`latest-reconciled-generation`): a record of another generation was overtaken by another operator. `claimed` is
/// the record of the claim: a PUT that nobody heard of again was of that.
pub fn edit(
    record: Option<&Record>,
    claimed: Option<&Record>,
    reconciled: Option<i64>,
    now: &Desired,
) -> Edit {
    let record = record.filter(|record| {
        reconciled.is_none_or(|generation| generation == record.desired.generation)
    });
    let Some(record) = record else {
        return match reconciled {
            Some(generation) if now.generation > generation => Edit::Changed,
            None if claimed.is_some_and(|claimed| !claimed.is_of(now)) => Edit::Changed,
            _ => Edit::Unknown,
        };
    };
    let sent = &record.desired;
    let is_edited = sent.generation != now.generation || sent.inputs != now.inputs;
    match (record.applied, sent.body == now.body, is_edited) {
        (Applied::Acknowledged, _, false) => Edit::Sent,
        // What is there now came from it: nothing else was there that could stay.
        (Applied::Intended | Applied::Sent { first: true }, true, false) => Edit::Unknown,
        (Applied::Intended | Applied::Sent { .. } | Applied::Acknowledged, _, _) => Edit::Changed,
        (Applied::Confirmed, false, true) => Edit::Changed,
        // A generation in between was not recorded: a PUT of it may have arrived of which nobody heard.
        (Applied::Confirmed, true, true) if now.generation > sent.generation.saturating_add(1) => {
            Edit::Changed
        }
        (Applied::Confirmed, true, true) => Edit::Harmless,
        (Applied::Confirmed, false, false) if sent.build != now.build => Edit::Rebuilt,
        // The body may depend on what Azure has: an extension changes it.
        (Applied::Confirmed, _, false) => Edit::None,
    }
}

impl Record {
    /// The record of an object that is being claimed, before anything of it is sent: from which generation and inputs a
    /// PUT was made of which nobody heard again.
    pub fn claimed(now: &Desired, keyed: Keyed<'_>) -> Self {
        Self {
            key: key_of(keyed),
            applied: Applied::Sent { first: true },
            desired: *now,
            observed: [0; LENGTH],
            rewritten: Vec::new(),
            unstable: Vec::new(),
            marks: None,
            timed: Vec::new(),
            paths: Former::default(),
        }
    }

    /// The same with the record that follows where Azure answers the PUT with what it was sent.
    pub fn foretelling(now: &Desired, comparison: &Comparison<'_>, keyed: Keyed<'_>) -> Self {
        let answered = Comparison {
            observed: comparison.desired,
            ..*comparison
        };
        Self {
            applied: Applied::Intended,
            observed: Look::at(&answered, keyed).observed,
            marks: marked(comparison, keyed),
            timed: Vec::new(),
            paths: Former::of(&answered, keyed, None),
            ..Self::claimed(now, keyed)
        }
    }

    /// The record after Azure answered so; nothing where it was not foretold.
    pub fn come_true(self) -> Option<Self> {
        (self.applied == Applied::Intended).then_some(Self {
            applied: Applied::Confirmed,
            ..self
        })
    }

    /// The record of a claim that does not tell anymore how it will end.
    pub fn unforetold(self) -> Self {
        let applied = match self.applied {
            Applied::Intended => Applied::Sent { first: true },
            applied => applied,
        };
        Self { applied, ..self }
    }

    /// `metadata.generation` of the spec that it is of.
    pub fn generation(&self) -> i64 {
        self.desired.generation
    }

    /// The record to keep while Azure works on what is desired. `before` is the one until now, `was_there` whether Azure
    /// had the resource before.
    pub fn sent(
        now: &Desired,
        comparison: &Comparison<'_>,
        keyed: Keyed<'_>,
        before: Option<&Self>,
        was_there: bool,
    ) -> Self {
        let alike = before.filter(|before| before.desired.body == now.body);
        Self {
            key: key_of(keyed),
            applied: Applied::Sent { first: !was_there },
            desired: *now,
            observed: Look::at(&unanswered(comparison), keyed).observed,
            rewritten: alike
                .map(|before| before.rewritten.clone())
                .unwrap_or_default(),
            unstable: alike
                .map(|before| before.unstable.clone())
                .unwrap_or_default(),
            // An edit of an owned value is one until it has arrived.
            marks: before.and_then(|before| before.marks.clone()),
            timed: comparison.timed.to_vec(),
            paths: Former::of(comparison, keyed, before.map(|before| &before.paths)),
        }
    }

    /// The record to keep after Azure answered a PUT of what is desired, or after it was found to have it anyway.
    /// `again` is what another GET returned right after: where Azure returns this and then that for what was sent once,
    /// the value is its own and no drift.
    pub fn settled(
        now: &Desired,
        comparison: &Comparison<'_>,
        keyed: Keyed<'_>,
        again: Option<&Value>,
        before: Option<&Self>,
        at: Timestamp,
    ) -> Settled {
        let look = Look::at(comparison, keyed);
        let again = again.map(|observed| {
            let comparison = Comparison {
                observed,
                ..*comparison
            };
            Look::at(&comparison, keyed)
        });
        let again: Vec<Rewritten> = again
            .map(|look| look.rewritten.iter().map(|(entry, _)| *entry).collect())
            .unwrap_or_default();
        let alike = before.filter(|before| before.desired.body == now.body);
        let (mut rewritten, mut unstable, told) = told_apart(look.rewritten, &again, alike, at);
        let beyond = |count: usize| count.saturating_sub(REWRITTEN);
        let forgotten = beyond(rewritten.len()) + beyond(unstable.len());
        rewritten.truncate(REWRITTEN);
        unstable.truncate(REWRITTEN);
        let mut paths = Former::of(comparison, keyed, before.map(|before| &before.paths));
        let left = paths.give_up(comparison, keyed);
        let record = Self {
            key: key_of(keyed),
            applied: Applied::Confirmed,
            desired: *now,
            observed: look.observed,
            rewritten,
            unstable,
            marks: marked(comparison, keyed),
            timed: settled_timed(comparison),
            paths,
        };
        Settled {
            record,
            kept: left.kept,
            unsure: left.unsure,
            unstable: told,
            forgotten,
        }
    }

    /// The same after Azure has taken the PUT, while what it made of it cannot be read.
    pub fn answered(self) -> Self {
        let applied = match self.applied {
            Applied::Confirmed => Applied::Confirmed,
            _ => Applied::Acknowledged,
        };
        Self { applied, ..self }
    }

    /// Whether the spec and all that it refers to are those that were sent.
    pub fn is_of(&self, now: &Desired) -> bool {
        self.desired.generation == now.generation && self.desired.inputs == now.inputs
    }

    /// Whether the spec is the one that was sent.
    pub fn is_of_generation(&self, generation: i64) -> bool {
        self.desired.generation == generation
    }

    /// Whether this desired state was sent and Azure's answer to it is known.
    pub fn is_settled(&self, now: &Desired) -> bool {
        self.applied == Applied::Confirmed && self.is_of(now)
    }

    /// Drift: what Azure changed since the record was made.
    pub fn drift(
        &self,
        comparison: &Comparison<'_>,
        keyed: Keyed<'_>,
        at: Timestamp,
    ) -> Vec<Difference> {
        if self.is_as_seen(comparison, keyed) {
            return self.taken_out(comparison, keyed);
        }
        self.differences(comparison, keyed, at)
    }

    /// Where Azure has something else than what is desired, and than what it made of what was sent.
    pub fn differences(
        &self,
        comparison: &Comparison<'_>,
        keyed: Keyed<'_>,
        at: Timestamp,
    ) -> Vec<Difference> {
        let mut differences = self.taken_out(comparison, keyed);
        let explained = |leaf: &Leaf<'_>| self.expects(leaf, keyed, at);
        differences.extend(comparison.unexplained(&explained));
        differences
    }

    /// Drift where this release of the operator builds another body than the one that was sent: what Azure changed on paths that
    /// were sent, told from what is desired otherwise since the release. Nothing where the two cannot be told apart.
    pub fn drift_since_another_release(
        &self,
        comparison: &Comparison<'_>,
        keyed: Keyed<'_>,
        at: Timestamp,
    ) -> Vec<Difference> {
        let has_changed = self.rewritten.len() < REWRITTEN
            && self.paths.shown_as_before(comparison, keyed, self.observed) == Some(false);
        let is_unchanged = |leaf: &Leaf<'_>| {
            let seen = Rewritten::of(leaf, keyed);
            let was_other = self.rewritten.iter().any(|entry| entry.path == seen.path);
            let may_have_drifted = was_other || has_changed && self.paths.has(&leaf.path, keyed);
            !may_have_drifted || self.expects(leaf, keyed, at)
        };
        comparison.unexplained(&is_unchanged)
    }

    /// What Azure has on paths that were named once and that desired does not name.
    pub fn taken_out(&self, comparison: &Comparison<'_>, keyed: Keyed<'_>) -> Vec<Difference> {
        self.paths.found(comparison, keyed)
    }

    /// Whether a member of a shared map or list was named by what was sent, now or once.
    pub fn was_ours(&self, member: &Member<'_>, keyed: Keyed<'_>) -> bool {
        self.paths.whose(member, keyed) == Whose::Ours
    }

    /// How many of so many items that say nothing, of a list that has this length in Azure, are not to be sent again.
    pub fn filled(&self, list: &str, counts: (usize, usize), keyed: Keyed<'_>) -> usize {
        self.paths.filled(list, counts, keyed)
    }

    /// Whether it tells of each map and list that is shared now which members are ours.
    pub fn covers_shared(&self, comparison: &Comparison<'_>, keyed: Keyed<'_>) -> bool {
        self.paths.covers(comparison, keyed)
    }

    /// What is remembered of a value that Azure may move.
    pub fn remembers(&self, mark: &Mark, keyed: Keyed<'_>) -> Remembered {
        let marks = self.marks.as_ref();
        marks.map_or(Remembered::Nothing, |marks| marks.says(mark, keyed))
    }

    /// What was noted of a path and has a time.
    pub fn timed(&self, topic: Topic, path: &str, keyed: Keyed<'_>) -> Option<&Timed> {
        let mut timed = self.timed.iter();
        timed.find(|entry| entry.is_of(topic, path, keyed))
    }

    /// What was put right before.
    pub fn contested(&self) -> impl Iterator<Item = &Timed> {
        let timed = self.timed.iter();
        timed.filter(|entry| entry.topic == Topic::Contested)
    }

    /// Whether the PUT repeats what Azure had of some values, which are put right later.
    pub fn carries(&self) -> bool {
        let mut timed = self.timed.iter();
        timed.any(|entry| entry.topic == Topic::Carried)
    }

    /// Whether there was room for all that the spec named.
    pub fn has_all_that_was_named(&self) -> bool {
        self.paths.has_all()
    }

    /// Whether Azure took the PUT, and what it made of it has not been read yet.
    pub fn is_answered(&self) -> bool {
        self.applied == Applied::Acknowledged
    }

    /// Whether Azure shows on all paths what it did when the record was made.
    pub fn is_as_seen(&self, comparison: &Comparison<'_>, keyed: Keyed<'_>) -> bool {
        Look::at(comparison, keyed).observed == self.observed
    }

    /// Whether Azure had the leaf's value when the record was made, or changes it by itself.
    fn expects(&self, leaf: &Leaf<'_>, keyed: Keyed<'_>, at: Timestamp) -> bool {
        let seen = Rewritten::of(leaf, keyed);
        let mut unstable = self.unstable.iter();
        self.rewritten.contains(&seen)
            || unstable.any(|entry| entry.path == seen.path && entry.is_current(at))
    }
}

impl Unstable {
    fn is_current(&self, at: Timestamp) -> bool {
        let age = minutes(at).saturating_sub(self.since);
        i64::from(age) < UNSTABLE_FOR.as_mins()
    }
}

/// Tells what the service has rewritten once and for all from what changes by itself, and names the paths that were
/// found to do so just now. `again` is what another look found, `alike` the record of the same body until now.
fn told_apart(
    found: Vec<(Rewritten, Place)>,
    again: &[Rewritten],
    alike: Option<&Record>,
    at: Timestamp,
) -> (Vec<Rewritten>, Vec<Unstable>, Vec<Place>) {
    let seen = alike.map(|before| before.rewritten.as_slice());
    let known = alike.map(|before| before.unstable.as_slice());
    let (seen, known) = (seen.unwrap_or_default(), known.unwrap_or_default());
    let mut rewritten = Vec::new();
    let (mut unstable, mut told) = (Vec::new(), Vec::new());
    for (entry, path) in found {
        let mut others = again.iter().chain(seen);
        if let Some(known) = known.iter().find(|known| known.path == entry.path)
            && known.is_current(at)
        {
            unstable.push(*known);
        } else if others.any(|other| other.path == entry.path && other.value != entry.value) {
            unstable.push(Unstable {
                path: entry.path,
                since: minutes(at),
            });
            told.push(path);
        } else {
            rewritten.push(entry);
        }
    }
    (rewritten, unstable, told)
}

/// What the spec says of values that have rules, where the kind has any.
fn marked(comparison: &Comparison<'_>, keyed: Keyed<'_>) -> Option<Marked> {
    comparison.marks.map(|marks| Marked::of(marks, keyed))
}

/// What is noted beside a time once Azure's answer is recorded: what a PUT repeated is drift again by then.
fn settled_timed(comparison: &Comparison<'_>) -> Vec<Timed> {
    let timed = comparison.timed.iter();
    let timed = timed.filter(|entry| entry.topic != Topic::Carried);
    timed.copied().collect()
}

/// Tells whose key the digests are of, and of which object.
fn key_of(keyed: Keyed<'_>) -> [u8; TAG] {
    keyed.of("key", "")
}

fn minutes(at: Timestamp) -> u32 {
    u32::try_from(at.as_second() / 60).unwrap_or_default()
}

/// The comparison before Azure has answered.
fn unanswered<'a>(comparison: &Comparison<'a>) -> Comparison<'a> {
    Comparison {
        observed: &Value::Null,
        ..*comparison
    }
}

mod written;

#[cfg(test)]
mod tests;
