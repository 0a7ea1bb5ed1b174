//! Children that also stand in their parent's body outlive a change of the parent.

use armature_e2e::{Objects, World};
use armature_simulator::Query;
use serde_json::{Value, json};

use crate::{SUBSCRIPTION, is_ready, resource_group};

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
        .wait_ready(kind, name, |condition| {
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
            objects.wait_ready(child.0, child.1, is_ready).await;
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
            objects.wait_ready(child.0, child.1, is_ready).await;
        }
        let azure = world.azure().resource(&network).unwrap();
        let prefixes = azure["properties"]["addressSpace"]["addressPrefixes"].as_array();
        assert_eq!(prefixes.map(Vec::len), Some(2));
        let azure = world.azure().resource(&security_group).unwrap();
        assert_eq!(azure["tags"]["changed"], "yes");
    });
}

const BALANCER: &str = "
apiVersion: network.azure.com/v20250301
kind: LoadBalancer
metadata: {name: kept-lb, namespace: kept}
spec:
  location: westeurope
  owner: {name: kept-rg}
  sku: {name: Standard}
";

const SCALE_SET: &str = "
apiVersion: compute.azure.com/v20220301
kind: VirtualMachineScaleSet
metadata: {name: kept-vmss, namespace: kept}
spec:
  location: westeurope
  owner: {name: kept-rg}
  sku: {name: Standard_D2s_v5, capacity: 2}
  virtualMachineProfile: {priority: Regular}
";

/// `keep-unknown` in `specs/network/group.toml` and `specs/compute/group.toml`.
#[test]
fn rules_and_extensions_of_others_outlive_changes() {
    World::shared().run("kept", async |world, objects| {
        let group = resource_group("kept-rg", "kept");
        objects.apply(&group).await.unwrap();
        let in_group = format!("{SUBSCRIPTION}/resourceGroups/kept-rg/providers");
        let rule = json!([{"name": "ssh", "properties": {
            "protocol": "Tcp", "frontendPort": 50000, "backendPort": 22,
        }}]);
        let extension = json!([{"name": "health", "properties": {
            "publisher": "Microsoft.ManagedServices", "type": "ApplicationHealthLinux",
        }}]);
        for (kind, name, manifest, id, list, theirs) in [
            (
                "LoadBalancer",
                "kept-lb",
                BALANCER,
                "Microsoft.Network/loadBalancers/kept-lb",
                "/properties/inboundNatRules",
                json!({"properties": {"inboundNatRules": rule}}),
            ),
            (
                "VirtualMachineScaleSet",
                "kept-vmss",
                SCALE_SET,
                "Microsoft.Compute/virtualMachineScaleSets/kept-vmss",
                "/properties/virtualMachineProfile/extensionProfile/extensions",
                json!({"properties": {"virtualMachineProfile": {"extensionProfile": {"extensions": extension}}}}),
            ),
        ] {
            let id = format!("{in_group}/{id}");
            objects.apply(manifest).await.unwrap();
            objects.wait_ready(kind, name, is_ready).await;
            world.azure().drift(&id, &theirs).unwrap();
            change(&objects, kind, name, &format!("{manifest}  tags: {{changed: 'yes'}}\n")).await;
            let puts = writes(world, &id);
            assert_eq!(puts.len(), 2, "one at the creation, one for the change: {puts:#?}");
            let names = |body: &Value| {
                let items = body.pointer(list).and_then(Value::as_array);
                let names = items.into_iter().flatten().map(|item| item["name"].clone());
                names.collect::<Vec<_>>()
            };
            let expected = names(&theirs);
            assert_eq!(names(&puts[1].1), expected, "{:#}", puts[1].1);
            let azure = world.azure().resource(&id).unwrap();
            assert_eq!(azure["tags"]["changed"], "yes");
            assert_eq!(names(&azure), expected, "{azure:#}");
        }
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
            .wait_ready("VirtualNetworksSubnet", "misnamed-subnet", |ready| {
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
