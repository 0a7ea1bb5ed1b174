//! What objects that nobody changes cost Azure by default, and how soon a change behind the operator's back is found: with a
//! simulated Azure Resource Graph that is as late as Azure's may be.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::Context;
use super::figure::{Figure, Unit};
use super::load::Load;
use super::scale::Samples;
use super::scene::{POLL, Scene};

/// Half of 10,000 objects, and of those of one of 20 subscriptions.
const SETS: usize = 5_000;
const SETS_OF_A_SUBSCRIPTION: usize = 250;

/// How late the Graph is.
const AZURE: &str = "[graph]\ndelay = \"60s\"\n";

/// How long requests are counted: three questions what changed.
const WINDOW: Duration = Duration::from_secs(300);

/// After the last object is Ready, until the Graph shows it: its delay, and two questions.
const UNTIL_SHOWN: Duration = Duration::from_secs(300);

/// Longest wait for a change to be found.
const LIMIT: Duration = Duration::from_secs(3600);

/// Bars: requests, and seconds.
const REQUESTS: f64 = 0.2;
const FOUND: f64 = 180.0;

/// The names of both.
const IN_AN_HOUR: &str = "requests in an object-hour";
const REPAIRED: &str = "a change is repaired after";

/// Counts, and times one change in each run.
pub async fn figures(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let mut scene = Scene::start_with(context, &[], AZURE).await?;
    let sets = (context.sets(SETS), SETS_OF_A_SUBSCRIPTION);
    let load = Load::spread(&scene, "drift", sets).await?;
    let objects = load.objects();
    let progress = &context.progress;
    progress.update(&format!("drift: creating {objects} objects"));
    load.bring_up(&mut scene).await?;
    // Objects that were applied just now are not known to the Graph when it is asked first; after a restart it is asked anew.
    tokio::time::sleep(UNTIL_SHOWN).await;
    scene.restart_operator().await?;
    scene.settle().await?;
    let mut samples = Samples::default();
    for run in 0..context.runs {
        progress.update(&format!("drift: run {run}"));
        let before = scene.requests().await?;
        tokio::time::sleep(WINDOW).await;
        let asked = (scene.requests().await? - before).all as f64;
        let shown = scene.metric("armature_graph_objects", "").await?;
        let shown = shown.context("only this operator tells what rests")?;
        let all = objects as f64;
        let asked = asked * 3600.0 / WINDOW.as_secs_f64() / all;
        samples.add(IN_AN_HOUR, Unit::Count, in_an_hour(asked, shown / all));
        samples.add("of these, counted", Unit::Count, asked);
        samples.add("objects that the Graph shows", Unit::Count, shown);
        let found = repaired(&mut scene, &load.group_id(run as usize)).await?;
        samples.add(REPAIRED, Unit::Seconds, found.as_secs_f64());
    }
    scene.stop().await;
    let samples = samples.at_most(IN_AN_HOUR, REQUESTS);
    Ok(samples.at_most(REPAIRED, FOUND).0)
}

/// Requests for one object in an hour: those that were counted in a window between two syncs, and the reads that do not fall into it:
/// once a day of what the Graph shows, which is this share, once an hour of the rest.
fn in_an_hour(counted: f64, shown: f64) -> f64 {
    counted + shown / 24.0 + (1.0 - shown)
}

/// Changes the tags of a resource, and waits until they are what they were.
async fn repaired(scene: &mut Scene, id: &str) -> anyhow::Result<Duration> {
    let tags = |resource: &Value| resource["tags"].clone();
    let wanted = tags(&scene.resource(id).await?);
    scene
        .change(id, &json!({"tags": {"team": "somebody-else"}}))
        .await?;
    let started = Instant::now();
    while tags(&scene.resource(id).await?) != wanted {
        scene.check(started)?;
        anyhow::ensure!(started.elapsed() < LIMIT, "the change was not found");
        tokio::time::sleep(POLL).await;
    }
    Ok(started.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_rest_is_read_every_hour() {
        for (counted, shown, expected) in [(0.0, 0.0, 1.0), (0.01, 1.0, 0.01 + 1.0 / 24.0)] {
            let found = in_an_hour(counted, shown);
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}
