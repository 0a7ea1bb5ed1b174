//! An operator that is stopped while Azure works goes on where it was.

use std::time::Duration;

use armature::Operator;
use armature_e2e::World;
use armature_simulator::{FaultRule, OperationRule, Query, Style};

use crate::{SUBSCRIPTION, has_reason, is_ready, sent, wait_until};

const TYPE: &str = "Microsoft.Network/publicIPAddresses";

const MANIFESTS: [&str; 2] = [
    "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: restart-rg
  namespace: restart
  annotations: {serviceoperator.azure.com/operator-namespace: restart}
spec: {location: westeurope}
",
    "
apiVersion: network.azure.com/v1api20201101
kind: PublicIPAddress
metadata:
  name: restart-ip
  namespace: restart
  annotations: {serviceoperator.azure.com/operator-namespace: restart}
spec:
  location: westeurope
  owner: {name: restart-rg}
  sku: {name: Standard}
  publicIPAllocationMethod: Static
",
];

#[test]
fn a_running_operation_is_resumed_after_a_restart() {
    World::shared().run("restart", async |world, objects| {
        let slow = OperationRule {
            put: Some(Style::AsyncOperation),
            retry_after: Some(1),
            ..OperationRule::default()
        };
        world.azure().set_operation_rule(Some(TYPE), slow);
        let id = format!("{SUBSCRIPTION}/resourceGroups/restart-rg/providers/{TYPE}/restart-ip");
        world.azure().add_fault(FaultRule {
            path: Some(id.clone()),
            method: Some("PUT".to_owned()),
            endless: true,
            ..FaultRule::default()
        });
        let config = world.operator_config("restart");
        let operator = Operator::start(config.clone()).await.unwrap();
        for manifest in MANIFESTS {
            objects.apply(manifest).await.unwrap();
        }
        objects
            .wait_ready("PublicIPAddress", "restart-ip", has_reason("Reconciling"))
            .await;
        wait_until("the PUT is sent", async || sent(world, "PUT", &id) == 1).await;
        operator.stop().await;

        let object = objects
            .get("PublicIPAddress", "v1api20201101", "restart-ip")
            .await
            .unwrap();
        let token =
            &object["metadata"]["annotations"]["serviceoperator.azure.com/poller-resume-token"];
        assert!(
            token.is_string(),
            "the operation is not in the object: {object:#}"
        );
        let polls = |after: u64| {
            let all = world.azure().requests(&Query {
                after: Some(after),
                ..Query::default()
            });
            let of_it = |subject: &str| subject.eq_ignore_ascii_case(&id);
            all.iter()
                .filter(|sent| sent.subject.as_deref().is_some_and(of_it))
                .count()
        };
        let stopped = world.azure().sequence();
        // Longer than the time between two polls.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(polls(stopped), 0);

        let operator = Operator::start(config).await.unwrap();
        wait_until("the operation is followed", async || polls(stopped) > 0).await;
        world.azure().finish_operations(&id).unwrap();
        objects
            .wait_ready("PublicIPAddress", "restart-ip", is_ready)
            .await;
        assert_eq!(sent(world, "PUT", &id), 1);
        operator.stop().await;
    });
}
