//! What a record notes of single paths beside a time: items that are to go after a while, values that are put right with pauses.

use jiff::Timestamp;

use super::keyed::{Keyed, take};
use super::look::SHORT;

/// Most entries that a record keeps, so that the annotation stays small.
pub const MOST_TIMED: usize = 64;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// An item that the spec no longer names, and since when.
    Leaving,
    /// A value that others change again and again, and when it was put right last.
    Contested,
    /// A value that is put right later: the PUT that was sent repeats what Azure had.
    Carried,
}

impl Topic {
    fn purpose(self) -> &'static str {
        match self {
            Self::Leaving => "leaving",
            Self::Contested => "contested",
            Self::Carried => "carried",
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        let all = [Self::Leaving, Self::Contested, Self::Carried];
        all.into_iter().find(|topic| *topic as u8 == byte)
    }
}

/// One entry. Path and state of the resource are digests, the rest is as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// What it is about.
    pub topic: Topic,
    path: [u8; SHORT],
    state: [u8; SHORT],
    /// How often it was put right; of an item, how often a PUT without it was sent.
    pub times: u8,
    /// In seconds of Unix time.
    seconds: u32,
}

impl Timed {
    /// An entry. `state` is what Azure says of the resource as a whole: an ETag, or the time of its last change.
    pub fn new(
        (topic, path): (Topic, &str),
        times: u8,
        at: Timestamp,
        state: Option<&str>,
        keyed: Keyed<'_>,
    ) -> Self {
        Self {
            topic,
            path: keyed.of(topic.purpose(), path),
            state: state.map_or([0; SHORT], |state| keyed.of("state", state)),
            times,
            seconds: u32::try_from(at.as_second()).unwrap_or_default(),
        }
    }

    /// The time that was noted.
    pub fn at(&self) -> Timestamp {
        Timestamp::from_second(self.seconds.into()).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Whether the resource is in the state that was noted; nothing where one of the two is not known.
    pub fn is_in_state(&self, state: Option<&str>, keyed: Keyed<'_>) -> Option<bool> {
        let state: [u8; SHORT] = keyed.of("state", state?);
        (self.state != [0; SHORT]).then(|| self.state == state)
    }

    /// The same in another state of the resource.
    pub fn in_state(self, state: Option<&str>, keyed: Keyed<'_>) -> Self {
        Self {
            state: state.map_or([0; SHORT], |state| keyed.of("state", state)),
            ..self
        }
    }

    /// Whether it is about this.
    pub fn is_of(&self, topic: Topic, path: &str, keyed: Keyed<'_>) -> bool {
        self.topic == topic && self.path == keyed.of::<SHORT>(topic.purpose(), path)
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.topic as u8);
        bytes.extend(self.path);
        bytes.extend(self.state);
        bytes.push(self.times);
        bytes.extend(self.seconds.to_be_bytes());
    }

    pub(super) fn read(rest: &mut &[u8]) -> Option<Self> {
        let [topic] = take(rest)?;
        Some(Self {
            topic: Topic::from_byte(topic)?,
            path: take(rest)?,
            state: take(rest)?,
            times: take::<1>(rest)?[0],
            seconds: u32::from_be_bytes(take(rest)?),
        })
    }
}
