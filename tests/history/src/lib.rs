//! History does not matter: whatever happened, Azure ends up as the last manifest says.
//!
//! Histories are drawn at random: users create, edit, rename and delete; policies, Secrets and ConfigMaps change; others
//! change Azure, and Azure changes values that are its own; answers are slow, wrong or lost; the operator is restarted, killed and taken over from. The real
//! reconciler works on them, over a cluster in memory and the simulator, by a clock that nobody waits for. After each,
//! once nothing is due but syncs, Azure must hold what the last manifest alone would have made of an empty Azure, on every
//! path that any manifest of the history named.
//!
//! | module | what lives here |
//! |---|---|
//! | [`plan`] | what a history is |
//! | [`strategy`] | how histories are drawn |
//! | [`edit`] | edits of a spec along its shape |
//! | [`permit`] | edits under which Azure may own a value |
//! | [`world`] | cluster, operator and Azure, and what each step does |
//! | [`named`] | paths that manifests name |
//! | [`oracle`] | what must hold |
//! | `moves` | what must hold of values that Azure moved |
//! | [`search`] | drawing histories until one fails, and making it small |

pub mod edit;
mod moves;
pub mod named;
pub mod oracle;
pub mod permit;
pub mod plan;
mod removals;
pub mod search;
pub mod strategy;
pub mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use plan::{Draw, History};
use world::World;

/// What came of a history.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What does not hold; empty when all is well.
    pub faults: Vec<String>,
    /// What happened, step by step.
    pub transcript: Vec<String>,
    /// Requests that the operator sent.
    pub requests: usize,
}

/// Runs a history and asks the oracle. A panic is a fault.
pub fn run(history: &History) -> Outcome {
    let ran = catch_unwind(AssertUnwindSafe(|| run_all(history)));
    ran.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Outcome {
            faults: vec![format!("it panics: {}", text.unwrap_or_default())],
            ..Outcome::default()
        }
    })
}

fn run_all(history: &History) -> Outcome {
    let mut world = World::new(history);
    for step in &history.steps {
        world.step(step);
    }
    world.heal();
    let mut fresh = world.afresh();
    // A manifest that Azure refuses is corrected by its user, at last.
    for _ in 0..world.subjects.len() {
        let Some(first) = fresh.refused().first().copied() else {
            break;
        };
        world.apply_plain(first, Draw { seed: 1, size: 0 });
        world.heal();
        fresh = world.afresh();
    }
    let faults = oracle::faults(&mut world, &fresh);
    Outcome {
        faults,
        requests: world.requests(0).len(),
        transcript: world.transcript,
    }
}
