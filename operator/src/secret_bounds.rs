//! What Secrets with credentials may name, from the operator's variables.

use anyhow::Context;
use armature_runtime::azure::credential::SecretBounds;

/// Kinds of proof and clouds that Secrets may name.
///
/// # Errors
/// When a variable means nothing.
pub fn secret_bounds(variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<SecretBounds> {
    const PROOFS: &str = "ARMATURE_SECRET_PROOFS";
    const CLOUDS: &str = "ARMATURE_ALLOWED_CLOUDS";
    let set = |name| variable(name).unwrap_or_default();
    SecretBounds::parse(&set(PROOFS), &set(CLOUDS))
        .with_context(|| format!("{PROOFS} or {CLOUDS} cannot be used"))
}
