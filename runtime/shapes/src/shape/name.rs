//! What is wrong with the name of a resource in Azure: which sign, and what to write instead.

use std::collections::BTreeSet;

use regex::Regex;

use super::rules::check_length;
use super::table::{ArmPlace, Field, Rules};
use crate::quote::shortened;
use crate::segment::{Sign, check_segment};

/// Signs that most patterns take, put in the place of one that is refused.
const PROBES: [char; 3] = ['a', 'A', '0'];
/// Most signs by which a name is made longer to see whether it is too short.
const MOST_SHORT: usize = 64;
/// Longest name of which is told why the pattern does not take it. ARM's longest names have 260 characters, and to look for a
/// sign in a name takes time with the square of its length.
const LONGEST_TOLD: usize = 512;

/// Whether the field holds the name of the resource in Azure.
pub(super) fn is_azure_name(field: &Field) -> bool {
    field.name == "azureName" && field.arm == ArmPlace::Operator
}

/// Everything that is wrong with a name in Azure, as sentences.
pub fn check_name(rules: &Rules, name: &str) -> Vec<String> {
    if let Some(why) = misleading_name(rules, name) {
        return vec![why];
    }
    let length = name.chars().count();
    let mut problems = check_length("character", rules.min_length, rules.max_length, length);
    let is_length_told = !problems.is_empty();
    problems.extend(refused_by_pattern(rules.pattern, name, is_length_told));
    problems
}

/// Why a name cannot be a part of an ARM id, whatever Azure takes, and what to write instead.
pub fn misleading_name(rules: &Rules, name: &str) -> Option<String> {
    let sign = check_segment(name).err()?.sign;
    let quoted = shortened(name);
    Some(match (sign, rules.slash) {
        // In a name with the sign already, it may be an escape of something else.
        (Sign::Slash, Some(slash)) if name.contains('~') => {
            format!("'{quoted}' {sign}; ARM writes '{slash}' for it")
        }
        (Sign::Slash, Some(slash)) => {
            let instead = name.replace('/', slash);
            let instead = shortened(&instead);
            format!("'{quoted}' {sign}; ARM writes '{slash}' for it: '{instead}'")
        }
        (Sign::Slash, None) => format!("'{quoted}' {sign}"),
        _ => format!("'{quoted}' {sign}, and would lead to another resource"),
    })
}

/// Why the pattern does not take the name, as far as that can be told. Nothing, where it is for a length that is told already.
fn refused_by_pattern(pattern: Option<&str>, name: &str, is_length_told: bool) -> Option<String> {
    let pattern = pattern?;
    // A pattern that this library cannot read is left to the API server and to Azure.
    let regex = Regex::new(pattern).ok()?;
    if regex.is_match(name) {
        return None;
    }
    let letters: Vec<char> = name.chars().collect();
    let may_be_told = letters.len() <= LONGEST_TOLD;
    let sign = || one_sign(&regex, &letters).or_else(|| several_signs(&regex, &letters));
    let why = match may_be_told.then(sign).flatten() {
        None if is_length_told => return None,
        None if may_be_told => length(&regex, &letters),
        sign => sign,
    };
    let why = why.map_or_else(String::new, |why| format!(": '{}' {why}", shortened(name)));
    Some(format!("must match the pattern {pattern}{why}"))
}

/// The only sign that is refused, and whether that is for its place.
fn one_sign(regex: &Regex, letters: &[char]) -> Option<String> {
    let with = |at: usize, letter: char| {
        let mut other = letters.to_vec();
        other[at] = letter;
        other
    };
    let (at, mended) = letters.iter().enumerate().find_map(|(at, letter)| {
        let mut mended = probes(*letter).map(|probe| with(at, probe));
        mended
            .find(|mended| matches(regex, mended))
            .map(|it| (at, it))
    })?;
    let letter = letters[at];
    // A sign that may stand within a name is refused for its place.
    let may_stand_within = || {
        (1..mended.len()).any(|within| {
            let mut other = mended.clone();
            other[within] = letter;
            within + 1 < other.len() && matches(regex, &other)
        })
    };
    Some(match at {
        0 if may_stand_within() => format!("starts with '{letter}'"),
        _ if at + 1 == letters.len() && may_stand_within() => format!("ends with '{letter}'"),
        _ => format!("holds '{letter}'"),
    })
}

/// The signs that are refused, where one alone does not mend the name.
fn several_signs(regex: &Regex, letters: &[char]) -> Option<String> {
    let is_sign: [fn(&char) -> bool; 3] = [
        |letter| !letter.is_ascii_alphanumeric(),
        |letter| !letter.is_ascii_lowercase() && !letter.is_ascii_digit(),
        |letter| !letter.is_ascii_lowercase(),
    ];
    let without = |signs: &BTreeSet<char>| -> Vec<char> {
        let mend = |letter: &char| match signs.contains(letter) {
            true if letter.is_ascii_uppercase() => letter.to_ascii_lowercase(),
            true => PROBES[0],
            false => *letter,
        };
        letters.iter().map(mend).collect()
    };
    let all = is_sign
        .iter()
        .map(|is_sign| letters.iter().copied().filter(is_sign));
    let mut signs = all
        .map(BTreeSet::from_iter)
        .find(|signs| matches(regex, &without(signs)))?;
    for letter in signs.clone() {
        signs.remove(&letter);
        if !matches(regex, &without(&signs)) {
            signs.insert(letter);
        }
    }
    let signs: Vec<String> = signs.iter().map(|letter| format!("'{letter}'")).collect();
    Some(format!("holds {}", signs.join(", ")))
}

/// Whether the name is too long or too short.
fn length(regex: &Regex, letters: &[char]) -> Option<String> {
    let length = letters.len();
    let shorter = (1..length)
        .rev()
        .find(|most| matches(regex, &letters[..*most]));
    if let Some(most) = shorter {
        return Some(format!("has {length} characters, {most} are the most"));
    }
    let mut longer = letters.to_vec();
    let least = (0..MOST_SHORT).find_map(|_| {
        longer.push(PROBES[0]);
        matches(regex, &longer).then_some(longer.len())
    })?;
    Some(format!("has {length} characters, {least} are the least"))
}

fn probes(letter: char) -> impl Iterator<Item = char> {
    std::iter::once(letter.to_ascii_lowercase())
        .chain(PROBES)
        .filter(move |probe| *probe != letter)
}

fn matches(regex: &Regex, letters: &[char]) -> bool {
    regex.is_match(&String::from_iter(letters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_name_says_which_sign_it_is_about() {
        let start_and_end = "^[a-zA-Z][a-zA-Z0-9-]{4,48}[a-zA-Z0-9]$";
        for (pattern, name, expected) in [
            ("^[a-z0-9]+$", "a!", "holds '!'"),
            ("^[a-z0-9]+$", "myStore", "holds 'S'"),
            ("^[a-z0-9]+$", "my-store_1", "holds '-', '_'"),
            ("^[a-z0-9]+$", "MY-store", "holds '-', 'M', 'Y'"),
            (start_and_end, "1events", "starts with '1'"),
            (start_and_end, "-events", "starts with '-'"),
            (start_and_end, "events-", "ends with '-'"),
            (start_and_end, "tel_01", "holds '_'"),
            (start_and_end, "_tel01", "holds '_'"),
            (start_and_end, "télé01", "holds 'é'"),
            (start_and_end, "tel", "has 3 characters, 6 are the least"),
            (
                "^[a-z]{3,5}$",
                "abcdefg",
                "has 7 characters, 5 are the most",
            ),
            ("^[^/]+ $", "b", "holds 'b'"),
        ] {
            let rules = Rules {
                pattern: Some(pattern),
                ..Rules::NONE
            };
            let found = check_name(&rules, name);
            let expected = format!("must match the pattern {pattern}: '{name}' {expected}");
            if pattern.contains(' ') {
                assert!(found[0].starts_with("must match the pattern"), "{found:?}");
                continue;
            }
            assert_eq!(found, [expected]);
        }
        assert!(check_name(&Rules::NONE, "anything goes").is_empty());
    }

    #[test]
    fn a_slash_is_told_with_what_arm_writes_for_it() {
        let rules = Rules {
            slash: Some("~"),
            ..Rules::NONE
        };
        let slash = "'desk/in/1' holds '/', which separates the parts of an ARM id";
        let hint = "; ARM writes '~' for it: 'desk~in~1'";
        assert_eq!(check_name(&rules, "desk/in/1"), [format!("{slash}{hint}")]);
        assert_eq!(check_name(&Rules::NONE, "desk/in/1"), [slash]);
        assert!(check_name(&rules, "desk~in~1").is_empty());
        let own = check_name(&rules, "a~b/c");
        assert!(own[0].ends_with("; ARM writes '~' for it"), "{own:?}");
        let encoded = check_name(&rules, "desk%2Fin");
        assert!(encoded[0].contains("percent-encoding"), "{encoded:?}");
    }

    #[test]
    fn a_length_is_told_by_the_bounds() {
        let rules = Rules {
            pattern: Some("^[a-z]+$"),
            min_length: Some(3),
            max_length: Some(5),
            ..Rules::NONE
        };
        let found = check_name(&rules, "a");
        assert_eq!(found, ["must have at least 3 characters, has 1"]);
        let found = check_name(&rules, "abcdef");
        assert_eq!(found, ["must have at most 5 characters, has 6"]);
        let rules = Rules {
            pattern: Some("^[a-z]{3,5}$"),
            ..rules
        };
        let found = check_name(&rules, "a");
        assert_eq!(found, ["must have at least 3 characters, has 1"]);
    }
}
