//! Every sample is taken by a real API server, becomes Ready and goes away again: ours, and those that Azure Service
//! Operator publishes.
//!
//! One control plane, one operator and one simulated Azure for all. A folder of samples has a namespace and a subscription
//! of its own, so that folders may use the same names. What cannot be is in `specs/<group>/exceptions.toml`, with reasons.
//!
//! | module | what lives here |
//! |---|---|
//! | [`folder`] | the samples of a folder, and where they go |
//! | [`surroundings`] | what a folder needs that no sample is: the credential, and inputs of samples that have none |
//! | [`course`] | from applying a folder to an empty subscription |
//! | [`exceptions`] | what is known not to pass, compared with what does not |
//! | [`page`] | the result as a page of the book |

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod course;
mod exceptions;
mod folder;
mod page;
mod surroundings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use armature_conformance::{book, data, run};
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
        // Tutorials have objects that are not Azure's, and tests of their own: `operator/tests/chart/pages`.
        .filter(|(group, _)| !group.starts_with("tutorial-"))
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
    let exceptions = Exceptions::read();
    let mut folders = Vec::new();
    let mut newest = BTreeSet::new();
    for (group, path) in folder::folders_in(&data.join("samples")) {
        let versions = versions_below(&path);
        newest.extend(newest_of(&versions).cloned());
        for version in versions {
            let mut folder = Folder::read(&group, "theirs", &path, std::slice::from_ref(&version));
            folder.add_missing_vaults();
            folder.add_missing_groups();
            folder.adopt();
            folders.push((version, folder));
        }
    }
    let files: BTreeSet<String> = folders.iter().flat_map(|(_, it)| it.files()).collect();
    let samples = folders.iter().flat_map(|(_, folder)| &folder.samples);
    let mut wrong = exceptions.unfounded(&data.join("crd-shapes"), &samples.collect::<Vec<_>>());
    if std::env::var_os("ARMATURE_ALL_VERSIONS").is_none() {
        println!(
            "the newest samples of each group; `cargo xtask test --all` tries those of every version"
        );
        folders.retain(|(path, _)| newest.contains(path));
    }
    let folders: Vec<Folder> = folders.into_iter().map(|(_, folder)| folder).collect();
    let tried: BTreeSet<String> = folders.iter().flat_map(Folder::files).collect();
    let problems = run_all(folders, exceptions.samples());
    wrong.extend(exceptions.of_samples(&files, &tried, &problems));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    book::keep("samples.md", &page::page(&files, &exceptions)).unwrap();
}

/// The last version in each folder of versions.
fn newest_of(versions: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
    let mut last: BTreeMap<Option<&Path>, &PathBuf> = BTreeMap::new();
    for version in versions {
        last.insert(version.parent(), version);
    }
    last.into_values()
}

/// Group and kind of what the folders of the kinds' own groups hold: that is where people look, and what
/// `cargo xtask dev --samples GROUP` shows.
fn kinds_of(folders: &[Folder]) -> BTreeSet<(&'static str, &'static str)> {
    let of_folder = |folder: &Folder| {
        let kinds = folder.samples.iter().filter_map(|sample| sample.kind);
        let own = kinds.filter(|kind| run::short(kind.group) == folder.name);
        own.map(|kind| (kind.group, kind.kind)).collect::<Vec<_>>()
    };
    folders.iter().flat_map(of_folder).collect()
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
