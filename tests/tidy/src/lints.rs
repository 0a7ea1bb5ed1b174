//! No module switches off the lints that keep panics out of what runs.

use crate::members::Member;
use crate::modules::Sources;
use crate::tree::is_test_file;

/// The lints.
const KEPT: [&str; 3] = ["clippy::unwrap_used", "clippy::expect_used", "clippy::all"];

/// Crates that only tests call. They fail as tests do.
const SUPPORT: [&str; 1] = ["tests/exposure/"];

/// Modules and crates that switch them off, and crates that do not take the workspace's.
pub fn check(members: &[Member], sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for (path, source) in sources {
        if is_test_file(path) || SUPPORT.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        for allowed in source
            .allowed
            .iter()
            .filter(|allowed| KEPT.contains(&allowed.lint.as_str()))
        {
            found.push(format!(
                "{path}:{}: `{}` is allowed for a whole module. Take it out, and return an error where something may be \
                 missing; where nothing can be, allow it at that one expression with a reason.",
                allowed.line, allowed.lint
            ));
        }
    }
    let own = members
        .iter()
        .filter(|member| !member.workspace_lints && !member.folder.starts_with("generated/"));
    found.extend(own.map(|member| {
        format!(
            "{} does not take the lints of the workspace: add `[lints]` with `workspace = true`.",
            member.manifest()
        )
    }));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    fn found(path: &str, text: &str) -> usize {
        check(
            &[],
            &[(path.to_owned(), Source::read(text).unwrap())].into(),
        )
        .len()
    }

    #[test]
    fn a_module_that_allows_unwraps_is_told() {
        assert_eq!(
            found("a/src/lib.rs", "#![allow(dead_code, clippy::unwrap_used)]"),
            1
        );
        assert_eq!(
            found("a/src/lib.rs", "#[expect(clippy::expect_used)]\nmod b;"),
            1
        );
        assert_eq!(
            found(
                "a/src/lib.rs",
                "#![cfg_attr(feature = \"x\", allow(clippy::unwrap_used))]"
            ),
            1
        );
    }

    #[test]
    fn one_function_may_and_tests_may() {
        assert_eq!(
            found("a/src/lib.rs", "#[allow(clippy::unwrap_used)]\nfn f() {}"),
            0
        );
        assert_eq!(
            found(
                "a/src/lib.rs",
                "#[cfg(test)]\n#[allow(clippy::unwrap_used)]\nmod tests;"
            ),
            0
        );
        assert_eq!(found("a/tests/all.rs", "#![allow(clippy::unwrap_used)]"), 0);
        assert_eq!(
            found(
                "a/src/lib.rs",
                "#![cfg_attr(test, allow(clippy::unwrap_used))]"
            ),
            0
        );
    }

    #[test]
    fn a_crate_with_lints_of_its_own_is_told() {
        let member = Member {
            folder: "a".to_owned(),
            name: "a".to_owned(),
            dependencies: Vec::new(),
            workspace_lints: false,
        };
        assert!(check(&[member], &Sources::new())[0].starts_with("a/Cargo.toml does not take"));
    }
}
