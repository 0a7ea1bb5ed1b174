//! Manifests as people have them from workshops, templates and other tools: each mistake is told once.

use super::*;

const WORKSHOP: &str = "
apiVersion: resources.azure.com/v1beta20200601
kind: ResourceGroup
metadata: {name: workshop, namespace: team}
spec: {location: eastus}
---
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: workshopdata01, namespace: team}
spec:
  location: eastus
  owner: {name: workshop}
  kind: StorageV2
  sku: {name: Standard_ZRS}
  properties:
    accessTier: Hot
    minimumTlsVersion: TLS1_2
---
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccountsBlobService
metadata: {name: blobs, namespace: team}
spec:
  owner: {name: workshopdata01}
";

#[test]
fn an_owner_with_a_mistake_of_its_own_is_not_said_to_be_missing() {
    let (requests, errors) = rendered(&[WORKSHOP]);
    assert!(requests.is_empty(), "{requests:?}");
    assert_eq!(errors.len(), 2, "{errors:#?}");
    let starts = [
        "1.yaml: document 1: ResourceGroup team/workshop: apiVersion: unknown version 'v1beta20200601' of ResourceGroup",
        "1.yaml: document 2: StorageAccount team/workshopdata01: spec.properties: manifests have no `properties`; its members \
         stand one level higher, directly in spec: spec.accessTier, spec.minimumTlsVersion",
    ];
    for (error, start) in errors.iter().zip(starts) {
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn words_and_numbers_are_what_kubectl_sends() {
    let group = |tag: &str| {
        format!(
            "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: tagged}}
spec: {{location: westeurope, tags: {{tag: {tag}}}}}
"
        )
    };
    for (tag, found) in [
        ("0600", "an integer"),
        ("y", "a boolean"),
        ("no", "a boolean"),
        ("1.10", "a number"),
    ] {
        let error = one_error(&group(tag));
        let expected = format!("spec.tags.tag: expected a string, found {found}");
        assert!(error.contains(&expected), "{tag}: {error}");
    }
    for tag in ["12:30", "oN", "'y'"] {
        assert_eq!(rendered(&[&group(tag)]).1, [""; 0], "{tag}");
    }
    let queue = "
apiVersion: servicebus.azure.com/v1api20211101
kind: NamespacesQueue
metadata: {name: q}
spec:
  owner: {armId: /subscriptions/00000000-0000-0000-0000-00000000000a/resourceGroups/g/providers/Microsoft.ServiceBus/namespaces/n}
  maxDeliveryCount: 010
";
    let (requests, errors) = rendered(&[queue]);
    assert_eq!(errors, [""; 0]);
    assert_eq!(requests[0]["body"]["properties"]["maxDeliveryCount"], 8);
}

#[test]
fn a_credential_among_the_manifests_says_which_subscription_an_object_is_for() {
    const OTHER: &str = "00000000-0000-0000-0000-000000000009";
    let record = |annotations: &str| {
        format!(
            "
apiVersion: network.azure.com/v1api20180501
kind: DnsZonesARecord
metadata: {{name: www, namespace: team{annotations}}}
spec:
  owner: {{armId: /subscriptions/{OTHER}/resourceGroups/p/providers/Microsoft.Network/dnsZones/example.org}}
  TTL: 60
  ARecords: [{{ipv4Address: 10.0.0.1}}]
"
        )
    };
    let secret = |name: &str, namespace: &str, values: &str| {
        format!(
            "
apiVersion: v1
kind: Secret
metadata: {{name: {name}, namespace: {namespace}}}
{values}
"
        )
    };
    let named = record(", annotations: {serviceoperator.azure.com/credential-from: platform}");
    let plain = format!("stringData: {{AZURE_SUBSCRIPTION_ID: {OTHER}}}");
    let encoded = "data: {AZURE_SUBSCRIPTION_ID: MDAwMDAwMDAtMDAwMC0wMDAwLTAwMDAtMDAwMDAwMDAwMDA5}";
    for (record, secret, expected) in [
        (&named, secret("platform", "team", &plain), 0),
        (&named, secret("platform", "team", encoded), 0),
        (&record(""), secret("aso-credential", "team", &plain), 0),
        (&named, secret("platform", "other", &plain), 1),
        (&record(""), secret("platform", "team", &plain), 1),
    ] {
        let (requests, errors) = rendered(&[record, &secret]);
        assert_eq!(errors.len(), expected, "{errors:?}\n{record}{secret}");
        assert_eq!(requests.len(), 1 - expected);
    }
}
