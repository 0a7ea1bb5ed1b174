//! One operator keeps the CRDs and another one manages objects, each with the rights of its half and no others.

use k8s_openapi::api::authorization::v1::SubjectAccessReview;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};

use crate::chart::{NAMESPACE, add_argument};
use crate::cluster::{Cluster, account, namespace};
use crate::install::{migrates_stored_objects, works};
use crate::metrics::{are_read_by, tls_versions};
use crate::rights::used;

/// Service account of the operator that keeps the CRDs.
const KEEPER: &str = "keeper";
/// Service account of the operator that manages the objects of the namespace `team`.
const MANAGER: &str = "manager";

/// API group and resource, with the subresource if it is one.
type Resource = (&'static str, &'static str);

const CRDS: Resource = ("apiextensions.k8s.io", "customresourcedefinitions");
const CRD_STATUS: Resource = ("apiextensions.k8s.io", "customresourcedefinitions/status");
const OBJECTS: Resource = ("resources.azure.com", "resourcegroups");
const OBJECT_STATUS: Resource = ("resources.azure.com", "resourcegroups/status");
const SECRETS: Resource = ("", "secrets");
const LEASES: Resource = ("coordination.k8s.io", "leases");

/// What the keeper and the manager may do: verb, resource, namespace (all when empty), and each of the two.
const RIGHTS: [(&str, Resource, &str, [bool; 2]); 22] = [
    ("list", CRDS, "", [true, true]),
    ("watch", CRDS, "", [true, true]),
    ("create", CRDS, "", [true, false]),
    ("delete", CRDS, "", [false, false]),
    ("list", OBJECTS, "", [true, false]),
    ("list", OBJECTS, "team", [true, true]),
    ("patch", OBJECTS, "", [true, false]),
    ("patch", OBJECTS, "team", [true, true]),
    ("patch", OBJECT_STATUS, "team", [true, true]),
    ("get", OBJECTS, "team", [false, true]),
    ("watch", OBJECTS, "team", [false, true]),
    ("create", OBJECTS, "team", [false, false]),
    ("delete", OBJECTS, "team", [false, false]),
    ("get", ("", "namespaces"), "", [false, true]),
    ("get", SECRETS, "team", [false, true]),
    ("patch", SECRETS, "team", [false, true]),
    ("delete", SECRETS, "team", [false, false]),
    ("get", SECRETS, "other", [false, false]),
    ("patch", ("", "configmaps"), "team", [false, true]),
    ("create", ("events.k8s.io", "events"), "team", [false, true]),
    ("create", LEASES, NAMESPACE, [true, true]),
    ("delete", LEASES, NAMESPACE, [true, false]),
];

/// What they may do with single CRDs: verb, whether of the status, and each of the two. With others than those of our
/// kinds, nothing.
const CRD_RIGHTS: [(&str, Resource, [bool; 2]); 5] = [
    ("get", CRDS, [true, false]),
    ("patch", CRDS, [true, false]),
    ("update", CRDS, [false, false]),
    ("delete", CRDS, [false, false]),
    ("patch", CRD_STATUS, [true, false]),
];

/// What the API server says about a right.
async fn may(
    cluster: &Cluster,
    user: &str,
    verb: &str,
    resource: Resource,
    namespace: &str,
) -> bool {
    may_with(cluster, user, verb, resource, namespace, "").await
}

/// The same about one object.
async fn may_with(
    cluster: &Cluster,
    user: &str,
    verb: &str,
    (group, resource): Resource,
    namespace: &str,
    name: &str,
) -> bool {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let review = json!({
        "metadata": {},
        "spec": {
            "user": user,
            "resourceAttributes": {
                "verb": verb,
                "group": group,
                "resource": resource,
                "subresource": subresource,
                "namespace": namespace,
                "name": name,
            },
        },
    });
    let reviews: Api<SubjectAccessReview> = Api::all(cluster.client.clone());
    let review = serde_json::from_value(review).unwrap();
    let answer = reviews.create(&PostParams::default(), &review).await;
    answer.unwrap().status.unwrap().allowed
}

async fn has_the_rights_of_its_half(cluster: &Cluster) {
    let users = [account(KEEPER), account(MANAGER)];
    for (verb, resource, namespace, expected) in RIGHTS {
        for (user, expected) in users.iter().zip(expected) {
            let allowed = may(cluster, user, verb, resource, namespace).await;
            assert_eq!(
                allowed, expected,
                "{user}: {verb} {resource:?} in '{namespace}'"
            );
        }
    }
    let names = [
        ("resourcegroups.resources.azure.com", true),
        ("certificates.cert-manager.io", false),
    ];
    for (verb, resource, expected) in CRD_RIGHTS {
        for (user, expected) in users.iter().zip(expected) {
            for (name, is_ours) in names {
                let allowed = may_with(cluster, user, verb, resource, "", name).await;
                assert_eq!(
                    allowed,
                    expected && is_ours,
                    "{user}: {verb} {resource:?} {name}"
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_half_of_an_operator_works_with_its_own_rights() {
    let cluster = Cluster::start().await;
    for name in [NAMESPACE, "team", "other"] {
        cluster.apply(&namespace(name)).await;
    }
    let account_is = |name| format!("serviceAccount.name={name}");
    let keeper = [
        "azureOperatorMode=webhooks",
        "tlsMinVersion=1.3",
        &account_is(KEEPER),
    ];
    let manager = [
        "azureOperatorMode=watchers",
        "azureTargetNamespaces={team}",
        "metrics.authentication=true",
        "metrics.serviceMonitor.enabled=true",
        "tlsMinVersion=VersionTLS13",
        &account_is(MANAGER),
    ];
    let mut keeper = cluster.render(&keeper).await;
    let mut manager = cluster.render_release("armature-team", &manager).await;
    // Nobody knows its kind here.
    let is_monitor = |manifest: &Value| manifest["kind"] == "ServiceMonitor";
    let monitor = manager.iter().position(is_monitor).unwrap();
    let monitor = manager.remove(monitor);
    for manifest in keeper.iter().chain(&manager) {
        cluster.apply(manifest).await;
    }
    cluster
        .until("the roles count", async |cluster| {
            may(cluster, &account(MANAGER), "patch", SECRETS, "team").await
        })
        .await;
    has_the_rights_of_its_half(&cluster).await;

    add_argument(&mut keeper, "--storage-migration-delay=2s");
    let keeper = cluster.run(&keeper, "keeper-0", "127.0.0.1").await;
    let manager = cluster.run(&manager, "manager-0", "127.0.0.1").await;
    works(&cluster).await;
    migrates_stored_objects(&cluster).await;
    are_read_by(&cluster, &manager, &monitor).await;
    // The API server speaks TLS 1.3, as the objects above show.
    let webhook = (
        "armature-webhook-certificate",
        "127.0.0.1",
        keeper.ports().webhook,
    );
    let tls = &monitor["spec"]["endpoints"][0]["tlsConfig"];
    let authority = tls["ca"]["configMap"]["name"].as_str().unwrap();
    let name = tls["serverName"].as_str().unwrap();
    let metrics = (authority, name, manager.ports().metrics);
    for (authority, name, port) in [webhook, metrics] {
        let taken = tls_versions(&cluster, authority, name, port).await;
        assert_eq!(taken, [false, true], "{name}");
    }
    for pod in [manager, keeper] {
        let status = pod.terminate().await;
        assert!(status.success(), "{status}");
    }
    for name in [KEEPER, MANAGER] {
        let used = used(&cluster.path("audit"), &account(name));
        assert!(!used.rights.is_empty(), "{name} did nothing");
        assert_eq!(used.refused, [""; 0], "requests that {name} may not make");
    }
}
