//! Passes 1 to 3 over the real specs, where they are on this machine.
//!
//! They are not part of the project: `$ARMATURE_AZURE_DATA`, else `../shared/azure` beside the workspace.

use std::path::{Path, PathBuf};

use armature_generator::discover::discover;
use armature_generator::load::{SpecRoot, load};
use armature_generator::model::{ApiVersion, ObjectType, TypeDef, TypeId, Version};
use armature_generator::types::build;
use rayon::prelude::*;

/// Folder with Azure's data, where there is one.
pub fn data() -> Option<PathBuf> {
    std::env::var_os("ARMATURE_AZURE_DATA")
        .map(PathBuf::from)
        .or_else(|| {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .ancestors()
                .map(|folder| folder.join("../shared/azure"))
                .find(|folder| folder.is_dir())
        })
}

/// Root of the spec tree, or `None` where there is none.
pub fn specification() -> Option<PathBuf> {
    let root = data()?.join("azure-rest-api-specs/specification");
    root.is_dir().then_some(root)
}

/// Folders of one api-version each, relative to `root`.
fn folders(root: &Path, at: &Path, found: &mut Vec<String>) {
    let entries = std::fs::read_dir(at).expect("readable folder");
    let mut has_specs = false;
    for entry in entries {
        let path = entry.expect("entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let skipped = ["examples", "common", "scenarios", "restler", "common-types"];
        if path.is_dir() && !skipped.contains(&name.as_ref()) {
            folders(root, &path, found);
        }
        has_specs |= name.ends_with(".json");
    }
    if has_specs {
        let relative = at.strip_prefix(root).expect("below the root");
        found.push(relative.to_string_lossy().into_owned());
    }
}

pub fn files(root: &Path, folder: &str) -> Vec<String> {
    let mut files: Vec<String> = std::fs::read_dir(root.join(folder))
        .expect("readable folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".json"))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    files.sort();
    files
}

fn version(specs: &SpecRoot, root: &Path, folder: &str) -> Result<Version, String> {
    let name = |error: &dyn std::error::Error| format!("{folder}: {error}");
    let set = load(specs, &files(root, folder)).map_err(|error| name(&error))?;
    let found = discover(&set).map_err(|error| name(&error))?;
    let api_version = ApiVersion::new(folder.rsplit('/').next().unwrap_or_default());
    build(&set, api_version, &found).map_err(|error| name(&error))
}

/// Every name leads to a type, and no chain of names leads back to itself.
fn check_table(version: &Version, place: &str) {
    fn walk<'a>(version: &'a Version, id: &'a TypeId, above: &mut Vec<&'a TypeId>) {
        assert!(!above.contains(&id), "{id} is recursive");
        above.push(id);
        assert!(version.types.contains_key(id), "{id} is not in the table");
        if let Some(TypeDef::Object(object)) = version.types.get(id) {
            for inner in object.properties.iter().filter_map(|it| it.ty.named()) {
                walk(version, inner, above);
            }
        }
        above.pop();
    }
    for resource in &version.resources {
        walk(version, &resource.spec, &mut Vec::new());
        walk(version, &resource.status, &mut Vec::new());
    }
    for def in version.types.values() {
        if let TypeDef::Object(object) = def {
            check_names(object, place);
        }
    }
}

fn check_names(object: &ObjectType, place: &str) {
    let mut names: Vec<&str> = object
        .properties
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(
        names.len(),
        count,
        "{place}: {} repeats a name",
        object.source
    );
}

#[test]
fn every_folder_of_the_real_specs_gives_a_sound_model() {
    let Some(root) = specification() else {
        eprintln!("no Azure specs on this machine; nothing to check");
        return;
    };
    let mut all = Vec::new();
    folders(&root, &root, &mut all);
    all.sort();
    assert!(all.len() > 100, "found {} folders", all.len());
    let specs = SpecRoot::new(root.to_string_lossy().into_owned());
    let faults: Vec<String> = all
        .par_iter()
        .filter_map(|folder| match version(&specs, &root, folder) {
            Ok(version) => {
                check_table(&version, folder);
                None
            }
            Err(error) => Some(error),
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_bicep_types_file_gives_a_sound_model() {
    let Some(root) = data().map(|data| data.join("bicep-types")) else {
        return;
    };
    if !root.is_dir() {
        eprintln!("no Bicep types on this machine; nothing to check");
        return;
    }
    let mut all = Vec::new();
    folders(&root, &root, &mut all);
    let specs = SpecRoot::new(root.to_string_lossy().into_owned());
    let faults: Vec<String> = all
        .par_iter()
        .filter_map(|folder| match version(&specs, &root, folder) {
            Ok(version) => {
                assert!(!version.resources.is_empty(), "{folder} has no resource");
                check_table(&version, folder);
                None
            }
            Err(error) => Some(error),
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
