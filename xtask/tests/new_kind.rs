//! `new-kind --write` as a maintainer runs it: the real program in a workspace with one curation file, on the small specs
//! and Bicep types of the generator's tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const LOCK: &str = "\
[[source]]
name = \"azure-rest-api-specs\"
repository = \"Azure/azure-rest-api-specs\"
commit = \"main\"

[[source]]
name = \"bicep-types\"
repository = \"Azure/bicep-types-az\"
commit = \"main\"

[source.files]
\"generated/music/example.music/2025-01-01/types.json\" = \"\"
";

const ALBUMS: &str = "\
group = \"music\"
naming = \"new\"

[sources.music]
folder = \"specification/music/resource-manager/Example.Music\"
versions = { \"2023-01-01\" = [\"music.json\"] }

# What people collect.
[kinds.Album]
type = \"Example.Music/albums\"
";

/// A clone with a file of albums, and copies of both sources beside it.
struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    fn new(albums: &str) -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("../generator/tests/curation");
        let small = small.canonicalize().expect("folder");
        let data = folder.path().join("data");
        std::fs::create_dir_all(data.join("azure-rest-api-specs")).expect("folder");
        let link = |from: &str, to: &str| {
            std::os::unix::fs::symlink(small.join(from), data.join(to)).expect("link");
        };
        link("specification", "azure-rest-api-specs/specification");
        link("bicep", "bicep-types");
        let workspace = Self { folder };
        std::fs::create_dir_all(workspace.specs().join("music")).expect("folder");
        std::fs::write(workspace.specs().join("specs.lock.toml"), LOCK).expect("file");
        std::fs::write(workspace.specs().join("music/group.toml"), albums).expect("file");
        workspace
    }

    fn specs(&self) -> PathBuf {
        self.folder.path().join("clone/specs")
    }

    fn new_kind(&self, arm_type: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["new-kind", arm_type, "--write"])
            .env("CARGO_MANIFEST_DIR", self.folder.path().join("clone/xtask"))
            .env("ARMATURE_AZURE_DATA", self.folder.path().join("data"))
            .env("XDG_CACHE_HOME", self.folder.path().join("cache"))
            .output()
            .expect("a program that runs")
    }

    /// The files below the folder `specs`.
    fn tree(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.specs()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(folder).expect("folder") {
                let path = entry.expect("entry").path();
                if path.is_dir() {
                    waiting.push(path);
                    continue;
                }
                let name = path.strip_prefix(self.specs()).expect("below the folder");
                let name = name.to_string_lossy().into_owned();
                found.insert(name, std::fs::read_to_string(&path).expect("file"));
            }
        }
        found
    }
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

#[test]
fn lines_are_written_behind_what_is_there() {
    let workspace = Workspace::new(ALBUMS);
    let mut expected = workspace.tree();
    let done = workspace.new_kind("music/albums/tracks");
    assert!(done.status.success(), "{}", err(&done));
    let tracks = "\n[kinds.AlbumsTrack]\ntype = \"Example.Music/albums/tracks\"\n";
    expected.insert("music/group.toml".to_owned(), format!("{ALBUMS}{tracks}"));
    assert_eq!(workspace.tree(), expected);
    let done = workspace.new_kind("music/labels");
    assert!(done.status.success(), "{}", err(&done));
    let versions = "\"2023-01-01\" = [\"music.json\"]";
    let grown = ALBUMS.replace(versions, &format!("{versions}, \"2025-01-01\" = \"bicep\""));
    let labels = "\n[kinds.Label]\ntype = \"Example.Music/labels\"\n";
    expected.insert(
        "music/group.toml".to_owned(),
        format!("{grown}{tracks}{labels}"),
    );
    assert_eq!(workspace.tree(), expected);
}

#[test]
fn a_new_group_gets_a_new_file() {
    let workspace = Workspace::new(ALBUMS);
    let mut expected = workspace.tree();
    let done = workspace.new_kind("Example.Radio/stations");
    assert!(done.status.success(), "{}", err(&done));
    assert!(
        err(&done).contains("specs/radio/group.toml is written"),
        "{}",
        err(&done)
    );
    let radio = "group = \"radio\"\nnaming = \"new\"\n\n[sources.radio]\n\
                 folder = \"specification/radio/resource-manager/Example.Radio\"\n\
                 versions = { \"2025-01-01\" = \"bicep\" }\n\n[kinds.Station]\ntype = \"Example.Radio/stations\"\n\n\
                 # [types.Station]\n# accessKey = \"secret\" # named like a secret\n";
    expected.insert("radio/group.toml".to_owned(), radio.to_owned());
    assert_eq!(workspace.tree(), expected);
}

#[test]
fn nothing_is_written_when_nothing_can_be_proposed() {
    let broken = format!("{ALBUMS}\n[types.Album]\nzzz = \"remove\"\n");
    let other_source = ALBUMS.replace("2023-01-01", "2025-01-01");
    for (albums, wanted, expected) in [
        (
            ALBUMS,
            "music/label",
            "did you mean `Example.Music/labels`?",
        ),
        (
            ALBUMS,
            "Example.Music/albums",
            "specs/music/group.toml:9 exports",
        ),
        (
            &broken,
            "music/albums/tracks",
            "the proposed lines do not work yet: specs/music/group.toml:13",
        ),
        (
            &other_source,
            "music/labels",
            "only Bicep types have `Example.Music/labels`",
        ),
    ] {
        let workspace = Workspace::new(albums);
        let before = workspace.tree();
        let done = workspace.new_kind(wanted);
        assert_eq!(done.status.code(), Some(1), "{}", err(&done));
        assert!(err(&done).contains(expected), "{}", err(&done));
        assert!(done.stdout.is_empty(), "{done:?}");
        assert_eq!(workspace.tree(), before);
    }
}
