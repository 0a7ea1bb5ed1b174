//! Both OpenAPI front ends give the same model: Swagger files, converted to OpenAPI 3.0, compared with the originals.
//! No difference is left, so there is no list of them.

use std::collections::BTreeMap;

use armature_generator::discover::discover;
use armature_generator::load::{SpecRoot, load};
use armature_generator::model::{ApiVersion, SourceFile, TypeDef, Version};
use armature_generator::types::build;
use rayon::prelude::*;

use super::convert::{Files, convert};
use crate::common::real::specification;

fn read(root: &SpecRoot) -> Files {
    let files = root.json_files().expect("readable folders");
    files
        .into_par_iter()
        .filter_map(|file| {
            let text = std::fs::read(root.folder().join(&file)).expect("a file");
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
            let document: serde_json::Value = serde_json::from_slice(text).ok()?;
            (document["swagger"] == "2.0").then_some((file, document))
        })
        .collect()
}

fn write(folder: &std::path::Path, files: &Files) {
    files.par_iter().for_each(|(file, document)| {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, document.to_string()).expect("a file");
    });
}

/// The model of one file without the places it came from, which differ.
fn model(root: &SpecRoot, file: &str) -> Result<Version, String> {
    let set = load(root, &[file.to_owned()]).map_err(|error| error.to_string())?;
    let found = discover(&set).map_err(|error| error.to_string())?;
    let mut version =
        build(&set, ApiVersion::new("v"), &found).map_err(|error| error.to_string())?;
    for resource in &mut version.resources {
        resource.source = (SourceFile(String::new()), String::new());
    }
    for def in version.types.values_mut() {
        match def {
            TypeDef::Object(object) => {
                object.source.clear();
                let properties = object.properties.iter_mut().map(|it| &mut it.origin);
                let left_out = object.left_out.iter_mut().map(|it| &mut it.origin);
                for origin in properties.chain(left_out) {
                    origin.source.clear();
                }
            }
            TypeDef::Enum(known) => known.source.clear(),
        }
    }
    Ok(version)
}

/// Names of types and kinds that differ, with what the two sides have.
fn differences(left: &Version, right: &Version) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let named = |version: &Version| -> BTreeMap<String, String> {
        let types = version.types.iter();
        let types = types.map(|(name, def)| (name.to_string(), format!("{def:?}")));
        let kinds = version.resources.iter();
        let kinds = kinds.map(|it| (format!("kind {}", it.kind), format!("{it:?}")));
        types.chain(kinds).collect()
    };
    let (left, right) = (named(left), named(right));
    for name in left.keys().chain(right.keys()) {
        if left.get(name) != right.get(name) {
            let text = format!(
                "Swagger {:?}\n    OpenAPI 3 {:?}",
                left.get(name),
                right.get(name)
            );
            found.insert(name.clone(), text);
        }
    }
    found
}

/// Converts the Swagger files of a tree and compares the models file by file. Gives the number of kinds compared.
fn compare(swagger: &SpecRoot) -> usize {
    let files = read(swagger);
    let temporary = tempfile::tempdir().expect("a folder");
    write(temporary.path(), &convert(&files));
    let openapi3 = SpecRoot::new(temporary.path().to_string_lossy().into_owned());
    let results: Vec<(usize, Vec<String>)> = files
        .par_iter()
        .map(|(file, _)| {
            let (left, right) = match (model(swagger, file), model(&openapi3, file)) {
                (Ok(left), Ok(right)) => (left, right),
                // Faults are told in other words.
                (Err(_), Err(_)) => return (0, Vec::new()),
                (left, right) => {
                    let text = format!("{file}: {:?}, {:?}", left.err(), right.err());
                    return (0, vec![text]);
                }
            };
            let found = differences(&left, &right);
            let lines = found
                .iter()
                .map(|(name, text)| format!("{file} {name}: {text}"));
            (left.resources.len(), lines.collect())
        })
        .collect();
    let (kinds, found): (Vec<usize>, Vec<Vec<String>>) = results.into_iter().unzip();
    let found = found.concat();
    assert!(found.is_empty(), "{}", found.join("\n"));
    kinds.into_iter().sum()
}

#[test]
fn converted_small_specs_give_the_model_of_the_originals() {
    assert!(compare(&crate::common::specs()) > 20);
}

#[test]
fn converted_real_specs_give_the_model_of_the_originals() {
    let Some(folder) = specification() else {
        eprintln!("skipped: no Azure specs on this machine");
        return;
    };
    let kinds = compare(&SpecRoot::new(folder.to_string_lossy().into_owned()));
    println!("{kinds} kinds are the same");
    assert!(kinds > 0);
}
