//! Whatever one tenant stores costs only that tenant: beside one object of each odd form in his namespace, the objects of another one
//! are converted, looked at and deleted as before, and whoever may list all namespaces reads them.
//!
//! | module | what lives here |
//! |---|---|
//! | [`tenants`] | who may do what an editor of a namespace may, and no more |
//! | [`forms`] | the odd objects |
//! | [`load`] | how long the other tenant waits, without the API server's own part |
//!
//! What does not live here: clients of the webhook that say nothing, and what must not be in the log
//! (`operator/tests/odd_objects.rs`).

mod costly;
mod forms;
mod load;
pub mod tenants;

use std::time::{Duration, Instant};

use self::forms::FORMS;
use self::load::{Load, Took, lists_all};
use self::tenants::Tenant;
use crate::chart::NAMESPACE;
use crate::cluster::Cluster;

/// By how much longer the other tenant may wait.
const MORE: Duration = Duration::from_secs(1);

/// Memory that the chart gives the pod, in MiB.
const MEMORY: u64 = 512;

/// By how much longer the other tenant may wait while the machine stalls, and how often that may be in a row.
const STALL: Duration = Duration::from_secs(30);
const STALLS: usize = 8;

/// Measures that nobody waits longer than he may. A short stall of the machine passes; what an odd object costs does not, even if it
/// ends by itself.
async fn waits_no_longer(load: &mut Load<'_>, quiet: Took, beside: &str) {
    for stalls in 0.. {
        let took = load.take().await;
        println!("beside {beside}: {took:?}");
        if took.is_at_most(quiet, MORE) {
            return;
        }
        let is_stall = stalls < STALLS && took.is_at_most(quiet, STALL);
        assert!(is_stall, "beside {beside}: {took:?}, and {quiet:?} without");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_objects_of_one_tenant_cost_no_other() {
    let began = Instant::now();
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
        let begun = Instant::now();
        form(&cluster, &odd).await;
        let (made, loaded) = (begun.elapsed(), Instant::now());
        waits_no_longer(&mut load, quiet, name).await;
        let (loaded, all) = (loaded.elapsed(), lists_all(&cluster).await);
        println!(
            "beside {name}: {all:?} for all namespaces; made in {made:.1?}, looked at in {loaded:.1?}"
        );
    }
    // From now on everything comes from lists.
    pod.terminate().await;
    let pod = cluster.run(&manifests, "armature-1", "127.0.0.1").await;
    waits_no_longer(&mut load, quiet, "all of them, after a restart").await;
    let peak = pod.peak_memory() >> 20;
    println!("{peak} MiB at most, with all of them listed");
    assert!(peak <= MEMORY, "{peak} MiB: the pod would have been killed");
    pod.terminate().await;
    println!("{:?} in all", began.elapsed());
}
