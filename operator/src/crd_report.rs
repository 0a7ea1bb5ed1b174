//! What `armature crds status` tells of an installed CRD: pure decisions of the runtime, put into words.

use std::collections::{BTreeMap, BTreeSet};

use armature_runtime::engine::crd::{CrdOptions, custom_resource_definition};
use armature_runtime::kind::KindInfo;
use armature_runtime::kubernetes::{CrdVersions, InstalledCrd, Written};
use serde::Serialize;

use crate::explain::text::table;

/// What an installed CRD stores and serves, and what would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CrdReport {
    /// Name of the CRD.
    pub name: String,
    /// Objects; absent where not all of them may be listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<usize>,
    /// How many of them each version wrote last.
    pub written_by: BTreeMap<String, usize>,
    /// The version at which objects are stored from now on.
    pub stored_at: String,
    /// Older versions at which some may be stored.
    pub older: Vec<String>,
    /// Versions that are served.
    pub served: Vec<String>,
    /// Whether its objects say from their first moment that nobody has looked at them.
    pub gives_status: bool,
    /// What an operator of this version makes of it, serving all versions.
    pub upgrade: Change,
    /// What it makes of it with `--crd-versions latest`.
    pub latest: Change,
    /// Why it cannot take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What changes of a CRD.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Versions that are served beside.
    pub adds: Vec<String>,
    /// Versions that are no longer served.
    pub drops: Vec<String>,
    /// Another version at which objects are stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stores_at: Option<String>,
}

impl CrdReport {
    /// What there is to say of a CRD, by which versions its objects were written.
    pub fn new(kind: &KindInfo, crd: &InstalledCrd, written: Option<&Written>) -> Self {
        let storage = crd.spec.versions.iter().find(|version| version.storage);
        let stored_at = storage.map(|version| version.name.clone());
        let stored_at = stored_at.unwrap_or_default();
        let stored = crd.status.stored_versions.iter();
        let known = written.map(|written| &written.versions);
        let served: BTreeSet<String> = crd.served().cloned().collect();
        // Where not all objects can be seen, the operator keeps what is served.
        let known = known.unwrap_or(&served);
        let change = |latest_only| {
            let versions = crd.updated_versions(kind, latest_only, &BTreeSet::new(), known);
            versions.map(|versions| change(kind, &stored_at, &served, versions))
        };
        let (upgrade, latest) = (change(false), change(true));
        Self {
            name: crd.metadata.name.clone().unwrap_or_default(),
            objects: written.map(|written| written.objects),
            written_by: written.map_or_else(BTreeMap::new, |written| written.last.clone()),
            older: stored.filter(|name| **name != stored_at).cloned().collect(),
            problem: upgrade.as_ref().err().map(ToString::to_string),
            upgrade: upgrade.unwrap_or_default(),
            latest: latest.unwrap_or_default(),
            served: served.into_iter().collect(),
            gives_status: crd.gives_status(),
            stored_at,
        }
    }
}

/// What becomes of an installed CRD with these versions.
fn change(
    kind: &KindInfo,
    stored_at: &str,
    served: &BTreeSet<String>,
    versions: CrdVersions,
) -> Change {
    let options = CrdOptions {
        versions: versions.served,
        kept: versions.kept,
        ..CrdOptions::default()
    };
    let crd = custom_resource_definition(kind, &options);
    let of_crd = crd["spec"]["versions"].as_array().into_iter().flatten();
    let of_crd = of_crd.filter(|version| version["served"] == true);
    let then = of_crd.filter_map(|version| version["name"].as_str().map(str::to_owned));
    let then: BTreeSet<String> = then.collect();
    let ours = kind.hub.storage_version;
    Change {
        adds: then.difference(served).cloned().collect(),
        drops: served.difference(&then).cloned().collect(),
        stores_at: (ours != stored_at).then(|| ours.to_owned()),
    }
}

/// What lacks to CRDs without a default of the status.
pub const LACK_STATUS: &str = "give new objects no status: who waits for objects to become ready, as Flux and Helm 4 do, takes one \
     for ready until the operator writes its first condition. `armature crds` prints CRDs that do";

/// A table of CRDs, and sentences about what there is to do.
pub fn text(reports: &[CrdReport]) -> String {
    let head = [
        "CRD",
        "OBJECTS",
        "WRITTEN BY",
        "STORED AT",
        "OLDER",
        "SERVED",
        "UPGRADE",
        "LATEST",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    for report in reports {
        let objects = report
            .objects
            .map_or("?".to_owned(), |count| count.to_string());
        let written = report.written_by.iter();
        let written = written.map(|(version, count)| format!("{version} ({count})"));
        rows.push([
            report.name.clone(),
            objects,
            or_none(written.collect()),
            report.stored_at.clone(),
            or_none(report.older.clone()),
            report.served.len().to_string(),
            signs(&report.upgrade),
            signs(&report.latest),
        ]);
    }
    let mut text = table(&rows);
    let older = reports.iter().filter(|one| !one.older.is_empty()).count();
    if older > 0 {
        text.push_str(&format!(
            "\n{older} of {} may have objects at older versions: `armature crds migrate` writes them anew, as the operator does \
             by itself where it installs CRDs.\n",
            reports.len()
        ));
    }
    let lacking = reports.iter().filter(|one| !one.gives_status).count();
    if lacking > 0 {
        text.push_str(&format!(
            "\n{lacking} of {} {LACK_STATUS}.\n",
            reports.len()
        ));
    }
    if lacking < reports.len() {
        text.push_str(&format!(
            "\n{} of {} give new objects a status, and whoever writes an object has it stored. `armature takeover undo` takes \
             that out of the CRDs.\n",
            reports.len() - lacking,
            reports.len()
        ));
    }
    for problem in reports.iter().filter_map(|one| one.problem.as_ref()) {
        text.push_str(&format!("\nproblem: {problem}\n"));
    }
    text
}

fn or_none(texts: Vec<String>) -> String {
    match texts.is_empty() {
        true => "-".to_owned(),
        false => texts.join(", "),
    }
}

/// How many versions come and go, and whether objects are stored at another one.
fn signs(change: &Change) -> String {
    let count = |sign: char, versions: &[String]| {
        (!versions.is_empty()).then(|| format!("{sign}{}", versions.len()))
    };
    let stores = change.stores_at.as_ref();
    let signs = [
        count('+', &change.adds),
        count('-', &change.drops),
        stores.map(|version| format!("stores at {version}")),
    ];
    match signs.into_iter().flatten().collect::<Vec<_>>().join(" ") {
        none if none.is_empty() => "=".to_owned(),
        some => some,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn account() -> &'static KindInfo {
        let mut kinds = armature_generated::KINDS.iter();
        let found = kinds.find(|kind| kind.kind == "StorageAccount");
        found.expect("it is there")
    }

    fn crd(versions: &[(&str, bool)], stored: &[&str]) -> InstalledCrd {
        let last = versions.len() - 1;
        let versions = versions.iter().enumerate().map(
            |(at, (name, served))| json!({"name": name, "served": served, "storage": at == last}),
        );
        let crd = json!({
            "metadata": {"name": "storageaccounts.storage.azure.com"},
            "spec": {
                "group": "storage.azure.com", "names": {"kind": "StorageAccount"},
                "versions": versions.collect::<Vec<_>>(),
            },
            "status": {"storedVersions": stored},
        });
        serde_json::from_value(crd).unwrap()
    }

    #[test]
    fn an_older_release_gets_versions_and_stores_at_another_one() {
        let (old, new) = ("v1api20230101storage", "v20250601storage");
        let crd = crd(&[("v1api20210401", true), (old, true)], &[old]);
        let written = Written {
            objects: 2,
            last: [("v1api20210401".to_owned(), 2)].into(),
            versions: ["v1api20210401".to_owned()].into(),
        };
        let report = CrdReport::new(account(), &crd, Some(&written));
        assert_eq!(report.stored_at, old);
        assert_eq!(report.older, [""; 0]);
        assert_eq!(report.upgrade.stores_at.as_deref(), Some(new));
        assert!(report.upgrade.adds.contains(&"v20250601".to_owned()));
        assert_eq!(report.upgrade.drops, [old]);
        let latest = ["v20250601", new];
        assert_eq!(report.latest.adds, latest, "and what wrote objects stays");
        let text = text(&[report]);
        assert!(text.contains("v1api20210401 (2)"), "{text}");
    }

    #[test]
    fn older_versions_and_unknown_ones_are_told() {
        let (old, new) = ("v1api20230101storage", "v20250601storage");
        let report = CrdReport::new(
            account(),
            &crd(&[("v20250601", true), (new, true)], &[old, new]),
            None,
        );
        assert_eq!(report.older, [old]);
        assert_eq!(report.objects, None);
        assert!(text(&[report]).contains("1 of 1 may have objects at older versions"));
        let future = "v20990101storage";
        let report = CrdReport::new(account(), &crd(&[(future, true)], &[future]), None);
        assert!(
            report
                .problem
                .as_ref()
                .is_some_and(|it| it.contains(future)),
            "{report:?}"
        );
    }
}
