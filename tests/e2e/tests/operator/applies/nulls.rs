//! Members without a value, as templates print them: `armature render` tells exactly those that an apply on the server
//! refuses.

use armature::render::{self, manifest};
use armature_e2e::{World, kind_info};
use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::Value;

const NAMESPACE: &str = "applies-nulls";

/// Members of the metadata and of the spec.
const PLACES: &[(&str, &str)] = &[
    ("", ""),
    ("", "tags:"),
    ("", "tags: {}"),
    ("", "tags: {a: }"),
    ("", "tags: {a: ''}"),
    ("", "accessTier:"),
    ("", "networkAcls:"),
    ("", "networkAcls: {defaultAction: }"),
    ("", "networkAcls: {defaultAction: Deny, ipRules: }"),
    ("", "networkAcls: {defaultAction: Deny, ipRules: [~]}"),
    (
        "",
        "networkAcls: {defaultAction: Deny, ipRules: [{value: }]}",
    ),
    ("", "networkAcls: {defaultAction: Deny, ipRules: []}"),
    ("", "allowBlobPublicAccess: ~"),
    ("", "encryption: {services: {blob: null}}"),
    ("", "azureName:"),
    ("", "operatorSpec:"),
    ("labels:", ""),
    ("labels: {a: }", ""),
    ("annotations:", ""),
    ("annotations: {a: }", ""),
    ("finalizers:", ""),
];

fn manifest(metadata: &str, spec: &str) -> String {
    format!(
        "
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata:
  name: nulls
  namespace: {NAMESPACE}
  {metadata}
spec:
  location: westeurope
  owner: {{armId: /subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg}}
  kind: StorageV2
  sku: {{name: Standard_LRS}}
  {spec}
"
    )
}

#[test]
fn a_member_without_a_value_is_told_where_the_api_server_refuses_it() {
    World::shared().run(NAMESPACE, async |_, objects| {
        let api = objects.api(kind_info("StorageAccount").kind, "v1api20230101");
        let parameters = PatchParams::apply("test").dry_run();
        for (metadata, spec) in PLACES {
            let text = manifest(metadata, spec);
            let (mut documents, mut errors) = (Vec::new(), Vec::new());
            manifest::parse(&Default::default(), &text, &mut documents, &mut errors);
            let value: Value = documents[0].value.clone();
            let applied = api.patch("nulls", &parameters, &Patch::Apply(&value)).await;
            let applied: Result<DynamicObject, _> = applied;
            let subscription = render::PLACEHOLDER_SUBSCRIPTION;
            let rendering = render::render(documents, armature_generated::KINDS, subscription);
            let told: Vec<_> = rendering.errors.iter().map(ToString::to_string).collect();
            let case = format!("{metadata} {spec}: {applied:?} {told:?}");
            assert_eq!(applied.is_ok(), told.is_empty(), "{case}");
            assert!(told.len() <= 1, "{case}");
        }
    });
}
