//! The one pattern language of fault rules and log queries.

/// Whether a path holds the pattern: anywhere, without regard to case; `*` stands for anything, a first `^`
/// for the path's beginning and a final `$` for its end.
pub fn matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    let path = path.to_ascii_lowercase();
    let (from_start, pattern) = match pattern.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, pattern.as_str()),
    };
    let (to_end, pattern) = match pattern.strip_suffix('$') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let parts: Vec<&str> = pattern.split('*').collect();
    let last = parts.len() - 1;
    let mut rest = path.as_str();
    for (index, part) in parts.iter().enumerate() {
        if index == last && to_end {
            let anchored = index == 0 && from_start;
            return rest.ends_with(part) && (!anchored || rest.len() == part.len());
        }
        if index == 0 && from_start {
            match rest.strip_prefix(part) {
                Some(after) => rest = after,
                None => return false,
            }
        } else {
            match rest.find(part) {
                Some(position) => rest = &rest[position + part.len()..],
                None => return false,
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_parts_of_paths() {
        let path = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Kusto/clusters/c";
        for (pattern, expected) in [
            ("", true),
            ("/CLUSTERS/", true),
            ("/clusters/c$", true),
            ("/clusters$", false),
            ("resourceGroups/*/clusters", true),
            ("clusters/*/databases", false),
            ("^/subscriptions", true),
            ("^/providers", false),
            ("^/subscriptions/s$", false),
            ("^/subscriptions/*/c$", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern}");
        }
    }
}
