//! Where types stand: no kind and no newer version renames or moves another one's.

use armature_generator::model::{ApiVersion, Group, Property, TypeDef, TypeId, Version};
use armature_generator::pipeline::finish;
use camino::Utf8Path;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::models::{group, inner, list, named, object, resource, string, version};
use crate::common::places::{Places, is_of_older, moved, places};

const VERSIONS: [&str; 4] = ["2021-01-01", "2022-01-01", "2023-01-01", "2024-01-01"];
const KINDS: [&str; 3] = ["Alpha", "Beta", "Gamma"];
/// Types that several kinds have. Each holds the next one.
const TYPES: [&str; 3] = ["Sku", "Rule", "Scope"];

/// What a group has: kinds by version with the types that each holds, and how each type is in each version.
#[derive(Clone, Debug)]
struct History {
    /// By version and kind: nothing, or the first of [`TYPES`] that it holds.
    kinds: Vec<Vec<Option<usize>>>,
    /// By version and type: how many properties it has.
    types: Vec<Vec<usize>>,
    by_letter: bool,
}

impl History {
    fn group(&self) -> Group {
        let versions = self.kinds.iter().zip(&self.types).zip(VERSIONS);
        let versions = versions.filter_map(|((kinds, types), name)| {
            let exported = KINDS.iter().zip(kinds);
            let exported = exported.filter_map(|(kind, first)| Some((*kind, (*first)?)));
            let exported: Vec<(&str, usize)> = exported.collect();
            (!exported.is_empty()).then(|| of_version(name, &exported, types))
        });
        let mut group = group(versions.collect());
        group.types_by_letter = self.by_letter;
        group
    }

    fn places(&self) -> Places {
        places(
            &finish(&self.group(), &Default::default())
                .expect("files")
                .files,
        )
    }
}

fn of_version(name: &str, kinds: &[(&str, usize)], sizes: &[usize]) -> Version {
    let mut types: Vec<(TypeId, TypeDef)> = Vec::new();
    let first = kinds.iter().map(|(_, first)| *first).min();
    let reached = first.unwrap_or(TYPES.len())..TYPES.len();
    for at in reached {
        let own = (0..=sizes[at]).map(|number| string(&format!("property{number}")));
        let next = TYPES.get(at + 1).map(|next| inner("next", named(next)));
        let properties: Vec<Property> = own.chain(next).collect();
        types.push(object(TYPES[at], properties));
    }
    let resources = kinds.iter().map(|(kind, first)| {
        let held = inner("held", list(named(TYPES[*first])));
        types.push(object(&format!("{kind}Spec"), vec![held]));
        types.push(object(&format!("{kind}Status"), vec![string("id")]));
        let mut resource = resource(kind, &format!("Microsoft.Test/{kind}"));
        resource.version_names = vec![format!("v{}", ApiVersion::new(name).compact())];
        resource
    });
    let resources = resources.collect();
    version(name, resources, types)
}

fn histories() -> impl Strategy<Value = History> {
    let kind = prop::option::weighted(0.7, 0..TYPES.len());
    let kinds = vec(vec(kind, KINDS.len()), VERSIONS.len());
    let types = vec(vec(0..2_usize, TYPES.len()), VERSIONS.len());
    (kinds, types, any::<bool>()).prop_map(|(kinds, types, by_letter)| History {
        kinds,
        types,
        by_letter,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn a_kind_renames_no_type_and_moves_one_only_where_it_brings_an_older_version_of_it(
        history in histories(),
        kind in 0..KINDS.len(),
    ) {
        let all = history.places();
        let mut without = history;
        without.kinds.iter_mut().for_each(|kinds| kinds[kind] = None);
        let without = without.places();
        for (path, offered) in &without {
            let here = all.get(path).map(|it| (&it.text, &it.file));
            prop_assert_eq!(here, Some((&offered.text, &offered.file)), "{}", path);
        }
        for path in moved(&without, &all) {
            prop_assert!(is_of_older(path, &without, &all), "{}", path);
        }
    }

    #[test]
    fn a_newer_version_renames_and_moves_no_type_of_others(
        history in histories(),
        newer in 1..VERSIONS.len(),
    ) {
        let all = history.places();
        let mut without = history;
        without.kinds.truncate(newer);
        let mut without = without.places();
        // The hub is one over all versions.
        without.retain(|path, _| !path.starts_with("hub::"));
        for (path, offered) in &without {
            prop_assert_eq!(all.get(path), Some(offered), "{}", path);
        }
    }
}

/// `Sku` as it is in 2021 and, otherwise, from 2022 on.
fn changed(by_letter: bool) -> History {
    History {
        kinds: vec![vec![Some(0), None, None]; 3],
        types: vec![vec![0, 0, 0], vec![1, 0, 0], vec![1, 0, 0]],
        by_letter,
    }
}

#[test]
fn the_oldest_version_has_the_plain_name_and_others_a_module() {
    for (by_letter, at) in [(false, "types"), (true, "types::s")] {
        let places = changed(by_letter).places();
        let place = |path: &str| places[path].place.clone();
        assert_eq!(place("v20210101::Sku"), format!("{at}::Sku"));
        let newer = place("v20220101::Sku");
        let digits = newer.strip_prefix(&format!("{at}::sku_"));
        let digits = digits.and_then(|rest| rest.strip_suffix("::Sku"));
        let is_digit = |letter: char| letter.is_ascii_hexdigit();
        assert!(
            digits.is_some_and(|it| it.len() == 8 && it.chars().all(is_digit)),
            "{newer}"
        );
        assert_eq!(place("v20230101::Sku"), newer);
        // What the hub merged is of no version, and takes no plain name.
        let of_hub = place("hub::alpha::Sku");
        assert!(of_hub.starts_with(&format!("{at}::sku_")), "{of_hub}");
        assert_eq!(place("v20220101::Scope"), format!("{at}::Scope"));
        assert_eq!(place("v20220101::AlphaSpec"), "v20220101::AlphaSpec");
    }
}

#[test]
fn a_group_has_a_file_of_types_or_one_for_each_first_letter() {
    for (by_letter, expected) in [
        (false, vec!["src/types.rs"]),
        (
            true,
            vec!["src/types/mod.rs", "src/types/r.rs", "src/types/s.rs"],
        ),
    ] {
        let files = finish(&changed(by_letter).group(), &Default::default());
        let files = files.expect("files").files.into_keys();
        let folder = Utf8Path::new("generated/test");
        let files = files.filter_map(|path| Some(path.strip_prefix(folder).ok()?.to_string()));
        let mut files: Vec<String> = files.filter(|path| path.ends_with(".rs")).collect();
        let others = [
            "hub",
            "kinds/alpha",
            "kinds/mod",
            "lib",
            "v20210101",
            "v20220101",
            "v20230101",
        ];
        files.retain(|file| !others.iter().any(|it| *file == format!("src/{it}.rs")));
        assert_eq!(files, expected);
    }
}
