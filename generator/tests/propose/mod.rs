//! Proposals for ARM types that no curation file exports.

use armature_generator::curation::GroupConfig;
use armature_generator::load::SpecRoot;
use armature_generator::pipeline::curated_group;
use armature_generator::propose::propose;

use crate::explain::{FOLDER, specs};

type Files = Vec<(GroupConfig, String)>;

/// A file of the small group with albums only.
fn albums() -> Files {
    music("\"2023-01-01\" = [\"music.json\"]")
}

/// A file of the small group with albums only, in these api-versions.
fn music(versions: &str) -> Files {
    let text = format!(
        "group = \"music\"\nnaming = \"new\"\n\n[sources.music]\n\
         folder = \"specification/music/resource-manager/Example.Music\"\n\
         [sources.music.versions]\n{versions}\n\n[kinds.Album]\ntype = \"Example.Music/albums\"\n"
    );
    let config = GroupConfig::parse("specs/music/group.toml", &text).expect("form");
    vec![(config, text)]
}

fn proposal(files: &Files, wanted: &str) -> String {
    proposal_from(&SpecRoot::new(FOLDER), files, wanted)
}

fn proposal_from(specs: &SpecRoot, files: &Files, wanted: &str) -> String {
    match propose(specs, files, wanted) {
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
fn lines_for_versions_that_only_bicep_types_have() {
    let specs = SpecRoot::new(FOLDER).with_bicep(format!("{FOLDER}/bicep"));
    let table = [
        (Vec::new(), "Example.Music/albums"),
        (Vec::new(), "music/labels"),
        (Vec::new(), "Example.Radio/stations"),
        (albums(), "music/labels"),
        (albums(), "music/albums/tracks"),
        (music("\"2025-01-01\" = \"bicep\""), "music/labels"),
        (music("\"2025-01-01\" = [\"music.json\"]"), "music/labels"),
        (albums(), "music/label"),
        (albums(), "Example.Radios/stations"),
    ];
    let proposals = table.map(|(files, wanted)| proposal_from(&specs, &files, wanted));
    insta::assert_snapshot!(proposals.join("----\n"));
}

/// The small group's specs, with the tracks of the newer api-version in a file of their own.
fn split_specs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary folder");
    let base = "specification/music/resource-manager/Example.Music/stable";
    for version in ["2023-01-01", "2024-01-01"] {
        let below = format!("{base}/{version}");
        let text = std::fs::read_to_string(format!("{FOLDER}/{below}/music.json")).expect("file");
        let mut music: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let mut tracks = music.clone();
        let is_of_tracks = |path: &String| path.contains("/tracks/");
        let paths = |spec: &mut serde_json::Value, of_tracks: bool| {
            let paths = spec["paths"].as_object_mut().expect("paths");
            paths.retain(|path, _| is_of_tracks(path) == of_tracks);
        };
        paths(&mut music, false);
        paths(&mut tracks, true);
        let to = folder.path().join(&below);
        std::fs::create_dir_all(&to).expect("folder");
        std::fs::write(to.join("music.json"), music.to_string()).expect("file");
        std::fs::write(to.join("tracks.json"), tracks.to_string()).expect("file");
    }
    folder
}

#[test]
fn a_list_of_files_without_the_type_gets_its_file() {
    let folder = split_specs();
    let specs = SpecRoot::new(folder.path().to_str().expect("UTF-8"));
    let files =
        music("\"2023-01-01\" = [\"music.json\"] # by hand\n\"2024-01-01\" = [\"music.json\"]");
    let found = propose(&specs, &files, "music/albums/tracks").expect("proposal");
    assert_eq!(
        found.text(),
        "# specs/music/group.toml:7, in place of what is there:\n\
         \"2023-01-01\" = [\"music.json\", \"tracks.json\"]\n\
         # specs/music/group.toml:8, in place of what is there:\n\
         \"2024-01-01\" = [\"music.json\", \"tracks.json\"]\n\
         # specs/music/group.toml, among the others by name:\n\
         \n[kinds.AlbumsTrack]\ntype = \"Example.Music/albums/tracks\"\n"
    );
    let merged = found.merged(Some(&files[0].1));
    let lines = "\"2023-01-01\" = [\"music.json\", \"tracks.json\"] # by hand\n\
                 \"2024-01-01\" = [\"music.json\", \"tracks.json\"]\n\n[kinds.Album]\n";
    assert!(merged.contains(lines), "{merged}");
}

#[test]
fn what_all_api_versions_lack_joins_the_files_of_all() {
    let folder = split_specs();
    let specs = SpecRoot::new(folder.path().to_str().expect("UTF-8"));
    let [(_, text)] = <[_; 1]>::try_from(albums()).expect("a file");
    let text = text.replace(
        "[sources.music.versions]\n\"2023-01-01\" = [\"music.json\"]\n",
        "files = [\"music.json\"]\n[sources.music.versions]\n\
         \"2023-01-01\" = \"openapi\"\n\"2024-01-01\" = \"openapi\"\n",
    );
    let config = GroupConfig::parse("specs/music/group.toml", &text).expect("form");
    let files = vec![(config, text)];
    let found = propose(&specs, &files, "music/albums/tracks").expect("proposal");
    let merged = found.merged(Some(&files[0].1));
    let line = "files = [\"music.json\", \"tracks.json\"]\n[sources.music.versions]\n\
                \"2023-01-01\" = \"openapi\"\n\"2024-01-01\" = \"openapi\"\n";
    assert!(merged.contains(line), "{merged}");
    assert!(
        found
            .text()
            .contains("files = [\"music.json\", \"tracks.json\"]\n"),
        "{}",
        found.text()
    );
}

#[test]
fn a_type_in_another_folder_of_the_group_gets_a_source() {
    let files = albums();
    let found = propose(&SpecRoot::new(FOLDER), &files, "music/stages").expect("proposal");
    let source = "[sources.stages]\n\
                  folder = \"specification/stages/resource-manager/Example.Music\"\n\
                  versions = { \"2024-01-01\" = [\"stages.json\"] }\n";
    assert_eq!(
        found.text(),
        format!(
            "# specs/music/group.toml, behind the other sources:\n{source}\
             # specs/music/group.toml, among the others by name:\n\n[kinds.Stage]\ntype = \"Example.Music/stages\"\n"
        )
    );
    let merged = found.merged(Some(&files[0].1));
    let place = format!("\"2023-01-01\" = [\"music.json\"]\n\n{source}\n[kinds.Album]\n");
    assert!(merged.contains(&place), "{merged}");
    // A folder that the group reads already is not read twice.
    let config = GroupConfig::parse("specs/music/group.toml", &merged).expect("form");
    let again = propose(&SpecRoot::new(FOLDER), &[(config, merged)], "music/singers");
    let again = again.expect("proposal").text();
    assert!(
        again.starts_with("# specs/music/group.toml, among the others by name:"),
        "{again}"
    );
}

#[test]
fn types_that_are_not_there_name_what_is_near() {
    for (wanted, expected) in [
        (
            "Example.Music/album",
            "no api-version of `Example.Music` has `Example.Music/album` with PUT and GET; did you mean `Example.Music/albums`?",
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
            "specs/music/group.toml:9 exports `Example.Music/albums` already, as `Album`",
        ),
    ] {
        assert_eq!(proposal(&albums(), wanted).trim_end(), expected);
    }
}

/// The text without the tables whose names begin so.
fn without(text: &str, names: &[&str]) -> String {
    let mut is_left_out = false;
    let lines = text.split_inclusive('\n').filter(|line| {
        if let Some(name) = line.strip_prefix('[') {
            is_left_out = names.iter().any(|begin| name.starts_with(begin));
        }
        !is_left_out
    });
    lines.collect()
}

#[test]
fn a_real_proposal_passes_through_the_generator() {
    let Some(specs) = specs() else {
        eprintln!("skipped: no Azure specs on this machine");
        return;
    };
    let bicep = format!("{specs}/../bicep-types");
    let specs = SpecRoot::new(specs).with_bicep(bicep);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/network/group.toml");
    let text = std::fs::read_to_string(file).expect("file");
    // As if nobody had added them yet.
    let text = without(
        &text,
        &[
            "kinds.RouteTable",
            "types.RouteTable",
            "kinds.DnsZonesAAAA",
            "types.DnsZonesAAAA",
        ],
    );
    let text = text.replace("\"DnsZonesAAAARecord\", ", "");
    let config = GroupConfig::parse("specs/network/group.toml", &text).expect("form");
    let files = vec![(config, text)];
    let found = propose(&specs, &files, "Microsoft.Network/routeTables").expect("proposal");
    assert!(
        found.text().contains("# routes = \"child-kind\""),
        "{}",
        found.text()
    );
    // An enum stands for the last part of their path.
    let records = propose(&specs, &files, "Microsoft.Network/dnsZones/AAAA").expect("proposal");
    let lines = "[kinds.DnsZonesAAAA]\ntype = \"Microsoft.Network/dnsZones/AAAA\"\n";
    assert!(records.text().contains(lines), "{}", records.text());
    let merged = found.merged(Some(&files[0].1));
    let config = GroupConfig::parse("specs/network/group.toml", merged).expect("form");
    let group = curated_group(&specs, &config).expect("group");
    let kinds = || {
        group
            .versions
            .values()
            .flat_map(|version| &version.resources)
    };
    assert!(kinds().any(|resource| resource.kind == "RouteTable"));
}

#[test]
fn a_real_type_that_only_bicep_types_have_gets_a_group() {
    let Some(specs) = specs() else {
        eprintln!("skipped: no Azure specs on this machine");
        return;
    };
    let bicep = format!("{specs}/../bicep-types");
    if !std::path::Path::new(&bicep).is_dir() {
        eprintln!("skipped: no Bicep types on this machine");
        return;
    }
    let specs = SpecRoot::new(specs).with_bicep(bicep);
    for (wanted, expected) in [
        (
            "Microsoft.DatabaseWatcher/watchers",
            vec![
                "folder = \"specification/databasewatcher/resource-manager/Microsoft.DatabaseWatcher\"",
            ],
        ),
        (
            "Microsoft.ContainerService/managedClusters",
            vec![
                "folder = \"specification/containerservice/resource-manager/Microsoft.ContainerService/aks\"",
                "\"2024-05-01\" = [\"managedClusters.json\"]",
                "\"2025-08-01\" = \"bicep\"",
            ],
        ),
    ] {
        let text = proposal_from(&specs, &Vec::new(), wanted);
        for part in expected {
            assert!(text.contains(part), "{wanted}: {part}: {text}");
        }
    }
}
