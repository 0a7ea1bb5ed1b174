//! What Azure does by itself, by its endpoint and by the profile.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod common;

use std::time::Duration;

use armature_simulator::{Act, Autonomy, Settings};
use common::{Bench, SUBSCRIPTION};
use serde_json::{Value, json};

const HUB: &str = "Microsoft.EventHub/namespaces/some-hub";

fn bench(settings: Settings) -> Bench {
    let bench = Bench::serving(armature_generated::KINDS, settings);
    let group = format!("{SUBSCRIPTION}/resourceGroups/group?api-version=2020-06-01");
    assert_eq!(
        bench.put(&group, json!({"location": "westus2"})).status,
        201
    );
    bench
}

fn hub() -> String {
    common::in_group(HUB)
}

fn make(bench: &Bench) {
    let body = json!({
        "location": "westus2", "sku": {"name": "Standard", "capacity": 1},
        "properties": {"isAutoInflateEnabled": true, "maximumThroughputUnits": 9},
    });
    let answer = bench.put(&format!("{}?api-version=2021-11-01", hub()), body);
    assert!(answer.status < 300, "{:?}", answer.body);
}

fn act(bench: &Bench, body: Value) -> (u16, Value) {
    let answer = bench.send("POST", "/simulator/act?api-version=x", Some(body));
    (answer.status, answer.body.unwrap_or_default())
}

#[test]
fn an_act_answers_what_it_changed_or_what_the_type_knows() {
    let bench = bench(Settings::default());
    make(&bench);
    let (status, body) = act(&bench, json!({"id": hub(), "act": "inflate", "value": 4}));
    let expected = json!({"changed": [{"path": "sku.capacity", "before": 1, "after": 4}]});
    assert_eq!((status, body), (200, expected));
    let shown = bench.simulator.resource(&hub()).expect("it is there");
    assert_eq!(shown["sku"]["capacity"], 4);

    let (status, body) = act(&bench, json!({"id": hub(), "act": "autoscale"}));
    assert_eq!(status, 400, "{body}");
    let known = "it knows inflate, tag-by-policy, respell";
    assert!(body.to_string().contains(known), "{body}");
    let (status, body) = act(&bench, json!({"id": hub(), "act": "explode"}));
    assert_eq!(status, 400, "{body}");
    assert!(body.to_string().contains("`failover`"), "{body}");
    let (status, body) = act(&bench, json!({"id": hub(), "act": "inflate", "value": 12}));
    assert_eq!(status, 409, "{body}");
    let bounds = "up to properties.maximumThroughputUnits";
    assert!(body.to_string().contains(bounds), "{body}");
    let (status, _) = act(
        &bench,
        json!({"id": format!("{}-2", hub()), "act": "inflate"}),
    );
    assert_eq!(status, 404);
}

#[test]
fn the_profile_acts_by_the_clock_and_the_same_each_time() {
    let run = || {
        let autonomy = Autonomy {
            every: Some(Duration::from_secs(60)),
            acts: vec![Act::Inflate],
            seed: 7,
            ..Autonomy::default()
        };
        let bench = bench(Settings {
            autonomy,
            ..Settings::default()
        });
        make(&bench);
        let url = format!("{}?api-version=2021-11-01", hub());
        let mut seen = Vec::new();
        for _ in 0..4 {
            bench.pass(40);
            let answer = bench.send("GET", &url, None).body.unwrap_or_default();
            seen.push(answer["sku"]["capacity"].as_i64());
        }
        seen
    };
    let seen = run();
    assert_eq!(seen[0], Some(1), "not due yet");
    assert!(seen[1] > Some(1) && seen[3] >= seen[1], "{seen:?}");
    assert_eq!(seen, run());
}

#[test]
fn a_policy_adds_its_tags_within_a_put() {
    let mut settings = Settings::default();
    let tags = &mut settings.autonomy.policy_tags;
    tags.insert("costCenter".to_owned(), "42".to_owned());
    let bench = bench(settings);
    make(&bench);
    let shown = bench.simulator.resource(&hub()).expect("it is there");
    assert_eq!(shown["tags"], json!({"costCenter": "42"}));
}
