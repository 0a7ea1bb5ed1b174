//! PrivateEndpoint: the address of its network interface, which only the interface itself tells.

use std::collections::{BTreeMap, BTreeSet};

use armature_generated::network::hub::{PrivateEndpoint, PrivateEndpointKind};
use armature_runtime::arm::ArmContext;
use armature_runtime::extension::{Context, ExtensionError, KubernetesConfigExporter, Next};
use armature_runtime::id::ResourceId;
use async_trait::async_trait;
use serde_json::Value;

/// Key of `operatorSpec.configMaps`.
const KEY: &str = "primaryNicPrivateIpAddress";

/// Reads the private address of the endpoint's first network interface: that of its primary configuration, else of
/// its first one. No value while Azure has not made the interface or given it an address.
#[derive(Debug)]
pub struct PrimaryNicAddress;

#[async_trait]
impl KubernetesConfigExporter for PrimaryNicAddress {
    type Hub = PrivateEndpointKind;

    async fn export(
        &self,
        context: &Context,
        endpoint: &PrivateEndpoint,
        wanted: &BTreeSet<String>,
        next: Next<'_, BTreeMap<String, String>>,
    ) -> Result<BTreeMap<String, String>, ExtensionError> {
        let mut values = next.call().await?;
        if !wanted.contains(KEY) {
            return Ok(values);
        }
        if let Some(id) = first_interface(endpoint) {
            let id = ResourceId::parse(id);
            let id = id.map_err(|error| ExtensionError::Other(error.to_string()))?;
            let interface = context.arm().get(&id.url(context.api_version)).await?;
            let address = interface.as_ref().and_then(private_address);
            values.extend(address.map(|address| (KEY.to_owned(), address.to_owned())));
        }
        Ok(values)
    }
}

fn first_interface(endpoint: &PrivateEndpoint) -> Option<&str> {
    let interfaces = endpoint.status.as_ref()?.network_interfaces.as_ref()?;
    interfaces.first()?.id.as_deref()
}

fn private_address(interface: &Value) -> Option<&str> {
    let configurations = interface.pointer("/properties/ipConfigurations")?;
    let configurations = configurations.as_array()?;
    let is_primary =
        |item: &&Value| item.pointer("/properties/primary") == Some(&Value::Bool(true));
    let chosen = configurations.iter().find(is_primary);
    let chosen = chosen.or_else(|| configurations.first())?;
    chosen.pointer("/properties/privateIPAddress")?.as_str()
}

#[cfg(test)]
mod tests {
    use armature_runtime::shape::decode;
    use serde_json::json;

    use super::*;
    use crate::testing::Doubles;

    const NIC: &str =
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkInterfaces/n";

    fn endpoint(interfaces: Value) -> PrivateEndpoint {
        let status = json!({ "networkInterfaces": interfaces });
        PrivateEndpoint {
            status: Some(decode(&status).expect("a status")),
            ..PrivateEndpoint::default()
        }
    }

    async fn exported(doubles: &Doubles, endpoint: &PrivateEndpoint, key: &str) -> Option<String> {
        let context = Context {
            api_version: "2022-07-01",
            ..doubles.context()
        };
        let next = Next::value(BTreeMap::new());
        let wanted = BTreeSet::from([key.to_owned()]);
        let values = PrimaryNicAddress.export(&context, endpoint, &wanted, next);
        values.await.expect("values").remove(KEY)
    }

    fn configuration(address: Option<&str>, primary: bool) -> Value {
        json!({"properties": {"privateIPAddress": address, "primary": primary}})
    }

    #[tokio::test]
    async fn the_address_is_that_of_the_primary_configuration() {
        let (first, second) = (Some("10.0.0.4"), Some("10.0.0.5"));
        let table = [
            (json!([configuration(first, true)]), first),
            (
                json!([configuration(first, false), configuration(second, true)]),
                second,
            ),
            (
                json!([configuration(first, false), configuration(second, false)]),
                first,
            ),
            (json!([configuration(None, true)]), None),
            (json!([]), None),
            (Value::Null, None),
        ];
        for (configurations, expected) in table {
            let interface = json!({"properties": {"ipConfigurations": configurations}});
            let doubles = Doubles::answering(interface.clone());
            let found = exported(&doubles, &endpoint(json!([{ "id": NIC }])), KEY).await;
            assert_eq!(found.as_deref(), expected, "{interface}");
            assert_eq!(
                doubles.requests(),
                [format!("GET {NIC}?api-version=2022-07-01")]
            );
        }
    }

    #[tokio::test]
    async fn nothing_is_asked_without_an_interface_or_a_wish() {
        let doubles = Doubles::default();
        for none in [json!([]), Value::Null, json!([{}])] {
            assert_eq!(exported(&doubles, &endpoint(none), KEY).await, None);
        }
        let made = endpoint(json!([{ "id": NIC }]));
        assert_eq!(exported(&doubles, &made, "other").await, None);
        doubles.assert_untouched();
    }

    #[tokio::test]
    async fn an_interface_that_is_gone_has_no_address() {
        let made = endpoint(json!([{ "id": NIC }]));
        assert_eq!(exported(&Doubles::default(), &made, KEY).await, None);
    }
}
