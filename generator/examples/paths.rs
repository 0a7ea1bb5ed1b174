//! Prints what passes 1 to 3 make of a folder of spec files: every path of every resource, one a line.
//!
//! `cargo run -p armature-generator --example paths -- SPECIFICATION FOLDER... [--kind KIND]`, where SPECIFICATION
//! is the root of the spec tree and FOLDER holds the files of one api-version, relative to it.
//!
//! A line is kind, path, type, then `required`, the values of an enum, or the meaning.

use std::error::Error;
use std::io::Write;

use armature_generator::model::{ApiVersion, ObjectType, Rules, TypeDef, TypeId, TypeRef, Version};
use armature_generator::{discover, load, types};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let root = arguments.next().ok_or("expected SPECIFICATION FOLDER...")?;
    let spec_root = load::SpecRoot::new(root.clone());
    let mut folders = Vec::new();
    let mut kind = None;
    while let Some(argument) = arguments.next() {
        if argument == "--kind" {
            kind = arguments.next();
        } else {
            folders.push(argument);
        }
    }
    let mut out = std::io::stdout().lock();
    for folder in folders {
        let mut files: Vec<String> = std::fs::read_dir(format!("{root}/{folder}"))?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.ends_with(".json"))
            .map(|name| format!("{folder}/{name}"))
            .collect();
        files.sort();
        let set = load::load(&spec_root, &files)?;
        let found = discover::discover(&set)?;
        let version = folder.rsplit('/').next().unwrap_or_default();
        let built = types::build(&set, ApiVersion::new(version), &found)?;
        for resource in &built.resources {
            if kind.as_ref().is_some_and(|kind| *kind != resource.kind) {
                continue;
            }
            writeln!(
                out,
                "{} resource {} {:?} {:?} {:?}",
                resource.kind, resource.arm_type, resource.scope, resource.owner, resource.name
            )?;
            for (side, root) in [("spec", &resource.spec), ("status", &resource.status)] {
                if let Some(TypeDef::Object(object)) = built.types.get(root) {
                    members(&mut out, &built, &resource.kind, side, object)?;
                }
            }
        }
        writeln!(
            out,
            "# {folder}: {} resources, {} types",
            built.resources.len(),
            built.types.len()
        )?;
    }
    Ok(())
}

fn members(
    out: &mut impl Write,
    version: &Version,
    kind: &str,
    at: &str,
    object: &ObjectType,
) -> std::io::Result<()> {
    for property in &object.properties {
        let path = format!("{at}.{}", property.name);
        let required = if property.required { " required" } else { "" };
        let meaning = &property.meaning;
        let arm = property.place.path().join("/");
        value(
            out,
            version,
            kind,
            &path,
            &property.ty,
            &format!("{required} {meaning:?} {arm}{}", rules(&property.rules)),
        )?;
    }
    Ok(())
}

/// Constraints, each as `name=value`.
fn rules(rules: &Rules) -> String {
    let number = |name: &str, value: Option<u64>| value.map(|value| format!(" {name}={value}"));
    let bound = |name: &str, value: Option<f64>| value.map(|value| format!(" {name}={value}"));
    let parts = [
        rules
            .pattern
            .as_ref()
            .map(|text| format!(" pattern={text}")),
        number("minLength", rules.min_length),
        number("maxLength", rules.max_length),
        bound("minimum", rules.minimum),
        bound("maximum", rules.maximum),
        number("minItems", rules.min_items),
        number("maxItems", rules.max_items),
    ];
    parts.into_iter().flatten().collect()
}

fn value(
    out: &mut impl Write,
    version: &Version,
    kind: &str,
    path: &str,
    ty: &TypeRef,
    facts: &str,
) -> std::io::Result<()> {
    let named = |id: &TypeId| version.types.get(id);
    match ty {
        TypeRef::Named(id) => match named(id) {
            Some(TypeDef::Enum(known)) => {
                let values = known.values.join(",");
                writeln!(out, "{kind} {path} string{facts} {values}")
            }
            Some(TypeDef::Object(object)) => {
                writeln!(out, "{kind} {path} object{facts} {id}")?;
                members(out, version, kind, path, object)
            }
            None => writeln!(out, "{kind} {path} DANGLING {id}"),
        },
        TypeRef::List(item) => {
            writeln!(out, "{kind} {path} array{facts}")?;
            value(out, version, kind, &format!("{path}[]"), item, "")
        }
        TypeRef::Map(item) => {
            writeln!(out, "{kind} {path} object{facts}")?;
            value(out, version, kind, &format!("{path}{{}}"), item, "")
        }
        other => writeln!(out, "{kind} {path} {}{facts}", word(other)),
    }
}

fn word(ty: &TypeRef) -> &'static str {
    match ty {
        TypeRef::Bool => "boolean",
        TypeRef::Integer(_) => "integer",
        TypeRef::Number => "number",
        TypeRef::String => "string",
        TypeRef::Json => "anything",
        _ => "special",
    }
}
