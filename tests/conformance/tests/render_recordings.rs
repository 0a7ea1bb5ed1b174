//! `armature render` over samples gives the PUT bodies that were recorded with the real Azure.

use std::collections::BTreeMap;

use armature::render::{self, manifest};
use armature_conformance::comparison::difference;
use armature_conformance::data::{self, Recording};
use armature_conformance::differences::{self, KnownDifference};
use armature_conformance::renaming;
use armature_generated::KINDS;
use armature_runtime::arm::ResourceId;

/// Groups with samples, recordings and generated kinds.
const GROUPS: [&str; 6] = [
    "keyvault",
    "kusto",
    "managedidentity",
    "network",
    "resources",
    "storage",
];
/// Share of the PUTs that must be equal.
const BAR: f64 = 0.85;

/// A recorded PUT that is not rendered alike.
struct Mismatch {
    recording: String,
    path: String,
    what: String,
}

#[test]
fn rendered_bodies_equal_recorded_ones() {
    let Some(folder) = data::folder() else {
        println!("skipped: no samples and recordings, set ARMATURE_AZURE_DATA to their folder");
        return;
    };
    let recordings = data::recordings(&folder, &GROUPS).expect("recordings");
    let (mut total, mut mismatches, mut not_generated) = (0, Vec::new(), BTreeMap::new());
    for recording in &recordings {
        total += compare(recording, &mut mismatches, &mut not_generated);
    }
    for ((arm_type, api_version), count) in &not_generated {
        println!("not compared: {count} PUTs of {arm_type} {api_version}, which is not generated");
    }
    let known = differences::parse(include_str!("../differences.yaml")).expect("the list");
    report(total, &mismatches, &known);

    let equal = total - mismatches.len();
    assert!(
        equal as f64 >= BAR * total as f64,
        "{equal} of {total} is below {BAR}"
    );
    let of = |recording: &str, path: &str| format!("{recording} {path}");
    let found: Vec<String> = mismatches
        .iter()
        .map(|one| of(&one.recording, &one.path))
        .collect();
    let listed: Vec<String> = known
        .iter()
        .map(|one| of(&one.recording, &one.path))
        .collect();
    let new: Vec<_> = found.iter().filter(|one| !listed.contains(one)).collect();
    assert!(new.is_empty(), "not in differences.yaml: {new:#?}");
    let gone: Vec<_> = listed.iter().filter(|one| !found.contains(one)).collect();
    assert!(gone.is_empty(), "in differences.yaml, but equal: {gone:#?}");
}

/// Compares the PUTs of one recording, each body once; returns how many there are. PUTs of our kinds in other
/// api-versions are counted by type and api-version.
fn compare(
    recording: &Recording,
    mismatches: &mut Vec<Mismatch>,
    not_generated: &mut BTreeMap<(String, String), usize>,
) -> usize {
    let (documents, errors) = manifest::read(std::slice::from_ref(&recording.samples));
    assert!(errors.is_empty(), "{errors:?}");
    let documents = renaming::apply(documents, &recording.exchanges, KINDS);
    let rendering = render::render(documents, KINDS, render::PLACEHOLDER_SUBSCRIPTION);
    let rendered: BTreeMap<String, _> = rendering
        .requests
        .iter()
        .map(|request| (request.url.to_lowercase(), &request.body))
        .collect();
    let mut seen = Vec::new();
    for exchange in recording.exchanges.iter().filter(|one| one.method == "PUT") {
        let Ok(id) = ResourceId::parse(renaming::path(&exchange.url)) else {
            continue;
        };
        let one = (&exchange.url, &exchange.request);
        if renaming::is_own_group(&id) || seen.contains(&one) || !is_kind(&id) {
            continue;
        }
        let api_version = exchange.url.split("api-version=").nth(1);
        let api_version = api_version.unwrap_or_default();
        if !is_generated(&id, api_version) {
            let key = (id.arm_type(), api_version.to_owned());
            *not_generated.entry(key).or_default() += 1;
            continue;
        }
        seen.push(one);
        let what = match rendered.get(&exchange.url.to_lowercase()) {
            Some(body) => difference(&exchange.request, body),
            None => Some(reason(&rendering.errors, &id)),
        };
        mismatches.extend(what.map(|what| Mismatch {
            recording: recording.name.clone(),
            path: below_group(&id),
            what,
        }));
    }
    seen.len()
}

/// Why nothing was rendered for an id: the problem of the object of that name, if there is one.
fn reason(errors: &[render::RenderError], id: &ResourceId) -> String {
    let of_object = errors.iter().find(|error| {
        let object = error.object.as_deref().unwrap_or_default();
        object.ends_with(&format!("/{}", id.name()))
    });
    match of_object.or_else(|| errors.first()) {
        Some(error) => format!("not rendered: {error}"),
        None => "not rendered: in no sample".to_owned(),
    }
}

fn is_kind(id: &ResourceId) -> bool {
    KINDS.iter().any(|kind| id.has_type(kind.arm_type))
}

fn is_generated(id: &ResourceId, api_version: &str) -> bool {
    let mut kinds = KINDS.iter().filter(|kind| id.has_type(kind.arm_type));
    kinds.any(|kind| {
        let mut versions = kind.versions.iter();
        versions.any(|version| version.api_version == api_version)
    })
}

/// The id without subscription and resource group; a resource group's own name otherwise.
fn below_group(id: &ResourceId) -> String {
    match id.as_str().find("/providers/") {
        Some(at) => id.as_str()[at + 1..].to_owned(),
        None => id.name().to_owned(),
    }
}

fn report(total: usize, mismatches: &[Mismatch], known: &[KnownDifference]) {
    for one in mismatches {
        let reason = known
            .iter()
            .find(|known| known.recording == one.recording && known.path == one.path)
            .map_or("NEW", |known| &known.reason);
        println!("{} {}: {}\n    {reason}", one.recording, one.path, one.what);
    }
    println!("conformance: {} of {total} PUTs", total - mismatches.len());
}
