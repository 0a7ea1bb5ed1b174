//! From apply to Ready and from delete to gone: times, and what was asked of the API server, which is what limits both.

use std::time::{Duration, Instant};

use super::Context;
use super::figure::{Figure, Unit};
use super::load::{GROUPS, Load, NETWORKS};
use super::scale::Samples;
use super::scene::{Requests, Scene};
use super::served::Served;

/// Resource groups, each with a virtual network.
const SETS: usize = 1_000;

/// Before the figures of an operator that serves one version of each kind.
const LATEST: &str = "crdVersions latest: ";

/// Bars of the operator's own figures, as they are named below.
const BARS: [(&str, f64); 9] = [
    ("all Ready", 33.0),
    ("API server cpu of a set", 40.0),
    ("writes of a group", 2.0),
    (BUT_FOR_WAITING, 4.0),
    ("events lost", 0.0),
    ("writes of a group, deleting", 2.0),
    ("writes of a network, deleting", 3.0),
    ("all deleted", 35.0),
    ("operator cpu of both", 15.0),
];

/// What is not ready after 5 s says so: that write may come on top.
const BUT_FOR_WAITING: &str = "writes of a network, but for that it waits";

/// This operator, and all that it is to be compared with.
pub async fn figures(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let mut samples = Samples::default();
    let scene = Scene::start(context, &[]).await?;
    measure(context, scene, "", &mut samples).await?;
    for (name, bar) in BARS {
        samples = samples.at_most(name, bar);
    }
    let scene = Scene::start(context, &["--crd-versions=latest"]).await?;
    measure(context, scene, LATEST, &mut samples).await?;
    for beside in &context.beside {
        let scene = Scene::start_other(context, &beside.command).await?;
        measure(context, scene, &format!("{}: ", beside.name), &mut samples).await?;
    }
    Ok(samples.0)
}

async fn measure(
    context: &Context,
    mut scene: Scene,
    prefix: &str,
    samples: &mut Samples,
) -> anyhow::Result<()> {
    let sets = context.sets(SETS);
    let first = Load::first(&mut scene, "apply-0", sets).await?;
    // Caches and connections are warm after it.
    first.bring_up(&mut scene).await?;
    first.tear_down(&mut scene).await?;
    for run in 1..=context.runs {
        let load = Load::new(&scene, &format!("apply-{run}"), sets).await?;
        context
            .progress
            .update(&format!("apply: {prefix}run {run}"));
        let phase = Phase::begin(&scene, sets).await?;
        let ready = load.bring_up(&mut scene).await?;
        // Each object is applied once, and each kind listed once to watch it.
        let own = Own {
            writes: sets,
            reads: 2,
        };
        let up = phase.end(&scene, ready.at, own).await?;
        let phase = Phase::begin(&scene, sets).await?;
        let gone = load.tear_down(&mut scene).await?;
        let own = Own {
            writes: 0,
            reads: gone.looks,
        };
        let down = phase.end(&scene, gone.at, own).await?;
        let waited = ready.waited as f64 / sets as f64;
        record(prefix, (&up, &down, waited), samples);
    }
    scene.stop().await;
    Ok(())
}

/// Takes in what a run has cost. So many of the networks said that they wait.
fn record(prefix: &str, (up, down, waited): (&Cost, &Cost, f64), samples: &mut Samples) {
    let mut add = |name: &str, unit, sample| samples.add(format!("{prefix}{name}"), unit, sample);
    let both = up.operator + down.operator;
    add("all Ready", Unit::Seconds, up.wall);
    add("API server cpu of a set", Unit::Milliseconds, up.apiserver);
    add("writes of a group", Unit::Count, up.groups);
    add("writes of a network", Unit::Count, up.networks);
    add(BUT_FOR_WAITING, Unit::Count, up.networks - waited);
    add("events of a set", Unit::Count, up.events);
    add("reads of a set", Unit::Count, up.reads);
    add("reads of Secrets of a set", Unit::Count, up.secrets);
    add("conversions of a set", Unit::Count, up.conversions);
    add("operator cpu", Unit::Seconds, up.operator);
    add("all deleted", Unit::Seconds, down.wall);
    add(
        "API server cpu of a set, deleting",
        Unit::Milliseconds,
        down.apiserver,
    );
    add("writes of a group, deleting", Unit::Count, down.groups);
    add("writes of a network, deleting", Unit::Count, down.networks);
    add("reads of a set, deleting", Unit::Count, down.reads);
    add("operator cpu of both", Unit::Seconds, both);
    if let (Some(one), Some(other)) = (up.lost, down.lost) {
        add("events lost", Unit::Count, one + other);
    }
    if prefix.is_empty() {
        samples.add_requests(up.azure);
    }
}

/// What this program itself asks of the API server.
struct Own {
    /// Writes of each kind.
    writes: usize,
    reads: usize,
}

/// Counters at the beginning of what is measured.
struct Phase {
    sets: usize,
    /// Events that were lost before; nothing of another operator.
    lost: Option<f64>,
    started: Instant,
    azure: Requests,
    served: Served,
    operator: Duration,
    apiserver: Duration,
}

/// What it took.
struct Cost {
    /// Seconds.
    wall: f64,
    /// Processor seconds of the operator.
    operator: f64,
    /// Processor milliseconds of the API server for one set.
    apiserver: f64,
    /// Writes of one group, and of one network.
    groups: f64,
    networks: f64,
    /// Of one set.
    events: f64,
    reads: f64,
    secrets: f64,
    conversions: f64,
    /// Events that were lost, of all; nothing of another operator.
    lost: Option<f64>,
    /// All requests to Azure.
    azure: Requests,
}

impl Phase {
    async fn begin(scene: &Scene, sets: usize) -> anyhow::Result<Self> {
        Ok(Self {
            sets,
            lost: scene.lost_events().await?,
            azure: scene.requests().await?,
            served: scene.served().await?,
            operator: scene.usage()?.cpu,
            apiserver: scene.apiserver_usage()?.cpu,
            started: Instant::now(),
        })
    }

    async fn end(self, scene: &Scene, at: Instant, own: Own) -> anyhow::Result<Cost> {
        let operator = scene.usage()?.cpu - self.operator;
        let apiserver = scene.apiserver_usage()?.cpu - self.apiserver;
        let azure = scene.requests().await? - self.azure;
        // What was recorded counts, whenever it is written.
        let lost = scene.lost_events().await?;
        let served = scene.served().await? - self.served;
        let of_a_set = |count: f64| count / self.sets as f64;
        let writes = |plural| of_a_set(served.writes(plural) - own.writes as f64);
        Ok(Cost {
            wall: (at - self.started).as_secs_f64(),
            operator: operator.as_secs_f64(),
            apiserver: of_a_set(apiserver.as_secs_f64() * 1e3),
            groups: writes(GROUPS),
            networks: writes(NETWORKS),
            events: of_a_set(served.event_writes),
            reads: of_a_set(served.reads - own.reads as f64),
            secrets: of_a_set(served.secret_reads),
            conversions: of_a_set(served.conversions),
            lost: lost.zip(self.lost).map(|(now, before)| now - before),
            azure,
        })
    }
}
