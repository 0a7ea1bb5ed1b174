//! Azure Resource Graph tells what changed, so that what it shows need not be read at every sync.

use std::time::Duration;

use armature::{Operator, OperatorConfig};
use armature_controlplane::waiting::until_ok;
use armature_e2e::{Objects, World};
use armature_exposure::scrape;
use armature_simulator::FaultRule;
use serde_json::json;

use crate::{SUBSCRIPTION, is_ready, resource_group, sent, wait_until};

/// Time between two looks at what the Graph does not show.
const SYNC: Duration = Duration::from_secs(20);

/// Resource groups: enough for the Graph to be asked every few seconds.
const GROUPS: usize = 40;

/// The namespace, the operator's and the objects'.
const NAMESPACE: &str = "graph";

fn network(name: &str) -> String {
    format!(
        "
apiVersion: network.azure.com/v1api20201101
kind: VirtualNetwork
metadata: {{name: {name}, namespace: graph}}
spec:
  location: westeurope
  owner: {{name: graph-0}}
  addressSpace: {{addressPrefixes: [10.0.0.0/16]}}
  tags: {{team: web}}
"
    )
}

const SUBNET: &str = "
apiVersion: network.azure.com/v1api20201101
kind: VirtualNetworksSubnet
metadata: {name: graph-subnet, namespace: graph}
spec:
  owner: {name: graph-vnet}
  addressPrefix: 10.0.0.0/24
";

fn group(number: usize) -> String {
    format!("{SUBSCRIPTION}/resourceGroups/graph-{number}")
}

/// Applies a manifest for the operator of this test.
async fn apply(objects: &Objects, manifest: &str) {
    let mut manifest: serde_json::Value = serde_saphyr::from_str(manifest).unwrap();
    manifest["metadata"]["annotations"] =
        json!({"serviceoperator.azure.com/operator-namespace": NAMESPACE});
    objects.apply_value(&manifest).await.unwrap();
}

/// The value of a metric's line; nothing where there is none.
async fn metric(operator: &Operator, line: &str) -> Option<u64> {
    let text = scrape(operator.metrics_address().unwrap()).await.unwrap();
    let found = text.lines().find_map(|it| it.strip_prefix(line))?;
    found.trim().parse().ok()
}

/// Reads of all groups so far.
fn reads(world: &World) -> usize {
    (0..GROUPS)
        .map(|number| sent(world, "GET", &group(number)))
        .sum()
}

#[test]
fn a_change_is_told_of_and_what_the_graph_does_not_show_is_read_as_ever() {
    World::shared().run(NAMESPACE, async |world, objects| {
        let config = OperatorConfig {
            sync_period: Some(SYNC),
            longest_rest: Some(Duration::from_secs(24 * 3600)),
            graph_period: Some(Duration::from_secs(1)),
            metrics_listen: Some("127.0.0.1:0".parse().unwrap()),
            ..world.operator_config(NAMESPACE)
        };
        let operator = Operator::start(config).await.unwrap();
        for number in 0..GROUPS {
            apply(
                &objects,
                &resource_group(&format!("graph-{number}"), NAMESPACE),
            )
            .await;
        }
        for name in ["graph-vnet", "graph-plain"] {
            apply(&objects, &network(name)).await;
        }
        apply(&objects, SUBNET).await;
        let ready = async |kind: &str, name: &str| {
            objects.wait_ready(kind, name, is_ready).await;
        };
        for number in 0..GROUPS {
            ready("ResourceGroup", &format!("graph-{number}")).await;
        }
        ready("VirtualNetworksSubnet", "graph-subnet").await;
        let covered = GROUPS as u64 + 2;
        wait_until(
            "the Graph to show the groups and the networks",
            async || metric(&operator, "armature_graph_objects ").await == Some(covered),
        )
        .await;

        let networks = format!("{}/providers/Microsoft.Network/virtualNetworks", group(0));
        let network = format!("{networks}/graph-plain");
        let subnet = format!("{networks}/graph-vnet/subnets/graph-subnet");
        // Our own writes are changes too, and are read once more. Then nothing but the subnet is, which is no tracked resource
        // and so is read at each sync.
        let looks = || sent(world, "GET", &subnet);
        until_ok("syncs that leave the groups alone", async || {
            let (groups, before) = (reads(world), looks());
            wait_until("two syncs of the subnet", async || looks() >= before + 2).await;
            match reads(world) - groups {
                few if few < GROUPS / 4 => Ok(()),
                many => Err(format!("{many} reads of {GROUPS} groups within two syncs")),
            }
        })
        .await;

        // At their next syncs they rest: whoever finds these was told.
        let azure = world.azure();
        azure
            .drift(&network, &json!({"tags": {"team": "other"}}))
            .unwrap();
        azure.remove(&group(7)).unwrap();
        for changed in [&network, &group(7)] {
            wait_until("the repair", async || sent(world, "PUT", changed) == 2).await;
        }
        let read = r#"armature_graph_hints_total{result="read"} "#;
        assert!(metric(&operator, read).await >= Some(2));
        falls_back(world, &operator).await;
        operator.stop().await;
    });
}

/// Without the right to ask, everything is read at its syncs.
async fn falls_back(world: &World, operator: &Operator) {
    world.azure().add_fault(FaultRule {
        path: Some("/providers/Microsoft.ResourceGraph/resources$".to_owned()),
        status: Some(403),
        ..FaultRule::default()
    });
    let refused = r#"armature_graph_credentials{state="refused"} "#;
    wait_until("the refusal", async || {
        metric(operator, refused).await == Some(1)
    })
    .await;
    let looks = metric(operator, "armature_graph_looks_total ").await;
    let drifted = group(9);
    world
        .azure()
        .drift(
            &drifted,
            &json!({"location": "westeurope", "tags": {"by": "hand"}}),
        )
        .unwrap();
    let before = sent(world, "GET", &drifted);
    wait_until("the sync", async || sent(world, "GET", &drifted) > before).await;
    assert_eq!(metric(operator, "armature_graph_looks_total ").await, looks);
    assert_eq!(metric(operator, "armature_graph_objects ").await, Some(0));
}
