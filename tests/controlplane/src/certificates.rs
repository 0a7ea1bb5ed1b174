//! Keys and certificates of one control plane: made anew for each start, never reused.

use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_RSA_SHA256, RsaKeySize,
};

use crate::Error;

/// Names under which the API server is reached.
const SERVER_NAMES: [&str; 3] = ["127.0.0.1", "localhost", "kubernetes.default.svc"];

/// What the API server and its clients need, as files and as PEM text.
#[derive(Debug)]
pub(crate) struct Certificates {
    pub(crate) ca_file: PathBuf,
    pub(crate) server_certificate_file: PathBuf,
    pub(crate) server_key_file: PathBuf,
    pub(crate) service_account_key_file: PathBuf,
    pub(crate) service_account_public_key_file: PathBuf,
    pub(crate) ca: String,
    pub(crate) admin_certificate: String,
    pub(crate) admin_key: String,
}

impl Certificates {
    /// Issues everything and writes the API server's part into `folder`.
    pub(crate) fn issue(folder: &Path) -> Result<Self, Error> {
        let authority_key = KeyPair::generate()?;
        let mut authority = CertificateParams::default();
        authority.distinguished_name = name(None, "armature-controlplane");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let ca = authority.self_signed(&authority_key)?.pem();
        let issuer = Issuer::new(authority, authority_key);

        let server_names: Vec<String> = SERVER_NAMES.map(String::from).to_vec();
        let (server_certificate, server_key) = leaf(
            &issuer,
            name(None, "kube-apiserver"),
            server_names,
            ExtendedKeyUsagePurpose::ServerAuth,
        )?;
        // Members of system:masters may do everything, whatever RBAC says.
        let (admin_certificate, admin_key) = leaf(
            &issuer,
            name(Some("system:masters"), "armature-admin"),
            Vec::new(),
            ExtendedKeyUsagePurpose::ClientAuth,
        )?;
        // Who trusts tokens of service accounts from afar takes RSA only, Entra ID for one.
        let service_account = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048)?;
        let write = |file: &str, text: &str| -> Result<PathBuf, Error> {
            let path = folder.join(file);
            std::fs::write(&path, text).map_err(Error::file("write", &path))?;
            Ok(path)
        };
        Ok(Self {
            ca_file: write("ca.crt", &ca)?,
            server_certificate_file: write("apiserver.crt", &server_certificate)?,
            server_key_file: write("apiserver.key", &server_key)?,
            service_account_key_file: write(
                "service-account.key",
                &service_account.serialize_pem(),
            )?,
            service_account_public_key_file: write(
                "service-account.pub",
                &service_account.public_key_pem(),
            )?,
            ca,
            admin_certificate,
            admin_key,
        })
    }
}

fn name(organization: Option<&str>, common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    if let Some(organization) = organization {
        name.push(DnType::OrganizationName, organization);
    }
    name.push(DnType::CommonName, common);
    name
}

/// A signed certificate and its key, both PEM.
fn leaf(
    issuer: &Issuer<'_, KeyPair>,
    name: DistinguishedName,
    subject_names: Vec<String>,
    usage: ExtendedKeyUsagePurpose,
) -> Result<(String, String), Error> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(subject_names)?;
    params.distinguished_name = name;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![usage];
    params.use_authority_key_identifier_extension = true;
    let certificate = params.signed_by(&key, issuer)?;
    Ok((certificate.pem(), key.serialize_pem()))
}
