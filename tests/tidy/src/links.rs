//! Links between pages of the documentation lead to files and headings that exist.

use std::collections::BTreeMap;

use crate::tree::Tree;

/// Links of all pages that lead nowhere.
pub fn check(tree: &Tree) -> Vec<String> {
    let mut anchors: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut found = Vec::new();
    for (path, text) in tree.files("", ".md") {
        // Pieces of pages, put together by code.
        if path.contains("/templates/") || path.contains("/src/") {
            continue;
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, target) in links(text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() {
                path.to_owned()
            } else {
                join(folder, file)
            };
            if !tree.has(&file) {
                found.push(format!(
                    "{path}:{line}: the link `{target}` leads to {file}, which does not exist. Correct it, or take it out."
                ));
                continue;
            }
            let Some(page) = tree
                .text(&file)
                .filter(|_| !anchor.is_empty() && file.ends_with(".md"))
            else {
                continue;
            };
            let known = anchors
                .entry(file.clone())
                .or_insert_with(|| headings(page));
            if !known.iter().any(|heading| heading == anchor) {
                let near = known
                    .iter()
                    .find(|heading| heading.contains(anchor) || anchor.contains(heading.as_str()));
                let hint = near.map_or(String::new(), |near| format!(" Did you mean `#{near}`?"));
                found.push(format!(
                    "{path}:{line}: {file} has no heading for `#{anchor}`.{hint}"
                ));
            }
        }
    }
    found
}

/// Targets of links, with their lines. Code is left out.
pub fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced {
            continue;
        }
        let mut code = false;
        let mut rest = line;
        while let Some(at) = rest.find(['`', ']']) {
            let after = &rest[at + 1..];
            code ^= rest[at..].starts_with('`');
            if !code && let Some(inner) = rest[at..].strip_prefix("](") {
                let end = inner.find([')', ' ']).unwrap_or(inner.len());
                found.push((index + 1, &inner[..end]));
            }
            rest = after;
        }
    }
    found
}

/// Anchors of a page: those of its headings as mdBook makes them, and those that it sets itself.
fn headings(page: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut fenced = false;
    for line in page.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if let Some(id) = line
            .split("<a id=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
        {
            found.push(id.to_owned());
        }
        if fenced || !line.starts_with('#') {
            continue;
        }
        let title = line.trim_start_matches('#').trim();
        let anchor: String = title.chars().filter_map(anchor_character).collect();
        let before = found.iter().filter(|other| **other == anchor).count();
        found.push(if before == 0 {
            anchor
        } else {
            format!("{anchor}-{before}")
        });
    }
    found
}

fn anchor_character(c: char) -> Option<char> {
    match c {
        c if c.is_alphanumeric() || c == '-' || c == '_' => c.to_lowercase().next(),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    }
}

/// The path that a relative one leads to from a folder.
pub fn join(folder: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_somewhere_are_let_through() {
        let tree = Tree::of(&[
            (
                "docs/a.md",
                "# A `b` & c\n[x](#a-b--c) [y](sub/d.md#e-1) [z](../specs) [w](https://e.f) `[v](no.md)`\n```\n[u](no.md)\n```\n",
            ),
            ("docs/sub/d.md", "## e\n## E\n[a](../a.md)"),
            ("specs/one.toml", ""),
        ]);
        assert_eq!(check(&tree), Vec::<String>::new());
    }

    #[test]
    fn links_that_lead_nowhere_are_told() {
        let tree = Tree::of(&[
            ("docs/a.md", "# Words of it\n\n[x](b.md) [y](#words)"),
            ("README.md", "[z](docs/a.md#n)"),
        ]);
        let told = check(&tree);
        assert_eq!(told.len(), 3);
        assert!(told[0].starts_with("README.md:1: docs/a.md has no heading for `#n`."));
        assert!(
            told[1].starts_with(
                "docs/a.md:3: the link `b.md` leads to docs/b.md, which does not exist."
            )
        );
        assert!(told[2].ends_with("Did you mean `#words-of-it`?"));
    }
}
