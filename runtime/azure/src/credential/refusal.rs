//! Which key of a credential to look at when Entra ID refuses it.

use super::Proof;
use super::settings::{CERTIFICATE, CLIENT, CLIENT_SECRET, IDENTITY_FILE, TENANT};

/// The key that the error code in Entra's message is about (Microsoft Entra "authentication and authorization error
/// codes"), else the one with the identity's proof.
pub(crate) fn refused_key(message: &str, proof: &'static str) -> &'static str {
    match code(message) {
        // No such tenant; no tenant id.
        Some(90_002 | 900_021 | 900_023) => TENANT,
        // No such application in the tenant; it is disabled; none of its federated credentials fits.
        Some(700_016 | 7_000_112 | 70_021 | 700_211..=700_213) => CLIENT,
        _ => proof,
    }
}

/// The key with an identity's proof.
pub(crate) fn proof_key(proof: &Proof) -> &'static str {
    match proof {
        Proof::ClientSecret(_) => CLIENT_SECRET,
        Proof::ClientCertificate(_) => CERTIFICATE,
        Proof::IdentityFile { .. } => IDENTITY_FILE,
        Proof::ManagedIdentity | Proof::WorkloadIdentity { .. } | Proof::AzureCli => CLIENT,
    }
}

/// The number behind `AADSTS`.
fn code(message: &str) -> Option<u32> {
    let (_, rest) = message.split_once("AADSTS")?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit());
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_name_keys_and_other_refusals_the_proof() {
        let secret = Proof::ClientSecret("x".into());
        let token = Proof::WorkloadIdentity {
            token_file: "/token".into(),
        };
        for (message, proof, expected) in [
            (
                "AADSTS90002: Tenant 't' not found.",
                &secret,
                "AZURE_TENANT_ID",
            ),
            (
                "HTTP 400: AADSTS700016: Application",
                &token,
                "AZURE_CLIENT_ID",
            ),
            (
                "AADSTS7000215: Invalid client secret",
                &secret,
                "AZURE_CLIENT_SECRET",
            ),
            ("AADSTS7000222", &secret, "AZURE_CLIENT_SECRET"),
            (
                "AADSTS700213: No matching federated identity",
                &token,
                "AZURE_CLIENT_ID",
            ),
            ("AADSTS", &secret, "AZURE_CLIENT_SECRET"),
            ("it says no", &token, "AZURE_CLIENT_ID"),
        ] {
            let proof = proof_key(proof);
            assert_eq!(refused_key(message, proof), expected, "{message}");
        }
    }
}
