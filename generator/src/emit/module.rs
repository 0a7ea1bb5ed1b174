//! A module with the types of one api-version, or of the hub: which file holds what, and what is re-exported.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::quote;

use super::format::{FormatError, braced, doc, ident, item};
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

/// What is to be written as a module.
pub struct Module<'a> {
    /// Lines on top of each file, without slashes: where it comes from.
    pub header: Vec<String>,
    /// What the module is, for its documentation.
    pub about: Vec<String>,
    /// All types of the module.
    pub types: &'a TypeTable,
    /// Modules that define types of this one: type → module.
    pub elsewhere: BTreeMap<TypeName, String>,
    /// Kinds in order.
    pub kinds: Vec<ModuleKind<'a>>,
}

/// Writes the module's files: name below the module's folder → text.
pub fn module(module: &Module<'_>) -> Result<BTreeMap<String, String>, FormatError> {
    let mut files = BTreeMap::new();
    let parts = parts(module);
    for (name, members) in &parts {
        let text = part(module, members)?;
        files.insert(format!("{name}.rs"), text);
    }
    files.insert("mod.rs".to_owned(), root(module, &parts)?);
    Ok(files)
}

/// Which file defines which types: each type goes with the first root that reaches it.
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
        for name in reachable(module.types, [root]) {
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

fn header(module: &Module<'_>) -> String {
    let lines = module.header.iter();
    lines.map(|line| format!("// {line}\n")).collect()
}

/// A file with type definitions.
fn part(module: &Module<'_>, members: &[&TypeName]) -> Result<String, FormatError> {
    let mut bodies = Vec::new();
    let mut siblings = BTreeSet::new();
    for name in members {
        let definition = &module.types[*name];
        bodies.push(types::definition(name, definition, module.types)?);
        if let TypeDef::Object(object) = definition {
            let used = object.properties.iter().filter_map(|p| p.ty.named());
            siblings.extend(used.filter(|used| !members.contains(used)));
        }
    }
    let body = bodies.join("\n");
    let mut text = header(module);
    text.push('\n');
    if body.contains("BTreeMap<") {
        text.push_str("use std::collections::BTreeMap;\n\n");
    }
    let runtime = [
        ("field", "field!"),
        ("resource", "resource::"),
        ("shape", "shape::"),
        ("string_enum", "string_enum!"),
    ];
    let used = runtime.iter().filter(|(_, mark)| body.contains(mark));
    let used = used.map(|(name, _)| *name).collect::<Vec<_>>();
    text.push_str(&format!("use armature_runtime::{};\n", braced(&used)));
    if !siblings.is_empty() {
        let names = siblings.iter().map(|name| type_name(name));
        let names = names.collect::<Vec<_>>();
        let names = names.iter().map(String::as_str).collect::<Vec<_>>();
        text.push_str(&format!("\nuse super::{};\n", braced(&names)));
    }
    text.push('\n');
    text.push_str(&body);
    Ok(text)
}

/// The file `mod.rs`: parts, re-exports and typed kinds.
fn root(
    module: &Module<'_>,
    parts: &BTreeMap<String, Vec<&TypeName>>,
) -> Result<String, FormatError> {
    let mut text = header(module);
    text.push('\n');
    for line in &module.about {
        text.push_str(&format!("//! {line}\n"));
    }
    text.push('\n');
    for name in parts.keys() {
        text.push_str(&format!("mod {name};\n"));
    }
    text.push_str("\nuse armature_runtime::kind::{KindInfo, TypedKind};\n");
    text.push_str("use armature_runtime::resource::TypedObject;\n\n");
    for (name, members) in parts {
        let members = members.iter().map(|member| type_name(member));
        let members = members.collect::<Vec<_>>();
        let members = members.iter().map(String::as_str).collect::<Vec<_>>();
        text.push_str(&format!("pub use {name}::{};\n", braced(&members)));
    }
    let mut homes = BTreeMap::<&str, Vec<String>>::new();
    for (name, home) in &module.elsewhere {
        homes.entry(home).or_default().push(type_name(name));
    }
    for (home, names) in homes {
        let names = names.iter().map(String::as_str).collect::<Vec<_>>();
        text.push_str(&format!("pub use super::{home}::{};\n", braced(&names)));
    }
    for kind in &module.kinds {
        for tokens in typed_kind(kind) {
            text.push('\n');
            text.push_str(&item(kind.kind, tokens)?);
        }
    }
    Ok(text)
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
