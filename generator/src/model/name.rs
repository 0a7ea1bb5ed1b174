//! Names: api-versions and type names.

use std::fmt;

/// An ARM api-version such as `2023-05-01` or `2023-05-01-preview`.
///
/// Orders by date, a preview before the stable version of the same day.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ApiVersion(String);

impl ApiVersion {
    /// Takes the text as it stands in the spec.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text as ARM takes it: `2023-05-01-preview`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is a preview (anything after the date).
    pub fn is_preview(&self) -> bool {
        self.0.len() > "2023-05-01".len()
    }

    /// The text without dashes: `20230501preview` (ASO behaviour §3.1).
    pub fn compact(&self) -> String {
        self.0.replace('-', "")
    }

    fn sort_key(&self) -> (&str, bool, &str) {
        let date = self.0.get(..10).unwrap_or(&self.0);
        (date, !self.is_preview(), &self.0)
    }
}

impl Ord for ApiVersion {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.sort_key().cmp(&other.sort_key())
    }
}

impl PartialOrd for ApiVersion {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Name of a type in Rust; upper camel case, a valid identifier.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeName(String);

impl TypeName {
    /// Takes a name that is already in the right form.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::ApiVersion;

    #[test]
    fn previews_sort_before_the_stable_version_of_their_day() {
        let mut versions = [
            "2023-05-01",
            "2022-01-31-preview",
            "2023-05-01-preview",
            "2021-04-01",
        ]
        .map(ApiVersion::new);
        versions.sort();
        let texts = versions.iter().map(ApiVersion::as_str).collect::<Vec<_>>();
        assert_eq!(
            texts,
            [
                "2021-04-01",
                "2022-01-31-preview",
                "2023-05-01-preview",
                "2023-05-01"
            ]
        );
    }
}
