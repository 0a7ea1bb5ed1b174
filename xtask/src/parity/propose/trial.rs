//! Trying a line: the group is curated with it, and what differs then is counted.

use std::collections::BTreeSet;

use armature_generator::model::ApiVersion;
use toml::{Table, Value};

use super::candidate::{Addition, Candidate, merged};
use super::edit::{self, Spot};
use super::world::{Differing, Reach, Seen, World};

/// The file so far, and what it comes to.
pub struct Base {
    /// Its text.
    pub text: String,
    /// What it comes to.
    pub seen: Seen,
    /// What differs and is to stay so, for a reviewed reason.
    pub explained: Differing,
}

impl Base {
    /// What differs without a reason.
    pub fn open(&self) -> Differing {
        self.seen
            .differing
            .difference(&self.explained)
            .cloned()
            .collect()
    }
}

/// Lines that were tried.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Table that they stand in.
    pub table: String,
    /// What is added to what.
    pub additions: Vec<Addition>,
    /// Definition that is added to the parts of the file.
    pub part: Option<String>,
    /// Whether the specs are read otherwise with it.
    pub is_deep: bool,
    /// Paths that it settles.
    pub settles: usize,
    /// Paths that agreed and would not.
    pub breaks: usize,
    /// Why the generator refuses the line.
    pub problem: Option<String>,
}

impl Tried {
    /// Whether it is worth a line.
    pub fn is_good(&self) -> bool {
        self.problem.is_none() && self.settles > self.breaks
    }

    /// Whether it would be good, did it break less.
    pub fn is_promising(&self) -> bool {
        self.problem.is_none() && self.settles > 0
    }

    /// The better of two comes first: what is refused last, else by what is gained, else by what is broken.
    fn rank(&self) -> (bool, isize, usize) {
        let gain = self.breaks as isize - self.settles as isize;
        (self.problem.is_some(), gain, self.breaks)
    }
}

/// The best way to say what a candidate wants to. Nothing where the file says all of it already.
pub fn best(
    world: &World<'_>,
    base: &Base,
    open: &Differing,
    candidate: &Candidate,
) -> Option<Tried> {
    let mut best = None::<Tried>;
    for table in &candidate.tables {
        let options = candidate.options.iter();
        let tried =
            options.filter_map(|option| narrowed(world, base, open, candidate, table, option));
        for tried in tried {
            if best.as_ref().is_none_or(|best| tried.rank() < best.rank()) {
                best = Some(tried);
            }
        }
        if best
            .as_ref()
            .is_some_and(|best| best.is_good() && best.breaks == 0)
        {
            break;
        }
    }
    best
}

/// One way to say it, for as many places as it breaks nothing in.
fn narrowed(
    world: &World<'_>,
    base: &Base,
    open: &Differing,
    candidate: &Candidate,
    table: &str,
    option: &[Addition],
) -> Option<Tried> {
    let mut best = None::<Tried>;
    for restriction in candidate.restrictions(option, &versions(world, table)) {
        let additions = restricted(option, &restriction);
        let Some(tried) = attempt(world, base, open, candidate, table, additions) else {
            continue;
        };
        let is_clean = tried.problem.is_none() && tried.breaks == 0;
        if best.as_ref().is_none_or(|best| tried.rank() < best.rank()) {
            best = Some(tried);
        }
        if is_clean {
            break;
        }
    }
    best
}

fn versions(world: &World<'_>, table: &str) -> BTreeSet<ApiVersion> {
    let name = table.strip_prefix("types.");
    let reach = name.and_then(|name| world.reach(name));
    reach
        .map(|reach| reach.versions.clone())
        .unwrap_or_default()
}

fn restricted(option: &[Addition], restriction: &Table) -> Vec<Addition> {
    let with = |value: &Value| match value {
        Value::Table(rule) if !restriction.is_empty() => {
            let mut rule = rule.clone();
            rule.extend(restriction.clone());
            Value::Table(rule)
        }
        other => other.clone(),
    };
    option
        .iter()
        .map(|(key, value)| (key.clone(), with(value)))
        .collect()
}

fn attempt(
    world: &World<'_>,
    base: &Base,
    open: &Differing,
    candidate: &Candidate,
    table: &str,
    additions: Vec<Addition>,
) -> Option<Tried> {
    let mut tried = Tried {
        table: table.to_owned(),
        additions,
        part: candidate.part.clone(),
        is_deep: candidate.is_deep,
        settles: 0,
        breaks: 0,
        problem: None,
    };
    let Some(text) = tried.applied(&base.text) else {
        tried.problem = Some("what stands there is written over several lines".to_owned());
        return Some(tried);
    };
    if text == base.text {
        return None;
    }
    let reach = match (candidate.is_deep, table.split_once('.')) {
        (true, _) => None,
        (_, Some(("types", name))) => Some(world.reach(name)?.clone()),
        (_, Some((_, kind))) => Some(Reach::of_kind(kind)),
        (_, None) => None,
    };
    match world.look(&text, reach.as_ref()) {
        Ok(seen) => {
            tried.problem = tried.problem_in(&text, &seen);
            let before = base.seen.differing.iter();
            let before: BTreeSet<_> = before
                .filter(|key| {
                    reach
                        .as_ref()
                        .is_none_or(|it| it.has(&key.kind, &key.version))
                })
                .collect();
            let settled = before
                .iter()
                .filter(|key| open.contains(**key) && !seen.differing.contains(**key));
            tried.settles = settled.count();
            tried.breaks = seen
                .differing
                .iter()
                .filter(|key| !before.contains(key))
                .count();
        }
        Err(error) => tried.problem = Some(short(&error.to_string())),
    }
    Some(tried)
}

impl Tried {
    /// The keys that it sets.
    pub fn spots(&self) -> impl Iterator<Item = Spot> {
        self.said().map(|(spot, _)| spot)
    }

    /// What it adds where.
    fn said(&self) -> impl Iterator<Item = (Spot, Value)> {
        let part = self.part.iter().map(|part| {
            let list = Value::Array(vec![Value::from(part.as_str())]);
            (Spot::parts(), list)
        });
        let additions = self.additions.iter().map(|(key, addition)| {
            let spot = Spot {
                table: self.table.clone(),
                key: key.clone(),
            };
            (spot, addition.clone())
        });
        part.chain(additions)
    }

    /// What the keys say in a file that had the lines.
    pub fn lines(&self, text: &str) -> Vec<(Spot, Value)> {
        let line = |(spot, addition): (Spot, Value)| {
            let is_rule = spot.table.starts_with("types.");
            let value = merged(is_rule, &spot.key, edit::value(text, &spot), &addition);
            (spot, value)
        };
        self.said().map(line).collect()
    }

    /// The file with the lines; nothing where something else would have to be rewritten.
    pub fn applied(&self, text: &str) -> Option<String> {
        let mut lines = self.lines(text).into_iter();
        lines.try_fold(text.to_owned(), |text, (spot, value)| {
            match edit::value(&text, &spot).as_ref() == Some(&value) {
                true => Some(text),
                false => edit::with_value(&text, &spot, &value),
            }
        })
    }

    /// What the generator says of the lines.
    pub fn problem_in(&self, text: &str, seen: &Seen) -> Option<String> {
        let lines: BTreeSet<usize> = self
            .spots()
            .filter_map(|spot| edit::line_of(text, &spot))
            .collect();
        let mut problems = seen.problems.iter();
        let found = problems.find(|problem| lines.contains(&problem.line));
        found.map(|problem| problem.message.clone())
    }
}

/// The first sentence of an error that names the place of a line that does not exist.
fn short(error: &str) -> String {
    let first = error.lines().next().unwrap_or_default();
    let mut parts = first.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(path), Some(_), Some(_), Some(message)) if path.ends_with(".toml") => {
            message.trim().to_owned()
        }
        _ => first.to_owned(),
    }
}
