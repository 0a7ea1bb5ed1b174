//! What all CRDs cost a real API server: until they are served, and in its memory. There with nobody connected, and with the
//! operator, whose watches make the API server build a handler for each CRD and keep it.

use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams};

use super::Context;
use super::figure::{Figure, Unit};
use super::scale::Samples;
use super::scene::Scene;

/// Bars: seconds until the last CRD is established, and megabytes that are alive in the API server after a restart.
const INSTALLED: f64 = 25.0;
const HEAP: f64 = 500.0;
const HEAP_OF_LATEST: f64 = 300.0;

/// After a restart, until the API server has built what it builds in the background: handlers, discovery, OpenAPI.
const REST: Duration = Duration::from_secs(30);

/// Both choices of versions, each on a control plane of its own.
pub async fn figures(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let mut samples = Samples::default();
    for run in 0..context.runs {
        context.progress.update(&format!("crds: run {run}"));
        let mut scene = Scene::start(context, &[]).await?;
        samples.add("installed", Unit::Seconds, installed(&scene).await?);
        restart(&mut scene).await?;
        let name = "live heap, operator running";
        samples.add(name, Unit::Megabytes, heap(&scene).await?);
        scene.stop_operator().await;
        restart(&mut scene).await?;
        samples.add("live heap", Unit::Megabytes, heap(&scene).await?);
        scene.get("/openapi/v2").await?;
        let name = "live heap after a client asked for /openapi/v2";
        samples.add(name, Unit::Megabytes, heap(&scene).await?);
        scene.stop().await;

        let mut scene = Scene::start(context, &["--crd-versions=latest"]).await?;
        let name = "installed, latest versions";
        samples.add(name, Unit::Seconds, installed(&scene).await?);
        restart(&mut scene).await?;
        let name = "live heap, latest versions, operator running";
        samples.add(name, Unit::Megabytes, heap(&scene).await?);
        scene.stop_operator().await;
        restart(&mut scene).await?;
        let name = "live heap, latest versions";
        samples.add(name, Unit::Megabytes, heap(&scene).await?);
        scene.stop().await;
    }
    let samples = samples
        .at_most("installed", INSTALLED)
        .at_most("live heap", HEAP)
        .at_most("live heap, latest versions", HEAP_OF_LATEST);
    Ok(samples.0)
}

/// Seconds from the first CRD's creation until the last one was established, as the API server has noted them: whole ones.
async fn installed(scene: &Scene) -> anyhow::Result<f64> {
    let api: Api<CustomResourceDefinition> = Api::all(scene.client.clone());
    let crds = api.list(&ListParams::default()).await?.items;
    let (mut first, mut last) = (None, None);
    for crd in &crds {
        let name = crd.metadata.name.as_deref().unwrap_or_default();
        let conditions = crd.status.iter().flat_map(|status| &status.conditions);
        let established = conditions
            .flatten()
            .find(|it| it.type_ == "Established" && it.status == "True")
            .with_context(|| format!("the CRD {name} is not established"))?;
        let created = crd.metadata.creation_timestamp.as_ref().map(|it| it.0);
        first = first.min(created).or(created);
        last = last.max(established.last_transition_time.as_ref().map(|it| it.0));
    }
    let (first, last) = first.zip(last).context("no CRD was installed")?;
    Ok(last.duration_since(first).as_secs_f64())
}

async fn restart(scene: &mut Scene) -> anyhow::Result<()> {
    scene.restart_apiserver().await?;
    if scene.operator().is_ok() {
        scene.settle().await?;
    }
    tokio::time::sleep(REST).await;
    Ok(())
}

/// Megabytes that are in use after the API server has collected its garbage.
async fn heap(scene: &Scene) -> anyhow::Result<f64> {
    scene.get("/debug/pprof/heap?gc=1&debug=1").await?;
    let metrics = scene.get("/metrics").await?;
    let mut lines = metrics.lines();
    let bytes = lines.find_map(|line| line.strip_prefix("go_memstats_heap_alloc_bytes "));
    let bytes = bytes.context("the API server's metrics do not tell its heap")?;
    let bytes: f64 = bytes.trim().parse().context("the size of the heap")?;
    Ok(bytes / 1e6)
}
