//! A short search over every kind: the same histories each time. `cargo xtask fuzz --histories` is the long one.

use armature_history::search::search;
use armature_history::world::subject::all_kinds;

/// Seed of the histories, unless `ARMATURE_HISTORY_SEED` names another.
const SEED: u64 = 1;

/// Histories of each kind.
const CASES: u32 = 40;

#[test]
fn whatever_happened_azure_holds_what_the_last_manifest_says() {
    let seed = std::env::var("ARMATURE_HISTORY_SEED");
    let seed = seed.map_or(SEED, |text| text.parse().expect("a number"));
    let mut failed = 0;
    for kind in all_kinds() {
        if let Err(finding) = search(kind.kind, seed, CASES) {
            failed += 1;
            println!("{finding}");
        }
    }
    assert_eq!(
        failed, 0,
        "kinds with a history that fails, with seed {seed}"
    );
}
