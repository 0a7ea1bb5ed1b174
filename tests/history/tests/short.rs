//! A short search over every kind: the same histories each time. `cargo xtask test --all` takes more of them, and
//! `cargo xtask fuzz --histories` as many as there is time for.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use armature_history::search::{Finding, search};
use armature_history::world::subject::all_kinds;

/// Seed of the histories, unless `ARMATURE_HISTORY_SEED` names another.
const SEED: u64 = 1;

/// Histories of each kind: a thousand and more altogether.
const CASES: u32 = 4;

/// The same where every version of every kind is tried.
const CASES_OF_ALL: u32 = 80;

#[test]
fn whatever_happened_azure_holds_what_the_last_manifest_says() {
    let seed = std::env::var("ARMATURE_HISTORY_SEED");
    let seed = seed.map_or(SEED, |text| text.parse().expect("a number"));
    let cases = match std::env::var_os("ARMATURE_ALL_VERSIONS") {
        Some(_) => CASES_OF_ALL,
        None => CASES,
    };
    let kinds = all_kinds();
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Finding>> = Mutex::default();
    let work = || {
        while let Some(kind) = kinds.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(finding) = search(kind, seed, cases) {
                found.lock().expect("no panic above").push(*finding);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let found = found.into_inner().expect("no panic above");
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(
        found.is_empty(),
        "seed {seed}: {} of {} kinds have a history that fails\n{}",
        found.len(),
        kinds.len(),
        texts.join("\n")
    );
}
