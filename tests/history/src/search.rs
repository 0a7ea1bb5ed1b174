//! Drawing histories until one fails, and making it small.

use std::cell::RefCell;
use std::collections::BTreeMap;

use armature_runtime::kind::KindInfo;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::plan::History;
use crate::world::subject::name_of;
use crate::{run, strategy};

/// A history that fails, as small as it could be made.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The history.
    pub history: History,
    /// What does not hold.
    pub faults: Vec<String>,
    /// What happens in it.
    pub transcript: Vec<String>,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            formatter,
            "{} under {:?}",
            self.history.kind, self.history.azure
        )?;
        for line in &self.transcript {
            writeln!(formatter, "  {line}")?;
        }
        for fault in &self.faults {
            writeln!(formatter, "FAULT {fault}")?;
        }
        Ok(())
    }
}

/// Runs this many histories of a kind; the same seed gives the same ones.
///
/// # Errors
/// The first history that fails.
pub fn search(kind: &'static KindInfo, seed: u64, cases: u32) -> Result<(), Box<Finding>> {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 3000,
        max_shrink_time: 20_000,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes(&name_of(kind), seed));
    let mut runner = TestRunner::new_with_rng(config, rng);
    // While a failure is made smaller, it stays the same one.
    let sort: RefCell<Option<String>> = RefCell::default();
    let result = runner.run(&strategy::histories(kind), |history| {
        let outcome = run(&history);
        let Some(first) = outcome.faults.first() else {
            return Ok(());
        };
        let found = sort_of(first);
        let mut sort = sort.borrow_mut();
        let expected = sort.get_or_insert(found.clone());
        if *expected == found {
            Err(TestCaseError::fail(found))
        } else {
            Ok(())
        }
    });
    match result {
        Ok(()) => Ok(()),
        Err(TestError::Fail(_, history)) => {
            let outcome = run(&history);
            Err(Box::new(Finding {
                history,
                faults: outcome.faults,
                transcript: outcome.transcript,
            }))
        }
        Err(TestError::Abort(reason)) => Err(Box::new(Finding {
            history: History {
                kind: name_of(kind),
                azure: crate::plan::Manner::default(),
                steps: Vec::new(),
            },
            faults: vec![format!("the search was given up: {reason}")],
            transcript: Vec::new(),
        })),
    }
}

fn bytes(kind: &str, seed: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    for (index, byte) in kind.bytes().enumerate() {
        bytes[8 + index % 24] ^= byte.rotate_left(u32::try_from(index / 24).unwrap_or(0));
    }
    bytes
}

/// A fault without what is particular to its history, so that those of one sort count as one.
pub fn sort_of(fault: &str) -> String {
    let words = fault.split_whitespace();
    let plain = words.filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == ','));
    plain.take(12).collect::<Vec<_>>().join(" ")
}

/// Findings by sort, with how many there were.
#[derive(Clone, Debug, Default)]
pub struct Findings(pub BTreeMap<String, (Box<Finding>, usize)>);

impl Findings {
    /// Adds one; whether it is the first of its sort.
    pub fn add(&mut self, finding: Box<Finding>) -> bool {
        let sort = finding
            .faults
            .first()
            .map_or_else(String::new, |fault| sort_of(fault));
        let sort = format!("{}: {sort}", finding.history.kind);
        let entry = self.0.entry(sort).or_insert((finding, 0));
        entry.1 += 1;
        entry.1 == 1
    }
}
