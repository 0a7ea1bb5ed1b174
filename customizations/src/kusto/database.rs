//! Database: nothing is asked about it while its cluster is busy.

use armature_generated::kusto::hub::{Cluster, ClusterKind, DatabaseKind};
use armature_runtime::extension::{
    Context, ExtensionError, Next, PreCheck, PreReconciliationOwnerChecker,
};
use async_trait::async_trait;

use super::state::takes_changes;

/// Blocks unless the owning cluster is in a final state. A cluster whose state is not known blocks too: a
/// database below it could not be changed.
#[derive(Debug)]
pub struct DatabaseOwnerState;

#[async_trait]
impl PreReconciliationOwnerChecker for DatabaseOwnerState {
    type Hub = DatabaseKind;
    type Owner = ClusterKind;

    async fn check(
        &self,
        _context: &Context,
        cluster: &Cluster,
        next: Next<'_, PreCheck>,
    ) -> Result<PreCheck, ExtensionError> {
        let status = cluster.status.as_ref();
        let state = status.and_then(|status| status.provisioning_state.as_ref());
        let found = match state.map(|state| state.as_str()) {
            Some(state) if takes_changes(state) => return next.call().await,
            Some(state) => format!("is in provisioningState '{state}'"),
            None => "has no provisioningState, Azure reports none".to_owned(),
        };
        let name = cluster.metadata.name.as_deref().unwrap_or_default();
        Ok(PreCheck::Block(format!(
            "the owning cluster '{name}' {found}; waiting for Succeeded, Failed or Canceled"
        )))
    }
}

#[cfg(test)]
mod tests {
    use armature_generated::kusto::hub::ClusterStatus;
    use armature_generated::{kusto, resources};
    use armature_runtime::extension::typed;

    use super::*;
    use crate::testing::{Doubles, failing, object, proceed};

    fn cluster(state: Option<&str>) -> Cluster {
        let mut cluster = Cluster {
            status: Some(ClusterStatus {
                provisioning_state: state.map(Into::into),
                ..ClusterStatus::default()
            }),
            ..Cluster::default()
        };
        cluster.metadata.name = Some("sample".to_owned());
        cluster
    }

    async fn check(owner: &Cluster) -> Result<PreCheck, ExtensionError> {
        let doubles = Doubles::default();
        let result = DatabaseOwnerState
            .check(&doubles.context(), owner, proceed())
            .await;
        doubles.assert_untouched();
        result
    }

    #[tokio::test]
    async fn proceeds_in_final_states() {
        for state in ["Succeeded", "SUCCEEDED", "failed", "Canceled"] {
            let result = check(&cluster(Some(state))).await;
            assert_eq!(result.expect("a result"), PreCheck::Proceed, "{state}");
        }
    }

    #[tokio::test]
    async fn blocks_in_other_states_and_names_cluster_and_state() {
        for state in ["Creating", "Updating", "Deleting", "Moving"] {
            match check(&cluster(Some(state))).await.expect("a result") {
                PreCheck::Block(reason) => {
                    assert!(
                        reason.contains(state) && reason.contains("'sample'"),
                        "{reason}"
                    );
                }
                other => panic!("{state}: {other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn blocks_while_the_state_is_unknown() {
        for owner in [Cluster::default(), cluster(None)] {
            match check(&owner).await.expect("a result") {
                PreCheck::Block(reason) => {
                    assert!(reason.contains("no provisioningState"), "{reason}")
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn proceeds_on_a_retry_once_the_state_is_final() {
        let busy = check(&cluster(Some("Updating"))).await.expect("a result");
        assert!(matches!(busy, PreCheck::Block(_)));
        let ready = check(&cluster(Some("Succeeded"))).await.expect("a result");
        assert_eq!(ready, PreCheck::Proceed);
    }

    #[tokio::test]
    async fn errors_of_the_default_are_passed_on() {
        let context = Doubles::default().context();
        let ready = cluster(Some("Succeeded"));
        assert!(
            DatabaseOwnerState
                .check(&context, &ready, failing())
                .await
                .is_err()
        );
        let busy = cluster(Some("Updating"));
        let blocked = DatabaseOwnerState.check(&context, &busy, failing()).await;
        assert!(matches!(blocked, Ok(PreCheck::Block(_))));
    }

    #[test]
    fn an_owner_of_another_kind_is_an_error() {
        let group = object(&resources::kinds::RESOURCE_GROUP, "group");
        match typed::<<DatabaseOwnerState as PreReconciliationOwnerChecker>::Owner>(&group) {
            Err(ExtensionError::WrongKind { expected, found }) => {
                assert_eq!(expected, "Cluster.kusto.azure.com");
                assert!(found.contains("group"), "{found}");
            }
            other => panic!("{:?}", other.map(|cluster| cluster.metadata.name)),
        }
        let right = object(&kusto::kinds::CLUSTER, "cluster");
        assert!(
            typed::<<DatabaseOwnerState as PreReconciliationOwnerChecker>::Owner>(&right).is_ok()
        );
    }
}
