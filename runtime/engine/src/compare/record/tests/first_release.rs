//! A record that was written by the first release, with the object's uid as the key.

use super::*;

const STORED: &str =
    "2:nNHTBQ8enCHQKjkF6MIyD6SUojtjcCjACwcEFFwMzfKgEX898jemap/JJPc2GV0noAOXQ8EQ21BiQ4y5";
const CHANGING: &str =
    "2:nNHTBQ8enCHQKjkF6MIyD6SUojtjcCjACwcEFFwMzfKgEX898jemap/JJPc2GV0noAOXQ8EQAAAAAAAA";

fn desired() -> Value {
    json!({"location": "West US", "zones": ["1", "2"], "tags": {"a": "1"}, "properties": {
        "accessTier": "Hot", "capacity": 3, "network": {"address": "10.0.0.1"}, "password": "hunter2",
    }})
}

fn observed(address: &str) -> Value {
    json!({"location": "westus", "zones": ["2", "1"], "tags": {"a": "1"}, "properties": {
        "accessTier": "hot", "capacity": 3, "network": {"address": address},
    }})
}

fn paths(stored: &str, desired: &Value, observed: &Value) -> Vec<String> {
    let earlier = EarlierRecord::parse(stored).unwrap();
    let comparison = Comparison::new(VERSION.spec, desired, observed);
    let differences = comparison.differences_since(&earlier, UID);
    differences
        .into_iter()
        .map(|difference| difference.path)
        .collect()
}

#[test]
fn its_record_explains_what_the_service_rewrote() {
    let none = Vec::<String>::new();
    assert_eq!(
        paths(STORED, &desired(), &observed("010.000.000.001")),
        none
    );
    assert_eq!(paths(CHANGING, &desired(), &observed("anything")), none);
    let address = ["properties.network.address"];
    assert_eq!(paths(STORED, &desired(), &observed("changed")), address);
    let mut more = observed("010.000.000.001");
    more["properties"]["capacity"] = json!(4);
    assert_eq!(paths(STORED, &desired(), &more), ["properties.capacity"]);
}

#[test]
fn it_knows_versions_of_secrets() {
    let earlier = EarlierRecord::parse(STORED).unwrap();
    let secret = |version: &str| {
        [SecretVersion {
            name: "creds".to_owned(),
            uid: "u".to_owned(),
            resource_version: version.to_owned(),
        }]
    };
    assert!(earlier.has_secrets(&secret("1"), UID));
    assert!(!earlier.has_secrets(&secret("2"), UID));
}

#[test]
fn it_is_no_record_of_this_release() {
    assert_eq!(Record::parse(STORED, DigestKey::random().of(UID)), None);
    for wrong in ["", "2:", "1:AAAA", "2:AAAA", "2:!"] {
        assert_eq!(EarlierRecord::parse(wrong), None, "{wrong}");
    }
}
