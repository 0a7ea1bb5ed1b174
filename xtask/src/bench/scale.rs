//! Benchmarks of the operator as a process, with up to 30,000 objects.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use super::Context;
use super::figure::{Figure, Unit};
use super::load::{self, Load};
use super::scene::{self, Requests, Scene};

/// Half of 10,000 objects.
const RESTARTED: usize = 5_000;
/// Half of 1,000 objects.
const SYNCED: usize = 500;
/// Half of 30,000 objects.
const STEADY: usize = 15_000;

const _: () = assert!(load::namespaces(STEADY) <= scene::SUBSCRIPTIONS);

/// Sync period of `sync`.
const SYNC: Duration = Duration::from_secs(20);
/// How long `steady` looks in each run.
const WINDOW: Duration = Duration::from_secs(60);

/// The design's bar for memory of an operator without objects, in megabytes.
const IDLE_MEMORY: f64 = 40.0;
/// The design's bars for memory of one object, in bytes: after a restart, and while nothing happens.
const OBJECT_AFTER_RESTART: f64 = 4_500.0;
const OBJECT_MEMORY: f64 = 6.0 * 1024.0;

/// Times and counts of one benchmark, sample by sample.
#[derive(Default)]
pub(super) struct Samples(pub(super) Vec<Figure>);

impl Samples {
    pub(super) fn add(&mut self, name: impl Into<Cow<'static, str>>, unit: Unit, sample: f64) {
        let name = name.into();
        match self.0.iter_mut().find(|figure| figure.name == name) {
            Some(figure) => figure.samples.push(sample),
            None => self.0.push(Figure::new(name, unit, vec![sample])),
        }
    }

    pub(super) fn add_requests(&mut self, requests: Requests) {
        let Requests {
            all,
            get,
            put,
            delete,
        } = requests;
        let other = all - get - put - delete;
        for (name, count) in [
            ("GET", get),
            ("PUT", put),
            ("DELETE", delete),
            ("other requests", other),
        ] {
            self.add(name, Unit::Count, count as f64);
        }
    }

    /// Sets the bar of a figure.
    pub(super) fn at_most(mut self, name: &str, bar: f64) -> Self {
        if let Some(figure) = self.0.iter_mut().find(|figure| figure.name == name) {
            figure.at_most = Some(bar);
        }
        self
    }
}

/// Memory without objects.
pub async fn idle(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let mut scene = Scene::start(context, &[]).await?;
    let mut samples = Samples::default();
    for _ in 0..context.runs {
        scene.restart_operator().await?;
        scene.settle().await?;
        let memory = scene.usage()?.resident as f64 / 1e6;
        samples.add("memory", Unit::Megabytes, memory);
    }
    scene.stop().await;
    Ok(samples.at_most("memory", IDLE_MEMORY).0)
}

/// Restarts with many objects.
pub async fn restart(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let mut scene = Scene::start(context, &[]).await?;
    let empty = scene.usage()?.resident;
    let load = Load::new(&scene, "restart", context.sets(RESTARTED)).await?;
    let objects = load.objects();
    context
        .progress
        .update(&format!("restart: creating {objects} objects"));
    load.bring_up(&mut scene).await?;
    scene.settle().await?;
    let mut samples = Samples::default();
    for run in 0..context.runs {
        context.progress.update(&format!("restart: run {run}"));
        let before = scene.requests().await?;
        scene.restart_operator().await?;
        let started = Instant::now();
        scene.hear_more_than(before).await?;
        let settled = scene.settle().await? - started;
        let usage = scene.usage()?;
        samples.add("settled", Unit::Seconds, settled.as_secs_f64());
        samples.add("operator cpu", Unit::Seconds, usage.cpu.as_secs_f64());
        samples.add_requests(scene.requests().await? - before);
        add_memory(&mut samples, usage.resident, empty, load.objects());
    }
    scene.stop().await;
    Ok(with_bars(samples, OBJECT_AFTER_RESTART))
}

/// What a Ready object costs Azure.
pub async fn sync(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let period = format!("--sync-period={}s", SYNC.as_secs());
    let mut scene = Scene::start(context, &[&period]).await?;
    let load = Load::new(&scene, "sync", context.sets(SYNCED)).await?;
    load.bring_up(&mut scene).await?;
    // By then every object has had its first sync.
    tokio::time::sleep(2 * SYNC).await;
    let mut samples = Samples::default();
    for run in 0..context.runs {
        context.progress.update(&format!("sync: period {run}"));
        let before = scene.requests().await?;
        tokio::time::sleep(SYNC).await;
        let requests = scene.requests().await? - before;
        let per_object = |count: u64| count as f64 / load.objects() as f64;
        let get = per_object(requests.get);
        samples.add("GET in an object-hour", Unit::Count, get);
        let put = per_object(requests.put);
        samples.add("PUT in an object-hour", Unit::Count, put);
        let other = per_object(requests.all - requests.get - requests.put);
        samples.add("others in an object-hour", Unit::Count, other);
    }
    scene.stop().await;
    Ok(samples.at_most("PUT in an object-hour", 0.0).0)
}

/// Many objects that nobody changes.
pub async fn steady(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let mut scene = Scene::start(context, &["--sync-period=5m"]).await?;
    let empty = scene.usage()?.resident;
    let load = Load::new(&scene, "steady", context.sets(STEADY)).await?;
    let objects = load.objects();
    context
        .progress
        .update(&format!("steady: creating {objects} objects"));
    let started = Instant::now();
    let ready = load.bring_up(&mut scene).await?.at - started;
    let mut samples = Samples::default();
    samples.add("all Ready", Unit::Seconds, ready.as_secs_f64());
    for run in 0..context.runs {
        context.progress.update(&format!("steady: minute {run}"));
        let (before, used) = (scene.requests().await?, scene.usage()?);
        tokio::time::sleep(WINDOW).await;
        let usage = scene.usage()?;
        let cpu = (usage.cpu - used.cpu).as_secs_f64() / WINDOW.as_secs_f64();
        samples.add("operator cpu", Unit::Share, 100.0 * cpu);
        samples.add_requests(scene.requests().await? - before);
        add_memory(&mut samples, usage.resident, empty, load.objects());
    }
    scene.stop().await;
    Ok(with_bars(samples, OBJECT_MEMORY))
}

/// Times of the conversion webhook.
pub async fn webhook(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let mut scene = Scene::start(context, &[]).await?;
    let load = Load::new(&scene, "webhook", 1).await?;
    load.bring_up(&mut scene).await?;
    let ready = load.read(&scene).await?;
    let figures = super::webhook::figures(context, &scene, ready).await?;
    scene.stop().await;
    Ok(figures)
}

fn add_memory(samples: &mut Samples, resident: u64, empty: u64, objects: usize) {
    samples.add("memory", Unit::Megabytes, resident as f64 / 1e6);
    let per_object = resident.saturating_sub(empty) as f64 / objects as f64;
    samples.add("memory of one object", Unit::Bytes, per_object);
}

/// The design's bars: nothing is written for objects that nobody changes, and each takes little memory.
fn with_bars(samples: Samples, memory: f64) -> Vec<Figure> {
    let samples = samples.at_most("memory of one object", memory);
    samples.at_most("PUT", 0.0).at_most("DELETE", 0.0).0
}
