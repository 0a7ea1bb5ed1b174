//! A module with the types of one api-version, or of the hub: what it defines and what it re-exports, in one file.

use std::collections::BTreeMap;

use super::format::{WIDTH, import};
use super::module_name;
use super::shared::Table;
use super::uses::{Imports, SHAPES, Uses};
use crate::model::{ApiVersion, MissingType, TypeId, TypeName};
use crate::naming::constant;

/// A kind as a module offers it.
pub struct ModuleKind<'a> {
    /// Kind.
    pub kind: &'a str,
    /// Root of the desired state.
    pub spec: &'a TypeName,
    /// Root of the observed state.
    pub status: &'a TypeName,
    /// Name of the version that the typed kind reads and writes.
    pub version: String,
}

/// What is to be written as a module.
pub struct Module<'a> {
    /// Lines on top of the file, without slashes: what it is made for, and where it comes from.
    pub header: Vec<String>,
    /// What the module is, for its documentation.
    pub about: Vec<String>,
    /// Texts of the roots that it defines.
    pub roots: Vec<String>,
    /// What these import.
    pub uses: Uses,
    /// Roots that are defined elsewhere.
    pub elsewhere: Imports,
    /// What its roots are made of.
    pub types: Imports,
    /// Modules with what the kinds' roots are made of, where these are not in the module itself: name → re-exports.
    pub parts: BTreeMap<String, Imports>,
    /// Kinds in order.
    pub kinds: Vec<ModuleKind<'a>>,
}

impl Module<'_> {
    /// Defines a root, or passes on that of another api-version. `named` says how the root writes the names of its members'
    /// types.
    pub fn add_root(
        &mut self,
        root: &TypeId,
        table: &Table<'_>,
        home: Option<&ApiVersion>,
        named: &dyn Fn(&TypeId) -> Result<String, MissingType>,
    ) -> Result<(), MissingType> {
        if let Some(home) = home {
            let path = format!("super::{}", module_name(home));
            let name = table.named.names.get(root)?.to_string();
            self.elsewhere.entry(path).or_default().push(name);
        } else {
            self.roots.push(table.text(root, &self.uses, named)?);
        }
        Ok(())
    }
}

/// Writes the module's file.
pub fn text(module: &Module<'_>) -> String {
    let header = module.header.iter().map(|line| format!("// {line}\n"));
    let about = module.about.iter().map(|line| format!("//! {line}\n"));
    let header = header.chain(["\n".to_owned()]).chain(about);
    let mut text = header.collect::<String>();
    module.uses.add(SHAPES, "typed_kinds");
    module.uses.add("crate", "kinds");
    text.push_str(&format!("\n{}", module.uses.text()));
    text.push_str(&exports(&module.elsewhere));
    text.push_str(&exports(&module.types));
    for (name, types) in &module.parts {
        let exports = exports(types);
        let exports = exports.lines().map(|line| format!("    {line}\n"));
        let exports = exports.collect::<String>();
        let about = "/// What the spec and the status of the kind are made of.";
        text.push_str(&format!("\n{about}\npub mod {name} {{\n{exports}}}\n"));
    }
    let kinds = module.kinds.iter().map(typed_kind).collect::<String>();
    text.push_str(&format!("\ntyped_kinds! {{\n{kinds}}}\n"));
    for root in &module.roots {
        text.push_str(&format!("\n{root}"));
    }
    text
}

fn exports(types: &Imports) -> String {
    let lines = types.iter();
    let lines = lines.map(|(path, names)| import(&format!("pub use {path}"), names));
    lines.collect()
}

/// Name of the type that stands for a kind where Rust wants one.
pub fn marker(kind: &str) -> String {
    format!("{kind}Kind")
}

/// A kind as the macro of typed kinds takes it.
fn typed_kind(of: &ModuleKind<'_>) -> String {
    let ModuleKind {
        kind,
        spec,
        status,
        version,
    } = of;
    let (kind, types) = (
        format!("{kind}: {}", marker(kind)),
        format!("{spec}, {status}"),
    );
    let what = format!("kinds::{}, \"{version}\";", constant(of.kind));
    let line = format!("    {kind} {{ {types} }} = {what}\n");
    if line.len() <= WIDTH + 1 {
        line
    } else {
        format!("    {kind} {{\n        {types}\n    }} = {what}\n")
    }
}
