//! What a file of Rust imports. Whoever writes a name into the file notes here where the name is from, so that the
//! finished text need not be searched.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;

use super::format::{ident, import};

/// The crate with the words of generated types.
pub const SHAPES: &str = "armature_shapes";

/// Its module with the words of kinds.
const KIND: &str = "armature_shapes::kind";

/// Its module with the words of shapes.
pub const SHAPE: &str = "armature_shapes::shape";

/// Names by the path that they are imported from.
pub type Imports = BTreeMap<String, Vec<String>>;

/// The imports of a file that is being written.
#[derive(Debug, Default)]
pub struct Uses(RefCell<BTreeMap<String, BTreeSet<String>>>);

impl Uses {
    /// Notes a name. `self` stands for the last name of the path.
    pub fn add(&self, path: &str, name: &str) {
        let mut paths = self.0.borrow_mut();
        let names = paths.entry(path.to_owned()).or_default();
        names.insert(name.to_owned());
    }

    /// Notes all that another place notes.
    pub fn extend(&self, others: &Self) {
        for (path, names) in others.0.borrow().iter() {
            names.iter().for_each(|name| self.add(path, name));
        }
    }

    /// All names that are noted.
    pub fn names(&self) -> BTreeSet<String> {
        self.0.borrow().values().flatten().cloned().collect()
    }

    /// Notes a word of kinds, and gives it.
    pub fn kind(&self, name: &str) -> Ident {
        self.add(KIND, name);
        ident(name)
    }

    /// The imports as text: those of the standard library, of other crates, and of the file's own crate, with an empty
    /// line behind each.
    pub fn text(&self) -> String {
        let mut blocks = [const { String::new() }; 3];
        let paths = self.0.borrow();
        let mut paths = paths.iter().collect::<Vec<_>>();
        paths.sort_by_key(|(path, _)| (!is_below(path, "super"), *path));
        for (path, names) in paths {
            let block = match path.as_str() {
                path if is_below(path, "std") => 0,
                path if is_below(path, "super") || is_below(path, "crate") => 2,
                _ => 1,
            };
            let mut names = names.iter().cloned().collect::<Vec<_>>();
            names.sort_by_key(|name| name != "self");
            blocks[block].push_str(&import(&format!("use {path}"), &names));
        }
        let blocks = blocks.iter().filter(|block| !block.is_empty());
        blocks.map(|block| format!("{block}\n")).collect()
    }
}

/// Whether a path is in this crate or module.
fn is_below(path: &str, first: &str) -> bool {
    path.split("::").next() == Some(first)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{SHAPE, SHAPES, Uses};

    #[test]
    fn imports_stand_in_blocks_and_each_name_once() {
        let uses = Uses::default();
        for (path, name) in [
            ("crate", "hub"),
            ("super", "SOURCES"),
            (SHAPE, "Shaped"),
            (SHAPE, "self"),
            (SHAPES, "shaped"),
            ("std::collections", "BTreeMap"),
            (SHAPE, "Shaped"),
        ] {
            uses.add(path, name);
        }
        assert_eq!(uses.kind("Verbs"), "Verbs");
        assert_eq!(
            uses.text(),
            "use std::collections::BTreeMap;\n\n\
             use armature_shapes::shaped;\n\
             use armature_shapes::kind::Verbs;\n\
             use armature_shapes::shape::{self, Shaped};\n\n\
             use super::SOURCES;\n\
             use crate::hub;\n\n"
        );
        assert_eq!(Uses::default().text(), "");
        let more = Uses::default();
        more.add(SHAPES, "shape");
        more.extend(&uses);
        assert!(
            more.text()
                .contains("use armature_shapes::{shape, shaped};")
        );
        let names = [
            "BTreeMap", "SOURCES", "Shaped", "Verbs", "hub", "self", "shaped",
        ];
        assert_eq!(uses.names(), BTreeSet::from(names.map(str::to_owned)));
    }
}
