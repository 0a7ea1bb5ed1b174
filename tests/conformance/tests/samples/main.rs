//! Every sample is taken by a real API server, becomes Ready and goes away again: ours, and those that Azure Service
//! Operator publishes.
//!
//! One control plane, one operator and one simulated Azure for all. A folder of samples has a namespace and a subscription
//! of its own, so that folders may use the same names. What cannot be is in `specs/<group>/samples.yaml`, with reasons.
//!
//! | module | what lives here |
//! |---|---|
//! | [`folder`] | the samples of a folder, and where they go |
//! | [`surroundings`] | what a folder needs that no sample is: the credential, and inputs of samples that have none |
//! | [`course`] | from applying a folder to an empty subscription |
//! | [`exceptions`] | what is known not to pass, compared with what does not |

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod course;
mod exceptions;
mod folder;
mod surroundings;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use armature_conformance::data;
use armature_e2e::World;
use futures::StreamExt;
use futures::stream::FuturesUnordered;

use course::{Course, News, Problem};
use exceptions::Exceptions;
use folder::Folder;

#[test]
fn every_kind_has_a_sample_and_every_sample_becomes_ready() {
    let exceptions = Exceptions::read();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let folders: Vec<Folder> = folder::folders_in(&path)
        .into_iter()
        .map(|(group, path)| Folder::read(&group, "ours", &path, std::slice::from_ref(&path)))
        .collect();
    let mut wrong = exceptions.of_kinds(&kinds_of(&folders));
    let problems = run_all(folders, &BTreeSet::new());
    wrong.extend(problems.iter().map(ToString::to_string));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn samples_of_azure_service_operator_become_ready() {
    let Some(data) = data::folder() else {
        println!(
            "skipped: the samples of Azure Service Operator are not on this machine; \
             ARMATURE_AZURE_DATA names the folder that holds `samples` and `recordings`"
        );
        return;
    };
    if std::env::var_os("ARMATURE_ALL_VERSIONS").is_none() {
        println!("skipped: several hundred samples take long; `cargo xtask test --all` tries them");
        return;
    }
    let exceptions = Exceptions::read();
    let mut folders = Vec::new();
    for (group, path) in folder::folders_in(&data.join("samples")) {
        for version in versions_below(&path) {
            let mut folder = Folder::read(&group, "theirs", &path, &[version]);
            folder.add_missing_groups();
            folder.adopt();
            folders.push(folder);
        }
    }
    let tried: BTreeSet<String> = folders.iter().flat_map(Folder::files).collect();
    let problems = run_all(folders, exceptions.samples());
    let wrong = exceptions.of_samples(&tried, &problems);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Group and kind of everything that the folders hold.
fn kinds_of(folders: &[Folder]) -> BTreeSet<(&'static str, &'static str)> {
    let samples = folders.iter().flat_map(|folder| &folder.samples);
    samples
        .filter_map(|sample| Some((sample.kind?.group, sample.kind?.kind)))
        .collect()
}

/// Folders with manifests of their own; what is below `refs` belongs to the folder above.
fn versions_below(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut has_files = false;
    for (name, entry) in folder::entries(path) {
        match entry.is_dir() {
            true if name != "refs" => found.extend(versions_below(&entry)),
            true => {}
            false => has_files = true,
        }
    }
    if has_files {
        found.push(path.to_owned());
    }
    found
}

/// Runs all folders and tells of each in a line.
fn run_all(folders: Vec<Folder>, expected: &BTreeSet<String>) -> Vec<Problem> {
    let world = World::shared();
    let (started, news) = (Instant::now(), News::new());
    let courses = world.block_on(async {
        let mut courses: FuturesUnordered<_> = folders
            .into_iter()
            .map(|folder| course::run(world, &news, folder, expected))
            .collect();
        let mut all: Vec<Course> = Vec::new();
        while let Some(course) = courses.next().await {
            println!("{course}");
            all.push(course);
        }
        all
    });
    let objects: usize = courses.iter().map(|course| course.objects).sum();
    let problems: Vec<Problem> = courses
        .into_iter()
        .flat_map(|course| course.problems)
        .collect();
    println!(
        "{objects} objects, {} problems, {:.1} s",
        problems.len(),
        started.elapsed().as_secs_f64()
    );
    problems
}
