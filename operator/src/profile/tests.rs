//! Real profiles of this process.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::GzDecoder;
use prost::Message;

use super::mappings::Mapping;
use super::*;

#[inline(never)]
fn burn_time(until: &AtomicBool) -> u64 {
    let mut sum = 0_u64;
    while !until.load(Ordering::Relaxed) {
        sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
    }
    sum
}

fn read(document: &[u8]) -> proto::Profile {
    let mut plain = Vec::new();
    GzDecoder::new(document).read_to_end(&mut plain).unwrap();
    proto::Profile::decode(plain.as_slice()).unwrap()
}

/// CPU time in nanoseconds of all samples with a function in their stack, and of those where it ran itself.
fn time_of(profile: &proto::Profile, function: &str) -> (i64, i64) {
    let name = |id: &u64| -> Option<&str> {
        let location = &profile.location[usize::try_from(*id).unwrap() - 1];
        let function = usize::try_from(location.line.first()?.function_id).unwrap();
        let name = profile.function[function - 1].name;
        Some(&profile.string_table[usize::try_from(name).unwrap()])
    };
    let is_it = |id: &&u64| name(id).is_some_and(|name| name.ends_with(function));
    let (mut with, mut alone) = (0, 0);
    for sample in &profile.sample {
        with += i64::from(sample.location_id.iter().any(|id| is_it(&id))) * sample.value[1];
        alone += i64::from(sample.location_id.first().iter().any(is_it)) * sample.value[1];
    }
    (with, alone)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_shows_what_takes_time_and_there_is_one_at_a_time() {
    let stop = CancellationToken::new();
    let profiler = Arc::new(Profiler::new(stop.clone()));
    let is_over = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&is_over);
    let burning = std::thread::spawn(move || burn_time(&until));
    let taking = {
        let profiler = Arc::clone(&profiler);
        tokio::spawn(async move { profiler.take(Duration::from_secs(2)).await })
    };
    tokio::time::sleep(Duration::from_millis(500)).await;
    let refused = profiler.take(Duration::from_secs(1)).await.unwrap_err();
    assert!(matches!(refused, ProfileError::Busy), "{refused}");
    let profile = read(&taking.await.unwrap().unwrap());
    let (with, alone) = time_of(&profile, "::burn_time");
    // Two seconds of one thread, which may have waited for its turn.
    let around = 100_000_000..2_500_000_000;
    assert!(around.contains(&with), "{with}");
    // The rest is what it calls, in a program that is not optimised.
    assert!((1..with).contains(&alone), "{alone} of {with}");
    let (of_sampler, _) = time_of(&profile, "perf_signal_handler");
    assert_eq!(of_sampler, 0, "what samples is no part of the profile");
    // The second begins anew, and ends with the process.
    stop.cancel();
    let short = read(&profiler.take(Duration::from_secs(60)).await.unwrap());
    assert!(short.duration_nanos < profile.duration_nanos);
    let total = |profile: &proto::Profile| -> i64 {
        profile.sample.iter().map(|sample| sample.value[1]).sum()
    };
    assert!(total(&short) < total(&profile));
    is_over.store(true, Ordering::Relaxed);
    burning.join().unwrap();
}

#[test]
fn lengths_are_bounded() {
    for (text, expected) in [
        (None, Some(30)),
        (Some(""), Some(30)),
        (Some("1"), Some(1)),
        (Some("120"), Some(120)),
        (Some("121"), None),
        (Some("0"), None),
        (Some("-1"), None),
        (Some("1.5"), None),
        (Some("soon"), None),
    ] {
        let found = length(text).ok().map(|length| length.as_secs());
        assert_eq!(found, expected, "{text:?}");
    }
    let error = length(Some("121")).unwrap_err().to_string();
    assert_eq!(
        error,
        "seconds is '121': expected a whole number from 1 to 120"
    );
}

#[test]
fn a_document_names_functions_once_and_keeps_addresses() {
    let samples = Samples {
        stacks: vec![
            Stack {
                addresses: vec![0x15, 0x25],
                count: 3,
            },
            Stack {
                addresses: vec![0x17, 0x99],
                count: 1,
            },
        ],
        started: SystemTime::UNIX_EPOCH,
        length: Duration::from_secs(1),
        frequency: 100,
    };
    let mapping = Mapping {
        start: 0x10,
        end: 0x30,
        offset: 0,
        file: "/a".to_owned(),
    };
    let names = [(0x15, "one"), (0x17, "one"), (0x25, "two")];
    let names = HashMap::from(names.map(|(at, name)| (at, name.to_owned())));
    let mappings = [mapping];
    let has_functions = |names: &HashMap<u64, String>| {
        let profile = read(&proto::compose(&samples, &mappings, names).unwrap());
        profile.mapping[0].has_functions
    };
    assert!(has_functions(&names));
    assert!(
        !has_functions(&HashMap::new()),
        "Go's tool looks for names where there are none"
    );
    let profile = read(&proto::compose(&samples, &mappings, &names).unwrap());
    assert_eq!(profile.function.len(), 2);
    assert_eq!(profile.location.len(), 4);
    assert_eq!(profile.mapping.len(), 1);
    let addresses: Vec<u64> = profile.location.iter().map(|one| one.address).collect();
    assert_eq!(addresses, [0x15, 0x17, 0x25, 0x99]);
    assert_eq!(time_of(&profile, "one"), (40_000_000, 40_000_000));
    assert_eq!(time_of(&profile, "two"), (30_000_000, 0));
    assert_eq!(profile.sample[0].value, [3, 30_000_000]);
    assert!(profile.location[3].line.is_empty(), "nobody knows 0x99");
}

#[test]
fn callers_are_where_they_call() {
    assert_eq!(addresses([10, 20, 30].into_iter()), [10, 19, 29]);
}
