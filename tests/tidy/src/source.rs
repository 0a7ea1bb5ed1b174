//! What the checks need of a Rust file: imports, definitions, functions and switched-off lints.

mod paths;

use std::collections::BTreeSet;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

/// A Rust file as the checks see it. What is compiled for tests only is left out of its scopes.
#[derive(Debug, Default)]
pub struct Source {
    /// The file itself first, then its inline modules.
    pub scopes: Vec<Scope>,
    /// All functions, in order.
    pub functions: Vec<Function>,
    /// Lints that a module or the crate allows.
    pub allowed: Vec<Allowed>,
    /// First and last line of each item that is compiled for tests only.
    pub test_lines: Vec<(usize, usize)>,
}

/// A file or an inline module.
#[derive(Debug, Default)]
pub struct Scope {
    /// Names of the inline modules that lead here; empty for the file itself.
    pub path: Vec<String>,
    /// What is defined here, macros of `macro_rules!` not among it.
    pub items: BTreeSet<String>,
    /// Macros that are defined here.
    pub macros: BTreeSet<String>,
    /// Macros that the whole crate sees by `crate::name`.
    pub exported_macros: BTreeSet<String>,
    /// Modules that are declared here and lie in other files.
    pub declared: Vec<Declared>,
    /// Names that `use` brings here.
    pub imports: Vec<Import>,
    /// Paths in code.
    pub mentions: Vec<Mention>,
}

/// A `mod name;`.
#[derive(Debug)]
pub struct Declared {
    /// The name.
    pub name: String,
    /// What `#[path]` says.
    pub file: Option<String>,
}

/// One name, or one `*`, of a `use`.
#[derive(Debug)]
pub struct Import {
    /// Name in this scope; `None` for `*` and for `as _`.
    pub name: Option<String>,
    /// Where it comes from.
    pub path: Vec<String>,
    /// Whether it ends in `*`.
    pub glob: bool,
    /// Whether others see it here.
    pub public: bool,
    /// Line in the file.
    pub line: usize,
}

/// A path in code.
#[derive(Debug)]
pub struct Mention {
    /// Its names.
    pub path: Vec<String>,
    /// Line in the file.
    pub line: usize,
    /// Whether it is called with `!`.
    pub called_as_macro: bool,
}

/// A function with a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Line of `fn`.
    pub line: usize,
    /// Lines from `fn` to the closing brace.
    pub length: usize,
    /// Whether it is compiled for tests only.
    pub test: bool,
}

/// A lint that a module or the crate allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// Name of the lint: `clippy::unwrap_used`.
    pub lint: String,
    /// Line in the file.
    pub line: usize,
}

impl Source {
    /// Reads a file; an error says what is no Rust.
    pub fn read(text: &str) -> Result<Self, String> {
        let file = syn::parse_file(text)
            .map_err(|error| format!("line {}: {error}", line(error.span())))?;
        let mut reader = Reader {
            source: Self::default(),
            at: 0,
            tests: 0,
        };
        reader.source.scopes.push(Scope::default());
        reader.attributes(&file.attrs);
        let whole_file = file.attrs.iter().any(for_tests);
        reader.tests += usize::from(whole_file);
        if whole_file {
            reader.source.test_lines.push((1, usize::MAX));
        }
        for item in &file.items {
            reader.visit_item(item);
        }
        Ok(reader.source)
    }

    /// Whether the line is compiled for tests only.
    pub fn is_test_line(&self, line: usize) -> bool {
        self.test_lines
            .iter()
            .any(|&(first, last)| first <= line && line <= last)
    }
}

struct Reader {
    source: Source,
    /// The scope that is being read.
    at: usize,
    /// How many items for tests only are around.
    tests: usize,
}

impl Reader {
    fn scope(&mut self) -> Option<&mut Scope> {
        if self.tests > 0 {
            None
        } else {
            self.source.scopes.get_mut(self.at)
        }
    }

    fn function(&mut self, name: &syn::Ident, start: Span, block: &syn::Block) {
        let first = line(start);
        let last = block.brace_token.span.close().start().line;
        self.source.functions.push(Function {
            name: name.to_string(),
            line: first,
            length: last.saturating_sub(first) + 1,
            test: self.tests > 0,
        });
    }

    fn define(&mut self, name: &syn::Ident) {
        let name = name.to_string();
        if let Some(scope) = self.scope() {
            scope.items.insert(name);
        }
    }

    fn mention(&mut self, path: Vec<String>, line: usize, called_as_macro: bool) {
        if let Some(scope) = self.scope() {
            scope.mentions.push(Mention {
                path,
                line,
                called_as_macro,
            });
        }
    }

    fn import(&mut self, tree: &UseTree, prefix: &[String], public: bool) {
        let mut import = |name: Option<String>, path: Vec<String>, glob: bool, line: usize| {
            if let Some(scope) = self.scope() {
                scope.imports.push(Import {
                    name,
                    path,
                    glob,
                    public,
                    line,
                });
            }
        };
        let with = |name: &syn::Ident| {
            let mut path = prefix.to_vec();
            if name != "self" || prefix.is_empty() {
                path.push(name.to_string());
            }
            path
        };
        match tree {
            UseTree::Path(inner) => self.import(&inner.tree, &with(&inner.ident), public),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, prefix, public);
                }
            }
            UseTree::Name(leaf) => {
                let path = with(&leaf.ident);
                import(path.last().cloned(), path, false, line(leaf.ident.span()));
            }
            UseTree::Rename(leaf) => {
                let name = (leaf.rename != "_").then(|| leaf.rename.to_string());
                import(name, with(&leaf.ident), false, line(leaf.ident.span()));
            }
            UseTree::Glob(star) => import(None, prefix.to_vec(), true, line(star.span())),
        }
    }

    /// Reads what the attributes of a module or of the crate allow.
    fn attributes(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            let Ok(list) = attribute.meta.require_list() else {
                continue;
            };
            let tokens = list.tokens.to_string().replace(' ', "");
            let name = attribute
                .path()
                .get_ident()
                .map(ToString::to_string)
                .unwrap_or_default();
            let switches = match name.as_str() {
                "allow" | "expect" => true,
                "cfg_attr" => tokens.contains("allow(") || tokens.contains("expect("),
                _ => false,
            };
            if !switches || self.tests > 0 || (name == "cfg_attr" && tokens.starts_with("test,")) {
                continue;
            }
            for lint in tokens
                .split([',', '(', ')'])
                .filter(|lint| lint.starts_with("clippy::"))
            {
                self.source.allowed.push(Allowed {
                    lint: lint.to_owned(),
                    line: line(attribute.span()),
                });
            }
        }
    }

    fn module(&mut self, module: &syn::ItemMod) {
        self.attributes(&module.attrs);
        let name = module.ident.to_string();
        let Some((_, items)) = &module.content else {
            let file = module
                .attrs
                .iter()
                .find(|attribute| attribute.path().is_ident("path"))
                .and_then(text_of);
            if let Some(scope) = self.scope() {
                scope.declared.push(Declared { name, file });
            }
            return;
        };
        let around = self.at;
        let mut path = self.source.scopes[around].path.clone();
        path.push(name);
        self.at = self.source.scopes.len();
        self.source.scopes.push(Scope {
            path,
            ..Scope::default()
        });
        for item in items {
            self.visit_item(item);
        }
        self.at = around;
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = attributes_of(item);
        let test = attributes.iter().any(for_tests);
        if test {
            let start = attributes
                .first()
                .map_or_else(|| item.span(), Spanned::span);
            self.source
                .test_lines
                .push((line(start), item.span().end().line));
        }
        self.tests += usize::from(test);
        match item {
            Item::Mod(module) => self.module(module),
            Item::Use(import) => {
                let public = !matches!(import.vis, Visibility::Inherited);
                if import.leading_colon.is_none() {
                    self.import(&import.tree, &[], public);
                }
            }
            Item::Macro(rules) => {
                if let (Some(name), Some(scope)) = (&rules.ident, self.scope()) {
                    scope.macros.insert(name.to_string());
                    if rules
                        .attrs
                        .iter()
                        .any(|attribute| attribute.path().is_ident("macro_export"))
                    {
                        scope.exported_macros.insert(name.to_string());
                    }
                }
                self.visit_macro(&rules.mac);
            }
            _ => {
                if let Some(name) = name_of(item) {
                    self.define(name);
                }
                visit::visit_item(self, item);
            }
        }
        self.tests -= usize::from(test);
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.function(
            &function.sig.ident,
            function.sig.fn_token.span(),
            &function.block,
        );
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        let test = function.attrs.iter().any(for_tests);
        self.tests += usize::from(test);
        self.function(
            &function.sig.ident,
            function.sig.fn_token.span(),
            &function.block,
        );
        visit::visit_impl_item_fn(self, function);
        self.tests -= usize::from(test);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.function(&function.sig.ident, function.sig.fn_token.span(), block);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names = path
                .segments
                .iter()
                .map(|segment| segment.ident.to_string())
                .collect();
            self.mention(names, line_of(path), false);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let names = call
            .path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        self.mention(names, line_of(&call.path), true);
        for mention in paths::mentions(call.tokens.clone()) {
            self.mention(mention.path, mention.line, mention.called_as_macro);
        }
    }

    /// Documentation links nothing, and other attributes hold no paths of ours.
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    /// `pub(in crate::a)` uses nothing of `a`.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}
}

fn line(span: Span) -> usize {
    span.start().line
}

/// The line that a path begins at. Its whole span would cost more than all the rest.
fn line_of(path: &syn::Path) -> usize {
    path.segments
        .first()
        .map_or(0, |first| line(first.ident.span()))
}

/// Whether what has the attribute is compiled for tests only: `cfg(test)`, `cfg(any(test, …))`, `test`.
fn for_tests(attribute: &Attribute) -> bool {
    if attribute
        .path()
        .segments
        .last()
        .is_some_and(|last| last.ident == "test")
    {
        return true;
    }
    if !attribute.path().is_ident("cfg") {
        return false;
    }
    let condition = attribute
        .meta
        .require_list()
        .map(|list| list.tokens.to_string())
        .unwrap_or_default();
    let condition = condition.replace(' ', "");
    !condition.contains("not(test")
        && condition
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word == "test")
}

fn text_of(attribute: &Attribute) -> Option<String> {
    let pair = attribute.meta.require_name_value().ok()?;
    match &pair.value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name_of(item: &Item) -> Option<&syn::Ident> {
    Some(match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
#![allow(clippy::unwrap_used, reason = "")]
use crate::a::{self, b::C as D, e::*};
pub use self::inner::F;
mod other;
/// See [`crate::documentation::Link`].
pub fn f() -> crate::g::H {
    assert!(super::i::j() && K::new());
    4
}
mod inner { pub struct F; fn x() { super::f() } }
#[cfg(any(test, feature = "testing"))]
mod helpers {
    use crate::only::ForTests;
    fn long() {
    }
}
"#;

    #[test]
    fn a_file_is_read_without_its_tests() {
        let source = Source::read(FILE).unwrap();
        let imports: Vec<(String, Option<&str>)> = source.scopes[0]
            .imports
            .iter()
            .map(|import| (import.path.join("::"), import.name.as_deref()))
            .collect();
        assert_eq!(
            imports,
            [
                ("crate::a".to_owned(), Some("a")),
                ("crate::a::b::C".to_owned(), Some("D")),
                ("crate::a::e".to_owned(), None),
                ("self::inner::F".to_owned(), Some("F")),
            ]
        );
        let mentions: Vec<String> = source.scopes[0]
            .mentions
            .iter()
            .map(|mention| mention.path.join("::"))
            .collect();
        assert_eq!(mentions, ["crate::g::H", "assert", "super::i::j", "K::new"]);
        assert_eq!(source.scopes[1].path, ["inner"]);
        assert_eq!(
            source.allowed,
            [Allowed {
                lint: "clippy::unwrap_used".to_owned(),
                line: 2
            }]
        );
        assert!(source.is_test_line(14) && !source.is_test_line(9));
        let functions: Vec<(&str, usize, bool)> = source
            .functions
            .iter()
            .map(|of| (of.name.as_str(), of.length, of.test))
            .collect();
        assert_eq!(
            functions,
            [("f", 4, false), ("x", 1, false), ("long", 2, true)]
        );
    }

    #[test]
    fn what_is_no_rust_is_told_with_its_line() {
        assert!(
            Source::read("fn a() {}\nfn {")
                .unwrap_err()
                .starts_with("line 2: ")
        );
    }
}
