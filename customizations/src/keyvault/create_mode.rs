//! Vault: the values of `createMode` that Azure does not have.

use armature_generated::keyvault::hub::{Vault, VaultKind};
use armature_runtime::arm::ArmContext;
use armature_runtime::azure::Method;
use armature_runtime::extension::{
    ArmResourceModifier, Context, ExtensionError, Next, PreCheck, PreReconciliationChecker,
    Prerequisite,
};
use armature_runtime::id::ResourceId;
use async_trait::async_trait;
use serde_json::{Value, json};

/// Brings about `createOrRecover` and `purgeThenCreate`, which Azure does not have and which depend on whether it
/// keeps a deleted vault of the name (ASO behaviour §2.2). Other values go to Azure as they are.
///
/// As a pre-check it has a deleted vault purged before the PUT of `purgeThenCreate`; as a modifier it puts Azure's
/// own mode into the body. Neither asks for anything once the vault exists: its name cannot be a deleted one's then.
#[derive(Clone, Copy, Debug)]
pub struct VaultCreateMode;

/// A value of `createMode` that Azure does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    CreateOrRecover,
    PurgeThenCreate,
}

#[async_trait]
impl PreReconciliationChecker for VaultCreateMode {
    type Hub = VaultKind;

    async fn check(
        &self,
        context: &Context,
        vault: &Vault,
        next: Next<'_, PreCheck>,
    ) -> Result<PreCheck, ExtensionError> {
        if vault.status.is_none() && wanted(vault) == Some(Mode::PurgeThenCreate) {
            let (id, deleted) = deleted_vault_id(context, vault)?;
            let url = deleted.url(context.api_version);
            context.arm().admit_path(Method::Get, &url);
            if let Some(kept) = context.arm().get(&url).await? {
                if !was_at(&kept, id) {
                    return Err(ExtensionError::Other(format!(
                        "the deleted vault {} is not purged for {id}, because it was elsewhere, and may be somebody else's: \
                         purge it by hand (az keyvault purge), wait until Azure does, or choose another name",
                        deleted.name()
                    )));
                }
                let purge = url.replacen('?', "/purge?", 1);
                context.arm().admit_path(Method::Post, &purge);
                return Ok(PreCheck::First(Prerequisite {
                    url: purge,
                    message: format!("purging the deleted vault {}", deleted.name()),
                }));
            }
        }
        next.call().await
    }
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
            let asks = mode == Mode::CreateOrRecover && vault.status.is_none();
            let for_azure = match asks {
                true => create_or_recover(context, vault).await?,
                false => "default",
            };
            body["properties"]["createMode"] = json!(for_azure);
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

/// Azure's mode for a vault that may have to be recovered. One that was deleted in another place cannot be.
async fn create_or_recover(
    context: &Context,
    vault: &Vault,
) -> Result<&'static str, ExtensionError> {
    let (id, deleted) = deleted_vault_id(context, vault)?;
    let url = deleted.url(context.api_version);
    context.arm().admit_path(Method::Get, &url);
    let Some(kept) = context.arm().get(&url).await? else {
        return Ok("default");
    };
    if was_at(&kept, id) {
        return Ok("recover");
    }
    Err(ExtensionError::Other(format!(
        "the deleted vault {} cannot be recovered as {id}, because it was elsewhere; put the vault into the resource \
         group that it was in, purge it by hand (az keyvault purge), or choose another name",
        deleted.name()
    )))
}

/// Whether a deleted vault had this id. Names are unique in all of Azure: it may be anybody's, and where it was is not told.
fn was_at(deleted: &Value, id: &ResourceId) -> bool {
    let was = deleted
        .pointer("/properties/vaultId")
        .and_then(Value::as_str);
    was.and_then(|was| ResourceId::parse(was).ok())
        .is_some_and(|was| was == *id)
}

/// The vault's id, and the one under which Azure keeps a deleted vault of this name. Names are unique in all of
/// Azure, so that there is no more than one.
fn deleted_vault_id<'c>(
    context: &'c Context,
    vault: &Vault,
) -> Result<(&'c ResourceId, ResourceId), ExtensionError> {
    let missing = |what| ExtensionError::Other(format!("the vault has no {what} yet"));
    let id = context.id.as_ref().ok_or_else(|| missing("ARM id"))?;
    let location = vault.spec.location.as_deref();
    let location = location.ok_or_else(|| missing("location"))?;
    let subscription = id.subscription().unwrap_or_default();
    let region = location.replace(char::is_whitespace, "").to_lowercase();
    let text = format!(
        "/subscriptions/{subscription}/providers/Microsoft.KeyVault/locations/{region}/deletedVaults/{}",
        id.name()
    );
    let deleted = ResourceId::parse(&text);
    let deleted = deleted.map_err(|error| ExtensionError::Other(error.to_string()))?;
    Ok((id, deleted))
}

#[cfg(test)]
mod tests {
    use armature_generated::keyvault::hub::vault::{VaultProperties, VaultPropertiesCreateMode};
    use armature_generated::keyvault::hub::{VaultSpec, VaultStatus};

    use super::*;
    use crate::testing::{Doubles, proceed};

    const ID: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v";
    const DELETED: &str =
        "/subscriptions/s/providers/Microsoft.KeyVault/locations/westeurope/deletedVaults/v";

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

    fn existing(mode: &'static str) -> Vault {
        Vault {
            status: Some(VaultStatus::default()),
            ..vault(Some(mode))
        }
    }

    fn context(doubles: &Doubles) -> Context {
        Context {
            id: Some(ResourceId::parse(ID).expect("an id")),
            api_version: "2023-07-01",
            ..doubles.context()
        }
    }

    /// The mode that is sent.
    async fn sent(doubles: &Doubles, vault: &Vault) -> Result<Value, String> {
        let mode = vault.spec.properties.as_ref();
        let mode = mode.and_then(|properties| properties.create_mode.as_ref());
        let mode = mode.map(|mode| mode.as_str());
        let body = json!({"properties": {"createMode": mode, "sku": {}}});
        let next = Next::new(|body| async move { Ok(body) });
        let body = VaultCreateMode
            .modify(&context(doubles), vault, body, next)
            .await;
        let mut body = body.map_err(|error| error.to_string())?;
        assert_eq!(body["properties"]["sku"], json!({}), "the rest is kept");
        Ok(body["properties"]["createMode"].take())
    }

    async fn check(doubles: &Doubles, vault: &Vault) -> PreCheck {
        let context = context(doubles);
        let check = VaultCreateMode.check(&context, vault, proceed()).await;
        check.expect("an answer")
    }

    /// An Azure that keeps a deleted vault of this former id.
    fn with_deleted(id: &str) -> Doubles {
        Doubles::answering(json!({"properties": {"vaultId": id}}))
    }

    #[tokio::test]
    async fn modes_of_azure_go_as_they_are_and_ask_nothing() {
        for mode in [None, Some("default"), Some("recover")] {
            let doubles = with_deleted(ID);
            assert_eq!(sent(&doubles, &vault(mode)).await, Ok(json!(mode)));
            assert_eq!(check(&doubles, &vault(mode)).await, PreCheck::Proceed);
            doubles.assert_untouched();
        }
    }

    #[tokio::test]
    async fn nothing_is_asked_once_the_vault_exists() {
        for mode in ["createOrRecover", "purgeThenCreate"] {
            let doubles = with_deleted(ID);
            let vault = existing(mode);
            assert_eq!(sent(&doubles, &vault).await, Ok(json!("default")));
            assert_eq!(check(&doubles, &vault).await, PreCheck::Proceed);
            doubles.assert_untouched();
        }
    }

    #[tokio::test]
    async fn without_a_deleted_vault_one_is_created() {
        for mode in ["createOrRecover", "purgeThenCreate"] {
            let doubles = Doubles::default();
            let vault = vault(Some(mode));
            assert_eq!(check(&doubles, &vault).await, PreCheck::Proceed);
            assert_eq!(sent(&doubles, &vault).await, Ok(json!("default")));
            let question = format!("GET {DELETED}?api-version=2023-07-01");
            assert_eq!(doubles.requests(), [question], "{mode}");
        }
    }

    #[tokio::test]
    async fn a_deleted_vault_of_the_same_id_is_recovered() {
        for id in [ID, &ID.to_uppercase()] {
            let doubles = with_deleted(id);
            let mode = sent(&doubles, &vault(Some("createOrRecover"))).await;
            assert_eq!(mode, Ok(json!("recover")), "{id}");
        }
    }

    #[tokio::test]
    async fn one_that_was_elsewhere_cannot_be_recovered() {
        let elsewhere = ID.replace("/g/", "/other/");
        for id in [elsewhere.as_str(), ""] {
            let doubles = with_deleted(id);
            let refused = sent(&doubles, &vault(Some("createOrRecover"))).await;
            let message = refused.unwrap_err();
            assert!(message.contains("was elsewhere"), "{message}");
            assert!(!message.contains("/other/"), "{message}");
        }
    }

    /// The reconciler sends the POST and follows it; here nothing but the question is sent.
    #[tokio::test]
    async fn a_deleted_vault_is_to_be_purged_first() {
        let doubles = with_deleted(&ID.to_lowercase());
        let first = PreCheck::First(Prerequisite {
            url: format!("{DELETED}/purge?api-version=2023-07-01"),
            message: "purging the deleted vault v".to_owned(),
        });
        assert_eq!(
            check(&doubles, &vault(Some("purgeThenCreate"))).await,
            first
        );
        assert_eq!(doubles.requests().len(), 1);
    }

    /// It may be another team's, outside of all that this namespace may use.
    #[tokio::test]
    async fn one_that_was_elsewhere_is_not_purged() {
        for id in [ID.replace("/g/", "/other/").as_str(), ""] {
            let (doubles, vault) = (with_deleted(id), vault(Some("purgeThenCreate")));
            let context = context(&doubles);
            let refused = VaultCreateMode.check(&context, &vault, proceed()).await;
            let message = refused.unwrap_err().to_string();
            assert!(message.contains("is not purged"), "{message}");
            assert!(!message.contains("/other/"), "{message}");
            assert_eq!(doubles.requests().len(), 1, "nothing but the question");
        }
    }
}
