//! Who may sign in: the proof that a client sends to the token endpoint, checked as Entra ID checks it.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde_json::Value;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::json;
use crate::options::{Client, Federation, Settings};

/// Clocks of clients may differ by this much.
const SKEW: SignedDuration = SignedDuration::from_mins(5);

/// OAuth error, AADSTS code and message.
pub type Refusal = (&'static str, u32, String);

/// A request for a token, as far as it says who asks.
pub struct Proof<'a> {
    /// `client_id`.
    pub client: &'a str,
    /// `client_secret`.
    pub secret: Option<&'a str>,
    /// `client_assertion`.
    pub assertion: Option<&'a str>,
    /// URL that the request was sent to.
    pub endpoint: String,
}

/// Checks the proof. What is not known of a client is not checked.
pub fn check(settings: &Settings, proof: &Proof<'_>, now: Timestamp) -> Result<(), Refusal> {
    let client = proof.client;
    let Ok(known) = settings.client(client) else {
        let message =
            format!("Application with identifier '{client}' was not found in the directory.");
        return Err(("unauthorized_client", 700_016, message));
    };
    match (proof.secret, proof.assertion) {
        (Some(secret), _) => {
            if known.is_none_or(|known| known.secret.as_deref() == Some(secret)) {
                return Ok(());
            }
            let message = format!("Invalid client secret provided for app '{client}'.");
            Err(invalid(7_000_215, &message))
        }
        (None, Some(assertion)) => check_assertion(assertion, known, proof, now),
        (None, None) => Err(invalid(
            7_000_218,
            "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
        )),
    }
}

fn invalid(code: u32, message: &str) -> Refusal {
    ("invalid_client", code, message.to_owned())
}

fn malformed() -> Refusal {
    invalid(50_027, "Client assertion is not a valid JSON web token.")
}

/// A JSON web token and its parts (RFC 7519).
struct Assertion<'a> {
    head: Value,
    claims: Value,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Assertion<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (head, claims) = signed.split_once('.')?;
        Some(Self {
            head: part(head)?,
            claims: part(claims)?,
            signed,
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }

    fn claim(&self, name: &str) -> &str {
        json::text(&self.claims, &[name]).unwrap_or_default()
    }

    /// Entra ID takes no other algorithm.
    fn is_rs256(&self) -> bool {
        self.head["alg"] == "RS256"
    }

    fn check_time(&self, now: Timestamp) -> Result<(), Refusal> {
        let time = |name: &str| Timestamp::from_second(self.claims[name].as_i64()?).ok();
        let is_current = time("nbf").is_some_and(|start| start <= now + SKEW)
            && time("exp").is_some_and(|end| end > now - SKEW);
        match is_current {
            true => Ok(()),
            false => Err(invalid(
                700_024,
                "Client assertion is not within its valid time range.",
            )),
        }
    }
}

fn unsigned() -> Refusal {
    invalid(700_027, "Client assertion failed signature validation.")
}

fn check_assertion(
    text: &str,
    known: Option<&Client>,
    proof: &Proof<'_>,
    now: Timestamp,
) -> Result<(), Refusal> {
    let known = known.filter(|known| known.certificate.is_some() || !known.federated.is_empty());
    let Some(known) = known else {
        return match text.split('.').count() {
            3 => Ok(()),
            _ => Err(malformed()),
        };
    };
    let assertion = Assertion::parse(text).ok_or_else(malformed)?;
    match &known.certificate {
        Some(pem) if known.federated.is_empty() || assertion.claim("iss") == proof.client => {
            check_certified(&assertion, pem, proof)?;
        }
        _ => check_federated(&assertion, &known.federated)?,
    }
    assertion.check_time(now)
}

/// An assertion that the key of the client's certificate signed (RFC 7523).
fn check_certified(assertion: &Assertion<'_>, pem: &str, proof: &Proof<'_>) -> Result<(), Refusal> {
    let unknown = || {
        invalid(
            700_027,
            "The certificate with identifier used to sign the client assertion is not registered on application.",
        )
    };
    let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| unknown())?;
    let expected = digest(&SHA1_FOR_LEGACY_USE_ONLY, &certificate);
    if thumbprint(&assertion.head).as_deref() != Some(expected.as_ref()) {
        return Err(unknown());
    }
    let (_, certificate) = X509Certificate::from_der(&certificate).map_err(|_| unknown())?;
    let key = &certificate.public_key().subject_public_key.data;
    let verified = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key)
        .verify(assertion.signed.as_bytes(), &assertion.signature);
    if !assertion.is_rs256() || verified.is_err() {
        return Err(unsigned());
    }
    if ["iss", "sub"].map(|name| assertion.claim(name)) != [proof.client; 2] {
        let message = "The 'iss' and 'sub' of the client assertion must be the client.";
        return Err(invalid(700_030, message));
    }
    if assertion.claim("aud") != proof.endpoint {
        let message = "Client assertion audience claim does not match Realm issuer.";
        return Err(invalid(700_023, message));
    }
    Ok(())
}

/// The token of somebody else whom the client trusts. A refusal names what no trusted one has.
fn check_federated(assertion: &Assertion<'_>, trusted: &[Federation]) -> Result<(), Refusal> {
    let audiences: Vec<&str> = match &assertion.claims["aud"] {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let mut left: Vec<&Federation> = trusted.iter().collect();
    let mut narrow = |what: &str, code, fits: &dyn Fn(&Federation) -> bool, found: &str| {
        left.retain(|federation| fits(federation));
        match left.first() {
            Some(first) => Ok(*first),
            None => Err(invalid(
                code,
                &format!(
                    "No matching federated identity record found for presented assertion {what} '{found}'."
                ),
            )),
        }
    };
    let (issuer, subject) = (assertion.claim("iss"), assertion.claim("sub"));
    narrow("issuer", 700_211, &|one| one.issuer == issuer, issuer)?;
    narrow("subject", 700_213, &|one| one.subject == subject, subject)?;
    let is_audience = |one: &Federation| audiences.contains(&one.audience.as_str());
    let federation = narrow("audience", 700_212, &is_audience, &audiences.join(" "))?;
    match assertion.is_rs256() && is_signed_by(assertion, &federation.keys) {
        true => Ok(()),
        false => Err(unsigned()),
    }
}

/// Whether the key that the assertion names is in the set and signed it.
fn is_signed_by(assertion: &Assertion<'_>, keys: &str) -> bool {
    let keys: Value = serde_json::from_str(keys).unwrap_or_default();
    let mut keys = keys["keys"].as_array().into_iter().flatten();
    let named = keys.find(|key| key["kid"] == assertion.head["kid"]);
    let number = |name| URL_SAFE_NO_PAD.decode(named?[name].as_str()?).ok();
    let (Some(n), Some(e)) = (number("n"), number("e")) else {
        return false;
    };
    RsaPublicKeyComponents { n, e }
        .verify(
            &RSA_PKCS1_2048_8192_SHA256,
            assertion.signed.as_bytes(),
            &assertion.signature,
        )
        .is_ok()
}

fn part(text: &str) -> Option<Value> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

/// The SHA-1 in the header. Clients write it in either form of base64.
fn thumbprint(head: &Value) -> Option<Vec<u8>> {
    let text = head["x5t"].as_str()?;
    let decoded = URL_SAFE_NO_PAD.decode(text);
    decoded.or_else(|_| STANDARD.decode(text)).ok()
}

#[cfg(test)]
mod tests {
    use rcgen::{KeyPair, PublicKeyData, SigningKey};
    use serde_json::json;
    use x509_parser::prelude::SubjectPublicKeyInfo;
    use x509_parser::public_key::PublicKey;

    use super::*;

    const ISSUER: &str = "https://cluster.test";
    const SUBJECT: &str = "system:serviceaccount:team:operator";

    fn key() -> KeyPair {
        KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048).expect("a key")
    }

    fn published(key: &KeyPair) -> String {
        let public = key.subject_public_key_info();
        let (_, public) = SubjectPublicKeyInfo::from_der(&public).expect("a public key");
        let PublicKey::RSA(public) = public.parsed().expect("its numbers") else {
            panic!("not RSA");
        };
        let number = |bytes: &[u8]| {
            let start = bytes.iter().take_while(|byte| **byte == 0).count();
            URL_SAFE_NO_PAD.encode(&bytes[start..])
        };
        let (n, e) = (number(public.modulus), number(public.exponent));
        json!({"keys": [{"kty": "RSA", "kid": "k", "n": n, "e": e}]}).to_string()
    }

    fn token(key: &KeyPair, changed: &Value) -> String {
        let mut claims = json!({
            "iss": ISSUER,
            "sub": SUBJECT,
            "aud": ["api://AzureADTokenExchange"],
            "nbf": 1_000_000,
            "exp": 1_003_600,
        });
        for (name, value) in changed.as_object().into_iter().flatten() {
            claims[name] = value.clone();
        }
        let head = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256","kid":"k"}"#);
        let signed = format!("{head}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
        let signature = key.sign(signed.as_bytes()).expect("a signature");
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// AADSTS code of the refusal of an assertion.
    fn refusal(client: Client, assertion: &str) -> Option<u32> {
        let proof = Proof {
            client: "app",
            secret: None,
            assertion: Some(assertion),
            endpoint: "https://login.test/tenant/oauth2/v2.0/token".into(),
        };
        let settings = Settings {
            clients: vec![client],
            ..Settings::default()
        };
        let now = Timestamp::from_second(1_000_100).expect("a time");
        check(&settings, &proof, now).err().map(|(_, code, _)| code)
    }

    #[test]
    fn tokens_of_others_are_taken_from_whom_the_client_trusts() {
        let (trusted, other) = (key(), key());
        let client = || Client {
            id: "app".into(),
            federated: vec![
                Federation::new("https://another.test", "x", ""),
                Federation::new(ISSUER, SUBJECT, &published(&trusted)),
            ],
            ..Client::default()
        };
        for (changed, expected) in [
            (json!({}), None),
            (json!({"aud": "api://AzureADTokenExchange"}), None),
            (json!({"iss": "https://stranger.test"}), Some(700_211)),
            (json!({"sub": "x"}), Some(700_213)),
            (json!({"aud": ["api"]}), Some(700_212)),
            (json!({"exp": 999_000}), Some(700_024)),
        ] {
            let found = refusal(client(), &token(&trusted, &changed));
            assert_eq!(found, expected, "{changed}");
        }
        let forged = token(&other, &json!({}));
        assert_eq!(refusal(client(), &forged), Some(700_027));
        assert_eq!(refusal(client(), "header.claims.signature"), Some(50_027));
    }
}
