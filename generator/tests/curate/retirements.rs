//! api-versions that Azure retires: which rows a file may have, and what they make of a group.

use armature_generator::curate::curate;
use armature_generator::curation::GroupConfig;
use armature_generator::model::{ApiVersion, Group, Retirement};

use crate::common::models::{group, object, resource, string, version};

const PAGE: &str = "https://learn.microsoft.com/azure/things/retirement";

/// Three api-versions of a kind, and one more on request.
fn things() -> Group {
    let of = |api_version: &str| {
        let spec = object("ThingSpec", vec![string("location")]);
        let status = object("ThingStatus", vec![string("location")]);
        let things = vec![resource("Thing", "Microsoft.Test/things")];
        version(api_version, things, vec![spec, status])
    };
    let versions = ["2021-01-01", "2022-01-01", "2023-01-01", "2024-01-01"];
    group(versions.map(of).to_vec())
}

fn curated(retires: &str) -> Result<Group, String> {
    let text = format!(
        r#"
group = "test"
naming = "hybrid"

[sources.specs]
folder = "specification/test"
files = ["test.json"]
versions = {{ "2021-01-01" = "openapi", "2022-01-01" = "openapi", "2023-01-01" = "openapi" }}
on-request = {{ "2024-01-01" = "openapi" }}

[sources.specs.retires]
{retires}

[kinds.Thing]
type = "Microsoft.Test/things"
"#
    );
    let config = GroupConfig::parse("specs/test.toml", text).map_err(|error| error.to_string())?;
    curate(things(), &config).map_err(|error| error.to_string())
}

/// A row for each of these.
fn rows(versions: &[&str]) -> String {
    let row = |version: &&str| {
        format!("\"{version}\" = {{ date = \"2027-02-27\", page = \"{PAGE}\" }}\n")
    };
    versions.iter().map(row).collect()
}

#[test]
fn a_version_that_retires_names_the_one_to_use() {
    let successors = |retired: &[&str]| {
        let group = curated(&rows(retired)).expect("rows");
        let of = |name: &str| {
            let found = &group.versions[&ApiVersion::new(name)].resources[0];
            let retirement = found.retirement.clone();
            let expected = |it: Retirement| {
                assert_eq!((it.date.as_str(), it.page.as_str()), ("2027-02-27", PAGE));
                it.successor
            };
            retirement.map(expected)
        };
        ["2021-01-01", "2022-01-01", "2023-01-01", "2024-01-01"].map(of)
    };
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(successors(&[]), [None, None, None, None]);
    let newest = named("v20230101");
    assert_eq!(
        successors(&["2021-01-01", "2022-01-01"]),
        [newest.clone(), newest, None, None]
    );
    let asked = named("v20240101");
    assert_eq!(
        successors(&["2021-01-01", "2022-01-01", "2023-01-01"]),
        [asked.clone(), asked.clone(), asked, None]
    );
}

#[test]
fn rows_that_nobody_could_act_on_are_refused() {
    for (retires, part) in [
        (
            format!("\"2021-01-01\" = {{ date = \"2027-02-30\", page = \"{PAGE}\" }}"),
            "specs/test.toml:12:25: `2027-02-30` is no day of the calendar",
        ),
        (
            "\"2021-01-01\" = { date = \"2027-02-27\", page = \"http://example.com\" }".to_owned(),
            "`http://example.com` is no address of a public page",
        ),
        (
            format!("\"2021-01-01\" = {{ page = \"{PAGE}\" }}"),
            "`date` is missing",
        ),
        (
            "\"2021-01-01\" = { date = \"2027-02-27\" }".to_owned(),
            "`page` is missing",
        ),
        (
            rows(&["2021-01-02"]),
            "`2021-01-02` retires, and no kind is served from it; did you mean `2021-01-01`?",
        ),
        (
            rows(&["2024-01-01"]),
            "specs/test.toml:12:1: `2024-01-01` retires, and `Thing` has no later api-version that does not",
        ),
        (
            rows(&["2021-01-01", "2022-01-01", "2023-01-01", "2024-01-01"]),
            "`2021-01-01` retires, and `Thing` has no later api-version that does not",
        ),
    ] {
        let message = curated(&retires).expect_err(&retires);
        assert!(message.contains(part), "{message}");
    }
}
