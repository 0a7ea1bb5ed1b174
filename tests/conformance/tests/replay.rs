//! The operator against a server that answers as Azure did when Azure Service Operator sent the same manifests.
//! `ARMATURE_WRITE_DOCS=1` writes the result to `docs/replay.md`.

use std::collections::BTreeSet;
use std::time::Instant;

use armature_conformance::book;
use armature_conformance::data::{self, Recording};
use armature_conformance::exceptions::{Exceptions, Unrepeated};
use armature_conformance::replay::course::{self, Outcome};
use armature_conformance::replay::page;
use armature_conformance::replay::world::World;
use futures::future::try_join_all;

/// Runs only the recordings with this text in their names.
const CHOICE: &str = "ARMATURE_REPLAY";

#[test]
fn the_operator_does_what_was_recorded_and_no_more() {
    let Some(folder) = data::folder() else {
        println!("skipped: no samples and recordings, set ARMATURE_AZURE_DATA to their folder");
        return;
    };
    let mut recordings = data::recordings(&folder).expect("recordings");
    let choice = std::env::var(CHOICE).unwrap_or_default();
    recordings.retain(|recording| recording.name.contains(&choice));
    assert!(
        !recordings.is_empty(),
        "no recording is like {CHOICE}={choice}"
    );
    let mut known = Exceptions::read().expect("the lists").replay;
    let names: BTreeSet<_> = recordings.iter().map(|one| one.name.clone()).collect();
    known.retain(|one| names.contains(&one.recording));
    let outcomes = replay(&recordings, &known);
    let listed: Vec<_> = known
        .iter()
        .flat_map(|one| one.problems.iter().map(|problem| (&one.recording, problem)))
        .collect();
    let found: Vec<_> = outcomes.iter().flat_map(problems).collect();
    let new: Vec<_> = found.iter().filter(|one| !listed.contains(one)).collect();
    assert!(new.is_empty(), "not in specs/*/exceptions.toml: {new:#?}");
    let gone: Vec<_> = listed.iter().filter(|one| !found.contains(one)).collect();
    assert!(
        gone.is_empty(),
        "in specs/*/exceptions.toml, but no problem: {gone:#?}"
    );
    if choice.is_empty() {
        let page = page::page(&outcomes, &known);
        book::keep("replay.md", &page).expect("a page that is up to date");
    }
}

fn problems(outcome: &Outcome) -> impl Iterator<Item = (&String, &String)> {
    let problems = outcome.problems.iter();
    problems.map(|problem| (&outcome.recording, problem))
}

/// Objects of a recording that the lists leave out.
fn left_out(recording: &Recording, known: &[Unrepeated]) -> Vec<String> {
    let known = known.iter().filter(|one| one.recording == recording.name);
    let problems = known.flat_map(|one| &one.problems);
    problems
        .filter_map(|problem| Some(problem.strip_suffix(course::LEFT_OUT)?.to_owned()))
        .collect()
}

/// Recordings that PUT the same resources, by their places: of several objects for one id the operator writes one, so one
/// of these has to be over before the next one begins.
fn chains(recordings: &[Recording]) -> Vec<Vec<usize>> {
    let mut chains: Vec<(BTreeSet<String>, Vec<usize>)> = Vec::new();
    for (index, recording) in recordings.iter().enumerate() {
        let puts = recording.exchanges.iter().filter(|it| it.method == "PUT");
        let path = |url: &str| url.split('?').next().unwrap_or_default().to_lowercase();
        let mut paths: BTreeSet<String> = puts.map(|it| path(&it.url)).collect();
        let mut chain = vec![index];
        let (shared, apart): (Vec<_>, Vec<_>) = chains
            .into_iter()
            .partition(|(others, _)| !others.is_disjoint(&paths));
        chains = apart;
        for (others, mut earlier) in shared {
            paths.extend(others);
            chain.append(&mut earlier);
        }
        chain.sort_unstable();
        chains.push((paths, chain));
    }
    chains.into_iter().map(|(_, chain)| chain).collect()
}

/// Runs all recordings at once, in one world.
fn replay(recordings: &[Recording], known: &[Unrepeated]) -> Vec<Outcome> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let started = Instant::now();
    let outcomes = runtime.block_on(async {
        let world = World::start(recordings).await?;
        let left_out: Vec<_> = recordings.iter().map(|it| left_out(it, known)).collect();
        let (world_of_all, left_out) = (&world, &left_out);
        let runs = chains(recordings).into_iter().map(|chain| async move {
            let mut outcomes = Vec::new();
            for index in chain {
                let recording = &recordings[index];
                let ran = course::run(world_of_all, index, recording, &left_out[index]);
                let outcome = ran.await?;
                for problem in &outcome.problems {
                    println!("{}: {problem}", outcome.recording);
                }
                outcomes.push((index, outcome));
            }
            anyhow::Ok(outcomes)
        });
        let mut outcomes = try_join_all(runs).await?.concat();
        outcomes.sort_by_key(|(index, _)| *index);
        let outcomes = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
        world.assert_no_secret_is_shown().await?;
        anyhow::Ok(outcomes)
    });
    let outcomes: Vec<Outcome> = outcomes.expect("the recordings can be applied");
    let passed = outcomes
        .iter()
        .filter(|one| one.problems.is_empty())
        .count();
    println!(
        "replay: {passed} of {} recordings in {:.0?}",
        outcomes.len(),
        started.elapsed()
    );
    outcomes
}
