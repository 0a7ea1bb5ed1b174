//! A module with the types of one api-version, or of the hub: which file holds what, and what is re-exported.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::format::{FormatError, doc, ident, import, item};
use super::types;
use super::uses::{Imports, Uses};
use crate::model::{MissingType, TypeDef, TypeName};
use crate::naming::{Named, constant, snake};

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
    /// First line of each file, without slashes: what it is made for.
    pub header: String,
    /// Further lines on top of `mod.rs`: where the module comes from.
    pub sources: Vec<String>,
    /// What the module is, for its documentation.
    pub about: Vec<String>,
    /// Files with a root each: name → root and text.
    pub roots: BTreeMap<String, (&'a TypeName, String)>,
    /// Modules with what the kinds' roots are made of, where these are not in the module itself: name → re-exports.
    pub parts: BTreeMap<String, Imports>,
    /// What is defined elsewhere.
    pub elsewhere: Imports,
    /// Kinds in order.
    pub kinds: Vec<ModuleKind<'a>>,
}

/// Writes the module's files: name below the module's folder → text.
pub fn module(module: &Module<'_>) -> Result<BTreeMap<String, String>, FormatError> {
    let mut files = BTreeMap::new();
    for (name, (_, text)) in &module.roots {
        files.insert(format!("{name}.rs"), text.clone());
    }
    for (name, parts) in &module.parts {
        let about = "What the spec and the status of a kind are made of.";
        let parts = exports(parts);
        let text = format!("// {}\n\n//! {about}\n\n{parts}", module.header);
        files.insert(format!("{name}.rs"), text);
    }
    files.insert("mod.rs".to_owned(), root(module)?);
    Ok(files)
}

/// A file with the definition of one type.
pub fn file(
    header: &str,
    (name, definition): (&TypeName, &TypeDef),
    named: Named<'_>,
    used: &Imports,
) -> Result<String, MissingType> {
    let uses = Uses::default();
    uses.extend(used);
    let body = types::definition(name, definition, named, &uses)?;
    Ok(format!("// {header}\n\n{}{body}", uses.text()))
}

fn exports(paths: &Imports) -> String {
    let lines = paths
        .iter()
        .map(|(path, names)| import(&format!("pub use {path}"), names));
    lines.collect()
}

/// The file `mod.rs`: parts, re-exports and typed kinds.
fn root(module: &Module<'_>) -> Result<String, FormatError> {
    let mut text = format!("// {}\n", module.header);
    for line in &module.sources {
        text.push_str(&format!("// {line}\n"));
    }
    text.push('\n');
    for line in &module.about {
        text.push_str(&format!("//! {line}\n"));
    }
    text.push('\n');
    let mut modules = BTreeMap::new();
    modules.extend(module.roots.keys().map(|name| (name, "mod")));
    modules.extend(module.parts.keys().map(|name| (name, "pub mod")));
    for (name, word) in modules {
        text.push_str(&format!("{word} {name};\n"));
    }
    text.push_str("\nuse armature_shapes::kind::{KindInfo, TypedKind};\n");
    text.push_str("use armature_shapes::resource::TypedObject;\n\n");
    for (file, (root, _)) in &module.roots {
        text.push_str(&format!("pub use {file}::{root};\n"));
    }
    text.push_str(&exports(&module.elsewhere));
    for kind in &module.kinds {
        for tokens in typed_kind(kind) {
            text.push('\n');
            text.push_str(&item(kind.kind, tokens)?);
        }
    }
    Ok(text)
}

/// Names of the files with a kind's roots.
pub fn root_files(kind: &str) -> [String; 2] {
    let kind = snake(kind);
    [format!("{kind}_spec"), format!("{kind}_status")]
}

/// Name of the type that stands for a kind where Rust wants one.
pub fn marker(kind: &str) -> String {
    format!("{kind}Kind")
}

/// The marker type of a kind in this module, and the object type that goes with it.
fn typed_kind(kind: &ModuleKind<'_>) -> [TokenStream; 3] {
    let name = ident(kind.kind);
    let marker = ident(&marker(kind.kind));
    let (spec, status) = (ident(kind.spec.as_str()), ident(kind.status.as_str()));
    let info = ident(&constant(kind.kind));
    let version = &kind.version;
    let marker_doc = doc(&format!("Names `{}` in version `{version}`.", kind.kind));
    let object_doc = doc(&format!("A `{}` as `kube::Api` takes it.", kind.kind));
    [
        quote! {
            #marker_doc
            #[derive(Clone, Copy, Debug, Default)]
            pub struct #marker;
        },
        quote! {
            impl TypedKind for #marker {
                type Spec = #spec;
                type Status = #status;
                const KIND: &'static KindInfo = &crate::kinds::#info;
                const VERSION: &'static str = #version;
            }
        },
        quote! {
            #object_doc
            pub type #name = TypedObject<#marker>;
        },
    ]
}
