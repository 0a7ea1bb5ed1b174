//! `armature kinds`, `armature explain` and `armature render` as their pages in `docs/` show them; `ARMATURE_WRITE_DOCS=1` writes
//! the pages.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use std::path::Path;
use std::process::Command;

use armature_controlplane::program;

fn printed(line: &str, is_good: bool) -> (String, String) {
    printed_in(Path::new("."), line, is_good)
}

fn printed_in(folder: &Path, line: &str, is_good: bool) -> (String, String) {
    let words = line.split_whitespace().skip(1);
    let mut command = Command::new(program(env!("CARGO_BIN_EXE_armature")));
    command
        .args(words.map(|word| word.trim_matches('\'')))
        .env_remove("AZURE_SUBSCRIPTION_ID")
        .current_dir(folder);
    let output = command.output().unwrap();
    assert_eq!(output.status.success(), is_good, "{line}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// The files that a page shows, in a folder: a comment `<!-- file: NAME -->` before a block.
fn files(page: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for part in page.split("<!-- file: ").skip(1) {
        let (name, rest) = part.split_once(" -->\n").unwrap();
        let (_, block) = rest.split_once("```yaml\n").unwrap();
        let (content, _) = block.split_once("```").unwrap();
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folder
}

#[test]
fn the_pages_show_what_is_printed() {
    shows("explain.md", &[]);
    shows("kinds.md", &["armature kinds storageacount"]);
    shows("render.md", &["armature render -f mistakes.yaml"]);
}

/// Compares a page, on which these lines fail and print what is wrong.
fn shows(page: &str, failing: &[&str]) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(page);
    let text = std::fs::read_to_string(&page).unwrap();
    let folder = files(&text);
    let mut expected = String::new();
    let mut rest = text.as_str();
    let begin = "```console\n$ ";
    let mut commands = 0;
    while let Some((before, block)) = rest.split_once(begin) {
        let (line, _) = block.split_once('\n').unwrap();
        let (_, after) = block.split_once("\n```\n").unwrap();
        let is_good = !failing.contains(&line);
        let (out, errors) = printed_in(folder.path(), line, is_good);
        let shown = if is_good { out } else { out + &errors };
        expected.push_str(&format!("{before}{begin}{line}\n{shown}```\n"));
        rest = after;
        commands += 1;
    }
    expected.push_str(rest);
    assert!(commands > 2);
    if std::env::var_os("ARMATURE_WRITE_DOCS").is_some() {
        std::fs::write(&page, expected).unwrap();
    } else {
        assert_eq!(text, expected, "ARMATURE_WRITE_DOCS=1 writes the page");
    }
}

#[test]
fn mistakes_are_told_with_what_was_meant() {
    let (_, error) = printed("armature explain StorageAccount.acessTier", false);
    assert!(error.contains("did you mean 'accessTier'?"), "{error}");
    let (_, error) = printed("armature kinds nothing-like-this", false);
    assert_eq!(
        error,
        "error: no kind matches 'nothing-like-this'; `armature kinds` lists all\n"
    );
    let (_, error) = printed("armature kinds storageacount", false);
    assert!(
        error.ends_with("did you mean 'StorageAccount'?\n"),
        "{error}"
    );
    let (json, _) = printed("armature explain storage/StorageAccount -o json", true);
    let page: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(page["armType"], "Microsoft.Storage/storageAccounts");
}

#[test]
fn crds_have_descriptions_where_they_are_asked_for() {
    let line = "armature crds --crd-pattern storage.azure.com/StorageAccount -o json";
    let (plain, _) = printed(line, true);
    let (described, _) = printed(&format!("{line} --descriptions"), true);
    let tier = "\"description\": \"Required for storage accounts where kind = BlobStorage.";
    assert!(!plain.contains(tier) && described.contains(tier));
}
