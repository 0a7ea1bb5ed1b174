//! Broken specs for the generator: what it must answer with an error that names the place, and never with a panic, an
//! endless run or a stack overflow.
//!
//! Specs are taken as JSON trees and changed as their authors (or nobody) would: members removed and swapped, references
//! bent into cycles, names made odd, schemas nested and multiplied. Then every pass runs, `load` to `emit`.
//!
//! Here: what is decided by chance ([`choice`]), the specs to start from ([`corpus`]), the changes ([`mutate`]), a
//! curation file for whatever came out ([`curation`]) and one case with what must hold after each pass ([`case`]).
//! Not here: how many cases are run and who watches over them (`cargo xtask fuzz`; `generator/fuzz` for guidance by
//! coverage).

pub mod case;
pub mod choice;
pub mod corpus;
mod curation;
mod mutate;

pub use case::{Fault, Reached};
pub use choice::Choices;
pub use corpus::{Corpus, Subject};

/// Runs a case: picks a subject, changes it, and runs every pass. The same corpus and choices give the same case.
///
/// # Errors
/// [`Fault`] when something that must hold does not. A panic is not caught here.
pub fn run(corpus: &Corpus, choices: &mut Choices<'_>) -> Result<Reached, Fault> {
    let subject = corpus.pick(choices);
    let edit = mutate::mutated(subject, choices);
    case::run(subject, &edit, choices)
}

/// What [`run`] would feed to the passes: the file that is changed, and its text. For looking at a finding.
pub fn input(corpus: &Corpus, choices: &mut Choices<'_>) -> (String, Vec<u8>) {
    let subject = corpus.pick(choices);
    let edit = mutate::mutated(subject, choices);
    (edit.file, edit.text)
}
