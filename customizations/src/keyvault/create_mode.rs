//! Vault: the values of `createMode` that Azure does not have.

use armature_generated::keyvault::hub::{Vault, VaultKind};
use armature_runtime::arm::ResourceId;
use armature_runtime::extension::{ArmResourceModifier, Context, ExtensionError, Next};
use async_trait::async_trait;
use serde_json::{Value, json};

/// Replaces `createOrRecover` and `purgeThenCreate` by what Azure takes, which depends on whether it keeps a
/// deleted vault of the name (ASO behaviour §2.2). Other values go to Azure as they are.
///
/// Nothing is purged here: where a deleted vault stands in the way of `purgeThenCreate`, the user is told.
#[derive(Debug)]
pub struct VaultCreateMode;

/// A value of `createMode` that Azure does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    CreateOrRecover,
    PurgeThenCreate,
}

#[async_trait]
impl ArmResourceModifier for VaultCreateMode {
    type Hub = VaultKind;

    async fn modify(
        &self,
        context: &Context,
        vault: &Vault,
        mut body: Value,
        next: Next<'_, Value, Value>,
    ) -> Result<Value, ExtensionError> {
        if let Some(mode) = wanted(vault) {
            let missing = |what| ExtensionError::Other(format!("the vault has no {what} yet"));
            let id = context.id.as_ref().ok_or_else(|| missing("ARM id"))?;
            let location = vault.spec.location.as_deref();
            let location = location.ok_or_else(|| missing("location"))?;
            let url = deleted_vault(id, location)?.url(context.api_version);
            let deleted = context.arm.get(&url).await?;
            let for_azure = azure_mode(mode, id, location, deleted.as_ref());
            body["properties"]["createMode"] = json!(for_azure.map_err(ExtensionError::Other)?);
        }
        next.call_with(body).await
    }
}

fn wanted(vault: &Vault) -> Option<Mode> {
    let mode = vault.spec.properties.as_ref()?.create_mode.as_ref()?;
    match mode.as_str() {
        "createOrRecover" => Some(Mode::CreateOrRecover),
        "purgeThenCreate" => Some(Mode::PurgeThenCreate),
        _ => None,
    }
}

/// Id under which Azure keeps a deleted vault of this name. Names are unique in all of Azure, so that there is
/// no more than one.
fn deleted_vault(id: &ResourceId, location: &str) -> Result<ResourceId, ExtensionError> {
    let subscription = id.subscription().unwrap_or_default();
    let region = location.replace(char::is_whitespace, "").to_lowercase();
    let text = format!(
        "/subscriptions/{subscription}/providers/Microsoft.KeyVault/locations/{region}/deletedVaults/{}",
        id.name()
    );
    ResourceId::parse(&text).map_err(|error| ExtensionError::Other(error.to_string()))
}

/// What to send for a mode, or what the user has to do first.
fn azure_mode(
    mode: Mode,
    id: &ResourceId,
    location: &str,
    deleted: Option<&Value>,
) -> Result<&'static str, String> {
    let Some(deleted) = deleted else {
        return Ok("default");
    };
    let name = id.name();
    match mode {
        Mode::PurgeThenCreate => Err(format!(
            "a deleted vault {name} is kept in {location}, and this version purges nothing; run `az keyvault purge \
             --name {name} --location {location}`, or set createMode to createOrRecover"
        )),
        Mode::CreateOrRecover => {
            let was = deleted.pointer("/properties/vaultId");
            let was = was.and_then(Value::as_str).unwrap_or("unknown");
            match ResourceId::parse(was) {
                Ok(was) if was == *id => Ok("recover"),
                _ => Err(format!(
                    "the deleted vault {name} in {location} cannot be recovered as {id}, because it was {was}; purge \
                     it, or put the vault into the resource group that it was in"
                )),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use armature_generated::keyvault::hub::{
        VaultProperties, VaultPropertiesCreateMode, VaultSpec,
    };

    use super::*;
    use crate::testing::Doubles;

    const ID: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v";

    fn vault(mode: Option<&'static str>) -> Vault {
        let properties = VaultProperties {
            create_mode: mode.map(|mode| VaultPropertiesCreateMode(mode.into())),
            ..VaultProperties::default()
        };
        Vault::new(
            "v",
            VaultSpec {
                location: Some("West Europe".to_owned()),
                properties: Some(Box::new(properties)),
                ..VaultSpec::default()
            },
        )
    }

    /// The mode that is sent, where Azure keeps a deleted vault of this former id.
    async fn sent(doubles: &Doubles, mode: Option<&'static str>) -> Result<Value, String> {
        let mut context = doubles.context();
        context.id = Some(ResourceId::parse(ID).expect("an id"));
        context.api_version = "2023-07-01";
        let body = json!({"properties": {"createMode": mode, "sku": {}}});
        let next = Next::new(|body| async move { Ok(body) });
        let body = VaultCreateMode
            .modify(&context, &vault(mode), body, next)
            .await;
        let mut body = body.map_err(|error| error.to_string())?;
        assert_eq!(body["properties"]["sku"], json!({}), "the rest is kept");
        Ok(body["properties"]["createMode"].take())
    }

    fn with_deleted(id: &str) -> Doubles {
        Doubles::answering(json!({"properties": {"vaultId": id}}))
    }

    #[tokio::test]
    async fn modes_of_azure_go_as_they_are_and_ask_nothing() {
        for mode in [None, Some("default"), Some("recover")] {
            let doubles = with_deleted(ID);
            assert_eq!(sent(&doubles, mode).await, Ok(json!(mode)));
            doubles.assert_untouched();
        }
    }

    #[tokio::test]
    async fn without_a_deleted_vault_one_is_created() {
        for mode in ["createOrRecover", "purgeThenCreate"] {
            let doubles = Doubles::default();
            assert_eq!(sent(&doubles, Some(mode)).await, Ok(json!("default")));
            let url = "/subscriptions/s/providers/Microsoft.KeyVault/locations/westeurope/deletedVaults/v?api-version=2023-07-01";
            assert_eq!(doubles.requests(), [format!("GET {url}")]);
        }
    }

    #[tokio::test]
    async fn a_deleted_vault_of_the_same_id_is_recovered() {
        for id in [ID, &ID.to_uppercase()] {
            let doubles = with_deleted(id);
            let mode = sent(&doubles, Some("createOrRecover")).await;
            assert_eq!(mode, Ok(json!("recover")), "{id}");
        }
    }

    #[tokio::test]
    async fn what_stands_in_the_way_is_named() {
        let elsewhere = ID.replace("/g/", "/other/");
        for (mode, id, part) in [
            (
                "createOrRecover",
                elsewhere.as_str(),
                "resourceGroups/other",
            ),
            ("createOrRecover", "", "cannot be recovered"),
            ("purgeThenCreate", ID, "az keyvault purge --name v"),
        ] {
            let doubles = with_deleted(id);
            let message = sent(&doubles, Some(mode)).await.unwrap_err();
            assert!(message.contains(part), "{message}");
            assert_eq!(doubles.requests().len(), 1, "nothing but the question");
        }
    }
}
