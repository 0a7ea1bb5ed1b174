//! Alias: what is owned by one is in the subscription that it stands for, and goes with it.

use std::collections::BTreeMap;

use armature_generated::subscription::hub::{Alias, AliasKind};
use armature_runtime::arm::ArmContext;
use armature_runtime::extension::{
    Context, Deleter, ExtensionError, Next, SuccessfulCreationHandler,
};
use armature_runtime::names::CHILD_RESOURCE_ID_OVERRIDE;
use armature_runtime::reconcile::outcome::Write;
use async_trait::async_trait;
use serde_json::Value;

/// API version in which the state of a subscription is asked for; that of aliases does not know it.
const SUBSCRIPTIONS: &str = "2022-12-01";

/// Where Azure's answer about an alias has its subscription.
const NAMED: &str = "/properties/subscriptionId";

/// States of a subscription that can be cancelled. In any other it is cancelled already.
const IN_USE: [&str; 3] = ["Enabled", "Warned", "PastDue"];

/// Cancels the subscription before the alias goes: without it nobody would know what is still to be paid for. One that is
/// cancelled, or gone, is left alone, so that a deletion that could not go on can be tried again. Which one it is, Azure is
/// asked: it is not the credential's, and a status may be older than the subscription, or not Azure's.
#[derive(Debug)]
pub struct CancelSubscription;

#[async_trait]
impl Deleter for CancelSubscription {
    type Hub = AliasKind;

    async fn delete(
        &self,
        context: &Context,
        _alias: &Alias,
        next: Next<'_, Write>,
    ) -> Result<Write, ExtensionError> {
        let known = context.arm().get(&context.url()?).await?;
        let name = known
            .as_ref()
            .and_then(|alias| alias.pointer(NAMED)?.as_str());
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            context.arm().admit_subscription(name);
            let subscription = format!("/subscriptions/{name}");
            let question = format!("{subscription}?api-version={SUBSCRIPTIONS}");
            let found = context.arm().get(&question).await?;
            if found.as_ref().is_some_and(is_in_use) {
                let version = context.api_version;
                let cancel = format!(
                    "{subscription}/providers/Microsoft.Subscription/cancel?api-version={version}"
                );
                context.arm().post(&cancel, None).await?;
            }
        }
        next.call().await
    }
}

/// Lets the ids of what an alias owns begin with its subscription.
#[derive(Debug)]
pub struct AliasedSubscription;

#[async_trait]
impl SuccessfulCreationHandler for AliasedSubscription {
    type Hub = AliasKind;

    async fn succeeded(
        &self,
        _context: &Context,
        alias: &Alias,
        next: Next<'_, BTreeMap<String, String>>,
    ) -> Result<BTreeMap<String, String>, ExtensionError> {
        let mut annotations = next.call().await?;
        let id = subscription(alias).map(|id| (CHILD_RESOURCE_ID_OVERRIDE.to_owned(), id));
        annotations.extend(id);
        Ok(annotations)
    }
}

/// ARM id of the subscription, once Azure has made it.
fn subscription(alias: &Alias) -> Option<String> {
    let properties = alias.status.as_ref()?.properties.as_ref()?;
    let id = properties.subscription_id.as_deref()?.trim();
    (!id.is_empty()).then(|| format!("/subscriptions/{id}"))
}

fn is_in_use(subscription: &Value) -> bool {
    let state = subscription["state"].as_str().unwrap_or_default();
    IN_USE.iter().any(|known| known.eq_ignore_ascii_case(state))
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_runtime::id::ResourceId;
    use armature_runtime::shape::decode;
    use serde_json::json;

    use super::*;
    use crate::testing::Doubles;

    fn alias(subscription: Value) -> Alias {
        let status = json!({"properties": { "subscriptionId": subscription }});
        Alias {
            status: Some(decode(&status).expect("a status")),
            ..Alias::default()
        }
    }

    const ID: &str = "/providers/Microsoft.Subscription/aliases/team";
    const ASKED: &str = "GET /providers/Microsoft.Subscription/aliases/team?api-version=2021-10-01";

    async fn delete(doubles: &Doubles, alias: &Alias) -> Result<Write, ExtensionError> {
        let context = Context {
            id: Some(ResourceId::parse(ID).expect("an id")),
            api_version: "2021-10-01",
            ..doubles.context()
        };
        let next = Next::value(Write::Completed);
        CancelSubscription.delete(&context, alias, next).await
    }

    /// Azure's answer to everything, about the alias and about its subscription.
    fn azure(subscription: &str, state: &str) -> Doubles {
        let properties = json!({"subscriptionId": subscription});
        Doubles::answering(json!({"properties": properties, "state": state}))
    }

    #[tokio::test]
    async fn the_subscription_is_cancelled_before_the_alias_goes() {
        for (state, is_cancelled) in [
            ("Enabled", true),
            ("warned", true),
            ("PastDue", true),
            ("Disabled", false),
            ("Deleted", false),
        ] {
            let doubles = azure("s-2", state);
            let deleted = delete(&doubles, &alias(json!("s-2"))).await;
            assert_eq!(deleted.expect("an answer"), Write::Completed);
            let mut requests = vec![ASKED, "GET /subscriptions/s-2?api-version=2022-12-01"];
            let cancel = "POST /subscriptions/s-2/providers/Microsoft.Subscription/cancel?api-version=2021-10-01";
            requests.extend(is_cancelled.then_some(cancel));
            assert_eq!(doubles.requests(), requests, "{state}");
        }
    }

    #[tokio::test]
    async fn no_subscription_is_cancelled_but_the_one_that_azure_names() {
        let doubles = azure("s-2", "Enabled");
        let deleted = delete(&doubles, &alias(json!("of-others"))).await;
        assert_eq!(deleted.expect("an answer"), Write::Completed);
        let others = |request: &String| request.contains("of-others");
        assert!(!doubles.requests().iter().any(others));
    }

    #[tokio::test]
    async fn an_alias_that_is_gone_just_goes() {
        let doubles = Doubles::default();
        let deleted = delete(&doubles, &alias(json!("s-2"))).await;
        assert_eq!(deleted.expect("an answer"), Write::Completed);
        assert_eq!(doubles.requests(), [ASKED]);
    }

    #[tokio::test]
    async fn a_refusal_keeps_the_alias() {
        let doubles = Doubles::refusing(403, "AuthorizationFailed");
        let refused = delete(&doubles, &alias(json!("s-2"))).await;
        assert!(matches!(refused, Err(ExtensionError::Azure { .. })));
    }

    #[tokio::test]
    async fn an_alias_that_has_no_subscription_yet_just_goes() {
        let doubles = azure("", "Enabled");
        let deleted = delete(&doubles, &Alias::default()).await;
        assert_eq!(deleted.expect("an answer"), Write::Completed);
        assert_eq!(doubles.requests(), [ASKED]);
    }

    /// The operator may have been killed before it wrote down what its PUT had made.
    #[tokio::test]
    async fn a_subscription_that_no_status_tells_of_is_cancelled_too() {
        let doubles = azure("s-2", "Enabled");
        let deleted = delete(&doubles, &Alias::default()).await;
        assert_eq!(deleted.expect("an answer"), Write::Completed);
        assert_eq!(doubles.requests().len(), 3);
    }

    #[tokio::test]
    async fn what_an_alias_owns_is_in_its_subscription() {
        let doubles = Doubles::default();
        let expected = [(
            CHILD_RESOURCE_ID_OVERRIDE.to_owned(),
            "/subscriptions/s-2".to_owned(),
        )];
        for (alias, expected) in [
            (alias(json!("s-2")), BTreeMap::from(expected)),
            (Alias::default(), BTreeMap::new()),
        ] {
            let next = Next::value(BTreeMap::new());
            let context = doubles.context();
            let noted = AliasedSubscription.succeeded(&context, &alias, next);
            assert_eq!(noted.await.expect("annotations"), expected);
        }
    }
}
