//! One module of the command depends on the operating system, so that the rest can be built for any.
//!
//! What counts is code and strings of everything that the command is made of, tests left out: people run these where the operator
//! runs. Comments may say what they like.

use crate::text::{Kind, code, pieces};
use crate::workspace::Workspace;

/// Where it may be named.
const HOME: &str = "operator/src/platform.rs";

/// Folders of crates that the command is made of.
const COMMAND: [&str; 3] = ["customizations/src/", "operator/src/", "runtime/"];

/// What names an operating system, at the begin of a word.
const NAMES: [&str; 14] = [
    "os::fd",
    "os::linux",
    "os::unix",
    "os::windows",
    "signal::unix",
    "signal::windows",
    "libc::",
    "nix::",
    // A crate that is there on Unix alone.
    "pprof::",
    "rustix::",
    "cfg(unix",
    "cfg(windows",
    "target_family",
    "target_os",
];

/// What paths begin with that not every system has.
const PATHS: [&str; 3] = ["/dev/", "/proc/", "/sys/"];

/// Places that depend on the system elsewhere.
pub fn check(workspace: &Workspace) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in workspace.tree.handwritten() {
        let is_of_command = COMMAND.iter().any(|folder| path.starts_with(folder));
        if !is_of_command || path == HOME || !workspace.is_reached(path) {
            continue;
        }
        let source = workspace.sources.get(path);
        let counts = |line| source.is_none_or(|source| !source.is_test_line(line));
        let names = named(text).filter(|(line, _)| counts(*line));
        found.extend(names.map(|(line, name)| {
            format!(
                "{path}:{line}: `{name}` is not there on every system. Put it behind a function of {HOME}, which has one for the \
                 others, too."
            )
        }));
    }
    found
}

/// Lines that name a system, and what they name.
fn named(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let code = code(text);
    let mut found = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut names = NAMES.iter().filter(|name| begins_word(line, name));
        found.extend(names.next().map(|name| (index + 1, *name)));
    }
    let texts = pieces(text).into_iter();
    let texts = texts.filter(|piece| piece.kind == Kind::Text);
    found.extend(texts.filter_map(|piece| {
        let mut paths = PATHS.iter();
        let path = paths.find(|path| piece.text.starts_with(**path))?;
        Some((piece.line, *path))
    }));
    found.into_iter()
}

/// Whether the name stands in the line at the begin of a word.
fn begins_word(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Known;
    use crate::tree::Tree;

    fn told(files: &[(&str, &str)]) -> Vec<String> {
        let manifest = "[package]\nname = \"armature\"\n";
        let root = "[workspace]\nmembers = [\"operator\"]\n";
        let mut all = vec![
            ("Cargo.toml", root),
            ("operator/Cargo.toml", manifest),
            ("operator/src/lib.rs", "mod a;\nmod platform;\n"),
        ];
        all.extend(files);
        let workspace = Workspace::of(Tree::of(&all), Known::default()).unwrap();
        let found = check(&workspace);
        found
            .iter()
            .map(|line| line.split(". Put").next().unwrap_or_default().to_owned())
            .collect()
    }

    #[test]
    fn what_depends_on_the_system_is_found_wherever_it_is() {
        let of = |text| told(&[("operator/src/a.rs", text)]);
        for (text, name) in [
            ("use std::os::unix::fs::PermissionsExt;", "os::unix"),
            ("use std::{fs, os::unix::fs::MetadataExt};", "os::unix"),
            ("use tokio::signal::unix::signal;", "signal::unix"),
            ("fn f() { unsafe { libc::getpid(); } }", "libc::"),
            ("use nix::unistd::getpid;", "nix::"),
            ("use pprof::ProfilerGuard;", "pprof::"),
            ("#[cfg(unix)]\nfn f() {}", "cfg(unix"),
            ("#[cfg(target_os = \"linux\")]\nfn f() {}", "target_os"),
            ("fn f() { read(\"/proc/self/status\") }", "/proc/"),
        ] {
            let expected = format!("operator/src/a.rs:1: `{name}` is not there on every system");
            assert_eq!(of(text), [expected], "{text}");
        }
    }

    #[test]
    fn comments_tests_other_words_and_the_one_module_may_name_it() {
        let module = (
            "operator/src/platform.rs",
            "use std::os::unix::fs::MetadataExt;",
        );
        for text in [
            "// std::os::unix and /proc/self/status\n",
            "#[cfg(test)]\nmod tests {\n    use std::os::unix::fs::symlink;\n    const P: &str = \"/dev/zero\";\n}\n",
            "use crate::unix::x;\nconst P: &str = \"providers/dev/\";\n",
            "use crate::os_unix;\n",
        ] {
            let found = told(&[("operator/src/a.rs", text), module]);
            assert_eq!(found, Vec::<String>::new(), "{text}");
        }
    }
}
