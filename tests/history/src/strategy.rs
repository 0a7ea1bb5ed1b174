//! How histories are drawn.

use armature_runtime::kind::KindInfo;
use armature_simulator::autonomy::rows;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::plan::{
    Change, Cut, DataChange, Draw, History, Manner, PolicyWord, Run, Step, Trouble, Verb, Who,
};
use crate::world::subject::name_of;

/// Most steps of a history.
const LONGEST: usize = 28;

/// Largest drawn spec.
const LARGEST: u8 = 40;

/// Histories of a kind.
pub fn histories(kind: &'static KindInfo) -> impl Strategy<Value = History> {
    (manner(), draw(), vec(step(kind), 1..LONGEST)).prop_map(move |(azure, first, rest)| {
        let mut steps = vec![Step::Apply(first)];
        // Some objects come later than others' resources.
        if let Some(Step::Precede(_) | Step::FromAso(..)) = rest.first() {
            steps.clear();
        }
        steps.extend(rest);
        History {
            kind: name_of(kind),
            azure,
            steps,
        }
    })
}

fn manner() -> impl Strategy<Value = Manner> {
    let rarely = |times: u32| (0..times).prop_map(move |drawn| drawn + 1 == times);
    let seconds = prop_oneof![2 => Just(0), 1 => 1u8..100];
    (rarely(4), rarely(6), seconds, rarely(4), rarely(8)).prop_map(
        |(rewrites, keeps, seconds, asynchronous, policy)| Manner {
            rewrites,
            keeps,
            seconds,
            asynchronous,
            policy,
        },
    )
}

fn draw() -> impl Strategy<Value = Draw> {
    (any::<u64>(), 0..LARGEST).prop_map(|(seed, size)| Draw { seed, size })
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![5 => Just(Who::Target), 1 => Just(Who::Owner)]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => Just(Change::Remove),
        3 => Just(Change::Add),
        2 => Just(Change::Change),
        1 => Just(Change::Reorder),
    ]
}

fn policy() -> impl Strategy<Value = PolicyWord> {
    prop_oneof![
        4 => Just(PolicyWord::None),
        3 => Just(PolicyWord::Manage),
        1 => Just(PolicyWord::Skip),
        1 => Just(PolicyWord::Detach),
    ]
}

fn data() -> impl Strategy<Value = DataChange> {
    prop_oneof![
        4 => Just(DataChange::Content),
        1 => Just(DataChange::OtherKey),
        1 => Just(DataChange::Label),
        1 => Just(DataChange::Same),
        1 => Just(DataChange::Removed),
    ]
}

fn trouble() -> impl Strategy<Value = Trouble> {
    prop_oneof![
        2 => Just(Trouble::Throttled),
        1 => Just(Trouble::Internal),
        1 => Just(Trouble::BadGateway),
        1 => Just(Trouble::Busy),
        1 => Just(Trouble::Forbidden),
        2 => Just(Trouble::Cut),
        3 => Just(Trouble::Lost),
        1 => Just(Trouble::Truncated),
        2 => Just(Trouble::FailedOperation),
        1 => Just(Trouble::Stale),
    ]
}

fn verb() -> impl Strategy<Value = Verb> {
    prop_oneof![3 => Just(Verb::Put), 2 => Just(Verb::Get), 1 => Just(Verb::Delete)]
}

fn run() -> impl Strategy<Value = Run> {
    prop_oneof![
        3 => Just(Run::Quiet),
        2 => (1u8..4).prop_map(Run::Passes),
        2 => (1u16..200).prop_map(Run::Seconds),
        1 => Just(Run::Sync),
    ]
}

/// What happens to any kind, and now and then what Azure does by itself: more often where it moves values of the kind.
fn step(kind: &'static KindInfo) -> impl Strategy<Value = Step> {
    let [acts, permits] = match rows(kind.remote_type()).next().is_some() {
        true => [16, 10],
        false => [2, 1],
    };
    let act = (who(), any::<u32>()).prop_map(|(who, pick)| Step::Act(who, pick));
    let permit =
        (who(), 0..4, draw()).prop_map(|(who, drawn, draw)| Step::Permit(who, drawn < 3, draw));
    prop_oneof![90 => usual(), acts => act, permits => permit]
}

fn usual() -> impl Strategy<Value = Step> {
    let cut = (0u8..8, any::<bool>()).prop_map(|(at, done)| Cut { at, done });
    prop_oneof![
        24 => run().prop_map(Step::Run),
        16 => (who(), change(), draw()).prop_map(|(who, change, draw)| Step::Edit(who, change, draw)),
        4 => draw().prop_map(Step::Apply),
        1 => any::<u8>().prop_map(Step::Version),
        3 => policy().prop_map(Step::Policy),
        1 => policy().prop_map(Step::NamespacePolicy),
        1 => (0u8..4).prop_map(|drawn| Step::Observe(drawn == 3)),
        2 => data().prop_map(Step::Secret),
        1 => data().prop_map(Step::ConfigMap),
        3 => Just(Step::Delete),
        1 => any::<bool>().prop_map(Step::Rename),
        2 => draw().prop_map(Step::Precede),
        2 => (draw(), proptest::option::of(draw())).prop_map(|(draw, edit)| Step::FromAso(draw, edit)),
        5 => (who(), change(), any::<u16>()).prop_map(|(who, change, pick)| Step::Drift(who, change, pick)),
        1 => (who(), any::<u16>()).prop_map(|(who, pick)| Step::Fight(who, pick)),
        1 => who().prop_map(Step::Vanish),
        7 => (who(), verb(), trouble(), 1u8..4)
            .prop_map(|(who, verb, trouble, count)| Step::Trouble(who, verb, trouble, count)),
        1 => (1u8..3).prop_map(Step::Conflicts),
        2 => Just(Step::Restart),
        4 => (who(), cut).prop_map(|(who, cut)| Step::Crash(who, cut)),
        2 => (who(), 0u8..8).prop_map(|(who, at)| Step::FailOver(who, at)),
    ]
}
