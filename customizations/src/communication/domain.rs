//! Domain: the name of one that Azure manages.

use armature_generated::communication::hub::{Domain, DomainKind};
use armature_runtime::extension::{
    Context, ExtensionError, Next, PreCheck, PreReconciliationChecker,
};
use async_trait::async_trait;

/// What Azure calls the only domain that it manages of a service.
const NAME: &str = "AzureManagedDomain";

/// Blocks a domain that Azure is to manage under another name: Azure's own refusal says nothing about names (ASO behaviour
/// §2.2).
#[derive(Debug)]
pub struct ManagedDomainName;

#[async_trait]
impl PreReconciliationChecker for ManagedDomainName {
    type Hub = DomainKind;

    async fn check(
        &self,
        context: &Context,
        domain: &Domain,
        next: Next<'_, PreCheck>,
    ) -> Result<PreCheck, ExtensionError> {
        let management = domain.spec.domain_management.as_ref();
        let is_managed = management.is_some_and(|it| it.as_str() == "AzureManaged");
        match context.id.as_ref().map(|id| id.name()) {
            Some(name) if is_managed && !name.eq_ignore_ascii_case(NAME) => {
                Ok(PreCheck::Block(format!(
                    "a domain that Azure manages cannot be called '{name}': set spec.azureName to {NAME}"
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

    #[tokio::test]
    async fn a_domain_that_azure_manages_has_azures_name() {
        for (management, name, is_blocked) in [
            ("AzureManaged", "AzureManagedDomain", false),
            ("AzureManaged", "azuremanageddomain", false),
            ("AzureManaged", "mail.example.com", true),
            ("CustomerManaged", "mail.example.com", false),
        ] {
            let spec = json!({ "domainManagement": management });
            let domain = Domain::new("d", decode(&spec).expect("a spec"));
            let id = format!(
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.Communication/emailServices/e/domains/{name}"
            );
            let doubles = Doubles::default();
            let context = Context {
                id: Some(ResourceId::parse(&id).expect("an id")),
                ..doubles.context()
            };
            let check = ManagedDomainName.check(&context, &domain, proceed()).await;
            match check.expect("a result") {
                PreCheck::Block(reason) => {
                    assert!(
                        is_blocked && reason.contains(NAME),
                        "{management} {name}: {reason}"
                    );
                }
                other => assert!(!is_blocked, "{management} {name}: {other:?}"),
            }
            doubles.assert_untouched();
        }
    }
}
