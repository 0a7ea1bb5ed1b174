//! Who may sign in: the proof that a client sends to the token endpoint, checked as Entra ID checks it.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde_json::Value;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::json;
use crate::options::{Client, Settings};

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

/// Checks the proof. Without configured clients, every client with any secret or assertion may sign in.
pub fn check(settings: &Settings, proof: &Proof<'_>, now: Timestamp) -> Result<(), Refusal> {
    let client = proof.client;
    let known = settings
        .clients
        .iter()
        .find(|known| known.id.eq_ignore_ascii_case(client));
    if known.is_none() && !settings.clients.is_empty() {
        let message =
            format!("Application with identifier '{client}' was not found in the directory.");
        return Err(("unauthorized_client", 700_016, message));
    }
    match (proof.secret, proof.assertion) {
        (Some(secret), _) => {
            if known.is_none_or(|known| known.secret.as_deref() == Some(secret)) {
                return Ok(());
            }
            let message = format!("Invalid client secret provided for app '{client}'.");
            Err(invalid(7_000_215, &message))
        }
        (None, Some(assertion)) => match known {
            Some(Client {
                certificate: Some(pem),
                ..
            }) => check_assertion(assertion, pem, proof, now),
            // A federated token, whose issuer nobody here knows.
            _ if assertion.split('.').count() == 3 => Ok(()),
            _ => Err(invalid(
                50_027,
                "Client assertion is not a valid JSON web token.",
            )),
        },
        (None, None) => Err(invalid(
            7_000_218,
            "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
        )),
    }
}

fn invalid(code: u32, message: &str) -> Refusal {
    ("invalid_client", code, message.to_owned())
}

/// An assertion that the key of the client's certificate signed (RFC 7523).
fn check_assertion(
    assertion: &str,
    pem: &str,
    proof: &Proof<'_>,
    now: Timestamp,
) -> Result<(), Refusal> {
    let malformed = || invalid(50_027, "Client assertion is not a valid JSON web token.");
    let unknown = || {
        invalid(
            700_027,
            "The certificate with identifier used to sign the client assertion is not registered on application.",
        )
    };
    let (signed, signature) = assertion.rsplit_once('.').ok_or_else(malformed)?;
    let (head, claims) = signed.split_once('.').ok_or_else(malformed)?;
    let (head, claims) = (
        part(head).ok_or_else(malformed)?,
        part(claims).ok_or_else(malformed)?,
    );
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| malformed())?;
    let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| unknown())?;
    if thumbprint(&head).as_deref()
        != Some(digest(&SHA1_FOR_LEGACY_USE_ONLY, &certificate).as_ref())
    {
        return Err(unknown());
    }
    let (_, certificate) = X509Certificate::from_der(&certificate).map_err(|_| unknown())?;
    let key = &certificate.public_key().subject_public_key.data;
    let good = head["alg"] == "RS256"
        && UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key)
            .verify(signed.as_bytes(), &signature)
            .is_ok();
    if !good {
        let message = "Client assertion failed signature validation.";
        return Err(invalid(700_027, message));
    }
    let claim = |name| json::text(&claims, &[name]).unwrap_or_default();
    if claim("iss") != proof.client || claim("sub") != proof.client {
        let message = "The 'iss' and 'sub' of the client assertion must be the client.";
        return Err(invalid(700_030, message));
    }
    if claim("aud") != proof.endpoint {
        let message = "Client assertion audience claim does not match Realm issuer.";
        return Err(invalid(700_023, message));
    }
    let time = |name: &str| Timestamp::from_second(claims[name].as_i64()?).ok();
    let current = time("nbf").is_some_and(|start| start <= now + SKEW)
        && time("exp").is_some_and(|end| end > now - SKEW);
    if !current {
        let message = "Client assertion is not within its valid time range.";
        return Err(invalid(700_024, message));
    }
    Ok(())
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
