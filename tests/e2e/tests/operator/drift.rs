//! What somebody changes in Azure is found and repaired; what nobody changes is left alone.

use std::time::Duration;

use armature::{Operator, OperatorConfig};
use armature_e2e::World;
use armature_exposure::scrape;
use k8s_openapi::api::core::v1::Event;
use kube::api::{Api, ListParams};
use serde_json::json;

use crate::{SUBSCRIPTION, is_ready, sent, wait_until};

fn account(name: &str) -> String {
    format!(
        "
apiVersion: storage.azure.com/v1api20210401
kind: StorageAccount
metadata:
  name: {name}
  namespace: drift
  annotations: {{serviceoperator.azure.com/operator-namespace: drift}}
spec:
  location: westeurope
  kind: StorageV2
  sku: {{name: Standard_LRS}}
  owner: {{name: drift-rg}}
  accessTier: Hot
  minimumTlsVersion: TLS1_2
  tags: {{team: web}}
"
    )
}

const GROUP: &str = "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: drift-rg
  namespace: drift
  annotations: {serviceoperator.azure.com/operator-namespace: drift}
spec: {location: westeurope}
";

#[test]
fn drift_is_repaired_with_one_put_and_nothing_else_is_written() {
    World::shared().run("drift", async |world, objects| {
        let config = OperatorConfig {
            sync_period: Some(Duration::from_secs(1)),
            metrics_listen: Some("127.0.0.1:0".parse().unwrap()),
            ..world.operator_config("drift")
        };
        let operator = Operator::start(config).await.unwrap();
        objects.apply(GROUP).await.unwrap();
        let id = |name: &str| {
            format!(
                "{SUBSCRIPTION}/resourceGroups/drift-rg/providers/Microsoft.Storage/storageAccounts/{name}"
            )
        };
        for name in ["driftchanged", "driftquiet"] {
            objects.apply(&account(name)).await.unwrap();
            objects.wait_ready("StorageAccount", name, is_ready).await;
        }
        let (changed, quiet) = (id("driftchanged"), id("driftquiet"));

        world
            .azure()
            .drift(&changed, &json!({"properties": {"minimumTlsVersion": "TLS1_0"}}))
            .unwrap();
        wait_until("the repair", async || sent(world, "PUT", &changed) == 2).await;
        objects
            .wait_ready("StorageAccount", "driftchanged", is_ready)
            .await;
        let repaired = world.azure().resource(&changed).unwrap();
        assert_eq!(repaired["properties"]["minimumTlsVersion"], "TLS1_2");
        let event = async || {
            let events: Api<Event> = Api::namespaced(world.client().clone(), "drift");
            let events = events.list(&ListParams::default()).await.unwrap().items;
            events.into_iter().find(|event| event.reason.as_deref() == Some("Drifted"))
        };
        wait_until("the event", async || event().await.is_some()).await;
        let event = event().await.unwrap();
        assert_eq!(event.involved_object.name.as_deref(), Some("driftchanged"));
        let message = event.message.unwrap();
        for part in ["properties.minimumTlsVersion", "TLS1_0", "TLS1_2"] {
            assert!(message.contains(part), "{message}");
        }

        let looks = |id: &str| sent(world, "GET", id);
        let before = (looks(&changed), looks(&quiet));
        wait_until("three more syncs", async || {
            looks(&changed) >= before.0 + 3 && looks(&quiet) >= before.1 + 3
        })
        .await;
        assert_eq!(sent(world, "PUT", &changed), 2);
        assert_eq!(sent(world, "PUT", &quiet), 1);
        let metrics = scrape(operator.metrics_address().unwrap()).await;
        check_metrics(&metrics.unwrap());
        operator.stop().await;
    });
}

/// One account drifted once; three objects are ready; their names are nowhere.
fn check_metrics(text: &str) {
    let account = r#"group="storage.azure.com",kind="StorageAccount""#;
    let name = r#""StorageAccountController""#;
    let controller = format!("controller={name},group=\"storage.azure.com\"");
    let put = r#"resource="Microsoft.Storage/storageAccounts",requestType="PUT""#;
    for line in [
        format!("armature_drift_total{{{account}}} 1\n"),
        format!(
            "armature_drift_paths_total{{{account},path=\"properties.minimumTlsVersion\"}} 1\n"
        ),
        format!("armature_objects{{{account},reason=\"Succeeded\"}} 2\n"),
        "armature_queue_keys{state=\"known\"} 3\n".to_owned(),
        format!(
            "armature_build_info{{version=\"{}\"}} 1\n",
            env!("CARGO_PKG_VERSION")
        ),
        "# EOF".to_owned(),
    ] {
        assert!(text.contains(&line), "no {line:?} in {text}");
    }
    for start in [
        format!("armature_reconciles_total{{{account},result=\"done\"}}"),
        format!("armature_reconcile_seconds_count{{{account}}}"),
        "armature_queue_age_seconds ".to_owned(),
        format!("controller_runtime_reconcile_total{{{controller},result=\"requeue_after\"}} "),
        format!("controller_runtime_reconcile_errors_total{{{controller}}} 0"),
        format!("controller_runtime_reconcile_time_seconds_count{{{controller}}} "),
        format!("workqueue_queue_duration_seconds_count{{name={name},{controller}}} "),
        format!("workqueue_depth{{name={name},{controller},priority=\"0\"}} "),
        format!("azure_successful_requests_total{{{put},responseCode=\"20"),
        format!("azure_requests_time_seconds_count{{{put}}}"),
    ] {
        assert!(text.contains(&start), "no {start:?} in {text}");
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/observability.md");
    let page = std::fs::read_to_string(page).unwrap();
    for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = match line.split_once(' ').unwrap() {
            (name, "counter") => format!("{name}_total"),
            (name, "info") => format!("{name}_info"),
            (name, _) => name.to_owned(),
        };
        assert!(
            page.contains(&format!("| `{name}` |")),
            "{name} is not in docs/observability.md"
        );
    }
    let of_controllers =
        |line: &&str| line.starts_with("controller_runtime_reconcile_errors_total{");
    assert_eq!(
        text.lines().filter(of_controllers).count(),
        2,
        "one of each kind with a pass: {text}"
    );
    assert!(
        !text.contains("driftchanged") && !text.contains("drift-rg"),
        "{text}"
    );
}
