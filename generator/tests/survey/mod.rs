//! The survey of the small specs: every file gives a result or a refusal with its reason.

use std::sync::atomic::{AtomicUsize, Ordering};

use armature_generator::survey::{FileReport, Outcome, Pass, counts, survey};

use crate::common::specs;

fn reports() -> Vec<FileReport> {
    let root = specs();
    let files = root.json_files().expect("readable folders");
    survey(&root, &files, &|_: &FileReport| {})
}

fn line(report: &FileReport) -> String {
    let outcome = match &report.outcome {
        Outcome::Read(content) => {
            let resources: Vec<&str> = content
                .resources
                .iter()
                .map(|resource| resource.kind.as_str())
                .collect();
            format!(
                "{:?}, {} types: {}",
                content.api_version,
                content.types,
                resources.join(" ")
            )
        }
        Outcome::Unknown { reason } => format!("unknown: {reason}"),
        Outcome::Refused { pass, reason } => format!("refused by {pass:?}: {reason}"),
        Outcome::Panicked { reason } => format!("panicked: {reason}"),
    };
    format!("{} → {outcome}", report.file).replace(env!("CARGO_MANIFEST_DIR"), "…")
}

#[test]
fn each_file_gives_its_resources_or_a_reason() {
    let lines: Vec<String> = reports().iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn counts_are_by_folder_and_leave_out_what_is_no_spec() {
    let reports = reports();
    let (groups, total) = counts(&reports);
    let unknown = reports
        .iter()
        .filter(|report| matches!(report.outcome, Outcome::Unknown { .. }))
        .count();
    assert_eq!(unknown, 1, "faults/no-spec.json");
    assert_eq!(total.files, reports.len() - unknown);
    assert_eq!(total.files, total.read + total.refused);
    assert_eq!(
        total.files,
        groups.values().map(|it| it.files).sum::<usize>()
    );
    assert_eq!(groups["widgets"].refused, 0);
    assert!(groups["faults"].refused > 0);
}

#[test]
fn passes_are_told_apart() {
    let passes: std::collections::BTreeSet<Pass> = reports()
        .iter()
        .filter_map(|report| match report.outcome {
            Outcome::Refused { pass, .. } => Some(pass),
            _ => None,
        })
        .collect();
    assert_eq!(
        passes.into_iter().collect::<Vec<_>>(),
        [Pass::Load, Pass::Discover, Pass::Types]
    );
}

#[test]
fn progress_hears_of_each_file_once() {
    let root = specs();
    let files = root.json_files().expect("readable folders");
    let heard = AtomicUsize::new(0);
    survey(&root, &files, &|_: &FileReport| {
        heard.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(heard.into_inner(), files.len());
}
