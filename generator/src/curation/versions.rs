//! Lists of api-versions.

use toml::Spanned;

use crate::model::ApiVersion;

/// What follows the first api-version of an open range.
const AND_LATER: &str = "..";

/// Whether a list names an api-version, or has a range that it is in.
pub(crate) fn covers(versions: &[Spanned<String>], version: &ApiVersion) -> bool {
    versions.iter().any(|item| {
        let named = ApiVersion::new(version_named(item.get_ref()));
        let is_range = item.get_ref().ends_with(AND_LATER);
        *version == named || is_range && *version > named
    })
}

/// The api-version that an item of a list names, be it a range.
pub(crate) fn version_named(item: &str) -> &str {
    item.strip_suffix(AND_LATER).unwrap_or(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_versions_may_end_with_an_open_range() {
        let list = ["2020-01-01", "2022-01-01.."];
        let list = list.map(|item| Spanned::new(0..0, item.to_owned()));
        for (version, expected) in [
            ("2019-01-01", false),
            ("2020-01-01", true),
            ("2021-01-01", false),
            ("2022-01-01-preview", false),
            ("2022-01-01", true),
            ("2031-01-01-preview", true),
        ] {
            assert_eq!(
                covers(&list, &ApiVersion::new(version)),
                expected,
                "{version}"
            );
        }
    }
}
