//! Files that ask for more than one may take, wherever they say so; files that OpenSSL wrote are read in the tests of certificates.

use der::Any;
use pkcs12::cms::content_info::CmsVersion;
use pkcs12::cms::enveloped_data::EncryptedContentInfo;
use pkcs12::pfx::Version;
use pkcs12::safe_bag::SafeBag;
use pkcs12::{DigestInfo, PKCS_12_PKCS8_KEY_BAG_OID};

use super::*;

const PASSWORD: &str = "x";

fn octets(bytes: &[u8]) -> OctetString {
    OctetString::new(bytes).expect("octets")
}

fn any(value: &impl Encode) -> Any {
    Any::from_der(&value.to_der().expect("DER")).expect("a value")
}

/// PBES2 by PBKDF2.
fn pbkdf2(iterations: u32) -> pbes2::Parameters {
    let parameters = pbes2::Parameters::generate_pbkdf2_sha256_aes256cbc(1, &[7; 16], [7; 16]);
    let mut parameters = parameters.expect("parameters");
    if let pbes2::Kdf::Pbkdf2(kdf) = &mut parameters.kdf {
        kdf.iteration_count = iterations;
    }
    parameters
}

/// PBES2 by scrypt, with N, r and p.
fn scrypt(n: u64, r: u16, p: u16) -> pbes2::Parameters {
    let kdf = pbes2::ScryptParams {
        salt: pbes2::Salt::new([7; 16]).expect("a salt"),
        cost_parameter: n,
        block_size: r,
        parallelization: p,
        key_length: None,
    };
    pbes2::Parameters {
        kdf: kdf.into(),
        ..pbkdf2(1)
    }
}

fn algorithm(parameters: &pbes2::Parameters) -> AlgorithmIdentifierOwned {
    AlgorithmIdentifierOwned {
        oid: pbes2::PBES2_OID,
        parameters: Some(any(parameters)),
    }
}

/// A bag with a key that is encrypted so. What it says is all that counts.
fn key_bag(parameters: &pbes2::Parameters) -> SafeBag {
    let key = EncryptedPrivateKeyInfo {
        encryption_algorithm: algorithm(parameters),
        encrypted_data: octets(&[7; 32]),
    };
    SafeBag {
        bag_id: PKCS_12_PKCS8_KEY_BAG_OID,
        bag_value: key.to_der().expect("DER"),
        bag_attributes: None,
    }
}

/// A safe that anybody reads.
fn open_safe(bags: Vec<SafeBag>) -> ContentInfo {
    ContentInfo {
        content_type: DATA,
        content: any(&octets(&bags.to_der().expect("DER"))),
    }
}

/// A safe that is encrypted so.
fn safe(parameters: &pbes2::Parameters, text: &[u8]) -> ContentInfo {
    let data = EncryptedData {
        version: CmsVersion::V0,
        enc_content_info: EncryptedContentInfo {
            content_type: DATA,
            content_enc_alg: algorithm(parameters),
            encrypted_content: Some(octets(text)),
        },
        unprotected_attrs: None,
    };
    ContentInfo {
        content_type: ENCRYPTED_DATA,
        content: any(&data),
    }
}

/// A safe within which a key is encrypted so; it is opened in no time itself.
fn safe_around(parameters: &pbes2::Parameters) -> ContentInfo {
    let outer = pbkdf2(1);
    let bags = vec![key_bag(parameters)].to_der().expect("DER");
    let text = outer.encrypt(PASSWORD.as_bytes(), &bags);
    safe(&outer, &text.expect("a text"))
}

fn file(safes: Vec<ContentInfo>, mac: Option<i32>) -> Vec<u8> {
    let mac = mac.map(|iterations| MacData {
        mac: DigestInfo {
            algorithm: AlgorithmIdentifierOwned {
                oid: SHA256,
                parameters: None,
            },
            digest: octets(&[7; 32]),
        },
        mac_salt: octets(&[7; 8]),
        iterations,
    });
    let pfx = Pfx {
        version: Version::V3,
        auth_safe: ContentInfo {
            content_type: DATA,
            content: any(&octets(&safes.to_der().expect("DER"))),
        },
        mac_data: mac,
    };
    pfx.to_der().expect("DER")
}

fn old(iterations: i32) -> ContentInfo {
    let parameters = Pkcs12PbeParams {
        salt: octets(&[7; 8]),
        iterations,
    };
    let mut safe = safe(&pbkdf2(1), &[7; 32]);
    let mut data = safe
        .content
        .decode_as::<EncryptedData>()
        .expect("encrypted data");
    data.enc_content_info.content_enc_alg = AlgorithmIdentifierOwned {
        oid: PKCS_12_PBE_WITH_SHAAND3_KEY_TRIPLE_DES_CBC,
        parameters: Some(any(&parameters)),
    };
    safe.content = any(&data);
    safe
}

/// What each file of the table asks for would take minutes, or a gigabyte: none of it is computed.
#[test]
fn what_a_file_asks_for_is_counted_before_it_is_done() {
    let gibibyte = scrypt(1 << 20, 8, 1);
    for (what, safes, mac) in [
        ("a check of the password", vec![], Some(i32::MAX)),
        (
            "a safe by PBKDF2",
            vec![safe(&pbkdf2(100_000_000), &[7; 32])],
            None,
        ),
        ("a safe by PBES1", vec![old(i32::MAX)], None),
        ("a safe by scrypt", vec![safe(&gibibyte, &[7; 32])], None),
        ("a key", vec![open_safe(vec![key_bag(&gibibyte)])], None),
        ("a key within a safe", vec![safe_around(&gibibyte)], None),
        (
            "many lanes",
            vec![safe(&scrypt(1 << 14, 8, u16::MAX), &[7; 32])],
            None,
        ),
        (
            "wide lanes",
            vec![safe(&scrypt(2, u16::MAX, u16::MAX), &[7; 32])],
            None,
        ),
        (
            "beyond counting",
            vec![safe(&scrypt(u64::MAX, u16::MAX, 1), &[7; 32])],
            None,
        ),
    ] {
        let found = Archive::open(&file(safes, mac), PASSWORD).err();
        let is_refused = matches!(found, Some(Pkcs12Error::TooCostly(_)));
        assert!(is_refused, "{what}: {found:?}");
    }
}

#[test]
fn an_allowance_is_for_all_parts_together() {
    let mut left = Allowance::default();
    for _ in 0..3 {
        left.iterate(600_000).expect("as OWASP advises");
    }
    assert!(left.iterate(600_000).is_err());
    let openssl = |left: &mut Allowance| match scrypt(1 << 14, 8, 1).kdf {
        pbes2::Kdf::Scrypt(parameters) => left.scrypt(&parameters),
        _ => unreachable!("it is scrypt"),
    };
    for _ in 0..8 {
        openssl(&mut left).expect("16 MiB each");
    }
    assert!(openssl(&mut left).is_err());
}

#[test]
fn another_password_opens_nothing() {
    let made = pbkdf2(1).encrypt(b"y", b"0123456789abcdef");
    let text = made.expect("a text");
    let found = Archive::open(&file(vec![safe(&pbkdf2(1), &text)], None), PASSWORD);
    assert_eq!(found.err(), Some(Pkcs12Error::Password));
    let found = Archive::open(&file(vec![], Some(1)), PASSWORD);
    assert_eq!(found.err(), Some(Pkcs12Error::Password));
}
