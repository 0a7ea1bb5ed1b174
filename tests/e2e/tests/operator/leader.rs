//! Two replicas, of which one works.

use std::time::{Duration, Instant};

use armature::{Operator, OperatorConfig};
use armature_controlplane::waiting::until_ended;
use armature_e2e::{World, identity};
use armature_runtime::kubernetes::LeaseTimes;
use armature_simulator::{LoggedRequest, Query};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

use crate::faults::proxy::Proxy;
use crate::faults::relay::Relay;
use crate::{LIMIT, is_ready, wait_until, workers};

const NAMESPACE: &str = "leader";
const LEASE: &str = "controllers-leader-election-azinfra-generated";
const FIRST: &str = "00000000-0000-0000-0000-0000000000f1";
const SECOND: &str = "00000000-0000-0000-0000-0000000000f2";

fn group(name: &str) -> String {
    format!(
        "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: {name}
  namespace: {NAMESPACE}
  annotations: {{serviceoperator.azure.com/operator-namespace: {NAMESPACE}}}
spec: {{location: westeurope}}
"
    )
}

#[test]
fn one_replica_works_and_the_next_takes_over() {
    World::shared().run(NAMESPACE, async |world, objects| {
        let leases: Api<Lease> = Api::namespaced(world.client().clone(), NAMESPACE);
        let holder = async || {
            let lease = leases.get_opt(LEASE).await.unwrap();
            let spec = lease.and_then(|lease| lease.spec);
            spec.and_then(|spec| spec.holder_identity)
                .unwrap_or_default()
        };
        let mut config = OperatorConfig {
            leader_election: Some(TIMES),
            sync_period: Some(Duration::from_secs(1)),
            ..world.operator_config(NAMESPACE)
        };
        config.arm.identity = identity(FIRST).unwrap().into();
        let first = Operator::start(config.clone()).await.unwrap();
        wait_until("the first leads", async || !holder().await.is_empty()).await;
        let first_holder = holder().await;
        config.arm.identity = identity(SECOND).unwrap().into();
        let mut second = Operator::start(config).await.unwrap();

        objects.apply(&group("leader-one")).await.unwrap();
        objects
            .wait_ready("ResourceGroup", "leader-one", is_ready)
            .await;
        // Long enough for several attempts of the second, and for syncs.
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(workers(world, "leader-one"), [FIRST]);
        assert_eq!(holder().await, first_holder);

        first.stop().await;
        let stopped = Instant::now();
        // Nobody has to wait for the Lease to expire.
        assert_ne!(holder().await, first_holder, "the Lease is given back");
        wait_until("the second leads", async || {
            let holder = holder().await;
            !holder.is_empty() && holder != first_holder
        })
        .await;
        println!(
            "another one leads {:?} after the end of the first",
            stopped.elapsed()
        );
        wait_until("the second looks at what is there", async || {
            workers(world, "leader-one").contains(&SECOND.to_owned())
        })
        .await;
        println!("and is at work after {:?}", stopped.elapsed());
        objects.apply(&group("leader-two")).await.unwrap();
        objects
            .wait_ready("ResourceGroup", "leader-two", is_ready)
            .await;
        assert_eq!(workers(world, "leader-two"), [SECOND]);

        let stolen = json!({ "spec": { "holderIdentity": "a thief" } });
        leases
            .patch(LEASE, &PatchParams::default(), &Patch::Merge(stolen))
            .await
            .unwrap();
        until_ended("the end of who lost the Lease", second.ended()).await;
        second.stop().await;
        assert_eq!(holder().await, "a thief");
    });
}

const LATE: &str = "late";
/// Times of these elections: a busy machine renews in time, too. What is between the two limits is for requests that are on
/// their way.
const TIMES: LeaseTimes = LeaseTimes {
    lease: Duration::from_secs(30),
    renew: Duration::from_secs(20),
    retry: Duration::from_millis(200),
};
/// Resource groups that are written all the time.
const GROUPS: usize = 8;

/// Requests of an operator for the groups of this test that are writes, or all of them.
fn sent_by(world: &World, operator: &str, only_writes: bool) -> Vec<LoggedRequest> {
    let query = Query {
        path: Some("/resourceGroups/late-".to_owned()),
        ..Query::default()
    };
    let mut requests = world.azure().requests(&query);
    requests.retain(|request| {
        request.principal == operator && !(only_writes && request.method == "GET")
    });
    requests
}

/// The API server carries renewals out, answers them late, and then not at all.
#[test]
fn a_leader_that_cannot_renew_stops_writing_before_the_next_one_starts() {
    World::shared().run(LATE, async |world, objects| {
        let (proxy, address) = Proxy::start(world.plane().client().await.unwrap()).await;
        let mut config = OperatorConfig {
            leader_election: Some(TIMES),
            sync_period: Some(Duration::from_millis(500)),
            max_concurrent_reconciles: Some(GROUPS),
            ..world.operator_config(LATE)
        };
        config.arm.identity = identity(SECOND).unwrap().into();
        let direct = config.clone();
        config.arm.identity = identity(FIRST).unwrap().into();
        config.kubernetes = kube::Config::new(format!("http://{address}").parse().unwrap());
        let mut first = Operator::start(config).await.unwrap();
        for number in 0..GROUPS {
            let name = format!("late-{number}");
            let group = json!({
                "apiVersion": "resources.azure.com/v1api20200601",
                "kind": "ResourceGroup",
                "metadata": {"name": name, "namespace": LATE, "annotations": {
                    "serviceoperator.azure.com/operator-namespace": LATE,
                    "armature.azure.com/always-put": "true",
                }},
                "spec": {"location": "westeurope"},
            });
            objects.apply_value(&group).await.unwrap();
            objects.wait_ready("ResourceGroup", &name, is_ready).await;
        }
        let second = Operator::start(direct).await.unwrap();

        let lease = format!("/apis/coordination.k8s.io/v1/namespaces/{LATE}/leases/{LEASE}");
        // What counted from the answer would last longer than the Lease.
        proxy.delay(&lease, Duration::ZERO, TIMES.renew * 3 / 4);
        tokio::time::sleep(Duration::from_secs(1)).await;
        proxy.delay(&lease, LIMIT, Duration::ZERO);
        let silent = Instant::now();
        wait_until("the second one works", async || {
            !sent_by(world, SECOND, true).is_empty()
        })
        .await;
        println!(
            "another one writes {:?} after the last answer",
            silent.elapsed()
        );
        until_ended("the end of the first one", first.ended()).await;
        let begins = &sent_by(world, SECOND, false)[0];
        let writes = sent_by(world, FIRST, true);
        let last = writes.last().expect("it wrote before");
        println!("the first one stopped {:.1} before", begins.at - last.at);
        assert!(
            last.sequence < begins.sequence,
            "{last:?} came after {begins:?}"
        );
        first.stop().await;
        second.stop().await;
    });
}

const SILENT: &str = "silent";

/// A gateway forgets the leader's connections, and tells nobody.
#[test]
fn a_leader_whose_connections_fall_silent_goes_on() {
    World::shared().run(SILENT, async |world, _| {
        let mut config = OperatorConfig {
            leader_election: Some(LeaseTimes::default()),
            ..world.operator_config(SILENT)
        };
        let server = config.kubernetes.cluster_url.authority().unwrap();
        let (relay, address) = Relay::start(server.as_str().parse().unwrap()).await;
        config.kubernetes.cluster_url = format!("https://{address}").parse().unwrap();
        let leases: Api<Lease> = Api::namespaced(world.client().clone(), SILENT);
        let lease = async || {
            let lease = leases.get_opt(LEASE).await.unwrap();
            let spec = lease.and_then(|lease| lease.spec).unwrap_or_default();
            (
                spec.holder_identity,
                spec.lease_transitions,
                spec.renew_time,
            )
        };
        let operator = Operator::start(config).await.unwrap();
        wait_until("it leads", async || lease().await.0.is_some()).await;
        let before = lease().await;
        relay.silence();
        let silent = k8s_openapi::jiff::Timestamp::now();
        // A leader that has given up renews nothing, and this waits in vain.
        let later = silent + LeaseTimes::default().renew + Duration::from_secs(5);
        wait_until("a later renewal", async || {
            lease().await.2.is_some_and(|renewed| renewed.0 > later)
        })
        .await;
        let after = lease().await;
        assert_eq!(
            (after.0, after.1),
            (before.0, before.1),
            "the same one leads"
        );
        operator.stop().await;
    });
}
