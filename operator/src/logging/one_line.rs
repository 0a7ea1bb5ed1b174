//! One line for each thing that is logged, whatever words of users and of Azure are in it: a text with an end of line in it would
//! look like a line of the operator's own.

use std::io::{self, Write};

use armature_runtime::reconcile::plain::is_odd;
use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;

/// ANSI's escape, with which colours begin. Those in texts are spelled out before they come here.
const ESCAPE: char = '\u{1b}';

/// Writers of such lines.
pub struct OneLine<M>(pub M);

/// The writer of one line.
pub struct Line<W>(W);

impl<'w, M: MakeWriter<'w>> MakeWriter<'w> for OneLine<M> {
    type Writer = Line<M::Writer>;

    fn make_writer(&'w self) -> Self::Writer {
        Line(self.0.make_writer())
    }

    fn make_writer_for(&'w self, line: &Metadata<'_>) -> Self::Writer {
        Line(self.0.make_writer_for(line))
    }
}

impl<W: Write> Write for Line<W> {
    /// Is given whole lines.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        match std::str::from_utf8(line) {
            Ok(text) if text.contains(is_unfit) => {
                self.0.write_all(spelled_out(text).as_bytes())?;
                self.0.write_all(&bytes[line.len()..])?;
            }
            _ => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn is_unfit(letter: char) -> bool {
    letter != ESCAPE && (letter == '\n' || is_odd(letter))
}

/// In the spelling that JSON has, too.
fn spelled_out(text: &str) -> String {
    let mut line = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '\n' => line.push_str("\\n"),
            letter if is_unfit(letter) => line.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => line.push(letter),
        }
    }
    line
}
