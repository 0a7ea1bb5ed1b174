//! `runtime` names no Azure service: what it knows of one comes from tables.
//!
//! Names are read from the curation files. Everywhere, comments included, these count: the provider (`Microsoft.X`), the
//! API group (`x.azure.com`), and names of kinds of two words and more, in any spelling of an identifier. A group's name
//! alone counts as a whole string; in sentences `network` and `storage` are words like others.

use std::collections::{BTreeMap, BTreeSet};

use crate::known::{Allowance, PATH, ends_with};
use crate::text::{Kind, Piece, pieces};
use crate::tree::Tree;
use crate::workspace::Workspace;

/// The group whose provider is Azure Resource Manager itself.
const MANAGER: &str = "resources";

/// A group that is named after what every ARM id begins with.
const OF_EVERY_ID: &str = "subscription";

/// A kind that is named as code names entries of maps everywhere.
const OF_EVERY_MAP: &str = "KeyValue";

/// What must not be said.
#[derive(Debug, Default)]
pub struct Names {
    groups: BTreeSet<String>,
    providers: BTreeSet<String>,
    /// Words of a kind by its first word.
    kinds: BTreeMap<String, Vec<Vec<String>>>,
}

impl Names {
    /// Reads the curation files: `specs/<group>.toml` and `specs/<group>/group.toml`.
    pub fn of(tree: &Tree) -> Self {
        let mut names = Self::default();
        for (path, text) in tree.files("specs/", ".toml") {
            let depth = path.matches('/').count();
            if depth == 1 || (depth == 2 && path.ends_with("/group.toml")) {
                names.add(&text.parse().unwrap_or_default());
            }
        }
        names
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    fn add(&mut self, file: &toml::Table) {
        let Some(group) = file
            .get("group")
            .and_then(toml::Value::as_str)
            .filter(|group| *group != MANAGER)
        else {
            return;
        };
        if group != OF_EVERY_ID {
            self.groups.insert(group.to_lowercase());
        }
        let kinds = file.get("kinds").and_then(toml::Value::as_table);
        for (name, kind) in kinds.into_iter().flatten() {
            let words = words(name);
            if words.len() > 1 && name != OF_EVERY_MAP {
                self.kinds.entry(words[0].clone()).or_default().push(words);
            }
            let provider = kind
                .get("type")
                .and_then(toml::Value::as_str)
                .and_then(|path| path.split('/').next());
            self.providers.extend(provider.map(str::to_lowercase));
        }
    }

    /// Providers, API groups and groups that a comment or a string says.
    fn in_text(&self, piece: &Piece<'_>, said: &mut BTreeSet<String>) {
        let lower = piece.text.to_lowercase();
        if lower.contains("microsoft.") {
            let providers = self.providers.iter();
            said.extend(
                providers
                    .filter(|provider| lower.contains(provider.as_str()))
                    .cloned(),
            );
        }
        if lower.contains(".azure.com") {
            let apis = self.groups.iter().map(|group| format!("{group}.azure.com"));
            said.extend(apis.filter(|api| holds(&lower, api)));
        }
        if piece.kind == Kind::Text && self.groups.contains(&lower) {
            said.insert(lower);
        }
    }

    /// Names that the piece says.
    fn said(&self, piece: &Piece<'_>) -> BTreeSet<String> {
        let mut said = BTreeSet::new();
        if piece.kind != Kind::Identifier {
            self.in_text(piece, &mut said);
        }
        let tokens = piece.text.split(|c: char| !c.is_alphanumeric() && c != '_');
        for token in tokens.filter(|token| token.len() > 3) {
            let words = words(token);
            for at in 0..words.len() {
                let kinds = self.kinds.get(words[at].as_str()).into_iter().flatten();
                said.extend(
                    kinds
                        .filter(|kind| begins(&words[at..], kind))
                        .map(|kind| kind.concat()),
                );
            }
        }
        said
    }
}

/// Whether the text holds the name and not only the end of a longer one.
fn holds(text: &str, name: &str) -> bool {
    let longer = |c: char| c.is_alphanumeric() || c == '-';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(longer))
}

/// Whether the words begin with those of the kind, in the singular or the plural.
fn begins(words: &[String], kind: &[String]) -> bool {
    words.len() >= kind.len()
        && kind
            .iter()
            .zip(words)
            .enumerate()
            .all(|(index, (expected, word))| {
                let last = index + 1 == kind.len();
                word == expected || (last && word.strip_suffix('s') == Some(expected))
            })
}

/// The words of `CamelCase`, `camelCase` and `snake_case`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = '_';
    for c in name.chars() {
        if c != '_' {
            let begins = before == '_' || (c.is_uppercase() && !before.is_uppercase());
            if begins {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words
}

/// Names in `runtime/**` that are not allowed, and allowances that nothing needs. Files that no module tree of a crate
/// reaches are for tests.
pub fn check(workspace: &Workspace, names: &Names) -> Vec<String> {
    let allowed = &workspace.known.services;
    let mut found = Vec::new();
    let mut used = BTreeSet::new();
    for (path, text) in workspace.tree.files("runtime/", ".rs") {
        if !workspace.is_reached(path) {
            continue;
        }
        let source = workspace.sources.get(path);
        for piece in pieces(text) {
            if source.is_some_and(|source| source.is_test_line(piece.line)) {
                continue;
            }
            for word in names.said(&piece) {
                match allowed
                    .iter()
                    .position(|one| one.word == word && is_in(path, one))
                {
                    Some(index) => {
                        used.insert(index);
                    }
                    None => found.push(told(path, piece.line, &word)),
                }
            }
        }
    }
    let unused = (0..allowed.len()).filter(|index| !used.contains(index));
    found.extend(unused.map(|index| {
        let Allowance { word, file, .. } = &allowed[index];
        let place = file.as_deref().unwrap_or("runtime");
        format!(
            "{PATH} allows `{word}` in {place}, which does not say it. Take it out of the list."
        )
    }));
    found
}

fn is_in(path: &str, allowance: &Allowance) -> bool {
    let file = allowance.file.as_ref();
    file.is_none_or(|file| ends_with(path, file))
}

fn told(path: &str, line: usize, word: &str) -> String {
    format!(
        "{path}:{line}: `runtime` names `{word}`. What is true of one service belongs into its curation file, its \
         customization, or a field of `KindInfo`. An example in a comment can have a made-up name."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Known;

    const CURATION: &str = "group = \"storage\"\n[kinds.StorageAccount]\ntype = \"Microsoft.Storage/storageAccounts\"\n\
        [kinds.Vault]\ntype = \"Microsoft.Storage/vaults\"\n";
    const MANAGER_FILE: &str = "group = \"resources\"\n[kinds.ResourceGroup]\ntype = \"Microsoft.Resources/resourceGroups\"\n";

    fn found(text: &str, allowed: Vec<Allowance>) -> Vec<String> {
        let tree = Tree::of(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"runtime/arm\"]"),
            ("runtime/arm/Cargo.toml", "[package]\nname = \"arm\""),
            (
                "runtime/arm/src/lib.rs",
                "mod id; #[cfg(test)] mod unreached;",
            ),
            ("runtime/arm/src/unreached.rs", "//! Of storage.azure.com."),
            ("runtime/arm/src/id.rs", text),
            ("specs/storage/group.toml", CURATION),
            ("specs/resources.toml", MANAGER_FILE),
            ("specs/storage/exceptions.toml", "group = \"other\""),
        ]);
        let known = Known {
            services: allowed,
            ..Known::default()
        };
        let names = Names::of(&tree);
        check(&Workspace::of(tree, known).unwrap(), &names)
    }

    #[test]
    fn every_spelling_of_a_name_is_told() {
        for text in [
            "/// As of `microsoft.storage/x`.\nfn f() {}",
            "const A: &str = \"storageaccounts.storage.azure.com\";",
            "fn is_storage_account() {}",
            "struct ForStorageAccounts;",
            "// Such as StorageAccount.\n",
            "const A: &str = \"storageAccounts\";",
            "const A: &str = \"storage\";",
        ] {
            assert_eq!(found(text, Vec::new()).len(), 1, "{text}");
        }
    }

    #[test]
    fn sentences_other_providers_and_tests_are_let_through() {
        let text = "/// The storage version of a vault.\nconst A: &str = \"Microsoft.Resources/x in blobstorage.azure.com\";\n\
            struct ResourceGroup;\n#[cfg(test)]\nmod tests { const B: &str = \"storage\"; }";
        assert_eq!(found(text, Vec::new()), Vec::<String>::new());
    }

    #[test]
    fn an_allowance_must_be_needed() {
        let allowance = || Allowance {
            word: "storage".to_owned(),
            file: Some("src/id.rs".to_owned()),
            because: "a key of CRDs".to_owned(),
        };
        assert_eq!(
            found("const A: &str = \"storage\";", vec![allowance()]),
            Vec::<String>::new()
        );
        assert!(found("", vec![allowance()])[0].ends_with("Take it out of the list."));
    }
}
