//! Secrets, and the search for them where people look: log, traces, metrics, events, objects.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use k8s_openapi::api::core::v1::Secret;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use regex::bytes::{Regex, RegexBuilder};

/// Shortest value that is told from other text. Tests give secrets longer ones ([`random_value`]); what is shorter fails
/// the test ([`Secrets::assert_hidden`]).
const SHORTEST: usize = 16;

/// Keys of Secrets whose values are no secrets: the words for a method, ids that stand in every ARM id and in messages about
/// credentials, the public halves of the webhook's certificates, which are written into CRDs, and times since when notes in
/// objects are signed.
const PUBLIC_KEYS: [&str; 9] = [
    "AUTH_MODE",
    "USE_WORKLOAD_IDENTITY_AUTH",
    "AZURE_SUBSCRIPTION_ID",
    "AZURE_TENANT_ID",
    "AZURE_CLIENT_ID",
    "ca.crt",
    "tls.crt",
    "signing-since",
    "all-signed-since",
];

/// Tokens of Entra ID and of service accounts, whoever got them.
const TOKEN: &str = r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.";

/// Something that people see, and its name.
pub struct Place {
    /// What it is.
    pub name: String,
    /// What stands there.
    pub text: Vec<u8>,
}

impl Place {
    /// A place of this name.
    pub fn new(name: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
        }
    }
}

/// A value for a Secret of a test: long, and like nothing else that is shown.
pub fn random_value() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// Secrets by the forms in which they may be written. Their values are never printed.
#[derive(Clone, Default)]
pub struct Secrets {
    owners: BTreeMap<Vec<u8>, String>,
    short: BTreeSet<String>,
}

impl Secrets {
    /// Adds a secret under a name.
    pub fn add(&mut self, owner: &str, value: &str) {
        // Line by line: a key in PEM may be cut or indented. Its last line may be short, and its first and last say what it
        // is; the others do for it.
        let lines = value.lines().map(str::trim);
        let long = lines.filter(|line| line.len() >= SHORTEST && !line.starts_with("-----"));
        let mut is_searched = false;
        for line in long {
            is_searched = true;
            for form in forms(line) {
                self.owners.insert(form, owner.to_owned());
            }
        }
        if !is_searched && !value.is_empty() {
            self.short.insert(owner.to_owned());
        }
    }

    /// Adds every value of a Secret but those that are for everybody to read.
    pub fn add_secret(&mut self, secret: &Secret) {
        let metadata = &secret.metadata;
        let [namespace, name] =
            [&metadata.namespace, &metadata.name].map(|part| part.as_deref().unwrap_or_default());
        for (key, value) in secret.data.iter().flatten() {
            let value = String::from_utf8_lossy(&value.0);
            if !PUBLIC_KEYS.contains(&key.as_str()) && !is_public(&value) {
                self.add(&format!("{namespace}/{name} key {key}"), &value);
            }
        }
    }

    /// Fails where a secret is shown, and where one of this namespace, or of any, is too short to be looked for.
    ///
    /// # Panics
    /// With the names of the secrets and places.
    pub fn assert_hidden(&self, places: &[Place], namespace: Option<&str>) {
        let short = self.too_short(namespace);
        assert!(
            short.is_empty(),
            "too short to be looked for, use `random_value`: {short:#?}"
        );
        let shown = self.search(places);
        assert!(shown.is_empty(), "secrets are shown: {shown:#?}");
    }

    fn too_short(&self, namespace: Option<&str>) -> Vec<&str> {
        let is_of = |owner: &&str| {
            namespace.is_none_or(|namespace| owner.split('/').next() == Some(namespace))
        };
        self.short
            .iter()
            .map(String::as_str)
            .filter(is_of)
            .collect()
    }

    /// Where which secret is shown: never the value, and nothing near it.
    pub fn search(&self, places: &[Place]) -> BTreeSet<String> {
        let literals = self.owners.keys().map(|form| literal(form));
        let pattern: Vec<String> = std::iter::once(TOKEN.to_owned()).chain(literals).collect();
        let pattern = RegexBuilder::new(&pattern.join("|"))
            .unicode(false)
            .size_limit(1 << 28)
            .build()
            .expect("forms are literals");
        let found = places.iter().flat_map(|place| self.find(&pattern, place));
        found.collect()
    }

    fn find(&self, pattern: &Regex, place: &Place) -> Vec<String> {
        let found = pattern.find_iter(&place.text);
        let owners = found.map(|found| {
            let owner = self.owners.get(found.as_bytes());
            owner.map_or("a token", String::as_str)
        });
        owners
            .map(|owner| format!("{}: {owner}", place.name))
            .collect()
    }
}

/// Ids and endpoints: they are in the resource's status, for everybody to read, and may be exported to a Secret too. A URL
/// with a query is not one of them: its signature is a secret.
fn is_public(value: &str) -> bool {
    let is_id = value.len() == 36 && uuid::Uuid::try_parse(value).is_ok();
    let is_endpoint = value.starts_with("https://") && !value.contains(['?', '#', '@']);
    is_id || is_endpoint
}

/// As it is, within JSON, within a URL, and in base64, also in the middle of something longer.
fn forms(value: &str) -> BTreeSet<Vec<u8>> {
    let json = serde_json::Value::from(value).to_string();
    let mut forms = BTreeSet::from([
        value.to_owned(),
        json[1..json.len() - 1].to_owned(),
        utf8_percent_encode(value, NON_ALPHANUMERIC).to_string(),
    ]);
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(value.as_bytes());
        // Characters that hold bits of the neighbours are left out.
        let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        for engine in [STANDARD, URL_SAFE] {
            forms.insert(engine.encode(&bytes)[start..end].to_owned());
        }
    }
    forms.into_iter().map(String::into_bytes).collect()
}

/// A pattern for exactly these bytes.
fn literal(bytes: &[u8]) -> String {
    regex::escape(&String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = "p+ss/\"word\" of 17";

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        secrets.add("team/one", VALUE);
        secrets.add(
            "team/pem",
            "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nkqhkiG9w0BAQEFAA\nAAE=\n-----END KEY-----\n",
        );
        secrets
    }

    fn leaks(text: &str) -> Vec<String> {
        let found = secrets().search(&[Place::new("log", text)]);
        found.into_iter().collect()
    }

    #[test]
    fn a_secret_is_found_in_every_form() {
        for text in [
            format!("password={VALUE}."),
            serde_json::json!({ "password": VALUE }).to_string(),
            format!("{:?}", Some(VALUE)),
            format!("/path?p={}", utf8_percent_encode(VALUE, NON_ALPHANUMERIC)),
            STANDARD.encode(VALUE),
            STANDARD.encode(format!("client:{VALUE}")),
            STANDARD.encode(format!("id:{VALUE}\n")),
            URL_SAFE.encode(format!("{VALUE} and more")),
        ] {
            assert_eq!(leaks(&text), ["log: team/one"], "{text}");
        }
    }

    #[test]
    fn a_line_of_a_key_and_any_token_are_found() {
        assert_eq!(leaks("  kqhkiG9w0BAQEFAA\n"), ["log: team/pem"]);
        let token = "Bearer eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJhIn0x.c2lnbmF0dXJl";
        assert_eq!(leaks(token), ["log: a token"]);
        assert_eq!(leaks("-----BEGIN KEY----- p+ss word eyJ.eyJ."), [""; 0]);
    }

    #[test]
    fn what_counts_as_a_secret() {
        let secret = serde_json::json!({
            "metadata": {"namespace": "team", "name": "s"},
            "stringData": {},
            "data": {
                "AZURE_CLIENT_ID": STANDARD.encode("client of the team"),
                "id": STANDARD.encode("00000000-0000-0000-0000-000000000001"),
                "blob": STANDARD.encode("https://a.blob.core.windows.net/"),
                "signed": STANDARD.encode("https://a.blob.core.windows.net/?sig=1"),
                "key": STANDARD.encode("a long enough key"),
                "pin": STANDARD.encode("1234"),
                "none": "",
            },
        });
        let mut secrets = Secrets::default();
        secrets.add_secret(&serde_json::from_value(secret).expect("a Secret"));
        assert_eq!(secrets.too_short(Some("team")), ["team/s key pin"]);
        assert_eq!(secrets.too_short(None), ["team/s key pin"]);
        assert_eq!(secrets.too_short(Some("other")), [""; 0]);
        let shown = "client of the team 00000000-0000-0000-0000-000000000001 \
                     https://a.blob.core.windows.net/?sig=1 a long enough key";
        let found = secrets.search(&[Place::new("log", shown)]);
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            ["log: team/s key key", "log: team/s key signed"]
        );
    }
}
