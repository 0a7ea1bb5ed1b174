//! Import, then plan, says no change: for every resource that was ever recorded. `ARMATURE_WRITE_DOCS=1` writes the result to
//! `docs/import-proof.md`.

use std::collections::BTreeSet;

use armature_conformance::exceptions::Exceptions;
use armature_conformance::imports::defaults::SpecDefaults;
use armature_conformance::imports::page;
use armature_conformance::imports::writable::missing;
use armature_conformance::imports::{self, Import, Outcome, planned, strict};
use armature_conformance::{book, data};
use serde_json::json;

/// Share of the resources that must pass, in percent.
const BAR: f64 = 97.0;

fn recorded() -> Option<Vec<Import>> {
    let Some(folder) = data::folder() else {
        println!("skipped: no recordings, set ARMATURE_AZURE_DATA to their folder");
        return None;
    };
    let recordings = data::recordings(&folder).expect("recordings");
    let defaults = SpecDefaults::new(&folder);
    let imports = recordings.iter();
    Some(imports.map(|it| imports::import(it, &defaults)).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_imported_changes_nothing_and_says_everything() {
    let Some(mut imports) = recorded() else {
        return;
    };
    planned::add(&mut imports).await.expect("plans");
    strict::add(&mut imports).await.expect("an API server");
    let outcomes: Vec<Outcome> = imports.into_iter().flat_map(|one| one.outcomes).collect();
    let problems = page::problems(&outcomes);
    for ((group, kind, problem), count) in &problems {
        println!("{count} {group} {kind}: {problem}");
    }
    println!(
        "import: {:.1} % of {}",
        page::percent(&outcomes),
        outcomes.len()
    );
    let known = Exceptions::read().expect("the lists").import;
    let page = page::page(&outcomes, &known);
    book::keep("import-proof.md", &page).expect("a page that is up to date");
    let found: BTreeSet<(&str, &str)> = problems
        .keys()
        .map(|(_, kind, problem)| (kind.as_str(), problem.as_str()))
        .collect();
    let listed: BTreeSet<(&str, &str)> = known
        .iter()
        .map(|one| (one.kind.as_str(), one.problem.as_str()))
        .collect();
    let new: Vec<_> = found.difference(&listed).collect();
    assert!(new.is_empty(), "not in specs/*/exceptions.toml: {new:#?}");
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(
        gone.is_empty(),
        "in specs/*/exceptions.toml, and no problem: {gone:#?}"
    );
    assert!(page::percent(&outcomes) >= BAR, "below {BAR} percent");
}

/// The proof proves nothing if the walk over the answers finds nothing.
#[test]
fn a_manifest_that_says_nothing_is_found_out() {
    let Some(imports) = recorded() else { return };
    let (mut total, mut places) = (0, 0);
    for import in &imports {
        for one in &import.imported {
            let version = one.manifest["apiVersion"].as_str().expect("a version");
            let (_, version) = version.split_once('/').expect("a group");
            let kind = armature_generated::KINDS.iter();
            let mut kinds = kind.filter(|kind| kind.group == one.name.group);
            let kind = kinds
                .find(|kind| kind.kind == one.name.kind)
                .expect("a kind");
            let version = kind.version(version).expect("a version");
            let path = one.id.as_str().to_lowercase();
            let mut answers = import.answers.iter();
            let answer = answers.find(|((of, at), _)| *of == path && at == version.api_version);
            let (_, answer) = answer.expect("an answer");
            total += 1;
            places += usize::from(!missing(version, answer, &json!({})).is_empty());
        }
    }
    // Some resources are there and say nothing more.
    assert!(places * 100 > total * 95, "{places} of {total}");
}
