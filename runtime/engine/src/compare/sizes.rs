//! What a comparison takes grows as its bodies do: whoever writes a manifest chooses how large they are.

use std::time::Duration;

use armature_shapes::testing::gadget::VERSION;
use armature_shapes::testing::processor::on_processor;
use serde_json::{Map, Value, json};

use super::Comparison;
use super::overlay::Others;

/// Times as large as the small one.
const TIMES: usize = 4;

/// More than this many times as long is not in proportion: squares take [`TIMES`] times [`TIMES`].
const PROPORTION: f64 = 10.0;

/// How long comparisons of one size are made, and how many at most.
const LEAST: Duration = Duration::from_millis(80);
const MOST_TRIES: u32 = 1_000;

/// Two bodies of a size.
type Bodies = fn(usize) -> (Value, Value);

fn tags(names: impl Iterator<Item = String>) -> Value {
    let tags: Map<String, Value> = names.map(|name| (name, json!("v"))).collect();
    json!({ "tags": tags })
}

fn rules(numbers: impl Iterator<Item = usize>) -> Value {
    let rules = numbers
        .map(|number| json!({"name": format!("r{number}"), "properties": {"priority": number}}));
    json!({"properties": {"rules": rules.collect::<Vec<_>>()}})
}

fn zones(numbers: impl Iterator<Item = usize>) -> Value {
    json!({"zones": numbers.map(|number| number.to_string()).collect::<Vec<_>>()})
}

/// Items without names.
fn nameless(numbers: impl Iterator<Item = usize>, has_default: bool) -> Value {
    let rule = |number| {
        let mut rule = json!({"properties": {"priority": number}});
        if has_default {
            rule["properties"]["prefixes"] = json!(["0.0.0.0/0"]);
        }
        rule
    };
    json!({"properties": {"rules": numbers.map(rule).collect::<Vec<_>>()}})
}

const CASES: [(&str, Bodies); 8] = [
    ("other names", |size| {
        let names = |start: &'static str| (0..size).map(move |number| format!("{start}{number}"));
        (tags(names("a")), tags(names("b")))
    }),
    ("other casing", |size| {
        let names = |start: &'static str| (0..size).map(move |number| format!("{start}{number}"));
        (tags(names("a")), tags(names("A")))
    }),
    ("items in another order", |size| {
        (rules(0..size), rules((0..size).rev()))
    }),
    ("other items", |size| {
        (rules(0..size), rules(size..2 * size))
    }),
    ("values in another order", |size| {
        (zones(0..size), zones((0..size).rev()))
    }),
    ("other values", |size| {
        (zones(0..size), zones(size..2 * size))
    }),
    ("items without names", |size| {
        (nameless(0..size, false), nameless((0..size).rev(), true))
    }),
    ("other items without names", |size| {
        let other = size..2 * size;
        (nameless(0..size, false), nameless(other, true))
    }),
];

/// All that a pass asks of both bodies.
fn compare(desired: &Value, azure: &Value, ignored: &[String], shared: &[String]) {
    let comparison = Comparison {
        ignored,
        shared,
        ..Comparison::new(VERSION.spec, desired, azure)
    };
    comparison.differences();
    comparison.left_out(VERSION.status);
    comparison.is_certain();
    comparison.has_too_many_shared();
    let others = Others {
        ignored,
        shared,
        is_ours: &|member| member.path().ends_with('1'),
        filled: &|_, _| 0,
        is_held: &|_, _| false,
    };
    if shared.is_empty() {
        others.body(VERSION.spec, desired, azure);
    }
}

/// What one comparison takes on a processor. That is told in steps of some milliseconds, so many are made.
fn time(bodies: Bodies, size: usize, ignored: &[String], shared: &[String]) -> Duration {
    let (desired, azure) = bodies(size);
    let began = on_processor();
    let mut tries = 0;
    loop {
        compare(&desired, &azure, ignored, shared);
        tries += 1;
        let took = on_processor().saturating_sub(began);
        if took >= LEAST || tries >= MOST_TRIES {
            return took / tries;
        }
    }
}

#[test]
fn the_time_of_a_comparison_is_in_proportion_to_its_bodies() {
    let ignored: Vec<String> = (0..100).map(|number| format!("tags.z{number}")).collect();
    let shared = ["tags", "properties.rules"].map(str::to_owned);
    let mut slow = Vec::new();
    for (name, bodies) in CASES {
        for (ignored, shared) in [
            (&[][..], &[][..]),
            (&ignored[..], &[][..]),
            (&[][..], &shared[..]),
        ] {
            let [small, large] =
                [1_100, 1_100 * TIMES].map(|size| time(bodies, size, ignored, shared));
            let times = large.as_secs_f64() / small.as_secs_f64();
            if times > PROPORTION {
                let with = (ignored.len(), shared.len());
                slow.push(format!(
                    "{name} {with:?}: {small:?}, {TIMES} times as large {large:?}"
                ));
            }
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

/// What is the same in a small body is the same in a large one.
#[test]
fn a_size_changes_nothing_of_what_is_the_same() {
    for (name, bodies) in CASES {
        let [small, large] = [10, 3_000].map(|size| {
            let (desired, azure) = bodies(size);
            Comparison::new(VERSION.spec, &desired, &azure)
                .differences()
                .is_empty()
        });
        let is_other = name.starts_with("other ") && name != "other casing";
        assert_eq!([small, large], [!is_other; 2], "{name}");
    }
}
