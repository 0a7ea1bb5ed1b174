//! Proposing for a group: lines are tried, those that are worth it are taken, and the rest is looked at again, because what
//! is settled above may show what is to be settled below.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use armature_progress::Progress;
use rayon::prelude::*;

use super::candidate::Candidate;
use super::edit::Spot;
use super::find::find;
use super::trial::{Base, Tried, best};
use super::world::{Differing, Key, Seen, World};

/// Most rounds; each but the last has taken something.
const ROUNDS: usize = 5;

/// What came of a group.
pub struct Outcome {
    /// Lines that are worth it.
    pub taken: Vec<Tried>,
    /// Lines that are not.
    pub refused: Vec<Tried>,
    /// The file as it is.
    pub text_before: String,
    /// The file with the lines.
    pub text: String,
    /// What differed without a reason before.
    pub before: Differing,
    /// What does so with the lines.
    pub after: Differing,
    /// Why what is left has nothing to try.
    pub causes: BTreeMap<Key, String>,
}

/// Tries lines for whatever is open.
pub fn propose(
    world: &mut World<'_>,
    mut base: Base,
    progress: &Progress,
) -> anyhow::Result<Outcome> {
    let before = base.open();
    let text_before = base.text.clone();
    let mut known = Known::default();
    let mut causes = BTreeMap::new();
    for _ in 0..ROUNDS {
        let open = base.open();
        let found = find(world, &base.seen, &open);
        causes = found.causes;
        let fresh: Vec<Candidate> = found
            .candidates
            .into_iter()
            .filter(|it| known.is_new(it))
            .collect();
        let (good, bad) = attempts(world, &base, &open, &fresh, progress);
        if good.is_empty() {
            known.refused.extend(bad);
            break;
        }
        // What breaks something may do so no more, beside what is taken.
        known.forget(bad.iter().filter(|it| it.is_promising()));
        known.refused.extend(bad);
        let (open_before, taken) = (open.len(), known.taken.len());
        take(world, &mut base, good, &mut known)?;
        if base.open().len() >= open_before {
            break;
        }
        if known.taken[taken..].iter().any(|it| it.is_deep) {
            world.reread(&base.text)?;
        }
    }
    known
        .taken
        .sort_by_key(|tried| std::cmp::Reverse(tried.settles));
    Ok(Outcome {
        taken: known.taken,
        refused: known.refused,
        before,
        text_before,
        after: base.open(),
        text: base.text,
        causes,
    })
}

/// What was tried so far.
#[derive(Default)]
struct Known {
    seen: Vec<Candidate>,
    taken: Vec<Tried>,
    refused: Vec<Tried>,
}

impl Known {
    /// Whether a candidate was not tried yet, in all its ways; it is now.
    fn is_new(&mut self, candidate: &Candidate) -> bool {
        let is_known = |known: &Candidate| {
            known.is_like(candidate)
                && candidate
                    .options
                    .iter()
                    .all(|it| known.options.contains(it))
        };
        if self.seen.iter().any(is_known) {
            return false;
        }
        self.seen.push(candidate.clone());
        true
    }

    /// Lets be tried again what is about the same keys.
    fn forget<'t>(&mut self, tried: impl Iterator<Item = &'t Tried> + Clone) {
        let is_about = |candidate: &Candidate, tried: &Tried| {
            let mut keys = candidate.options.iter().flatten().map(|(key, _)| key);
            candidate.tables.contains(&tried.table)
                && keys.any(|key| tried.spots().any(|spot| spot.key == *key))
        };
        self.seen
            .retain(|candidate| !tried.clone().any(|tried| is_about(candidate, tried)));
    }
}

/// Tries each candidate on the file as it is: those that are worth a line, and those that are not.
fn attempts(
    world: &World<'_>,
    base: &Base,
    open: &Differing,
    candidates: &[Candidate],
    progress: &Progress,
) -> (Vec<Tried>, Vec<Tried>) {
    let done = AtomicUsize::new(0);
    let tried = candidates.par_iter().filter_map(|candidate| {
        let tried = best(world, base, open, candidate);
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        progress.steps(&world.path, done, candidates.len());
        tried
    });
    let tried: Vec<Tried> = tried.collect();
    let (mut good, bad): (Vec<_>, Vec<_>) = tried.into_iter().partition(Tried::is_good);
    good.sort_by_key(|tried| tried.breaks as isize - tried.settles as isize);
    (good, bad)
}

/// Takes lines that are worth it each by itself, as far as they are so together.
fn take(
    world: &World<'_>,
    base: &mut Base,
    good: Vec<Tried>,
    known: &mut Known,
) -> anyhow::Result<()> {
    let mut kept = unrivalled(good, known);
    while !kept.is_empty() {
        let text = kept.iter().fold(base.text.clone(), |text, tried| {
            tried.applied(&text).unwrap_or(text)
        });
        let seen = world.look(&text, None)?;
        let faulty = |tried: &Tried| tried.problem_in(&text, &seen);
        let (bad, good): (Vec<Tried>, Vec<Tried>) =
            kept.into_iter().partition(|it| faulty(it).is_some());
        if bad.is_empty() && is_no_worse(&seen, &base.seen) {
            base.text = text;
            base.explained = world.explained(&seen);
            base.seen = seen;
            known.taken.extend(good);
            return Ok(());
        }
        kept = good;
        // What none of the lines is blamed for has come by one of them: the least useful goes first.
        let last = if bad.is_empty() { kept.pop() } else { None };
        for mut tried in bad.into_iter().chain(last) {
            tried.problem =
                faulty(&tried).or_else(|| Some("it does not go with other lines".to_owned()));
            known.refused.push(tried);
        }
    }
    Ok(())
}

/// Whether a file has no fault that it did not have before.
fn is_no_worse(after: &Seen, before: &Seen) -> bool {
    let is_known = |message: &str| before.problems.iter().any(|it| it.message == message);
    let mut faults = after.problems.iter();
    faults.all(|fault| is_known(&fault.message))
}

/// One line for each key: the first, which gains most. The others may come in another round, with what it says.
fn unrivalled(good: Vec<Tried>, known: &mut Known) -> Vec<Tried> {
    known.forget(good.iter());
    let mut spots = BTreeSet::<Spot>::new();
    let kept = good.into_iter().filter(|tried| {
        // Several may add to the parts of the file.
        let own = tried.spots().filter(|spot| !spot.is_parts());
        let own: Vec<Spot> = own.collect();
        let is_free = own.iter().all(|spot| !spots.contains(spot));
        spots.extend(own);
        is_free
    });
    kept.collect()
}
