//! The ways in which a text can be read.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::SHORTEST;

/// Bytes of all readings together. Only a text gives more that is made to.
const MOST: usize = 4 << 20;
/// Letters of the shortest word in base64 that can hold a value.
const WORD: usize = (SHORTEST * 8).div_ceil(6);
/// How often one text may be written within another: a value in JSON, in JSON, in a URL.
const DEPTH: usize = 3;

/// A text as it reads when it is decoded, and where each of its bytes is from.
pub(super) struct Reading {
    bytes: Vec<u8>,
    /// Beginning and end in the text, byte by byte.
    origin: Vec<(u32, u32)>,
    depth: usize,
    is_base64: bool,
}

/// Looks at every reading of a text once; whether all could be looked at.
pub(super) fn each(text: &str, look: &mut dyn FnMut(&Reading)) -> bool {
    let mut readings = Readings {
        known: HashSet::new(),
        size: text.len(),
        look,
    };
    readings.visit(&Reading::of(text))
}

struct Readings<'a> {
    /// Digests of those that were looked at.
    known: HashSet<u64>,
    size: usize,
    look: &'a mut dyn FnMut(&Reading),
}

impl Readings<'_> {
    fn visit(&mut self, reading: &Reading) -> bool {
        (self.look)(reading);
        let digest = |found: &Reading| {
            let mut hasher = DefaultHasher::new();
            (&found.bytes, found.depth, found.is_base64).hash(&mut hasher);
            hasher.finish()
        };
        reading.further().iter().all(|found| {
            if found.bytes.is_empty() || !self.known.insert(digest(found)) {
                return true;
            }
            self.size += found.bytes.len();
            self.size <= MOST && self.visit(found)
        })
    }
}

impl Reading {
    /// As it stands there.
    fn of(text: &str) -> Self {
        let mut origin = Vec::with_capacity(text.len());
        for (start, sign) in text.char_indices() {
            let place = range(start..start + sign.len_utf8());
            origin.extend(std::iter::repeat_n(place, sign.len_utf8()));
        }
        Self {
            bytes: text.as_bytes().to_vec(),
            origin,
            depth: 0,
            is_base64: false,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where these bytes stand in the text.
    pub(super) fn place(&self, bytes: Range<usize>) -> Range<usize> {
        let origin = &self.origin[bytes];
        let start = origin.iter().map(|place| place.0).min();
        let end = origin.iter().map(|place| place.1).max();
        start.unwrap_or_default() as usize..end.unwrap_or_default() as usize
    }

    /// What it reads as once more is decoded.
    fn further(&self) -> Vec<Self> {
        if self.depth == DEPTH {
            return Vec::new();
        }
        let decodes: [Decode; 3] = [json, percent, form];
        let decodes = decodes.into_iter();
        let mut further: Vec<Self> = decodes.filter_map(|decode| self.decoded(decode)).collect();
        if !self.is_base64 {
            further.extend((0..4).map(|skipped| self.base64(skipped)));
        }
        further
    }

    fn empty(&self) -> Self {
        Self {
            bytes: Vec::new(),
            origin: Vec::new(),
            depth: self.depth + 1,
            is_base64: self.is_base64,
        }
    }

    /// Puts bytes that stand where these of this reading do.
    fn put(&self, into: &mut Self, bytes: &[u8], from: Range<usize>) {
        let place = range(self.place(from));
        into.bytes.extend_from_slice(bytes);
        into.origin.extend(std::iter::repeat_n(place, bytes.len()));
    }

    /// With every sequence replaced that stands for something else; nothing where none is there.
    fn decoded(&self, decode: Decode) -> Option<Self> {
        let mut out = self.empty();
        let (mut at, mut has_changed) = (0, false);
        while at < self.bytes.len() {
            match decode(&self.bytes[at..]) {
                Some((length, sign)) => {
                    self.put(&mut out, sign.bytes(), at..at + length);
                    at += length;
                    has_changed = true;
                }
                None => {
                    out.bytes.push(self.bytes[at]);
                    out.origin.push(self.origin[at]);
                    at += 1;
                }
            }
        }
        has_changed.then_some(out)
    }

    /// Its words as base64, without so many of their first letters: a value may stand in the middle of what was encoded.
    fn base64(&self, skipped: usize) -> Self {
        let mut out = Self {
            depth: self.depth.max(DEPTH - 2),
            is_base64: true,
            ..self.empty()
        };
        let mut end = 0;
        while let Some(start) = self.bytes[end..]
            .iter()
            .position(|byte| six(*byte).is_some())
        {
            let start = end + start;
            let length = self.bytes[start..]
                .iter()
                .position(|byte| six(*byte).is_none());
            end = length.map_or(self.bytes.len(), |length| start + length);
            if end - start >= WORD + skipped {
                self.word(&mut out, start + skipped..end);
            }
        }
        out
    }

    fn word(&self, out: &mut Self, word: Range<usize>) {
        let start_of_word = out.bytes.len();
        for start in word.clone().step_by(4) {
            let group = start..(start + 4).min(word.end);
            let bits = self.bytes[group.clone()].iter();
            let bits = bits
                .filter_map(|byte| six(*byte))
                .fold(0, |all, six| all << 6 | six);
            let bits = bits << (6 * (4 - group.len()));
            let [_, bytes @ ..] = bits.to_be_bytes();
            for (number, byte) in bytes.into_iter().enumerate().take(group.len() - 1) {
                // Its bits are in two letters.
                self.put(out, &[byte], start + number..start + number + 2);
            }
        }
        let mut texts = out.bytes[start_of_word..].utf8_chunks();
        if !texts.any(|text| text.valid().len() >= SHORTEST) {
            // A word that is a word.
            out.bytes.truncate(start_of_word);
            out.origin.truncate(start_of_word);
        } else if let Some(last) = word.last() {
            // The next word is another one.
            self.put(out, b" ", last..last + 1);
        }
    }
}

fn range(place: Range<usize>) -> (u32, u32) {
    let sign = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    (sign(place.start), sign(place.end))
}

/// What a sequence stands for.
enum Sign {
    Byte(u8),
    Char([u8; 4], usize),
}

impl Sign {
    fn of(sign: char) -> Self {
        let mut bytes = [0; 4];
        let length = sign.encode_utf8(&mut bytes).len();
        Self::Char(bytes, length)
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Byte(byte) => std::slice::from_ref(byte),
            Self::Char(bytes, length) => &bytes[..*length],
        }
    }
}

/// How many bytes at the beginning stand for something else, and for what.
type Decode = fn(&[u8]) -> Option<(usize, Sign)>;

/// Escapes in texts of JSON.
fn json(text: &[u8]) -> Option<(usize, Sign)> {
    let [b'\\', letter, ..] = text else {
        return None;
    };
    let byte = match letter {
        b'"' | b'\\' | b'/' | b'\'' => *letter,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        b'u' => return unicode(text),
        _ => return None,
    };
    Some((2, Sign::Byte(byte)))
}

/// `\u00e9`, or two of them that stand for one sign.
fn unicode(text: &[u8]) -> Option<(usize, Sign)> {
    let unit = |text: &[u8]| {
        let [b'\\', b'u', digits @ ..] = text else {
            return None;
        };
        let digits = digits.get(..4)?.iter();
        digits
            .map(|digit| hexadecimal(*digit))
            .try_fold(0, |all, digit| Some(all << 4 | digit?))
    };
    let first: u32 = unit(text)?;
    if let Some(sign) = char::from_u32(first) {
        return Some((6, Sign::of(sign)));
    }
    let second = unit(text.get(6..)?)?;
    let high = first.checked_sub(0xD800).filter(|high| *high < 0x400)?;
    let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
    let sign = char::from_u32(0x1_0000 + (high << 10 | low))?;
    Some((12, Sign::of(sign)))
}

/// Percent-encoding.
fn percent(text: &[u8]) -> Option<(usize, Sign)> {
    let [b'%', high, low, ..] = text else {
        return None;
    };
    let byte = hexadecimal(*high)? << 4 | hexadecimal(*low)?;
    Some((3, Sign::Byte(u8::try_from(byte).ok()?)))
}

/// The same as forms have it, which write a blank as `+`.
fn form(text: &[u8]) -> Option<(usize, Sign)> {
    match text {
        [b'+', ..] => Some((1, Sign::Byte(b' '))),
        _ => percent(text),
    }
}

fn hexadecimal(digit: u8) -> Option<u32> {
    char::from(digit).to_digit(16)
}

/// The bits of a letter of base64, in either of its alphabets.
fn six(letter: u8) -> Option<u32> {
    let of = |first: u8, before: u32| u32::from(letter - first) + before;
    match letter {
        b'A'..=b'Z' => Some(of(b'A', 0)),
        b'a'..=b'z' => Some(of(b'a', 26)),
        b'0'..=b'9' => Some(of(b'0', 52)),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}
