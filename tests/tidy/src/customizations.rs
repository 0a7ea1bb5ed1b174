//! The page about what each kind needs beyond its specs names files and tests that exist, and every file of extensions.
//!
//! In its tables the column "here" says where the thing is done, and "test" by which function of which file it is shown; a
//! section whose tables have no such column has a paragraph that begins with "Tested by". A row whose place begins with
//! "not yet" needs neither.

use crate::tree::Tree;

/// The page.
pub const PAGE: &str = "docs/customizations.md";

/// The folder of extensions, and what in it is none.
const EXTENSIONS: &str = "customizations/src/";
const NO_EXTENSIONS: [&str; 3] = ["lib.rs", "testing.rs", "mod.rs"];

/// What the page names and is not there, and files of extensions that it does not name.
pub fn check(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.text(PAGE) else {
        return vec![format!(
            "There is no {PAGE}, which says where each kind's extensions are."
        )];
    };
    let mut found = Vec::new();
    for section in sections(page) {
        found.extend(faults(tree, &section));
    }
    for (path, _) in tree.files(EXTENSIONS, ".rs") {
        let name = path.rsplit('/').next().unwrap_or(path);
        if !NO_EXTENSIONS.contains(&name) && !page.contains(&format!("`{path}`")) {
            found.push(format!(
                "{PAGE} does not name {path}. Add a row that says what it does and which test shows it."
            ));
        }
    }
    found
}

/// What stands under one heading.
#[derive(Default)]
struct Section<'p> {
    /// Rows of its tables: line, place, and test where there is a column for it.
    rows: Vec<(usize, &'p str, Option<&'p str>)>,
    /// The paragraph that begins with "Tested by", and its line.
    tested_by: Option<(usize, String)>,
}

fn sections(page: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section::default()];
    let mut columns: Option<Vec<&str>> = None;
    let mut is_paragraph = false;
    for (index, line) in page.lines().enumerate() {
        if line.starts_with('#') {
            sections.push(Section::default());
        }
        let Some(section) = sections.last_mut() else {
            continue;
        };
        is_paragraph = line.starts_with("Tested by ") || is_paragraph && !line.is_empty();
        if is_paragraph {
            let paragraph = section
                .tested_by
                .get_or_insert_with(|| (index + 1, String::new()));
            paragraph.1.push_str(line);
        }
        let Some(cells) = cells(line) else {
            columns = None;
            continue;
        };
        let Some(names) = &columns else {
            columns = Some(cells);
            continue;
        };
        let cell = |name: &str| {
            let column = names.iter().position(|known| *known == name);
            column.and_then(|column| cells.get(column).copied())
        };
        let place = cell("here").filter(|place| !place.starts_with("--"));
        section
            .rows
            .extend(place.map(|place| (index + 1, place, cell("test"))));
    }
    sections
}

/// The cells of a table's row.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.trim_end().strip_prefix('|')?.strip_suffix('|')?;
    Some(inside.split('|').map(str::trim).collect())
}

fn faults(tree: &Tree, section: &Section<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut tell = |line: usize, fault: String| found.push(format!("{PAGE}:{line}: {fault}"));
    if let Some((line, text)) = &section.tested_by {
        for fault in faults_of_tests(tree, text) {
            tell(*line, fault);
        }
    }
    let done = section.rows.iter();
    for (line, place, test) in done.filter(|(_, place, _)| !place.starts_with("not yet")) {
        let paths: Vec<&str> = codes(place).filter(|code| code.contains('/')).collect();
        if paths.is_empty() {
            let fault = "the row names no file in which this is done. Name one, or begin with \"not yet\" and say why.";
            tell(*line, fault.to_owned());
        }
        for path in paths.iter().filter(|path| !tree.has(path)) {
            tell(*line, format!("{path} does not exist. Correct it."));
        }
        match test {
            Some(test) => {
                for fault in faults_of_tests(tree, test) {
                    tell(*line, fault);
                }
            }
            None if section.tested_by.is_none() => {
                let fault = "no test is named for the row. Add a column, or a paragraph that begins with \"Tested by\".";
                tell(*line, fault.to_owned());
            }
            None => {}
        }
    }
    found
}

/// A text names files, and after each the functions in it.
fn faults_of_tests(tree: &Tree, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut file = None;
    let mut tests = 0;
    for code in codes(text) {
        if code.ends_with(".rs") {
            file = tree.text(code);
            if file.is_none() {
                found.push(format!("{code} does not exist. Correct it."));
            }
            continue;
        }
        tests += 1;
        if file.is_none_or(|text| !text.contains(&format!("fn {code}("))) {
            found.push(format!(
                "there is no test {code} in the file before it. Correct it."
            ));
        }
    }
    if tests == 0 {
        found.push(
            "no test is named. Name the file and the function that fails without it.".to_owned(),
        );
    }
    found
}

/// Pieces of code in a line of Markdown.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: (&str, &str) = (
        "customizations/src/state.rs",
        "#[test]\nfn states_hold() {}",
    );

    fn found(rows: &str) -> Vec<String> {
        let page = format!(
            "| kind | here | test |\n|---|---|---|\n{rows}\nIn `customizations/src/state.rs`.\n"
        );
        check(&Tree::of(&[(PAGE, page.as_str()), STATE]))
    }

    #[test]
    fn rows_name_files_and_tests_that_exist() {
        let right = "| Cluster | `customizations/src/state.rs` | `customizations/src/state.rs` `states_hold` |";
        assert_eq!(found(right), [""; 0]);
        assert_eq!(found("| Cluster | not yet: no such kind | |"), [""; 0]);
        for (from, to, part) in [
            (
                "| `customizations/src/state.rs` |",
                "| `customizations/src/other.rs` |",
                "other.rs does not exist",
            ),
            (
                "| `customizations/src/state.rs` |",
                "| somewhere |",
                "names no file",
            ),
            ("`states_hold`", "`states_held`", "no test states_held"),
            (" `states_hold`", "", "no test is named"),
        ] {
            let found = found(&right.replacen(from, to, 1));
            assert!(
                found.len() == 1 && found[0].contains(part),
                "{to}: {found:?}"
            );
            assert!(
                found[0].starts_with("docs/customizations.md:3: "),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_section_may_name_one_test_for_all_its_rows() {
        let rows = "| kind | here |\n|---|---|\n| Cluster | `customizations/src/state.rs` |\n";
        let tested = "\nTested by `customizations/src/state.rs`\n`states_hold`.\n\n";
        let page = |text: &str| check(&Tree::of(&[(PAGE, text), STATE]));
        assert_eq!(page(&format!("{tested}{rows}")), [""; 0]);
        assert!(page(rows)[0].contains("no test is named for the row"));
        let other = tested.replace("states_hold", "states_held");
        assert!(page(&format!("{other}{rows}"))[0].contains("no test states_held"));
        // One heading's test is not the next one's.
        assert_eq!(page(&format!("{tested}## Next\n{rows}")).len(), 1);
    }

    #[test]
    fn every_file_of_extensions_is_named() {
        let more = ("customizations/src/toys/store.rs", "");
        let group = ("customizations/src/toys/mod.rs", "");
        let tree = Tree::of(&[
            (PAGE, "In `customizations/src/state.rs`."),
            STATE,
            more,
            group,
        ]);
        let found = check(&tree);
        assert!(
            found.len() == 1 && found[0].contains("toys/store.rs"),
            "{found:?}"
        );
    }
}
