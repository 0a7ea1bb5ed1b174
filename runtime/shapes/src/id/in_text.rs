//! ARM ids in texts of which nobody has said that they are ids: services read them out of plain properties, connection
//! strings and keys of maps.
//!
//! What does not live here: whether an id may be used, and which ids a resource itself has ([`super::ResourceId`]).

use std::collections::HashSet;

use percent_encoding::percent_decode_str;

/// Signs that separate several ids, or the members of a connection string.
const SEPARATORS: [char; 3] = [',', ';', '|'];

/// Every ARM id that Azure may read out of a text, each with one slash before it: below a subscription
/// (`/subscriptions/GUID…`) or the tenant (`/providers/Namespace.Name/…`), alone, behind `WORD=`, or behind the URL of an
/// ARM: that of `endpoint`, or a host with the label `management`. A URL of another host holds none, nor does a
/// path whose subscription is no GUID: applications have paths like these.
pub fn ids_in_text(text: &str, endpoint: &str) -> Vec<String> {
    let is_end = |sign: char| sign.is_whitespace() || SEPARATORS.contains(&sign);
    // A name may have blanks and commas, so the whole is looked at as well.
    let whole = std::iter::once(text.trim());
    let parts = text.split(is_end).filter(|part| *part != text.trim());
    // A text of a megabyte may have tens of thousands: each is looked up, and not compared with all before it.
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    for part in whole.chain(parts) {
        let id = id_of(part, endpoint).or_else(|| id_of(behind_word(part)?, endpoint));
        if let Some(id) = id
            && known.insert(id.clone())
        {
            found.push(id);
        }
    }
    found
}

/// What stands behind `WORD=`.
fn behind_word(part: &str) -> Option<&str> {
    let (word, rest) = part.split_once('=')?;
    let is_word = |sign: char| sign.is_ascii_alphanumeric() || "_-. ".contains(sign);
    (!word.is_empty() && word.chars().all(is_word)).then(|| rest.trim())
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
    let path = path.trim_start_matches(['/', '\\']);
    let mut segments = path.split(['/', '\\']).filter(|at| !at.is_empty());
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
        ] {
            assert_eq!(found(&text), [group.as_str()], "{text}");
        }
        for text in [S, ROLE, S.to_uppercase().as_str()] {
            assert_eq!(found(text), [text]);
        }
        let two = format!("{group},{S}/resourceGroups/team");
        assert!(found(&two).contains(&format!("{S}/resourceGroups/team")));
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
            format!("a+b={S}"),
        ] {
            assert_eq!(found(&text), [""; 0], "{text}");
        }
    }

    proptest! {
        /// Work grows with the text, not faster: every text is cut once.
        #[test]
        fn any_text_is_read(text in "\\PC{0,200}") {
            found(&text);
        }

        #[test]
        fn what_stands_around_an_id_hides_it_not(
            before in "[ \t;,|]{0,4}",
            word in "([A-Za-z]{1,8}=)?",
            after in "([;,| ][A-Za-z=]{0,8})?",
        ) {
            let id = format!("{S}/resourceGroups/prod");
            let text = format!("{before}{word}{id}{after}");
            prop_assert!(found(&text).iter().any(|found| found.starts_with(&id)), "{text}");
        }
    }
}
