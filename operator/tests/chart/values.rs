//! Values: documented, checked, and clean for helm.

use std::collections::BTreeSet;

use armature_controlplane::KUBERNETES_VERSION;
use armature_runtime::engine::collect::has_reference_twin;
use armature_runtime::reconcile::queue::WORKERS;
use armature_runtime::shape::{StructShape, Type};
use serde_json::{Value, json};

use crate::chart::{deployment, folder, helm, manifests};
use crate::rights::{Right, given};

fn read(file: &str) -> String {
    std::fs::read_to_string(folder().join(file)).unwrap()
}

#[tokio::test]
async fn helm_lint_is_clean() {
    let output = helm(&["lint", "--strict"], &[]).await;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("[WARNING]"), "{text}");
}

#[tokio::test]
async fn a_value_that_does_not_exist_is_refused() {
    for (setting, named) in [
        ("crdPatern=*/*", "crdPatern"),
        ("crdVersions=newest", "crdVersions"),
        ("defaultReconcilePolicy=never", "defaultReconcilePolicy"),
        ("allowedScopes={/}", "allowedScopes"),
        ("allowedScopes={none,/subscriptions/a}", "allowedScopes"),
        ("secretProofs={password}", "secretProofs"),
        ("exportMetadata={none,app/}", "exportMetadata"),
        ("allowedClouds={https://arm.test}", "allowedClouds"),
        ("tracing.otlpEndpoint=collector:4317", "otlpEndpoint"),
        ("armBudget=reads=100", "armBudget"),
        ("webhook.conversionMemory=256MB", "conversionMemory"),
        // Azure Service Operator's words, misspelt or with what they do not take.
        ("networkPolicies.enabled=true", "networkPolicies"),
        ("networkPolicies.sqlCIDR=anywhere", "sqlCIDR"),
        ("azureOperatorMode=webhook", "azureOperatorMode"),
        ("metrics.mode=both", "metrics/mode"),
        ("metrics.secure=yes", "metrics/secure"),
        ("metrics.port=http", "metrics/port"),
        ("tlsMinVersion=1.1", "tlsMinVersion"),
        ("tlsMinVersion=VersionTLS11", "tlsMinVersion"),
        ("rateLimit.burst=1", "rateLimit"),
        ("podDisruptionBudget.minAvailable=half", "minAvailable"),
        ("installCRDs=maybe", "installCRDs"),
    ] {
        let output = helm(&["lint"], &[setting]).await;
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success(), "{setting} passes");
        assert!(text.contains(named), "{text}");
    }
}

#[tokio::test]
async fn each_mode_has_the_rights_and_the_service_of_its_half() {
    let right = |group: &str, resource: &str, verb: &str| -> Right {
        (group.to_owned(), resource.to_owned(), verb.to_owned())
    };
    let crds = |verb| right("apiextensions.k8s.io", "customresourcedefinitions", verb);
    let halves = [
        (
            "watchers",
            vec![
                crds("watch"),
                right("*.azure.com", "*", "watch"),
                right("events.k8s.io", "events", "create"),
            ],
        ),
        (
            "webhooks",
            vec![
                crds("patch"),
                crds("create"),
                right(
                    "apiextensions.k8s.io",
                    "customresourcedefinitions/status",
                    "patch",
                ),
                right("coordination.k8s.io", "leases", "delete"),
            ],
        ),
    ];
    let both = given(&manifests(&[]).await);
    for (mode, needed) in &halves {
        let rendered = manifests(&[&format!("azureOperatorMode={mode}")]).await;
        let rights = given(&rendered);
        assert!(rights.is_subset(&both) && rights != both, "{mode}");
        for (other, rest) in &halves {
            let others = rest.iter().filter(|right| **right != crds("watch"));
            let has = |right: &&Right| rights.contains(*right) == (mode == other);
            assert_eq!(
                others.clone().find(|right| !has(right)),
                None,
                "{mode}, {other}"
            );
        }
        assert!(needed.iter().all(|right| rights.contains(right)), "{mode}");
        let services = rendered
            .iter()
            .filter(|manifest| manifest["kind"] == "Service");
        let webhooks = services.filter(|service| service["spec"]["ports"][0]["name"] == "webhook");
        assert_eq!(webhooks.count() == 1, *mode == "webhooks", "{mode}");
    }
}

#[test]
fn every_api_group_has_its_rights() {
    let listed = read("files/groups");
    let listed: BTreeSet<&str> = listed.lines().collect();
    let kinds = armature_generated::KINDS.iter();
    let known: BTreeSet<&str> = kinds.map(|kind| kind.group).collect();
    assert_eq!(
        listed, known,
        "deploy/chart/files/groups must have one line for each API group; `cargo xtask gen` writes it"
    );
}

/// Names of plain properties below a shape that a reference may stand in place of.
fn plain_references(ty: Type, seen: &mut Vec<*const StructShape>, found: &mut BTreeSet<String>) {
    match ty {
        Type::List(list) => plain_references(list.item, seen, found),
        Type::Map(map) => plain_references(map.value, seen, found),
        Type::Struct(shape) if !seen.contains(&std::ptr::from_ref(shape)) => {
            seen.push(shape);
            for field in shape.fields {
                if has_reference_twin(shape, field) {
                    found.insert(field.name.to_owned());
                }
                plain_references(field.ty, seen, found);
            }
        }
        _ => {}
    }
}

#[test]
fn ids_in_text_are_looked_for_where_a_reference_may_stand() {
    let listed = read("files/plain-references");
    let listed: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    let mut known = BTreeSet::new();
    let kinds = armature_generated::KINDS.iter();
    for version in kinds.flat_map(|kind| kind.versions) {
        plain_references(Type::Struct(version.spec), &mut Vec::new(), &mut known);
    }
    assert_eq!(
        listed, known,
        "deploy/chart/files/plain-references must have a line for each property that `reference-or-plain` made plain"
    );
}

#[test]
fn the_crds_of_all_kinds_and_no_others_may_be_changed() {
    let listed = read("files/crds");
    let listed: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    let kinds = armature_generated::KINDS.iter();
    let known: BTreeSet<String> = kinds
        .map(|kind| format!("{}.{}", kind.plural, kind.group))
        .collect();
    assert_eq!(
        listed, known,
        "deploy/chart/files/crds must have one line for each kind: PLURAL.GROUP; `cargo xtask gen` writes it"
    );
}

/// Value of a flag or an environment variable of the operator's container.
fn told(manifests: &[Value], name: &str) -> Option<String> {
    let container = &deployment(manifests)["spec"]["template"]["spec"]["containers"][0];
    let mut flags = container["args"].as_array().unwrap().iter();
    let flag = flags.find_map(|flag| {
        let (flag, value) = flag.as_str()?.split_once('=')?;
        (flag == name).then_some(value)
    });
    let mut variables = container["env"].as_array().unwrap().iter();
    let variable = variables.find(|variable| variable["name"] == name);
    let variable = variable.and_then(|variable| variable["value"].as_str());
    flag.or(variable).map(str::to_owned)
}

#[tokio::test]
async fn settings_reach_the_operator() {
    let defaults = manifests(&[]).await;
    let changed = manifests(&[
        "workers=7",
        "armBudget=reads=100/10\\,writes=50/5",
        "webhook.conversionMemory=64Mi",
        "metrics.address=127.0.0.1",
        "metrics.port=9090",
        "allowedScopes={none}",
        "secretProofs={client-secret,client-certificate}",
        "exportMetadata={app.kubernetes.io/,team}",
        "allowedClouds[0].resourceManagerEndpoint=https://arm.test",
        "allowedClouds[0].authorityHost=https://login.test",
        "allowedClouds[0].resourceManagerAudience=https://audience.test",
    ])
    .await;
    // The chart names it, so that `helm show values` tells it; the program's own default is the truth.
    let workers = WORKERS.to_string();
    for (name, default, set) in [
        ("ARMATURE_WORKERS", Some(workers.as_str()), "7"),
        ("ARMATURE_ARM_BUDGET", None, "reads=100/10,writes=50/5"),
        ("ARMATURE_CONVERSION_MEMORY", Some("256Mi"), "64Mi"),
        ("ALLOWED_SCOPES", None, "none"),
        (
            "ARMATURE_SECRET_PROOFS",
            None,
            "client-secret,client-certificate",
        ),
        ("ARMATURE_EXPORT_METADATA", None, "app.kubernetes.io/,team"),
        (
            "ARMATURE_ALLOWED_CLOUDS",
            None,
            "https://arm.test https://login.test https://audience.test",
        ),
        ("--metrics-addr", Some("0.0.0.0:8443"), "127.0.0.1:9090"),
    ] {
        assert_eq!(told(&defaults, name).as_deref(), default, "{name}");
        assert_eq!(told(&changed, name).as_deref(), Some(set), "{name}");
    }
}

#[tokio::test]
async fn metrics_that_only_the_pod_reaches_have_no_service() {
    let services = async |settings: &[&str]| {
        let rendered = manifests(settings).await;
        let mut names: Vec<String> = rendered
            .iter()
            .filter(|manifest| manifest["kind"] == "Service")
            .map(|service| service["metadata"]["name"].as_str().unwrap().to_owned())
            .collect();
        names.retain(|name| name.ends_with("-metrics"));
        names
    };
    let mode = "metrics.mode=armature";
    assert_eq!(services(&[mode]).await, [""; 0]);
    for setting in ["metrics.authentication=true", "metrics.address=0.0.0.0"] {
        assert_eq!(
            services(&[mode, setting]).await,
            ["armature-metrics"],
            "{setting}"
        );
    }
    let arguments = ["template", "armature", "--kube-version", KUBERNETES_VERSION];
    for refused in ["metrics.serviceMonitor.enabled=true"] {
        let output = helm(&arguments, &[mode, refused]).await;
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "nobody may reach them: {refused}");
        assert!(text.contains("metrics.authentication=true"), "{text}");
    }
}

#[test]
fn every_value_at_the_top_is_documented() {
    let text = read("values.yaml");
    let lines: Vec<&str> = text.lines().collect();
    let of_pods = lines.iter().position(|line| line.starts_with("# -- Pods"));
    for (at, line) in lines.iter().enumerate() {
        let is_value = line.starts_with(|first: char| first.is_ascii_lowercase());
        let is_kubernetes_own = Some(at) > of_pods;
        if is_value && !is_kubernetes_own && !line.starts_with("azure") {
            assert!(
                lines[at - 1].starts_with('#'),
                "{line} has no comment above"
            );
        }
    }
}

#[test]
fn the_chart_has_the_version_of_the_operator() {
    let chart = read("Chart.yaml");
    let version = env!("CARGO_PKG_VERSION");
    for line in [
        format!("version: {version}"),
        format!("appVersion: {version}"),
    ] {
        assert!(
            chart.lines().any(|known| known == line),
            "Chart.yaml lacks `{line}`"
        );
    }
}

/// Values of an earlier release (`helm upgrade --reuse-values`) do not have the value, and take no right away.
#[tokio::test]
async fn the_right_to_write_secrets_is_left_out_where_it_is_said() {
    for (setting, expected) in [
        ("exports=null", true),
        ("exports=true", true),
        ("exports=false", false),
    ] {
        let manifests = manifests(&[setting]).await;
        let rules = manifests
            .iter()
            .flat_map(|it| it["rules"].as_array())
            .flatten();
        let of_data = json!(["secrets", "configmaps"]);
        let rules: Vec<_> = rules.filter(|rule| rule["resources"] == of_data).collect();
        assert!(!rules.is_empty(), "{setting}");
        for rule in rules {
            let verbs = rule["verbs"].as_array().unwrap();
            assert_eq!(verbs.contains(&json!("create")), expected, "{setting}");
            assert!(verbs.contains(&json!("get")), "{setting}");
        }
    }
}
