//! An operator of several namespaces, one of which is gone: the RoleBinding in it went along, so nothing there can be listed.

use crate::chart::NAMESPACE;
use crate::cluster::{Cluster, namespace};
use crate::install::works;

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_cannot_be_listed_stops_no_other() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team"] {
        cluster.apply(&namespace(name)).await;
    }
    let keeper = cluster.render(&["azureOperatorMode=webhooks"]).await;
    let manager = [
        "azureOperatorMode=watchers",
        "azureTargetNamespaces={team,gone}",
        "serviceAccount.name=manager",
    ];
    let manager = cluster.render_release("armature-team", &manager).await;
    for manifest in keeper.iter().chain(&manager) {
        if manifest["metadata"]["namespace"] != "gone" {
            cluster.apply(manifest).await;
        }
    }
    let keeper = cluster.run(&keeper, "keeper-0", "127.0.0.1").await;
    let manager = cluster.run(&manager, "manager-0", "127.0.0.1").await;
    works(&cluster).await;
    for pod in [manager, keeper] {
        pod.terminate().await;
    }
}
