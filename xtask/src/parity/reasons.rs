//! The reviewed reasons of differences: `reasons.toml`, and what they explain.

use anyhow::Context;
use serde::Deserialize;

use super::compare::{Aspect, Compared, Finding};

/// Why differences of one sort are as they are. `*` in a pattern stands for any text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// What differs.
    pub aspect: Aspect,
    /// Pattern of `group/Kind`.
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

/// Reads the file.
pub fn parse(toml: &str) -> anyhow::Result<Vec<Reason>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(default)]
        reason: Vec<Reason>,
    }
    let file: File = toml::from_str(toml).context("the reasons of differences")?;
    Ok(file.reason)
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

impl Explanation<'_> {
    /// The reasons that explain nothing.
    pub fn unused(&self) -> impl Iterator<Item = &Reason> {
        let unused = self.reasons.iter().filter(|(_, places)| places.is_empty());
        unused.map(|(reason, _)| *reason)
    }
}

impl Reason {
    fn fits(&self, version: &Compared, finding: &Finding) -> bool {
        let kind = format!("{}/{}", version.group, version.kind);
        self.aspect == finding.aspect
            && fits(&self.kind, &kind)
            && fits(&self.version, &version.version)
            && fits(&self.path, &finding.path)
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
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => text.strip_prefix(head).is_some_and(|text| {
            let mut starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            starts.any(|at| fits(rest, &text[at..]))
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
            assert_eq!(fits(pattern, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn each_difference_has_one_reason_and_what_is_left_on_either_side_is_told() {
        let reasons = parse(
            r#"
            [[reason]]
            aspect = "extra"
            path = "status.*"
            because = "Azure says so"
            [[reason]]
            aspect = "extra"
            kind = "a.azure.com/Other"
            because = "never"
            "#,
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
        let unused: Vec<String> = explanation.unused().map(ToString::to_string).collect();
        assert_eq!(
            unused,
            ["Extra of kind a.azure.com/Other, version *, path *"]
        );
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        let error = parse("[[reason]]\naspect = \"extra\"\nwhy = \"\"\nbecause = \"\"");
        let error = format!("{:#}", error.unwrap_err());
        assert!(error.contains("unknown field `why`"), "{error}");
    }
}
