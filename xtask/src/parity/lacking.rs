//! What of the target we do not have, be it a version, a kind or a whole group, and by what cause: `specs/lacking.toml`.

use std::collections::BTreeMap;

use anyhow::Context;
use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::reasons::{is_like, short};
use super::schema::{Crds, Group, Versions};
use crate::sources::LACKING_FILE as FILE;
use crate::workspace;

/// Why something is lacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Only a fork of Azure Service Operator has it, and no release of its own.
    Fork,
    /// Azure Resource Manager does not make it.
    NotArm,
    /// Neither specs nor Bicep types have it.
    NoData,
}

/// A version of a kind that we do not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lacking {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Version.
    pub version: String,
    /// Whether we have no version of the kind.
    pub is_whole_kind: bool,
    /// Paths below `spec`.
    pub spec: usize,
    /// Paths below `status`.
    pub status: usize,
    /// Why; `None` where the file says nothing.
    pub cause: Option<Cause>,
}

/// A row of the file: what has a cause.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CauseRule {
    group: String,
    #[serde(default = "anything")]
    kind: String,
    #[serde(default = "anything")]
    version: String,
    cause: Cause,
}

fn anything() -> String {
    "*".to_owned()
}

impl CauseRule {
    fn fits(&self, lacking: &Lacking) -> bool {
        self.group == short(&lacking.group)
            && is_like(&self.kind, &lacking.kind)
            && is_like(&self.version, &lacking.version)
    }
}

/// Reads the causes of the workspace at `root`.
pub fn read(root: &Utf8Path) -> anyhow::Result<Vec<CauseRule>> {
    parse(&workspace::read(&root.join(FILE))?).context(FILE)
}

fn parse(toml: &str) -> anyhow::Result<Vec<CauseRule>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        lacking: Vec<CauseRule>,
    }
    let file: File = toml::from_str(toml).context("the causes of what is lacking")?;
    Ok(file.lacking)
}

/// Every version of the target that we do not have.
pub fn lacking(ours: &Crds, target: &Crds, causes: &[CauseRule]) -> Vec<Lacking> {
    let (no_kinds, no_versions) = (Group::new(), Versions::new());
    let mut found = Vec::new();
    for (group, kinds) in target {
        let ours = ours.get(group).unwrap_or(&no_kinds);
        for (kind, versions) in kinds {
            let have = ours.get(kind).unwrap_or(&no_versions);
            for (name, version) in versions
                .iter()
                .filter(|(name, _)| !have.contains_key(*name))
            {
                let is_spec = |path: &&String| path.starts_with("spec");
                let spec = version.paths.keys().filter(is_spec).count();
                let mut lacking = Lacking {
                    group: group.clone(),
                    kind: kind.clone(),
                    version: name.clone(),
                    is_whole_kind: have.is_empty(),
                    spec,
                    status: version.paths.len() - spec,
                    cause: None,
                };
                let mut causes = causes.iter();
                lacking.cause = causes.find(|it| it.fits(&lacking)).map(|it| it.cause);
                found.push(lacking);
            }
        }
    }
    found
}

/// What is lacking without a cause, and causes of what is not lacking, in sentences. `is_whole`: all groups were compared.
pub fn faults(lacking: &[Lacking], causes: &[CauseRule], is_whole: bool) -> Vec<String> {
    let without = lacking.iter().filter(|it| it.cause.is_none());
    let without = without.map(|it| {
        format!(
            "{} {} {} is lacking: add it to specs/{}/group.toml, or say why not in {FILE}",
            it.group,
            it.kind,
            it.version,
            short(&it.group)
        )
    });
    let is_unused = |rule: &&CauseRule| is_whole && !lacking.iter().any(|it| rule.fits(it));
    let unused = causes.iter().filter(is_unused).map(|rule| {
        format!(
            "nothing of {} {} {} is lacking: remove that from {FILE}",
            rule.group, rule.kind, rule.version
        )
    });
    without.chain(unused).collect()
}

/// Kinds that are lacking, each with its versions, by group.
pub fn by_group<'l>(
    lacking: impl IntoIterator<Item = &'l Lacking>,
) -> BTreeMap<&'l str, Vec<&'l Lacking>> {
    let mut groups = BTreeMap::<&str, Vec<&Lacking>>::new();
    for it in lacking {
        groups.entry(short(&it.group)).or_default().push(it);
    }
    groups
}

/// What is lacking in words: kinds, and versions where we have others of the kind.
pub fn names(lacking: &[&Lacking]) -> String {
    let mut kinds = BTreeMap::<&str, Vec<&str>>::new();
    for it in lacking {
        let versions = kinds.entry(&it.kind).or_default();
        if !it.is_whole_kind {
            versions.push(&it.version);
        }
    }
    let name = |(kind, versions): (&str, Vec<&str>)| match versions.is_empty() {
        true => kind.to_owned(),
        false => format!("{kind} {}", versions.join(" ")),
    };
    kinds.into_iter().map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::schema::Version;

    fn crds(group: &str, kinds: &[(&str, &[&str], &[&str])]) -> Crds {
        let kind = |(kind, versions, paths): &(&str, &[&str], &[&str])| {
            let paths = paths.iter();
            let version = Version {
                paths: paths
                    .map(|path| ((*path).to_owned(), Default::default()))
                    .collect(),
                ..Version::default()
            };
            let versions = versions.iter();
            let versions = versions.map(|name| ((*name).to_owned(), version.clone()));
            ((*kind).to_owned(), versions.collect::<Versions>())
        };
        Crds::from([(group.to_owned(), kinds.iter().map(kind).collect())])
    }

    #[test]
    fn groups_kinds_and_versions_that_are_not_there_are_told_with_their_cause() {
        let ours = crds("a.azure.com", &[("One", &["v1"], &["spec"])]);
        let mut target = crds(
            "a.azure.com",
            &[
                ("One", &["v1", "v2"], &["spec", "status"]),
                ("Two", &["v1"], &["spec", "spec.x", "status"]),
            ],
        );
        target.extend(crds("b.azure.com", &[("Three", &["v1"], &["spec"])]));
        let toml = "[[lacking]]\ngroup = \"a\"\nkind = \"T*\"\ncause = \"not-arm\"\n\
                    [[lacking]]\ngroup = \"a\"\nversion = \"v2\"\ncause = \"no-data\"\n";
        let causes = parse(toml).unwrap();
        let found = lacking(&ours, &target, &causes);
        let told = |it: &Lacking| {
            (
                it.kind.clone(),
                it.version.clone(),
                it.spec,
                it.status,
                it.cause,
            )
        };
        let told = found.iter().map(told).collect::<Vec<_>>();
        let row = |kind: &str, version: &str, spec, status, cause| {
            (kind.to_owned(), version.to_owned(), spec, status, cause)
        };
        assert_eq!(
            told,
            [
                row("One", "v2", 1, 1, Some(Cause::NoData)),
                row("Two", "v1", 2, 1, Some(Cause::NotArm)),
                row("Three", "v1", 1, 0, None),
            ]
        );
        assert_eq!(names(&by_group(&found)["a"]), "One v2, Two");
        let faults = |target: &Crds, is_whole| {
            super::faults(&lacking(&ours, target, &causes), &causes, is_whole)
        };
        let [fault] = &faults(&target, true)[..] else {
            panic!("{:?}", faults(&target, true));
        };
        assert!(
            fault.starts_with("b.azure.com Three v1 is lacking: add it"),
            "{fault}"
        );
        assert_eq!(faults(&ours, true).len(), 2);
        assert_eq!(faults(&ours, false).len(), 0);
    }
}
