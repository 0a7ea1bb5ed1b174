//! `specs update` and `gen diff` as a maintainer runs them: the real program in a workspace of two files, with the
//! small specs of the generator's tests as commits of a repository.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sha2::{Digest, Sha256};

const OLD: &str = "0000000000000000000000000000000000000001";
const NEW: &str = "0000000000000000000000000000000000000002";
const SHOP: &str = "specification/shop/resource-manager/Microsoft.Shop/stable/2024-01-01/shop.json";
const REPOSITORY: &str = "Azure/azure-rest-api-specs";
const BICEP: &str = "generated/shop/microsoft.shop/2025-01-01/types.json";
const BICEP_REPOSITORY: &str = "Azure/bicep-types-az";

/// The small specs, `before` and `after`.
fn changes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../generator/tests/changes")
}

/// A workspace that pins the commit `before`, whose files are in a folder beside it.
struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path();
        copy(
            &changes().join("before"),
            &path.join("data/azure-rest-api-specs"),
        );
        std::fs::create_dir_all(path.join("clone/specs/shop")).expect("folder");
        std::fs::create_dir_all(path.join("clone/docs")).expect("folder");
        let book = "# Summary\n\n- [Reference](reference/index.md)\n";
        std::fs::write(path.join("clone/docs/SUMMARY.md"), book).expect("book");
        let extensions = "# Customizations\n";
        std::fs::write(path.join("clone/docs/customizations.md"), extensions).expect("extensions");
        std::fs::copy(
            changes().join("before/shop.toml"),
            path.join("clone/specs/shop/group.toml"),
        )
        .expect("file");
        let mut specs = files(&path.join("data/azure-rest-api-specs"));
        specs.retain(|file, _| is_spec(file));
        let lock = pin("azure-rest-api-specs", REPOSITORY, &specs);
        std::fs::write(path.join("clone/specs/specs.lock.toml"), lock).expect("lock");
        Self { folder }
    }

    /// The same with an api-version that is read from Bicep types, which a commit of their own pins.
    fn with_bicep() -> Self {
        let workspace = Self::new();
        let types = bicep(&[("awning", "A")]);
        let data = workspace.folder.path().join("data/bicep-types");
        write(&data, &types);
        let lock = workspace.lock() + "\n" + &pin("bicep-types", BICEP_REPOSITORY, &types);
        let specs = workspace.clone_folder().join("specs");
        std::fs::write(specs.join("specs.lock.toml"), lock).expect("lock");
        let curation = std::fs::read_to_string(specs.join("shop/group.toml")).expect("file");
        let versions = "versions = { \"2025-01-01\" = \"bicep\", ";
        let curation = curation.replace("versions = { ", versions);
        std::fs::write(specs.join("shop/group.toml"), curation).expect("file");
        workspace
    }

    fn clone_folder(&self) -> PathBuf {
        self.folder.path().join("clone")
    }

    fn xtask(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(arguments)
            .env("CARGO_MANIFEST_DIR", self.clone_folder().join("xtask"))
            .env("ARMATURE_AZURE_DATA", self.folder.path().join("data"))
            .env("XDG_CACHE_HOME", self.folder.path().join("cache"))
            .output()
            .expect("a program that runs")
    }

    /// Every file of the clone but git's own.
    fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = files(&self.clone_folder());
        files.retain(|file, _| !file.starts_with(".git/"));
        files
    }

    fn lock(&self) -> String {
        std::fs::read_to_string(self.clone_folder().join("specs/specs.lock.toml")).expect("lock")
    }

    fn git(&self, arguments: &[&str]) {
        let identity = [
            "-c",
            "user.name=test",
            "-c",
            "user.email=test@example.com",
            "-c",
            "commit.gpgsign=false",
        ];
        let done = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(self.clone_folder())
            .output()
            .expect("a program that runs");
        assert!(done.status.success(), "{done:?}");
    }
}

/// A source of the lock, at the old commit.
fn pin(name: &str, repository: &str, files: &BTreeMap<String, Vec<u8>>) -> String {
    let mut source = format!(
        "[[source]]\nname = \"{name}\"\nrepository = \"{repository}\"\ncommit = \"{OLD}\"\n\n[source.files]\n"
    );
    for (file, bytes) in files {
        let hash = Sha256::digest(bytes);
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        source.push_str(&format!("\"{file}\" = \"{hash}\"\n"));
    }
    source
}

/// Bicep types of shops with string properties, each with a word about it.
fn bicep(properties: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    let properties = properties.iter().map(|(name, about)| {
        let property =
            serde_json::json!({"type": {"$ref": "#/0"}, "flags": 0, "description": about});
        ((*name).to_owned(), property)
    });
    let properties: serde_json::Map<_, _> = properties.collect();
    let types = serde_json::json!([
        {"$type": "StringType"},
        {"$type": "ObjectType", "name": "ShopProperties", "properties": properties},
        {"$type": "ObjectType", "name": "Microsoft.Shop/shops", "properties": {
            "name": {"type": {"$ref": "#/0"}, "flags": 9},
            "properties": {"type": {"$ref": "#/1"}, "flags": 0}
        }},
        {"$type": "ResourceType", "name": "Microsoft.Shop/shops@2025-01-01", "body": {"$ref": "#/2"},
         "readableScopes": 8, "writableScopes": 8}
    ]);
    BTreeMap::from([(BICEP.to_owned(), types.to_string().into_bytes())])
}

fn is_spec(file: &str) -> bool {
    file.starts_with("specification/")
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in std::fs::read_dir(at).expect("readable folder") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .expect("below the folder")
                    .to_str()
                    .expect("UTF-8");
                found.insert(name.to_owned(), std::fs::read(&path).expect("file"));
            }
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    write(to, &files(from));
}

fn write(folder: &Path, files: &BTreeMap<String, Vec<u8>>) {
    for (file, bytes) in files {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder above")).expect("folder");
        std::fs::write(path, bytes).expect("file");
    }
}

/// Serves files of specs as GitHub does, `/<repository>/<commit>/<file>`, until the test ends. Returns its URL.
fn serve(commits: &[(&str, BTreeMap<String, Vec<u8>>)]) -> String {
    serve_from(REPOSITORY, commits)
}

/// As [`serve`], for another repository.
fn serve_from(repository: &str, commits: &[(&str, BTreeMap<String, Vec<u8>>)]) -> String {
    let mut served = BTreeMap::new();
    for (commit, files) in commits {
        for (file, bytes) in files {
            served.insert(format!("/{repository}/{commit}/{file}"), bytes.clone());
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("port");
    let url = format!("http://{}", listener.local_addr().expect("address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer(&served, stream.expect("a connection"));
        }
    });
    url
}

fn answer(served: &BTreeMap<String, Vec<u8>>, mut stream: TcpStream) {
    let mut lines = BufReader::new(stream.try_clone().expect("stream")).lines();
    let request = lines.next().expect("a request").expect("UTF-8");
    lines.find(|line| line.as_ref().expect("a line").is_empty());
    let path = request.split(' ').nth(1).expect("a path");
    let (status, body) = match served.get(path) {
        Some(body) => ("200 OK", body.as_slice()),
        None => ("404 Not Found", [].as_slice()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("an open stream");
    stream.write_all(body).expect("an open stream");
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// The pages of the group's kinds, one after the other.
fn pages(workspace: &Workspace) -> String {
    let folder = workspace.clone_folder().join("docs/reference/shop");
    let pages = std::fs::read_dir(folder).expect("folder");
    pages
        .map(|page| std::fs::read_to_string(page.expect("entry").path()).expect("page"))
        .collect()
}

#[test]
fn a_commit_is_downloaded_compared_and_pinned() {
    let workspace = Workspace::new();
    let mirror = serve(&[(NEW, files(&changes().join("after")))]);
    let before = workspace.tree();
    let dry = workspace.xtask(&["specs", "update", NEW, "--mirror", &mirror, "--dry-run"]);
    assert!(dry.status.success(), "{}", err(&dry));
    assert_eq!(workspace.tree(), before);
    let done = workspace.xtask(&["specs", "update", NEW, "--mirror", &mirror]);
    assert!(done.status.success(), "{}", err(&done));
    assert_eq!(out(&done), out(&dry));
    let lines = [
        "  BREAKS  spec.size: is now required, was optional; manifests without it are refused",
        // The spec calls this list open, so nothing refuses what it no longer names.
        "          spec.grade: values removed: `Bronze`",
    ];
    for line in lines {
        assert!(out(&done).lines().any(|it| it == line), "{}", out(&done));
    }
    let lock = workspace.lock();
    assert!(lock.contains(NEW) && !lock.contains(OLD), "{lock}");
    let fresh = "specification/common/v2/hours.json";
    assert!(
        lock.contains(fresh),
        "a file that the new commit refers to is pinned: {lock}"
    );
    let others = |tree: BTreeMap<String, Vec<u8>>| {
        let mut tree = tree;
        tree.remove("specs/specs.lock.toml");
        tree
    };
    assert_eq!(others(workspace.tree()), others(before));
    // What follows is generated from the new commit, though the folder that the variable names has the old one.
    let generated = workspace.xtask(&["gen"]);
    assert!(generated.status.success(), "{}", err(&generated));
    assert!(pages(&workspace).contains("landlordReference"));
    assert_eq!(workspace.lock(), lock);
    // What was downloaded is what `fetch` would get.
    let fetched = workspace.xtask(&["specs", "fetch", "--mirror", &mirror]);
    assert!(
        err(&fetched).contains("0 files fetched, 4 were there"),
        "{}",
        err(&fetched)
    );
}

#[test]
fn a_commit_that_does_not_build_leaves_everything_as_it_was() {
    let good = files(&changes().join("after"));
    let edited = |from: &str, to: &str| {
        let mut files = good.clone();
        let text = String::from_utf8(files[SHOP].clone()).unwrap();
        assert!(text.contains(from), "{from}");
        files.insert(SHOP.to_owned(), text.replace(from, to).into_bytes());
        files
    };
    let without = |file: &str| {
        let mut files = good.clone();
        files.remove(file).unwrap();
        files
    };
    let table = [
        (without(SHOP), vec!["specs/shop/group.toml:6:", SHOP]),
        (
            without("specification/common/v2/hours.json"),
            vec!["specification/common/v2/hours.json", "referenced by", SHOP],
        ),
        (
            edited("\"swagger\": \"2.0\"", "\"swagger\" \"2.0\""),
            vec![SHOP, "line 2"],
        ),
        (
            edited(
                "hours.json#/definitions/Hours",
                "hours.json#/definitions/Hour",
            ),
            vec![SHOP, "finds nothing there", "/definitions/Hours"],
        ),
        (
            edited("Microsoft.Shop/tills", "Microsoft.Shop/desks"),
            vec!["specs/shop/group.toml:15:", "Microsoft.Shop/tills"],
        ),
    ];
    for (files, expected) in table {
        let workspace = Workspace::new();
        let before = workspace.tree();
        let mirror = serve(&[(NEW, files)]);
        let done = workspace.xtask(&["specs", "update", NEW, "--mirror", &mirror]);
        assert!(!done.status.success());
        for part in expected {
            assert!(err(&done).contains(part), "{part}: {}", err(&done));
        }
        assert_eq!(workspace.tree(), before);
    }
}

#[test]
fn a_local_copy_stands_in_for_the_web_and_a_branch_is_no_commit() {
    let workspace = Workspace::new();
    let after = workspace.folder.path().join("after");
    copy(&changes().join("after"), &after);
    let from = after.to_str().unwrap();
    let done = workspace.xtask(&["specs", "update", NEW, "--from", from, "-o", "jsonl"]);
    assert!(done.status.success(), "{}", err(&done));
    assert!(workspace.lock().contains(NEW));
    for line in out(&done).lines() {
        let change: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(change["group"], "shop");
    }
    let refused = workspace.xtask(&["specs", "update", "main", "--from", from]);
    assert!(err(&refused).contains("40 hex digits"), "{}", err(&refused));
    let again = workspace.xtask(&["specs", "update", NEW, "--from", from]);
    assert!(err(&again).contains("already"), "{}", err(&again));
}

/// The lock's text about specs and that about Bicep types.
fn sources(lock: &str) -> (&str, &str) {
    let (first, _) = lock
        .match_indices("[[source]]")
        .nth(1)
        .expect("two sources");
    lock.split_at(first)
}

#[test]
fn each_source_moves_by_itself() {
    let workspace = Workspace::with_bicep();
    // The lock in the form that the program writes.
    let generated = workspace.xtask(&["gen"]);
    assert!(generated.status.success(), "{}", err(&generated));
    let before = workspace.lock();
    let types = bicep(&[("awning", "A"), ("doors", "A")]);
    let mirror = serve_from(BICEP_REPOSITORY, &[(NEW, types)]);
    let update = [
        "specs",
        "update",
        NEW,
        "--mirror",
        &mirror,
        "--source",
        "bicep-types",
    ];
    let done = workspace.xtask(&update);
    assert!(done.status.success(), "{}", err(&done));
    assert_eq!(
        out(&done),
        "shop: Shop v20250101\n          spec.doors: added (string)\n          status.doors: added (string)\n\n\
         2 changes in 1 group: 0 break users, 2 do not\n"
    );
    assert!(
        err(&done).contains("1 files, 1 changed, 0 new"),
        "{}",
        err(&done)
    );
    let moved = workspace.lock();
    assert_eq!(sources(&moved).0, sources(&before).0, "specs stay");
    assert!(
        sources(&moved).1.contains(NEW) && sources(&moved).1.contains(BICEP),
        "{moved}"
    );
    // The specs follow, and are compared with the Bicep types as they are now.
    let mirror = serve(&[(NEW, files(&changes().join("after")))]);
    let done = workspace.xtask(&["specs", "update", NEW, "--mirror", &mirror]);
    assert!(done.status.success(), "{}", err(&done));
    assert!(
        out(&done).contains("`Bronze`") && !out(&done).contains("doors"),
        "{}",
        out(&done)
    );
    let both = workspace.lock();
    assert_eq!(sources(&both).1, sources(&moved).1, "Bicep types stay");
    assert!(sources(&both).0.contains(NEW), "{both}");
    let generated = workspace.xtask(&["gen"]);
    assert!(generated.status.success(), "{}", err(&generated));
    assert!(pages(&workspace).contains("doors"));
    assert_eq!(workspace.lock(), both);
}

#[test]
fn a_source_that_fails_or_is_unknown_leaves_everything_as_it_was() {
    let workspace = Workspace::with_bicep();
    let before = workspace.tree();
    let mirror = serve_from(BICEP_REPOSITORY, &[]);
    for (source, expected) in [
        (
            "bicep",
            "has no source named `bicep`; it has: azure-rest-api-specs, bicep-types",
        ),
        ("bicep-types", "specs/shop/group.toml:6:"),
    ] {
        let done = workspace.xtask(&[
            "specs", "update", NEW, "--mirror", &mirror, "--source", source,
        ]);
        assert!(!done.status.success());
        assert!(err(&done).contains(expected), "{}", err(&done));
        assert_eq!(workspace.tree(), before);
    }
}

#[test]
fn another_copy_of_bicep_types_is_compared_with_what_is_committed() {
    let workspace = Workspace::with_bicep();
    workspace.git(&["init", "--quiet"]);
    workspace.git(&["add", "."]);
    workspace.git(&["commit", "--quiet", "--message", "one"]);
    assert_eq!(
        out(&workspace.xtask(&["gen", "diff"])),
        "nothing changes for users\n"
    );
    let other = workspace.folder.path().join("other");
    copy(
        &changes().join("before"),
        &other.join("azure-rest-api-specs"),
    );
    write(&other.join("bicep-types"), &bicep(&[("blind", "A")]));
    let done = workspace.xtask(&["gen", "diff", "--from", other.to_str().unwrap()]);
    let lines = [
        "  BREAKS  spec.awning: removed (string)",
        "          spec.blind: added (string)",
    ];
    for line in lines {
        assert!(
            out(&done).lines().any(|it| it.starts_with(line)),
            "{}",
            out(&done)
        );
    }
    assert!(!out(&done).contains("Shelf"), "{}", out(&done));
}

#[test]
fn what_is_committed_is_compared_with_what_would_be_generated() {
    let workspace = Workspace::new();
    workspace.git(&["init", "--quiet"]);
    workspace.git(&["add", "."]);
    workspace.git(&["commit", "--quiet", "--message", "one"]);
    let diff = |arguments: &[&str]| {
        let mut all = vec!["gen", "diff"];
        all.extend(arguments);
        workspace.xtask(&all)
    };
    assert_eq!(out(&diff(&[])), "nothing changes for users\n");
    // Edited curation.
    let file = workspace.clone_folder().join("specs/shop/group.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(
        &file,
        format!("{text}\n[types.Address]\nzip = \"remove\"\n"),
    )
    .unwrap();
    let removed = "`Address.zip` in spec: removed (string)";
    assert!(out(&diff(&[])).contains(removed), "{}", out(&diff(&[])));
    assert!(diff(&[]).status.success());
    assert_eq!(diff(&["--fail-on-breaking"]).status.code(), Some(1));
    std::fs::write(&file, text).unwrap();
    // Other specs.
    let after = changes().join("after");
    let from = after.to_str().unwrap();
    let report: serde_json::Value =
        serde_json::from_str(&out(&diff(&["--from", from, "--output", "json"]))).unwrap();
    assert_eq!(report["breaking"], 11, "{report:#}");
    // Two versions of the working tree.
    let versions = out(&diff(&["--versions", "2023-01-01..2024-01-01"]));
    assert!(
        versions.starts_with("shop: Shelf\n          kind added"),
        "{versions}"
    );
    // A copy of what is committed is needed, and how to get one is said.
    std::fs::remove_dir_all(workspace.folder.path().join("data")).unwrap();
    let lost = diff(&["--from", from]);
    assert!(
        err(&lost).contains("specs fetch --base HEAD"),
        "{}",
        err(&lost)
    );
    let mirror = serve(&[(OLD, files(&changes().join("before")))]);
    let fetched = workspace.xtask(&["specs", "fetch", "--base", "HEAD", "--mirror", &mirror]);
    assert!(fetched.status.success(), "{}", err(&fetched));
    assert!(diff(&["--from", from]).status.success());
}

/// Real specs, where they are on this machine.
fn real_data() -> Option<PathBuf> {
    let named = std::env::var_os("ARMATURE_AZURE_DATA").map(PathBuf::from);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let data = named.unwrap_or_else(|| root.join("../shared/azure"));
    data.join("azure-rest-api-specs").is_dir().then_some(data)
}

#[test]
fn the_page_shows_what_the_program_prints() {
    let Some(data) = real_data() else {
        eprintln!("skipped: no azure-rest-api-specs in $ARMATURE_AZURE_DATA or ../shared/azure");
        return;
    };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/updating.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> = page.split("```console\n$ cargo xtask ").skip(1).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let (command, rest) = block.split_once('\n').unwrap();
        let (shown, _) = rest.split_once("```").unwrap();
        let run = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(command.split(' '))
            .env("ARMATURE_AZURE_DATA", &data)
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", err(&run));
        assert_eq!(
            out(&run),
            shown,
            "docs/updating.md must show what `cargo xtask {command}` prints"
        );
    }
}
