//! Labels that users want on CRDs, as they write them: `team=platform,stage=live`.

use std::collections::BTreeMap;
use std::str::FromStr;

/// Domains whose labels are not the user's to set: Kubernetes' and those of operators for these CRDs.
const RESERVED: [&str; 4] = [
    "kubernetes.io",
    "k8s.io",
    "serviceoperator.azure.com",
    "armature.azure.com",
];

/// Longest name and value of a label (Kubernetes API conventions).
const LIMIT: usize = 63;

/// Labels for CRDs, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrdLabels(pub BTreeMap<String, String>);

/// Labels that Kubernetes or we cannot accept.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelsError {
    /// Not `name=value`.
    #[error("`{0}` is no label; expected name=value, several separated by commas or semicolons")]
    Form(String),
    /// Characters or length.
    #[error(
        "`{0}` cannot be part of a label; expected at most 63 letters, digits, `-`, `_` and `.`, with a letter or \
         digit at both ends"
    )]
    Part(String),
    /// The prefix belongs to somebody else.
    #[error("label `{name}` cannot be set: labels of {domain} are reserved")]
    Reserved {
        /// The whole name.
        name: String,
        /// Whose it is.
        domain: &'static str,
    },
}

impl FromStr for CrdLabels {
    type Err = LabelsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split([',', ';']).map(str::trim);
        parts
            .filter(|part| !part.is_empty())
            .map(label)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn label(text: &str) -> Result<(String, String), LabelsError> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| LabelsError::Form(text.to_owned()))?;
    let (prefix, short) = name.rsplit_once('/').unwrap_or(("", name));
    if let Some(domain) = RESERVED
        .into_iter()
        .find(|domain| is_within(prefix, domain))
    {
        return Err(LabelsError::Reserved {
            name: name.to_owned(),
            domain,
        });
    }
    // A prefix is a DNS subdomain: up to four times as long, of parts that are no longer than a label.
    let prefix_parts = prefix.split('.').filter(|_| !prefix.is_empty());
    for part in prefix_parts.chain([short]) {
        if !is_part(part) {
            return Err(LabelsError::Part(part.to_owned()));
        }
    }
    if !value.is_empty() && !is_part(value) {
        return Err(LabelsError::Part(value.to_owned()));
    }
    Ok((name.to_owned(), value.to_owned()))
}

fn is_within(prefix: &str, domain: &str) -> bool {
    let outer = prefix.strip_suffix(domain);
    outer.is_some_and(|outer| outer.is_empty() || outer.ends_with('.'))
}

fn is_part(text: &str) -> bool {
    let inner = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let outer = |character: Option<char>| character.is_some_and(|c| c.is_ascii_alphanumeric());
    text.len() <= LIMIT
        && text.chars().all(inner)
        && outer(text.chars().next())
        && outer(text.chars().next_back())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_and_checked() {
        let labels: CrdLabels = "team=platform, example.com/stage=live,empty="
            .parse()
            .unwrap();
        let expected = [
            ("empty", ""),
            ("example.com/stage", "live"),
            ("team", "platform"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(labels.0, BTreeMap::from(expected));
        assert_eq!("".parse(), Ok(CrdLabels::default()));
        for wrong in ["team", "=x", "team=a b", "-a=b", "a=b-", "a b/c=d"] {
            assert!(wrong.parse::<CrdLabels>().is_err(), "{wrong}");
        }
        for reserved in [
            "app.kubernetes.io/name=x",
            "kubernetes.io/a=b",
            "serviceoperator.azure.com/a=b",
        ] {
            let error = reserved.parse::<CrdLabels>().unwrap_err();
            assert!(matches!(error, LabelsError::Reserved { .. }), "{error}");
        }
        // Azure Service Operator takes either.
        let (commas, semicolons) = ("a=b,c=d", "a=b; c=d");
        assert_eq!(
            commas.parse::<CrdLabels>().unwrap().0,
            semicolons.parse::<CrdLabels>().unwrap().0
        );
        assert!("notkubernetes.io/a=b".parse::<CrdLabels>().is_ok());
    }
}
