//! Proposals for who has other CRDs already: kinds with their names, versions and what they make of properties.

use armature_generator::load::SpecRoot;
use armature_generator::propose::{
    Target, TargetKind, TargetSchema, propose_group, propose_replacement,
};
use serde_json::Value;

use super::{Files, albums};
use crate::explain::{FOLDER, specs};

/// The CRDs of a group as a file has them.
fn target(folder: &str, group: &str) -> Target {
    let file = format!("{folder}/crd-shapes/{group}.azure.com.json");
    let text = std::fs::read_to_string(file).expect("file");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let kinds = document.as_object().expect("kinds").iter();
    let kinds = kinds.map(|(name, kind)| {
        let versions = kind["versions"].as_object().expect("versions");
        let versions = versions.iter().map(|(version, schema)| {
            let schema = match schema["same-as"].as_str() {
                Some(other) => &kind["versions"][other],
                None => schema,
            };
            let paths = schema.as_object().expect("paths").iter();
            let paths = paths.map(|(path, facts)| {
                let ty = facts["type"].as_str().map(str::to_owned);
                (path.clone(), ty)
            });
            (version.clone(), paths.collect::<TargetSchema>())
        });
        let plural = kind["names"]["plural"].as_str().expect("plural");
        let kind = TargetKind {
            plural: plural.to_owned(),
            versions: versions.collect(),
        };
        (name.clone(), kind)
    });
    Target {
        group: group.to_owned(),
        kinds: kinds.collect(),
    }
}

fn small() -> SpecRoot {
    SpecRoot::new(FOLDER).with_bicep(format!("{FOLDER}/bicep"))
}

fn one(files: &Files, wanted: &str, kind: Option<&str>) -> String {
    let target = target(FOLDER, "music");
    match propose_replacement(&small(), files, &target, wanted, kind) {
        Ok(Some(proposal)) => proposal.text(),
        Ok(None) => "nothing\n".to_owned(),
        Err(error) => format!("{error}\n"),
    }
}

#[test]
fn a_whole_group() {
    let found = propose_group(&small(), &target(FOLDER, "music")).expect("proposal");
    assert_eq!(found.faults, [""; 0]);
    assert_eq!((found.kinds, found.versions), ((4, 6), (5, 7)));
    insta::assert_snapshot!(format!("{}\n----\n{}", found.notes.join("\n"), found.text));
}

#[test]
fn one_kind() {
    let table = [
        (Vec::new(), "music/albums/tracks", None),
        (albums(), "Example.Music/albums/tracks", None),
        (albums(), "music/labels", None),
        (albums(), "music/stages", None),
        (albums(), "music/singers", None),
        (albums(), "music/singers", Some("Ticket")),
        (albums(), "music/singers", Some("Tickets")),
        (albums(), "music/albums", None),
    ];
    let proposals = table.map(|(files, wanted, kind)| one(&files, wanted, kind));
    insta::assert_snapshot!(proposals.join("----\n"));
}

#[test]
fn a_real_group_is_complete() {
    let shapes = |specs: &String| {
        let file = format!("{specs}/../crd-shapes/cache.azure.com.json");
        std::path::Path::new(&file).is_file()
    };
    let Some(specs) = specs().filter(shapes) else {
        eprintln!("skipped: no Azure specs and CRDs of Azure Service Operator on this machine");
        return;
    };
    let target = target(&format!("{specs}/.."), "cache");
    let bicep = format!("{specs}/../bicep-types");
    let specs = SpecRoot::new(specs).with_bicep(bicep);
    let found = propose_group(&specs, &target).expect("proposal");
    assert_eq!(found.faults, [""; 0]);
    assert_eq!(found.notes, [""; 0]);
    assert_eq!(found.kinds.0, found.kinds.1);
    assert_eq!(found.versions.0, found.versions.1);
    for lines in [
        "[kinds.Redis]\ntype = \"Microsoft.Cache/redis\"\nplural = \"redis\"\n",
        "[types.Redis]\nsubnetId = \"reference\" #",
    ] {
        assert!(found.text.contains(lines), "{lines}: {}", found.text);
    }
}
