//! The module tree of a crate, and which file a path leads to.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Mention, Scope, Source};
use crate::tree::{Tree, is_test_file};

/// All parsed files by their path.
pub type Sources = BTreeMap<String, Source>;

/// A module: a file, or an inline module in one.
#[derive(Debug)]
struct Module<'s> {
    /// Names from the root of the crate.
    path: Vec<String>,
    /// The file that it is in.
    file: String,
    /// The module that the whole file is.
    file_module: usize,
    parent: usize,
    children: BTreeMap<String, usize>,
    scope: &'s Scope,
}

/// The modules of one crate.
#[derive(Debug)]
pub struct Modules<'s> {
    all: Vec<Module<'s>>,
    /// Macros by name, for calls without a path.
    macros: BTreeMap<&'s str, usize>,
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Module(usize),
    /// Something that this module defines, or a name that only this module can know.
    Item(usize),
}

/// One use of something of another file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The name that is used.
    pub name: String,
    /// Line in the file that uses it.
    pub line: usize,
}

/// Files of a crate and who imports whom.
#[derive(Debug, Default)]
pub struct Imports {
    /// The module path of each file.
    pub paths: BTreeMap<String, Vec<String>>,
    /// What the first file uses of the second one. Of a folder's own file and what is inside of the folder neither
    /// imports the other: they are one thing.
    pub edges: BTreeMap<(String, String), BTreeSet<Use>>,
}

impl<'s> Modules<'s> {
    /// Follows the `mod` declarations from this file on.
    pub fn of(tree: &Tree, sources: &'s Sources, root: &str) -> Self {
        let mut modules = Self {
            all: Vec::new(),
            macros: BTreeMap::new(),
        };
        modules.add_file(tree, sources, root, Vec::new(), 0);
        modules
    }

    fn add_file(
        &mut self,
        tree: &Tree,
        sources: &'s Sources,
        file: &str,
        path: Vec<String>,
        parent: usize,
    ) -> Option<usize> {
        let source = sources.get(file)?;
        let file_module = self.all.len();
        for scope in &source.scopes {
            let index = self.all.len();
            let mut own = path.clone();
            own.extend(scope.path.iter().cloned());
            let around = match scope.path.split_last() {
                None => parent,
                Some((_, around)) => self.inner(file_module, around),
            };
            if let Some(name) = scope.path.last() {
                self.all[around].children.insert(name.clone(), index);
            }
            for name in &scope.macros {
                self.macros.insert(name, index);
            }
            self.all.push(Module {
                path: own,
                file: file.to_owned(),
                file_module,
                parent: around,
                children: BTreeMap::new(),
                scope,
            });
        }
        for index in file_module..file_module + source.scopes.len() {
            let scope = self.all[index].scope;
            for declared in &scope.declared {
                let Some(below) = place(tree, file, path.is_empty(), scope, declared) else {
                    continue;
                };
                let mut inner = self.all[index].path.clone();
                inner.push(declared.name.clone());
                if let Some(child) = self.add_file(tree, sources, &below, inner, index) {
                    self.all[index]
                        .children
                        .insert(declared.name.clone(), child);
                }
            }
        }
        Some(file_module)
    }

    fn inner(&self, from: usize, names: &[String]) -> usize {
        names.iter().fold(from, |at, name| {
            self.all[at].children.get(name).copied().unwrap_or(at)
        })
    }

    /// Whether the module's file stands for a folder.
    fn is_folder(&self, module: usize) -> bool {
        let module = &self.all[self.all[module].file_module];
        let file = module.file.rsplit('/').next().unwrap_or_default();
        let below = |child: &usize| self.all[*child].file != module.file;
        module.path.is_empty() || file == "mod.rs" || module.children.values().any(below)
    }

    fn resolve(
        &self,
        from: usize,
        path: &[String],
        seen: &mut BTreeSet<(usize, String)>,
    ) -> Option<Found> {
        let mut rest = path;
        let mut at = Found::Module(from);
        while let (Found::Module(module), Some((first, others))) = (at, rest.split_first()) {
            at = match first.as_str() {
                "crate" => Found::Module(0),
                "self" => Found::Module(module),
                "super" => Found::Module(self.all[module].parent),
                _ => break,
            };
            rest = others;
        }
        let relative = rest.len() == path.len();
        for (index, name) in rest.iter().enumerate() {
            let Found::Module(module) = at else {
                return Some(at);
            };
            at = match self.look_up(module, name, seen) {
                Some(found) => found?,
                // A crate of others, or something of the prelude.
                None if relative && index == 0 => return None,
                None => Found::Item(module),
            };
        }
        Some(at)
    }

    /// `None` if the module has no such name, `Some(None)` if the name is from elsewhere.
    fn look_up(
        &self,
        module: usize,
        name: &str,
        seen: &mut BTreeSet<(usize, String)>,
    ) -> Option<Option<Found>> {
        if !seen.insert((module, name.to_owned())) {
            return None;
        }
        let this = &self.all[module];
        if let Some(&child) = this.children.get(name) {
            return Some(Some(Found::Module(child)));
        }
        if this.scope.items.contains(name) || this.scope.macros.contains(name) {
            return Some(Some(Found::Item(module)));
        }
        if module == 0
            && let Some(&definer) = self.macros.get(name)
            && self.all[definer].scope.exported_macros.contains(name)
        {
            return Some(Some(Found::Item(definer)));
        }
        let named = this
            .scope
            .imports
            .iter()
            .find(|import| import.name.as_deref() == Some(name));
        if let Some(import) = named {
            return Some(self.resolve(module, &import.path, seen));
        }
        let globs = this.scope.imports.iter().filter(|import| import.glob);
        globs
            .into_iter()
            .find_map(|glob| match self.resolve(module, &glob.path, seen)? {
                Found::Module(target) => self.look_up(target, name, seen),
                Found::Item(_) => None,
            })
    }

    /// Who imports whom.
    pub fn imports(&self) -> Imports {
        let mut imports = Imports::default();
        for (index, module) in self.all.iter().enumerate() {
            imports.paths.insert(
                module.file.clone(),
                self.all[module.file_module].path.clone(),
            );
            for import in &module.scope.imports {
                let passed_on = import.public && self.is_folder(index);
                let target = self.resolve(index, &import.path, &mut BTreeSet::new());
                let name = import.path.last().map_or("*", String::as_str);
                if let (Some(target), false) = (target, passed_on) {
                    self.add(&mut imports, index, target, name, import.line);
                }
            }
            for mention in &module.scope.mentions {
                if let Some(target) = self.mentioned(index, mention) {
                    let name = mention.path.last().map_or("", String::as_str);
                    self.add(&mut imports, index, target, name, mention.line);
                }
            }
        }
        imports
    }

    fn mentioned(&self, from: usize, mention: &Mention) -> Option<Found> {
        let found = self.resolve(from, &mention.path, &mut BTreeSet::new());
        let [name] = mention.path.as_slice() else {
            return found;
        };
        match found {
            // A variable of the same name.
            Some(Found::Module(_)) => None,
            None if mention.called_as_macro => self
                .macros
                .get(name.as_str())
                .map(|&module| Found::Item(module)),
            _ => found,
        }
    }

    fn add(&self, imports: &mut Imports, from: usize, target: Found, name: &str, line: usize) {
        let to = match target {
            // The path goes on from there, and what it leads to counts.
            Found::Module(module) if self.is_folder(module) => return,
            Found::Module(module) | Found::Item(module) => module,
        };
        let from = &self.all[self.all[from].file_module];
        let to = &self.all[self.all[to].file_module];
        if from.path.starts_with(&to.path) || to.path.starts_with(&from.path) {
            return;
        }
        let uses = imports
            .edges
            .entry((from.file.clone(), to.file.clone()))
            .or_default();
        if !uses.iter().any(|other| other.name == name) {
            uses.insert(Use {
                name: name.to_owned(),
                line,
            });
        }
    }
}

/// The file of a `mod name;`, if it is there and no test.
fn place(
    tree: &Tree,
    file: &str,
    root: bool,
    scope: &Scope,
    declared: &crate::source::Declared,
) -> Option<String> {
    let (folder, own) = file.rsplit_once('/').unwrap_or(("", file));
    let candidates = match &declared.file {
        Some(path) => vec![format!("{folder}/{path}")],
        None => {
            let mut base = folder.to_owned();
            if !root && own != "mod.rs" {
                base = format!("{base}/{}", own.trim_end_matches(".rs"));
            }
            for name in &scope.path {
                base = format!("{base}/{name}");
            }
            let name = declared.name.trim_start_matches("r#");
            vec![format!("{base}/{name}.rs"), format!("{base}/{name}/mod.rs")]
        }
    };
    candidates
        .into_iter()
        .find(|path| tree.has(path) && !is_test_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edges of the crate `c` with these files: `from -> to: names`.
    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let tree = Tree::of(files);
        let sources = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), Source::read(text).unwrap()))
            .collect();
        let imports = Modules::of(&tree, &sources, "c/lib.rs").imports();
        let names = |uses: BTreeSet<Use>| {
            uses.into_iter()
                .map(|of| of.name)
                .collect::<Vec<_>>()
                .join(", ")
        };
        imports
            .edges
            .into_iter()
            .map(|((from, to), uses)| format!("{} -> {}: {}", &from[2..], &to[2..], names(uses)))
            .collect()
    }

    #[test]
    fn a_name_leads_to_the_file_that_defines_it() {
        let found = edges(&[
            ("c/lib.rs", "mod a; mod b; mod d;"),
            (
                "c/a.rs",
                "use crate::b::{Inner, Outer as O}; fn f() { crate::b::deep::g(); b2::x(); }",
            ),
            (
                "c/b/mod.rs",
                "mod deep; mod other; pub use deep::*; pub use self::other::Renamed as Outer;",
            ),
            ("c/b/deep.rs", "pub struct Inner; pub fn g() {}"),
            ("c/b/other.rs", "pub struct Renamed;"),
            (
                "c/d.rs",
                "use crate::b; use super::a as first; fn f() { b::Inner; first::f(); std::mem::take(); }",
            ),
        ]);
        assert_eq!(
            found,
            [
                "a.rs -> b/deep.rs: Inner, g",
                "a.rs -> b/other.rs: Outer",
                "d.rs -> a.rs: a, f",
                "d.rs -> b/deep.rs: Inner",
            ]
        );
    }

    #[test]
    fn a_folders_own_file_and_what_is_inside_are_one() {
        let found = edges(&[
            ("c/lib.rs", "mod x; pub struct Root;"),
            ("c/x.rs", "mod inside; fn f() { inside::g() } pub struct X;"),
            (
                "c/x/inside.rs",
                "use super::X; use crate::Root; pub fn g() {}",
            ),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn macros_and_inline_modules_are_followed() {
        let found = edges(&[
            ("c/lib.rs", "#[macro_use] mod m; mod u;"),
            (
                "c/m.rs",
                "macro_rules! near { () => {} } #[macro_export] macro_rules! far { () => { $crate::u::T } }",
            ),
            (
                "c/u.rs",
                "pub struct T; mod inner { fn f() { near!(); crate::far!(); super::T; } }",
            ),
        ]);
        assert_eq!(found, ["m.rs -> u.rs: T", "u.rs -> m.rs: far, near"]);
    }

    #[test]
    fn tests_and_documentation_import_nothing() {
        let found = edges(&[
            ("c/lib.rs", "mod a; mod b; #[cfg(test)] mod tests;"),
            (
                "c/a.rs",
                "//! [`crate::b::B`]\n#[cfg(test)] mod tests { use crate::b::B; }",
            ),
            ("c/b.rs", "pub struct B;"),
            ("c/tests.rs", "use crate::a; use crate::b::B;"),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }
}
