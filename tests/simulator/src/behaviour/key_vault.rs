//! Key vaults: the vault's URI.

use serde_json::{Value, json};

use super::{Behaviour, Scene};
use crate::json;

/// `Microsoft.KeyVault/vaults`.
#[derive(Debug)]
pub struct Vault;

impl Behaviour for Vault {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.KeyVault/vaults")
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let uri = format!("https://{}.vault.azure.net/", scene.id.name());
        json::set(body, &["properties", "vaultUri"], json!(uri));
        // It says how to create, and is not kept.
        json::remove(body, &["properties", "createMode"]);
    }
}
