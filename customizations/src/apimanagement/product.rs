//! Product: Azure keeps one that somebody has subscribed to, unless it is told to delete the subscriptions too.

use armature_generated::apimanagement::hub::{Product, ProductKind};
use armature_runtime::arm::ArmContext;
use armature_runtime::extension::{Context, Deleter, ExtensionError, Next};
use armature_runtime::reconcile::outcome::Write;
use async_trait::async_trait;

/// Deletes the product with its subscriptions. The usual DELETE follows, and finds that it is gone or follows it to its end.
#[derive(Debug)]
pub struct ProductDeletion;

#[async_trait]
impl Deleter for ProductDeletion {
    type Hub = ProductKind;

    async fn delete(
        &self,
        context: &Context,
        _product: &Product,
        next: Next<'_, Write>,
    ) -> Result<Write, ExtensionError> {
        let url = context.url()?;
        context
            .arm()
            .delete(&format!("{url}&deleteSubscriptions=true"))
            .await?;
        next.call().await
    }
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_runtime::id::ResourceId;
    use serde_json::json;

    use super::*;
    use crate::testing::Doubles;

    const ID: &str =
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.ApiManagement/service/a/products/p";

    async fn delete(doubles: &Doubles, id: Option<&str>) -> Result<Write, ExtensionError> {
        let context = Context {
            id: id.map(|id| ResourceId::parse(id).expect("an id")),
            api_version: "2022-08-01",
            ..doubles.context()
        };
        let next = Next::value(Write::Completed);
        ProductDeletion
            .delete(&context, &Product::default(), next)
            .await
    }

    /// By the name that the product has in Azure, which need not be that of the object.
    #[tokio::test]
    async fn subscriptions_go_too() {
        for doubles in [Doubles::answering(json!({})), Doubles::default()] {
            let deleted = delete(&doubles, Some(ID)).await;
            assert_eq!(deleted.expect("an answer"), Write::Completed);
            let request =
                format!("DELETE {ID}?api-version=2022-08-01&deleteSubscriptions=true if-match *");
            assert_eq!(doubles.requests(), [request]);
        }
    }

    #[tokio::test]
    async fn what_azure_refuses_is_told_and_nothing_else_is_sent() {
        let doubles = Doubles::refusing(409, "Conflict");
        assert!(matches!(
            delete(&doubles, Some(ID)).await,
            Err(ExtensionError::Azure { .. })
        ));
        assert_eq!(doubles.requests().len(), 1);
    }

    #[tokio::test]
    async fn without_an_id_nothing_is_sent() {
        let doubles = Doubles::default();
        assert!(delete(&doubles, None).await.is_err());
        doubles.assert_untouched();
    }
}
