//! Words of specs in the cases that names have.

/// Upper camel case from any text: separators go, what follows them is capitalised, the rest stays as it is.
pub fn pascal(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut upper = true;
    for letter in text.chars() {
        if !letter.is_ascii_alphanumeric() {
            upper = true;
        } else if upper {
            name.push(letter.to_ascii_uppercase());
            upper = false;
        } else {
            name.push(letter);
        }
    }
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert(0, 'N');
    }
    name
}

/// Lower camel case of an upper camel case name: a run of capitals at the start is one word (`ADDomain` →
/// `adDomain`, `IotHub` → `iotHub`).
pub fn lower_camel(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let capitals = letters
        .iter()
        .take_while(|letter| letter.is_ascii_uppercase())
        .count();
    let lower = match capitals {
        0 => 0,
        1 => 1,
        _ if capitals == letters.len() => capitals,
        _ => capitals - 1,
    };
    letters
        .iter()
        .enumerate()
        .map(|(index, letter)| {
            if index < lower {
                letter.to_ascii_lowercase()
            } else {
                *letter
            }
        })
        .collect()
}

/// Singular of an English plural in camel case.
pub fn singular(plural: &str) -> String {
    let lower = plural.to_ascii_lowercase();
    let cut =
        |letters: usize, ending: &str| format!("{}{ending}", &plural[..plural.len() - letters]);
    let any = |endings: &[&str]| endings.iter().any(|ending| lower.ends_with(ending));
    if any(&["redis", "ss", "us", "is", "series"]) {
        plural.to_owned()
    } else if any(&["ies"]) && plural.len() > 4 {
        cut(3, "y")
    } else if any(&["sses", "shes", "xes", "ches", "statuses", "aliases"]) && !any(&["caches"]) {
        cut(2, "")
    } else if any(&["s"]) {
        cut(1, "")
    } else {
        plural.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{lower_camel, pascal, singular};

    #[test]
    fn upper_camel_case() {
        for (text, expected) in [
            ("storageAccounts", "StorageAccounts"),
            ("x-ms-thing", "XMsThing"),
            ("A", "A"),
            ("2fa", "N2fa"),
            ("", ""),
        ] {
            assert_eq!(pascal(text), expected);
        }
    }

    #[test]
    fn lower_camel_case_takes_a_run_of_capitals_as_one_word() {
        for (name, expected) in [
            ("ReadWriteDatabase", "readWriteDatabase"),
            ("AADConnector", "aadConnector"),
            ("SSH", "ssh"),
            ("plain", "plain"),
        ] {
            assert_eq!(lower_camel(name), expected);
        }
    }

    #[test]
    fn singulars() {
        for (plural, expected) in [
            ("StorageAccounts", "StorageAccount"),
            ("Policies", "Policy"),
            ("PublicIPAddresses", "PublicIPAddress"),
            ("Databases", "Database"),
            ("Redis", "Redis"),
            ("Caches", "Cache"),
            ("Batches", "Batch"),
            ("Subnet", "Subnet"),
        ] {
            assert_eq!(singular(plural), expected);
        }
    }
}
