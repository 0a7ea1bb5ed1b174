//! What the spec said of values that Azure moves by itself, as digests: an edit of one is noticed, though Azure's value counts.

use super::keyed::{Keyed, take};
use super::look::SHORT;

/// Most values that are remembered.
pub const MOST: usize = 250;

/// Bits of an entry and of the whole.
const HELD: u8 = 1;
const CUT: u8 = 2;

/// What the spec says of a value that has a rule, to be remembered as a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Path as comparisons write it.
    pub path: String,
    /// The value as the spec has it.
    pub text: String,
    /// Whether another resource scaled it.
    pub is_scaled: bool,
}

/// What is remembered of a value that the spec may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remembered {
    /// Nothing is remembered of any value: there is no record, or it is of an earlier release.
    Nothing,
    /// The record had no room for it.
    Forgotten,
    /// The spec did not name it.
    Unnamed,
    /// The spec said something else.
    Other,
    /// The spec said the same.
    Same {
        /// Whether another resource scaled it.
        was_scaled: bool,
    },
}

impl Remembered {
    /// Whether the spec is known to have named the value.
    pub fn was_named(self) -> bool {
        matches!(self, Self::Other | Self::Same { .. })
    }

    /// Whether the spec is known to say something else than it did.
    pub fn is_edited(self) -> bool {
        matches!(self, Self::Other | Self::Unnamed)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    path: [u8; SHORT],
    text: [u8; SHORT],
    bits: u8,
}

/// Digests of paths, each with that of what the spec said there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marked {
    entries: Vec<Entry>,
    is_cut: bool,
}

impl Marked {
    pub fn of(marks: &[Mark], keyed: Keyed<'_>) -> Self {
        let entries = marks.iter().take(MOST).map(|mark| Entry {
            path: path(mark, keyed),
            text: text(mark, keyed),
            bits: if mark.is_scaled { HELD } else { 0 },
        });
        Self {
            entries: entries.collect(),
            is_cut: marks.len() > MOST,
        }
    }

    /// What is remembered of the value.
    pub fn says(&self, mark: &Mark, keyed: Keyed<'_>) -> Remembered {
        let path = path(mark, keyed);
        match self.entries.iter().find(|known| known.path == path) {
            Some(known) if known.text == text(mark, keyed) => Remembered::Same {
                was_scaled: known.bits & HELD != 0,
            },
            Some(_) => Remembered::Other,
            None if self.is_cut => Remembered::Forgotten,
            None => Remembered::Unnamed,
        }
    }

    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(if self.is_cut { CUT } else { 0 });
        bytes.push(u8::try_from(self.entries.len()).unwrap_or(u8::MAX));
        for entry in &self.entries {
            bytes.extend(entry.path);
            bytes.extend(entry.text);
            bytes.push(entry.bits);
        }
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(rest: &mut &[u8]) -> Option<Self> {
        let [bits, count] = take(rest)?;
        let entries = (0..count).map(|_| {
            let (path, text, [bits]) = (take(rest)?, take(rest)?, take(rest)?);
            Some(Entry { path, text, bits })
        });
        Some(Self {
            entries: entries.collect::<Option<_>>()?,
            is_cut: bits & CUT != 0,
        })
    }
}

fn path(mark: &Mark, keyed: Keyed<'_>) -> [u8; SHORT] {
    keyed.of("owned", &mark.path.to_lowercase())
}

fn text(mark: &Mark, keyed: Keyed<'_>) -> [u8; SHORT] {
    keyed.of("owned value", &mark.text)
}

#[cfg(test)]
mod tests {
    use super::super::DigestKey;
    use super::*;

    fn mark(path: &str, text: &str) -> Mark {
        Mark {
            path: path.to_owned(),
            text: text.to_owned(),
            is_scaled: path == "sku.capacity",
        }
    }

    #[test]
    fn what_the_spec_said_is_known_again() {
        let key = DigestKey::random();
        let keyed = key.of("uid");
        let marked = Marked::of(&[mark("sku.capacity", "3"), mark("a.b", "1")], keyed);
        let mut bytes = Vec::new();
        marked.write(&mut bytes);
        let read = Marked::read(&mut bytes.as_slice()).unwrap();
        assert_eq!(read, marked);
        let table = [
            (
                mark("SKU.capacity", "3"),
                Remembered::Same { was_scaled: true },
            ),
            (mark("a.b", "1"), Remembered::Same { was_scaled: false }),
            (mark("sku.capacity", "4"), Remembered::Other),
            (mark("sku.other", "3"), Remembered::Unnamed),
        ];
        for (mark, expected) in table {
            assert_eq!(read.says(&mark, keyed), expected, "{mark:?}");
        }
        assert_eq!(Marked::read(&mut &bytes[..9]), None);
    }

    #[test]
    fn beyond_the_limit_nothing_is_taken_for_new() {
        let key = DigestKey::random();
        let keyed = key.of("uid");
        let marks: Vec<Mark> = (0..300).map(|at| mark(&format!("a.{at}"), "1")).collect();
        let marked = Marked::of(&marks, keyed);
        let mut bytes = Vec::new();
        marked.write(&mut bytes);
        let read = Marked::read(&mut bytes.as_slice()).unwrap();
        assert_eq!(
            read.says(&marks[0], keyed),
            Remembered::Same { was_scaled: false }
        );
        assert_eq!(read.says(&marks[299], keyed), Remembered::Forgotten);
    }
}
