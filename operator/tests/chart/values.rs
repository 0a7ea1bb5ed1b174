//! Values: documented, checked, and clean for helm.

use std::collections::BTreeSet;

use crate::chart::{folder, helm};

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
        ("tracing.otlpEndpoint=collector:4317", "otlpEndpoint"),
    ] {
        let output = helm(&["lint"], &[setting]).await;
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success(), "{setting} passes");
        assert!(text.contains(named), "{text}");
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
        "deploy/chart/files/groups must have one line for each API group"
    );
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
