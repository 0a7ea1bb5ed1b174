//! PKCS#12 files (RFC 7292), as far as a client certificate needs them: certificates and private keys, old (PBES1) and new (PBES2).
//!
//! Opening one takes as much time and memory as whoever wrote it wished: each part says by which function, and how often, its key is
//! derived from the password. So every such word is counted before it is followed, against one allowance for all of a file, also where
//! it is found within a part that was encrypted itself.

use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, KeyInit, KeyIvInit};
use der::asn1::{ContextSpecific, ObjectIdentifier, OctetString};
use der::{Decode, Encode};
use hmac::digest::common::BlockSizeUser;
use hmac::digest::{Digest, FixedOutputReset};
use hmac::{Mac, SimpleHmac};
use pkcs5::pbes2;
use pkcs12::cms::cert::x509::spki::AlgorithmIdentifierOwned;
use pkcs12::cms::content_info::ContentInfo;
use pkcs12::cms::encrypted_data::EncryptedData;
use pkcs12::kdf::{Pkcs12KeyType, derive_key_utf8};
use pkcs12::pbe_params::{EncryptedPrivateKeyInfo, Pkcs12PbeParams};
use pkcs12::pfx::Pfx;
use pkcs12::safe_bag::{PrivateKeyInfo, SafeContents};
use pkcs12::{
    AuthenticatedSafe, CertBag, MacData, PKCS_12_CERT_BAG_OID, PKCS_12_KEY_BAG_OID,
    PKCS_12_PBE_WITH_SHAAND3_KEY_TRIPLE_DES_CBC, PKCS_12_PBEWITH_SHAAND40_BIT_RC2_CBC,
    PKCS_12_PKCS8_KEY_BAG_OID, PKCS_12_X509_CERT_OID,
};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

const DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.1");
const ENCRYPTED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.6");
const SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.14.3.2.26");
const SHA224: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.4");
const SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");
const SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.2");
const SHA512: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.3");

/// Iterations that all parts of a file may take together. OpenSSL and Windows write 2,000 for each of three parts; three parts by
/// what OWASP advises (600,000) are within it.
const MOST_ITERATIONS: u64 = 2_000_000;

/// Memory that scrypt may take at once. OpenSSL's own choice takes 16 MiB.
const MOST_MEMORY: u64 = 32 << 20;

/// Bytes that scrypt may go through for all parts of a file.
const MOST_SCRYPT: u64 = 4 * MOST_MEMORY;

/// Keys of PBES1 are derived three times: two blocks of SHA-1 for the key, and one for what the first block is mixed with.
const PBES1_KEYS: u64 = 3;

/// Why a file cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pkcs12Error {
    /// It is no PKCS#12 file, or one of a form that nobody writes.
    Format(String),
    /// The password does not open it.
    Password,
    /// Opening it would take more than is allowed.
    TooCostly(String),
}

impl From<der::Error> for Pkcs12Error {
    fn from(error: der::Error) -> Self {
        Self::Format(error.to_string())
    }
}

type Result<T> = std::result::Result<T, Pkcs12Error>;

/// What is in a file, in DER and its order.
#[derive(Default)]
pub(super) struct Archive {
    /// Private keys, as PKCS#8.
    pub(super) keys: Vec<Vec<u8>>,
    /// Certificates.
    pub(super) certificates: Vec<Vec<u8>>,
}

impl Archive {
    /// Opens a file.
    ///
    /// # Errors
    /// It is none, the password is another one, or opening it would take too much.
    pub(super) fn open(der: &[u8], password: &str) -> Result<Self> {
        let pfx = Pfx::from_der(der)?;
        let mut opening = Opening {
            password,
            left: Allowance::default(),
            found: Self::default(),
        };
        if pfx.auth_safe.content_type != DATA {
            return Err(unknown("kind of content", pfx.auth_safe.content_type));
        }
        if let Some(mac) = &pfx.mac_data {
            opening.check(mac, pfx.auth_safe.content.value())?;
        }
        let safes = OctetString::from_der(&pfx.auth_safe.content.to_der()?)?;
        for safe in AuthenticatedSafe::from_der(safes.as_bytes())? {
            opening.safe(&safe)?;
        }
        Ok(opening.found)
    }
}

fn unknown(what: &str, oid: ObjectIdentifier) -> Pkcs12Error {
    Pkcs12Error::Format(format!("{what} {oid} is not known"))
}

/// What a file may still take.
struct Allowance {
    iterations: u64,
    scrypt: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            iterations: MOST_ITERATIONS,
            scrypt: MOST_SCRYPT,
        }
    }
}

impl Allowance {
    fn iterate(&mut self, count: u64) -> Result<()> {
        let left = self.iterations.checked_sub(count).ok_or_else(|| {
            let message = format!("more than {MOST_ITERATIONS} iterations in all");
            Pkcs12Error::TooCostly(message)
        })?;
        self.iterations = left;
        Ok(())
    }

    fn scrypt(&mut self, parameters: &pbes2::ScryptParams) -> Result<()> {
        let block = 128 * u64::from(parameters.block_size);
        let lanes = u64::from(parameters.parallelization);
        let table = block.checked_mul(parameters.cost_parameter);
        let all = table.and_then(|table| table.checked_mul(lanes));
        let fits = |size: Option<u64>| size.is_some_and(|size| size <= MOST_MEMORY);
        match all.and_then(|all| self.scrypt.checked_sub(all)) {
            Some(left) if fits(table) && fits(block.checked_mul(lanes)) => {
                self.scrypt = left;
                Ok(())
            }
            _ => {
                let most = MOST_MEMORY >> 20;
                let message = format!("scrypt with more than {most} MiB of memory, or too often");
                Err(Pkcs12Error::TooCostly(message))
            }
        }
    }
}

/// A file that is being opened.
struct Opening<'a> {
    password: &'a str,
    left: Allowance,
    found: Archive,
}

impl Opening<'_> {
    /// Whether the password is the one that the file was written with.
    fn check(&mut self, mac: &MacData, data: &[u8]) -> Result<()> {
        self.left.iterate(iterations(mac.iterations))?;
        let is_right = match mac.mac.algorithm.oid {
            SHA1 => fits::<Sha1>(mac, self.password, data),
            SHA224 => fits::<Sha224>(mac, self.password, data),
            SHA256 => fits::<Sha256>(mac, self.password, data),
            SHA384 => fits::<Sha384>(mac, self.password, data),
            SHA512 => fits::<Sha512>(mac, self.password, data),
            other => return Err(unknown("digest", other)),
        };
        match is_right? {
            true => Ok(()),
            false => Err(Pkcs12Error::Password),
        }
    }

    fn safe(&mut self, safe: &ContentInfo) -> Result<()> {
        let content = safe.content.to_der()?;
        let bags = match safe.content_type {
            DATA => OctetString::from_der(&content)?.into_bytes().into(),
            ENCRYPTED_DATA => {
                let info = EncryptedData::from_der(&content)?.enc_content_info;
                let Some(text) = info.encrypted_content else {
                    return Ok(());
                };
                self.decrypt(&info.content_enc_alg, text.as_bytes())?
            }
            other => return Err(unknown("kind of content", other)),
        };
        for bag in SafeContents::from_der(&bags)? {
            match bag.bag_id {
                PKCS_12_KEY_BAG_OID => {
                    let key = ContextSpecific::<PrivateKeyInfo>::from_der(&bag.bag_value)?;
                    self.found.keys.push(key.value.to_der()?);
                }
                PKCS_12_PKCS8_KEY_BAG_OID => {
                    let key = ContextSpecific::<EncryptedPrivateKeyInfo>::from_der(&bag.bag_value)?;
                    let (how, text) = (&key.value.encryption_algorithm, &key.value.encrypted_data);
                    let key = self.decrypt(how, text.as_bytes())?;
                    self.found.keys.push(key);
                }
                PKCS_12_CERT_BAG_OID => {
                    let bag = ContextSpecific::<CertBag>::from_der(&bag.bag_value)?.value;
                    if bag.cert_id != PKCS_12_X509_CERT_OID {
                        return Err(unknown("kind of certificate", bag.cert_id));
                    }
                    let certificate = bag.cert_value.as_bytes().to_vec();
                    self.found.certificates.push(certificate);
                }
                // Secrets of Java and lists of revoked certificates: not what is looked for.
                _ => {}
            }
        }
        Ok(())
    }

    fn decrypt(&mut self, how: &AlgorithmIdentifierOwned, text: &[u8]) -> Result<Vec<u8>> {
        let parameters = how.parameters.as_ref().map(Encode::to_der).transpose()?;
        let parameters = parameters.unwrap_or_default();
        match how.oid {
            pbes2::PBES2_OID => {
                let parameters = pbes2::Parameters::from_der(&parameters)?;
                match &parameters.kdf {
                    pbes2::Kdf::Pbkdf2(it) => self.left.iterate(it.iteration_count.into())?,
                    pbes2::Kdf::Scrypt(it) => self.left.scrypt(it)?,
                    other => return Err(unknown("key derivation", other.oid())),
                }
                let opened = parameters.decrypt(self.password.as_bytes(), text);
                opened.map_err(|_| Pkcs12Error::Password)
            }
            PKCS_12_PBE_WITH_SHAAND3_KEY_TRIPLE_DES_CBC => {
                self.decrypt_old::<des::TdesEde3>(&parameters, 24, text)
            }
            PKCS_12_PBEWITH_SHAAND40_BIT_RC2_CBC => {
                self.decrypt_old::<rc2::Rc2>(&parameters, 5, text)
            }
            other => Err(unknown("encryption", other)),
        }
    }

    /// By PBES1, with a key of so many bytes.
    fn decrypt_old<C>(&mut self, parameters: &[u8], size: usize, text: &[u8]) -> Result<Vec<u8>>
    where
        C: KeyInit + BlockCipherDecrypt,
    {
        let parameters = Pkcs12PbeParams::from_der(parameters)?;
        let count = iterations(parameters.iterations);
        self.left.iterate(count.saturating_mul(PBES1_KEYS))?;
        let (salt, count) = (parameters.salt.as_bytes(), parameters.iterations);
        let derive = |what, size| derive_key_utf8::<Sha1>(self.password, salt, what, count, size);
        let key = derive(Pkcs12KeyType::EncryptionKey, size)?;
        let start = derive(Pkcs12KeyType::Iv, 8)?;
        let cipher = Decryptor::<C>::new_from_slices(&key, &start);
        let cipher = cipher.map_err(|error| Pkcs12Error::Format(error.to_string()))?;
        let opened = cipher.decrypt_padded_vec::<Pkcs7>(text);
        opened.map_err(|_| Pkcs12Error::Password)
    }
}

/// A count that is below zero is none.
fn iterations(count: i32) -> u64 {
    u64::try_from(count).unwrap_or_default()
}

fn fits<D>(mac: &MacData, password: &str, data: &[u8]) -> Result<bool>
where
    D: Digest + FixedOutputReset + BlockSizeUser + Clone,
{
    let salt = mac.mac_salt.as_bytes();
    let size = <D as Digest>::output_size();
    let key = derive_key_utf8::<D>(password, salt, Pkcs12KeyType::Mac, mac.iterations, size)?;
    let made = <SimpleHmac<D> as hmac::KeyInit>::new_from_slice(&key);
    let mut made = made.map_err(|error| Pkcs12Error::Format(error.to_string()))?;
    Mac::update(&mut made, data);
    Ok(made.verify_slice(mac.mac.digest.as_bytes()).is_ok())
}

#[cfg(test)]
mod tests;
