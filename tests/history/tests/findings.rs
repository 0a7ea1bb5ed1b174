//! Histories that failed once, or would with an operator that compares what it should send, by name.

use armature_history::plan::{
    Change, Cut, DataChange, Draw, History, Manner, PolicyWord, Run, Step, Trouble, Verb, Who,
};
use armature_history::world::World;
use armature_history::world::subject::{all_kinds, name_of};
use armature_history::{oracle, run};
use armature_runtime::kind::KindInfo;
use armature_simulator::Wanted;
use armature_simulator::autonomy::{Row, When, rows};
use serde_json::json;

/// What a history is made of, in short.
fn history(kind: &str, azure: Manner, steps: &[Step]) -> History {
    History {
        kind: kind.to_owned(),
        azure,
        steps: steps.to_vec(),
    }
}

/// Runs a history after which everything must hold.
fn holds(kind: &str, azure: Manner, steps: &[Step]) {
    let outcome = run(&history(kind, azure, steps));
    assert!(
        outcome.faults.is_empty(),
        "{}\n{}",
        outcome.transcript.join("\n"),
        outcome.faults.join("\n")
    );
    assert!(outcome.requests > 0, "nothing was sent");
}

const PLAIN: Manner = Manner {
    rewrites: false,
    keeps: false,
    seconds: 0,
    asynchronous: false,
    policy: false,
};

const QUIET: Step = Step::Run(Run::Quiet);

const SYNC: Step = Step::Run(Run::Sync);

fn draw(seed: u64, size: u8) -> Draw {
    Draw { seed, size }
}

/// A history that a search found, and what it is about.
#[derive(serde::Deserialize)]
struct Found {
    what: String,
    history: History,
}

#[test]
fn what_a_search_found_once_holds() {
    let found: Vec<Found> = serde_json::from_str(include_str!("found.json")).expect("histories");
    for Found { what, history } in found {
        let outcome = run(&history);
        assert!(
            outcome.faults.is_empty(),
            "{}, {what}\n{}\n{}",
            history.kind,
            outcome.transcript.join("\n"),
            outcome.faults.join("\n")
        );
    }
}

#[test]
fn what_is_taken_out_of_a_spec_leaves_azure() {
    for kind in ["StorageAccount", "VirtualNetwork", "ResourceGroup", "Store"] {
        for seed in 0..4 {
            let steps = [
                Step::Apply(draw(seed, 30)),
                QUIET,
                Step::Edit(Who::Target, Change::Remove, draw(seed << 7, 0)),
                QUIET,
                Step::Apply(draw(seed, 0)),
            ];
            holds(kind, PLAIN, &steps);
        }
    }
}

#[test]
fn what_is_taken_out_while_skipped_leaves_azure_when_it_is_managed_again() {
    let steps = [
        Step::Apply(draw(3, 30)),
        QUIET,
        Step::Policy(PolicyWord::Skip),
        Step::Apply(draw(3, 0)),
        QUIET,
        Step::Restart,
        Step::Policy(PolicyWord::Manage),
    ];
    holds("StorageAccount", PLAIN, &steps);
}

#[test]
fn an_edit_that_azure_service_operator_has_not_sent_is_sent() {
    for kind in ["StorageAccount", "Vault", "PublicIPAddress"] {
        let steps = [Step::FromAso(draw(5, 30), Some(draw(6, 0))), QUIET];
        holds(kind, PLAIN, &steps);
        holds(kind, PLAIN, &[Step::FromAso(draw(5, 30), None), QUIET]);
    }
}

#[test]
fn a_secret_counts_by_its_content() {
    let steps = [
        Step::Apply(draw(2, 40)),
        QUIET,
        Step::Secret(DataChange::Label),
        QUIET,
        Step::Secret(DataChange::Same),
        QUIET,
        Step::Secret(DataChange::Content),
        QUIET,
    ];
    holds("Store", PLAIN, &steps);
}

#[test]
fn a_resource_that_goes_while_its_put_is_followed_at_its_own_url_comes_again() {
    let azure = Manner {
        asynchronous: true,
        ..PLAIN
    };
    let steps = [
        Step::Apply(draw(1, 20)),
        Step::Run(Run::Passes(1)),
        Step::Vanish(Who::Target),
        QUIET,
        Step::Edit(Who::Target, Change::Add, draw(9, 20)),
        Step::Delete,
    ];
    holds("VirtualNetwork", azure, &steps);
}

#[test]
fn a_put_whose_answer_is_lost_leaves_nothing_behind_when_the_object_goes() {
    for trouble in [Trouble::Lost, Trouble::Truncated] {
        let steps = [
            Step::Apply(draw(1, 10)),
            Step::Trouble(Who::Target, Verb::Put, trouble, 1),
            Step::Run(Run::Passes(1)),
            Step::Delete,
        ];
        let azure = Manner {
            seconds: 40,
            ..PLAIN
        };
        holds("StorageAccount", azure, &steps);
        holds("NetworkSecurityGroup", azure, &steps);
    }
}

#[test]
fn a_pass_that_is_cut_anywhere_is_made_up_for() {
    for at in 0..10 {
        for done in [false, true] {
            let steps = [
                Step::Apply(draw(4, 30)),
                Step::Crash(Who::Target, Cut { at, done }),
                Step::Apply(draw(4, 0)),
                Step::Crash(Who::Target, Cut { at, done }),
            ];
            holds("Cluster", PLAIN, &steps);
            holds("VirtualNetworksSubnet", PLAIN, &steps);
        }
    }
}

/// The spec says again what the record says, and yet something else may have arrived.
#[test]
fn an_edit_that_is_taken_back_before_it_is_known_to_have_arrived_leaves_azure() {
    let lost = |steps: &[Step]| {
        let mut all = vec![
            Step::Apply(draw(16_267_212_023_628_490_032, 0)),
            QUIET,
            Step::Trouble(Who::Target, Verb::Put, Trouble::Lost, 1),
            Step::Apply(draw(285_178_346_948_033_405, 3)),
        ];
        all.extend(steps);
        all.push(Step::Apply(draw(561_815_062_643_186_105, 0)));
        holds("StorageAccountsQueueService", PLAIN, &all);
    };
    lost(&[Step::Run(Run::Passes(1))]);
    lost(&[Step::Crash(Who::Target, Cut { at: 1, done: true })]);
}

#[test]
fn a_secret_that_is_changed_back_after_a_put_without_an_answer_is_sent() {
    let mut steps = vec![
        Step::Apply(draw(2, 40)),
        QUIET,
        Step::Trouble(Who::Target, Verb::Put, Trouble::Lost, 1),
        Step::Secret(DataChange::Content),
        Step::Run(Run::Passes(2)),
    ];
    // Its last digit goes round.
    steps.extend([Step::Secret(DataChange::Content); 9]);
    holds("Store", PLAIN, &steps);
}

#[test]
fn what_a_service_keeps_of_a_put_without_an_answer_is_told() {
    let azure = Manner {
        keeps: true,
        ..PLAIN
    };
    for is_first in [true, false] {
        let mut steps = vec![
            Step::Trouble(Who::Target, Verb::Put, Trouble::Lost, 1),
            Step::Apply(draw(3, 30)),
            Step::Run(Run::Passes(1)),
            Step::Apply(draw(3, 0)),
        ];
        if !is_first {
            steps.splice(0..0, [Step::Apply(draw(3, 0)), QUIET]);
        }
        holds("StorageAccount", azure, &steps);
    }
}

#[test]
fn what_a_service_keeps_is_told() {
    let azure = Manner {
        keeps: true,
        ..PLAIN
    };
    let steps = [Step::Apply(draw(3, 30)), QUIET, Step::Apply(draw(3, 0))];
    holds("StorageAccount", azure, &steps);
    let world = ran(&history("StorageAccount", azure, &steps));
    let kept = world
        .transcript
        .iter()
        .filter(|line| line.contains("Azure keeps"));
    assert_eq!(kept.count(), 1, "{}", world.transcript.join("\n"));
}

#[test]
fn an_identity_that_a_service_keeps_is_told() {
    let azure = Manner {
        keeps: true,
        ..PLAIN
    };
    let steps = [
        Step::Apply(draw(15_841_055_846_299_756_016, 5)),
        QUIET,
        Step::Apply(draw(3_670_905_455_511_475_377, 10)),
    ];
    let world = ran(&history("StorageAccount", azure, &steps));
    let kept = "Azure keeps identity.userAssignedIdentities[\"/providers/a.b/c/ü\"], which";
    let mut lines = world.transcript.iter();
    assert!(
        lines.any(|line| line.contains(kept)),
        "{}",
        world.transcript.join("\n")
    );
}

/// A world after the steps, at rest.
fn ran(history: &History) -> World {
    let mut world = World::new(history);
    for step in &history.steps {
        world.step(step);
    }
    world.heal();
    world
}

fn faults(mut world: World) -> String {
    let fresh = world.afresh();
    oracle::faults(&mut world, &fresh).join("\n")
}

/// What an object has taken over without a write is its own from then on; what nobody ever saw named is not.
#[test]
fn the_oracle_knows_what_was_seen() {
    for is_seen in [true, false] {
        let mut steps = vec![Step::Precede(draw(3, 30)), Step::Apply(draw(3, 30))];
        if is_seen {
            steps.push(QUIET);
        }
        steps.push(Step::Apply(draw(3, 0)));
        let world = ran(&history("StorageAccount", PLAIN, &steps));
        let id = world.subjects[world.target].id.clone();
        let mut all = World::new(&history("StorageAccount", PLAIN, &[]));
        all.step(&Step::Apply(draw(3, 30)));
        all.heal();
        let (mut more, now) = (
            all.simulator.resource(&id).expect("it is there"),
            world.simulator.resource(&id).expect("it is there"),
        );
        let properties = more["properties"].as_object_mut().expect("an object");
        properties.retain(|name, _| now["properties"].get(name).is_none());
        assert!(!properties.is_empty(), "something was taken out");
        let patch = json!({"properties": properties});
        world.simulator.drift(&id, &patch).expect("it is there");
        assert_eq!(!faults(world).is_empty(), is_seen);
    }
}

#[test]
fn the_oracle_sees_what_is_wrong() {
    let steps = [Step::Apply(draw(1, 0)), QUIET];
    let ran = || ran(&history("StorageAccount", PLAIN, &steps));
    assert_eq!(faults(ran()), "");
    let world = ran();
    let id = world.subjects[world.target].id.clone();
    let other = json!({"sku": {"name": "Other"}});
    world.simulator.drift(&id, &other).expect("it is there");
    assert!(faults(world).contains("sku.name is \"Other\""));
    let world = ran();
    world.simulator.remove(&id).expect("it is there");
    assert!(faults(world).contains("is absent"));
    let world = ran();
    world.cluster.forget(&world.subjects[world.target].key());
    assert!(faults(world).contains("is in Azure, and"));
}

/// Rows of the simulator's table that no history reaches: Azure says these values, and no PUT has one.
const UNREACHED: [&str; 3] = [
    "Microsoft.ContainerService/managedClusters properties.agentPoolProfiles[].nodeImageVersion",
    "Microsoft.ContainerService/managedClusters/agentPools properties.nodeImageVersion",
    "Microsoft.KubernetesConfiguration/extensions properties.version while properties.autoUpgradeMinorVersion is on",
];

/// Most manifests that are drawn for a row.
const MOST_DRAWN: u64 = 60;

/// Whatever the table says can happen does happen after an edit, but for what another resource decides; and nothing is written
/// for it, whatever the manifest says besides.
#[test]
fn every_act_has_a_history_and_is_left_alone() {
    let (mut unreached, mut written) = (Vec::new(), Vec::new());
    for kind in all_kinds() {
        let arm_type = kind.remote_type();
        let all = rows(arm_type).filter(|row| !matches!(row.when, [When::Scaled]));
        for (at, row) in (0u64..).zip(all) {
            let words = format!("{arm_type} {}", row.in_words());
            let see_at = |seed: u64| {
                let size = u8::try_from(seed % 6).unwrap_or_default();
                let permit = Step::Permit(Who::Target, true, draw(at << 7, 2 * size + 1));
                let steps = [Step::Apply(draw(seed, 10 * size)), permit, SYNC, SYNC];
                is_left_alone(row, &steps, kind)
            };
            let mut reached: Vec<bool> = (0..6).filter_map(see_at).collect();
            if reached.is_empty() {
                // What few manifests name.
                reached.extend((6..MOST_DRAWN).find_map(see_at));
            }
            if reached.is_empty() {
                unreached.push(words.clone());
            }
            if reached.contains(&false) {
                written.push(words);
            }
        }
    }
    for found in [&mut unreached, &mut written] {
        found.sort();
        found.dedup();
    }
    assert!(written.is_empty(), "{}", written.join("\n"));
    assert_eq!(unreached, UNREACHED, "{}", unreached.join("\n"));
}

/// Whether nothing is written when the row happens after the steps; nothing where it cannot happen.
fn is_left_alone(row: &Row, steps: &[Step], kind: &'static KindInfo) -> Option<bool> {
    let mut world = ran(&history(&name_of(kind), PLAIN, steps));
    let wanted = Wanted {
        id: world.subjects[world.target].id.clone(),
        act: row.act,
        path: Some(row.path.to_owned()),
        value: None,
        seed: 7,
    };
    world.simulator.act(&wanted).ok()?;
    let before = world.sequence();
    world.step(&SYNC);
    let requests = world.requests(before);
    Some(requests.iter().all(|request| request.method == "GET"))
}
