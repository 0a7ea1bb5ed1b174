//! `armature render` over manifests gives the PUT bodies that were recorded with the real Azure.
//! `ARMATURE_WRITE_DOCS=1` writes the result to `docs/conformance.md` and a page for each group.

use armature_conformance::exceptions::Exceptions;
use armature_conformance::page::{self, Counts};
use armature_conformance::run::{self, Verdict};
use armature_conformance::{book, data};

/// Share of the PUTs that must be equal, in percent.
const BAR: f64 = 95.0;

#[test]
fn rendered_bodies_equal_recorded_ones() {
    let Some(folder) = data::folder() else {
        println!("skipped: no samples and recordings, set ARMATURE_AZURE_DATA to their folder");
        return;
    };
    let recordings = data::recordings(&folder).expect("recordings");
    let puts = run::all(&recordings).expect("manifests");
    let known = Exceptions::read().expect("the lists").conformance;

    let mut found = Vec::new();
    for put in &puts {
        if let Verdict::Different {
            what,
            equal_after_modifier,
        } = &put.verdict
        {
            println!("{} {}: {what}", put.recording, put.path);
            found.push((&put.recording, &put.path, *equal_after_modifier));
        }
    }
    let counts = Counts::of(&puts);
    println!(
        "conformance: {} of {} PUTs, {:.1} %; {} more after the kind's extension",
        counts.equal,
        counts.total,
        counts.percent(),
        counts.equal_after_modifier
    );
    book::keep("conformance.md", &page::page(&puts)).expect("a page that is up to date");
    let pages = page::group_pages(run::groups(), &puts, &known);
    book::keep_groups("conformance", &pages).expect("pages that are up to date");

    let listed: Vec<_> = known
        .iter()
        .flat_map(|one| {
            let puts = one.puts.iter();
            puts.map(|(recording, path)| (recording, path, one.equal_after_modifier))
        })
        .collect();
    let new: Vec<_> = found.iter().filter(|one| !listed.contains(one)).collect();
    assert!(new.is_empty(), "not in specs/*/exceptions.toml: {new:#?}");
    let gone: Vec<_> = listed.iter().filter(|one| !found.contains(one)).collect();
    assert!(
        gone.is_empty(),
        "in specs/*/exceptions.toml, but equal: {gone:#?}"
    );
    assert!(counts.percent() >= BAR, "{counts:?} is below {BAR} percent");
}
