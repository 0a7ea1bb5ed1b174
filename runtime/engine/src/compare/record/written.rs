//! The record as the text of an annotation.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;

use super::super::former::Former;
use super::super::keyed::{Keyed, take};
use super::super::look::Rewritten;
use super::super::marked::Marked;
use super::super::timed::Timed;
use super::{Applied, Desired, Record, Unstable, key_of};

/// Stands before the record. Another form is read as none at all, so that an upgrade sends nothing.
const FORM: &str = "3";

/// The form of records of objects that name members of shared maps and lists, which earlier releases cannot read.
const WITH_SHARED: &str = "4";

/// The form of records of kinds that have rules for values which Azure moves by itself ([`crate::owned`]).
const WITH_MARKS: &str = "5";

/// The form of records in which something waits for a time; whether there are marks stands within.
const WITH_TIMES: &str = "6";

impl Record {
    /// The text for the annotation.
    pub fn encode(&self) -> String {
        let mut bytes = Vec::new();
        bytes.extend(self.key);
        bytes.push(self.applied.flags());
        bytes.extend(self.desired.body);
        bytes.extend(self.desired.inputs);
        bytes.extend(self.desired.build);
        bytes.extend(self.observed);
        bytes.push(count(&self.rewritten));
        for entry in &self.rewritten {
            bytes.extend(entry.path);
            bytes.extend(entry.value);
        }
        bytes.push(count(&self.unstable));
        for entry in &self.unstable {
            bytes.extend(entry.path);
            bytes.extend(entry.since.to_be_bytes());
        }
        let form = match (&self.marks, self.paths.has_shared()) {
            _ if !self.timed.is_empty() => WITH_TIMES,
            (Some(_), _) => WITH_MARKS,
            (None, true) => WITH_SHARED,
            (None, false) => FORM,
        };
        if form == WITH_TIMES {
            bytes.push(u8::from(self.marks.is_some()));
            bytes.push(count(&self.timed));
            for entry in &self.timed {
                entry.write(&mut bytes);
            }
        }
        if let Some(marks) = &self.marks {
            marks.write(&mut bytes);
        }
        self.paths.write(&mut bytes);
        let generation = self.desired.generation;
        format!("{form}:{generation}:{}", BASE64.encode(bytes))
    }

    /// Reads the annotation; nothing where it is of another form, of another key or of another object.
    pub fn parse(text: &str, keyed: Keyed<'_>) -> Option<Self> {
        Self::of_any_key(text).filter(|record| record.key == key_of(keyed))
    }

    /// The generation of a record that foretells another one, whatever its key.
    pub fn foretold_generation(text: &str) -> Option<i64> {
        let record = Self::of_any_key(text)?;
        (record.applied == Applied::Intended).then_some(record.desired.generation)
    }

    fn of_any_key(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let form = parts.next()?;
        if !matches!(form, FORM | WITH_SHARED | WITH_MARKS | WITH_TIMES) {
            return None;
        }
        let generation = parts.next()?.parse().ok()?;
        let bytes = BASE64.decode(parts.next()?).ok()?;
        let mut rest = bytes.as_slice();
        let record = Self::read(&mut rest, generation, form)?;
        rest.is_empty().then_some(record)
    }

    fn read(rest: &mut &[u8], generation: i64, form: &str) -> Option<Self> {
        let key = take(rest)?;
        let [flags] = take(rest)?;
        let desired = Desired {
            generation,
            body: take(rest)?,
            inputs: take(rest)?,
            build: take(rest)?,
        };
        let observed = take(rest)?;
        let [rewritten] = take(rest)?;
        let rewritten = (0..rewritten).map(|_| {
            Some(Rewritten {
                path: take(rest)?,
                value: take(rest)?,
            })
        });
        let rewritten = rewritten.collect::<Option<_>>()?;
        let [unstable] = take(rest)?;
        let unstable = (0..unstable).map(|_| {
            Some(Unstable {
                path: take(rest)?,
                since: u32::from_be_bytes(take(rest)?),
            })
        });
        let unstable = unstable.collect::<Option<_>>()?;
        let (has_marks, timed) = match form {
            WITH_TIMES => {
                let [has_marks] = take(rest)?;
                let [count] = take(rest)?;
                let timed = (0..count).map(|_| Timed::read(rest));
                (has_marks != 0, timed.collect::<Option<_>>()?)
            }
            form => (form == WITH_MARKS, Vec::new()),
        };
        let marks = match has_marks {
            true => Some(Marked::read(rest)?),
            false => None,
        };
        Some(Self {
            key,
            applied: Applied::from_flags(flags)?,
            desired,
            observed,
            rewritten,
            unstable,
            marks,
            timed,
            paths: Former::read(rest)?,
        })
    }
}

/// How many entries follow; no list has more than fit.
fn count<T>(entries: &[T]) -> u8 {
    u8::try_from(entries.len()).unwrap_or(u8::MAX)
}
