//! One case: every pass over one spec, and what must hold after each.

use std::collections::{BTreeMap, BTreeSet};

use armature_generator::curate::curate;
use armature_generator::curation::GroupConfig;
use armature_generator::discover::{discover, overlaid};
use armature_generator::emit::{GroupKinds, Notes, emit, umbrella};
use armature_generator::hub::hubs;
use armature_generator::inherit::{Known, inherit};
use armature_generator::load::{SpecRoot, load};
use armature_generator::model::{
    ApiVersion, Group, MissingType, TypeDef, TypeName, TypeTable, Version,
};
use armature_generator::naming::{Names, TypeNames};
use armature_generator::overlay::{Overlaid, Overlay};
use armature_generator::share::share;
use armature_generator::types::build;
use camino::Utf8PathBuf;

use crate::corpus::OLDER;
use crate::mutate::Edit;
use crate::{Choices, Subject, curation};

/// Api-version of what a case makes of its subject.
const NEWER: &str = "2024-01-01";

/// Where the curation file of a case would be.
const CURATION: &str = "specs/fuzz.toml";

/// How far a case came. All but the last end in an error of the pass that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// `load` refused the spec.
    Nothing,
    /// `discover` refused.
    Loaded,
    /// `types` refused.
    Discovered,
    /// `curate` refused.
    Built,
    /// Files were written.
    Emitted,
}

/// Something that must hold and does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

fn fault<T>(message: String) -> Result<T, Fault> {
    Err(Fault(message))
}

/// Runs every pass.
pub(crate) fn run(
    subject: &Subject,
    edit: &Edit,
    choices: &mut Choices<'_>,
) -> Result<Reached, Fault> {
    let root = subject.root.with_text(&edit.file, edit.text.clone());
    match version(&root, subject) {
        Ok(version) => curated(subject, version, choices),
        Err((reached, message)) if message.contains(".json") => {
            check_message(&message)?;
            Ok(reached)
        }
        Err((_, message)) => fault(format!("the error names no file: {message}")),
    }
}

/// A message is a line or a few, not a dump.
fn check_message(message: &str) -> Result<(), Fault> {
    if message.len() > 20_000 {
        return fault(format!(
            "an error of {} bytes: {:.300}…",
            message.len(),
            message
        ));
    }
    Ok(())
}

/// Passes 1 to 3.
fn version(root: &SpecRoot, subject: &Subject) -> Result<Version, (Reached, String)> {
    let at = |reached: Reached, error: &dyn std::error::Error| (reached, error.to_string());
    let newer = ApiVersion::new(NEWER);
    let discovered = |set| discover(set).map_err(|error| at(Reached::Loaded, &error));
    let set = load(root, std::slice::from_ref(&subject.file));
    let set = set.map_err(|error| at(Reached::Nothing, &error))?;
    let resources = discovered(&set)?;
    let mut overlay = Overlay::default();
    let openapi = &subject.read().openapi;
    if !openapi.is_empty() {
        let theirs = openapi.iter().map(|it| Ok((it, discovered(it.1)?)));
        let theirs = theirs.collect::<Result<Vec<_>, _>>()?;
        let theirs = theirs.iter().map(|((version, set), resources)| {
            let known = Known { set, resources };
            ((*version).clone(), vec![known])
        });
        let ours = Known {
            set: &set,
            resources: &resources,
        };
        overlay = inherit(ours, &newer, &theirs.collect());
    }
    let resources = overlaid(resources, &overlay);
    build(Overlaid::new(&set, &overlay), newer, &resources)
        .map_err(|error| at(Reached::Discovered, &error))
}

/// Passes 4 to 8, over the subject as it was and as it is now.
fn curated(
    subject: &Subject,
    version: Version,
    choices: &mut Choices<'_>,
) -> Result<Reached, Fault> {
    check_table(&version.types, "types")?;
    check_names(&version, "types")?;
    check_ends(&version.types, "types")?;
    let mut group = Group {
        name: "fuzz".to_owned(),
        api_group: "fuzz.azure.com".to_owned(),
        versions: BTreeMap::from([(version.api_version.clone(), version)]),
        errors: Vec::new(),
        values: std::collections::BTreeMap::new(),
        // Both layouts are written, and no choice is spent on which.
        types_by_letter: subject.read().version.is_some(),
    };
    if let Some(before) = &subject.read().version {
        group
            .versions
            .insert(ApiVersion::new(OLDER), before.clone());
    }
    let text = curation::file(&group, choices);
    let config = match GroupConfig::parse(CURATION, text) {
        Ok(config) => config,
        Err(error) => return fault(format!("the curation file is not read: {error}")),
    };
    let group = match curate(group, &config) {
        Ok(group) => group,
        Err(error) if error.to_string().starts_with(CURATION) => {
            check_message(&error.to_string())?;
            return Ok(Reached::Built);
        }
        Err(error) => return fault(format!("the error names no line: {error}")),
    };
    for version in group.versions.values() {
        check_table(&version.types, "curate")?;
        check_names(version, "curate")?;
        check_ends(&version.types, "curate")?;
    }
    let missing = |error: MissingType| Fault(error.to_string());
    let hubs = hubs(&group).map_err(missing)?;
    check_table(&hubs.types, "hub")?;
    let names = Names::of(&group, &hubs.types).map_err(missing)?;
    check_called(names.hub.by_name().into_keys(), "hub")?;
    let sharing = share(&group, &hubs, &names).map_err(missing)?;
    let files = emit(&group, &hubs, &names, &sharing, &Notes::default())
        .map_err(|error| Fault(error.to_string()))?;
    check_files(&files)?;
    let kinds = GroupKinds::of(&group, &hubs);
    check_files(&umbrella(&BTreeMap::from([(group.name, kinds)])))?;
    Ok(Reached::Emitted)
}

/// Every type of a version has a name, and no other type has it.
fn check_names(version: &Version, pass: &str) -> Result<(), Fault> {
    let names = TypeNames::of_version(version);
    let names = names.by_name();
    if names.len() != version.types.len() {
        return fault(format!("{pass}: two types have one name, of {names:?}"));
    }
    check_called(names.into_keys(), pass)
}

/// Every name is one.
fn check_called<'a>(
    names: impl IntoIterator<Item = &'a TypeName>,
    pass: &str,
) -> Result<(), Fault> {
    for name in names {
        if syn::parse_str::<syn::Ident>(name.as_str()).is_err() {
            return fault(format!("{pass}: `{name}` is no type name"));
        }
    }
    Ok(())
}

/// Every type that is referred to is there, and no object repeats a property.
fn check_table(types: &TypeTable, pass: &str) -> Result<(), Fault> {
    for (name, definition) in types {
        let TypeDef::Object(object) = definition else {
            continue;
        };
        let mut names = BTreeSet::new();
        for property in &object.properties {
            if !names.insert(&property.name) {
                return fault(format!("{pass}: `{name}` has two `{}`", property.name));
            }
            let below = property.ty.named();
            if let Some(below) = below.filter(|below| !types.contains_key(*below)) {
                return fault(format!(
                    "{pass}: type `{below}` is referred to and not there"
                ));
            }
        }
    }
    Ok(())
}

/// No type holds itself. Those of a hub may, as what is apart in each version may be one over all.
fn check_ends(types: &TypeTable, pass: &str) -> Result<(), Fault> {
    let mut done = BTreeSet::new();
    for name in types.keys() {
        // Depth first; a type is done when all below it is.
        let mut open = vec![(name, false)];
        let mut above = BTreeSet::new();
        while let Some((name, left)) = open.pop() {
            if left {
                above.remove(name);
                done.insert(name);
                continue;
            }
            if done.contains(name) {
                continue;
            }
            if !above.insert(name) {
                return fault(format!("{pass}: type `{name}` holds itself"));
            }
            open.push((name, true));
            if let Some(TypeDef::Object(object)) = types.get(name) {
                let below = object.properties.iter().filter_map(|it| it.ty.named());
                open.extend(below.map(|below| (below, false)));
            }
        }
    }
    Ok(())
}

/// What is written is Rust, and a module defines each name once.
fn check_files(files: &BTreeMap<Utf8PathBuf, String>) -> Result<(), Fault> {
    for (path, text) in files {
        if path.extension() != Some("rs") {
            continue;
        }
        let file = syn::parse_file(text).map_err(|error| Fault(format!("{path}: {error}")))?;
        check_module(path.as_str(), &file.items)?;
    }
    Ok(())
}

/// A file is a module, and so is each module within.
fn check_module(module: &str, items: &[syn::Item]) -> Result<(), Fault> {
    let mut names = BTreeSet::new();
    for name in items.iter().filter_map(defined) {
        if !names.insert(name.clone()) {
            return fault(format!("{module} defines {name} twice"));
        }
    }
    let mut modules = BTreeSet::new();
    for item in items {
        let syn::Item::Mod(within) = item else {
            continue;
        };
        let name = format!("{module}::{}", within.ident);
        if !modules.insert(&within.ident) {
            return fault(format!("{name} is there twice"));
        }
        if let Some((_, items)) = &within.content {
            check_module(&name, items)?;
        }
    }
    Ok(())
}

/// Name of the type that an item defines, or its macro call.
fn defined(item: &syn::Item) -> Option<String> {
    match item {
        syn::Item::Struct(item) => Some(item.ident.to_string()),
        syn::Item::Type(item) => Some(item.ident.to_string()),
        syn::Item::Macro(item) => {
            // The first word: before it are doc attributes only.
            let mut tokens = item.mac.tokens.clone().into_iter();
            tokens
                .find_map(|token| syn::parse_str::<syn::Ident>(&token.to_string()).ok())
                .map(|name| name.to_string())
        }
        _ => None,
    }
}
