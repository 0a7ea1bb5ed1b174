//! Members without a value, as templates print them: `armature render` tells exactly those that an apply on the server
//! refuses.

use armature::render::{self, manifest};
use armature_e2e::World;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, TypeMeta};

const NAMESPACE: &str = "applies-nulls";

const ACCOUNT: &str = "
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata:
  name: nulls
  METADATA
spec:
  location: westeurope
  owner: {armId: /subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg}
  kind: StorageV2
  sku: {name: Standard_LRS}
  REST
";
/// One with JSON of any form in it.
const RULE: &str = "
apiVersion: insights.azure.com/v1api20240311
kind: DataCollectionRule
metadata: {name: nulls}
spec:
  location: westeurope
  owner: {armId: /subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg}
  dataSources: {prometheusForwarder: [{customVMScrapeConfig: REST}]}
";
const CONFIG_MAP: &str = "
apiVersion: v1
kind: ConfigMap
metadata:
  name: nulls
  METADATA
REST
";
const SECRET: &str = "
apiVersion: v1
kind: Secret
metadata: {name: nulls}
REST
";

/// Manifest, members of the metadata, and the rest.
const PLACES: &[(&str, &str, &str)] = &[
    (ACCOUNT, "", ""),
    (ACCOUNT, "", "tags:"),
    (ACCOUNT, "", "tags: {}"),
    (ACCOUNT, "", "tags: {a: }"),
    (ACCOUNT, "", "tags: {a: b, c: }"),
    (ACCOUNT, "", "tags: {a: ''}"),
    (ACCOUNT, "", "accessTier:"),
    (ACCOUNT, "", "networkAcls:"),
    (ACCOUNT, "", "networkAcls: {defaultAction: }"),
    (ACCOUNT, "", "networkAcls: {defaultAction: Deny, ipRules: }"),
    (
        ACCOUNT,
        "",
        "networkAcls: {defaultAction: Deny, ipRules: [~]}",
    ),
    (
        ACCOUNT,
        "",
        "networkAcls: {defaultAction: Deny, ipRules: [{value: }]}",
    ),
    (
        ACCOUNT,
        "",
        "networkAcls: {defaultAction: Deny, ipRules: []}",
    ),
    (ACCOUNT, "", "allowBlobPublicAccess: ~"),
    (ACCOUNT, "", "keyPolicy: {keyExpirationPeriodInDays: }"),
    (ACCOUNT, "", "encryption: {services: {blob: null}}"),
    (ACCOUNT, "", "identity:"),
    (ACCOUNT, "", "azureName:"),
    (ACCOUNT, "", "operatorSpec:"),
    (ACCOUNT, "", "operatorSpec: {secrets: {key1: }}"),
    (ACCOUNT, "", "operatorSpec: {configMapExpressions: }"),
    (ACCOUNT, "", "operatorSpec: {configMapExpressions: [~]}"),
    (ACCOUNT, "", "nowhere:"),
    (ACCOUNT, "labels:", ""),
    (ACCOUNT, "labels: {a: }", ""),
    (ACCOUNT, "annotations:", ""),
    (ACCOUNT, "annotations: {a: }", ""),
    (ACCOUNT, "finalizers:", ""),
    (ACCOUNT, "finalizers: [~]", ""),
    (ACCOUNT, "ownerReferences:", ""),
    (ACCOUNT, "ownerReferences: [~]", ""),
    (ACCOUNT, "generateName:", ""),
    (ACCOUNT, "creationTimestamp: null", ""),
    (ACCOUNT, "uid:", ""),
    (RULE, "", "[{a: {b: 1}}]"),
    (RULE, "", "[{a: }]"),
    (RULE, "", "[{a: {b: [~]}}]"),
    (RULE, "", "[~]"),
    (CONFIG_MAP, "", "data:"),
    (CONFIG_MAP, "", "data: {a: }"),
    (CONFIG_MAP, "labels: {a: }", "immutable:"),
    (CONFIG_MAP, "annotations: {a: }", ""),
    (CONFIG_MAP, "finalizers: [~]", ""),
    (CONFIG_MAP, "ownerReferences: [~]", ""),
    (SECRET, "", "data: {a: }"),
    (SECRET, "", "stringData: {a: }"),
];

/// Members of the account that lose their values.
const EMPTIED: &[(&str, &str)] = &[
    ("location: westeurope", "location:"),
    ("sku: {name: Standard_LRS}", "sku:"),
    ("sku: {name: Standard_LRS}", "sku: {name: }"),
    ("kind: StorageV2", "kind:"),
    ("armId: /sub", "name: , armId: /sub"),
    ("REST", "\nstatus:"),
    ("REST", "\nstatus: {conditions: }"),
];

fn manifests() -> Vec<String> {
    let filled = |manifest: &str, metadata: &str, rest: &str| {
        manifest.replace("METADATA", metadata).replace("REST", rest)
    };
    let places = PLACES.iter();
    let places = places.map(|(manifest, metadata, rest)| filled(manifest, metadata, rest));
    let emptied = EMPTIED.iter().map(|(whole, empty)| {
        assert!(ACCOUNT.contains(whole), "{whole}");
        filled(&ACCOUNT.replace(whole, empty), "", "")
    });
    places.chain(emptied).collect()
}

#[test]
fn a_member_without_a_value_is_told_where_the_api_server_refuses_it() {
    World::shared().run(NAMESPACE, async |world, objects| {
        let mut wrong = Vec::new();
        for text in manifests() {
            let (mut documents, mut errors) = (Vec::new(), Vec::new());
            manifest::parse(&Default::default(), &text, &mut documents, &mut errors);
            let value = documents[0].value.clone();
            let types: TypeMeta = serde_json::from_value(value.clone()).expect("its types");
            let kind = GroupVersionKind::try_from(types).expect("a kind");
            let resource = ApiResource::from_gvk(&kind);
            let api: Api<DynamicObject> =
                Api::namespaced_with(world.client().clone(), objects.namespace(), &resource);
            let parameters = PatchParams::apply("test").dry_run();
            let applied = api.patch("nulls", &parameters, &Patch::Apply(&value)).await;
            let subscription = render::PLACEHOLDER_SUBSCRIPTION;
            let rendering = render::render(documents, armature_generated::KINDS, subscription);
            let told: Vec<_> = rendering.errors.iter().map(ToString::to_string).collect();
            if applied.is_ok() != told.is_empty() || told.len() > 1 {
                let applied = applied.map(|_| "taken");
                wrong.push(format!(
                    "{text}\n API server: {applied:?}\n render: {told:?}"
                ));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    });
}
