//! ARM ids in texts of which nobody has said that they are ids: services read them out of plain properties, connection
//! strings and keys of maps.
//!
//! What does not live here: whether an id may be used, and which ids a resource itself has ([`super::ResourceId`]).

use std::collections::HashSet;

use percent_encoding::percent_decode_str;

/// Signs that separate several ids, or the members of a connection string.
const SEPARATORS: [char; 3] = [',', ';', '|'];

/// Signs between the segments of a path; a backslash is one to many readers.
const SLASHES: [char; 2] = ['/', '\\'];

/// Every ARM id that Azure may read out of a text, each with one slash before it.
///
/// - Below a subscription (`/subscriptions/GUID…`) anywhere: alone, in a query, in JSON, behind a word, or behind the URL of an
///   ARM: that of `endpoint`, or a host with the label `management`.
/// - Of the tenant (`/providers/Namespace.Name/…`) where a part of the text begins with it, or with `WORD=`.
///
/// A URL of another host holds none, nor does a longer path, or one whose subscription is no GUID: applications have paths like
/// these.
pub fn ids_in_text(text: &str, endpoint: &str) -> Vec<String> {
    let text = text.trim();
    let inside = subscription_ids(text, endpoint);
    let is_end = |sign: char| sign.is_whitespace() || SEPARATORS.contains(&sign);
    // A name may have blanks and commas: where there are not several ids, the whole is looked at as well.
    let whole = (inside.len() < 2).then_some(text);
    let whole = whole.into_iter().filter_map(|text| alone(text, endpoint));
    let parts = text.split(is_end).filter(|part| *part != text);
    let parts = parts.filter_map(|part| alone(until_closed(part), endpoint));
    let mut known = HashSet::new();
    let found = whole.chain(parts).chain(inside);
    found.filter(|id| known.insert(id.clone())).collect()
}

/// The id that a text is, alone or behind `WORD=`.
fn alone(text: &str, endpoint: &str) -> Option<String> {
    id_of(text, endpoint).or_else(|| id_of(behind_word(text)?, endpoint))
}

/// What stands behind `WORD=`.
fn behind_word(part: &str) -> Option<&str> {
    let (word, rest) = part.split_once('=')?;
    let is_word = |sign: char| sign.is_ascii_alphanumeric() || "_-. ".contains(sign);
    (!word.is_empty() && word.chars().all(is_word)).then(|| rest.trim())
}

/// The ids below a subscription, wherever they stand: in front of each is no part of a longer path.
fn subscription_ids(text: &str, endpoint: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut end = 0;
    for (at, sign) in text.char_indices() {
        let (before, from) = text.split_at(at);
        if at < end || !SLASHES.contains(&sign) || before.ends_with(SLASHES) {
            continue;
        }
        if !starts_with_subscription(from) || !may_stand_behind(before, endpoint) {
            continue;
        }
        let id = until_closed(from);
        end = at + id.len();
        found.push(format!("/{}", id.trim_start_matches(SLASHES)));
    }
    found
}

/// Whether a path begins with `/subscriptions/GUID`.
fn starts_with_subscription(path: &str) -> bool {
    let mut segments = path.split(SLASHES).filter(|at| !at.is_empty());
    let root = segments.next().map(decoded).unwrap_or_default();
    if !root.eq_ignore_ascii_case("subscriptions") {
        return false;
    }
    let is_end = |sign: char| sign.is_whitespace() || "\"'`,;|)]}<>&?#".contains(sign);
    let first = segments.next().and_then(|at| at.split(is_end).next());
    first.is_some_and(|first| is_guid(&decoded(first)))
}

/// Whether a text ends where an id may begin: not in the middle of a path, and behind a host only if it is an ARM.
fn may_stand_behind(before: &str, endpoint: &str) -> bool {
    let is_name = |sign: char| sign.is_ascii_alphanumeric() || "._~%-".contains(sign);
    if !before.ends_with(is_name) {
        return true;
    }
    let is_host = |sign: char| is_name(sign) || ":@".contains(sign);
    let host_at = before.trim_end_matches(is_host).len();
    let (scheme, host) = before.split_at(host_at);
    scheme.len() - scheme.trim_end_matches(SLASHES).len() >= 2 && is_arm(host, endpoint)
}

/// A text until what no id goes beyond: a quote, a blank, a query, or a bracket that closes what was opened before it.
fn until_closed(text: &str) -> &str {
    let text = text.trim_start_matches(['"', '\'']);
    let mut open = 0_usize;
    for (at, sign) in text.char_indices() {
        match sign {
            '"' | '\'' | '`' | '<' | '>' | '?' | '#' | '&' => return &text[..at],
            _ if sign.is_whitespace() || SEPARATORS.contains(&sign) => return &text[..at],
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' if open == 0 => return &text[..at],
            ')' | ']' | '}' => open -= 1,
            _ => {}
        }
    }
    text
}

/// The id that a text is, alone or behind the URL of an ARM.
fn id_of(text: &str, endpoint: &str) -> Option<String> {
    let text = text.trim_matches(['"', '\'']);
    let path = match text.split_once("://") {
        Some((scheme, rest)) if scheme.chars().all(|sign| sign.is_ascii_alphanumeric()) => {
            let (host, path) = rest.split_at(rest.find('/')?);
            is_arm(host, endpoint).then_some(path)?
        }
        _ => text,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_start_matches(SLASHES);
    let mut segments = path.split(SLASHES).filter(|at| !at.is_empty());
    let (root, first) = (segments.next()?, decoded(segments.next()?));
    let is_id = match root {
        _ if decoded(root).eq_ignore_ascii_case("subscriptions") => is_guid(&first),
        _ if decoded(root).eq_ignore_ascii_case("providers") => {
            is_namespace(&first) && segments.next().is_some()
        }
        _ => false,
    };
    is_id.then(|| format!("/{path}"))
}

fn is_arm(host: &str, endpoint: &str) -> bool {
    let of_endpoint = endpoint
        .split_once("://")
        .map_or(endpoint, |(_, host)| host);
    let of_endpoint = of_endpoint.split('/').next().unwrap_or_default();
    let name = host.rsplit('@').next().unwrap_or_default();
    let mut labels = name.split([':', '.']);
    (!of_endpoint.is_empty() && name.eq_ignore_ascii_case(of_endpoint))
        || labels.any(|label| label.eq_ignore_ascii_case("management"))
}

fn decoded(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

/// 32 hexadecimal digits in any of the forms in which a GUID is written.
fn is_guid(text: &str) -> bool {
    let digits: Vec<char> = text
        .chars()
        .filter(|sign| !"-{}()".contains(*sign))
        .collect();
    digits.len() == 32 && digits.iter().all(char::is_ascii_hexdigit)
}

/// Two names at least, as in `Microsoft.Toys`.
fn is_namespace(text: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|sign: char| sign.is_ascii_alphabetic())
            && part.chars().all(|sign| sign.is_ascii_alphanumeric())
    };
    text.contains('.') && text.split('.').all(is_name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const S: &str = "/subscriptions/00000000-0000-0000-0000-000000000001";
    const ROLE: &str = "/providers/Microsoft.Authorization/roleDefinitions/r";

    fn found(text: &str) -> Vec<String> {
        ids_in_text(text, "https://arm.example:8443/")
    }

    #[test]
    fn what_is_an_id() {
        let group = format!("{S}/resourceGroups/prod");
        for text in [
            group.clone(),
            format!("  {group}\n"),
            format!("/{group}"),
            group[1..].to_owned(),
            format!("\"{group}\""),
            format!("https://management.azure.com{group}?api-version=2024-01-01"),
            format!("https://westeurope.management.azure.com:443{group}"),
            format!("HTTPS://arm.example:8443{group}"),
            format!("ResourceId={group}"),
            format!("Resource Id = {group}"),
            format!("Database=x;ResourceId={group};Other=1"),
            format!("a,{group}"),
            format!("a+b={group}"),
            format!("resource('{group}').SecurityEvent | take 1"),
            format!("| where _ResourceId =~\"{group}\""),
            format!("hidden-link:{group}"),
            format!("{{\"id\":\"{group}\"}}"),
            format!("{{\"id\": \"{group}\"}}"),
            format!("[\"{group}\"]"),
            format!("({group})"),
            format!("ResourceId={{{group}}}"),
            format!("a=b&ResourceId={group}&c=d"),
            format!("<id>{group}</id>"),
            format!("see {group}, then"),
            format!("//management.azure.com{group}"),
            format!("go to https:\\\\management.azure.com{group}"),
        ] {
            assert_eq!(found(&text), [group.as_str()], "{text}");
        }
        let odd = format!("{S}/resourceGroups/prod(1)");
        assert_eq!(found(&format!("resource(\"{odd}\")")), [odd.as_str()]);
        let blank = format!("{S}/resourceGroups/prod/providers/Microsoft.Toys/stores/a b");
        assert!(found(&blank).contains(&blank));
        for text in [S, ROLE, S.to_uppercase().as_str()] {
            assert_eq!(found(text), [text]);
        }
        let two = format!("{group},{S}/resourceGroups/team");
        assert_eq!(found(&two), [group, format!("{S}/resourceGroups/team")]);
        let encoded = "/subscriptions/%300000000-0000-0000-0000-000000000001/x";
        assert_eq!(found(encoded), [encoded]);
        let bare = "/subscriptions/00000000000000000000000000000001";
        assert_eq!(found(bare), [bare]);
    }

    #[test]
    fn what_is_none() {
        for text in [
            String::new(),
            "/".to_owned(),
            "/subscriptions".to_owned(),
            "/subscriptions/{id}/orders".to_owned(),
            "/subscriptions/42/orders".to_owned(),
            "/providers/eu/list".to_owned(),
            "/providers/Microsoft.Web".to_owned(),
            "/providers/api.v1-2/x".to_owned(),
            "00000000-0000-0000-0000-000000000001".to_owned(),
            format!("https://shop.example{S}"),
            format!("/api{S}"),
            format!("see {}", "the page"),
            format!("https://shop.example/api?to=x{S}"),
            "resource('/subscriptions/{id}/x')".to_owned(),
            "<rewrite-uri template=\"/providers/X.Y/z\" />".to_owned(),
        ] {
            assert_eq!(found(&text), [""; 0], "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,200}") {
            found(&text);
        }

        /// Every id is looked at, however many stand before it.
        #[test]
        fn many_ids_are_all_found(count in 1..40_usize, sign in "[ ,;|\n]") {
            let ids: Vec<String> = (0..count).map(|at| format!("{S}/resourceGroups/g{at}")).collect();
            prop_assert_eq!(found(&ids.join(&sign)), ids);
        }

        #[test]
        fn what_stands_around_an_id_hides_it_not(
            before in "[ \t;,|]{0,4}",
            word in "([A-Za-z]{1,8}[=:(\"'])?",
            after in "([;,| )\"'&<][A-Za-z=]{0,8})?",
        ) {
            let id = format!("{S}/resourceGroups/prod");
            let text = format!("{before}{word}{id}{after}");
            prop_assert!(found(&text).iter().any(|found| found.starts_with(&id)), "{text}");
        }
    }
}
