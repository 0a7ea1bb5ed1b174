//! Proposals for ARM types that no curation file exports.

use armature_generator::curate::GroupConfig;
use armature_generator::load::SpecRoot;
use armature_generator::pipeline::curated_group;
use armature_generator::propose::propose;

use super::explain::{FOLDER, specs};

type Files = Vec<(GroupConfig, String)>;

/// A file of the small group with albums only.
fn albums() -> Files {
    let text = "group = \"music\"\nspecs = \"specification/music/resource-manager/Example.Music\"\nnaming = \"new\"\n\n\
                [versions]\n\"2023-01-01\" = [\"music.json\"]\n\n[kinds.Album]\ntype = \"Example.Music/albums\"\n";
    let config = GroupConfig::parse("specs/music.toml", text).expect("form");
    vec![(config, text.to_owned())]
}

fn proposal(files: &Files, wanted: &str) -> String {
    match propose(&SpecRoot::new(FOLDER), files, wanted) {
        Ok(proposal) => proposal.text(),
        Err(error) => format!("{error}\n"),
    }
}

#[test]
fn lines_for_a_new_file_and_for_one_that_exists() {
    let proposals = [
        proposal(&Vec::new(), "Example.Music/albums"),
        proposal(&Vec::new(), "music/albums/tracks"),
        proposal(&albums(), "music/albums/tracks"),
    ];
    insta::assert_snapshot!(proposals.join("----\n"));
}

#[test]
fn types_that_are_not_there_name_what_is_near() {
    for (wanted, expected) in [
        (
            "Example.Music/album",
            "no api-version of `Example.Music` has `Example.Music/album`; did you mean `Example.Music/albums`?",
        ),
        (
            "musik/albums",
            "there are no specs of a provider `musik`; did you mean `Music`?",
        ),
        (
            "albums",
            "`albums` is no ARM type; expected a provider and a type, such as `Microsoft.Network/routeTables` or \
             `network/routeTables`",
        ),
        (
            "Example.Music/albums",
            "specs/music.toml:8 exports `Example.Music/albums` already, as `Album`",
        ),
    ] {
        assert_eq!(proposal(&albums(), wanted).trim_end(), expected);
    }
}

#[test]
fn a_real_proposal_passes_through_the_generator() {
    let Some(specs) = specs() else {
        eprintln!("skipped: no Azure specs on this machine");
        return;
    };
    let bicep = format!("{specs}/../bicep-types");
    let specs = SpecRoot::new(specs).with_bicep(bicep);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/network.toml");
    let text = std::fs::read_to_string(file).expect("file");
    let config = GroupConfig::parse("specs/network.toml", &text).expect("form");
    let files = vec![(config, text)];
    let found = propose(&specs, &files, "Microsoft.Network/routeTables").expect("proposal");
    assert!(
        found.text().contains("routes = \"child-kind\""),
        "{}",
        found.text()
    );
    let merged = found.merged(Some(&files[0].1));
    let config = GroupConfig::parse("specs/network.toml", merged).expect("form");
    let group = curated_group(&specs, &config).expect("group");
    let kinds = || {
        group
            .versions
            .values()
            .flat_map(|version| &version.resources)
    };
    assert!(kinds().any(|resource| resource.kind == "RouteTable"));
}
