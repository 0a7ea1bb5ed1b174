//! Who gets colours: people at a terminal who have not said no.

use std::ffi::OsStr;
use std::io::IsTerminal;

/// Whether text may have colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// On a terminal.
    Yes,
    /// Elsewhere.
    No,
}

impl Colour {
    /// What a stream takes: colours where it is a terminal, unless `NO_COLOR` is set (<https://no-color.org>) or `TERM` is
    /// `dumb`.
    pub fn of(stream: &impl IsTerminal) -> Self {
        let variable = |name: &str| std::env::var_os(name);
        let (no_color, term) = (variable("NO_COLOR"), variable("TERM"));
        decide(stream.is_terminal(), no_color.as_deref(), term.as_deref())
    }
}

fn decide(is_terminal: bool, no_color: Option<&OsStr>, term: Option<&OsStr>) -> Colour {
    let is_refused = no_color.is_some_and(|value| !value.is_empty());
    let is_dumb = term.is_some_and(|term| term == "dumb");
    match is_terminal && !is_refused && !is_dumb {
        true => Colour::Yes,
        false => Colour::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_unless_they_are_refused() {
        let rows = [
            (true, None, None, Colour::Yes),
            (true, Some(""), Some("xterm"), Colour::Yes),
            (true, Some("1"), Some("xterm"), Colour::No),
            (true, None, Some("dumb"), Colour::No),
            (false, None, Some("xterm"), Colour::No),
        ];
        for (is_terminal, no_color, term, expected) in rows {
            let found = decide(is_terminal, no_color.map(OsStr::new), term.map(OsStr::new));
            assert_eq!(found, expected, "{is_terminal} {no_color:?} {term:?}");
        }
    }
}
