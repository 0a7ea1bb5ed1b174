//! The simulator's own certificate authority and server certificate.

use std::net::IpAddr;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// A certificate that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// Issuing failed.
    #[error("cannot issue a certificate for {names}: {source}")]
    Issue {
        /// Names it was meant for.
        names: String,
        /// Why.
        source: rcgen::Error,
    },
    /// The TLS library refused what was issued.
    #[error("cannot set up TLS: {0}")]
    Configure(#[from] rustls::Error),
}

/// What a server needs, and what its clients need to trust it.
pub struct Identity {
    /// The authority's certificate in PEM.
    pub ca_pem: String,
    /// TLS for the server: HTTP/2 and HTTP/1.1.
    pub server: Arc<ServerConfig>,
}

/// A new authority and a server certificate for loopback and these further names.
pub fn issue(extra_names: &[String]) -> Result<Identity, TlsError> {
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"]
        .map(str::to_owned)
        .to_vec();
    for name in extra_names {
        // An unspecified listen address is no name to reach the server by.
        let unspecified = name.parse::<IpAddr>().is_ok_and(|ip| ip.is_unspecified());
        if !unspecified && !names.contains(name) {
            names.push(name.clone());
        }
    }
    let (chain, key, ca_pem) = certificates(&names).map_err(|source| TlsError::Issue {
        names: names.join(", "),
        source,
    })?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Identity {
        ca_pem,
        server: Arc::new(server),
    })
}

type Certificates = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>, String);

fn certificates(names: &[String]) -> Result<Certificates, rcgen::Error> {
    let ca_key = KeyPair::generate()?;
    let mut ca = CertificateParams::new(Vec::<String>::new())?;
    ca.distinguished_name
        .push(DnType::CommonName, "Armature simulator CA");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let ca_certificate = ca.self_signed(&ca_key)?;
    let ca_pem = ca_certificate.pem();
    let issuer = Issuer::new(ca, ca_key);

    let leaf_key = KeyPair::generate()?;
    let mut leaf = CertificateParams::new(names.to_vec())?;
    leaf.distinguished_name
        .push(DnType::CommonName, "Armature simulator");
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    leaf.use_authority_key_identifier_extension = true;
    let certificate = leaf.signed_by(&leaf_key, &issuer)?;
    let chain = vec![certificate.der().clone(), ca_certificate.der().clone()];
    let key = PrivatePkcs8KeyDer::from(leaf_key.serialize_der());
    Ok((chain, key.into(), ca_pem))
}
