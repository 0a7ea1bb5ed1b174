//! How long the texts are that a pattern takes.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Lengths, in characters.
pub(super) type Lengths = BTreeSet<usize>;

/// The lengths up to `longest` of texts that match; `None` where the pattern cannot be read. What a pattern says of words and
/// lines within a text is not looked at.
pub(super) fn lengths(pattern: &str, longest: usize) -> Option<Lengths> {
    let pattern = regex_syntax::parse(pattern).ok()?;
    let found = of(&pattern, longest);
    // Where a pattern is not tied to an end of the text, anything may stand there.
    let is_open = !is_tied(&pattern, Look::Start) || !is_tied(&pattern, Look::End);
    Some(match (is_open, found.first()) {
        (true, Some(first)) => (*first..=longest).collect(),
        _ => found,
    })
}

/// Whether every text that matches has this end where the pattern has it.
fn is_tied(pattern: &Hir, end: Look) -> bool {
    match pattern.kind() {
        HirKind::Look(look) => *look == end,
        HirKind::Capture(capture) => is_tied(&capture.sub, end),
        HirKind::Alternation(arms) => arms.iter().all(|arm| is_tied(arm, end)),
        HirKind::Concat(parts) => {
            let part = if end == Look::Start {
                parts.first()
            } else {
                parts.last()
            };
            part.is_some_and(|part| is_tied(part, end))
        }
        _ => false,
    }
}

fn of(pattern: &Hir, longest: usize) -> Lengths {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => [0].into(),
        HirKind::Literal(literal) => {
            let text = String::from_utf8_lossy(&literal.0);
            [text.chars().count()].into()
        }
        HirKind::Class(class) => match class {
            Class::Unicode(class) if class.ranges().is_empty() => Lengths::new(),
            _ => [1].into(),
        },
        HirKind::Capture(capture) => of(&capture.sub, longest),
        HirKind::Concat(parts) => {
            let mut parts = parts.iter().map(|part| of(part, longest));
            let first = parts.next().unwrap_or_else(|| [0].into());
            parts.fold(first, |before, part| sums(&before, &part, longest))
        }
        HirKind::Alternation(arms) => arms.iter().flat_map(|arm| of(arm, longest)).collect(),
        HirKind::Repetition(repetition) => {
            let one = of(&repetition.sub, longest);
            let most = repetition.max.map_or(longest, |most| most as usize);
            repeated(&one, repetition.min as usize, most, longest)
        }
    }
}

/// Lengths of `least` to `most` parts.
fn repeated(one: &Lengths, least: usize, most: usize, longest: usize) -> Lengths {
    let mut now: Lengths = [0].into();
    let mut found = Lengths::new();
    for count in 0..=most {
        if count >= least {
            let known = found.len();
            found.extend(&now);
            // More parts without more lengths stay so.
            if count > least && found.len() == known {
                break;
            }
        }
        now = sums(&now, one, longest);
        if now.is_empty() {
            break;
        }
    }
    found
}

fn sums(left: &Lengths, right: &Lengths, longest: usize) -> Lengths {
    let pairs = left
        .iter()
        .flat_map(|left| right.iter().map(move |right| left + right));
    pairs.filter(|length| *length <= longest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_patterns() {
        let table: [(&str, &[usize]); 14] = [
            ("^[a-z]{2,4}$", &[2, 3, 4]),
            ("^[a-z]$|^[a-z][a-z-]{1,2}[a-z]$", &[1, 3, 4]),
            ("^(?:ab)+$", &[2, 4, 6]),
            ("^(?:ab){2,}$", &[4, 6]),
            ("^(ab|c)?$", &[0, 1, 2]),
            ("^[a-z]*$", &[0, 1, 2, 3, 4, 5, 6]),
            ("^[a-z]{5}", &[5, 6]),
            ("[a-z]{5}$", &[5, 6]),
            ("(^[a-z]{2}$)|(^[a-z]{4}$)", &[2, 4]),
            ("^ü$", &[1]),
            ("^.{9,}$", &[]),
            ("^(a{0,2}){2}$", &[0, 1, 2, 3, 4]),
            ("^[a-z]+(-[a-z]+)*$", &[1, 2, 3, 4, 5, 6]),
            ("^(a*){3}b$", &[1, 2, 3, 4, 5, 6]),
        ];
        for (pattern, expected) in table {
            let found = lengths(pattern, 6).unwrap();
            assert_eq!(found, expected.iter().copied().collect(), "{pattern}");
        }
        assert_eq!(lengths("(?!a)", 6), None);
    }
}
