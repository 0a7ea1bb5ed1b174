//! Explanations: on a small group with one case of everything, and on real specs.

use armature_generator::curation::GroupConfig;
use armature_generator::explain::{Explanation, Question, explain, unknown_kind};
use armature_generator::load::SpecRoot;
use armature_generator::model::Group;
use armature_generator::pipeline::curated_group;

pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/curation");

/// The small group.
fn music() -> (Group, GroupConfig) {
    let text = std::fs::read_to_string(format!("{FOLDER}/music.toml")).expect("file");
    let config = GroupConfig::parse("music.toml", text).expect("form");
    let group = curated_group(&SpecRoot::new(FOLDER), &config).expect("group");
    (group, config)
}

fn answer((group, config): &(Group, GroupConfig), question: &str) -> String {
    match explain(group, config, &Question::parse(question)) {
        Ok(answer) => answer.to_string(),
        Err(error) => format!("{error}\n"),
    }
}

#[test]
fn kinds() {
    let music = music();
    insta::assert_snapshot!([answer(&music, "Album"), answer(&music, "AlbumsTrack")].join("\n"));
}

#[test]
fn properties() {
    let music = music();
    let answers = [
        "Album.spec",
        "Album.spec.title",
        "Album.spec.location",
        "Album.spec.coverReference",
        "Album.spec.coverId",
        "Album.spec.vaultId",
        "Album.spec.storeId",
        "Album.spec.license",
        "Album.status.license",
        "Album.spec.apiToken",
        "Album.spec.state",
        "Album.spec.name",
        "Album.spec.tracks",
        "Album.spec.tracks.composer",
        "Album.spec.front.color",
        "Album.spec.front",
        "Album.spec.booklet",
        "Album.spec.booklet.id",
        "Album.spec.rating",
        "Album.spec.player",
        "Album.spec.player.turntable.kind",
        "Album.spec.format",
        "Album.spec.speed",
        "Album.spec.style",
        "Album.spec.draft",
        "Album.spec.playMode",
        "Album.spec.publisherFromConfig",
        "Album.spec.owner",
        "Album.status.homepage",
    ]
    .map(|question| answer(&music, question));
    insta::assert_snapshot!(answers.join("\n"));
}

#[test]
fn questions_without_an_answer_name_what_is_near() {
    let music = music();
    for (question, expected) in [
        (
            "Albun.spec",
            "there is no kind `Albun`; did you mean `Album`?",
        ),
        (
            "Album.spec.titel",
            "`Album.spec` has no `titel` in any api-version; did you mean `title`?",
        ),
        (
            "Album.spec.player.zzz",
            "`Album.spec.player` has no `zzz` in any api-version; there are: stream, turntable",
        ),
        (
            "Album.spec.title.zzz",
            "`Album.spec.title` has no `zzz` in any api-version; there is nothing below it",
        ),
        (
            "Album.spec.conditions",
            "`Album.spec` has no `conditions` in any api-version; `Album.status.conditions` is there",
        ),
        (
            "Album.zzz",
            "`Album` has no `zzz` in any api-version; there are: spec, status",
        ),
    ] {
        assert_eq!(answer(&music, question).trim_end(), expected);
    }
    let (_, config) = music;
    let question = Question::parse("other/Album");
    assert!(!question.concerns(&config));
    assert_eq!(
        unknown_kind(&question, &[config]).to_string(),
        "there is no group `other`; there are: music"
    );
}

#[test]
fn machines_get_the_same() {
    let (group, config) = music();
    let question = Question::parse("music/Album.spec.storeId");
    let answer = explain(&group, &config, &question).expect("answer");
    assert!(matches!(answer, Explanation::Property(_)));
    insta::assert_snapshot!(serde_json::to_string_pretty(&answer).expect("JSON"));
}

/// Real kinds, where the specs are on this machine: what a question must bring to light.
#[test]
fn real_kinds_are_explained() {
    let Some(specs) = specs() else {
        eprintln!("skipped: no Azure specs on this machine");
        return;
    };
    let bicep = format!("{specs}/../bicep-types");
    let specs = SpecRoot::new(specs).with_bicep(bicep);
    for (group, question, expected) in [
        (
            "storage",
            "StorageAccount.spec.networkAcls.ipRules.value",
            "as = \"config-map\" (specs/storage/group.toml:",
        ),
        (
            "network",
            "network/VirtualNetwork.spec.subnets",
            "as = \"child-kind\" (specs/network/group.toml:",
        ),
        (
            "network",
            "PrivateEndpoint.spec.subnet.id",
            "the id of a resource is an ARM id",
        ),
        (
            "keyvault",
            "Vault.spec.properties.createMode",
            "the operator adds modes",
        ),
        (
            "kusto",
            "Cluster.spec.identity.userAssignedIdentities",
            "a map of ARM ids",
        ),
        ("kusto", "Database.spec", "readOnlyFollowingDatabase"),
        (
            "resources",
            "ResourceGroup",
            "Microsoft.Resources/resourceGroups",
        ),
    ] {
        let path = format!("specs/{group}/group.toml");
        let file = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(file).expect("file");
        let config = GroupConfig::parse(path, text).expect("form");
        let curated = curated_group(&specs, &config).expect("group");
        let answer = answer(&(curated, config), question);
        assert!(answer.contains(expected), "{question}\n{answer}");
    }
}

/// The real specs, where there are any.
pub fn specs() -> Option<String> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/azure");
    let data = std::env::var("ARMATURE_AZURE_DATA").unwrap_or_else(|_| beside.to_owned());
    let specs = format!("{data}/azure-rest-api-specs");
    std::path::Path::new(&specs)
        .join("specification")
        .is_dir()
        .then_some(specs)
}

#[test]
fn what_bicep_types_leave_out_is_told_with_the_version_that_told_it() {
    let text = "group = \"music\"\nnaming = \"new\"\n[sources.music]\n\
                folder = \"specification/music/resource-manager/Example.Music\"\n[sources.music.versions]\n\"2023-01-01\" = [\"music.json\"]\n\"2024-01-01\" = [\"music.json\"]\n\"2025-01-01\" = \"bicep\"\n\
                [kinds.Album]\ntype = \"Example.Music/albums\"\n[kinds.Label]\ntype = \"Example.Music/labels\"\n";
    let config = GroupConfig::parse("music.toml", text).expect("form");
    let specs = SpecRoot::new(FOLDER).with_bicep(format!("{FOLDER}/bicep"));
    let music = (curated_group(&specs, &config).expect("group"), config);
    let lines = |question: &str| -> Vec<String> {
        let text = answer(&music, question);
        let lines = text.lines().map(str::trim);
        let told = lines.filter(|line| line.starts_with("inherited"));
        told.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    assert_eq!(
        lines("Album"),
        [
            "inherited from OpenAPI 2024-01-01, the nearest version: verbs, what takes long, rules of the name"
        ]
    );
    assert_eq!(
        lines("Album.spec.vaultReference"),
        ["inherited from OpenAPI 2024-01-01, the nearest version: format"]
    );
    assert!(lines("Label").is_empty(), "no OpenAPI version has it");
}
