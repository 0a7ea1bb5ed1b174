//! Versions that Azure retires, as curation knows of them (`retires` in `specs/*/group.toml`), and the CRDs that say so.

use std::collections::BTreeSet;

use armature_runtime::kind::KindInfo;
use serde_json::{Value, json};

use super::Descriptions;

/// The API server refuses a longer warning.
const LONGEST_WARNING: usize = 256;

/// The end of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retirement {
    /// The day from which requests at its api-version may fail: `2027-02-27`.
    pub date: String,
    /// Name of the version to use: `v20260201`.
    pub successor: String,
    /// The public page that has the date.
    pub page: String,
}

impl Retirement {
    /// What stands behind the versions in a line: `2027-02-27 v20260201 https://…`.
    pub(super) fn parse<'w>(mut words: impl Iterator<Item = &'w str>) -> Option<Self> {
        let [date, successor, page] = [words.next()?, words.next()?, words.next()?];
        Some(Self {
            date: date.to_owned(),
            successor: successor.to_owned(),
            page: page.to_owned(),
        })
    }

    /// What a client is told that uses the version. `is_served`: the CRD serves the version to use, too.
    fn warning(&self, kind: &KindInfo, api_version: &str, is_served: bool) -> String {
        let Self {
            date,
            successor,
            page,
        } = self;
        let further = match is_served {
            true => "",
            false => ", which crdPattern must name",
        };
        let (name, group) = (kind.kind, kind.group);
        let warning = format!(
            "{name}: Azure retires API version {api_version} on {date}; use {group}/{successor}{further}"
        );
        let whole = format!("{warning} ({page})");
        match whole.len() <= LONGEST_WARNING {
            true => whole,
            false => warning,
        }
    }
}

impl Descriptions {
    /// The end of a version, where Azure has told of one.
    pub fn retirement(&self, kind: &str, version: &str) -> Option<&Retirement> {
        let key = (kind.to_owned(), version.to_owned());
        self.retirements.get(&key)
    }

    /// Marks versions of a CRD that Azure retires; never the one in which objects are stored.
    fn deprecate(&self, kind: &KindInfo, crd: &mut Value) {
        let versions = crd.pointer_mut("/spec/versions");
        let Some(versions) = versions.and_then(Value::as_array_mut) else {
            return;
        };
        let is_for_users =
            |version: &Value| version["served"] == true && version["storage"] == false;
        let name = |version: &Value| version["name"].as_str().map(str::to_owned);
        let served = versions.iter().filter(|version| is_for_users(version));
        let served: BTreeSet<String> = served.filter_map(name).collect();
        for version in versions.iter_mut().filter(|version| is_for_users(version)) {
            let info = name(version).and_then(|name| {
                let mut known = kind.versions.iter();
                known.find(|known| known.name == name)
            });
            let Some(info) = info else { continue };
            if let Some(retirement) = self.retirement(kind.kind, info.name) {
                let is_served = served.contains(&retirement.successor);
                let warning = retirement.warning(kind, info.api_version, is_served);
                version["deprecated"] = json!(true);
                version["deprecationWarning"] = json!(warning);
            }
        }
    }
}

/// Marks versions of a kind's CRD that Azure retires, each with a warning that names the version to use.
pub fn deprecate(kind: &KindInfo, crd: &mut Value) {
    Descriptions::shared(kind.group).deprecate(kind, crd);
}

#[cfg(test)]
mod tests {
    use armature_generated::KINDS;
    use armature_runtime::engine::crd::{CrdOptions, ServedVersions, custom_resource_definition};

    use super::*;

    fn kind(name: &str) -> &'static KindInfo {
        let mut kinds = KINDS.iter();
        kinds.find(|kind| kind.kind == name).expect("a kind")
    }

    /// Names of the CRD's versions with their warnings.
    fn warnings(kind: &KindInfo, also: &[&str], latest: bool) -> Vec<(String, Option<String>)> {
        let also = also.iter().map(|name| (*name).to_owned()).collect();
        let options = CrdOptions {
            versions: match latest {
                true => ServedVersions::Latest { also },
                false => ServedVersions::All { also },
            },
            ..CrdOptions::default()
        };
        let mut crd = custom_resource_definition(kind, &options);
        deprecate(kind, &mut crd);
        let versions = crd["spec"]["versions"].as_array().expect("versions");
        let told = versions.iter().map(|version| {
            let warning = version["deprecationWarning"].as_str().map(str::to_owned);
            assert_eq!(
                version["deprecated"] == true,
                warning.is_some(),
                "{version}"
            );
            let name = version["name"].as_str().unwrap_or_default();
            (name.to_owned(), warning)
        });
        told.collect()
    }

    const PAGE: &str =
        "https://learn.microsoft.com/en-us/azure/key-vault/general/migrate-api-version";

    #[test]
    fn a_version_that_azure_retires_names_the_one_to_use_and_how_it_is_had() {
        let warning = |version: &str, further: &str| {
            Some(format!(
                "Vault: Azure retires API version {version} on 2027-02-27; use keyvault.azure.com/v20260201{further} ({PAGE})"
            ))
        };
        let asked = ", which crdPattern must name";
        let row = |name: &str, warning: Option<String>| (name.to_owned(), warning);
        let storage = row("v1api20230701storage", None);
        let vault = kind("Vault");
        for (also, latest, expected) in [
            (
                &[][..],
                false,
                vec![
                    row("v1api20210401preview", warning("2021-04-01-preview", asked)),
                    row("v1api20230701", warning("2023-07-01", asked)),
                    storage.clone(),
                ],
            ),
            (
                &["v20260201"],
                true,
                vec![
                    row("v1api20230701", warning("2023-07-01", "")),
                    row("v20260201", None),
                    storage,
                ],
            ),
        ] {
            assert_eq!(warnings(vault, also, latest), expected, "{also:?}");
        }
    }

    #[test]
    fn every_row_is_one_that_an_api_server_takes_and_a_user_can_follow() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/crds.md");
        let page = std::fs::read_to_string(page).expect("the page with all rows");
        let mut count = 0;
        for kind in KINDS {
            let descriptions = Descriptions::shared(kind.group);
            for version in kind.versions {
                let Some(found) = descriptions.retirement(kind.kind, version.name) else {
                    continue;
                };
                count += 1;
                let successor = kind
                    .version(&found.successor)
                    .expect("a version of the kind");
                assert!(successor.api_version > version.api_version, "{found:?}");
                let end = descriptions.retirement(kind.kind, successor.name);
                assert_eq!(end, None, "{} {found:?}", kind.kind);
                let row = [version.api_version, &found.date, &found.successor];
                let is_told = |line: &str| row.iter().all(|part| line.contains(part));
                assert!(
                    page.lines().any(is_told),
                    "docs/crds.md lacks a row of {row:?}"
                );
                for is_served in [true, false] {
                    let warning = found.warning(kind, version.api_version, is_served);
                    assert!(warning.len() <= LONGEST_WARNING, "{warning}");
                    assert!(!warning.contains(char::is_control), "{warning}");
                }
                let warning = found.warning(kind, version.api_version, true);
                assert!(warning.ends_with(&format!("({})", found.page)), "{warning}");
            }
        }
        assert!(count >= 10, "{count}");
    }

    #[test]
    fn a_warning_that_would_be_too_long_leaves_the_page_out() {
        let long = Retirement {
            date: "2027-02-27".to_owned(),
            successor: "v20260201".to_owned(),
            page: format!("https://a.b/{}", "c".repeat(200)),
        };
        let warning = long.warning(kind("Vault"), "2023-07-01", true);
        assert!(
            warning.ends_with("use keyvault.azure.com/v20260201"),
            "{warning}"
        );
    }

    #[test]
    fn kinds_that_azure_goes_on_with_have_no_warning() {
        for (_, warning) in warnings(kind("StorageAccount"), &[], false) {
            assert_eq!(warning, None);
        }
    }
}
