//! What must hold for the structure of this workspace. Each message says what to do.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::sync::OnceLock;

use armature_tidy::circles::{self, Circle};
use armature_tidy::known::{self, PATH};
use armature_tidy::workspace::Workspace;
use armature_tidy::{direction, links, lints, sections, services, sizes};

/// Read once, whichever test comes first.
fn workspace() -> &'static Workspace {
    static WORKSPACE: OnceLock<Workspace> = OnceLock::new();
    WORKSPACE.get_or_init(|| Workspace::read().unwrap())
}

fn none(found: &[String]) {
    assert!(
        found.is_empty(),
        "{} of:\n\n{}\n",
        found.len(),
        found.join("\n\n")
    );
}

fn all_circles() -> Vec<Circle> {
    workspace().imports.iter().flat_map(circles::of).collect()
}

#[test]
fn no_file_and_no_folder_imports_another_in_a_circle() {
    let found = all_circles();
    let known: Vec<&BTreeSet<String>> = workspace()
        .known
        .circles
        .iter()
        .map(|circle| &circle.members)
        .collect();
    let with_folders = found
        .iter()
        .filter(|circle| circle.members.iter().any(|member| member.ends_with('/')))
        .count();
    println!(
        "circles: {} of files alone, {with_folders} with folders",
        found.len() - with_folders
    );
    let new = found
        .iter()
        .filter(|circle| !known.contains(&&circle.members))
        .map(|circle| circle.message.clone());
    let gone = known.iter().filter(|members| found.iter().all(|circle| circle.members != ***members)).map(|members| {
        let members: Vec<&str> = members.iter().map(String::as_str).collect();
        format!(
            "{PATH} lists this circle, which is no longer there as it is written. Take it out of the list, or of a smaller \
             one that is left write the members:\n  {}",
            members.join("\n  ")
        )
    });
    none(&new.chain(gone).collect::<Vec<_>>());
}

#[test]
fn crates_depend_on_each_other_in_one_direction() {
    let table = direction::read(&workspace().tree).unwrap();
    none(&direction::check(&workspace().members, &table));
}

#[test]
fn the_runtime_names_no_azure_service() {
    let names = services::Names::of(&workspace().tree);
    assert!(names.groups() > 0, "no curation file was found in specs");
    none(&services::check(workspace(), &names));
}

#[test]
fn no_file_is_long() {
    none(&sizes::files(&workspace().tree, &workspace().known));
}

#[test]
fn no_function_is_long() {
    let found = sizes::long_functions(&workspace().sources, |path| workspace().is_reached(path));
    println!("functions over {} lines: {}", sizes::FUNCTION, found.len());
    none(&known::compare(
        &found,
        &workspace().known.functions,
        "long function",
    ));
}

#[test]
fn every_section_that_is_cited_exists() {
    let tree = &workspace().tree;
    assert!(
        sections::cited_in_code(tree) > 50,
        "comments cite {}, and hardly any was found",
        sections::PAGE
    );
    none(&sections::check(tree));
}

#[test]
fn links_of_the_documentation_lead_somewhere() {
    none(&links::check(&workspace().tree));
}

#[test]
fn no_module_switches_off_what_keeps_panics_out() {
    none(&lints::check(&workspace().members, &workspace().sources));
}
