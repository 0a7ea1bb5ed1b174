//! All passes over the real specs with our own curation files, where the specs are on this machine.

use std::collections::BTreeMap;
use std::path::Path;

use armature_generator::curation::GroupConfig;
use armature_generator::load::SpecRoot;
use armature_generator::pipeline::{NoProgress, Options, generate};
use camino::{Utf8Path, Utf8PathBuf};

use crate::common::real::data;

/// Our own curation files.
pub fn configs() -> Vec<GroupConfig> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs");
    let mut files = std::fs::read_dir(folder)
        .expect("folder")
        .map(|entry| entry.expect("entry").path().join("group.toml"))
        .filter(|path| path.is_file())
        .collect::<Vec<_>>();
    files.sort();
    let parse = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("text");
        GroupConfig::parse(path.to_string_lossy(), &text).expect("valid curation file")
    };
    files.iter().map(parse).collect()
}

/// Azure's specs and Bicep types, where they are on this machine.
pub fn specs() -> Option<SpecRoot> {
    let data = data().and_then(|data| Utf8PathBuf::from_path_buf(data).ok());
    let data = data.filter(|data| data.join("azure-rest-api-specs").is_dir())?;
    let specs = SpecRoot::new(data.join("azure-rest-api-specs"));
    Some(specs.with_bicep(data.join("bicep-types")))
}

/// Files of a run on so many threads, and how many spec files it read and how often it parsed one.
fn run(data: &Utf8Path, threads: usize) -> (BTreeMap<Utf8PathBuf, String>, usize, usize) {
    let specs = SpecRoot::new(data.join("azure-rest-api-specs"));
    let specs = specs.with_bicep(data.join("bicep-types"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let generated = pool
        .build()
        .expect("threads")
        .install(|| generate(&specs, &configs(), Options::default(), &NoProgress))
        .expect("generates");
    (generated.files, specs.files().len(), specs.parsed())
}

#[test]
fn any_number_of_threads_gives_the_same_bytes_and_parses_each_file_once() {
    let data = data().and_then(|data| Utf8PathBuf::from_path_buf(data).ok());
    let Some(data) = data.filter(|data| data.join("azure-rest-api-specs").is_dir()) else {
        eprintln!("no Azure specs on this machine; nothing to check");
        return;
    };
    let (first, files, parsed) = run(&data, 1);
    assert!(files > 50, "{files} files");
    assert_eq!(parsed, files);
    for threads in [2, 5] {
        let (again, _, parsed) = run(&data, threads);
        assert_eq!(parsed, files, "{threads} threads");
        for (path, text) in &first {
            assert_eq!(again.get(path), Some(text), "{path} with {threads} threads");
        }
        assert_eq!(again.len(), first.len());
    }
}
