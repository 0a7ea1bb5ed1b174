//! One line for each thing that is logged, whatever words of users and of Azure are in it: a text with an end of line in it would
//! look like a line of the operator's own.

use std::io::{self, Write};

use armature_runtime::reconcile::plain::{is_odd, spell};
use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;

/// ANSI's escape, with which colours begin.
const ESCAPE: char = '\u{1b}';

/// Writers of such lines.
pub struct OneLine<M> {
    /// Writers of what comes out.
    pub writers: M,
    /// Whether there are colours. In a text of others they look like those of the operator's own, and do no more: nothing is
    /// concealed.
    pub ansi: bool,
}

/// The writer of one line.
pub struct Line<W> {
    writer: W,
    ansi: bool,
}

impl<'w, M: MakeWriter<'w>> MakeWriter<'w> for OneLine<M> {
    type Writer = Line<M::Writer>;

    fn make_writer(&'w self) -> Self::Writer {
        Line {
            writer: self.writers.make_writer(),
            ansi: self.ansi,
        }
    }

    fn make_writer_for(&'w self, line: &Metadata<'_>) -> Self::Writer {
        Line {
            writer: self.writers.make_writer_for(line),
            ansi: self.ansi,
        }
    }
}

impl<W: Write> Write for Line<W> {
    /// Is given whole lines.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        match std::str::from_utf8(line) {
            Ok(text) if text.contains(is_unfit) => {
                // At once: whoever writes at the same time has lines of his own.
                let mut whole = spelled_out(text, self.ansi).into_bytes();
                whole.extend_from_slice(&bytes[line.len()..]);
                self.writer.write_all(&whole)?;
            }
            _ => self.writer.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn is_unfit(letter: char) -> bool {
    letter == '\n' || is_odd(letter)
}

/// In the spelling that JSON has, too.
fn spelled_out(text: &str, ansi: bool) -> String {
    let mut line = String::with_capacity(text.len() + 16);
    for (at, letter) in text.char_indices() {
        match letter {
            '\n' => line.push_str("\\n"),
            ESCAPE if ansi && is_colour(&text[at + 1..]) => line.push(ESCAPE),
            letter if is_unfit(letter) => spell(&mut line, letter),
            letter => line.push(letter),
        }
    }
    line
}

/// What the lines of this program have of ECMA-48's SGR: nothing, bold, dim, italic, and the colours of levels.
const COLOURS: [&str; 9] = ["0", "1", "2", "3", "31", "32", "33", "34", "35"];

/// Whether what follows an escape is one of these. Others move the cursor, or make text as dark as what is behind it.
fn is_colour(rest: &str) -> bool {
    let code = rest.strip_prefix('[').and_then(|rest| rest.split_once('m'));
    code.is_some_and(|(code, _)| COLOURS.contains(&code))
}
