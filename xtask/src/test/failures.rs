//! What failed, read from the lines that `cargo test` and its suites print. Pure.

use std::collections::BTreeSet;
use std::fmt;

/// A suite that failed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Suite {
    /// What `cargo test` runs it alone by, such as `-p armature --test crash`; its file where cargo did not say.
    name: String,
    /// Names of its tests that failed.
    tests: BTreeSet<String>,
    /// How its process ended, as cargo says it.
    ended: Option<String>,
}

/// What the line of a test says after its name, and the list at the end of the suite does not.
const NOTES: [&str; 3] = [" - should panic", " - compile fail", " - compile"];

/// How a suite ends some of whose tests have failed.
const FAILED_TESTS: &str = "exit status: 101";

/// What has failed so far.
#[derive(Debug, Default)]
pub struct Failures {
    failed: Vec<Suite>,
    /// What does not compile.
    uncompiled: Vec<String>,
    /// The suite that runs.
    running: Suite,
    list: List,
}

/// Where in a list the lines are.
#[derive(Debug, Default, PartialEq, Eq)]
enum List {
    #[default]
    None,
    /// Names of failed tests, at the end of a suite.
    Tests,
    /// Names of failed suites, at the end of all.
    Suites,
}

impl Failures {
    /// Reads a line, as it was printed.
    pub fn read(&mut self, line: &str) {
        let line = console::strip_ansi_codes(line);
        // A bar of progress is drawn over.
        let line = line.trim_end().rsplit('\r').next().unwrap_or_default();
        if self.is_listed(line) {
            return;
        }
        self.list = List::None;
        let word = line.trim_start();
        if let Some(file) = suite_of(line) {
            self.begin(file);
        } else if line == "failures:" {
            self.list = List::Tests;
        } else if let Some(test) = failed_test(line) {
            self.running.tests.insert(test.to_owned());
        } else if let Some(name) = quoted_after(line, "error: ", "to rerun pass ") {
            self.end(name);
        } else if let Some(what) = word.strip_prefix("error: could not compile ") {
            let what = what.split(" due to ").next().unwrap_or(what);
            self.uncompiled.push(what.replace('`', ""));
        } else if let Some(how) = word.strip_prefix("process didn't exit successfully: ") {
            // After the command, in parentheses.
            let how = how.rsplit_once("` ").map_or(how, |(_, how)| how);
            if let Some(suite) = self.failed.last_mut() {
                suite.ended = Some(how.trim_matches(['(', ')']).to_owned());
            }
        } else if line.starts_with("error: ") && line.ends_with(" failed:") {
            self.list = List::Suites;
        }
    }

    /// Whether nothing failed.
    pub fn is_empty(&self) -> bool {
        self.failed.is_empty() && self.uncompiled.is_empty() && self.running.tests.is_empty()
    }

    /// Takes a line of a list; false where it is not of one.
    fn is_listed(&mut self, line: &str) -> bool {
        let Some(name) = line.strip_prefix("    ") else {
            return false;
        };
        match self.list {
            List::None => return false,
            List::Tests => drop(self.running.tests.insert(name.to_owned())),
            List::Suites => {
                let name = name.trim_matches('`');
                if self.failed.iter().all(|suite| suite.name != name) {
                    self.end(name);
                }
            }
        }
        true
    }

    /// A suite begins. One before it of which cargo said nothing failed if tests of it did.
    fn begin(&mut self, file: &str) {
        let next = Suite {
            name: file.to_owned(),
            ..Suite::default()
        };
        let last = std::mem::replace(&mut self.running, next);
        if !last.tests.is_empty() {
            self.failed.push(last);
        }
    }

    /// The running suite has failed; cargo's name of it.
    fn end(&mut self, name: &str) {
        let ended = std::mem::take(&mut self.running);
        self.failed.push(Suite {
            name: name.to_owned(),
            ..ended
        });
    }
}

/// The file or crate of a suite that begins.
fn suite_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let file = line
        .strip_prefix("Running ")
        .filter(|file| file.ends_with(')'));
    let file = file.and_then(|file| file.rsplit_once(" ("));
    file.map(|(file, _)| file)
        .or_else(|| line.strip_prefix("Doc-tests "))
}

/// The name of a test that a line says has failed.
fn failed_test(line: &str) -> Option<&str> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    let how = NOTES.iter().find_map(|note| name.strip_suffix(note));
    Some(how.unwrap_or(name))
}

/// What stands in backticks after some words of a line that begins so.
fn quoted_after<'l>(line: &'l str, start: &str, words: &str) -> Option<&'l str> {
    let (_, rest) = line.strip_prefix(start)?.split_once(words)?;
    Some(rest.trim_matches('`'))
}

impl fmt::Display for Failures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for what in &self.uncompiled {
            writeln!(formatter, "does not compile, so no test was run: {what}")?;
        }
        // Only where cargo itself was ended.
        let cut = (!self.running.tests.is_empty()).then_some(&self.running);
        for suite in self.failed.iter().chain(cut) {
            writeln!(formatter, "failed: {}", suite.name)?;
            for test in &suite.tests {
                writeln!(formatter, "    {test}")?;
            }
            let odd = suite.ended.as_ref().filter(|how| *how != FAILED_TESTS);
            if let Some(how) = odd {
                writeln!(formatter, "    its process ended by {how}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &str) -> String {
        let mut failures = Failures::default();
        for line in lines.lines() {
            failures.read(line);
        }
        assert_eq!(failures.is_empty(), failures.to_string().is_empty());
        failures.to_string()
    }

    const PASSED: &str = "
     Running unittests src/lib.rs (target/debug/deps/armature-0a1b)

running 2 tests
test a::it_works ... ok
test a::it_says_FAILED ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

";

    const FAILED: &str = "
     Running tests/operator/main.rs (target/debug/deps/operator-0a1b)

running 3 tests
test graph::a_change_is_told_of ... FAILED
test moment::apps - should panic ... FAILED
test restart::goes_on ... ok

failures:

---- graph::a_change_is_told_of stdout ----
waited 600s for the repair

failures:
    graph::a_change_is_told_of
    moment::apps

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 9.00s

error: test failed, to rerun pass `-p armature-e2e --test operator`
";

    const KILLED: &str = "
     Running tests/crash.rs (target/debug/deps/crash-0a1b)

running 1 test
error: test failed, to rerun pass `-p armature --test crash`

Caused by:
  process didn't exit successfully: `/w/target/debug/deps/crash-0a1b` (signal: 9, SIGKILL: kill)
";

    const DOCUMENTATION: &str = "
   Doc-tests armature_controlplane

running 1 test
test tests/controlplane/src/lib.rs - (line 15) - compile ... FAILED

failures:
    tests/controlplane/src/lib.rs - (line 15)

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: doctest failed, to rerun pass `-p armature-controlplane --doc`
";

    #[test]
    fn nothing_is_told_of_suites_that_pass() {
        assert_eq!(told(&PASSED.repeat(2)), "");
    }

    #[test]
    fn suites_and_tests_that_failed_are_told_once_each() {
        let all = format!(
            "{PASSED}{FAILED}{PASSED}{KILLED}{PASSED}error: 2 targets failed:\n    `-p armature-e2e --test operator`\n    \
             `-p armature --test crash`\n"
        );
        assert_eq!(
            told(&all),
            "failed: -p armature-e2e --test operator
    graph::a_change_is_told_of
    moment::apps
failed: -p armature --test crash
    its process ended by signal: 9, SIGKILL: kill
"
        );
    }

    #[test]
    fn a_suite_that_dies_after_a_failed_test_is_told_with_both() {
        let (begin, _) = FAILED.split_once("test moment").unwrap();
        let (_, end) = KILLED.split_once("running 1 test\n").unwrap();
        assert_eq!(
            told(&format!("{begin}{end}")),
            "failed: -p armature --test crash
    graph::a_change_is_told_of
    its process ended by signal: 9, SIGKILL: kill
"
        );
    }

    #[test]
    fn colours_and_bars_are_seen_through() {
        let coloured = FAILED
            .replace("FAILED", "\u{1b}[31mFAILED\u{1b}[0m")
            .replace(
                "     Running",
                "    Building [==>  ] 3/9\r\u{1b}[K\u{1b}[1m\u{1b}[92m     Running\u{1b}[0m",
            )
            .replace("error:", "\u{1b}[1m\u{1b}[91merror\u{1b}[0m:");
        assert_eq!(told(&coloured), told(FAILED));
    }

    #[test]
    fn names_are_found_where_other_output_is_in_the_way() {
        let mixed = FAILED.replace(" ... FAILED", " ... a line of the test\nFAILED");
        assert_eq!(told(&mixed), told(FAILED));
    }

    #[test]
    fn examples_in_documentation_are_tests() {
        assert_eq!(
            told(DOCUMENTATION),
            "failed: -p armature-controlplane --doc
    tests/controlplane/src/lib.rs - (line 15)
"
        );
    }

    #[test]
    fn what_does_not_compile_is_told_as_that() {
        let line = "error: could not compile `armature-e2e` (test \"operator\") due to 2 previous errors; 1 warning emitted";
        assert_eq!(
            told(line),
            "does not compile, so no test was run: armature-e2e (test \"operator\")\n"
        );
    }

    #[test]
    fn a_suite_that_only_the_list_has_is_told() {
        assert_eq!(
            told("error: 1 target failed:\n    `-p armature --test crash`\n"),
            "failed: -p armature --test crash\n"
        );
    }

    #[test]
    fn a_run_that_is_cut_off_tells_what_failed_by_then() {
        let (cut, _) = FAILED.split_once("\nfailures:").unwrap();
        assert_eq!(
            told(cut),
            "failed: tests/operator/main.rs
    graph::a_change_is_told_of
    moment::apps
"
        );
    }
}
