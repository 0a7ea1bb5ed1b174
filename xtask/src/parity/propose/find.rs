//! From differences to lines that may settle them, and to what none can.

use std::collections::BTreeMap;

use super::candidate::Candidate;
use super::kinds::{self, OPERATOR_SPEC, date};
use super::member::{ABOVE, Place, Verdict, WELL_KNOWN};
use super::site;
use super::world::{Differing, Key, PLURAL, Seen, World};

/// What to try, and for what there is nothing.
#[derive(Default)]
pub struct Found {
    /// To try.
    pub candidates: Vec<Candidate>,
    /// Why a difference has nothing to try.
    pub causes: BTreeMap<Key, String>,
}

impl Found {
    fn add(&mut self, candidate: Candidate) {
        let known = self
            .candidates
            .iter_mut()
            .find(|known| known.is_like(&candidate));
        match known {
            Some(known) => known.join(candidate),
            None => self.candidates.push(candidate),
        }
    }
}

/// Looks at each open difference.
pub fn find(world: &World<'_>, seen: &Seen, open: &Differing) -> Found {
    let mut found = Found::default();
    for candidate in kinds::candidates(world, seen, open) {
        found.add(candidate);
    }
    for key in open {
        match verdict(world, seen, key) {
            Ok(candidates) => candidates.into_iter().for_each(|it| found.add(it)),
            Err(cause) => {
                found.causes.insert(key.clone(), cause);
            }
        }
    }
    found
}

fn verdict(world: &World<'_>, seen: &Seen, key: &Key) -> Verdict {
    let ours = seen.ours.get(&key.kind).and_then(|it| it.get(&key.version));
    let target = world
        .target
        .get(&key.kind)
        .and_then(|it| it.get(&key.version));
    let (Some(ours), Some(target)) = (ours, target) else {
        return version(world, key, ours.is_some());
    };
    if key.path == PLURAL {
        return Ok(Vec::new());
    }
    if key.path.starts_with(OPERATOR_SPEC) {
        return match ours.paths.contains_key(&key.path) {
            true => Err("`operatorSpec` offers what the target's does not".to_owned()),
            false => Ok(Vec::new()),
        };
    }
    let Some((parent, name, brackets)) = split(&key.path) else {
        return Err("all of a side differs".to_owned());
    };
    if !ours.paths.contains_key(parent) || !target.paths.contains_key(parent) {
        return Err(ABOVE.to_owned());
    }
    let place = |path| {
        let site = site::at(world, seen, &key.kind, &key.version, path)?;
        let (ours, target) = (&ours.paths, &target.paths);
        Some(Place {
            site,
            path,
            ours,
            target,
        })
    };
    if name == WELL_KNOWN
        && let Some((above, reference, _)) = split(parent)
        && let Some(place) = place(above)
        && let Some(candidates) = place.well_known(reference)
    {
        return Ok(candidates);
    }
    match place(parent) {
        Some(place) => place.look(name, brackets),
        None => Err(ABOVE.to_owned()),
    }
}

/// Why one side alone has a version, as far as naming it otherwise is no way out.
fn version(world: &World<'_>, key: &Key, is_ours: bool) -> Verdict {
    let date = date(&key.version);
    let is_read = world
        .described
        .versions
        .keys()
        .any(|version| version.compact() == date);
    match (is_ours, is_read) {
        (false, false) => Err("no source reads the api-version of that name".to_owned()),
        (false, true) if !world.has(&key.kind, date) => Err(
            "the kind is not exported from that api-version, or no source has it there".to_owned(),
        ),
        _ => Ok(Vec::new()),
    }
}

/// Parent, name and brackets behind it.
fn split(path: &str) -> Option<(&str, &str, &str)> {
    let (parent, last) = path.rsplit_once('.')?;
    let name = last.trim_end_matches(['[', ']', '{', '}']);
    Some((parent, name, &last[name.len()..]))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn paths_are_cut_at_their_last_member() {
        for (path, expected) in [
            ("spec", None),
            ("spec.a", Some(("spec", "a", ""))),
            ("spec.a[].b{}[]", Some(("spec.a[]", "b", "{}[]"))),
        ] {
            assert_eq!(split(path), expected, "{path}");
        }
    }
}
