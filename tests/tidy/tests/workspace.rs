//! What must hold for the structure of this workspace. Each message says what to do.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::OnceLock;

use armature_tidy::circles::{self, Circle};
use armature_tidy::known;
use armature_tidy::workspace::Workspace;
use armature_tidy::{
    book, cited, customizations, direction, features, links, lints, merges, platform, sections,
    services, sizes, toolchain, waits,
};

/// Read once, whichever test comes first.
fn workspace() -> &'static Workspace {
    static WORKSPACE: OnceLock<Workspace> = OnceLock::new();
    WORKSPACE.get_or_init(|| Workspace::read().unwrap())
}

fn none(found: &[String]) {
    assert!(
        found.is_empty(),
        "{} to mend:\n\n{}\n",
        found.len(),
        found.join("\n\n")
    );
}

#[test]
fn no_file_and_no_folder_imports_another_in_a_circle() {
    let Workspace { imports, known, .. } = workspace();
    let found: Vec<Circle> = imports.iter().flat_map(circles::of).collect();
    let with_folders = found.iter().filter(|circle| circle.has_folder()).count();
    println!(
        "circles: {} of files alone, {with_folders} with folders",
        found.len() - with_folders
    );
    none(&circles::compare(&found, &known.circles));
}

#[test]
fn crates_depend_on_each_other_in_one_direction() {
    let table = direction::read(&workspace().tree).unwrap();
    none(&direction::check(&workspace().members, &table));
}

#[test]
fn every_generated_group_is_in_the_operator() {
    none(&features::check(&workspace().tree).unwrap());
}

#[test]
fn the_page_about_extensions_names_files_and_tests_that_exist() {
    none(&customizations::check(&workspace().tree));
}

#[test]
fn the_runtime_names_no_azure_service() {
    let names = services::Names::of(&workspace().tree);
    assert!(names.groups() > 0, "no curation file was found in specs");
    none(&services::check(workspace(), &names));
}

#[test]
fn what_is_cited_exists() {
    none(&cited::check(&workspace().tree));
}

#[test]
fn no_merge_was_left_unfinished() {
    none(&merges::check(&workspace().tree));
}

#[test]
fn every_place_names_the_same_rust_and_go() {
    none(&toolchain::check(&workspace().tree));
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
fn pages_of_the_book_are_listed_and_lead_to_pages() {
    none(&book::check(&workspace().tree));
}

#[test]
fn no_module_switches_off_what_keeps_panics_out() {
    none(&lints::check(&workspace().members, &workspace().sources));
}

#[test]
fn tests_wait_by_one_limit_that_is_against_hanging_only() {
    none(&waits::check(&workspace().tree));
}

#[test]
fn one_module_of_the_command_depends_on_the_operating_system() {
    none(&platform::check(workspace()));
}
