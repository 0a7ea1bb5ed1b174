//! SenderUsername: the name of the resource and the user name are one.

use armature_generated::communication::hub::{SenderUsername, SenderUsernameKind};
use armature_runtime::extension::{
    Context, ExtensionError, Next, PreCheck, PreReconciliationChecker,
};
use armature_runtime::quote::shortened;
use async_trait::async_trait;

/// Blocks a user name that the resource is not called by, which Azure would refuse (ASO behaviour §2.2).
#[derive(Debug)]
pub struct NameOfSender;

#[async_trait]
impl PreReconciliationChecker for NameOfSender {
    type Hub = SenderUsernameKind;

    async fn check(
        &self,
        context: &Context,
        sender: &SenderUsername,
        next: Next<'_, PreCheck>,
    ) -> Result<PreCheck, ExtensionError> {
        let name = context.id.as_ref().map(|id| id.name());
        match (name, sender.spec.username.as_deref()) {
            (Some(name), Some(username)) if !name.eq_ignore_ascii_case(username) => {
                let username = shortened(username);
                Ok(PreCheck::Block(format!(
                    "the user name '{username}' needs a resource of that name, and this one is '{name}': set \
                     spec.azureName to {username}"
                )))
            }
            _ => next.call().await,
        }
    }
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_runtime::id::ResourceId;
    use armature_runtime::shape::decode;
    use serde_json::json;

    use super::*;
    use crate::testing::{Doubles, proceed};

    const SENDERS: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Communication/emailServices/e/domains/d/senderUsernames";

    #[tokio::test]
    async fn the_resource_is_called_as_the_user() {
        for (name, username, is_blocked) in [
            ("news", "news", false),
            ("news", "News", false),
            ("news", "alerts", true),
        ] {
            let spec = json!({ "username": username });
            let sender = SenderUsername::new("s", decode(&spec).expect("a spec"));
            let doubles = Doubles::default();
            let id = ResourceId::parse(&format!("{SENDERS}/{name}"));
            let context = Context {
                id: Some(id.expect("an id")),
                ..doubles.context()
            };
            let check = NameOfSender.check(&context, &sender, proceed()).await;
            match check.expect("a result") {
                PreCheck::Block(reason) => {
                    assert!(
                        is_blocked && reason.contains("azureName to alerts"),
                        "{reason}"
                    );
                }
                other => assert!(!is_blocked, "{name} {username}: {other:?}"),
            }
            doubles.assert_untouched();
        }
    }
}
