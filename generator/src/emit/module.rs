//! A module with the types of one api-version, or of the hub: which file holds what, and what is re-exported.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::quote;

use super::format::{FormatError, doc, ident, import, item};
use super::ident::{constant, snake, type_name};
use super::types;
use crate::model::{TypeDef, TypeName, TypeTable, reachable};

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

/// Where a type is defined that this module only re-exports.
pub struct Home {
    /// Module.
    pub module: String,
    /// Name there.
    pub name: TypeName,
}

/// What is to be written as a module.
pub struct Module<'a> {
    /// First line of each file, without slashes: what it is made for.
    pub header: String,
    /// Further lines on top of `mod.rs`: where the module comes from.
    pub sources: Vec<String>,
    /// What the module is, for its documentation.
    pub about: Vec<String>,
    /// All types of the module.
    pub types: &'a TypeTable,
    /// Types that another module defines.
    pub elsewhere: BTreeMap<TypeName, Home>,
    /// Kinds in order.
    pub kinds: Vec<ModuleKind<'a>>,
}

/// Writes the module's files: name below the module's folder → text.
pub fn module(module: &Module<'_>) -> Result<BTreeMap<String, String>, FormatError> {
    let mut files = BTreeMap::new();
    let parts = parts(module);
    for (name, members) in &parts {
        files.insert(format!("{name}.rs"), part(module, members));
    }
    files.insert("mod.rs".to_owned(), root(module, &parts)?);
    Ok(files)
}

/// Which file defines which types: each type goes with the first root that reaches it. The root comes first, the types
/// that it is made of by name.
fn parts<'a>(module: &Module<'a>) -> BTreeMap<String, Vec<&'a TypeName>> {
    let mut parts = BTreeMap::<String, Vec<&TypeName>>::new();
    let mut placed = BTreeSet::new();
    let sides = module.kinds.iter().flat_map(|kind| {
        let file = snake(kind.kind);
        [
            (format!("{file}_spec"), kind.spec),
            (format!("{file}_status"), kind.status),
        ]
    });
    for (file, root) in sides {
        let below = reachable(module.types, [root]).into_iter();
        let below = below.filter(|name| name != root);
        for name in std::iter::once(root.clone()).chain(below) {
            let Some((name, _)) = module.types.get_key_value(&name) else {
                continue;
            };
            if !module.elsewhere.contains_key(name) && placed.insert(name) {
                parts.entry(file.clone()).or_default().push(name);
            }
        }
    }
    parts
}

/// A file with type definitions.
fn part(module: &Module<'_>, members: &[&TypeName]) -> String {
    let mut bodies = Vec::new();
    let mut siblings = BTreeSet::new();
    for name in members {
        let definition = &module.types[*name];
        bodies.push(types::definition(name, definition, module.types));
        if let TypeDef::Object(object) = definition {
            let used = object.properties.iter().filter_map(|p| p.ty.named());
            siblings.extend(used.filter(|used| !members.contains(used)));
        }
    }
    let body = bodies.join("\n");
    let mut text = format!("// {}\n\n", module.header);
    if body.contains("BTreeMap<") {
        text.push_str("use std::collections::BTreeMap;\n\n");
    }
    let runtime = [
        ("resource", "resource::"),
        ("shape", "shape::"),
        ("shaped", "shaped!"),
        ("string_enum", "string_enum!"),
    ];
    let used = runtime.iter().filter(|(_, mark)| body.contains(mark));
    let used = used.map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    text.push_str(&import("use armature_shapes", &used));
    if !siblings.is_empty() {
        text.push('\n');
        text.push_str(&import("use super", &sorted(siblings)));
    }
    text.push('\n');
    text.push_str(&body);
    text
}

/// The file `mod.rs`: parts, re-exports and typed kinds.
fn root(
    module: &Module<'_>,
    parts: &BTreeMap<String, Vec<&TypeName>>,
) -> Result<String, FormatError> {
    let mut text = format!("// {}\n", module.header);
    for line in &module.sources {
        text.push_str(&format!("// {line}\n"));
    }
    text.push('\n');
    for line in &module.about {
        text.push_str(&format!("//! {line}\n"));
    }
    text.push('\n');
    for name in parts.keys() {
        text.push_str(&format!("mod {name};\n"));
    }
    text.push_str("\nuse armature_shapes::kind::{KindInfo, TypedKind};\n");
    text.push_str("use armature_shapes::resource::TypedObject;\n\n");
    for (name, members) in parts {
        let members = sorted(members.iter().copied());
        text.push_str(&import(&format!("pub use {name}"), &members));
    }
    let mut homes = BTreeMap::<&str, Vec<String>>::new();
    for (name, home) in &module.elsewhere {
        let (here, there) = (type_name(name), type_name(&home.name));
        let name = if here == there {
            here
        } else {
            format!("{there} as {here}")
        };
        homes.entry(&home.module).or_default().push(name);
    }
    for (home, names) in homes {
        text.push_str(&import(&format!("pub use super::{home}"), &names));
    }
    for kind in &module.kinds {
        for tokens in typed_kind(kind) {
            text.push('\n');
            text.push_str(&item(kind.kind, tokens)?);
        }
    }
    Ok(text)
}

/// Rust names in order.
fn sorted<'a>(names: impl IntoIterator<Item = &'a TypeName>) -> Vec<String> {
    let mut names = names.into_iter().map(type_name).collect::<Vec<_>>();
    names.sort();
    names
}

/// The marker type of a kind in this module, and the object type that goes with it.
fn typed_kind(kind: &ModuleKind<'_>) -> [TokenStream; 3] {
    let name = ident(kind.kind);
    let marker = ident(&format!("{}Kind", kind.kind));
    let (spec, status) = (ident(&type_name(kind.spec)), ident(&type_name(kind.status)));
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
