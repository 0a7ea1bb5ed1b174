//! The ways in which a text can be read.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::SHORTEST;

/// Bytes of all readings of an error together. Only a text gives more that is made to.
pub(super) const MOST: usize = 512 << 10;
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
    /// Out of base64 or hexadecimal digits.
    is_packed: bool,
}

/// Looks at every reading of a text once; whether there was room for all.
pub(super) fn each(text: &str, room: &mut usize, look: &mut dyn FnMut(&Reading)) -> bool {
    let mut readings = Readings {
        known: HashSet::new(),
        room,
        look,
    };
    readings.has_room(text.len()) && readings.visit(&Reading::of(text))
}

struct Readings<'a> {
    /// Digests of those that were looked at.
    known: HashSet<u64>,
    room: &'a mut usize,
    look: &'a mut dyn FnMut(&Reading),
}

impl Readings<'_> {
    fn visit(&mut self, reading: &Reading) -> bool {
        (self.look)(reading);
        let digest = |found: &Reading| {
            let mut hasher = DefaultHasher::new();
            (&found.bytes, found.depth, found.is_packed).hash(&mut hasher);
            hasher.finish()
        };
        reading.further().iter().all(|found| {
            if found.bytes.is_empty() || !self.known.insert(digest(found)) {
                return true;
            }
            self.has_room(found.bytes.len()) && self.visit(found)
        })
    }

    /// Takes so much of the room.
    fn has_room(&mut self, size: usize) -> bool {
        let left = self.room.checked_sub(size);
        *self.room = left.unwrap_or_default();
        left.is_some()
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
            is_packed: false,
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
        let decodes: [Decode; 4] = [json, percent, form, xml];
        let decodes = decodes.into_iter();
        let mut further: Vec<Self> = decodes.filter_map(|decode| self.decoded(decode)).collect();
        if !self.is_packed {
            further.extend((0..4).map(|skipped| self.base64(skipped)));
            further.extend((0..2).map(|skipped| self.digits(skipped)));
        }
        further
    }

    fn empty(&self) -> Self {
        Self {
            bytes: Vec::new(),
            origin: Vec::new(),
            depth: self.depth + 1,
            is_packed: self.is_packed,
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

    fn unpacked(&self) -> Self {
        Self {
            depth: self.depth.max(DEPTH - 2),
            is_packed: true,
            ..self.empty()
        }
    }

    /// Its words as two hexadecimal digits a byte, maybe with a sign between two bytes, without so many of their first digits.
    fn digits(&self, skipped: usize) -> Self {
        let mut out = self.unpacked();
        let is_digit = |at: usize| self.bytes.get(at).copied().and_then(hexadecimal).is_some();
        let mut at = 0;
        while at < self.bytes.len() {
            if !is_digit(at) {
                at += 1;
                continue;
            }
            let start_of_word = out.bytes.len();
            let mut next = at + skipped;
            while let Some(byte) = self.bytes.get(next..).and_then(two_digits) {
                self.put(&mut out, &[byte], next..next + 2);
                next += 2;
                let is_between = self
                    .bytes
                    .get(next)
                    .is_some_and(|sign| b" -:".contains(sign));
                next += usize::from(is_between && is_digit(next + 1) && is_digit(next + 2));
            }
            self.end_word(&mut out, start_of_word, at);
            // The rest of a run of digits is no word of its own.
            at = next.max(at + 1);
            while is_digit(at) {
                at += 1;
            }
        }
        out
    }

    /// Its words as base64, without so many of their first letters: a value may stand in the middle of what was encoded.
    fn base64(&self, skipped: usize) -> Self {
        let mut out = self.unpacked();
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
        self.end_word(out, start_of_word, word.end.saturating_sub(1));
    }

    /// Keeps what a word was decoded to where it can hold a value, and ends it at this byte.
    fn end_word(&self, out: &mut Self, start_of_word: usize, last: usize) {
        let mut texts = out.bytes[start_of_word..].utf8_chunks();
        if !texts.any(|text| text.valid().len() >= SHORTEST) {
            // A word that is a word.
            out.bytes.truncate(start_of_word);
            out.origin.truncate(start_of_word);
        } else {
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
    let byte = two_digits(text.strip_prefix(b"%")?)?;
    Some((3, Sign::Byte(byte)))
}

/// The same as forms have it, which write a blank as `+`.
fn form(text: &[u8]) -> Option<(usize, Sign)> {
    match text {
        [b'+', ..] => Some((1, Sign::Byte(b' '))),
        _ => percent(text),
    }
}

/// Entities of XML and HTML: by name, or by number.
fn xml(text: &[u8]) -> Option<(usize, Sign)> {
    const LONGEST: usize = 10;
    let inner = text.strip_prefix(b"&")?;
    let length = inner.iter().take(LONGEST).position(|byte| *byte == b';')?;
    let name = std::str::from_utf8(&inner[..length]).ok()?;
    let sign = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        name => {
            let number = name.strip_prefix('#')?;
            let number = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(number.ok()?)?
        }
    };
    Some((length + 2, Sign::of(sign)))
}

fn two_digits(text: &[u8]) -> Option<u8> {
    let [high, low, ..] = text else {
        return None;
    };
    let byte = hexadecimal(*high)? << 4 | hexadecimal(*low)?;
    u8::try_from(byte).ok()
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
