//! Conversion through the operator's webhook, as the API server asks for it.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams};
use serde_json::{Value, json};

use super::Context;
use super::figure::{Figure, Unit};
use super::scene::Scene;
use crate::workspace;

/// Reviews in one run.
const REVIEWS: usize = 4_000;

/// The design's bar for a Ready object, in milliseconds.
const P99: f64 = 0.4;

/// A review that is asked for again and again.
struct Review(Value);

/// Median and 99th percentile of each run, after one that warms up: of Ready objects, and of all samples.
///
/// # Errors
/// When the operator does not convert an object.
pub async fn figures(
    context: &Context,
    scene: &Scene,
    ready: Vec<Value>,
) -> anyhow::Result<Vec<Figure>> {
    let crds = Api::<CustomResourceDefinition>::all(scene.client.clone());
    let crds = crds.list(&ListParams::default()).await?.items;
    let client = client(&crds)?;
    let addresses = scene.operator()?.addresses();
    let addresses = addresses.context("only this operator's webhook can be asked")?;
    let url = format!("https://{}/convert", addresses.webhook);
    let mut to_storage = Vec::new();
    for object in ready {
        let stored = stored_version(&crds, &object)?;
        to_storage.push(Review::new(&object, &json!(stored)));
    }
    let (median, p99) = times(context, (&client, &url), &to_storage).await?;
    let mut figures = vec![
        Figure::new("Ready object to storage, p50", Unit::Milliseconds, median),
        Figure::new("Ready object to storage, p99", Unit::Milliseconds, p99).at_most(P99),
    ];
    let mut reviews = Vec::new();
    for object in samples(context, &crds)? {
        let stored = stored_version(&crds, &object)?;
        let served = object["apiVersion"].clone();
        let there = Review::new(&object, &json!(stored));
        let answer = ask(&client, &url, &there).await?.1;
        let back = Review::new(&answer["response"]["convertedObjects"][0], &served);
        reviews.extend([there, back]);
    }
    let (median, p99) = times(context, (&client, &url), &reviews).await?;
    figures.extend([
        Figure::new("sample, p50", Unit::Milliseconds, median),
        Figure::new("sample, p99", Unit::Milliseconds, p99),
    ]);
    Ok(figures)
}

/// Median and 99th percentile of each run, after one that warms up.
async fn times(
    context: &Context,
    (client, url): (&reqwest::Client, &str),
    reviews: &[Review],
) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let mut median = Vec::new();
    let mut p99 = Vec::new();
    for _ in 0..=context.runs {
        let mut times = Vec::with_capacity(REVIEWS);
        for review in reviews.iter().cycle().take(REVIEWS) {
            times.push(ask(client, url, review).await?.0.as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        median.push(times[REVIEWS / 2]);
        p99.push(times[REVIEWS * 99 / 100]);
    }
    for samples in [&mut median, &mut p99] {
        samples.remove(0);
    }
    Ok((median, p99))
}

impl Review {
    fn new(object: &Value, desired: &Value) -> Self {
        Self(json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "ConversionReview",
            "request": {"uid": "bench", "desiredAPIVersion": desired, "objects": [object]},
        }))
    }
}

/// Sends a review; how long the answer took, and the answer, which must be a success.
async fn ask(
    client: &reqwest::Client,
    url: &str,
    review: &Review,
) -> anyhow::Result<(Duration, Value)> {
    let body = review.0.to_string();
    let request = client.post(url).header("content-type", "application/json");
    let started = Instant::now();
    let text = request.body(body).send().await?.text().await?;
    let took = started.elapsed();
    let answer: Value = serde_json::from_str(&text).context("the webhook does not answer JSON")?;
    anyhow::ensure!(
        answer["response"]["result"]["status"] == "Success",
        "the webhook does not convert an object: {}",
        answer["response"]["result"]["message"]
    );
    Ok((took, answer))
}

/// A client that trusts the webhook's certificate as the API server does: by what the CRDs say.
fn client(crds: &[CustomResourceDefinition]) -> anyhow::Result<reqwest::Client> {
    let bundle = crds.iter().find_map(|crd| {
        let webhook = crd.spec.conversion.as_ref()?.webhook.as_ref()?;
        webhook.client_config.as_ref()?.ca_bundle.clone()
    });
    let bundle = bundle.context("no CRD names the webhook's certificate authority")?;
    let authorities = reqwest::Certificate::from_pem_bundle(&bundle.0)?;
    Ok(reqwest::Client::builder()
        .tls_certs_only(authorities)
        .build()?)
}

/// `group/version` in which an object's kind is stored.
fn stored_version(crds: &[CustomResourceDefinition], object: &Value) -> anyhow::Result<String> {
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let (group, _) = text("apiVersion").split_once('/').unwrap_or_default();
    let crd = crds
        .iter()
        .find(|crd| crd.spec.group == group && crd.spec.names.kind == text("kind"));
    let crd = crd.with_context(|| format!("there is no CRD for {} {}", group, text("kind")))?;
    let stored = crd.spec.versions.iter().find(|version| version.storage);
    let stored = stored.context("a CRD without a stored version")?;
    Ok(format!("{group}/{}", stored.name))
}

/// The manifests of the samples; Secrets and others that the API server has itself are nobody's to convert.
fn samples(context: &Context, crds: &[CustomResourceDefinition]) -> anyhow::Result<Vec<Value>> {
    let is_of_crds = |document: &Value| {
        let version = document["apiVersion"].as_str().unwrap_or_default();
        let group = version.split_once('/').map(|(group, _)| group);
        crds.iter().any(|crd| group == Some(&crd.spec.group))
    };
    let folder = context.root.join("samples");
    let mut found = Vec::new();
    for file in workspace::files_below(&folder)? {
        let text = workspace::read(&folder.join(&file))?;
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text)
            .with_context(|| format!("samples/{file} is no YAML"))?;
        found.extend(documents.into_iter().filter(is_of_crds));
    }
    Ok(found)
}
