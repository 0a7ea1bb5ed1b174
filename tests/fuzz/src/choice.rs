//! Chance: a seeded sequence, or bytes that a fuzzer chose.

/// Decides. Two with the same seed and case, or the same bytes, decide alike on every machine and with every version of
/// every dependency, so that a case can be run again by its number.
#[derive(Clone, Debug)]
pub struct Choices<'b> {
    source: Source<'b>,
}

#[derive(Clone, Debug)]
enum Source<'b> {
    /// State of SplitMix64.
    Seed(u64),
    /// Bytes to take from; zeros follow.
    Bytes(&'b [u8]),
}

impl Choices<'static> {
    /// The choices of one case of a run.
    pub fn of_case(seed: u64, case: u64) -> Self {
        let mut choices = Self {
            source: Source::Seed(seed ^ case.wrapping_mul(0xd1b5_4a32_d192_ed03)),
        };
        // Seeds that differ in a bit soon differ in all.
        choices.next();
        choices
    }
}

impl<'b> Choices<'b> {
    /// Choices that a fuzzer makes.
    pub fn of_bytes(bytes: &'b [u8]) -> Self {
        Self {
            source: Source::Bytes(bytes),
        }
    }

    fn next(&mut self) -> u64 {
        match &mut self.source {
            Source::Seed(state) => {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut mixed = *state;
                mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                mixed ^ (mixed >> 31)
            }
            Source::Bytes(bytes) => {
                let (taken, rest) = bytes.split_at(bytes.len().min(2));
                *bytes = rest;
                taken
                    .iter()
                    .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
            }
        }
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        match self.next().checked_rem(end as u64) {
            Some(rest) => rest as usize,
            None => 0,
        }
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of `from`, which must not be empty.
    pub fn of<'i, T>(&mut self, from: &'i [T]) -> &'i T {
        &from[self.below(from.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::Choices;

    #[test]
    fn a_case_is_the_same_each_time_and_differs_from_its_neighbours() {
        let drawn = |seed, case| {
            let mut choices = Choices::of_case(seed, case);
            [(); 8].map(|()| choices.below(1000))
        };
        assert_eq!(drawn(1, 2), drawn(1, 2));
        assert_ne!(drawn(1, 2), drawn(1, 3));
        assert_ne!(drawn(1, 2), drawn(2, 2));
    }

    #[test]
    fn bytes_end_in_zeros_and_nothing_to_choose_from_is_no_fault() {
        let mut choices = Choices::of_bytes(&[0, 5, 1]);
        assert_eq!([(); 3].map(|()| choices.below(100)), [5, 1, 0]);
        assert_eq!(choices.below(0), 0);
    }
}
