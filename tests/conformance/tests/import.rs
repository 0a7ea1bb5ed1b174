//! Import, then plan, says no change: for every resource that was ever recorded.

use std::collections::BTreeMap;

use armature_conformance::{data, imports};

#[test]
fn what_is_imported_changes_nothing_and_says_everything() {
    let Some(folder) = data::folder() else {
        println!("skipped: no recordings, set ARMATURE_AZURE_DATA to their folder");
        return;
    };
    let recordings = data::recordings(&folder).expect("recordings");
    let (mut total, mut good) = (0, 0);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for recording in &recordings {
        for outcome in imports::import(recording).outcomes {
            total += 1;
            good += usize::from(outcome.problems.is_empty());
            for problem in &outcome.problems {
                let line = format!("{}/{} {}: {problem}", outcome.group, outcome.kind, outcome.version);
                *counts.entry(line).or_default() += 1;
            }
        }
    }
    for (line, count) in &counts {
        println!("{count} {line}");
    }
    println!("import: {good} of {total}");
}
