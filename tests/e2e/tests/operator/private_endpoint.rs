//! A private endpoint waits for the owner of the service at its other end.

use armature_e2e::World;
use armature_simulator::ConnectionDecision;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Api;

use crate::{has_reason, is_ready, resource_group};

const NETWORK: &str = "
apiVersion: network.azure.com/v1api20201101
kind: VirtualNetwork
metadata: {name: endpoint-vnet, namespace: endpoint}
spec:
  location: westeurope
  owner: {name: endpoint-rg}
  addressSpace: {addressPrefixes: [10.0.0.0/16]}
";

const SUBNET: &str = "
apiVersion: network.azure.com/v1api20201101
kind: VirtualNetworksSubnet
metadata: {name: endpoint-subnet, namespace: endpoint}
spec:
  owner: {name: endpoint-vnet}
  addressPrefix: 10.0.0.0/24
";

const ENDPOINT: &str = "
apiVersion: network.azure.com/v1api20220701
kind: PrivateEndpoint
metadata: {name: endpoint-pe, namespace: endpoint}
spec:
  location: westeurope
  owner: {name: endpoint-rg}
  subnet:
    reference: {group: network.azure.com, kind: VirtualNetworksSubnet, name: endpoint-subnet}
  manualPrivateLinkServiceConnections:
    - name: partner
      requestMessage: please
      privateLinkServiceReference:
        armId: /subscriptions/00000000-0000-0000-0000-000000000009/resourceGroups/partner/providers/Microsoft.Network/privateLinkServices/partner
  operatorSpec:
    configMaps:
      primaryNicPrivateIpAddress: {name: endpoint, key: address}
";

#[test]
fn it_is_ready_once_its_connection_is_approved() {
    World::shared().run("endpoint", async |world, objects| {
        // The endpoint first: everything that it waits for comes later, and wakes it.
        objects.apply(ENDPOINT).await.unwrap();
        let missing = |condition: &serde_json::Value| condition["status"] == "False";
        objects
            .wait_ready("PrivateEndpoint", "endpoint-pe", missing)
            .await;
        objects
            .apply(&resource_group("endpoint-rg", "endpoint"))
            .await
            .unwrap();
        objects.apply(NETWORK).await.unwrap();
        objects.apply(SUBNET).await.unwrap();

        let (waiting, _) = objects
            .wait_ready(
                "PrivateEndpoint",
                "endpoint-pe",
                has_reason("PostReconciliationFailure"),
            )
            .await;
        let message = waiting["message"].as_str().unwrap();
        assert!(
            message.contains("connection 'partner' needs approval, it is Pending"),
            "{message}"
        );

        world
            .azure()
            .decide_connections(&ConnectionDecision {
                endpoint: "endpoint-pe".into(),
                connection: None,
                status: "Approved".into(),
                description: None,
            })
            .unwrap();
        objects
            .wait_ready("PrivateEndpoint", "endpoint-pe", is_ready)
            .await;

        // Only the network interface that Azure made for it knows the address.
        let object = objects
            .get("PrivateEndpoint", "v1api20220701", "endpoint-pe")
            .await
            .unwrap();
        let id = object["status"]["networkInterfaces"][0]["id"].as_str();
        let interface = world.azure().resource(id.unwrap()).unwrap();
        let maps: Api<ConfigMap> = Api::namespaced(world.client().clone(), "endpoint");
        let exported = maps.get("endpoint").await.unwrap().data.unwrap();
        let configuration = &interface["properties"]["ipConfigurations"][0];
        let address = &configuration["properties"]["privateIPAddress"];
        assert_eq!(*address, exported["address"], "{interface:#}");
    });
}
