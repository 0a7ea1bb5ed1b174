//! Azure that has what it was sent: nothing differs then, and the next PUT is the same. Whatever items are called, and whatever they
//! say, if anything.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use serde_json::Map;

use super::*;

/// How Azure shows what it was sent.
#[derive(Clone, Copy, Debug)]
enum Shows {
    AsSent,
    /// Without values that are never shown.
    LessSecrets,
    /// With a state of its own in each item.
    WithStates,
}

impl Shows {
    fn of(self, body: &Value) -> Value {
        let mut shown = body.clone();
        let items = shown["properties"]["disks"].as_array_mut();
        for item in items.into_iter().flatten() {
            match self {
                Self::AsSent => {}
                Self::LessSecrets => {
                    let properties = item.get_mut("properties").and_then(Value::as_object_mut);
                    properties.map(|it| it.remove("key"));
                }
                Self::WithStates => item["provisioningState"] = json!("Succeeded"),
            }
        }
        shown
    }
}

/// A disk that may say anything or nothing; those of others in words of their own.
fn item(is_ours: bool) -> impl Strategy<Value = Value> {
    let text = move |at: i64| match is_ours {
        true => json!(format!("o{at}")),
        false => json!(format!("t{at}")),
    };
    let number = move |at: i64| json!(if is_ours { at } else { at + 50 });
    let some = || weighted(0.3, 0..2_i64);
    let members = (some(), some(), some(), some(), some(), some());
    members.prop_map(move |(name, id, lun, size, settings, key)| {
        let mut item = Map::new();
        let mut properties = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            value.map(|value| item.insert(name.to_owned(), value));
        };
        put("name", name.map(text));
        put("id", id.map(text));
        put("lun", lun.map(number));
        let mut put = |name: &str, value: Option<Value>| {
            value.map(|value| properties.insert(name.to_owned(), value));
        };
        put("size", size.map(number));
        put("settings", settings.map(|it| json!({"at": text(it)})));
        put("key", key.map(text));
        if !properties.is_empty() {
            item.insert("properties".to_owned(), properties.into());
        }
        item.into()
    })
}

fn shows() -> impl Strategy<Value = Shows> {
    const ALL: [Shows; 3] = [Shows::AsSent, Shows::LessSecrets, Shows::WithStates];
    proptest::sample::select(&ALL[..])
}

fn list(body: &Value) -> Vec<Value> {
    let items = body["properties"]["disks"].as_array();
    items.cloned().unwrap_or_default()
}

/// What there is of `all` beyond `some`.
fn beyond(mut all: Vec<Value>, some: &[Value]) -> Vec<Value> {
    for one in some {
        if let Some(at) = all.iter().position(|it| it == one) {
            all.remove(at);
        }
    }
    all
}

/// An edit by which Azure has all that is sent.
fn edit(story: &mut Story, spec: &[Value], azure: &Value, shows: Shows) -> Value {
    let spec = disks(spec);
    let body = story.sends(&spec, azure);
    let azure = shows.of(&body);
    story.reads(&spec, &azure);
    azure
}

/// Azure has one for one. What it made nothing of beside others' is not kept as others': each PUT would add one.
#[test]
fn an_item_that_says_nothing_is_not_added_by_each_put() {
    let (empty, named) = (json!({}), disk("a", 0));
    let theirs = disk("theirs", 40);
    for count in 1..3 {
        let spec: Vec<Value> = std::iter::repeat_n(empty.clone(), count)
            .chain([named.clone()])
            .collect();
        let mut story = Story::of(&[DISKS]);
        let first = edit(
            &mut story,
            &spec,
            &disks(std::slice::from_ref(&theirs)),
            Shows::AsSent,
        );
        assert_eq!(list(&first).len(), spec.len() + 1);
        for _ in 0..3 {
            assert_eq!(edit(&mut story, &spec, &first, Shows::AsSent), first);
            assert_eq!(story.drift(&disks(&spec), &first), Vec::<String>::new());
        }
        let left = edit(&mut story, &[], &first, Shows::AsSent);
        assert_eq!(left, disks(std::slice::from_ref(&theirs)));
    }
    let mut story = Story::of(&[DISKS]);
    let spec = [json!({"properties": {"caching": "None"}})];
    edit(&mut story, &spec, &disks(&[]), Shows::AsSent);
    for _ in 0..3 {
        let azure = disks(&[empty.clone(), json!({"name": "theirs"})]);
        let body = story.sends(&disks(&spec), &azure);
        assert_eq!(list(&body).len(), 2, "{body}");
        story.reads(&disks(&spec), &azure);
    }
}

/// Azure makes something of an item that says nothing, wherever it puts it. It is not sent again with each PUT, and what Azure made is
/// neither drift nor taken out; when the spec no longer has it, nobody knows which it was, and that is told once.
#[test]
fn an_item_that_says_nothing_and_that_azure_fills_in_is_sent_once() {
    let (theirs, named) = (disk("theirs", 40), disk("a", 0));
    let of_azure = |count: usize| (0..count).map(|at| disk(&format!("x{at}"), 50 + at as i64));
    for (count, is_first) in [(1, true), (1, false), (2, true), (2, false)] {
        let spec: Vec<Value> = std::iter::repeat_n(json!({}), count)
            .chain([named.clone()])
            .collect();
        let mut story = Story::of(&[DISKS]);
        let sent = story.sends(&disks(&spec), &disks(std::slice::from_ref(&theirs)));
        assert_eq!(list(&sent).len(), count + 2);
        let mut made = vec![theirs.clone(), named.clone()];
        match is_first {
            true => made.splice(0..0, of_azure(count)).for_each(drop),
            false => made.extend(of_azure(count)),
        }
        let azure = disks(&made);
        story.reads(&disks(&spec), &azure);
        for _ in 0..3 {
            assert_eq!(story.drift(&disks(&spec), &azure), [""; 0]);
            let body = story.edits(&disks(&spec), &azure);
            assert_eq!(sorted(&body), sorted(&azure), "{count} {is_first}");
            assert_eq!(story.unsure, [""; 0]);
        }
        // One more is one more, and one that has gone is made again.
        let more: Vec<Value> = spec.iter().cloned().chain([json!({})]).collect();
        assert_eq!(
            list(&story.body(&disks(&more), &azure)).len(),
            made.len() + 1
        );
        let less = disks(&made[..made.len() - 1]);
        let less = if is_first { disks(&made[1..]) } else { less };
        assert_eq!(
            list(&story.body(&disks(&spec), &less)).len(),
            made.len() - 1 + count
        );
        let body = story.edits(&disks(std::slice::from_ref(&named)), &azure);
        assert_eq!(sorted(&body), sorted(&azure), "which it was is not known");
        assert_eq!(story.unsure.len(), count + 1, "{:?}", story.unsure);
        story.edits(&disks(std::slice::from_ref(&named)), &azure);
        assert_eq!(story.unsure, [""; 0], "told once");
    }
}

/// The disks of a body by their names.
fn sorted(body: &Value) -> Vec<Value> {
    let mut all = list(body);
    all.sort_by_key(|disk| disk["name"].to_string());
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_put_that_azure_takes_as_it_is_changes_nothing_when_it_is_sent_again(
        shows in shows(),
        are_alike in any::<bool>(),
        (alike, others) in (vec(item(true), 0..3), vec(item(false), 0..3)),
        specs in vec(vec(item(true), 0..4), 1..4),
    ) {
        let mut story = Story::of(&[DISKS]);
        let mut azure = shows.of(&disks(if are_alike { &alike } else { &others }));
        for spec in &specs {
            azure = edit(&mut story, spec, &azure, shows);
            if are_alike {
                // One that says all that one of ours does may be taken for it, and goes with the next PUT.
                let before = list(&azure).len();
                azure = edit(&mut story, spec, &azure, shows);
                prop_assert!(list(&azure).len() <= before, "{}", azure);
            }
            let desired = disks(spec);
            for again in 0..2 {
                prop_assert_eq!(story.drift(&desired, &azure), Vec::<String>::new(), "{} {}", again, azure);
                let body = story.body(&desired, &azure);
                prop_assert_eq!(shows.of(&body), azure.clone(), "{}", again);
                story.reads(&desired, &azure);
            }
            // An edit of something else.
            prop_assert_eq!(edit(&mut story, spec, &azure, shows), azure.clone());
        }
    }

    /// Whatever was dropped has gone at the end, and what is plainly others' has not.
    #[test]
    fn what_the_spec_drops_goes_and_what_others_say_stays(
        shows in shows(),
        others in vec(item(false), 0..3),
        specs in vec(vec(item(true), 0..4), 1..4),
    ) {
        let mut story = Story::of(&[DISKS]);
        let mut azure = shows.of(&disks(&others));
        let theirs = list(&azure);
        for spec in specs.iter().chain([&Vec::new()]) {
            azure = edit(&mut story, spec, &azure, shows);
            let is_said = |item: &Value| {
                let properties = item["properties"].as_object();
                let mut names = properties.into_iter().flatten().map(|(name, _)| name.as_str());
                let is_called = ["name", "id", "lun"].iter().any(|name| !item[*name].is_null());
                is_called || names.any(|name| name != "key")
            };
            let gone = beyond(theirs.clone(), &list(&azure));
            let gone: Vec<_> = gone.into_iter().filter(is_said).collect();
            prop_assert_eq!(gone, Vec::<Value>::new(), "of others, with {:?}", spec);
        }
        prop_assert_eq!(beyond(list(&azure), &theirs), Vec::<Value>::new(), "of ours");
    }
}
