//! Where a generated crate has its types: the paths under which users name them, and what stands behind each.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use proc_macro2::{TokenStream, TokenTree};

/// A type as a crate offers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Path of its definition: `types::sku_1f0c77ab::Sku`.
    pub place: String,
    /// The file with the definition.
    pub file: Utf8PathBuf,
    /// The definition without documentation, and with the names of other types but not where these stand.
    pub text: String,
}

/// Types by the path under which a version or the hub offers them: `v20230101::Sku`.
pub type Places = BTreeMap<String, Offered>;

/// What a crate's files offer.
pub fn places(files: &BTreeMap<Utf8PathBuf, String>) -> Places {
    let mut found = Found::default();
    for (path, text) in files.iter().filter(|(path, _)| is_types(path)) {
        let file = syn::parse_file(text).expect("Rust");
        found.items(path, &module(path), &file.items);
    }
    let paths = found.passed_on.keys().chain(found.defined.keys());
    let paths = paths.filter(|path| !path.starts_with("types::"));
    let offered = paths.map(|path| {
        let mut place = path;
        // A module may pass on what another passes on: a root that an older version has.
        while let Some(from) = found.passed_on.get(place) {
            place = from;
        }
        let Some((file, text)) = found.defined.get(place) else {
            unreachable!("{place} is passed on and not defined");
        };
        let (place, file, text) = (place.clone(), file.clone(), text.clone());
        (path.clone(), Offered { place, file, text })
    });
    offered.collect()
}

/// The paths whose types stand in another place of a crate than of one with more in it.
pub fn moved<'a>(less: &'a Places, more: &Places) -> Vec<&'a String> {
    let moved = less
        .iter()
        .filter(|(path, offered)| more[*path].place != offered.place);
    moved.map(|(path, _)| path).collect()
}

/// Whether an older version than before offers a type of this name: then that has the plain name.
pub fn is_of_older(path: &str, less: &Places, more: &Places) -> bool {
    let name = path.rsplit("::").next().unwrap_or_default();
    let is_of_name =
        |path: &&String| path.starts_with('v') && path.rsplit("::").next() == Some(name);
    // In order of versions.
    let oldest = |places: &Places| places.keys().find(is_of_name).cloned();
    let (before, after) = (oldest(less), oldest(more));
    after < before
}

/// Whether a file belongs to modules with types.
fn is_types(path: &Utf8Path) -> bool {
    let is_rust = path.extension() == Some("rs");
    is_rust && !path.ends_with("src/lib.rs") && !path.as_str().contains("/src/kinds/")
}

/// The module that a file stands for, from the crate down: `v20230101`.
fn module(path: &Utf8Path) -> String {
    let path = path.as_str();
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside);
    let inside = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    inside.replace('/', "::")
}

#[derive(Default)]
struct Found {
    /// File and text of the type at a path.
    defined: BTreeMap<String, (Utf8PathBuf, String)>,
    /// Path of a type → path that it is passed on from.
    passed_on: BTreeMap<String, String>,
}

impl Found {
    fn items(&mut self, file: &Utf8Path, module: &str, items: &[syn::Item]) {
        for item in items {
            match item {
                syn::Item::Macro(item) => self.types(file, module, &item.mac),
                syn::Item::Mod(below) => {
                    let module = format!("{module}::{}", below.ident);
                    let items = below.content.iter();
                    items.for_each(|(_, items)| self.items(file, &module, items));
                }
                syn::Item::Use(item) if matches!(item.vis, syn::Visibility::Public(_)) => {
                    self.uses(module, "", &item.tree);
                }
                _ => {}
            }
        }
    }

    fn types(&mut self, file: &Utf8Path, module: &str, of: &syn::Macro) {
        if of.path.is_ident("shaped") || of.path.is_ident("string_enum") {
            let mut names = of.tokens.clone().into_iter();
            let name = names.find_map(|token| match token {
                TokenTree::Ident(name) => Some(name.to_string()),
                _ => None,
            });
            let path = format!("{module}::{}", name.expect("a name"));
            let text = names_alone(of.tokens.clone());
            let twin = self.defined.insert(path.clone(), (file.to_owned(), text));
            assert_eq!(twin, None, "{path} is there twice");
        }
    }

    fn uses(&mut self, module: &str, path: &str, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(tree) => {
                self.uses(module, &format!("{path}{}::", tree.ident), &tree.tree);
            }
            syn::UseTree::Group(tree) => {
                tree.items.iter().for_each(|it| self.uses(module, path, it));
            }
            syn::UseTree::Name(tree) => {
                let from = format!("{path}{}", tree.ident);
                let (first, below) = from.split_once("::").expect("a path");
                assert!(["crate", "super"].contains(&first), "{from}");
                let name = format!("{module}::{}", tree.ident);
                let twin = self.passed_on.insert(name, below.to_owned());
                assert_eq!(twin, None, "{} is passed on twice in {module}", tree.ident);
            }
            _ => unreachable!("{module} has an import of another form"),
        }
    }
}

/// Tokens as text, without documentation, and with the last name of each path.
fn names_alone(tokens: TokenStream) -> String {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut text = String::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let is_colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        if matches!(token, TokenTree::Ident(_)) && is_colon(at + 1) && is_colon(at + 2) {
            at += 3;
            continue;
        }
        match token {
            // Documentation tells where a type was read, in the version that was first with it.
            TokenTree::Punct(punct) if punct.as_char() == '#' => at += 1,
            TokenTree::Group(group) => {
                text.push_str(&format!("({})", names_alone(group.stream())));
            }
            token => text.push_str(&format!("{token} ")),
        }
        at += 1;
    }
    text
}
