//! Names and files of generated types: no kind's depend on which other kinds there are.

use std::collections::{BTreeMap, BTreeSet};

use armature_generator::discover::discover;
use armature_generator::load::{SpecRoot, SpecSet, load};
use armature_generator::model::{ApiVersion, TypeName};
use armature_generator::naming::TypeNames;
use armature_generator::pipeline::{NoProgress, Options, files_without, generate};
use armature_generator::share::{Fingerprint, fingerprints};
use armature_generator::types::embedded::Embedding;
use armature_generator::types::{Described, ONLY_SOURCE, build_all};
use camino::{Utf8Path, Utf8PathBuf};
use rayon::prelude::*;

use crate::common::load_specs;
use crate::common::real::{files, specification};
use crate::pipeline::generate::{configs, specs};

/// Where types are defined, by the path under which users of a crate name them.
type Places = BTreeMap<String, Utf8PathBuf>;

/// Public paths of a crate's types and the files that define them.
fn places(files: &BTreeMap<Utf8PathBuf, String>) -> Places {
    let modules = files
        .iter()
        .map(|(path, text)| (module(path), (path, text)));
    let modules: BTreeMap<String, (&Utf8PathBuf, &String)> = modules.collect();
    let passed_on = modules.iter().flat_map(|(module, (_, text))| {
        let imports = imports(module, text).into_iter();
        imports.map(move |(from, name)| ((module.clone(), name), from))
    });
    let passed_on: BTreeMap<(String, String), String> = passed_on.collect();
    let place = |(module, name): (&String, &String)| {
        let mut at = (module.clone(), name.clone());
        // A module may pass on what another passes on: a root that an older version has.
        while let Some(from) = passed_on.get(&at) {
            at.0.clone_from(from);
        }
        let (path, text) = modules[&at.0];
        assert!(definitions(text).contains(name), "no {name} in {path}");
        (format!("{module}::{name}"), path.clone())
    };
    passed_on
        .keys()
        .map(|(module, name)| place((module, name)))
        .collect()
}

/// The module that a file stands for, from the crate down: `v20230101::thing_spec`.
fn module(path: &Utf8Path) -> String {
    let path = path.as_str();
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside);
    let inside = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    inside.replace('/', "::")
}

/// Names of the types that a file defines.
fn definitions(text: &str) -> BTreeSet<String> {
    let mut lines = text.lines();
    let mut names = BTreeSet::new();
    while let Some(line) = lines.next() {
        if matches!(line, "shaped! {" | "string_enum! {") {
            let words = lines.find(|line| !line.trim().starts_with("///"));
            let words = words.unwrap_or_default().trim();
            let end = words.find([' ', '.']).unwrap_or(words.len());
            names.insert(words[..end].to_owned());
        }
    }
    names
}

/// What a module re-exports: module that it comes from, and name.
fn imports(module: &str, text: &str) -> Vec<(String, String)> {
    let above = module.rsplit_once("::").map_or("", |(above, _)| above);
    let lines = text.replace(['\n'], " ");
    let imports = lines.split("pub use ").skip(1);
    let imports = imports.filter_map(|rest| rest.split_once(';'));
    imports
        .flat_map(|(import, _)| {
            let (path, names) = import.rsplit_once("::").expect("a path");
            let path = match path.split_once("::") {
                Some(("crate", path)) => path.to_owned(),
                Some(("super", path)) if above.is_empty() => path.to_owned(),
                Some(("super", path)) => format!("{above}::{path}"),
                _ => format!("{module}::{path}"),
            };
            let names = names.trim_matches(['{', '}', ' ']).split(',');
            let names = names.map(str::trim).filter(|name| !name.is_empty());
            let names = names.map(|name| (path.clone(), name.to_owned()));
            names.collect::<Vec<_>>()
        })
        .collect()
}

/// Largest group whose kinds are left out one by one in every run of the tests.
const MOST_KINDS: usize = 6;

#[test]
fn a_kind_that_is_left_out_renames_and_moves_no_type_of_the_others() {
    let Some(specs) = specs() else {
        eprintln!("no Azure specs on this machine; nothing to check");
        return;
    };
    for config in configs() {
        // Each kind is a run over its group: minutes for the largest ones, which `cargo xtask test --all` takes as well.
        if config.rules.kinds.len() > MOST_KINDS
            && std::env::var_os("ARMATURE_ALL_VERSIONS").is_none()
        {
            continue;
        }
        let all = generate(
            &specs,
            std::slice::from_ref(&config),
            Options::default(),
            &NoProgress,
        );
        let of_group = |path: &Utf8PathBuf| !path.starts_with("generated/all");
        let mut all = all.expect("generates").files;
        all.retain(|path, _| of_group(path) && is_types(path));
        let all = places(&all);
        assert!(!all.is_empty(), "{}", config.path);
        let kinds = config
            .rules
            .kinds
            .keys()
            .map(|kind| kind.get_ref().as_str());
        let kinds: Vec<&str> = kinds.collect();
        kinds.par_iter().for_each(|kind| {
            let mut files = files_without(&specs, &config, kind).expect("generates");
            files.retain(|path, _| is_types(path));
            let places = places(&files);
            assert!(places.len() < all.len(), "{kind} has types of its own");
            for (name, place) in places {
                let known = all.get(&name);
                assert_eq!(
                    known,
                    Some(&place),
                    "{}: {name} without {kind}",
                    config.path
                );
            }
        });
    }
}

/// Whether a file belongs to modules with types.
fn is_types(path: &Utf8PathBuf) -> bool {
    let is_rust = path.extension() == Some("rs");
    is_rust && !path.ends_with("src/lib.rs") && !path.as_str().contains("/src/kinds/")
}

/// Types of a set that a resource gives alone, and that are other than those which it gives among all others.
fn strangers(set: &SpecSet) -> Vec<String> {
    let resources = discover(set).expect("resources");
    let described = [Described {
        source: ONLY_SOURCE,
        set: set.into(),
        resources: &resources,
    }];
    let types = |is_wanted: &dyn Fn(&str) -> bool| -> BTreeMap<TypeName, Fingerprint> {
        let (version, choices) = (ApiVersion::new("2024-01-01"), Embedding::default());
        let version = build_all(&described, version, &choices, |_, it| is_wanted(&it.path));
        let version = version.expect("types");
        let names = TypeNames::of_version(&version);
        let prints = fingerprints(&version.types, &names)
            .expect("types")
            .into_iter();
        let name = |id| names.get(&id).expect("a name").clone();
        prints.map(|(id, print)| (name(id), print)).collect()
    };
    let all = types(&|_| true);
    let paths: Vec<&str> = resources.iter().map(|it| it.path.as_str()).collect();
    // Some of many, since each is built with the names of all.
    let some = paths.iter().step_by(paths.len() / 25 + 1);
    let strangers = some.flat_map(|path| {
        let alone = types(&|other| other == *path).into_iter();
        let strangers = alone.filter(|(name, print)| all.get(name) != Some(print));
        strangers.map(move |(name, _)| format!("{path}: {name}"))
    });
    strangers.collect()
}

#[test]
fn a_resource_alone_has_the_types_that_it_has_among_others() {
    for specs in [
        ["embedded/network.json", "embedded/gateway.json"].as_slice(),
        &["recursion/trees.json"],
        &["variants/stores.json"],
        &["widgets/widgets.json"],
    ] {
        let set = load_specs(specs).expect("loads");
        assert_eq!(strangers(&set), [""; 0], "{specs:?}");
    }
}

/// Azure's largest and most entangled specs.
#[test]
fn a_real_resource_alone_has_the_types_that_it_has_among_others() {
    let Some(root) = specification() else {
        eprintln!("no Azure specs on this machine; nothing to check");
        return;
    };
    let folders = [
        "network/resource-manager/Microsoft.Network/stable/2020-11-01",
        "storage/resource-manager/Microsoft.Storage/stable/2021-04-01",
        "azure-kusto/resource-manager/Microsoft.Kusto/stable/2023-08-15",
    ];
    folders.par_iter().for_each(|folder| {
        let specs = SpecRoot::new(root.to_string_lossy().into_owned());
        let set = load(&specs, &files(&root, folder)).expect("loads");
        assert_eq!(strangers(&set), [""; 0], "{folder}");
    });
}
