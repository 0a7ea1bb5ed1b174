//! Which of Azure's items is which of the spec's, where nothing names them: each has a place of its own that says what it asks for.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::lookup::PLACES;

/// Forms of items, of many, for each of which all places are read: items of one form name the same members.
const FORMS: usize = 16;

/// Places of many in which an item of a rarer form is looked for.
const TRIES: usize = 64;

/// What an item says, in order: paths within it, with values as texts.
type Said = Vec<(String, String)>;

/// For each desired item the place of an observed one that fits it; `None` unless all have one of their own. Of many, what they say
/// tells which fits: `says` is asked once for each, and `fits` for those that were found.
pub(super) fn matched(
    (desired, observed): (&[Value], &[Value]),
    fits: &dyn Fn(usize, usize) -> bool,
    says: &dyn Fn(&Value) -> Said,
) -> Option<Vec<usize>> {
    let count = observed.len();
    if (0..count).all(|place| fits(place, place)) {
        return Some((0..count).collect());
    }
    if count <= PLACES {
        return by_fit(count, fits);
    }
    let all = |items: &[Value]| -> Vec<Said> { items.iter().map(says).collect() };
    let order = by_content(&all(desired), &all(observed))?;
    let is_right = (0..count).all(|wanted| fits(wanted, order[wanted]));
    is_right.then_some(order)
}

/// For each of so many wanted items a place of its own that fits it.
fn by_fit(count: usize, fits: &dyn Fn(usize, usize) -> bool) -> Option<Vec<usize>> {
    let fitting = |wanted| (0..count).filter(|place| fits(wanted, *place)).collect();
    let candidates: Vec<Vec<usize>> = (0..count).map(fitting).collect();
    let mut taken = vec![None; count];
    for wanted in 0..count {
        let mut tried = vec![false; count];
        if !give_place(wanted, &candidates, &mut taken, &mut tried) {
            return None;
        }
    }
    let mut order = vec![0; count];
    for (place, wanted) in taken.into_iter().enumerate() {
        order[wanted?] = place;
    }
    Some(order)
}

/// Finds a place for an item, moving others to places that fit them too: an item that asks for little fits many
/// places, and must not keep the only one of an item that asks for more.
pub(super) fn give_place(
    wanted: usize,
    candidates: &[Vec<usize>],
    taken: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for &place in &candidates[wanted] {
        if std::mem::replace(&mut tried[place], true) {
            continue;
        }
        let free = match taken[place] {
            None => true,
            Some(other) => give_place(other, candidates, taken, tried),
        };
        if free {
            taken[place] = Some(wanted);
            return true;
        }
    }
    false
}

/// The same in time that grows as the lists do: those that ask for most come first, and each takes the first place that is left.
/// Azure's items may say more, as where it fills in what the spec leaves to it.
fn by_content(ours: &[Said], theirs: &[Said]) -> Option<Vec<usize>> {
    let mut order = vec![None; ours.len()];
    let mut is_free = vec![true; theirs.len()];
    let rarest = OnceCell::new();
    for (number, (form, items)) in forms(ours).into_iter().enumerate() {
        if number < FORMS || form.is_empty() {
            let mut places = places(&form, theirs, &is_free);
            for wanted in items {
                let asked: Vec<_> = ours[wanted].iter().collect();
                let place = places.get_mut(&asked)?.pop()?;
                (order[wanted], is_free[place]) = (Some(place), false);
            }
            continue;
        }
        for wanted in items {
            let rarest = rarest.get_or_init(|| Rarest::of(theirs));
            let place = rarest.find(&ours[wanted], &is_free)?;
            (order[wanted], is_free[place]) = (Some(place), false);
        }
    }
    order.into_iter().collect()
}

/// Items by the paths that they name, those with most first; of as many, those of most items.
fn forms(ours: &[Said]) -> Vec<(Vec<&str>, Vec<usize>)> {
    let mut forms: HashMap<Vec<&str>, Vec<usize>> = HashMap::new();
    for (at, said) in ours.iter().enumerate() {
        let form = said.iter().map(|(path, _)| path.as_str()).collect();
        forms.entry(form).or_default().push(at);
    }
    let mut forms: Vec<_> = forms.into_iter().collect();
    forms.sort_by(|(one, of_one), (other, of_other)| {
        let by_size = (other.len(), of_other.len()).cmp(&(one.len(), of_one.len()));
        by_size.then_with(|| one.cmp(other))
    });
    forms
}

/// The free places by what they say at these paths, the last ones first.
fn places<'t>(
    form: &[&str],
    theirs: &'t [Said],
    is_free: &[bool],
) -> HashMap<Vec<&'t (String, String)>, Vec<usize>> {
    let paths: HashSet<&str> = form.iter().copied().collect();
    let mut places: HashMap<_, Vec<usize>> = HashMap::new();
    for (place, said) in theirs
        .iter()
        .enumerate()
        .rev()
        .filter(|(at, _)| is_free[*at])
    {
        let said = said
            .iter()
            .filter(|(path, _)| paths.contains(path.as_str()));
        places.entry(said.collect()).or_default().push(place);
    }
    places
}

/// Where each thing is said.
struct Rarest<'t> {
    theirs: Vec<HashSet<&'t (String, String)>>,
    places: HashMap<&'t (String, String), Vec<usize>>,
}

impl<'t> Rarest<'t> {
    fn of(theirs: &'t [Said]) -> Self {
        let mut places: HashMap<_, Vec<usize>> = HashMap::new();
        for (place, said) in theirs.iter().enumerate() {
            for one in said {
                places.entry(one).or_default().push(place);
            }
        }
        let theirs = theirs.iter().map(|said| said.iter().collect());
        Self {
            theirs: theirs.collect(),
            places,
        }
    }

    /// One of the first places where what few say is said, and the rest of it.
    fn find(&self, asked: &Said, is_free: &[bool]) -> Option<usize> {
        let few: Option<Vec<_>> = asked.iter().map(|one| self.places.get(one)).collect();
        let few = few?.into_iter().min_by_key(|places| places.len())?;
        let mut tried = few.iter().copied().take(TRIES);
        tried.find(|place| {
            is_free[*place] && asked.iter().all(|one| self.theirs[*place].contains(one))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(values: &[(u8, u8)]) -> Said {
        let mut said: Said = values
            .iter()
            .map(|(path, value)| (format!("p{path}"), value.to_string()))
            .collect();
        said.sort();
        said.dedup_by(|one, other| one.0 == other.0);
        said
    }

    proptest! {
        /// Whatever is left out of items of one form, and whatever their order: each finds one that says what it asks for.
        #[test]
        fn items_find_places_that_say_what_they_ask_for(
            items in prop::collection::vec(prop::collection::vec((0..4u8, 0..3u8), 1..5), 1..60), left_out in 0..4u8, turn in 0..60usize,
        ) {
            let theirs: Vec<Said> = items.iter().map(|item| said(item)).collect();
            let path = format!("p{left_out}");
            let mut ours = theirs.clone();
            ours.iter_mut().for_each(|said| said.retain(|(at, _)| *at != path));
            let turn = turn % ours.len();
            ours.rotate_left(turn);
            // All in the same form, so that none takes what another one needs.
            let is_one_form = forms(&ours).len() == 1;
            match by_content(&ours, &theirs) {
                Some(order) => {
                    let places: HashSet<usize> = order.iter().copied().collect();
                    prop_assert_eq!(places.len(), ours.len());
                    for (wanted, place) in order.into_iter().enumerate() {
                        prop_assert!(ours[wanted].iter().all(|one| theirs[place].contains(one)));
                    }
                }
                None => prop_assert!(!is_one_form),
            }
        }
    }

    #[test]
    fn rare_forms_are_found_by_what_few_say() {
        let theirs: Vec<Said> = (0..100)
            .map(|at| said(&[(0, at), (1, at % 2), (at + 2, 1), (200, 7)]))
            .collect();
        let ours: Vec<Said> = (0..100)
            .rev()
            .map(|at| said(&[(0, at), (at + 2, 1)]))
            .collect();
        assert!(forms(&ours).len() > FORMS);
        let expected: Vec<usize> = (0..100).rev().collect();
        assert_eq!(by_content(&ours, &theirs), Some(expected));
        let other: Vec<Said> = (0..100).map(|at| said(&[(0, at), (at + 2, 2)])).collect();
        assert_eq!(by_content(&other, &theirs), None);
    }
}
