//! The reviewed reasons of differences, `specs/<group>/exceptions.toml` and for all groups `specs/exceptions.toml`, and what they
//! explain.

use std::collections::BTreeSet;

use anyhow::Context;
use camino::Utf8Path;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::compare::{Aspect, Compared, Finding};
use crate::workspace;

/// The file of a group's reasons, relative to its folder, and of those for all groups, relative to the folder of all.
const FILE: &str = "exceptions.toml";

/// Why differences of one sort are as they are. `*` in a pattern stands for any text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// File that it stands in, relative to the workspace.
    #[serde(skip)]
    pub file: String,
    /// Short name of the group that it is for; all when absent.
    #[serde(skip)]
    pub group: Option<String>,
    /// What differs.
    pub aspect: Aspect,
    /// Pattern of the kind.
    #[serde(default = "anything")]
    pub kind: String,
    /// Pattern of the version.
    #[serde(default = "anything")]
    pub version: String,
    /// Pattern of the path; a whole version has none.
    #[serde(default = "anything")]
    pub path: String,
    /// The reason, in one sentence.
    pub because: String,
}

fn anything() -> String {
    "*".to_owned()
}

/// A finding and the version that it is of.
pub type Place<'a> = (&'a Compared, &'a Finding);

/// Differences by reason.
#[derive(Debug, Default)]
pub struct Explanation<'a> {
    /// Each reason with what it explains; only the first that fits a difference counts.
    pub reasons: Vec<(&'a Reason, Vec<Place<'a>>)>,
    /// What no reason fits.
    pub unexplained: Vec<Place<'a>>,
}

/// The file that has the reasons of a group, relative to the workspace.
pub fn file_of(group: &str) -> String {
    format!("specs/{}/{FILE}", short(group))
}

/// Short name of an API group, which is that of its folder: `kusto`.
pub fn short(group: &str) -> &str {
    group.strip_suffix(".azure.com").unwrap_or(group)
}

/// Reads the reasons of all groups in the workspace at `root`, those of a group before those for all.
pub fn read(root: &Utf8Path) -> anyhow::Result<Vec<Reason>> {
    let mut reasons = Vec::new();
    let mut for_all = Vec::new();
    for file in workspace::files_below(&root.join("specs"))? {
        if file.file_name() != Some(FILE) {
            continue;
        }
        let path = Utf8Path::new("specs").join(&file);
        let group = file.parent().filter(|group| !group.as_str().is_empty());
        let text = workspace::read(&root.join(&path))?;
        let parsed = parse(&text, path.as_str(), group.map(Utf8Path::as_str));
        let parsed = parsed.context(path)?;
        match group {
            Some(_) => reasons.extend(parsed),
            None => for_all.extend(parsed),
        }
    }
    reasons.extend(for_all);
    Ok(reasons)
}

/// Reads a file of a group, or the one for all groups.
pub fn parse(toml: &str, path: &str, group: Option<&str>) -> anyhow::Result<Vec<Reason>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(default)]
        parity: Vec<Reason>,
        // What tests of recordings and samples read.
        #[serde(default, rename = "conformance")]
        _conformance: IgnoredAny,
        #[serde(default, rename = "replay")]
        _replay: IgnoredAny,
        #[serde(default, rename = "samples")]
        _samples: IgnoredAny,
        #[serde(default, rename = "import")]
        _import: IgnoredAny,
    }
    let file: File = toml::from_str(toml).context("the reasons of differences")?;
    let reasons = file.parity.into_iter().map(|reason| Reason {
        file: path.to_owned(),
        group: group.map(str::to_owned),
        ..reason
    });
    Ok(reasons.collect())
}

/// Finds the reason of each difference.
pub fn explain<'a>(reasons: &'a [Reason], compared: &'a [Compared]) -> Explanation<'a> {
    let mut explanation = Explanation {
        reasons: reasons.iter().map(|reason| (reason, Vec::new())).collect(),
        unexplained: Vec::new(),
    };
    for version in compared {
        for finding in &version.findings {
            let fitting = explanation
                .reasons
                .iter_mut()
                .find(|(reason, _)| reason.fits(version, finding));
            match fitting {
                Some((_, places)) => places.push((version, finding)),
                None => explanation.unexplained.push((version, finding)),
            }
        }
    }
    explanation
}

impl<'a> Explanation<'a> {
    /// What the reasons of a group explain, for those that explain something.
    pub fn of_group(&self, group: &str) -> Vec<&(&'a Reason, Vec<Place<'a>>)> {
        let own = |reason: &Reason| reason.group.as_deref() == Some(group);
        let reasons = self.reasons.iter();
        reasons.filter(|(reason, _)| own(reason)).collect()
    }

    /// What the reasons for all groups explain.
    pub fn for_all(&self) -> impl Iterator<Item = &(&'a Reason, Vec<Place<'a>>)> {
        self.reasons
            .iter()
            .filter(|(reason, _)| reason.group.is_none())
    }

    /// The reasons that explain nothing, of those that had to: of groups in `compared`, and with `is_whole` also those
    /// for all groups.
    pub fn unused(&self, compared: &[Compared], is_whole: bool) -> Vec<&Reason> {
        let groups: BTreeSet<&str> = compared.iter().map(|one| short(&one.group)).collect();
        let had_to = |reason: &Reason| match &reason.group {
            Some(group) => is_whole || groups.contains(group.as_str()),
            None => is_whole,
        };
        let unused = self.reasons.iter().filter(|(_, places)| places.is_empty());
        let unused = unused.map(|(reason, _)| *reason);
        unused.filter(|reason| had_to(reason)).collect()
    }
}

impl Reason {
    fn fits(&self, version: &Compared, finding: &Finding) -> bool {
        let group = self.group.as_deref();
        self.aspect == finding.aspect
            && group.is_none_or(|group| group == short(&version.group))
            && is_like(&self.kind, &version.kind)
            && is_like(&self.version, &version.version)
            && is_like(&self.path, &finding.path)
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?} of kind {}, version {}, path {}",
            self.aspect, self.kind, self.version, self.path
        )
    }
}

/// Whether a text is as the pattern says, in which `*` stands for any text.
pub fn is_like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => text.strip_prefix(head).is_some_and(|text| {
            let mut starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            starts.any(|at| is_like(rest, &text[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::compare::{Counts, Presence};

    fn compared(findings: &[(Aspect, &str)]) -> Vec<Compared> {
        let finding = |(aspect, path): &(Aspect, &str)| Finding {
            aspect: *aspect,
            path: (*path).to_owned(),
            what: "differs".to_owned(),
        };
        vec![Compared {
            group: "a.azure.com".into(),
            kind: "Thing".into(),
            version: "v1".into(),
            presence: Presence::Both,
            spec: Counts::default(),
            status: Counts::default(),
            findings: findings.iter().map(finding).collect(),
        }]
    }

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "status.a", true),
            ("status.*", "status.a", true),
            ("status.*", "spec.a", false),
            ("*.id", "status.a.id", true),
            ("*.id", "status.id.a", false),
            ("status.*[].*", "status.list[].a", true),
            ("status", "status.a", false),
        ] {
            assert_eq!(is_like(pattern, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn each_difference_has_one_reason_and_what_is_left_on_either_side_is_told() {
        let reasons = parse(
            r#"
            [[parity]]
            aspect = "extra"
            path = "status.*"
            because = "Azure says so"
            [[parity]]
            aspect = "extra"
            kind = "Other"
            because = "never"
            "#,
            "specs/a/exceptions.toml",
            Some("a"),
        )
        .unwrap();
        let compared = compared(&[
            (Aspect::Extra, "status.a"),
            (Aspect::Extra, "spec.a"),
            (Aspect::Missing, "status.a"),
        ]);
        let explanation = explain(&reasons, &compared);
        assert_eq!(explanation.reasons[0].1.len(), 1);
        let paths = explanation.unexplained.iter();
        let paths: Vec<_> = paths.map(|(_, finding)| finding.path.as_str()).collect();
        assert_eq!(paths, ["spec.a", "status.a"]);
        let unused = explanation.unused(&compared, false);
        let unused: Vec<String> = unused.into_iter().map(ToString::to_string).collect();
        assert_eq!(unused, ["Extra of kind Other, version *, path *"]);
    }

    #[test]
    fn a_reason_is_for_its_group_alone_and_missed_where_that_is_compared() {
        let reason = |group| {
            let toml = "[[parity]]\naspect = \"extra\"\nbecause = \"so\"";
            parse(toml, "specs/exceptions.toml", group).unwrap()
        };
        let compared = compared(&[(Aspect::Extra, "status.a")]);
        for (group, fits, missed) in [
            (None, true, [false, false]),
            (Some("a"), true, [false, false]),
            (Some("b"), false, [false, true]),
        ] {
            let reasons = reason(group);
            let explanation = explain(&reasons, &compared);
            assert_eq!(explanation.unexplained.is_empty(), fits, "{group:?}");
            let unused = [false, true].map(|whole| explanation.unused(&compared, whole).len() == 1);
            assert_eq!(unused, missed, "{group:?}");
        }
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        let toml = "[[parity]]\naspect = \"extra\"\nwhy = \"\"\nbecause = \"\"";
        let error = parse(toml, "specs/exceptions.toml", None);
        let error = format!("{:#}", error.unwrap_err());
        assert!(error.contains("unknown field `why`"), "{error}");
    }
}
