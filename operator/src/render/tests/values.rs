//! Names and values as Azure takes them.

use super::*;

const BUS: &str = "/subscriptions/00000000-0000-0000-0000-00000000000a/resourceGroups/g/providers/Microsoft.ServiceBus/namespaces/n";

fn queue(name: &str) -> String {
    format!(
        "
apiVersion: servicebus.azure.com/v1api20240101
kind: NamespacesQueue
metadata: {{name: queue}}
spec: {{azureName: '{name}', owner: {{armId: {BUS}}}}}
"
    )
}

fn warnings(file: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("1.yaml");
    std::fs::write(&path, file).expect("written");
    let rendering = render_paths(&[path], KINDS, SUBSCRIPTION);
    assert_eq!(rendering.errors, []);
    let prefix = format!("{}/", folder.path().display());
    let warnings = rendering.warnings.iter();
    warnings
        .map(|warning| warning.to_string().replace(&prefix, ""))
        .collect()
}

#[test]
fn a_slash_is_told_with_what_arm_writes_for_it() {
    let (requests, errors) = rendered(&[&queue("desk~in")]);
    assert_eq!(errors, [""; 0]);
    let url = format!("{BUS}/queues/desk~in?api-version=2024-01-01");
    assert_eq!(requests[0]["url"], url);
    assert_eq!(
        one_error(&queue("desk/in")),
        "1.yaml: document 1: NamespacesQueue default/queue: spec.azureName: 'desk/in' holds '/', which separates the parts of \
         an ARM id; ARM writes '~' for it: 'desk~in'"
    );
}

#[test]
fn names_of_the_shortest_and_of_the_longest_kind_are_taken() {
    let hub = |name: &str| {
        format!(
            "
apiVersion: eventhub.azure.com/v1api20240101
kind: Namespace
metadata: {{name: hub}}
spec:
  azureName: {name}
  location: westeurope
  owner: {{armId: /subscriptions/00000000-0000-0000-0000-00000000000a/resourceGroups/g}}
"
        )
    };
    for name in ["tel-01", "tel-eu1", &*format!("a{}z", "-".repeat(48))] {
        let (requests, errors) = rendered(&[&hub(name)]);
        assert_eq!((requests.len(), errors), (1, Vec::new()), "{name}");
    }
    let why = |name: &str| {
        let error = one_error(&hub(name));
        let (_, why) = error.split_once("spec.azureName: ").expect("a name");
        why.to_owned()
    };
    assert_eq!(why("tel-1"), "must have at least 6 characters, has 5");
    let pattern = "must match the pattern ^[a-zA-Z][a-zA-Z0-9-]{4,48}[a-zA-Z0-9]$";
    assert_eq!(why("tel_eu01"), format!("{pattern}: 'tel_eu01' holds '_'"));
    assert_eq!(
        why("tel-eu-"),
        format!("{pattern}: 'tel-eu-' ends with '-'")
    );
}

#[test]
fn a_value_beyond_an_open_list_is_sent_with_a_warning() {
    let server = |version: &str| {
        format!(
            "
apiVersion: dbforpostgresql.azure.com/v1api20221201
kind: FlexibleServer
metadata: {{name: shop}}
spec:
  location: westeurope
  owner: {{armId: /subscriptions/00000000-0000-0000-0000-00000000000a/resourceGroups/g}}
  version: '{version}'
"
        )
    };
    let (requests, errors) = rendered(&[&server("15")]);
    assert_eq!(errors, [""; 0]);
    assert_eq!(requests[0]["body"]["properties"]["version"], "15");
    assert_eq!(
        warnings(&server("15")),
        [
            "1.yaml: document 1: FlexibleServer default/shop: spec.version: \"15\" is not a value that the spec knows, and is \
             sent to Azure as it is; known are 14, 13, 12, 11"
        ]
    );
    assert_eq!(warnings(&server("14")), [""; 0]);
}

/// An import of another tool may have written what only Azure says.
#[test]
fn what_only_azure_says_is_told_and_not_sent() {
    let address = |allocation: &str| {
        format!(
            "
apiVersion: network.azure.com/v1api20240301
kind: PublicIPAddress
metadata: {{name: shop}}
spec:
  location: westeurope
  owner: {{armId: /subscriptions/00000000-0000-0000-0000-00000000000a/resourceGroups/g}}
  publicIPAllocationMethod: {allocation}
  ipAddress: 20.0.0.1
"
        )
    };
    let manifest = address("Dynamic");
    let (requests, errors) = rendered(&[&manifest]);
    assert_eq!(errors, [""; 0]);
    assert_eq!(requests[0]["body"]["properties"]["ipAddress"], Value::Null);
    let told = warnings(&manifest);
    assert_eq!(
        told,
        [
            "1.yaml: document 1: PublicIPAddress default/shop: spec: properties.ipAddress in Azure's JSON is only Azure's to say: it \
             is never sent, and never compared (properties.ipAddress read-only while properties.publicIPAllocationMethod is \
             Dynamic); take it out"
        ]
    );
    assert_eq!(warnings(&address("Static")), [""; 0]);
}
