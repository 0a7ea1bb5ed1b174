//! What the operator does with an object is what is rendered for it.

use super::*;

/// As the operator refuses it. Where nobody says what the credential is for, owners may be anywhere.
#[test]
fn an_owner_in_another_subscription_is_refused() {
    let id = "/subscriptions/00000000-0000-0000-0000-00000000000b/resourceGroups/other";
    let cluster = CLUSTER.replace("{name: rg}", &format!("{{armId: {id}}}"));
    let error = one_error(&cluster);
    let start =
        "1.yaml: document 1: Cluster team/cluster: spec.owner: the owner is in subscription";
    assert!(error.starts_with(start), "{error}");
    assert!(error.contains("--subscription"), "{error}");

    let (requests, errors) = rendered_in(&[&cluster, DATABASE], KINDS, PLACEHOLDER_SUBSCRIPTION);
    assert_eq!(errors, Vec::<String>::new());
    for request in requests {
        let url = request["url"].as_str().expect("a URL");
        assert!(url.starts_with(id), "{url}");
    }
}

const WITH_ANNOTATION: &str = "namespace: team, annotations: {armature.azure.com/NAME: 'VALUE'}";

fn annotated(manifest: &str, name: &str, value: &str) -> String {
    let metadata = WITH_ANNOTATION
        .replace("NAME", name)
        .replace("VALUE", value);
    manifest.replace("namespace: team", &metadata)
}

/// What the operator would not write is not rendered; what it would write later is.
#[test]
fn annotations_count_as_they_do_in_a_cluster() {
    for (name, value, expected) in [
        ("observe", "true", 0),
        ("observe", "false", 1),
        ("paused", "true", 1),
        ("paused", "2100-01-01T00:00:00Z", 1),
        ("adopt", "never", 1),
    ] {
        let (requests, errors) = rendered(&[&annotated(GROUP, name, value)]);
        assert_eq!(errors, Vec::<String>::new(), "{name}: {value}");
        assert_eq!(requests.len(), expected, "{name}: {value}");
    }
    let error = one_error(&annotated(GROUP, "adopt", "sometimes"));
    assert!(
        error.contains("annotation armature.azure.com/adopt: 'sometimes' is unknown"),
        "{error}"
    );
    let namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: team, annotations: \
                     {serviceoperator.azure.com/reconcile-policy: skip}}}";
    assert_eq!(rendered(&[namespace, GROUP]), (Vec::new(), Vec::new()));
}

/// An object that comes from a cluster has a claim and notes of its operator.
#[test]
fn children_of_an_exported_object_are_where_it_says() {
    let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/my-group");
    let cluster = format!("{group}/providers/Microsoft.Kusto/clusters");
    let exported = CLUSTER.replace(
        "namespace: team}",
        &format!(
            "namespace: team, finalizers: [serviceoperator.azure.com/finalizer], annotations: {{\
             serviceoperator.azure.com/resource-id: {cluster}/cluster, \
             serviceoperator.azure.com/operator-namespace: elsewhere, \
             serviceoperator.azure.com/latest-reconciled-generation: '7', \
             serviceoperator.azure.com/child-resource-id-override: {cluster}/other}}}}"
        ),
    );
    let (requests, errors) = rendered(&[GROUP, &exported, DATABASE]);
    assert_eq!(errors, Vec::<String>::new());
    let urls: Vec<_> = requests.iter().map(|request| &request["url"]).collect();
    let version = "?api-version=2023-08-15";
    assert_eq!(urls[1], &format!("{cluster}/cluster{version}"));
    assert_eq!(
        urls[2],
        &format!("{cluster}/other/databases/database{version}")
    );

    // Without the claim it is a copied manifest.
    let copied = exported.replace("finalizers: [serviceoperator.azure.com/finalizer], ", "");
    let (requests, _) = rendered(&[GROUP, &copied, DATABASE]);
    let expected = format!("{cluster}/cluster/databases/database{version}");
    assert_eq!(requests[2]["url"], expected);
}

#[test]
fn a_modifier_changes_the_body() {
    let vault = VAULT.replace("    sku:", "    createMode: createOrRecover\n    sku:");
    let (requests, errors) = rendered(&[&vault]);
    assert_eq!(errors, Vec::<String>::new());
    assert_eq!(requests[0]["body"]["properties"]["createMode"], "default");
}

/// What Azure is said to have counts, and what was only taken for absent is told.
#[test]
fn a_modifier_hears_what_azure_has() {
    let vault = VAULT.replace("    sku:", "    createMode: createOrRecover\n    sku:");
    let value = serde_saphyr::from_str(&vault).expect("YAML");
    let origin = Origin::default();
    let documents = [manifest::Document { origin, value }];
    let mut setting = Setting::new(KINDS, SUBSCRIPTION);
    let mut request = |resources| {
        setting.resources = resources;
        let mut rendering = render_in(&documents, &setting);
        assert_eq!(rendering.errors, []);
        rendering.requests.remove(0)
    };
    let before = request(Default::default());
    assert_eq!(before.assumed_absent.len(), 1, "{before:?}");
    let deleted = crate::transports::recording::path(&before.assumed_absent[0]);
    let id = before.url.split('?').next();
    let kept = json!({"properties": {"vaultId": id}});
    let after = request([(deleted, kept)].into());
    assert_eq!(after.body["properties"]["createMode"], "recover");
    assert_eq!(after.assumed_absent, [""; 0]);
}

#[test]
fn a_resource_is_written_for_one_object() {
    let second = GROUP.replace("name: rg", "name: again");
    let (requests, errors) = rendered(&[GROUP, &second]);
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0]["name"], "rg");
    assert_eq!(errors.len(), 1, "{errors:?}");
    let start =
        "2.yaml: document 1: ResourceGroup team/again: ResourceGroup team/rg stands for the same";
    assert!(errors[0].starts_with(start), "{errors:?}");
    let skipped = second.replace(
        "namespace: team",
        "namespace: team, annotations: {serviceoperator.azure.com/reconcile-policy: skip}",
    );
    let (requests, errors) = rendered(&[&skipped, GROUP]);
    assert_eq!((requests.len(), errors), (1, Vec::new()));
}

/// The place of each is known although none of them could be made first.
#[test]
fn references_in_a_circle_become_ids() {
    let endpoint = |name: &str, other: &str| {
        format!(
            "
apiVersion: network.azure.com/v1api20220701
kind: PrivateEndpoint
metadata: {{name: {name}, namespace: team}}
spec:
  location: westeurope
  owner: {{name: rg}}
  subnet: {{reference: {{armId: /subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/s}}}}
  privateLinkServiceConnections:
  - name: c
    privateLinkServiceReference: {{group: network.azure.com, kind: PrivateEndpoint, name: {other}}}
"
        )
    };
    let (requests, errors) = rendered(&[&endpoint("a", "b"), &endpoint("b", "a"), GROUP]);
    assert_eq!(errors, Vec::<String>::new());
    assert_eq!(requests.len(), 3);
}
