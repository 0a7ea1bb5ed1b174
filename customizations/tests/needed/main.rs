//! Each extension is needed: the same course of events comes to another end without it.
//!
//! [`cases`] has one for each point of each kind that an extension is registered for. It is run by the real reconciler over
//! a cluster and an Azure in memory, with all extensions and with none.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod busy;
mod cases;
mod items;
mod world;

use std::collections::BTreeSet;

use armature_generated::KINDS;
use armature_runtime::extension::{Points, Registry};
use armature_runtime::resource::Kind;

use world::World;

/// What a kind has, in the words of the cases.
fn points(points: &Points) -> Vec<&'static str> {
    let all = [
        ("owner check", points.has_owner_checker()),
        ("pre-check", points.has_pre_checker()),
        ("modifier", points.has_modifier()),
        ("post-check", points.has_post_checker()),
        ("secrets", points.has_secret_exporter()),
        ("config maps", points.has_config_exporter()),
        ("success", points.has_success_handler()),
        ("deletion", points.has_deleter()),
        ("import", points.has_importer()),
        ("claim", points.has_claimer()),
        ("errors", points.has_error_classifier()),
    ];
    let there = all.into_iter().filter(|(_, is_there)| *is_there);
    there.map(|(name, _)| name).collect()
}

#[tokio::test]
async fn each_case_ends_otherwise_without_its_extension() {
    let registry = armature_customizations::registry().unwrap();
    let mut wrong = Vec::new();
    for case in cases::all() {
        let what = format!("{}, {}", case.kind, case.point);
        let with = (case.run)(World::new(registry.clone())).await;
        let without = (case.run)(World::new(Registry::default())).await;
        if !with.contains(case.ends) {
            wrong.push(format!("{what}: no {:?} in {with}", case.ends));
        }
        if !without.contains(case.else_ends) || without.contains(case.ends) {
            wrong.push(format!("{what}: without it, {without}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_extension_has_a_case() {
    let registry = armature_customizations::registry().unwrap();
    let registered: BTreeSet<(String, &str)> = KINDS
        .iter()
        .flat_map(|kind| {
            let name = format!("{} {}", kind.category, kind.kind);
            let points = points(&registry.of(Kind(kind)));
            points.into_iter().map(move |point| (name.clone(), point))
        })
        .collect();
    let cases = cases::all();
    let tried: BTreeSet<(String, &str)> = cases
        .iter()
        .map(|case| (case.kind.to_owned(), case.point))
        .collect();
    assert_eq!(registered, tried);
    assert_eq!(cases.len(), tried.len(), "one case each");
}
