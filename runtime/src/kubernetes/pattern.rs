//! Which kinds to install: `--crd-pattern` (ASO behaviour §5.3).

use std::fmt;
use std::str::FromStr;

use crate::kind::KindInfo;

/// Globs over `group/Kind`, joined by `;`, without regard to case: `resources.azure.com/*;network.azure.com/*`.
/// `*` stands for any text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrdPattern {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    group: String,
    kind: String,
}

/// Why a pattern cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Not of the form `group/Kind`.
    #[error(
        "`{part}` in the CRD pattern is not of the form group/Kind, for example storage.azure.com/*"
    )]
    Form {
        /// The part.
        part: String,
    },
    /// No kind matches.
    #[error("`{part}` in the CRD pattern matches no kind{}", suggest(.nearest.as_deref()))]
    NoMatch {
        /// The part.
        part: String,
        /// A pattern that would match.
        nearest: Option<String>,
    },
}

fn suggest(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| {
        format!("; did you mean `{nearest}`?")
    })
}

impl FromStr for CrdPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        text.split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(Part::parse)
            .collect::<Result<_, _>>()
            .map(|parts| Self { parts })
    }
}

impl CrdPattern {
    /// Whether the pattern names nothing, as when the flag is absent.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The kinds that match, in the order of `kinds`. A part that matches none is an error.
    pub fn select(
        &self,
        kinds: &[&'static KindInfo],
    ) -> Result<Vec<&'static KindInfo>, PatternError> {
        let names: Vec<(&str, &str)> = kinds.iter().map(|kind| (kind.group, kind.kind)).collect();
        for part in &self.parts {
            if !names.iter().any(|(group, kind)| part.matches(group, kind)) {
                return Err(PatternError::NoMatch {
                    part: part.to_string(),
                    nearest: part.nearest(&names),
                });
            }
        }
        let chosen = |kind: &&&'static KindInfo| {
            self.parts
                .iter()
                .any(|part| part.matches(kind.group, kind.kind))
        };
        Ok(kinds.iter().filter(chosen).copied().collect())
    }
}

impl Part {
    fn parse(text: &str) -> Result<Self, PatternError> {
        match text.split_once('/') {
            Some((group, kind)) if !group.is_empty() && !kind.is_empty() && !kind.contains('/') => {
                Ok(Self {
                    group: group.to_owned(),
                    kind: kind.to_owned(),
                })
            }
            _ => Err(PatternError::Form {
                part: text.to_owned(),
            }),
        }
    }

    fn matches(&self, group: &str, kind: &str) -> bool {
        glob(&self.group, group) && glob(&self.kind, kind)
    }

    /// The pattern with its wrong half replaced by the name most like it.
    fn nearest(&self, names: &[(&str, &str)]) -> Option<String> {
        let in_group: Vec<&str> = names
            .iter()
            .filter(|(group, _)| glob(&self.group, group))
            .map(|(_, kind)| *kind)
            .collect();
        if !in_group.is_empty() {
            return most_like(&self.kind, in_group).map(|kind| format!("{}/{kind}", self.group));
        }
        let groups = names.iter().map(|(group, _)| *group).collect();
        most_like(&self.group, groups).map(|group| format!("{group}/{}", self.kind))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.group, self.kind)
    }
}

fn most_like<'a>(text: &str, candidates: Vec<&'a str>) -> Option<&'a str> {
    let text = text.to_ascii_lowercase();
    candidates
        .into_iter()
        .min_by_key(|candidate| strsim::levenshtein(&text, &candidate.to_ascii_lowercase()))
}

/// Matches `*` as any text, letters without regard to case.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_ascii_lowercase(), text.to_ascii_lowercase());
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        let cases = [
            ("*", "Anything", true),
            ("storageaccount", "StorageAccount", true),
            ("storageaccount", "StorageAccounts", false),
            ("Storage*", "StorageAccountsBlobService", true),
            ("*Service", "StorageAccountsBlobService", true),
            ("S*s*Service", "StorageAccountsBlobService", true),
            ("S*x*Service", "StorageAccountsBlobService", false),
            ("a*a", "a", false),
            ("", "a", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(glob(pattern, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn parts_need_group_and_kind() {
        let pattern: CrdPattern = " a/*; B/c ;".parse().unwrap();
        assert_eq!(pattern.parts.len(), 2);
        let error = "storage.azure.com".parse::<CrdPattern>().unwrap_err();
        assert!(error.to_string().contains("not of the form group/Kind"));
        assert!("".parse::<CrdPattern>().unwrap().is_empty());
    }

    #[test]
    fn suggestions_name_the_wrong_half() {
        let names = [
            ("storage.azure.com", "StorageAccount"),
            ("network.azure.com", "VirtualNetwork"),
        ];
        let nearest = |text: &str| Part::parse(text).unwrap().nearest(&names);
        assert_eq!(
            nearest("storge.azure.com/*").as_deref(),
            Some("storage.azure.com/*")
        );
        assert_eq!(
            nearest("network.azure.com/VirtualNetwrok").as_deref(),
            Some("network.azure.com/VirtualNetwork")
        );
    }
}
