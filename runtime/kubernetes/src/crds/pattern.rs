//! Which kinds to install, and which of their versions beside the latest: `--crd-pattern` (ASO behaviour §5.3).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use armature_shapes::kind::KindInfo;

/// Globs over `group/Kind` or `group/version/Kind`, joined by `;`, without regard to case:
/// `resources.azure.com/*;network.azure.com/v1api20240301/*`. `*` stands for any text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrdPattern {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    group: String,
    version: Option<String>,
    kind: String,
}

/// Why a pattern cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Not of the form `group/Kind` or `group/version/Kind`.
    #[error(
        "`{part}` in the CRD pattern is not of the form group/Kind or group/version/Kind, for example \
         resources.azure.com/* or resources.azure.com/v1api20200601/ResourceGroup"
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
        for part in &self.parts {
            if !kinds.iter().any(|kind| part.matches(kind)) {
                return Err(PatternError::NoMatch {
                    part: part.to_string(),
                    nearest: part.nearest(kinds).map(|nearest| nearest.to_string()),
                });
            }
        }
        let named = kinds.iter().filter(|kind| self.names(kind));
        Ok(named.copied().collect())
    }

    /// Whether the pattern names a kind.
    pub fn names(&self, kind: &KindInfo) -> bool {
        self.parts.iter().any(|part| part.matches(kind))
    }

    /// The versions of a kind that the pattern names.
    pub fn versions(&self, kind: &KindInfo) -> BTreeSet<String> {
        let parts = self.parts.iter().filter(|part| part.matches(kind));
        let globs: Vec<&String> = parts.filter_map(|part| part.version.as_ref()).collect();
        let versions = kind.versions.iter().map(|version| version.name);
        versions
            .filter(|version| globs.iter().any(|pattern| glob(pattern, version)))
            .map(str::to_owned)
            .collect()
    }
}

impl Part {
    fn parse(text: &str) -> Result<Self, PatternError> {
        let pieces: Vec<&str> = text.split('/').collect();
        let (group, version, kind) = match pieces[..] {
            [group, kind] => (group, None, kind),
            [group, version, kind] => (group, Some(version), kind),
            _ => ("", None, ""),
        };
        if group.is_empty() || kind.is_empty() || version == Some("") {
            let part = text.to_owned();
            return Err(PatternError::Form { part });
        }
        Ok(Self {
            group: group.to_owned(),
            version: version.map(str::to_owned),
            kind: kind.to_owned(),
        })
    }

    fn matches(&self, kind: &KindInfo) -> bool {
        let has = |pattern: &String| {
            let mut versions = kind.versions.iter();
            versions.any(|version| glob(pattern, version.name))
        };
        glob(&self.group, kind.group)
            && glob(&self.kind, kind.kind)
            && self.version.as_ref().is_none_or(has)
    }

    /// The pattern with each wrong piece replaced by the name most like it; nothing where there is none like it.
    fn nearest(&self, kinds: &[&KindInfo]) -> Option<Self> {
        let mut nearest = self.clone();
        let in_group = || kinds.iter().filter(|kind| glob(&self.group, kind.group));
        let of_kind = || in_group().filter(|kind| glob(&self.kind, kind.kind));
        if in_group().next().is_none() {
            nearest.group = most_like(&self.group, kinds.iter().map(|kind| kind.group))?;
            if !kinds.iter().any(|kind| nearest.matches(kind)) {
                return nearest.nearest(kinds);
            }
        } else if of_kind().next().is_none() {
            nearest.kind = most_like(&self.kind, in_group().map(|kind| kind.kind))?;
        } else if let Some(version) = &self.version {
            let versions = of_kind().flat_map(|kind| kind.versions);
            nearest.version = Some(most_like(version, versions.map(|version| version.name))?);
        }
        Some(nearest)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/", self.group)?;
        if let Some(version) = &self.version {
            write!(formatter, "{version}/")?;
        }
        write!(formatter, "{}", self.kind)
    }
}

fn most_like<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let text = text.to_ascii_lowercase();
    candidates
        .min_by_key(|candidate| strsim::levenshtein(&text, &candidate.to_ascii_lowercase()))
        .map(str::to_owned)
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
    use armature_shapes::testing::gadget::MODEL;

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
        let pattern: CrdPattern = " a/*; B/v1/c ;".parse().unwrap();
        assert_eq!(pattern.parts.len(), 2);
        for wrong in ["storage.azure.com", "a//b", "a/b/c/d", "/b"] {
            let error = wrong.parse::<CrdPattern>().unwrap_err();
            assert!(error.to_string().contains("not of the form group/Kind"));
        }
        assert!("".parse::<CrdPattern>().unwrap().is_empty());
    }

    #[test]
    fn patterns_name_versions() {
        let pattern: CrdPattern = "toys.azure.com/v1api*/*".parse().unwrap();
        assert_eq!(pattern.select(&[&MODEL]).unwrap().len(), 1);
        let versions = pattern.versions(&MODEL);
        assert_eq!(
            versions.into_iter().collect::<Vec<_>>(),
            ["v1api20200101", "v1api20210101"]
        );
        let all: CrdPattern = "toys.azure.com/*".parse().unwrap();
        assert!(all.versions(&MODEL).is_empty());
    }

    #[test]
    fn suggestions_name_the_wrong_piece() {
        let rows = [
            ("tos.azure.com/*", "toys.azure.com/*"),
            ("toys.azure.com/Gadgte", "toys.azure.com/Gadget"),
            ("tos.azure.com/Gadgte", "toys.azure.com/Gadget"),
            (
                "toys.azure.com/v2api20200101/*",
                "toys.azure.com/v1api20200101/*",
            ),
        ];
        for (wrong, nearest) in rows {
            let pattern: CrdPattern = wrong.parse().unwrap();
            let error = pattern.select(&[&MODEL]).unwrap_err().to_string();
            assert!(
                error.ends_with(&format!("did you mean `{nearest}`?")),
                "{error}"
            );
        }
    }
}
