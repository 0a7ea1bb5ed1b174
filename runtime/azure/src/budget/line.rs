//! Who waits for a part of a bucket, and in which order: namespaces take turns, and within one who came first is first.
//!
//! Each request has a number in its namespace's own count, which begins where the line has got to: a namespace that comes new is
//! before what others have waiting beyond their turn, and one that stays away saves nothing up (start-time fair queueing). Pure.

use std::collections::{BTreeMap, HashMap};

/// A place in the line. Who has the lesser one is served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The turn in which its last request is due.
    turn: u64,
    /// Places are given out in this order.
    number: u64,
}

/// What was promised to somebody.
#[derive(Debug)]
struct Promise {
    namespace: String,
    count: u32,
}

/// What one namespace has waiting.
#[derive(Debug, Default)]
struct Waiting {
    /// The turn of its last place.
    last: u64,
    places: usize,
}

/// The line. Without anybody in it takes no memory.
#[derive(Debug, Default)]
pub(super) struct Line {
    promises: BTreeMap<Place, Promise>,
    namespaces: HashMap<String, Waiting>,
    /// Requests that are promised in all.
    promised: u64,
    /// The turn that was served last.
    served: u64,
    numbers: u64,
}

impl Line {
    /// A place for so many requests.
    pub fn join(&mut self, namespace: &str, count: u32) -> Place {
        let waiting = self.namespaces.entry(namespace.to_owned()).or_default();
        waiting.last = waiting.last.max(self.served) + u64::from(count);
        waiting.places += 1;
        self.numbers += 1;
        self.promised += u64::from(count);
        let place = Place {
            turn: waiting.last,
            number: self.numbers,
        };
        let namespace = namespace.to_owned();
        self.promises.insert(place, Promise { namespace, count });
        place
    }

    /// One request of a place was sent.
    pub fn serve(&mut self, place: Place) {
        self.served = self.served.max(place.turn);
        let Some(promise) = self.promises.get_mut(&place) else {
            return;
        };
        promise.count = promise.count.saturating_sub(1);
        self.promised = self.promised.saturating_sub(1);
        if promise.count == 0 {
            self.leave(place);
        }
    }

    /// Nobody comes for what is left of a place.
    pub fn leave(&mut self, place: Place) {
        let Some(promise) = self.promises.remove(&place) else {
            return;
        };
        self.promised = self.promised.saturating_sub(u64::from(promise.count));
        if let Some(waiting) = self.namespaces.get_mut(&promise.namespace) {
            waiting.places -= 1;
            if waiting.places == 0 {
                self.namespaces.remove(&promise.namespace);
            }
        }
    }

    /// Requests that are promised for after a place.
    pub fn behind(&self, place: Place) -> u64 {
        if self.promises.range(place..).nth(1).is_none() {
            return 0;
        }
        // Who asks is mostly at the front.
        let until = self.promises.range(..=place);
        let until: u64 = until.map(|(_, promise)| u64::from(promise.count)).sum();
        self.promised - until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of those that join, and how much is behind each.
    fn order(joined: &[(&str, u32)]) -> Vec<(String, u64)> {
        let mut line = Line::default();
        let mut places = Vec::new();
        for (number, (namespace, count)) in joined.iter().enumerate() {
            let name = format!("{namespace}{number}");
            places.push((line.join(namespace, *count), name));
        }
        places.sort();
        let behind = |(place, name): (Place, String)| (name, line.behind(place));
        places.into_iter().map(behind).collect()
    }

    #[test]
    fn namespaces_take_turns() {
        let row = |rows: &[(&str, u64)]| -> Vec<(String, u64)> {
            let owned = |(name, behind): &(&str, u64)| ((*name).to_owned(), *behind);
            rows.iter().map(owned).collect()
        };
        for (joined, expected) in [
            (
                vec![("a", 1), ("a", 2), ("a", 1)],
                row(&[("a0", 3), ("a1", 1), ("a2", 0)]),
            ),
            // Whoever comes late is before what another one has beyond its turn.
            (
                vec![("a", 1), ("a", 1), ("a", 1), ("b", 1), ("b", 1)],
                row(&[("a0", 4), ("b3", 3), ("a1", 2), ("b4", 1), ("a2", 0)]),
            ),
            // Turns are of requests, not of passes.
            (
                vec![("a", 3), ("a", 3), ("b", 1), ("b", 1), ("b", 1)],
                row(&[("b2", 8), ("b3", 7), ("a0", 4), ("b4", 3), ("a1", 0)]),
            ),
        ] {
            assert_eq!(order(&joined), expected, "{joined:?}");
        }
    }

    #[test]
    fn who_stays_away_saves_nothing_up() {
        let mut line = Line::default();
        for _ in 0..100 {
            let place = line.join("a", 1);
            line.serve(place);
        }
        let (of_a, of_b) = (line.join("a", 1), line.join("b", 1));
        assert!(of_a < of_b);
        assert!(line.join("a", 1) > of_b);
    }

    #[test]
    fn who_is_served_or_gone_leaves_nothing() {
        let mut line = Line::default();
        let (first, second) = (line.join("a", 2), line.join("b", 3));
        assert_eq!(line.behind(first), 3);
        line.serve(second);
        assert_eq!(line.behind(first), 2);
        line.leave(second);
        line.leave(second);
        assert_eq!(line.behind(first), 0);
        line.serve(first);
        line.serve(first);
        line.serve(first);
        assert!(line.promises.is_empty() && line.namespaces.is_empty());
        assert_eq!(line.promised, 0);
    }
}
