//! Certificates of the tests' own, and PKCS#12 files that OpenSSL wrote:
//! `openssl pkcs12 -export [-legacy] -inkey key.pem -in certificate.pem`.

use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use rcgen::{CertificateParams, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256, RsaKeySize};
use serde_json::Value;

use super::*;

const PASSWORD: &str = "tr0ub4dor";
const PBES1: &[u8] = include_bytes!("../testdata/pbes1.pfx");
const PBES2: &[u8] = include_bytes!("../testdata/pbes2.pfx");
const WITHOUT_PASSWORD: &[u8] = include_bytes!("../testdata/without-password.pfx");
/// Of the certificate in the three files.
const THUMBPRINT: &str = "f7Eo1bdam07yhYyDfgDYPycoOi0";

/// A certificate of 2026 and its key, both in PEM.
fn pem(key: &rcgen::KeyPair) -> (String, String) {
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.not_before = rcgen::date_time_ymd(2026, 1, 1);
    params.not_after = rcgen::date_time_ymd(2027, 1, 1);
    let certificate = params.self_signed(key).expect("a certificate");
    (certificate.pem(), key.serialize_pem())
}

fn rsa_key() -> rcgen::KeyPair {
    rcgen::KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).expect("a key")
}

fn now() -> Timestamp {
    "2026-06-01T12:00:00Z".parse().expect("a time")
}

fn part(jwt: &str, at: usize) -> Value {
    let part = jwt.split('.').nth(at).expect("three parts");
    let bytes = URL_SAFE_NO_PAD.decode(part).expect("base64");
    serde_json::from_slice(&bytes).expect("JSON")
}

#[test]
fn assertions_are_signed_by_the_key_of_the_certificate() {
    let key = rsa_key();
    let (certificate, private) = pem(&key);
    let (other, _) = pem(&rsa_key());
    // The certificate that belongs to the key is found among its issuers.
    let text = format!("{private}{other}{certificate}");
    for data in [text.clone(), STANDARD.encode(&text)] {
        let read = ClientCertificate::read(data.as_bytes(), None).expect("a certificate");
        let jwt = read.assertion("client", "https://login.test/t", true, now());
        let jwt = jwt.expect("an assertion");
        let (head, claims) = (part(&jwt, 0), part(&jwt, 1));
        assert_eq!(head["alg"], "RS256");
        assert_eq!(head["x5t"], read.thumbprint());
        assert_eq!(head["x5c"].as_array().map(Vec::len), Some(2));
        for (claim, expected) in [
            ("aud", "https://login.test/t"),
            ("iss", "client"),
            ("sub", "client"),
        ] {
            assert_eq!(claims[claim], expected, "{claim}");
        }
        assert_eq!(claims["nbf"], now().as_second());
        assert_eq!(claims["exp"], now().as_second() + 300);

        let (signed, signature) = jwt.rsplit_once('.').expect("a signature");
        let own = STANDARD.decode(head["x5c"][0].as_str().expect("text"));
        let own = own.expect("base64");
        let (_, own) = X509Certificate::from_der(&own).expect("a certificate");
        let public = &own.public_key().subject_public_key.data;
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public)
            .verify(
                signed.as_bytes(),
                &URL_SAFE_NO_PAD.decode(signature).expect("base64"),
            )
            .expect("a good signature");

        let short = read.assertion("client", "https://login.test/t", false, now());
        assert!(part(&short.expect("an assertion"), 0).get("x5c").is_none());
        assert_eq!(
            format!("{read:?}"),
            format!("ClientCertificate({})", read.thumbprint())
        );
    }
}

#[test]
fn pkcs12_is_read_old_and_new() {
    for (name, data, password) in [
        ("pbes1", PBES1.to_vec(), Some(PASSWORD)),
        ("pbes2", PBES2.to_vec(), Some(PASSWORD)),
        (
            "base64",
            STANDARD.encode(PBES2).into_bytes(),
            Some(PASSWORD),
        ),
        ("without password", WITHOUT_PASSWORD.to_vec(), None),
    ] {
        let read = ClientCertificate::read(&data, password);
        let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read.thumbprint(), THUMBPRINT, "{name}");
        let time = "2030-01-01T00:00:00Z".parse().expect("a time");
        read.assertion("c", "e", false, time)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn what_is_wrong_is_said() {
    let key = rsa_key();
    let (certificate, private) = pem(&key);
    let (_, other_key) = pem(&rsa_key());
    let curve = rcgen::KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key");
    let (curve_certificate, curve_key) = pem(&curve);
    let encrypted = private.replace("BEGIN PRIVATE", "BEGIN ENCRYPTED PRIVATE");
    let encrypted = encrypted.replace("END PRIVATE", "END ENCRYPTED PRIVATE");
    let text = |parts: &[&str]| parts.concat().into_bytes();
    for (data, password, expected) in [
        (
            text(&["not a certificate"]),
            None,
            "neither PEM nor PKCS#12",
        ),
        (
            text(&["bm90IGEgY2VydGlmaWNhdGU="]),
            None,
            "neither PEM nor PKCS#12",
        ),
        (
            PBES2[..500].to_vec(),
            Some(PASSWORD),
            "neither PEM nor PKCS#12",
        ),
        (text(&[&certificate]), None, "no private key"),
        (text(&[&private]), None, "no certificate"),
        (text(&[&certificate, &encrypted]), None, "encrypted PEM"),
        (
            text(&[&certificate, &other_key]),
            None,
            "none of its certificates",
        ),
        (text(&[&curve_certificate, &curve_key]), None, "no RSA key"),
        (PBES1.to_vec(), Some("wrong"), "does not open"),
        (PBES2.to_vec(), Some("wrong"), "does not open"),
        (PBES2.to_vec(), None, "does not open"),
    ] {
        let error = ClientCertificate::read(&data, password).expect_err(expected);
        let message = error.to_string();
        assert!(message.contains(expected), "{expected}: {message}");
        assert!(!message.contains("wrong"), "{message}");
    }

    let read = ClientCertificate::read((certificate + &private).as_bytes(), None);
    let read = read.expect("a certificate");
    for (time, expected) in [
        ("2025-12-31T00:00:00Z", "not valid before 2026-01-01"),
        ("2027-01-02T00:00:00Z", "expired at 2027-01-01"),
    ] {
        let error = read.assertion("c", "e", false, time.parse().expect("a time"));
        let error = error.expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}
