//! `specs status` and `specs verify`.

use std::process::ExitCode;

use camino::Utf8Path;

use crate::sources::{Lock, locate};

/// Prints what is pinned and how the copy here compares. Having no copy is a status, not an error.
pub fn status(root: &Utf8Path, lock: &Lock, from: Option<&Utf8Path>) -> anyhow::Result<ExitCode> {
    for source in &lock.source {
        println!("{}", source.name);
        println!("  repository  https://github.com/{}", source.repository);
        println!("  commit      {}", source.commit);
        println!("  files       {} pinned", source.files.len());
        match locate(root, source, from) {
            Ok(folder) => {
                let comparison = source.compare(&folder.path)?;
                println!("  copy        {} ({})", folder.path, folder.origin);
                println!(
                    "  state       {} unchanged, {} changed, {} missing",
                    comparison.unchanged,
                    comparison.changed.len(),
                    comparison.missing.len()
                );
            }
            Err(error) => println!("  copy        none: {error}"),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the files that differ from the lock; exit code 1 when there are any.
pub fn verify(root: &Utf8Path, lock: &Lock, from: Option<&Utf8Path>) -> anyhow::Result<ExitCode> {
    let mut complete = true;
    for source in &lock.source {
        let folder = locate(root, source, from)?;
        let comparison = source.compare(&folder.path)?;
        for file in &comparison.missing {
            println!("missing  {file}");
        }
        for file in &comparison.changed {
            println!("changed  {file}");
        }
        println!(
            "{}: {} of {} pinned files verified in {}",
            source.name,
            comparison.unchanged,
            source.files.len(),
            folder.path
        );
        complete &= comparison.is_complete();
    }
    Ok(if complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
