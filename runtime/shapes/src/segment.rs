//! What may stand between two slashes of a path, and whether a URL still says what it was made from.
//!
//! URL parsers, proxies and servers drop `.`, walk up at `..`, take `\` for `/` and decode `%2e` and `%2f`, each at a place
//! of its own. A name of this kind would turn a request for one resource into a request for another, so none is ever
//! part of an id, and a URL is compared with what was asked for before it is sent (RFC 3986 §5.2.4, WHATWG URL §4.4).

use std::borrow::Cow;
use std::fmt;

use percent_encoding::percent_decode_str;
use url::Url;

use crate::quote::shortened;

/// A segment that would lead elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{}' cannot be a part of it: it {sign}, and would lead to another resource",
    shortened(segment)
)]
pub struct MisleadingSegment {
    /// The segment.
    pub segment: String,
    /// What of it leads elsewhere.
    pub sign: Sign,
}

/// What of a segment leads elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `/`: the end of the segment.
    Slash,
    /// `/` in percent-encoding.
    EncodedSlash,
    /// `\`, in whatever encoding.
    Backslash,
    /// `.` or `..`, in whatever encoding.
    Dots,
}

impl fmt::Display for Sign {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Slash => "holds '/', which separates the parts of an ARM id",
            Self::EncodedSlash => {
                "holds '/' in percent-encoding, which servers take for one that separates the parts of an ARM id"
            }
            Self::Backslash => "holds '\\', which servers take for '/'",
            Self::Dots => "is '.' or '..', which servers take out of a path",
        })
    }
}

/// Checks one segment of an id: a name or a type, without its slashes.
///
/// # Errors
/// When it leads elsewhere, in whatever encoding.
pub fn check_segment(segment: &str) -> Result<(), MisleadingSegment> {
    match sign(segment) {
        None => Ok(()),
        Some(sign) => Err(MisleadingSegment {
            segment: segment.to_owned(),
            sign,
        }),
    }
}

/// What of a segment leads elsewhere.
fn sign(segment: &str) -> Option<Sign> {
    let decoded = fully_decoded(segment);
    if segment.contains('/') {
        Some(Sign::Slash)
    } else if decoded.contains('/') {
        Some(Sign::EncodedSlash)
    } else if decoded.contains('\\') {
        Some(Sign::Backslash)
    } else {
        is_dots(&decoded).then_some(Sign::Dots)
    }
}

/// Checks every segment of an id or another path with slashes.
///
/// # Errors
/// When a segment leads elsewhere.
pub fn check_path(path: &str) -> Result<(), MisleadingSegment> {
    path.split('/').try_for_each(check_segment)
}

/// Whether the path of a URL, or the path in an absolute URL, holds a segment of dots in any encoding. Other than ids,
/// URLs that Azure gives out may hold encoded slashes.
pub fn has_dots(url: &str) -> bool {
    let decoded = fully_decoded(path_of(url));
    decoded.split(['/', '\\']).any(is_dots)
}

/// Whether the parsed URL has the path that the text has, segment by segment, below `base`, the path of the endpoint that
/// was put before it. Only encoding may differ.
pub fn is_path_of(text: &str, base: &str, url: &Url) -> bool {
    let asked = base.split('/').chain(path_of(text).split('/').skip(1));
    let found = url.path().split('/');
    asked.map(decoded).eq(found.map(decoded))
}

/// The subscription that a path or URL is in, as it is written; `None` when it is in none. One of a tenant is in none,
/// whatever stands behind `providers`.
pub fn subscription_of(url: &str) -> Option<String> {
    let path = path_of(url);
    let mut segments = path.split(['/', '\\']).map(fully_decoded);
    let found = segments.find(|segment| {
        segment.eq_ignore_ascii_case("subscriptions") || segment.eq_ignore_ascii_case("providers")
    });
    found.filter(|segment| segment.eq_ignore_ascii_case("subscriptions"))?;
    Some(segments.next().unwrap_or_default())
}

/// The path of a URL from `/subscriptions` or `/providers` on, with the names in it as they are, not encoded: what stands before
/// is the endpoint's. The whole path where it has neither.
pub fn path_from_root(url: &str) -> String {
    let path = percent_decode_str(path_of(url)).decode_utf8_lossy();
    let is_root = |at: &&str| {
        at.eq_ignore_ascii_case("subscriptions") || at.eq_ignore_ascii_case("providers")
    };
    let before = path.split('/').take_while(|at| !is_root(at));
    let length: usize = before.map(|at| at.len() + 1).sum();
    match length.checked_sub(1).and_then(|start| path.get(start..)) {
        Some(rooted) if !rooted.is_empty() => rooted.to_owned(),
        _ => path.into_owned(),
    }
}

/// The path in a path with a query, or in an absolute URL, with its first slash.
fn path_of(url: &str) -> &str {
    let url = match url.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?', '#']) => {
            &rest[rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len())..]
        }
        _ => url,
    };
    &url[..url.find(['?', '#']).unwrap_or(url.len())]
}

fn is_dots(segment: &str) -> bool {
    segment == "." || segment == ".."
}

fn decoded(segment: &str) -> Cow<'_, [u8]> {
    percent_decode_str(segment).into()
}

/// Decoded until nothing is left to decode: each server on the way may do it once. A byte that comes out of one decoding may
/// be the end of the next, so all are done in one pass over the text, however often it was encoded.
fn fully_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        bytes.push(byte);
        while let [.., b'%', high, low] = bytes[..]
            && let Some(decoded) = hexadecimal(high, low)
        {
            bytes.truncate(bytes.len() - 3);
            bytes.push(decoded);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte that two digits stand for.
fn hexadecimal(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_at_a_subscription_or_a_provider() {
        for (url, expected) in [
            ("/subscriptions/s/x?api-version=1", "/subscriptions/s/x"),
            (
                "https://arm/base/Subscriptions/s/my%20alert#f",
                "/Subscriptions/s/my alert",
            ),
            ("https://arm/providers/A.B/c", "/providers/A.B/c"),
            ("/tenants?x", "/tenants"),
            ("https://arm", ""),
            ("", ""),
            ("/", "/"),
        ] {
            assert_eq!(path_from_root(url), expected, "{url}");
        }
    }

    #[test]
    fn segments_that_lead_elsewhere() {
        let misleading = [
            ".",
            "..",
            "%2e",
            "%2E%2e",
            ".%2e",
            "%2e.",
            "%252e%252E",
            "a%2fb",
            "a%2Fb",
            "a%252Fb",
            "..%2f..",
            "a\\b",
            "a%5cb",
            "..\\x",
            "%5C",
        ];
        for segment in misleading {
            assert!(check_segment(segment).is_err(), "{segment}");
            let path = format!("/subscriptions/{segment}/resourceGroups/g");
            assert!(check_path(&path).is_err(), "{path}");
        }
        let harmless = [
            "a",
            "...",
            "a..b",
            ".hidden",
            "100%",
            "%2",
            "a b",
            "%41",
            "ünï",
            "VM;iaas;v2",
            "",
        ];
        for segment in harmless {
            assert_eq!(check_segment(segment), Ok(()), "{segment}");
        }
    }

    /// Decoded once and again.
    fn decoded_in_rounds(text: &str) -> String {
        let mut text = text.to_owned();
        loop {
            let once = percent_decode_str(&text).decode_utf8_lossy().into_owned();
            if once == text {
                return text;
            }
            text = once;
        }
    }

    #[test]
    fn one_pass_decodes_as_many_rounds_do() {
        let mut state = 7_u64;
        let mut below = |bound: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from((state >> 33) % bound).unwrap()
        };
        for _ in 0..20_000 {
            let length = 1 + below(12);
            let text: String = (0..length)
                .map(|_| ["%", "2", "5", "f", "%25", "e", "/", "3"][below(8)])
                .collect();
            assert_eq!(fully_decoded(&text), decoded_in_rounds(&text), "{text}");
        }
    }

    #[test]
    fn what_was_encoded_a_hundred_thousand_times_takes_one_pass() {
        let text = format!("%{}2e", "25".repeat(500_000));
        assert!(check_segment(&text).is_err());
        let text = format!("/subscriptions/{}", "%25".repeat(300_000));
        assert_eq!(check_path(&text), Ok(()));
    }

    #[test]
    fn the_sign_that_leads_elsewhere_is_told() {
        for (segment, expected) in [
            ("desk/incoming", Sign::Slash),
            ("a%2fb/c", Sign::Slash),
            ("a%252Fb", Sign::EncodedSlash),
            ("a%5cb", Sign::Backslash),
            ("a\\b", Sign::Backslash),
            ("%2e.", Sign::Dots),
        ] {
            let error = check_segment(segment).unwrap_err();
            assert_eq!(error.sign, expected, "{segment}");
        }
        let error = check_segment("a\\b").unwrap_err().to_string();
        let expected = "'a\\b' cannot be a part of it: it holds '\\', which servers take for '/', and would lead to another resource";
        assert_eq!(error, expected);
    }

    #[test]
    fn urls_with_dots() {
        let rows = [
            ("/subscriptions/s/../x", true),
            ("https://a.test/subscriptions/s/%2e%2E/x?y", true),
            ("https://a.test/operations/a%2f..%2fb", true),
            ("https://a.test\\..\\b", true),
            ("https://a.test/operations/a%2Fb==?id=../x", false),
            ("/operations/1#/../x", false),
        ];
        for (url, expected) in rows {
            assert_eq!(has_dots(url), expected, "{url}");
        }
    }

    #[test]
    fn requests_are_in_the_subscription_in_their_path() {
        let rows = [
            (
                "/subscriptions/S-1/resourceGroups/g?api-version=1",
                Some("S-1"),
            ),
            ("https://arm.test/base/Subscriptions/s-1", Some("s-1")),
            ("/%73ubscriptions/s%2D1/x", Some("s-1")),
            ("//subscriptions/s-1", Some("s-1")),
            ("/subscriptions//providers/x", Some("")),
            ("/subscriptions", Some("")),
            ("/providers/Microsoft.Management/managementGroups/g", None),
            (
                "/providers/Microsoft.Management/managementGroups/g/subscriptions/s-1",
                None,
            ),
            ("/providers/x?next=/subscriptions/s-1", None),
            ("https://arm.test?next=/subscriptions/s-1", None),
        ];
        for (url, expected) in rows {
            assert_eq!(subscription_of(url).as_deref(), expected, "{url}");
        }
    }
}
