//! What changes between two small spec trees of our own (`tests/changes`), in words and for machines.

use armature_generator::curation::GroupConfig;
use armature_generator::diff::{DiffError, Report, What, compare, compare_versions};
use armature_generator::load::SpecRoot;
use armature_generator::model::{ApiVersion, Group};
use armature_generator::pipeline::curated_group;

fn group(specs: &str, curation: &str) -> Group {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/changes");
    let file = format!("{folder}/{curation}/shop.toml");
    let text = std::fs::read_to_string(&file).expect("a curation file");
    let config = GroupConfig::parse("specs/shop.toml", text).expect("form");
    curated_group(&SpecRoot::new(format!("{folder}/{specs}")), &config).expect("a group")
}

fn report() -> Report {
    compare(&[group("before", "before")], &[group("after", "after")]).expect("types")
}

#[test]
fn two_specs_in_words() {
    insta::assert_snapshot!(report().text());
}

#[test]
fn the_commit_alone_leaves_kinds_and_versions() {
    let report = compare(&[group("before", "before")], &[group("after", "before")]);
    let report = report.expect("types");
    insta::assert_snapshot!(report.text());
}

#[test]
fn one_version_against_another() {
    let group = group("after", "before");
    let [from, to] = ["2023-01-01", "2024-01-01"].map(ApiVersion::new);
    let report = compare_versions(&group, &from, &to).expect("both versions");
    insta::assert_snapshot!(report.text());
    let error = compare_versions(&group, &from, &ApiVersion::new("2025-01-01")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "group `shop` exports nothing from api-version `2025-01-01`; it has: 2023-01-01, 2024-01-01"
    );
}

#[test]
fn the_same_on_both_sides_is_no_change() {
    let same = [group("after", "after")];
    let report = compare(&same, &same).expect("types");
    assert_eq!(report, Report::default());
    assert_eq!(report.text(), "nothing changes for users\n");
}

#[test]
fn a_change_in_a_shared_type_is_one_finding_with_all_its_places() {
    let report = report();
    let zips = report.changes.iter().filter(|finding| {
        let subject = finding.subject.as_ref();
        finding.change.what == What::Removed
            && subject.is_some_and(|it| it.property.as_deref() == Some("zip"))
    });
    let places = zips.map(|finding| {
        let paths = finding.places.iter().filter_map(|it| it.path.as_deref());
        paths.collect::<Vec<_>>()
    });
    assert_eq!(
        places.collect::<Vec<_>>(),
        [
            vec!["spec.delivery[].zip", "spec.billing.zip", "spec.visit.zip"],
            vec![
                "status.delivery[].zip",
                "status.billing.zip",
                "status.visit.zip"
            ],
        ]
    );
}

#[test]
fn a_group_that_comes_or_goes_is_one_finding() {
    let groups = [group("before", "before")];
    let words = |report: Result<Report, DiffError>| {
        let report = report.expect("types");
        let changes = report.changes.iter();
        changes
            .map(|it| (it.change.breaking, it.change.words()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        words(compare(&groups, &[])),
        [(true, "group removed (`Shelf`, `Shop`, `Till`)".to_owned())]
    );
    assert_eq!(
        words(compare(&[], &groups)),
        [(false, "group added (`Shelf`, `Shop`, `Till`)".to_owned())]
    );
}

#[test]
fn machines_get_every_place() {
    let report = report();
    let value = serde_json::to_value(&report).expect("JSON");
    assert_eq!(value["breaking"], report.breaking);
    let zip = value["changes"].as_array().expect("changes").iter();
    let zip = zip
        .filter(|it| it["what"] == "removed" && it["subject"]["property"] == "zip")
        .find(|it| it["subject"]["side"] == "spec")
        .expect("a finding");
    insta::assert_json_snapshot!(zip);
}
