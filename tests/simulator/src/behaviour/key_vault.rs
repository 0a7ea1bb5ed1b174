//! Key vaults: the vault's URI, and deleted vaults, which Azure keeps for a while.
//!
//! Source: recordings `keyvault-v1api20230701`, `keyvault-v1api20210401preview` and
//! `scenario-keyvault_vault_20230701_crud`; that the name of a deleted vault is taken of
//! https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Behaviour, Scene};
use crate::error::ArmError;
use crate::id::ResourceId;
use crate::json;
use crate::store::{Resource, Store};

/// How long a deleted vault is kept.
const KEPT: SignedDuration = SignedDuration::from_hours(90 * 24);

const CREATE_MODE: [&str; 2] = ["properties", "createMode"];

/// `Microsoft.KeyVault/vaults`.
#[derive(Debug)]
pub struct Vault;

impl Behaviour for Vault {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.KeyVault/vaults")
    }

    fn admit(&self, scene: &Scene<'_>, body: &Value) -> Result<(), ArmError> {
        let recovers =
            json::text(body, &CREATE_MODE).is_some_and(|mode| mode.eq_ignore_ascii_case("recover"));
        let deleted = deleted_namesake(scene.store, scene.id);
        match (deleted, recovers) {
            (None, true) if scene.store.get(scene.id).is_none() => {
                Err(deleted_vault_not_found(scene.id.name()))
            }
            (Some(_), false) => Err(ArmError::new(
                409,
                "ConflictError",
                "A vault with the same name already exists in deleted state. You need to either recover or purge \
                 existing key vault. Follow this link https://go.microsoft.com/fwlink/?linkid=2149745 for more \
                 information on soft delete.",
            )),
            _ => Ok(()),
        }
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let uri = format!("https://{}.vault.azure.net/", scene.id.name());
        json::set(body, &["properties", "vaultUri"], json!(uri));
        // It says how to create, and is not kept.
        json::remove(body, &CREATE_MODE);
    }

    fn written(&self, store: &mut Store, id: &ResourceId) {
        if let Some(deleted) = deleted_namesake(store, id).map(|deleted| deleted.id.clone()) {
            store.remove_tree(&deleted);
        }
    }

    fn removed(&self, store: &mut Store, vault: &Resource, now: Timestamp) {
        let subscription = vault.id.subscription().unwrap_or_default();
        let location = json::text(&vault.body, &["location"]).unwrap_or("global");
        let location = location.to_ascii_lowercase().replace(' ', "");
        let path = format!(
            "/subscriptions/{subscription}/providers/Microsoft.KeyVault/locations/{location}/deletedVaults/{}",
            vault.id.name()
        );
        let Some(id) = ResourceId::parse(&path) else {
            return;
        };
        let body = json!({
            "id": path,
            "name": vault.id.name(),
            "type": "Microsoft.KeyVault/deletedVaults",
            "properties": {
                "vaultId": vault.id.to_string(),
                "location": location,
                "tags": vault.body.get("tags").cloned().unwrap_or_else(|| json!({})),
                "deletionDate": now.to_string(),
                "scheduledPurgeDate": (now + KEPT).to_string(),
            },
        });
        store.insert(Resource {
            id,
            body,
            // Not among the resources of the subscription.
            visible: false,
            operation: None,
            ..vault.clone()
        });
    }
}

/// What a request to deleted vaults is about.
pub enum DeletedVaults {
    /// One of them.
    One(ResourceId),
    /// The end of one of them.
    Purge(ResourceId),
}

/// Reads the path of a request to a deleted vault.
pub fn deleted_vaults(path: &str) -> Option<DeletedVaults> {
    let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (segments, purge) = match segments.as_slice() {
        [id @ .., last] if id.len() == 8 && last.eq_ignore_ascii_case("purge") => (id, true),
        id => (id, false),
    };
    let id = ResourceId::parse(&segments.join("/")).filter(is_deleted_vault)?;
    Some(match purge {
        true => DeletedVaults::Purge(id),
        false => DeletedVaults::One(id),
    })
}

/// Whether the id is a deleted vault's.
pub fn is_deleted_vault(id: &ResourceId) -> bool {
    id.arm_type()
        .eq_ignore_ascii_case("Microsoft.KeyVault/locations/deletedVaults")
}

/// Azure's answer where there is none.
pub fn deleted_vault_not_found(name: &str) -> ArmError {
    ArmError::new(
        404,
        "DeletedVaultNotFound",
        format!(
            "The specified deleted vault '{name}' does not exist. Ensure that the vault was indeed deleted and that it \
             is in recoverable state."
        ),
    )
}

/// The deleted vault that has the name of this one. Names are unique in all of Azure.
fn deleted_namesake<'a>(store: &'a Store, id: &ResourceId) -> Option<&'a Resource> {
    store.all().find(|other| {
        is_deleted_vault(&other.id) && other.id.name().eq_ignore_ascii_case(id.name())
    })
}
