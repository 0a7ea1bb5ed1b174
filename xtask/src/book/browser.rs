//! Every page of the book in a real browser, as wide as a small screen: nothing may be wider than its place, and pictures have to be
//! shown, with a text in their place.
//!
//! `measure.html` goes through the pages in a frame and notes what is wrong; the browser prints what it has become. No driver and no
//! network are needed.

use std::time::Duration;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use tokio::process::Command;

use crate::workspace;

/// The page that measures the others; the list of these stands for `PAGES`.
const MEASURE: &str = include_str!("measure.html");
const PLACE: &str = "const pages = PAGES;";

/// Names of browsers that take these flags.
const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Pages that are no pages of text.
const OTHERS: [&str; 4] = ["print.html", "404.html", "toc.html", "measure.html"];

/// A browser has this long: some 500 pages take a minute on two cores.
const LIMIT: Duration = Duration::from_secs(600);

/// Looks at each page in this folder. What is wrong, and how many pages there were; `None` without a browser.
pub async fn measure(pages: &Utf8Path) -> anyhow::Result<Option<(Vec<String>, usize)>> {
    let Some(browser) = find() else {
        return Ok(None);
    };
    let list = listed(workspace::files_below(pages)?);
    let file = pages.join("measure.html");
    std::fs::write(&file, page(&list)?).with_context(|| format!("cannot write {file}"))?;
    let run = Command::new(&browser)
        .args(["--headless", "--disable-gpu", "--hide-scrollbars"])
        // It shows our own pages and nothing else. A sandbox cannot be had as root, nor frames of files without this flag.
        .args(["--no-sandbox", "--allow-file-access-from-files"])
        .args(["--window-size=1280,900", "--virtual-time-budget=3600000"])
        .args(["--dump-dom", &format!("file://{file}")])
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(LIMIT, run)
        .await
        .with_context(|| format!("{browser} did not end within {} s", LIMIT.as_secs()))?
        .with_context(|| format!("cannot run {browser}"))?;
    std::fs::remove_file(&file).with_context(|| format!("cannot remove {file}"))?;
    let shown = String::from_utf8_lossy(&output.stdout);
    let found = findings(&shown, list.len()).with_context(|| {
        format!(
            "{browser} has not measured all pages: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    Ok(Some((found, list.len())))
}

fn find() -> Option<Utf8PathBuf> {
    let folders = std::env::var("PATH").unwrap_or_default();
    let mut files = BROWSERS.iter().flat_map(|name| {
        let folders = folders.split(':').map(Utf8Path::new);
        folders.map(move |folder| folder.join(name))
    });
    files.find(|file| file.is_file())
}

/// Pages with text among the files of a book, in order.
fn listed(files: Vec<Utf8PathBuf>) -> Vec<String> {
    let mut pages: Vec<String> = files.into_iter().map(String::from).collect();
    pages.retain(|page| page.ends_with(".html") && !OTHERS.contains(&page.as_str()));
    pages.sort();
    pages
}

fn page(list: &[String]) -> anyhow::Result<String> {
    let list = serde_json::to_string(list)?;
    Ok(MEASURE.replace(PLACE, &format!("const pages = {list};")))
}

/// The lines of what the page has become, without the last one, which says that all pages were measured.
fn findings(shown: &str, pages: usize) -> anyhow::Result<Vec<String>> {
    let (_, rest) = shown
        .split_once("<pre id=\"found\">")
        .context("the page was not shown")?;
    let (text, _) = rest.split_once("</pre>").unwrap_or_default();
    let plain = |line: &str| {
        let line = line.replace("&lt;", "<").replace("&gt;", ">");
        line.replace("&amp;", "&")
    };
    let mut lines: Vec<String> = text.lines().map(plain).collect();
    let last = lines.pop().unwrap_or_default();
    anyhow::ensure!(
        last == format!("measured {pages} pages"),
        "it ends with `{last}`"
    );
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_text_are_measured() {
        let files = ["b/c.html", "a.html", "print.html", "a.css"];
        let files = files.map(Utf8PathBuf::from).into();
        assert_eq!(listed(files), ["a.html", "b/c.html"]);
        let page = page(&["a.html".to_owned()]).expect("a list is JSON");
        assert!(page.contains("const pages = [\"a.html\"];"), "{page}");
    }

    #[test]
    fn what_was_measured_is_read_and_half_a_run_is_an_error() {
        let shown = |text: &str| format!("<html><pre id=\"found\">{text}</pre></html>");
        let whole = shown("a.html: td `x &lt; y &amp; z` is wide\nmeasured 2 pages\n");
        let found = findings(&whole, 2).expect("all was measured");
        assert_eq!(found, ["a.html: td `x < y & z` is wide"]);
        assert!(findings(&shown("measured 2 pages\n"), 2).is_ok_and(|found| found.is_empty()));
        for half in [shown(""), shown("a.html: td is wide\n"), whole] {
            assert!(findings(&half, 3).is_err(), "{half}");
        }
        assert!(findings("<html>", 0).is_err());
    }

    /// The measure can tell what is wide from what is not.
    #[tokio::test]
    async fn a_page_that_is_too_wide_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Utf8Path::from_path(folder.path()).expect("a path");
        let page = |body: &str| format!("<!doctype html><title>x</title><main>{body}</main>");
        let wide = "<pre style='overflow-x: auto'><code>".to_owned() + &"x".repeat(400);
        for (name, body) in [
            ("fine.html", "<p>short</p>"),
            ("wide.html", &wide),
            ("lost.html", "<img src='no.svg' alt='a picture'>"),
        ] {
            std::fs::write(folder.join(name), page(body)).expect("a page");
        }
        let Some((found, count)) = measure(folder).await.expect("it is measured") else {
            println!("skipped: there is no Chromium on this machine");
            return;
        };
        assert_eq!(count, 3);
        assert!(
            found.iter().all(|line| !line.starts_with("fine.html")),
            "{found:?}"
        );
        assert!(
            found.iter().any(|line| line.starts_with("wide.html: pre")),
            "{found:?}"
        );
        assert!(
            found
                .iter()
                .any(|line| line.starts_with("lost.html: the picture no.svg")),
            "{found:?}"
        );
    }
}
