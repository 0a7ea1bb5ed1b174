//! Which versions the CRD of a kind gets when it is installed or updated, and which ones its objects may be stored at:
//! pure decisions on what is installed.

use std::collections::BTreeSet;

use armature_engine::crd::{ServedVersions, name};
use armature_shapes::conversion::is_readable;
use armature_shapes::kind::KindInfo;

use super::installed::InstalledCrd;

/// Label of CRDs with the version of the operator that installed them.
const INSTALLED_BY: &str = "app.kubernetes.io/version";

/// The versions of a CRD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrdVersions {
    /// API versions that are served.
    pub served: ServedVersions,
    /// Versions in which objects may be stored since an earlier release: in the CRD, not served.
    pub kept: BTreeSet<String>,
}

/// A CRD whose objects this program would lose.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "CRD {name} has objects of {versions}, which this version of the operator does not know{}; run a version that \
     does",
    installer(.installed_by.as_deref())
)]
pub struct UnknownVersions {
    /// Name of the CRD.
    pub name: String,
    /// Unknown versions, with commas.
    pub versions: String,
    /// The operator's version that the CRD is of, where it says so.
    pub installed_by: Option<String>,
}

fn installer(version: Option<&str>) -> String {
    version.map_or_else(String::new, |version| {
        format!(" (the CRD is of version {version})")
    })
}

impl UnknownVersions {
    /// The unknown ones among versions in which objects of a CRD are stored, or by which they were written.
    fn among<'v>(
        kind: &KindInfo,
        crd: &InstalledCrd,
        versions: impl IntoIterator<Item = &'v String>,
    ) -> Result<(), Self> {
        let versions = versions.into_iter();
        let unknown: BTreeSet<&str> = versions
            .filter(|version| !is_readable(kind, version))
            .map(String::as_str)
            .collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let labels = crd.metadata.labels.as_ref();
        Err(Self {
            name: name(kind),
            versions: unknown.into_iter().collect::<Vec<_>>().join(", "),
            installed_by: labels.and_then(|labels| labels.get(INSTALLED_BY).cloned()),
        })
    }
}

impl InstalledCrd {
    /// Whether this program can read all objects of the CRD, by the versions in which they are stored.
    ///
    /// # Errors
    /// [`UnknownVersions`] when it cannot: a newer one stored them.
    pub fn check_stored(&self, kind: &KindInfo) -> Result<(), UnknownVersions> {
        UnknownVersions::among(kind, self, &self.status.stored_versions)
    }

    /// Whether this program can convert to and from all versions that the CRD serves.
    ///
    /// # Errors
    /// [`UnknownVersions`] when it cannot.
    pub fn check_served(&self, kind: &KindInfo) -> Result<(), UnknownVersions> {
        let served: Vec<String> = self.served().cloned().collect();
        UnknownVersions::among(kind, self, &served)
    }

    /// Whether what becomes of the CRD depends on the versions by which its objects were written: when not all
    /// versions are to be served, or when some that are served now are unknown or were asked for.
    pub fn depends_on_objects(&self, kind: &KindInfo, latest_only: bool) -> bool {
        let is_ordinary = |name: &String| {
            is_readable(kind, name) && kind.version(name).is_none_or(|it| !it.is_on_request)
        };
        latest_only || !self.served().all(is_ordinary)
    }

    /// The versions that the CRD gets. Objects were written by those in `written`; the user wants those in
    /// `asked` beside the latest.
    ///
    /// # Errors
    /// [`UnknownVersions`] when objects would be lost.
    pub fn updated_versions(
        &self,
        kind: &KindInfo,
        latest_only: bool,
        asked: &BTreeSet<String>,
        written: &BTreeSet<String>,
    ) -> Result<CrdVersions, UnknownVersions> {
        let stored = &self.status.stored_versions;
        UnknownVersions::among(kind, self, stored.iter().chain(written))?;
        let is_api_version = |name: &&String| {
            let mut versions = kind.versions.iter();
            versions.any(|version| version.name == **name)
        };
        // The API server wants every version in which objects may be stored to stay.
        let stored_at = stored.iter().filter(is_api_version);
        let also = asked.iter().chain(written).chain(stored_at);
        let also = also.cloned().collect();
        let served = match latest_only {
            false => ServedVersions::All { also },
            true => ServedVersions::Latest { also },
        };
        let kept = stored
            .iter()
            .filter(|name| !is_api_version(name) && *name != kind.hub.storage_version);
        Ok(CrdVersions {
            served,
            kept: kept.cloned().collect(),
        })
    }

    /// Versions beside our storage version at which objects may be stored.
    pub fn old_versions(&self, kind: &KindInfo) -> impl Iterator<Item = &String> {
        let stored = self.status.stored_versions.iter();
        stored.filter(|name| *name != kind.hub.storage_version)
    }

    /// Whether objects are stored at our storage version from now on, but may be at older ones.
    pub fn needs_migration(&self, kind: &KindInfo) -> bool {
        let mut versions = self.spec.versions.iter();
        let storage = versions.find(|version| version.storage);
        storage.is_some_and(|storage| storage.name == kind.hub.storage_version)
            && self.old_versions(kind).next().is_some()
    }

    /// Whether it is the CRD of before, and objects were stored at the same version all the time: every change of a spec
    /// is another generation, so one that was changed and changed back is told, too.
    pub fn stores_as(&self, before: &Self) -> bool {
        let identity = |crd: &Self| (crd.metadata.uid.clone(), crd.metadata.generation);
        identity(self) == identity(before)
    }

    /// Names of the versions that the API server offers.
    pub fn served(&self) -> impl Iterator<Item = &String> {
        let versions = self.spec.versions.iter();
        versions
            .filter(|version| version.served)
            .map(|version| &version.name)
    }
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::gadget::MODEL;
    use serde_json::json;

    use super::*;
    use crate::crds::installed::{CrdVersion, StatusDefaults};

    fn crd(served: &[&str], stored: &[&str]) -> InstalledCrd {
        let versions: Vec<_> = served
            .iter()
            .map(|name| json!({"name": name, "served": true, "storage": false}))
            .collect();
        serde_json::from_value(json!({
            "metadata": {"labels": {INSTALLED_BY: "9.9.9"}},
            "spec": {"group": MODEL.group, "names": {"kind": MODEL.kind}, "versions": versions},
            "status": {"storedVersions": stored},
        }))
        .unwrap()
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_a_crd_gets() {
        let all = |names: &[&str]| ServedVersions::All { also: set(names) };
        let latest = |names: &[&str]| ServedVersions::Latest { also: set(names) };
        let rows = [
            (
                "as it was",
                &["v20210101storage"][..],
                false,
                &[][..],
                all(&["v1api20200101"]),
                &[][..],
            ),
            (
                "an earlier storage version stays",
                &["v1api20200101storage", "v20210101storage"],
                false,
                &[],
                all(&["v1api20200101"]),
                &["v1api20200101storage"],
            ),
            (
                "a version by which objects were written is served",
                &["v20210101storage"],
                true,
                &["v1api20210101"],
                latest(&["v1api20210101", "v1api20200101"]),
                &[],
            ),
            (
                "an API version in which objects are stored stays",
                &["v20210101"],
                true,
                &[],
                latest(&["v20210101", "v1api20200101"]),
                &[],
            ),
        ];
        for (what, stored, latest_only, written, served, kept) in rows {
            let asked = set(&["v1api20200101"]);
            let crd = crd(&[], stored);
            let got = crd.updated_versions(&MODEL, latest_only, &asked, &set(written));
            let kept = set(kept);
            assert_eq!(got, Ok(CrdVersions { served, kept }), "{what}");
        }
    }

    #[test]
    fn objects_of_unknown_versions_are_not_lost() {
        let none = BTreeSet::new();
        let newer = crd(&["v20210101", "v20300101"], &["v20300101storage"]);
        let error = newer.check_stored(&MODEL).unwrap_err();
        assert_eq!(
            error.to_string(),
            "CRD gadgets.toys.azure.com has objects of v20300101storage, which this version of the operator does not \
             know (the CRD is of version 9.9.9); run a version that does"
        );
        let updated = newer.updated_versions(&MODEL, false, &none, &none);
        assert_eq!(updated, Err(error));

        let served_only = crd(&["v20300101"], &["v20210101storage"]);
        assert_eq!(served_only.check_stored(&MODEL), Ok(()));
        assert!(served_only.depends_on_objects(&MODEL, false));
        for (written, is_fine) in [(none.clone(), true), (set(&["v20300101"]), false)] {
            let updated = served_only.updated_versions(&MODEL, false, &none, &written);
            assert_eq!(updated.is_ok(), is_fine, "{written:?}");
        }
        assert!(!crd(&["v20210101"], &[]).depends_on_objects(&MODEL, false));
    }

    #[test]
    fn objects_are_migrated_where_some_may_be_stored_at_older_versions() {
        let current = "v20210101storage";
        let rows = [
            ("nothing is stored", current, &[][..], false),
            ("only ours", current, &[current], false),
            (
                "an older one too",
                current,
                &["v1api20200101storage", current],
                true,
            ),
            (
                "an API version of long ago",
                current,
                &["v1api20200101", current],
                true,
            ),
            (
                "the CRD is still the older operator's",
                "v1api20200101storage",
                &["v1api20200101storage"],
                false,
            ),
            (
                "the CRD is a newer operator's",
                "v20300101storage",
                &[current, "v20300101storage"],
                false,
            ),
        ];
        for (what, storage, stored, expected) in rows {
            let mut crd = crd(&["v20210101"], stored);
            crd.spec.versions.push(CrdVersion {
                name: storage.to_owned(),
                served: true,
                storage: true,
                defaults: StatusDefaults::default(),
            });
            assert_eq!(crd.needs_migration(&MODEL), expected, "{what}");
        }
    }

    #[test]
    fn a_crd_that_changed_may_have_stored_objects_at_another_version() {
        let of = |uid: &str, generation, resource_version: &str| {
            let mut crd = crd(&[], &[]);
            crd.metadata.uid = Some(uid.to_owned());
            crd.metadata.generation = Some(generation);
            crd.metadata.resource_version = Some(resource_version.to_owned());
            crd
        };
        let before = of("a", 1, "1");
        for (what, now, expected) in [
            ("a label", of("a", 1, "2"), true),
            ("the spec", of("a", 2, "2"), false),
            ("another CRD of the same name", of("b", 1, "2"), false),
        ] {
            assert_eq!(now.stores_as(&before), expected, "{what}");
        }
    }
}
