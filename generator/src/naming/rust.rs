//! Rust's fields, modules and constants after Azure's names.

use std::collections::{HashMap, HashSet};

/// Words that cannot name a field as they stand.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "union",
];

/// Words of a name: split at separators, before a capital that starts a word, and nowhere else, so that
/// `publicIPAddress` gives `public`, `IP`, `Address`, `Standard_D11_v2` gives `Standard`, `D11`, `v2`, and `W3CLogFile`
/// gives `W3C`, `Log`, `File`.
fn words(text: &str) -> Vec<String> {
    let letters = text.chars().collect::<Vec<_>>();
    let mut words = vec![String::new()];
    for (index, letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = index.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(index + 1);
        let starts_word = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase() || after.is_some_and(char::is_ascii_lowercase)
            });
        if starts_word {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(*letter);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn joined(text: &str) -> String {
    let name = words(text).join("_");
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        format!("n{name}")
    } else {
        name
    }
}

/// Name of a field or module: `publicIPAddress` → `public_ip_address`, `type` → `type_`.
pub fn snake(text: &str) -> String {
    let name = joined(text).to_lowercase();
    if name.is_empty() {
        return "unnamed".to_owned();
    }
    if KEYWORDS.contains(&name.as_str()) {
        format!("{name}_")
    } else {
        name
    }
}

/// Name of a constant: `Standard_D11_v2` → `STANDARD_D11_V2`, `*` → `ANY`.
pub fn constant(text: &str) -> String {
    let name = joined(text).to_uppercase();
    match name.as_str() {
        "" if text.contains('*') => "ANY".to_owned(),
        "" => "EMPTY".to_owned(),
        _ => name,
    }
}

/// Distinct names in the order of the texts: a name that is taken gets a number.
pub fn distinct(texts: &[&str], name: fn(&str) -> String) -> Vec<String> {
    let mut names = Vec::<String>::new();
    let mut taken = HashSet::new();
    // Number to go on with, so that many texts of one name take no longer than others.
    let mut numbers = HashMap::<String, usize>::new();
    for text in texts {
        let first = name(text);
        let mut candidate = first.clone();
        let number = numbers.entry(first.clone()).or_insert(2);
        while !taken.insert(candidate.clone()) {
            candidate = format!("{first}_{number}");
            *number += 1;
        }
        names.push(candidate);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        for (text, expected) in [
            ("accessTier", "access_tier"),
            ("publicIPAddress", "public_ip_address"),
            ("isNfsV3Enabled", "is_nfs_v3_enabled"),
            ("type", "type_"),
            ("self", "self_"),
            ("@odata.type", "odata_type"),
            ("24x7", "n24x7"),
            ("日本", "unnamed"),
            ("", "unnamed"),
        ] {
            assert_eq!(snake(text), expected);
        }
    }

    #[test]
    fn constants() {
        for (text, expected) in [
            ("Standard_D11_v2", "STANDARD_D11_V2"),
            (
                "SystemAssigned, UserAssigned",
                "SYSTEM_ASSIGNED_USER_ASSIGNED",
            ),
            ("TLS1_2", "TLS1_2"),
            ("W3CLOGFILE", "W3CLOGFILE"),
            ("*", "ANY"),
            ("1.0", "N1_0"),
        ] {
            assert_eq!(constant(text), expected);
        }
        let values = [
            "SystemAssigned,UserAssigned",
            "SystemAssigned, UserAssigned",
        ];
        let names = distinct(&values, constant);
        assert_eq!(names[1], "SYSTEM_ASSIGNED_USER_ASSIGNED_2");
    }
}
