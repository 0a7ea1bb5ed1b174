//! What the spec said of values that Azure moves by itself, as digests: an edit of one is noticed, though Azure's value counts.

use super::keyed::{Keyed, take};
use super::look::SHORT;

/// Most values that are remembered. Of those beyond, Azure's value stays whatever the spec says.
const MOST: usize = 64;

/// What the spec says of an owned value, to be remembered as a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Path as comparisons write it.
    pub path: String,
    /// The value and the conditions as the spec has them.
    pub text: String,
}

/// Digests of paths, each with that of what the spec said there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marked(Vec<([u8; SHORT], [u8; SHORT])>);

impl Marked {
    pub fn of(marks: &[Mark], keyed: Keyed<'_>) -> Self {
        let marks = marks
            .iter()
            .map(|mark| (path(mark, keyed), text(mark, keyed)));
        Self(marks.take(MOST).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the spec says the same as it did; nothing where it is not remembered.
    pub fn is_same(&self, mark: &Mark, keyed: Keyed<'_>) -> Option<bool> {
        if self.is_empty() {
            return None;
        }
        let path = path(mark, keyed);
        let known = self.0.iter().find(|(known, _)| *known == path);
        known.map(|(_, known)| *known == text(mark, keyed))
    }

    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::try_from(self.0.len()).unwrap_or(u8::MAX));
        bytes.extend(
            self.0
                .iter()
                .flat_map(|(path, text)| [*path, *text])
                .flatten(),
        );
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(rest: &mut &[u8]) -> Option<Self> {
        let [count] = take(rest)?;
        let marks = (0..count).map(|_| Some((take(rest)?, take(rest)?)));
        marks.collect::<Option<_>>().map(Self)
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

    #[test]
    fn what_the_spec_said_is_known_again() {
        let key = DigestKey::random();
        let keyed = key.of("uid");
        let mark = |path: &str, text: &str| Mark {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let marked = Marked::of(&[mark("sku.capacity", "3"), mark("a.b", "1")], keyed);
        let mut bytes = Vec::new();
        marked.write(&mut bytes);
        let read = Marked::read(&mut bytes.as_slice()).unwrap();
        assert_eq!(read, marked);
        let table = [
            (mark("SKU.capacity", "3"), Some(true)),
            (mark("sku.capacity", "4"), Some(false)),
            (mark("sku.other", "3"), None),
        ];
        for (mark, expected) in table {
            assert_eq!(read.is_same(&mark, keyed), expected, "{mark:?}");
        }
        assert_eq!(Marked::read(&mut &bytes[..9]), None);
    }
}
