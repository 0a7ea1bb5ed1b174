//! A Rust file as comments, strings and identifiers. `syn` keeps no comments, so this reads the text itself.

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A comment, documentation included, without its slashes.
    Comment,
    /// A string of any form, without its quotes.
    Text,
    /// An identifier or a keyword.
    Identifier,
}

/// A piece of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its text.
    pub text: &'a str,
    /// The line that it begins at.
    pub line: usize,
}

/// All comments, strings and identifiers of a file, in order.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut reader = Reader {
        text,
        at: 0,
        line: 1,
        pieces: Vec::new(),
    };
    while reader.at < text.len() {
        reader.step();
    }
    reader.pieces
}

/// The text with strings and comments blank, so that lines stay where they are.
pub fn code(text: &str) -> String {
    let mut code = text.to_owned();
    let start = text.as_ptr() as usize;
    for piece in pieces(text) {
        if piece.kind != Kind::Identifier {
            let at = piece.text.as_ptr() as usize - start;
            let blank: String = piece
                .text
                .chars()
                .flat_map(|character| {
                    let blank = if character == '\n' { '\n' } else { ' ' };
                    std::iter::repeat_n(blank, character.len_utf8())
                })
                .collect();
            code.replace_range(at..at + piece.text.len(), &blank);
        }
    }
    code
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    pieces: Vec<Piece<'a>>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn step(&mut self) {
        let rest = self.rest();
        match rest.as_bytes() {
            [b'\n', ..] => {
                self.line += 1;
                self.at += 1;
            }
            [b'/', b'/', ..] => {
                let end = rest.find('\n').unwrap_or(rest.len());
                let shown = rest[..end].trim_start_matches('/').trim_start_matches('!');
                self.push(Kind::Comment, shown, end);
            }
            [b'/', b'*', ..] => {
                let end = block_comment(rest);
                self.push(Kind::Comment, &rest[2..end], end);
            }
            [b'"', ..] | [b'b' | b'c', b'"', ..] => {
                let start = rest.find('"').unwrap_or_default() + 1;
                let length = quoted(&rest[start..]);
                let end = (start + length + 1).min(rest.len());
                self.push(Kind::Text, &rest[start..start + length], end);
            }
            [b'\'', ..] => self.at += character(rest),
            [b'r' | b'b', ..] if raw_string(rest).is_some() => self.raw(rest),
            [b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.., ..] => {
                let length = word(rest);
                self.push(Kind::Identifier, &rest[..length], length);
            }
            [b'0'..=b'9', ..] => self.at += word(rest),
            _ => self.at += 1,
        }
    }

    fn raw(&mut self, rest: &'a str) {
        let Some((start, hashes)) = raw_string(rest) else {
            return;
        };
        let close = format!("\"{}", "#".repeat(hashes));
        let length = rest[start..].find(&close).unwrap_or(rest.len() - start);
        let end = (start + length + close.len()).min(rest.len());
        self.push(Kind::Text, &rest[start..start + length], end);
    }

    fn push(&mut self, kind: Kind, text: &'a str, length: usize) {
        self.pieces.push(Piece {
            kind,
            text,
            line: self.line,
        });
        self.line += self.rest()[..length].matches('\n').count();
        self.at += length;
    }
}

/// Length of an identifier, a keyword or a number.
fn word(rest: &str) -> usize {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    rest.bytes().take_while(inside).count()
}

/// Length of a block comment, others inside of it included.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Where a raw string's text begins and how many hashes it has.
fn raw_string(rest: &str) -> Option<(usize, usize)> {
    let after = rest.strip_prefix('r').or_else(|| rest.strip_prefix("br"))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..]
        .starts_with('"')
        .then(|| (rest.len() - after.len() + hashes + 1, hashes))
}

/// Length of a string up to its closing quote.
fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    rest.len()
}

/// Length of a character, or of the quote of a lifetime.
fn character(rest: &str) -> usize {
    let mut inner = rest[1..].chars();
    match (inner.next(), inner.next()) {
        (Some('\\'), Some(_)) => rest[3..].find('\'').map_or(rest.len(), |end| end + 4),
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_identifiers_are_told_apart() {
        let text = "//! says \"so\"\nfn f<'a>(x: &'a str) -> char { /* a /* b */ \n c */ '\"' }\nlet s = \"q\\\"//\"; r#\"raw \"x\" \"#; b'\\'' y\n";
        let found: Vec<(Kind, &str, usize)> = pieces(text)
            .into_iter()
            .map(|piece| (piece.kind, piece.text, piece.line))
            .collect();
        let of = |kind| -> Vec<(&str, usize)> {
            found
                .iter()
                .filter(|piece| piece.0 == kind)
                .map(|piece| (piece.1, piece.2))
                .collect()
        };
        assert_eq!(
            of(Kind::Comment),
            [(" says \"so\"", 1), (" a /* b */ \n c */", 2)]
        );
        assert_eq!(of(Kind::Text), [("q\\\"//", 4), ("raw \"x\" ", 4)]);
        let identifiers: Vec<&str> = of(Kind::Identifier)
            .into_iter()
            .map(|piece| piece.0)
            .collect();
        assert_eq!(
            identifiers,
            [
                "fn", "f", "a", "x", "a", "str", "char", "let", "s", "b", "y"
            ]
        );
    }
}
