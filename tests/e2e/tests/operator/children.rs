//! Children that also stand in their parent's body outlive a change of the parent.

use armature_e2e::{Objects, World};
use armature_simulator::Query;
use serde_json::Value;

use crate::{LIMIT, SUBSCRIPTION, is_ready, resource_group};

const NETWORK: &str = "
apiVersion: network.azure.com/v1api20201101
kind: VirtualNetwork
metadata: {name: children-vnet, namespace: children}
spec:
  location: westeurope
  owner: {name: children-rg}
  addressSpace: {addressPrefixes: [10.0.0.0/16]}
";

const SUBNET: &str = "
apiVersion: network.azure.com/v1api20201101
kind: VirtualNetworksSubnet
metadata: {name: children-subnet, namespace: children}
spec:
  owner: {name: children-vnet}
  addressPrefix: 10.0.0.0/24
";

const SECURITY_GROUP: &str = "
apiVersion: network.azure.com/v1api20201101
kind: NetworkSecurityGroup
metadata: {name: children-nsg, namespace: children}
spec:
  location: westeurope
  owner: {name: children-rg}
";

const RULE: &str = "
apiVersion: network.azure.com/v1api20201101
kind: NetworkSecurityGroupsSecurityRule
metadata: {name: children-rule, namespace: children}
spec:
  owner: {name: children-nsg}
  access: Allow
  direction: Inbound
  priority: 100
  protocol: Tcp
  sourceAddressPrefix: '*'
  sourcePortRange: '*'
  destinationAddressPrefix: '*'
  destinationPortRange: '443'
";

/// Requests to a resource that change it.
fn writes(world: &World, id: &str) -> Vec<(String, Value)> {
    let requests = world.azure().requests(&Query {
        path: Some(id.to_owned()),
        ..Query::default()
    });
    // The pattern takes what is below the resource as well.
    let writes = requests
        .into_iter()
        .filter(|entry| entry.method != "GET" && entry.path.eq_ignore_ascii_case(id));
    writes
        .map(|entry| (entry.method, entry.body.unwrap_or_default()))
        .collect()
}

/// Applies a change of an object that is ready, and waits until it is ready again.
async fn change(objects: &Objects, kind: &str, name: &str, manifest: &str) {
    let applied = objects.apply(manifest).await.unwrap();
    let generation = applied.metadata.generation.unwrap();
    objects
        .wait_ready(kind, name, LIMIT, |condition| {
            is_ready(condition) && condition["observedGeneration"] == generation
        })
        .await;
}

#[test]
fn subnets_and_rules_outlive_changes_of_their_parents() {
    World::shared().run("children", async |world, objects| {
        let group = resource_group("children-rg", "children");
        for manifest in [group.as_str(), NETWORK, SUBNET, SECURITY_GROUP, RULE] {
            objects.apply(manifest).await.unwrap();
        }
        let network = format!(
            "{SUBSCRIPTION}/resourceGroups/children-rg/providers/Microsoft.Network/virtualNetworks/children-vnet"
        );
        let security_group = format!(
            "{SUBSCRIPTION}/resourceGroups/children-rg/providers/Microsoft.Network/networkSecurityGroups/children-nsg"
        );
        let wider = NETWORK.replace("[10.0.0.0/16]", "[10.0.0.0/16, 10.1.0.0/16]");
        let tagged = format!("{SECURITY_GROUP}  tags: {{changed: 'yes'}}\n");
        for (parent, child, changed, id, list) in [
            (
                ("VirtualNetwork", "children-vnet"),
                ("VirtualNetworksSubnet", "children-subnet"),
                &wider,
                &network,
                "subnets",
            ),
            (
                ("NetworkSecurityGroup", "children-nsg"),
                ("NetworkSecurityGroupsSecurityRule", "children-rule"),
                &tagged,
                &security_group,
                "securityRules",
            ),
        ] {
            objects.wait_ready(child.0, child.1, LIMIT, is_ready).await;
            let child_id = format!("{id}/{list}/{}", child.1);
            let before = world.azure().resource(&child_id);
            assert!(before.is_some(), "{child_id} is in Azure");
            change(&objects, parent.0, parent.1, changed).await;

            let puts = writes(world, id);
            assert_eq!(puts.len(), 2, "one at the creation, one for the change: {puts:#?}");
            let (method, body) = &puts[1];
            assert_eq!(method, "PUT");
            let sent = &body["properties"][list];
            assert_eq!(sent.as_array().map(Vec::len), Some(1), "{body:#}");
            assert_eq!(sent[0]["name"], child.1, "{body:#}");

            assert_eq!(writes(world, &child_id).len(), 1, "its own PUT only");
            assert!(world.azure().resource(&child_id).is_some());
            objects.wait_ready(child.0, child.1, LIMIT, is_ready).await;
        }
        let azure = world.azure().resource(&network).unwrap();
        let prefixes = azure["properties"]["addressSpace"]["addressPrefixes"].as_array();
        assert_eq!(prefixes.map(Vec::len), Some(2));
        let azure = world.azure().resource(&security_group).unwrap();
        assert_eq!(azure["tags"]["changed"], "yes");
    });
}

/// A name that a URL would not keep makes no request, for its parent least of all.
#[test]
fn a_subnet_whose_name_leads_to_the_network_is_refused() {
    World::shared().run("misnamed", async |world, objects| {
        let here = |manifest: &str| manifest.replace("children", "misnamed");
        let subnet = here(SUBNET).replace("spec:\n", "spec:\n  azureName: '..'\n");
        for manifest in [
            resource_group("misnamed-rg", "misnamed"),
            here(NETWORK),
            subnet,
        ] {
            objects.apply(&manifest).await.unwrap();
        }
        let (condition, _) = objects
            .wait_ready("VirtualNetworksSubnet", "misnamed-subnet", LIMIT, |ready| {
                ready["severity"] == "Error"
            })
            .await;
        let message = condition["message"].as_str().unwrap();
        assert!(message.contains("spec.azureName"), "{message}");
        let network = format!(
            "{SUBSCRIPTION}/resourceGroups/misnamed-rg/providers/Microsoft.Network/virtualNetworks/misnamed-vnet"
        );
        assert_eq!(writes(world, &network).len(), 1, "of the network itself");
        assert!(world.azure().resource(&network).is_some());
    });
}
