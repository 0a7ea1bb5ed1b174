//! The blocks of a page.

use std::path::{Path, PathBuf};

/// What a page has its readers run.
#[derive(Debug)]
pub struct Block {
    /// Its name in the page.
    pub name: String,
    /// Lines of a shell.
    pub script: String,
    /// Whether it fails.
    pub is_refused: bool,
    /// What the page shows of what is printed; nothing where it shows nothing.
    pub shown: Option<String>,
}

/// The file of a page.
pub fn path(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(page)
}

/// The blocks of a page, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    read(&std::fs::read_to_string(path(page)).unwrap())
}

fn read(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("<!-- r") {
        rest = &rest[at + 5..];
        let (mark, after) = rest.split_once(" -->\n").unwrap();
        let (word, name) = mark.split_once(": ").unwrap();
        assert!(["run", "refused"].contains(&word), "{mark}");
        let (script, after) = fenced(after, "sh").unwrap_or_else(|| panic!("no block: {mark}"));
        let shown = fenced(after, "console").map(|(shown, _)| shown);
        found.push(Block {
            name: name.to_owned(),
            script,
            is_refused: word == "refused",
            shown: shown.filter(|shown| !shown.starts_with("$ ")),
        });
        rest = after;
    }
    found
}

/// The block of a language that comes next, without the indentation of the list that it is in, and what is behind it.
fn fenced<'t>(text: &'t str, language: &str) -> Option<(String, &'t str)> {
    let trimmed = text.trim_start_matches('\n');
    let indent = trimmed.len() - trimmed.trim_start_matches(' ').len();
    let opening = format!("{}```{language}\n", " ".repeat(indent));
    let body = trimmed.strip_prefix(&opening)?;
    let closing = format!("{}```\n", " ".repeat(indent));
    let end = body.find(&closing)?;
    let lines = body[..end].lines();
    let lines = lines.map(|line| line.get(indent..).unwrap_or_default());
    let text = lines.map(|line| format!("{line}\n")).collect();
    Some((text, &body[end + closing.len()..]))
}

/// Holds what was printed to what the page shows of it: the same words in the same order, whatever the numbers and the blanks between
/// columns are. Lines that end with `…` on the page are shown as far as that.
pub fn assert_shown(page: &str, block: &Block, printed: &str) {
    let Some(shown) = &block.shown else {
        return;
    };
    let mut lines = printed.lines().map(plain).filter(|line| !line.is_empty());
    for line in shown.lines().filter(|line| !line.trim().is_empty()) {
        let line = plain(line);
        let fits = |other: &String| match line.strip_suffix('…') {
            Some(beginning) => other.starts_with(beginning.trim_end()),
            None => *other == line,
        };
        assert!(
            lines.any(|other| fits(&other)),
            "{page}, `{}`: it is not printed there: {line}\n{printed}",
            block.name
        );
    }
}

/// A line with one sign for each number, and one blank between words.
fn plain(line: &str) -> String {
    let mut text = String::new();
    for c in line.chars() {
        let sign = if c.is_ascii_digit() { '#' } else { c };
        if !(sign == '#' && text.ends_with('#')) {
            text.push(sign);
        }
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn blocks_are_read_with_what_the_page_shows() {
    let text = "x\n\n<!-- run: a -->\n```sh\none\n```\n\n```console\n1 two\n```\n\n1. y\n\n   <!-- refused: b -->\n   \
                ```sh\n   three\n     four\n   ```\n\n```console\n$ five\n```\n";
    let blocks = read(text);
    let names: Vec<_> = blocks.iter().map(|block| block.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(blocks[0].shown.as_deref(), Some("1 two\n"));
    assert_eq!(blocks[1].script, "three\n  four\n");
    assert!(blocks[1].is_refused && blocks[1].shown.is_none());
    assert_shown("page", &blocks[0], "before\n27   two\n");
}

#[test]
#[should_panic(expected = "it is not printed")]
fn what_is_not_printed_is_told() {
    let blocks = read("<!-- run: a -->\n```sh\none\n```\n\n```console\ntwo\n```\n");
    assert_shown("page", &blocks[0], "three\n");
}
