//! Over the kinds that there are.

mod as_operator;
mod mistakes;
mod names;
mod values;

use std::path::Path;

use armature_generated::KINDS;
use serde_json::{Value, json};

use super::*;

const SUBSCRIPTION: &str = "00000000-0000-0000-0000-00000000000a";

/// Renders texts as if each were a file `1.yaml`, `2.yaml` and so on.
fn rendered(files: &[&str]) -> (Vec<Value>, Vec<String>) {
    rendered_in(files, KINDS, SUBSCRIPTION)
}

fn rendered_in(
    files: &[&str],
    kinds: &[&'static KindInfo],
    subscription: &str,
) -> (Vec<Value>, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    for (index, text) in files.iter().enumerate() {
        let file = folder.path().join(format!("{}.yaml", index + 1));
        std::fs::write(file, text).expect("written");
    }
    let rendering = render_paths(&[folder.path().to_owned()], kinds, subscription);
    let prefix = format!("{}/", folder.path().display());
    let requests = rendering.requests.iter();
    let errors = rendering.errors.iter();
    (
        requests
            .map(|request| serde_json::to_value(request).expect("JSON"))
            .collect(),
        errors
            .map(|error| error.to_string().replace(&prefix, ""))
            .collect(),
    )
}

fn one_error(file: &str) -> String {
    let (requests, errors) = rendered(&[file]);
    assert_eq!(
        (requests.len(), errors.len()),
        (0, 1),
        "{requests:?} {errors:?}"
    );
    errors[0].clone()
}

const GROUP: &str = "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: rg, namespace: team}
spec: {location: westeurope, azureName: my-group}
";

const CLUSTER: &str = "
apiVersion: kusto.azure.com/v1api20230815
kind: Cluster
metadata: {name: cluster, namespace: team}
spec:
  location: westeurope
  owner: {name: rg}
  sku: {name: Standard_D13_v2, tier: Standard, capacity: 2}
";

const DATABASE: &str = "
apiVersion: kusto.azure.com/v1api20230815
kind: Database
metadata: {name: database, namespace: team}
spec:
  owner: {name: cluster}
  readWriteDatabase: {kind: ReadWrite, location: westeurope}
";

#[test]
fn a_request_has_the_id_of_its_owners_and_the_body_of_its_spec() {
    let (requests, errors) = rendered(&[&format!("{GROUP}---{CLUSTER}"), DATABASE]);
    assert_eq!(errors, Vec::<String>::new());
    let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/my-group");
    let cluster = format!("{group}/providers/Microsoft.Kusto/clusters/cluster");
    assert_eq!(
        requests,
        [
            json!({
                "group": "resources.azure.com", "kind": "ResourceGroup",
                "namespace": "team", "name": "rg", "method": "PUT",
                "url": format!("{group}?api-version=2020-06-01"),
                "body": {"name": "my-group", "location": "westeurope"},
            }),
            json!({
                "group": "kusto.azure.com", "kind": "Cluster",
                "namespace": "team", "name": "cluster", "method": "PUT",
                "url": format!("{cluster}?api-version=2023-08-15"),
                "body": {
                    "name": "cluster", "location": "westeurope",
                    "sku": {"name": "Standard_D13_v2", "tier": "Standard", "capacity": 2},
                },
            }),
            json!({
                "group": "kusto.azure.com", "kind": "Database",
                "namespace": "team", "name": "database", "method": "PUT",
                "url": format!("{cluster}/databases/database?api-version=2023-08-15"),
                "body": {"name": "database", "kind": "ReadWrite", "location": "westeurope"},
            }),
        ]
    );
}

#[test]
fn owners_can_be_arm_ids() {
    let id = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/other");
    let (requests, errors) =
        rendered(&[&CLUSTER.replace("{name: rg}", &format!("{{armId: {id}}}"))]);
    assert!(errors.is_empty(), "{errors:?}");
    let url = format!("{id}/providers/Microsoft.Kusto/clusters/cluster?api-version=2023-08-15");
    assert_eq!(requests[0]["url"], Value::from(url));
}

/// What the operator refuses, too.
#[test]
fn names_and_ids_that_lead_elsewhere_are_refused() {
    let rows = [
        (GROUP.replace("my-group", "'..'"), "spec.azureName"),
        (
            CLUSTER.replace(
                "{name: rg}",
                "{armId: /subscriptions/s/resourceGroups/%2e%2e}",
            ),
            "spec.owner.armId",
        ),
    ];
    for (file, path) in rows {
        let error = one_error(&file);
        assert!(error.contains(path), "{error}");
        assert!(error.contains("lead to another resource"), "{error}");
    }
}

#[test]
fn names_are_looked_for_in_the_same_namespace_only() {
    let (requests, errors) = rendered(&[&GROUP.replace("team", "other"), CLUSTER]);
    let urls: Vec<_> = requests.iter().map(|request| &request["url"]).collect();
    let groups = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups");
    assert_eq!(
        urls,
        [
            &json!(format!("{groups}/my-group?api-version=2020-06-01")),
            &json!(format!(
                "{groups}/rg/providers/Microsoft.Kusto/clusters/cluster?api-version=2023-08-15"
            )),
        ]
    );
    assert_eq!(
        errors,
        [
            "2.yaml: document 1: Cluster team/cluster: spec.owner: the owner ResourceGroup team/rg is in no manifest: \
             that of other is in another namespace, where owners are not looked for; it is taken to be `rg` in Azure. Add its manifest or give its armId"
        ]
    );
}

/// Of what has an owner itself, the place is not known.
#[test]
fn a_resource_group_that_stands_elsewhere_is_told_once_and_hides_nothing() {
    let other = "{apiVersion: shop.azure.com/v1, kind: Cart, metadata: {name: c, namespace: team}}";
    let second = CLUSTER.replace("name: cluster", "name: second");
    let (requests, errors) = rendered(&[other, CLUSTER, &second, DATABASE]);
    let names: Vec<_> = requests.iter().map(|request| &request["name"]).collect();
    assert_eq!(names, ["cluster", "second", "database"]);
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(
        errors[0].contains("unknown group 'shop.azure.com'"),
        "{}",
        errors[0]
    );
    assert!(
        errors[1].contains("ResourceGroup team/rg is in no manifest"),
        "{}",
        errors[1]
    );
    let (requests, errors) = rendered(&[DATABASE]);
    assert_eq!((requests.len(), errors.len()), (0, 1));
}

#[test]
fn an_owner_that_is_not_given_is_one_problem() {
    let at = "1.yaml: document 1: Cluster team/cluster: spec.owner: ";
    for (owner, expected) in [
        ("", "is missing: set name or armId"),
        ("owner: {}", "set exactly one of name and armId"),
    ] {
        let error = one_error(&CLUSTER.replace("owner: {name: rg}", owner));
        assert_eq!(error, format!("{at}{expected}"));
    }
}

const VAULT: &str = "
apiVersion: keyvault.azure.com/v1api20230701
kind: Vault
metadata: {name: vault, namespace: team}
spec:
  location: westeurope
  owner: {armId: /subscriptions/00000000-0000-0000-0000-00000000000a/resourceGroups/g}
  properties:
    tenantIdFromConfig: {name: identity, key: tenant}
    sku: {family: A, name: standard}
";

#[test]
fn config_maps_are_values_or_marks() {
    let tenant = |files: &[&str]| {
        let (requests, errors) = rendered(files);
        (
            requests
                .first()
                .map(|one| one["body"]["properties"]["tenantId"].clone()),
            errors,
        )
    };
    let mark = Some(json!("${configmap:identity/tenant}"));
    assert_eq!(tenant(&[VAULT]), (mark, Vec::new()));

    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: identity, namespace: team}, data: {tenant: t-1}}";
    assert_eq!(tenant(&[VAULT, map]), (Some(json!("t-1")), Vec::new()));

    let (body, errors) = tenant(&[VAULT, &map.replace("tenant:", "other:")]);
    assert_eq!(body, None);
    assert_eq!(
        errors,
        [
            "1.yaml: document 1: Vault team/vault: spec.properties.tenantIdFromConfig: the ConfigMap identity has no key tenant"
        ]
    );
}

#[test]
fn references_become_ids() {
    let endpoint = "
apiVersion: network.azure.com/v1api20220701
kind: PrivateEndpoint
metadata: {name: endpoint, namespace: team}
spec:
  location: westeurope
  owner: {name: rg}
  subnet: {reference: {group: network.azure.com, kind: VirtualNetworksSubnet, name: subnet}}
  privateLinkServiceConnections:
  - name: c
    privateLinkServiceReference: {armId: /subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/a}
";
    let network = "
apiVersion: network.azure.com/v1api20201101
kind: VirtualNetwork
metadata: {name: net, namespace: team}
spec: {location: westeurope, owner: {name: rg}, addressSpace: {addressPrefixes: [10.0.0.0/16]}}
---
apiVersion: network.azure.com/v1api20201101
kind: VirtualNetworksSubnet
metadata: {name: subnet, namespace: team}
spec: {azureName: inner, owner: {name: net}, addressPrefix: 10.0.0.0/24}
";
    let (requests, errors) = rendered(&[endpoint, GROUP, network]);
    assert!(errors.is_empty(), "{errors:?}");
    let subnet = format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/my-group/providers/Microsoft.Network/virtualNetworks/net/subnets/inner"
    );
    let body = &requests[0]["body"];
    assert_eq!(body["properties"]["subnet"]["id"], Value::from(subnet));

    let (requests, errors) = rendered(&[endpoint, GROUP]);
    assert_eq!(requests.len(), 1);
    assert_eq!(
        errors,
        [
            "1.yaml: document 1: PrivateEndpoint team/endpoint: spec.subnet.reference: VirtualNetworksSubnet \
             subnet: it does not exist; add its manifest or give its armId"
        ]
    );
}

#[test]
fn problems_name_file_document_object_and_path() {
    let at = "1.yaml: document 1: ResourceGroup team/rg: ";
    for (from, to, expected) in [
        ("ResourceGroup", "ResourceGrop", "1.yaml: document 1: ResourceGrop team/rg: kind: unknown kind 'ResourceGrop' in resources.azure.com, did you mean 'ResourceGroup'?".to_owned()),
        ("ResourceGroup", "Group", "1.yaml: document 1: Group team/rg: kind: unknown kind 'Group' in resources.azure.com, did you mean 'ResourceGroup'?".to_owned()),
        ("resources.azure.com", "resource.azure.com", format!("{at}apiVersion: unknown group 'resource.azure.com', did you mean 'resources.azure.com'?")),
        ("v1api20200601", "v1api20200602", format!("{at}apiVersion: unknown version 'v1api20200602' of ResourceGroup, did you mean 'v1api20200601'?")),
        ("location: westeurope", "location: westeurope, lokation: x", format!("{at}spec.lokation: no such field, did you mean `location`?")),
        ("location: westeurope", "location: 3", format!("{at}spec.location: expected a string, found an integer; write it in quotes")),
        ("location: westeurope, ", "", format!("{at}spec.location: required, but not set")),
        ("spec:", "extra: 1\nspec:", format!("{at}extra: no such field")),
        ("name: rg, ", "", "1.yaml: document 1: ResourceGroup: metadata.name: is missing: every document needs apiVersion, kind and metadata.name".to_owned()),
        ("resources.azure.com/v1api20200601", "resources.azure.co/v1", format!("{at}apiVersion: unknown group 'resources.azure.co', did you mean 'resources.azure.com'?")),
        ("resources.azure.com", "storage.azure.com", format!("{at}kind: unknown kind 'ResourceGroup' in storage.azure.com, did you mean 'resources.azure.com'?")),
        ("v1api20200601", "beta", format!("{at}apiVersion: unknown version 'beta' of ResourceGroup; known are v1api20200601, v20250401")),
        ("resources.azure.com/v1api20200601", "v1", format!("{at}apiVersion: there is no kind ResourceGroup in 'v1', did you mean 'resources.azure.com/v1api20200601'?")),
    ] {
        assert_eq!(one_error(&GROUP.replace(from, to)), expected);
    }
    assert!(one_error("a: [").starts_with("1.yaml: document 1: line "));
}

#[test]
fn what_else_a_chart_makes_is_left_out() {
    for (version, kind) in [
        ("apps/v1", "Deployment"),
        ("batch/v1", "Job"),
        ("v1", "Service"),
        ("cert-manager.io/v1", "Certificate"),
        ("cluster.x-k8s.io/v1beta1", "Cluster"),
    ] {
        let other = format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: web}}\n");
        let (requests, errors) = rendered(&[GROUP, &other]);
        assert_eq!(
            (requests.len(), errors),
            (1, Vec::new()),
            "{version} {kind}"
        );
    }
}

#[test]
fn the_list_that_an_import_writes_is_no_problem() {
    let list =
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [1.yaml]\n";
    let (requests, errors) = rendered(&[GROUP, list]);
    assert_eq!((requests.len(), errors), (1, Vec::new()));
}

#[test]
fn the_rest_is_rendered_beside_problems() {
    let broken = CLUSTER.replace("sku", "skew");
    let (requests, errors) = rendered(&[&format!("{broken}---{GROUP}"), DATABASE]);
    // The database's id needs the cluster's name only, which is sound.
    let kinds: Vec<_> = requests
        .iter()
        .map(|request| request["kind"].clone())
        .collect();
    assert_eq!(kinds, [json!("ResourceGroup"), json!("Database")]);
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(
        errors
            .iter()
            .all(|error| error.starts_with("1.yaml: document 1: Cluster team/cluster: spec.sk")),
        "{errors:?}"
    );
}

#[test]
fn an_object_is_rendered_once_and_only_where_it_is_managed() {
    let (requests, errors) = rendered(&[GROUP, GROUP]);
    assert_eq!(requests.len(), 1);
    assert!(
        errors[0].starts_with("2.yaml: document 1: ResourceGroup team/rg: is already in "),
        "{errors:?}"
    );

    let skipped = GROUP.replace(
        "namespace: team",
        "namespace: team, annotations: {serviceoperator.azure.com/reconcile-policy: skip}",
    );
    let (requests, errors) = rendered(&[&skipped, CLUSTER]);
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0]["kind"], "Cluster");
}

#[test]
fn names_from_the_metadata_keep_the_rules_of_azure_names() {
    let account = "
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: my-account, namespace: team}
spec:
  location: westeurope
  owner: {armId: /subscriptions/00000000-0000-0000-0000-00000000000a/resourceGroups/g}
  kind: StorageV2
  sku: {name: Standard_LRS}
";
    let error = one_error(account);
    let start =
        "1.yaml: document 1: StorageAccount team/my-account: metadata.name: as the Azure name: ";
    assert!(error.starts_with(start), "{error}");
    let (requests, errors) =
        rendered(&[&account.replace("spec:", "spec:\n  azureName: myaccount")]);
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(requests[0]["name"], "my-account");
    assert_eq!(requests[0]["body"]["name"], "myaccount");
}

#[test]
fn missing_files_are_problems() {
    let rendering = render_paths(
        &[Path::new("/nowhere.yaml").to_owned()],
        KINDS,
        SUBSCRIPTION,
    );
    assert_eq!(rendering.errors.len(), 1);
    assert!(
        rendering.errors[0]
            .to_string()
            .starts_with("/nowhere.yaml: cannot be read")
    );
}
