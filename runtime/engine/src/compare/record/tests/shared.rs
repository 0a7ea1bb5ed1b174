//! Members of maps and items of lists to which others add some, too.

use super::super::super::member::Member;
use super::*;

/// Whether the member of a shared map or list that a path is of was ours.
fn was_ours(record: &Record, object: &Object, path: &str) -> bool {
    let mut shared = object.shared.iter();
    let list = shared.find(|list| path.starts_with(*list)).unwrap();
    let member = Member {
        path,
        list,
        items: None,
        value: &Value::Null,
    };
    record.was_ours(&member, object.keyed())
}

#[test]
fn beside_others_members_ours_are_known_however_many_paths_there_are() {
    let mut object = Object::new();
    object.shared = vec!["tags".to_owned()];
    let mut desired = json!({"properties": {"rules": []}, "tags": {"ours": "1"}});
    desired["properties"]["rules"] = (0..300)
        .map(|at| json!({"name": format!("r{at}"), "properties": {"priority": at}}))
        .collect();
    let record = object.settled(1, &desired, &desired, None, None).record;
    assert!(was_ours(&record, &object, "tags.ours"));
    assert!(!was_ours(&record, &object, "tags.theirs"));
}

/// Whatever a shared list was sent with, and however long it is: an item that is taken out goes, others' stay.
#[test]
fn of_a_shared_list_of_any_length_every_item_that_was_ours_is_known() {
    for length in [1, 2, 24, 39, 64, 193, 400] {
        let mut object = Object::new();
        object.shared = vec!["properties.rules".to_owned()];
        let rule =
            |name: String| json!({"name": name, "properties": {"priority": 1, "prefixes": ["x"]}});
        let rules =
            |count: usize| -> Value { (0..count).map(|at| rule(format!("r.{at}"))).collect() };
        let spec = |rules: Value| json!({"properties": {"rules": rules}});
        let all = spec(rules(length));
        let mut azure = all.clone();
        let theirs = json!({"name": "theirs", "properties": {"priority": 1}});
        azure["properties"]["rules"]
            .as_array_mut()
            .unwrap()
            .push(theirs);
        let record = object.settled(1, &all, &azure, None, None).record;
        assert!(!object.comparison(&all, &azure).has_too_many_shared());
        let ours = |record: &Record, at: usize| {
            let path = format!("properties.rules[\"r.{at}\"]");
            was_ours(record, &object, &path)
        };
        assert!((0..length).all(|at| ours(&record, at)), "{length}");
        assert!(!was_ours(&record, &object, "properties.rules.theirs"));
        // The PUT without half of them failed; its retry still knows them.
        let left = spec(rules(length / 2));
        let comparison = object.comparison(&left, &azure);
        let now = object.now(2, &left, "x");
        let sent = Record::sent(&now, &comparison, object.keyed(), Some(&record), true);
        let sent = Record::parse(&sent.encode(), object.keyed()).unwrap();
        assert!((0..length).all(|at| ours(&sent, at)), "{length}");
        assert_eq!(
            sent.taken_out(&comparison, object.keyed()).len(),
            length - length / 2
        );
        // Azure has done it: what is gone is nobody's.
        let settled = object.settled(2, &left, &left, None, Some(&sent));
        assert_eq!(settled.kept, Vec::<String>::new());
        assert!((0..length).all(|at| ours(&settled.record, at) == (at < length / 2)));
        // Or keeps one of them, which is told once, as a whole.
        let settled = object.settled(2, &left, &azure, None, Some(&sent));
        assert_eq!(settled.kept.len(), length - length / 2);
        assert!(!ours(&settled.record, length - 1));
    }
}

#[test]
fn more_members_beside_others_than_can_be_told_apart_are_too_many() {
    let mut object = Object::new();
    object.shared = vec!["tags".to_owned()];
    let tags = |count: usize| {
        let tags = (0..count).map(|at| (at.to_string(), json!("x")));
        json!({"tags": tags.collect::<serde_json::Map<_, _>>()})
    };
    for (count, expected) in [(MOST_SHARED, false), (MOST_SHARED + 1, true)] {
        let tags = tags(count);
        let comparison = object.comparison(&tags, &Value::Null);
        assert_eq!(comparison.has_too_many_shared(), expected);
    }
}

#[test]
fn the_first_step_below_a_prefix() {
    for (path, expected) in [
        ("tags.a", Some("tags.a")),
        ("tags.a.b[0]", Some("tags.a")),
        ("tags[\"a.b\"].c", Some("tags[\"a.b\"]")),
        (r#"tags["a\"]."].c"#, Some(r#"tags["a\"]."]"#)),
        ("tags[3].c", Some("tags[3]")),
        ("tags", None),
        ("tagsx.a", None),
        ("other", None),
    ] {
        assert_eq!(first_below(path, "tags"), expected, "{path}");
    }
}

/// An item that waits for an object to stand for it is still ours, and when it was taken out outlives a restart.
#[test]
fn an_item_that_waits_is_ours_and_has_a_time() {
    let mut object = Object::new();
    object.shared = vec!["properties.rules".to_owned()];
    let azure = json!({"properties": {"rules": [{"name": "a"}, {"name": "b"}]}});
    let record = object.settled(1, &azure, &azure, None, None).record;
    let at = Timestamp::from_second(1_800_000_000).unwrap();
    let (path, keyed) = ("properties.rules.b", object.keyed());
    let timed = [Timed::new((Topic::Leaving, path), 0, at, None, keyed)];
    let left = json!({"properties": {"rules": [{"name": "a"}]}});
    let after = |is_ours: bool| {
        let path = path.to_owned();
        let comparison = Comparison {
            held: &[Held { path, is_ours }],
            timed: if is_ours { &timed } else { &[] },
            ..object.comparison(&left, &azure)
        };
        assert!(record.taken_out(&comparison, keyed).is_empty(), "it stays");
        let now = object.now(2, &left, "x");
        let settled = Record::settled(&now, &comparison, keyed, None, Some(&record), at);
        assert!(settled.kept.is_empty(), "{:?}", settled.kept);
        Record::parse(&settled.record.encode(), keyed).unwrap()
    };
    let waits = after(true);
    assert_eq!(
        waits.timed(Topic::Leaving, path, keyed).map(Timed::at),
        Some(at)
    );
    let now = object.comparison(&left, &azure);
    assert_eq!(waits.taken_out(&now, keyed).len(), 1, "then it goes");
    let moved = after(false);
    assert_eq!(moved.timed(Topic::Leaving, path, keyed), None);
    assert!(moved.taken_out(&now, keyed).is_empty(), "not ours any more");
}

/// What has gone from Azure and is made again by somebody else is theirs, whatever it is called.
#[test]
fn a_member_that_comes_back_under_the_name_of_one_that_has_gone_is_others() {
    let mut object = Object::new();
    object.shared = vec!["properties.rules".to_owned(), "tags".to_owned()];
    let body = |names: &[&str]| {
        let rules = names
            .iter()
            .map(|name| json!({"name": name, "properties": {"priority": 1}}));
        let tags = names.iter().map(|name| ((*name).to_owned(), json!("1")));
        json!({"tags": tags.collect::<serde_json::Map<_, _>>(), "properties": {"rules": rules.collect::<Vec<_>>()}})
    };
    // Of the last one, too, nothing may stay.
    for (all, left) in [(&["a", "b"][..], &["a"][..]), (&["b"][..], &[][..])] {
        let (all, left) = (body(all), body(left));
        let record = object.settled(1, &all, &all, None, None).record;
        assert!(was_ours(&record, &object, "properties.rules.b"));
        let gone = object.settled(2, &left, &left, None, Some(&record)).record;
        let again = Record::parse(&gone.encode(), object.keyed()).unwrap();
        // The body has what others added.
        let comparison = Comparison {
            own: Some(&left),
            ..object.comparison(&all, &all)
        };
        let taken_out = again.taken_out(&comparison, object.keyed());
        assert_eq!(taken_out, Vec::<Difference>::new());
        for path in ["tags.b", "properties.rules.b", "properties.rules.b.name"] {
            assert!(!was_ours(&again, &object, path), "{path}");
        }
        let settled = object.settled(3, &left, &all, None, Some(&again));
        assert_eq!(settled.kept, Vec::<String>::new());
        // A leaf that goes from an item that stays is to go.
        let mut less = all.clone();
        less["properties"]["rules"][0]["properties"] = json!({});
        let named = object.settled(4, &all, &all, None, Some(&settled.record));
        let found = object.drift(&named.record, &less, &all);
        let first = all["properties"]["rules"][0]["name"].as_str().unwrap();
        assert_eq!(
            found,
            [format!("properties.rules.{first}.properties.priority")]
        );
    }
}

/// An earlier release remembered the leaves of members only.
#[test]
fn members_of_a_record_that_has_only_leaves_are_ours() {
    let mut object = Object::new();
    let rules = |names: &[&str]| {
        let rules = names
            .iter()
            .map(|name| json!({"name": name, "properties": {"priority": 1}}));
        json!({"properties": {"rules": rules.collect::<Vec<_>>()}})
    };
    let all = rules(&["a", "b"]);
    let record = object.settled(1, &all, &all, None, None).record;
    object.shared = vec!["properties.rules".to_owned()];
    let (left, azure) = (rules(&["a"]), rules(&["a", "b", "theirs"]));
    let comparison = object.comparison(&left, &azure);
    let now = object.now(2, &left, "x");
    let sent = Record::sent(&now, &comparison, object.keyed(), Some(&record), true);
    for record in [record, sent] {
        assert!(was_ours(&record, &object, "properties.rules.b.name"));
        assert!(!was_ours(&record, &object, "properties.rules.theirs.name"));
        assert!(!record.taken_out(&comparison, object.keyed()).is_empty());
    }
}
