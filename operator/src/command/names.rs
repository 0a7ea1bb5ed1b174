//! Names on the command line: of namespaces and images, and pairs for labels and annotations.

use crate::worlds::manifests::metadata::is_namespace;

/// The name of a namespace, as the API server takes it.
pub fn namespace(text: &str) -> Result<String, String> {
    match is_namespace(text) {
        true => Ok(text.to_owned()),
        false => Err(
            "expected the name of a namespace: at most 63 lower-case letters, digits and '-', with a letter or digit at \
             both ends"
                .to_owned(),
        ),
    }
}

/// An image: something without spaces.
pub fn image(text: &str) -> Result<String, String> {
    match text.is_empty() || text.contains(char::is_whitespace) {
        true => Err("expected an image such as registry.example/armature:1.0".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// `NAMESPACE/NAME`.
pub fn namespaced(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('/');
    let pair = pair.filter(|(place, name)| is_namespace(place) && !name.is_empty());
    pair.filter(|(_, name)| !name.contains('/'))
        .map(|(place, name)| (place.to_owned(), name.to_owned()))
        .ok_or_else(|| "expected NAMESPACE/NAME, such as shop/aso-credential".to_owned())
}

/// Names and values of one flag. Several are separated by commas as asoctl has them: a pair that has a comma itself stands in
/// double quotes, and two of these stand for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs(pub Vec<(String, String)>);

/// Labels, as the API server takes them.
pub fn labels(text: &str) -> Result<Pairs, String> {
    let pairs = pairs(text)?;
    for (name, value) in &pairs.0 {
        check_name(name)?;
        if !value.is_empty() && !is_part(value) {
            return Err(format!("'{value}' cannot be the value of a label: {PART}"));
        }
    }
    Ok(pairs)
}

/// Annotations, whose values may be anything.
pub fn annotations(text: &str) -> Result<Pairs, String> {
    let pairs = pairs(text)?;
    for (name, _) in &pairs.0 {
        check_name(name)?;
    }
    Ok(pairs)
}

const PART: &str =
    "expected at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";

fn check_name(name: &str) -> Result<(), String> {
    let (prefix, short) = match name.split_once('/') {
        Some((prefix, short)) => (Some(prefix), short),
        None => (None, name),
    };
    let is_prefix = |prefix: &str| prefix.split('.').all(is_namespace) && prefix.len() <= 253;
    match prefix.is_none_or(is_prefix) && is_part(short) {
        true => Ok(()),
        false => Err(format!(
            "'{name}' cannot be the name of a label or annotation: {PART}, after a domain and '/' where there is one"
        )),
    }
}

fn is_part(text: &str) -> bool {
    let is_end = |end: Option<char>| end.is_some_and(|end| end.is_ascii_alphanumeric());
    let is_inner = |inner: char| inner.is_ascii_alphanumeric() || "-_.".contains(inner);
    text.len() <= 63
        && is_end(text.chars().next())
        && is_end(text.chars().last())
        && text.chars().all(is_inner)
}

fn pairs(text: &str) -> Result<Pairs, String> {
    let pairs = split(text)?.into_iter().map(|part| {
        let pair = part.split_once('=');
        let pair = pair.filter(|(name, _)| !name.trim().is_empty());
        pair.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .ok_or_else(|| {
                format!("'{part}': expected name=value; one with a comma in it stands in double quotes: '\"a=b,c\"'")
            })
    });
    pairs.collect::<Result<_, _>>().map(Pairs)
}

/// The parts between commas; a part in double quotes may have some itself.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let (part, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)
                .ok_or("expected a comma or the end after the closing double quote")?,
            None => match rest.find(',') {
                Some(at) => (rest[..at].to_owned(), Some(&rest[at + 1..])),
                None => (rest.to_owned(), None),
            },
        };
        parts.push(part);
        match after {
            Some(after) => rest = after,
            None => return Ok(parts),
        }
    }
}

/// A part up to its closing quote, and what stands behind the comma after it.
fn unquoted(text: &str) -> Option<(String, Option<&str>)> {
    let mut part = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        part.push_str(before);
        match after.strip_prefix('"') {
            Some(after) => {
                part.push('"');
                rest = after;
            }
            None if after.is_empty() => return Some((part, None)),
            None => return Some((part, Some(after.strip_prefix(',')?))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(found: Result<Pairs, String>) -> Vec<(String, String)> {
        found.unwrap().0
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn labels_and_annotations_are_separated_by_commas_as_asoctl_has_them() {
        assert_eq!(of(labels("a=b")), [pair("a", "b")]);
        let two = [pair("a", "b"), pair("example.com/c", "d")];
        assert_eq!(of(labels("a=b,example.com/c=d")), two);
        let quoted = [pair("a", "b,c"), pair("d", "say \"e\"")];
        assert_eq!(of(annotations("\"a=b,c\",\"d=say \"\"e\"\"\"")), quoted);
        assert_eq!(of(annotations("a=b c=d")), [pair("a", "b c=d")]);
        assert_eq!(of(labels("a=")), [pair("a", "")]);
    }

    #[test]
    fn what_the_api_server_would_refuse_is_refused_here() {
        for wrong in [
            "a",
            "a=b,c",
            "=b",
            "a b=c",
            "a=b c",
            "-a=b",
            "a=b-",
            "Ex_ample/a=b",
            "\"a=b",
            "\"a=b\"c",
        ] {
            assert!(labels(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "Bad_NS", "-a", "a.b", "a b", &"a".repeat(64)] {
            assert!(
                namespace(wrong)
                    .unwrap_err()
                    .contains("name of a namespace"),
                "{wrong}"
            );
        }
        assert_eq!(namespace("team-1").as_deref(), Ok("team-1"));
        assert!(image("").is_err() && image("a b").is_err());
        assert_eq!(namespaced("shop/login"), Ok(pair("shop", "login")));
        for wrong in ["shop", "shop/", "/a", "Shop/a", "a/b/c"] {
            assert!(namespaced(wrong).is_err(), "{wrong}");
        }
    }
}
