//! Regular expressions of specs, which are JavaScript's, against those of Kubernetes, which are RE2's.

use regex::Regex;

use crate::model::Rules;

/// Most repetitions that RE2 takes in `{n}`.
const MOST_REPETITIONS: u32 = 1000;

/// Drops a pattern that the API server would refuse, such as one that looks ahead, and returns it. ARM still checks
/// the value.
pub(super) fn keep_re2(rules: &mut Rules) -> Option<String> {
    rules.pattern.take_if(|pattern| !is_re2(pattern))
}

/// Whether the API server can read a pattern.
pub(super) fn is_re2(pattern: &str) -> bool {
    Regex::new(pattern).is_ok() && repetitions(pattern).all(|count| count <= MOST_REPETITIONS)
}

/// The numbers in braces: `{2,61}` gives 2 and 61.
fn repetitions(pattern: &str) -> impl Iterator<Item = u32> {
    pattern
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
        .flat_map(|(counts, _)| counts.split(','))
        .filter_map(|count| count.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::is_re2;

    #[test]
    fn patterns() {
        for (pattern, expected) in [
            ("^[a-z0-9]+$", true),
            ("^[a-z0-9]([a-z0-9]|(-(?!-))){1,61}[a-z0-9]$", false),
            ("^.{1,1000}$", true),
            ("^.{1,1024}$", false),
            ("^(a)\\1$", false),
            ("^[a-zA-Z][a-zA-Z0-9+-.]*:[^\\s]*$", true),
        ] {
            assert_eq!(is_re2(pattern), expected, "{pattern}");
        }
    }
}
