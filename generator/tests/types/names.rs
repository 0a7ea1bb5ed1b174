//! Names of generated types and the files that they are in: no kind's depend on which other kinds there are.

use std::collections::BTreeMap;

use armature_generator::discover::discover;
use armature_generator::load::{SpecRoot, SpecSet, load};
use armature_generator::model::{ApiVersion, TypeName};
use armature_generator::naming::TypeNames;
use armature_generator::pipeline::{NoProgress, Options, files_without, generate};
use armature_generator::share::{Fingerprint, fingerprints};
use armature_generator::types::embedded::Embedding;
use armature_generator::types::{Described, ONLY_SOURCE, build_all};
use rayon::prelude::*;

use crate::common::load_specs;
use crate::common::places::{is_of_older, moved, places};
use crate::common::real::{files, specification};
use crate::pipeline::generate::{configs, specs};

/// Largest group whose kinds are left out one by one in every run of the tests.
const MOST_KINDS: usize = 6;

#[test]
fn a_kind_that_is_left_out_renames_no_type_of_the_others_and_moves_one_only_to_a_plain_name() {
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
        let mut all = all.expect("generates").files;
        all.retain(|path, _| !path.starts_with("generated/all"));
        let all = places(&all);
        assert!(!all.is_empty(), "{}", config.path);
        let kinds = config
            .rules
            .kinds
            .keys()
            .map(|kind| kind.get_ref().as_str());
        let kinds: Vec<&str> = kinds.collect();
        kinds.par_iter().for_each(|kind| {
            let files = files_without(&specs, &config, kind).expect("generates");
            let places = places(&files);
            assert!(places.len() < all.len(), "{kind} has types of its own");
            for (name, offered) in &places {
                let known = all.get(name).map(|it| (&it.text, &it.file));
                let here = Some((&offered.text, &offered.file));
                assert_eq!(known, here, "{}: {name} without {kind}", config.path);
            }
            // Within the file: an older structure of its name is gone with the kind.
            let mut unexplained = moved(&places, &all);
            unexplained.retain(|name| !is_of_older(name, &places, &all));
            assert_eq!(unexplained, [""; 0], "{} without {kind}", config.path);
        });
    }
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
