//! Cluster: no PUT while it is busy.

use armature_generated::kusto::hub::{Cluster, ClusterKind};
use armature_runtime::extension::{
    Context, ExtensionError, Next, PreCheck, PreReconciliationChecker,
};
use async_trait::async_trait;

use super::state::takes_changes;

/// Blocks while the cluster is in no final state. A cluster without a state, which Azure does not have yet, is
/// not blocked.
#[derive(Debug)]
pub struct ClusterState;

#[async_trait]
impl PreReconciliationChecker for ClusterState {
    type Hub = ClusterKind;

    async fn check(
        &self,
        _context: &Context,
        cluster: &Cluster,
        next: Next<'_, PreCheck>,
    ) -> Result<PreCheck, ExtensionError> {
        let status = cluster.status.as_ref();
        let state = status.and_then(|status| status.provisioning_state.as_ref());
        match state.map(|state| state.as_str()) {
            Some(state) if !takes_changes(state) => Ok(PreCheck::Block(format!(
                "the cluster is in provisioningState '{state}' and takes no changes; waiting for Succeeded, \
                 Failed or Canceled"
            ))),
            _ => next.call().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use armature_generated::kusto::hub::ClusterStatus;

    use super::*;
    use crate::testing::{Doubles, failing, proceed};

    fn cluster(state: Option<&str>) -> Cluster {
        Cluster {
            status: Some(ClusterStatus {
                provisioning_state: state.map(Into::into),
                ..ClusterStatus::default()
            }),
            ..Cluster::default()
        }
    }

    async fn check(cluster: &Cluster) -> Result<PreCheck, ExtensionError> {
        let doubles = Doubles::default();
        let result = ClusterState
            .check(&doubles.context(), cluster, proceed())
            .await;
        doubles.assert_untouched();
        result
    }

    #[tokio::test]
    async fn proceeds_in_final_states() {
        for state in ["Succeeded", "failed", "CANCELED"] {
            let result = check(&cluster(Some(state))).await;
            assert_eq!(result.expect("a result"), PreCheck::Proceed, "{state}");
        }
    }

    #[tokio::test]
    async fn blocks_in_other_states_and_names_them() {
        for state in ["Creating", "Updating", "Deleting", "Stopping"] {
            match check(&cluster(Some(state))).await.expect("a result") {
                PreCheck::Block(reason) => assert!(reason.contains(state), "{reason}"),
                other => panic!("{state}: {other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn a_cluster_that_does_not_exist_yet_can_be_created() {
        for cluster in [Cluster::default(), cluster(None)] {
            assert_eq!(check(&cluster).await.expect("a result"), PreCheck::Proceed);
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
        let error = ClusterState.check(&context, &ready, failing()).await;
        assert!(error.is_err());
        // Blocked checks do not ask the default at all.
        let busy = cluster(Some("Updating"));
        let blocked = ClusterState.check(&context, &busy, failing()).await;
        assert!(matches!(blocked, Ok(PreCheck::Block(_))));
    }
}
