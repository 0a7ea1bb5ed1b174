//! Whose turn it is. The objects of one kind in one namespace stand in a line, and the lines take turns: a thousand objects
//! that one team applies at once hold up nobody else's one. What was begun stands in a line of its own, so that it comes to
//! its end before the rest of the thousand begin.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::urgency::Urgency;
use armature_shapes::resource::ObjectKey;

/// Position among keys whose time has come: what somebody waits for first, then by turns, then in order of arrival.
pub(super) type Place = (Urgency, u64, u64);

/// Lines of which nothing is forgotten for so few.
const KEPT: usize = 256;

/// Turns that were given out.
pub(super) struct Turns {
    /// The latest turn that was taken.
    now: u64,
    /// The last turn of each line, by the hash of what the line is of: whoever shares it by chance shares a line.
    last: HashMap<u64, u64>,
    hasher: RandomState,
    /// How many lines there may be until those that have had their turn are forgotten.
    room: usize,
}

impl Turns {
    pub fn new() -> Self {
        Self {
            now: 0,
            last: HashMap::new(),
            hasher: RandomState::new(),
            room: KEPT,
        }
    }

    /// The next turn of the line in which this key stands, which is another one once something was begun for it.
    pub fn next(&mut self, key: &ObjectKey, is_begun: bool) -> u64 {
        let line = self.hasher.hash_one((key.kind, &key.namespace, is_begun));
        let now = self.now;
        if self.last.len() >= self.room {
            self.last.retain(|_, last| *last >= now);
            self.room = KEPT.max(2 * self.last.len());
            self.last.shrink_to(self.room);
        }
        let last = self.last.entry(line);
        *last
            .and_modify(|last| *last = now.max(*last + 1))
            .or_insert(now)
    }

    /// A key with this turn is being worked on.
    pub fn taken(&mut self, turn: u64) {
        self.now = self.now.max(turn);
    }
}

#[cfg(test)]
mod tests {
    use armature_shapes::resource::Kind;
    use armature_shapes::testing::kinds::{GROUP, STORE};

    use super::*;

    fn key(kind: Kind, namespace: &str) -> ObjectKey {
        ObjectKey {
            kind,
            namespace: namespace.to_owned(),
            name: "any".to_owned(),
        }
    }

    #[test]
    fn lines_take_turns() {
        let mut turns = Turns::new();
        let (groups, stores) = (Kind(&GROUP), Kind(&STORE));
        let mut next = |kind, namespace| turns.next(&key(kind, namespace), false);
        assert_eq!([1, 2, 3].map(|_| next(groups, "large")), [0, 1, 2]);
        assert_eq!(next(groups, "small"), 0, "another namespace");
        assert_eq!(next(stores, "large"), 0, "another kind");
        turns.taken(2);
        // Whoever did not come has saved nothing up.
        assert_eq!(turns.next(&key(groups, "small"), false), 2);
        assert_eq!(turns.next(&key(groups, "large"), false), 3);
        // Behind those of its line that were begun earlier, not behind those that nobody began.
        assert_eq!(turns.next(&key(groups, "large"), true), 2);
        assert_eq!(turns.next(&key(groups, "large"), true), 3);
    }

    #[test]
    fn lines_that_had_their_turn_are_forgotten() {
        let mut turns = Turns::new();
        for number in 0..10 * KEPT {
            let turn = turns.next(&key(Kind(&GROUP), &format!("n-{number}")), false);
            turns.taken(turn + 1);
        }
        assert!(turns.last.len() <= KEPT, "{}", turns.last.len());
    }
}
