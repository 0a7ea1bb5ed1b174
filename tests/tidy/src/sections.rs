//! Every section of the page about Azure Service Operator that is cited exists.
//!
//! A citation is `§1.3` in a comment or on a page, with or without `step 4e` or `items 2 to 4` after it: then the section
//! must have a row of a table, or an item of a list, of that number. Citations of standards (`RFC 3986 §5.2`) are not ours.

use std::collections::{BTreeMap, BTreeSet};

use crate::text::{Kind, pieces};
use crate::tree::Tree;

/// The page.
pub const PAGE: &str = "docs/aso-behaviour.md";

/// Numbers of sections with the steps that each has.
pub type Sections = BTreeMap<String, BTreeSet<String>>;

/// A citation.
#[derive(Debug, PartialEq, Eq)]
struct Citation {
    section: String,
    steps: Vec<String>,
    line: usize,
}

/// The sections of a page whose headings begin with numbers.
pub fn sections(page: &str) -> Sections {
    let mut found = Sections::new();
    let mut current = None;
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix('#') {
            let number = heading
                .trim_start_matches('#')
                .trim()
                .split(' ')
                .next()
                .unwrap_or_default();
            let number = number.trim_end_matches('.');
            let numbered = number.starts_with(|c: char| c.is_ascii_digit());
            current = numbered.then(|| number.to_owned());
            found.extend(current.clone().map(|section| (section, BTreeSet::new())));
        } else if let Some(step) = step_of(line)
            && let Some(steps) = current.as_ref().and_then(|section| found.get_mut(section))
        {
            steps.insert(step.to_owned());
        }
    }
    found
}

/// The number of a table's row or of a list's item.
fn step_of(line: &str) -> Option<&str> {
    let step = match line.strip_prefix("| ") {
        Some(row) => row.split(" |").next()?,
        None => line.split_once(". ")?.0,
    };
    (step.starts_with(|c: char| c.is_ascii_digit()) && step.len() < 4).then_some(step)
}

/// Citations of sections and steps that the page does not have.
pub fn check(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.text(PAGE) else {
        return vec![format!("There is no {PAGE}, which comments cite.")];
    };
    let sections = sections(page);
    let mut found = Vec::new();
    let pages = tree
        .files("docs/", ".md")
        .map(|(path, text)| (path, citations(text, 1)));
    for (path, cited) in pages.chain(code(tree)) {
        for citation in cited {
            let Citation {
                section,
                steps,
                line,
            } = citation;
            let Some(known) = sections.get(&section) else {
                found.push(format!(
                    "{path}:{line}: {PAGE} has no section {section}. Cite one that it has, or write it."
                ));
                continue;
            };
            for step in steps.iter().filter(|step| !known.contains(*step)) {
                found.push(format!(
                    "{path}:{line}: section {section} of {PAGE} has no step {step}. Cite one that it has, or write it."
                ));
            }
        }
    }
    found
}

/// Citations in the comments of each file.
fn code(tree: &Tree) -> impl Iterator<Item = (&str, Vec<Citation>)> {
    let citing = tree.handwritten().filter(|(_, text)| text.contains('§'));
    citing.map(|(path, text)| (path, in_comments(text)))
}

/// How many citations there are in code.
pub fn cited_in_code(tree: &Tree) -> usize {
    tree.handwritten()
        .map(|(_, text)| in_comments(text).len())
        .sum()
}

/// Citations in comments; lines of comments that follow each other are one text.
fn in_comments(text: &str) -> Vec<Citation> {
    let mut found = Vec::new();
    let mut block = String::new();
    let mut first = 0;
    for piece in pieces(text)
        .iter()
        .filter(|piece| piece.kind == Kind::Comment)
    {
        let next = first + block.matches('\n').count();
        if piece.line != next {
            found.extend(citations(&block, first));
            block.clear();
            first = piece.line;
        }
        block.push_str(piece.text);
        block.push('\n');
    }
    found.extend(citations(&block, first));
    found
}

fn citations(text: &str, first: usize) -> Vec<Citation> {
    let mut found = Vec::new();
    for (at, sign) in text.match_indices('§') {
        let before: Vec<&str> = text[..at].split_whitespace().rev().take(2).collect();
        let standard = before
            .last()
            .is_some_and(|word| word.ends_with("RFC") || word.ends_with("WHATWG"));
        let after = text[at + sign.len()..].trim_start();
        let section = number(after, |c| c == '.');
        if standard || section.is_empty() {
            continue;
        }
        found.push(Citation {
            section: section.to_owned(),
            steps: steps(&after[section.len()..]),
            line: first + text[..at].matches('\n').count(),
        });
    }
    found
}

/// The number at the start, without a dot at its end.
fn number(text: &str, inside: impl Fn(char) -> bool) -> &str {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && !inside(c))
        .unwrap_or(text.len());
    text[..end].trim_end_matches('.')
}

/// The steps that follow a section's number.
fn steps(after: &str) -> Vec<String> {
    let words = ["steps", "step", "items", "item", "rows", "row"];
    let mut rest = after.trim_start();
    let Some(word) = words.into_iter().find(|word| rest.starts_with(word)) else {
        return Vec::new();
    };
    rest = rest[word.len()..].trim_start();
    let mut found = Vec::new();
    loop {
        let step = number(rest, |c| c.is_ascii_lowercase());
        if !step.starts_with(|c: char| c.is_ascii_digit()) {
            return found;
        }
        found.push(step.to_owned());
        rest = rest[step.len()..].trim_start();
        let Some(joined) = ["to ", "and ", ", ", "–"]
            .into_iter()
            .find_map(|join| rest.strip_prefix(join))
        else {
            return found;
        };
        rest = joined.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Page\n## 1. One\n### 1.3 Steps\n\n| # | what |\n|---|---|\n| 1 | a |\n| 4e | b |\n### 1.9 Items\n1. c\n2. d\n";

    fn found(code: &str) -> Vec<String> {
        check(&Tree::of(&[(PAGE, TEXT), ("a/b.rs", code)]))
    }

    #[test]
    fn what_exists_may_be_cited() {
        let code = "//! Behaviour §1.3 steps 1 to 4e, §1.9 items 1 and 2; §1.3. See RFC 3986 §5.2.4, or\n//! RFC 1 §9.\n";
        assert_eq!(found(code), Vec::<String>::new());
    }

    #[test]
    fn what_does_not_is_told_with_its_line() {
        let told = found(
            "fn f() {}\n/// As behaviour\n/// §1.4 has it.\nfn g() {} // §1.9 item 3\nconst A: &str = \"§7\";\n",
        );
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("a/b.rs:3: docs/aso-behaviour.md has no section 1.4."));
        assert!(
            told[1].starts_with("a/b.rs:4: section 1.9 of docs/aso-behaviour.md has no step 3.")
        );
    }

    #[test]
    fn pages_cite_too() {
        let told = check(&Tree::of(&[
            (PAGE, TEXT),
            ("docs/x.md", "a\n| §1.3 1–4f | |\n| §1.3 steps 1–4f | |\n"),
        ]));
        assert_eq!(told.len(), 1);
        assert!(
            told[0]
                .starts_with("docs/x.md:3: section 1.3 of docs/aso-behaviour.md has no step 4f.")
        );
    }

    #[test]
    fn a_missing_page_is_told() {
        assert_eq!(check(&Tree::default()).len(), 1);
    }
}
