//! What of a value is secret: names of settings, hosts and words that stand in every error are not, and covering them would make
//! errors unreadable.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use url::form_urlencoded;

/// How often one value may be written within another: a URL in a connection string in JSON.
const DEPTH: usize = 4;
/// Beginnings of ids.
const IDS: [&str; 2] = ["/subscriptions/", "/providers/"];
/// Bytes of the longest id.
pub(super) const LONGEST_ID: usize = 1 << 10;
/// Bytes of the longest name of a setting.
const LONGEST_NAME: usize = 64;
/// What the names of secret settings have in them.
const SECRET_NAMES: [&str; 6] = ["key", "pass", "pwd", "secret", "token", "sig"];
/// Settings that say where something is or how it is used, in lower case and without blanks.
const PUBLIC_NAMES: [&str; 34] = [
    "accountname",
    "apiversion",
    "applicationname",
    "authmechanism",
    "connectiontimeout",
    "connecttimeout",
    "database",
    "dbname",
    "defaultendpointsprotocol",
    "encrypt",
    "endpoint",
    "endpointsuffix",
    "entitypath",
    "host",
    "hostname",
    "initialcatalog",
    "keyname",
    "kind",
    "maxpoolsize",
    "multipleactiveresultsets",
    "name",
    "persistsecurityinfo",
    "port",
    "protocol",
    "region",
    "retrywrites",
    "server",
    "sharedaccesskeyname",
    "sharedaccesspolicyname",
    "ssl",
    "sslmode",
    "trustservercertificate",
    "type",
    "version",
];

/// What a query that is signed says beside its signature (shared access signatures of Azure Storage).
const SIGNED_NAMES: [&str; 10] = [
    "se", "sip", "skn", "sp", "spr", "sr", "srt", "ss", "st", "sv",
];

/// A part of a value that must not be shown.
pub(super) enum SecretPart<'p> {
    /// An id, which has much in common with others: only the whole of it.
    Id(&'p str),
    /// A text, and what is quoted of it.
    Text(&'p str),
}

/// Starts of ids in a text.
pub(super) fn begins_id(text: &[u8]) -> bool {
    IDS.iter().any(|known| text.starts_with(known.as_bytes()))
}

/// Tells the secret parts of a value, in time that grows as it does.
pub(super) fn each(value: &str, tell: &mut dyn FnMut(SecretPart<'_>)) {
    within(value, DEPTH, tell);
}

fn within(value: &str, depth: usize, tell: &mut dyn FnMut(SecretPart<'_>)) {
    let value = value.trim();
    if value.is_empty() {
        return;
    }
    if is_id(value) {
        return tell(SecretPart::Id(value));
    }
    let is_told = depth > 0
        && (json(value, depth - 1, tell)
            || lines(value, depth - 1, tell)
            || connection(value, depth - 1, tell)
            || url(value, depth - 1, tell));
    if !is_told {
        tell(SecretPart::Text(value));
    }
}

fn is_id(value: &str) -> bool {
    begins_id(value.as_bytes())
        && value.len() <= LONGEST_ID
        && !value.contains(|sign: char| sign.is_whitespace() || sign.is_control())
}

/// Of an object or a list of JSON all texts and numbers, and no names.
fn json(value: &str, depth: usize, tell: &mut dyn FnMut(SecretPart<'_>)) -> bool {
    if !value.starts_with(['{', '[']) {
        return false;
    }
    let mut reader = serde_json::Deserializer::from_str(value);
    let read = Leaves { depth, tell }.deserialize(&mut reader);
    read.is_ok() && reader.end().is_ok()
}

struct Leaves<'t> {
    depth: usize,
    tell: &'t mut dyn FnMut(SecretPart<'_>),
}

impl<'de> DeserializeSeed<'de> for Leaves<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Leaves<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        within(text, self.depth, self.tell);
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.visit_str(&number.to_string())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { depth, tell } = self;
        loop {
            let tell = &mut *tell;
            if items.next_element_seed(Leaves { depth, tell })?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { depth, tell } = self;
        while members.next_key::<IgnoredAny>()?.is_some() {
            let tell = &mut *tell;
            members.next_value_seed(Leaves { depth, tell })?;
        }
        Ok(())
    }
}

/// A file of settings, as YAML or `.env`: what stands behind the names, and lines that are no settings.
fn lines(value: &str, depth: usize, tell: &mut dyn FnMut(SecretPart<'_>)) -> bool {
    let settings = value.lines().filter(|line| setting(line).is_some());
    if settings.take(2).count() < 2 {
        return false;
    }
    // Lines that are no settings are told as one text.
    let mut text = (0, 0);
    for line in value.split_inclusive('\n') {
        let end = text.1 + line.len();
        if let Some((name, value_of)) = setting(line) {
            tell_text(&value[text.0..text.1], tell);
            half(name, value_of, depth, tell);
            text = (end, end);
        } else {
            text.1 = end;
        }
    }
    tell_text(&value[text.0..], tell);
    true
}

fn tell_text(text: &str, tell: &mut dyn FnMut(SecretPart<'_>)) {
    if !text.trim().is_empty() {
        tell(SecretPart::Text(text.trim()));
    }
}

/// `NAME: VALUE`, `NAME:` or `NAME=VALUE` of a line.
fn setting(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("- ").unwrap_or(line);
    let end = line.find(|sign: char| !(sign.is_ascii_alphanumeric() || "_.-/".contains(sign)))?;
    let (name, rest) = line.split_at(end);
    let value = match rest.strip_prefix(':') {
        Some(value) if value.is_empty() || value.starts_with(' ') => value,
        Some(_) => return None,
        // The last line of base64 ends with this sign.
        None => {
            let value = rest.trim_start().strip_prefix('=')?;
            let is_value = !value.trim_matches(['=', ' ']).is_empty();
            is_value.then_some(value)?
        }
    };
    let value = value.trim().trim_matches(['"', '\'']);
    is_name(name).then_some((name, value))
}

fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME && name.starts_with(|sign: char| sign.is_ascii_alphabetic())
}

/// A connection string, or a query: what stands behind the names, if one of these is a secret's.
fn connection(value: &str, depth: usize, tell: &mut dyn FnMut(SecretPart<'_>)) -> bool {
    [';', '&', ',', ' '].iter().any(|separator| {
        let Some((address, pairs)) = pairs(value, *separator) else {
            return false;
        };
        if let Some(address) = address
            && !url(address, depth, tell)
            && !is_host(address)
        {
            tell_text(address, tell);
        }
        for (name, value) in pairs {
            match *separator {
                '&' if SIGNED_NAMES.contains(&name) => {}
                '&' => {
                    half(name, value, depth, tell);
                    decoded(name, value, depth, tell);
                }
                _ => half(name, value, depth, tell),
            }
        }
        true
    })
}

/// An address, and names with what stands behind each.
type Pairs<'v> = (Option<&'v str>, Vec<(&'v str, &'v str)>);

/// `NAME=VALUE;NAME=VALUE`, at least two, maybe behind an address.
fn pairs(value: &str, separator: char) -> Option<Pairs<'_>> {
    let value = value.strip_prefix('?').unwrap_or(value);
    let mut parts = value
        .split(separator)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .peekable();
    let address = parts.next_if(|part| is_address(part));
    let mut all = Vec::new();
    for part in parts {
        let (name, value) = part.split_once('=')?;
        let is_letter = |sign: char| sign.is_ascii_alphanumeric() || "_.- ".contains(sign);
        if !is_name(name) || !name.chars().all(is_letter) {
            return None;
        }
        all.push((name.trim(), value.trim()));
    }
    let is_one = all.len() + usize::from(address.is_some()) > 1
        && all.iter().any(|(name, _)| is_secret(name));
    is_one.then_some((address, all))
}

/// `https://host/path`, or `host:6380`.
fn is_address(part: &str) -> bool {
    let port = part.rsplit_once(':').map(|(_, port)| port);
    let is_port =
        port.is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    scheme(part).is_some() || is_port && !part.contains(['=', '@'])
}

/// What stands behind a name.
fn half(name: &str, value: &str, depth: usize, tell: &mut dyn FnMut(SecretPart<'_>)) {
    if !is_public(name) {
        within(value, depth, tell);
    }
}

/// What stands behind a name in a query, as it reads.
fn decoded(name: &str, value: &str, depth: usize, tell: &mut dyn FnMut(SecretPart<'_>)) {
    if value.contains(['%', '+']) {
        let text = format!("v={value}");
        for (_, text) in form_urlencoded::parse(text.as_bytes()) {
            half(name, &text, depth, tell);
        }
    }
}

fn bare(name: &str) -> String {
    name.to_ascii_lowercase().replace([' ', '_', '-'], "")
}

fn is_public(name: &str) -> bool {
    PUBLIC_NAMES.contains(&bare(name).as_str())
}

fn is_secret(name: &str) -> bool {
    let name = bare(name);
    SECRET_NAMES.iter().any(|known| name.contains(known)) && !PUBLIC_NAMES.contains(&name.as_str())
}

/// The scheme of a URL and what follows.
fn scheme(value: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = value.split_once("://")?;
    let is_scheme = scheme.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && scheme.len() <= LONGEST_NAME
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+.-:".contains(&byte));
    is_scheme.then_some((scheme, rest))
}

/// Whether a text is made as a full name or an address of a host is, maybe with a port.
fn is_host(text: &str) -> bool {
    let (host, port) = text.rsplit_once(':').unwrap_or((text, ""));
    let is_bracketed = text.starts_with('[') && text.contains(']');
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    is_bracketed
        || port.bytes().all(|byte| byte.is_ascii_digit())
            && host.bytes().all(is_letter)
            && (host.contains('.') || host == "localhost")
}

/// A URL: who signs in, the path and the query, but no host.
fn url(value: &str, depth: usize, tell: &mut dyn FnMut(SecretPart<'_>)) -> bool {
    let Some((_, rest)) = scheme(value) else {
        return false;
    };
    if rest.contains(char::is_whitespace) {
        return false;
    }
    // Passwords have signs that belong to paths, too, and paths have this sign: both readings are told.
    let (signs_in, place) = rest.rsplit_once('@').unwrap_or(("", rest));
    for text in signs_in.splitn(2, ':') {
        tell_text(text, tell);
        decoded("", text, 0, tell);
    }
    located(place, depth, tell);
    if signs_in.contains(['/', '?', '#']) {
        located(rest, depth, tell);
    }
    true
}

/// Of `host/path?query` the path and the query, and what is not made like a host.
fn located(place: &str, depth: usize, tell: &mut dyn FnMut(SecretPart<'_>)) {
    let end = place.find(['/', '?', '#']).unwrap_or(place.len());
    let (hosts, rest) = place.split_at(end);
    for host in hosts.split(',').filter(|host| !is_host(host)) {
        tell_text(host, tell);
    }
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let is_single = || {
        let pair = query
            .split_once('=')
            .filter(|(_, value)| !value.contains('&'));
        pair.filter(|(name, _)| is_secret(name))
    };
    if let Some((name, value)) = is_single() {
        half(name, value, depth, tell);
        decoded(name, value, depth, tell);
        tell_text(path.trim_matches('/'), tell);
    } else if connection(query, depth, tell) {
        tell_text(path.trim_matches('/'), tell);
    } else {
        tell_text(rest.trim_start_matches('/'), tell);
    }
}
