//! Namespaces whose objects may only be in some places in Azure.

use armature_e2e::World;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

use crate::{SUBSCRIPTION, has_reason, is_ready, resource_group, sent};

/// What the objects of the namespace may use from now on.
async fn allow(world: &World, name: &str, scopes: Option<&str>) {
    let namespaces: Api<Namespace> = Api::all(world.client().clone());
    let annotations = json!({ "armature.azure.com/allowed-scopes": scopes });
    let patch = Patch::Merge(json!({ "metadata": { "annotations": annotations } }));
    let parameters = PatchParams::default();
    namespaces.patch(name, &parameters, &patch).await.unwrap();
}

fn assignment_to(owner: &str) -> String {
    format!(
        "
apiVersion: authorization.azure.com/v1api20220401
kind: RoleAssignment
metadata: {{name: raise, namespace: bounded}}
spec:
  azureName: 00000000-0000-0000-0000-0000000000cc
  owner: {{armId: {owner}}}
  principalId: 00000000-0000-0000-0000-0000000000aa
  roleDefinitionReference: {{wellKnownName: Owner}}
"
    )
}

#[test]
fn nothing_is_sent_for_what_a_namespace_may_not_use() {
    World::shared().run("bounded", async |world, objects| {
        let own = format!("{SUBSCRIPTION}/resourceGroups/bounded-rg");
        allow(world, "bounded", Some(&own)).await;
        let group = resource_group("bounded-rg", "bounded");
        objects.apply(&group).await.unwrap();
        let group = ("ResourceGroup", "bounded-rg");
        objects.wait_ready(group.0, group.1, is_ready).await;

        // A role on the subscription would let its author out.
        objects.apply(&assignment_to(SUBSCRIPTION)).await.unwrap();
        let refused = || has_reason("ScopeNotAllowed");
        let assignment = ("RoleAssignment", "raise");
        let (told, _) = objects
            .wait_ready(assignment.0, assignment.1, refused())
            .await;
        assert_eq!(told["severity"], "Error");
        let message = told["message"].as_str().unwrap();
        for part in [SUBSCRIPTION, "namespace bounded", own.as_str()] {
            assert!(message.contains(part), "{part}: {message}");
        }
        let id = format!(
            "{SUBSCRIPTION}/providers/Microsoft.Authorization/roleAssignments/00000000-0000-0000-0000-0000000000cc"
        );
        for method in ["GET", "PUT"] {
            assert_eq!(sent(world, method, &id), 0, "{method}");
        }

        // The annotation of now counts, and wakes who waits for it.
        allow(world, "bounded", Some(SUBSCRIPTION)).await;
        objects
            .wait_ready(assignment.0, assignment.1, is_ready)
            .await;
        allow(world, "bounded", Some(&own)).await;
        objects
            .wait_ready(assignment.0, assignment.1, refused())
            .await;
        allow(world, "bounded", Some("")).await;
        let unknown = has_reason("InvalidAnnotation");
        objects.wait_ready(group.0, group.1, unknown).await;
        allow(world, "bounded", None).await;
        for (kind, name) in [group, assignment] {
            objects.wait_ready(kind, name, is_ready).await;
        }
    });
}
