//! Tests wait by one limit, which is against hanging only: a machine that does something else too is slow, and not broken.
//!
//! What this finds are limits: a comparison with the time that has passed, a timeout, and a constant that is named as a limit.
//! "At least" may be asserted: no machine is too slow for it. Where a test holds the clock, all of these are sharp.

use crate::text::code;
use crate::tree::{Tree, is_test_file};

/// Where the one limit is, and how to wait by it.
const HOME: &str = "tests/controlplane/src/waiting.rs";

/// Its name.
const LIMIT: &str = "LIMIT";

/// Crates whose code is support for tests.
const SUPPORT: [&str; 4] = [
    "tests/conformance/",
    "tests/controlplane/",
    "tests/e2e/",
    "tests/exposure/",
];

/// Files whose limits are what they are about: programs that are downloaded, by whoever is offline most often, and a grace
/// that the caller names.
const OTHERS: [&str; 2] = [
    "tests/controlplane/src/binaries/download.rs",
    "tests/controlplane/src/process.rs",
];

/// What says that a test holds the clock.
const CLOCK: [&str; 2] = ["start_paused = true", "time::pause()"];

/// Limits in tests and in what supports them.
pub fn check(tree: &Tree) -> Vec<String> {
    let concerned = tree.handwritten().filter(|(path, _)| {
        let is_support = SUPPORT.iter().any(|folder| path.starts_with(folder));
        *path != HOME && !OTHERS.contains(path) && (is_support || is_test_file(path))
    });
    let mut found = Vec::new();
    for (path, text) in concerned {
        if CLOCK.iter().any(|held| text.contains(held)) {
            continue;
        }
        let code = code(text);
        found.extend(limits(&code).map(|(line, what)| {
            format!(
                "{path}:{line}: {what}, which a busy machine passes without being broken. Wait by `until`, `until_ok` or \
                 `until_ended` of {HOME}; what happens soon, late or never is told by counting requests or events, or by a \
                 clock that the test holds."
            )
        }));
    }
    found
}

/// Lines with a limit, and what it is.
fn limits(code: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let mut at = 0;
    let lines = code.split_inclusive('\n').enumerate();
    lines.filter_map(move |(number, line)| {
        let rest = &code[at..];
        at += line.len();
        let what = if is_compared(line) {
            "a time is compared"
        } else if is_constant(line) {
            "a limit of its own"
        } else if is_timeout(line, rest) {
            "a timeout of its own"
        } else {
            return None;
        };
        Some((number + 1, what))
    })
}

/// Whether time that has passed is asked to be less than anything but the one limit.
fn is_compared(line: &str) -> bool {
    let is_less = |(at, found): (usize, &str)| {
        let after = &line[at + found.len()..];
        // What it is compared as: `.as_secs()`, `.as_millis()`.
        let number = after.strip_prefix(".as_");
        let after = number
            .and_then(|it| Some(it.split_once("()")?.1))
            .unwrap_or(after)
            .trim_start();
        let bound = after.trim_start_matches(['<', '>', '=']).trim_start();
        let is_below = after.starts_with('<');
        let is_above = after.starts_with('>') && !after.starts_with(">=");
        (is_below || is_above) && !bound.starts_with(LIMIT)
    };
    line.contains("< Duration::from_") || line.match_indices("elapsed()").any(is_less)
}

/// Whether a constant is named as a limit.
fn is_constant(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches("pub ");
    let constant = line.strip_prefix("const ");
    let constant = constant.and_then(|it| it.split_once(": Duration ="));
    let words = ["LIMIT", "TIMEOUT", "DEADLINE"];
    constant.is_some_and(|(name, value)| {
        words.iter().any(|word| name.contains(word)) && !value.contains(LIMIT)
    })
}

/// Whether a timeout is called with anything but the one limit; `rest` begins with the line.
fn is_timeout(line: &str, rest: &str) -> bool {
    let call = ["timeout(", "timeout_at("];
    let Some(at) = call.iter().find_map(|call| line.find(call)) else {
        return false;
    };
    let (_, arguments) = rest[at..].split_once('(').unwrap_or_default();
    let first = arguments.split([',', ')']).next().unwrap_or_default();
    !line[..at].contains("fn ") && !first.trim().ends_with(LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn limits_in_tests_are_told() {
        for text in [
            "while started.elapsed() < limit {}",
            "assert!(started.elapsed() < Duration::from_secs(60), \"late\");",
            "if started.elapsed().as_secs() > 60 {}",
            "assert!(took < Duration::from_secs(20), \"{took:?}\");",
            "Err(error) if started.elapsed() > self.limit => {}",
            "const LIMIT: Duration = Duration::from_secs(60);",
            "pub const READY_TIMEOUT: Duration = Duration::from_secs(60);",
            "tokio::time::timeout(Duration::from_secs(1), ended).await",
            "let read = timeout(\n    Duration::from_secs(1),\n    line);",
            "timeout_at(end, answer).await",
            "receiver.recv_timeout(Duration::from_secs(1))",
        ] {
            assert_eq!(found("a/tests/b.rs", text), 1, "{text}");
            assert_eq!(found("a/src/b/tests.rs", text), 1, "{text}");
            assert_eq!(found("tests/e2e/src/b.rs", text), 1, "{text}");
            assert_eq!(found("a/src/b.rs", text), 0, "{text}");
            assert_eq!(found(HOME, text), 0, "{text}");
        }
        let told = check(&Tree::of(&[("a/tests/b.rs", "\n\nx.elapsed() < y")]));
        assert!(told[0].starts_with("a/tests/b.rs:3: a time is compared"));
    }

    #[test]
    fn what_no_machine_is_too_slow_for_is_not() {
        for text in [
            "tokio::time::timeout(LIMIT, ended).await",
            "if started.elapsed() > LIMIT {}",
            "tokio::time::timeout(\n    waiting::LIMIT,\n    ended,\n)",
            "assert!(started.elapsed() >= Duration::from_millis(120));",
            "println!(\"{:?}\", started.elapsed());",
            "// started.elapsed() < LIMIT\nlet text = \"timeout(1)\";",
            "const POLL: Duration = Duration::from_secs(1);",
            "#[tokio::test(start_paused = true)]\nasync fn a() { assert!(x.elapsed() < y) }",
        ] {
            assert_eq!(found("a/tests/b.rs", text), 0, "{text}");
        }
    }
}
