//! Acts that nobody asks for: the profile `autonomy`.

use jiff::Timestamp;

use super::{Wanted, acts_of};
use crate::acts::Act;
use crate::state::State;

impl State {
    /// Lets an act happen where the profile says that one is due.
    pub fn act_by_itself(&mut self, now: Timestamp) {
        if !self.clockwork.tick(&self.settings.autonomy, now) {
            return;
        }
        let number = self.clockwork.count();
        let seed = scattered(self.settings.autonomy.seed, number);
        let acts = &self.settings.autonomy.acts;
        let mut wanted: Vec<Wanted> = Vec::new();
        for resource in self.store.all().filter(|resource| resource.visible) {
            let arm_type = resource.id.arm_type();
            let known = acts_of(&arm_type).into_iter();
            let is_meant = |act: &Act| acts.is_empty() || acts.contains(act);
            let has_tags = resource.body.get("tags").is_some();
            let fits = |act: &Act| is_meant(act) && (*act != Act::TagByPolicy || has_tags);
            wanted.extend(known.filter(fits).map(|act| Wanted {
                id: resource.id.to_string(),
                act,
                path: None,
                value: None,
                seed,
            }));
        }
        // From the drawn one on, the first that can happen now.
        let count = u64::try_from(wanted.len()).unwrap_or(1).max(1);
        let first = usize::try_from(seed % count).unwrap_or(0);
        let (before, from) = wanted.split_at(first.min(wanted.len()));
        for wanted in from.iter().chain(before) {
            if self.move_by_itself(wanted).is_ok() {
                return;
            }
        }
    }
}

/// A number that looks like chance and depends on these alone (SplitMix64).
fn scattered(seed: u64, number: u64) -> u64 {
    let mut mixed = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
