//! Names of Secrets and ConfigMaps, as users write them.

/// Longest name of a Secret or ConfigMap, in bytes.
const LONGEST: usize = 253;

/// Whether a Secret or ConfigMap may have this name (RFC 1123 subdomain). Names come from specs and become part of a path: one
/// with `/` or `?` would ask for something else.
pub fn is_object_name(name: &str) -> bool {
    let is_sign =
        |sign: u8| sign.is_ascii_lowercase() || sign.is_ascii_digit() || b"-.".contains(&sign);
    let is_end = |sign: Option<&u8>| sign.is_some_and(u8::is_ascii_alphanumeric);
    let signs = name.as_bytes();
    signs.len() <= LONGEST
        && signs.iter().copied().all(is_sign)
        && is_end(signs.first())
        && is_end(signs.last())
}

#[cfg(test)]
mod tests {
    use super::is_object_name;

    #[test]
    fn names_that_are_no_other_path() {
        for name in ["a", "aso-credential", "a.b-c.9"] {
            assert!(is_object_name(name), "{name}");
        }
        let long = "a".repeat(254);
        for name in [
            "", "a/b", "a?x", "a#x", "..", "A", "a b", "a%2fb", "-a", "a-", "ä", &long,
        ] {
            assert!(!is_object_name(name), "{name}");
        }
    }
}
