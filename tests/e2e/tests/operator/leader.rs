//! Two replicas, of which one works.

use std::time::Duration;

use armature::{Operator, OperatorConfig};
use armature_e2e::{World, identity};
use armature_runtime::kubernetes::LeaseTimes;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

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
            leader_election: Some(LeaseTimes {
                retry: Duration::from_millis(200),
                ..LeaseTimes::default()
            }),
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
            .wait_ready("ResourceGroup", "leader-one", LIMIT, is_ready)
            .await;
        // Long enough for several attempts of the second, and for syncs.
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(workers(world, "leader-one"), [FIRST]);
        assert_eq!(holder().await, first_holder);

        first.stop().await;
        let stopped = std::time::Instant::now();
        wait_until("the second leads", async || {
            let holder = holder().await;
            !holder.is_empty() && holder != first_holder
        })
        .await;
        // It did not wait for the Lease to expire.
        assert!(stopped.elapsed() < LeaseTimes::default().lease);
        objects.apply(&group("leader-two")).await.unwrap();
        objects
            .wait_ready("ResourceGroup", "leader-two", LIMIT, is_ready)
            .await;
        assert_eq!(workers(world, "leader-two"), [SECOND]);

        let stolen = json!({ "spec": { "holderIdentity": "a thief" } });
        leases
            .patch(LEASE, &PatchParams::default(), &Patch::Merge(stolen))
            .await
            .unwrap();
        tokio::time::timeout(LIMIT, second.ended())
            .await
            .expect("it ends when the Lease is lost");
        second.stop().await;
        assert_eq!(holder().await, "a thief");
    });
}
