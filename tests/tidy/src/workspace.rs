//! Everything that the checks need of a workspace, read once.

use std::path::Path;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::known::{self, Known};
use crate::members::{self, Member};
use crate::modules::{Imports, Modules, Sources};
use crate::source::Source;
use crate::tree::{Tree, is_test_file};

/// A workspace.
#[derive(Debug)]
pub struct Workspace {
    /// Its files.
    pub tree: Tree,
    /// Its crates.
    pub members: Vec<Member>,
    /// Its Rust files that people wrote, those of tests left out.
    pub sources: Sources,
    /// Who imports whom in each crate that people wrote.
    pub imports: Vec<Imports>,
    /// What is known.
    pub known: Known,
}

impl Workspace {
    /// Reads the workspace that this crate is in.
    pub fn read() -> Result<Self> {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = own
            .ancestors()
            .nth(2)
            .context("this crate is not two folders below the workspace")?;
        let tree = Tree::read(root)?;
        let known = known::read(&tree)?;
        Self::of(tree, known)
    }

    /// A workspace of these files.
    pub fn of(tree: Tree, known: Known) -> Result<Self> {
        let members = members::members(&tree)?;
        let sources = parse(&tree)?;
        let written = members
            .iter()
            .filter(|member| !member.folder.starts_with("generated/"));
        let roots = written.flat_map(|member| member.roots(&tree));
        let imports = roots
            .map(|root| Modules::of(&tree, &sources, &root).imports())
            .collect();
        Ok(Self {
            tree,
            members,
            sources,
            imports,
            known,
        })
    }

    /// Whether the file is a module of a crate, and not only for tests.
    pub fn is_reached(&self, path: &str) -> bool {
        self.imports
            .iter()
            .any(|imports| imports.paths.contains_key(path))
    }
}

/// Parses all Rust files, on two threads.
fn parse(tree: &Tree) -> Result<Sources> {
    let files: Vec<(&str, &str)> = tree
        .handwritten()
        .filter(|(path, _)| !is_test_file(path))
        .collect();
    let half = |start: usize| {
        let own = files.iter().skip(start).step_by(2);
        own.map(|(path, text)| {
            Source::read(text)
                .map(|source| ((*path).to_owned(), source))
                .map_err(|error| format!("{path}, {error}"))
        })
        .collect::<Result<Sources, String>>()
    };
    let (one, other) = thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        (half(0), other.join())
    });
    match (one, other) {
        (Ok(mut one), Ok(Ok(other))) => {
            one.extend(other);
            Ok(one)
        }
        (Err(error), _) | (_, Ok(Err(error))) => bail!("a file is no Rust: {error}"),
        (_, Err(_)) => bail!("reading Rust files panicked; the message is above"),
    }
}
