//! Secrets that a text quotes, in whatever form: services repeat what they refuse, as JSON within JSON, as a part of a URL, in XML, in
//! base64, digit by digit, or cut off at either end.
//!
//! The text is read as people and programs could read it, [`Reading`] by reading, and what stands for a secret in one of them is
//! covered in the text. So a form needs no list of the ways in which a value may be escaped.
//!
//! | of a value | is covered |
//! |---|---|
//! | with at least [`WINDOW`] bytes | each [`WINDOW`] bytes of it, wherever they are from, unless [most of them are words of every error](common) |
//! | a shorter one, from [`SHORTEST`] bytes on | the whole of it, unless it is such a word |
//! | an id | the whole of it |
//! | a connection string, a URL, JSON, a file of settings | the same of their [secret parts](parts): no names, hosts or paths to them |
//!
//! What is looked for are the windows of the texts, which are bounded, and the values are read past them: that takes time in
//! proportion to both, and no memory for the values, which a tenant may have many of.

mod common;
mod parts;
mod reading;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use parts::SecretPart;
use reading::Reading;

/// Stands for a secret that a text quotes.
pub(crate) const COVER: &str = "(secret)";
/// Stands for a text that can be read in too many ways to look through all of them.
const WITHHELD: &str =
    "(a text that could hold a secret, and is written in too many ways to be looked through)";
/// Stands for a text that could show something of more than can be looked for.
const TOO_MUCH: &str =
    "(a text that could hold a secret; the object names too much in Secrets to look for all of it)";
/// Bytes of all values that are looked for: they take half a second.
const MOST_BYTES: usize = 4 << 20;
/// Bytes of the shortest value that is looked for: shorter ones stand in every text.
const SHORTEST: usize = 4;
/// Bytes of the shortest part of a longer value that is covered.
const WINDOW: usize = 8;
/// Ends at which an id may end, as many as one has at most.
const MOST_ENDS: usize = 64;

/// Values that must not be shown.
pub(crate) struct Secrets<'a> {
    values: Vec<&'a str>,
}

impl<'a> Secrets<'a> {
    /// These values.
    pub(crate) fn new(values: impl IntoIterator<Item = &'a str>) -> Self {
        let values = values.into_iter();
        Self {
            values: values.filter(|value| value.len() >= SHORTEST).collect(),
        }
    }

    /// Whether a code of an error shows one of these values: the whole of it, or most. Codes have words in common with scripts
    /// and policies, and what is done about an error goes by them.
    pub(crate) fn is_code(&self, code: &str) -> bool {
        let mut is_shown = false;
        for value in &self.values {
            parts::each(value, &mut |part| {
                let (SecretPart::Id(text) | SecretPart::Text(text)) = part;
                let is_whole = text.len() >= SHORTEST && code.contains(text);
                let is_most = text.starts_with(code) && 3 * code.len() >= 2 * text.len();
                is_shown |= !common::is_common(text) && (is_whole || is_most);
            });
        }
        is_shown
    }

    /// Covers what the texts show of these values. Returns how many keys were made and looked up for that: what it costs.
    pub(crate) fn cover(&self, texts: &mut [&mut String]) -> usize {
        if self.values.is_empty() {
            return 0;
        }
        if self.values.iter().map(|value| value.len()).sum::<usize>() > MOST_BYTES {
            for text in texts {
                TOO_MUCH.clone_into(text);
            }
            return 0;
        }
        let sorts = Sorts::of(&self.values);
        let mut cost = 0;
        let mut asked = HashSet::new();
        let mut room = reading::MOST;
        for text in &mut *texts {
            let mut see = |reading: &Reading| {
                sorts.keys(reading.bytes(), &mut |key, _| {
                    cost += 1;
                    asked.insert(key);
                });
            };
            if !reading::each(text, &mut room, &mut see) {
                WITHHELD.clone_into(text);
            }
        }
        let mut shown = HashSet::new();
        for value in &self.values {
            parts::each(value, &mut |part| {
                keys_of(&part, &mut |key| {
                    cost += 1;
                    if asked.contains(&key) {
                        shown.insert(key);
                    }
                });
            });
        }
        if shown.is_empty() {
            return cost;
        }
        drop(asked);
        let mut room = reading::MOST;
        for text in texts {
            let mut found: Vec<Range<usize>> = Vec::new();
            let mut see = |reading: &Reading| {
                sorts.keys(reading.bytes(), &mut |key, place| {
                    cost += 1;
                    if shown.contains(&key) {
                        found.push(reading.place(place));
                    }
                });
            };
            reading::each(text, &mut room, &mut see);
            if !found.is_empty() {
                **text = covered(text, found);
            }
        }
        cost
    }
}

/// Which sorts of values there are beside long ones.
#[derive(Default)]
struct Sorts {
    has_short: bool,
    has_ids: bool,
}

impl Sorts {
    fn of(values: &[&str]) -> Self {
        let mut sorts = Self::default();
        for value in values {
            parts::each(value, &mut |part| match part {
                SecretPart::Id(_) => sorts.has_ids = true,
                SecretPart::Text(text) => sorts.has_short |= text.len() < WINDOW,
            });
        }
        sorts
    }

    /// What a value could be known by in a text, each with its place: parts of longer values, short ones, and ids.
    fn keys(&self, text: &[u8], tell: &mut dyn FnMut(u64, Range<usize>)) {
        for at in 0..text.len() {
            if let Some(window) = text[at..].first_chunk() {
                tell(key_of_window(*window), at..at + WINDOW);
            }
            if self.has_short {
                for end in at + SHORTEST..(at + WINDOW).min(text.len() + 1) {
                    tell(key_of_short(&text[at..end]), at..end);
                }
            }
            if self.has_ids && parts::begins_id(&text[at..]) {
                keys_of_ids(&text[at..], &mut |key, length| {
                    tell(key, at..at + length);
                });
            }
        }
    }
}

/// The same of a secret part of a value.
fn keys_of(part: &SecretPart<'_>, tell: &mut dyn FnMut(u64)) {
    match part {
        SecretPart::Id(id) => match key_of_id(id.as_bytes()) {
            Some(key) => tell(key),
            None => keys_of_windows(id, tell),
        },
        SecretPart::Text(text) if text.len() < SHORTEST || common::is_common(text) => {}
        SecretPart::Text(text) if text.len() < WINDOW => tell(key_of_short(text.as_bytes())),
        SecretPart::Text(text) => keys_of_windows(text, tell),
    }
}

fn keys_of_windows(text: &str, tell: &mut dyn FnMut(u64)) {
    let windows = text.as_bytes().windows(WINDOW);
    for (window, is_telling) in windows.zip(common::telling(text)) {
        if let (Some(window), true) = (window.first_chunk(), is_telling) {
            tell(key_of_window(*window));
        }
    }
}

/// The key of a whole id.
fn key_of_id(id: &[u8]) -> Option<u64> {
    let mut whole = None;
    keys_of_ids(id, &mut |key, length| {
        whole = (length == id.len()).then_some(key);
    });
    whole
}

/// Keys of an id that a text begins with, for each end that it could have, with its length.
fn keys_of_ids(text: &[u8], tell: &mut dyn FnMut(u64, usize)) {
    let mut hasher = DefaultHasher::new();
    let mut ends = 0;
    for (at, byte) in text.iter().enumerate().take(parts::LONGEST_ID) {
        hasher.write_u8(*byte);
        let is_name =
            |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte) || !byte.is_ascii();
        let is_end = text.get(at + 1).is_none_or(|next| !is_name(*next));
        if is_end && is_name(*byte) {
            tell(hasher.finish(), at + 1);
            ends += 1;
            if ends == MOST_ENDS {
                return;
            }
        }
    }
}

fn key_of_window(window: [u8; WINDOW]) -> u64 {
    u64::from_be_bytes(window)
}

/// No text has a window that begins like this.
fn key_of_short(text: &[u8]) -> u64 {
    let bytes = text.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
    0xFF << 56 | bytes
}

/// The text with these places covered; those that overlap by one sign.
fn covered(text: &str, mut places: Vec<Range<usize>>) -> String {
    places.sort_unstable_by_key(|place| place.start);
    let mut out = String::new();
    let mut end = 0;
    let mut places = places.into_iter().peekable();
    while let Some(place) = places.next() {
        let (start, mut last) = (place.start, place.end);
        while let Some(next) = places.next_if(|next| next.start < last) {
            last = last.max(next.end);
        }
        out.push_str(text.get(end..start).unwrap_or_default());
        out.push_str(COVER);
        end = last;
    }
    out.push_str(text.get(end..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests;
