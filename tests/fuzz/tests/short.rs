//! A short run over the small specs: the same cases each time. `cargo xtask fuzz` is the long one.

use armature_fuzz::{Choices, Corpus, Reached};

const SPECS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../generator/tests/specs");

const SEED: u64 = 1;

#[test]
fn many_cases_give_files_or_an_error() {
    let mut corpus = Corpus::default();
    corpus.add(SPECS.as_ref()).expect("readable folders");
    let mut emitted = 0;
    for case in 0..150 {
        match armature_fuzz::run(&corpus, &mut Choices::of_case(SEED, case)) {
            Ok(reached) => emitted += usize::from(reached == Reached::Emitted),
            Err(fault) => panic!("case {case} of seed {SEED}: {fault}"),
        }
    }
    assert!(emitted > 3, "only {emitted} cases got through all passes");
}

#[test]
fn a_case_is_the_same_again() {
    let mut corpus = Corpus::default();
    corpus.add(SPECS.as_ref()).expect("readable folders");
    for case in 0..20 {
        let input = || armature_fuzz::input(&corpus, &mut Choices::of_case(SEED, case));
        assert_eq!(input(), input(), "case {case}");
    }
}
