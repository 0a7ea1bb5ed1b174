//! Whatever one tenant stores costs only that tenant: beside one object of each odd form in his namespace, the objects of another one
//! are converted, looked at and deleted as before.
//!
//! | module | what lives here |
//! |---|---|
//! | [`tenants`] | who may do what an editor of a namespace may, and no more |
//! | [`forms`] | the odd objects |
//! | [`load`] | how long the other tenant waits, without the API server's own part |
//!
//! What does not live here: clients of the webhook that say nothing, and what must not be in the log
//! (`operator/tests/odd_objects.rs`).

mod forms;
mod load;
pub mod tenants;

use std::time::Duration;

use armature_controlplane::waiting::until_ok;

use self::forms::FORMS;
use self::load::{Load, Took};
use self::tenants::Tenant;
use crate::chart::NAMESPACE;
use crate::cluster::Cluster;

/// By how much longer the other tenant may wait.
const MORE: Duration = Duration::from_secs(1);

/// Memory that the chart gives the pod, in MiB.
const MEMORY: u64 = 512;

/// Measures until nobody waits longer than he may. A stall of the machine passes, what an odd object costs does not.
async fn waits_no_longer(load: &mut Load<'_>, quiet: Took, beside: &str) {
    let what = format!("the other tenant's objects to be served beside {beside}");
    let took = until_ok(&what, async || {
        let took = load.take().await;
        match took.is_at_most(quiet, MORE) {
            true => Ok(took),
            false => Err(format!("{took:?}, and {quiet:?} without")),
        }
    })
    .await;
    println!("beside {beside}: {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_objects_of_one_tenant_cost_no_other() {
    let cluster = Cluster::start().await;
    let manifests = cluster.install(&[NAMESPACE, "team", "other"]).await;
    let pod = cluster.run(&manifests, "armature-0", "127.0.0.1").await;
    let (odd, other) = (
        Tenant::admit(&cluster, "team").await,
        Tenant::admit(&cluster, "other").await,
    );
    let mut load = Load::begin(&cluster, &other).await;
    let quiet = load.take().await;
    println!("alone: {quiet:?}");
    for (name, form) in FORMS {
        form(&cluster, &odd).await;
        waits_no_longer(&mut load, quiet, name).await;
    }
    // From now on everything comes from lists.
    pod.terminate().await;
    let pod = cluster.run(&manifests, "armature-1", "127.0.0.1").await;
    waits_no_longer(&mut load, quiet, "all of them, after a restart").await;
    let peak = pod.peak_memory() >> 20;
    println!("{peak} MiB at most, with all of them listed");
    assert!(peak <= MEMORY, "{peak} MiB: the pod would have been killed");
    pod.terminate().await;
}
