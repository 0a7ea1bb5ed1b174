//! Constraints side by side: which are tighter than they were.

use super::{Change, What};
use crate::emit::facts::rule_words;
use crate::model::Rules;

/// Constraints that are said together: `3 to 24 characters`.
type Part = fn(&Rules) -> Rules;

const PARTS: [Part; 6] = [
    |rules| Rules {
        pattern: rules.pattern.clone(),
        ..Rules::default()
    },
    |rules| Rules {
        min_length: rules.min_length,
        max_length: rules.max_length,
        ..Rules::default()
    },
    |rules| Rules {
        minimum: rules.minimum,
        maximum: rules.maximum,
        ..Rules::default()
    },
    |rules| Rules {
        multiple_of: rules.multiple_of,
        ..Rules::default()
    },
    |rules| Rules {
        min_items: rules.min_items,
        max_items: rules.max_items,
        ..Rules::default()
    },
    |rules| Rules {
        slash: rules.slash.clone(),
        ..Rules::default()
    },
];

/// The changes between two sets of constraints of a spec's value, each with `prefix` before its words. Formats are
/// left out: Kubernetes does not check them.
pub(super) fn compare(old: &Rules, new: &Rules, prefix: &str) -> Vec<Change> {
    let changed = |part: &Part| {
        let (was, is) = (part(old), part(new));
        if was == is {
            return None;
        }
        let change = if is_tighter(&was, &is) {
            Change::breaking(What::Rule, effect(&was, &is))
        } else {
            Change::compatible(What::Rule, "")
        };
        let words = |rules: &Rules| {
            let words = rule_words(rules).join(", ");
            if words.is_empty() {
                words
            } else {
                format!("{prefix}{words}")
            }
        };
        Some(change.saying(words(&was), words(&is)))
    };
    PARTS.iter().filter_map(changed).collect()
}

fn effect(was: &Rules, is: &Rules) -> &'static str {
    if was.pattern.is_some() && is.pattern.is_some() {
        return "values that only the old pattern takes are refused";
    }
    "values outside are refused"
}

/// Whether a value may have been right and be wrong now. Two patterns are not compared: the new one may be tighter.
fn is_tighter(was: &Rules, is: &Rules) -> bool {
    fn lower<T: PartialOrd>(was: Option<T>, is: Option<T>) -> bool {
        is.is_some_and(|is| was.is_none_or(|was| is > was))
    }
    fn upper<T: PartialOrd>(was: Option<T>, is: Option<T>) -> bool {
        is.is_some_and(|is| was.is_none_or(|was| is < was))
    }
    lower(was.min_length, is.min_length)
        || upper(was.max_length, is.max_length)
        || lower(was.min_items, is.min_items)
        || upper(was.max_items, is.max_items)
        || lower(was.minimum, is.minimum)
        || upper(was.maximum, is.maximum)
        || (is.multiple_of.is_some() && was.multiple_of != is.multiple_of)
        || (is.pattern.is_some() && was.pattern != is.pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_breaks_when_it_takes_less() {
        let rules = |low: Option<u64>, high: Option<u64>, pattern: Option<&str>| Rules {
            min_length: low,
            max_length: high,
            pattern: pattern.map(str::to_owned),
            format: Some("uuid".to_owned()),
            ..Rules::default()
        };
        let none = rules(None, None, None);
        let table = [
            (
                none.clone(),
                rules(Some(3), None, None),
                "! the rule is now at least 3 characters",
            ),
            (
                rules(Some(3), None, None),
                none.clone(),
                "  the rule is no longer at least 3 characters",
            ),
            (
                rules(Some(3), Some(24), None),
                rules(Some(2), Some(63), None),
                "  the rule is now 2 to 63 characters, was 3 to 24 characters",
            ),
            (
                rules(Some(3), Some(24), None),
                rules(Some(2), Some(12), None),
                "! the rule is now 2 to 12 characters, was 3 to 24 characters",
            ),
            (
                rules(None, None, Some("a")),
                rules(None, None, Some("b")),
                "! the rule is now pattern `b`, was pattern `a`",
            ),
            (
                rules(None, None, Some("a")),
                none.clone(),
                "  the rule is no longer pattern `a`",
            ),
        ];
        for (was, is, expected) in table {
            let changes = compare(&was, &is, "");
            let [change] = changes.as_slice() else {
                panic!("one change expected: {changes:?}");
            };
            let mark = if change.breaking { '!' } else { ' ' };
            assert_eq!(format!("{mark} {}", change.words()), expected);
        }
        let other_format = Rules {
            format: None,
            ..none.clone()
        };
        assert_eq!(compare(&none, &other_format, ""), []);
    }

    #[test]
    fn rules_of_numbers_and_items() {
        let numbers = |low: f64, step: Option<f64>| Rules {
            minimum: Some(low),
            multiple_of: step,
            ..Rules::default()
        };
        let items = |most: u64| Rules {
            max_items: Some(most),
            ..Rules::default()
        };
        let table = [
            (numbers(1.0, None), numbers(2.0, None), vec![true]),
            (numbers(2.0, None), numbers(1.0, None), vec![false]),
            (numbers(1.0, None), numbers(1.0, Some(5.0)), vec![true]),
            (
                numbers(1.0, Some(5.0)),
                numbers(0.0, None),
                vec![false, false],
            ),
            (items(5), items(4), vec![true]),
            (items(4), items(5), vec![false]),
        ];
        for (was, is, expected) in table {
            let changes = compare(&was, &is, "");
            let breaking: Vec<bool> = changes.iter().map(|it| it.breaking).collect();
            assert_eq!(breaking, expected, "{was:?} {is:?}");
        }
    }
}
