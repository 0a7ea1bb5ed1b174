//! Secrets that a text quotes, in whatever form: services repeat what they refuse, as JSON within JSON, as a part of a URL, in
//! base64, or cut off after some signs.
//!
//! The text is read as people and programs could read it, [`Reading`] by reading, and what stands for a secret in one of them is
//! covered in the text. So a form needs no list of the ways in which a value may be escaped.

mod reading;

use std::collections::HashSet;
use std::ops::Range;

use reading::Reading;

/// Stands for a secret that a text quotes.
const COVER: &str = "(secret)";
/// Stands for a text that can be read in too many ways to look through all of them.
const WITHHELD: &str =
    "(a text that could hold a secret, and is written in too many ways to be looked through)";
/// Bytes of the shortest value that is looked for: shorter ones stand in every text.
const SHORTEST: usize = 4;
/// Bytes from which on the beginning of a value is covered, too.
const BEGINNING: usize = 8;
/// Bytes of the shortest line that is looked for by itself: keys in PEM are quoted line by line.
const LINE: usize = 16;
/// Beginnings that say nothing of a value.
const PUBLIC: [&str; 3] = ["https://", "http://", "-----BEGIN "];
/// Beginnings of ids, which have the most in common: only the whole of one is covered.
const IDS: [&str; 2] = ["/subscriptions/", "/providers/"];
/// Values that begin alike, of which the longest is looked for.
const ALIKE: usize = 32;

/// Values that must not be shown.
pub(crate) struct Secrets<'a> {
    /// Those with at least [`BEGINNING`] bytes, in order: the ones that have most in common with a text are neighbours.
    long: Vec<&'a [u8]>,
    /// How the long ones begin.
    beginnings: HashSet<&'a [u8]>,
    /// The others.
    short: HashSet<&'a [u8]>,
}

impl<'a> Secrets<'a> {
    /// These values, and the lines in them.
    pub(crate) fn new(values: impl IntoIterator<Item = &'a str>) -> Self {
        let of = |value: &'a str| {
            let lines = value.lines().map(str::trim);
            let lines = lines.filter(move |line| line.len() >= LINE && line.len() < value.len());
            std::iter::once(value).chain(lines.filter(|line| !line.starts_with("-----")))
        };
        let values = values.into_iter().flat_map(of).map(str::as_bytes);
        let (mut long, short): (Vec<_>, Vec<_>) = values
            .filter(|value| value.len() >= SHORTEST)
            .partition(|value| value.len() >= BEGINNING);
        long.sort_unstable();
        long.dedup();
        Self {
            beginnings: long.iter().map(|value| &value[..BEGINNING]).collect(),
            long,
            short: short.into_iter().collect(),
        }
    }

    /// The text with these values covered, and with their beginnings.
    pub(crate) fn cover(&self, text: &mut String) {
        if self.long.is_empty() && self.short.is_empty() {
            return;
        }
        let mut found: Vec<Range<usize>> = Vec::new();
        let is_whole = reading::each(text, &mut |reading| self.find(reading, &mut found));
        if !is_whole {
            WITHHELD.clone_into(text);
            return;
        }
        if !found.is_empty() {
            *text = covered(text, found);
        }
    }

    /// Where a reading shows a value, in the text.
    fn find(&self, reading: &Reading, found: &mut Vec<Range<usize>>) {
        let bytes = reading.bytes();
        // What ends within what is covered already needs no place of its own.
        let mut known = 0;
        for at in 0..bytes.len() {
            let length = self.length_at(&bytes[at..]);
            if length > 0 && at + length > known {
                known = at + length;
                found.push(reading.place(at..known));
            }
        }
    }

    /// How many bytes of a value, or of its beginning, the text begins with.
    fn length_at(&self, text: &[u8]) -> usize {
        let mut of_short = (SHORTEST..BEGINNING).rev().filter(|length| {
            let start = text.get(..*length);
            start.is_some_and(|start| self.short.contains(start))
        });
        let of_short = of_short.next().unwrap_or_default();
        let begins = text.get(..BEGINNING);
        if !begins.is_some_and(|start| self.beginnings.contains(start)) {
            return of_short;
        }
        let next = self.long.partition_point(|value| *value <= text);
        let before = self.long[..next].iter().rev().take(ALIKE);
        let lengths = before.chain(self.long[next..].iter().take(ALIKE));
        let lengths = lengths.map(|value| {
            let length = in_common(value, text);
            if length < least(value) { 0 } else { length }
        });
        lengths.max().unwrap_or_default().max(of_short)
    }
}

/// How many bytes of a value have to be there before they are covered.
fn least(value: &[u8]) -> usize {
    let begins = |known: &str| value.starts_with(known.as_bytes());
    if IDS.iter().any(|known| begins(known)) {
        return value.len();
    }
    let public = PUBLIC.iter().find(|known| begins(known));
    let public = public.map_or(0, |known| known.len());
    (public + BEGINNING).min(value.len())
}

fn in_common(one: &[u8], other: &[u8]) -> usize {
    let same = one
        .iter()
        .zip(other)
        .take_while(|(one, other)| one == other);
    same.count()
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
