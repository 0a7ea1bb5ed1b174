//! Which paths a shape has.

use super::*;

#[test]
fn paths_are_known_by_the_shape() {
    let table = [
        ("sku.capacity", true),
        ("properties.pools[].count", true),
        ("properties.pools.a.count", true),
        ("properties.labels.team", true),
        ("properties.labels[\"a.b/c\"]", true),
        ("properties.pools[].weight", false),
        ("capacity", false),
        ("properties.version.major", false),
    ];
    for (path, expected) in table {
        let steps = Steps::parse(path).unwrap();
        assert_eq!(steps.is_known(Cluster::SHAPE), expected, "{path}");
    }
}

#[test]
fn members_have_maps_and_lists_alone() {
    let table = [
        ("properties.labels", true),
        ("properties.taints", true),
        ("properties.pools", true),
        ("properties", false),
        ("sku.capacity", false),
        ("properties.pools[]", false),
        ("properties.pools[].count", false),
        ("properties.labels.team", false),
        ("properties.nothing", false),
    ];
    for (path, expected) in table {
        let steps = Steps::parse(path).unwrap();
        assert_eq!(steps.is_of_members(Cluster::SHAPE), expected, "{path}");
    }
}

#[test]
fn what_only_azure_says_is_named_where_the_body_has_it() {
    let rules = rules(&[
        "properties.pools[].count read-only",
        "properties.version read-only while properties.mode is auto",
        "sku.capacity told",
    ]);
    let named = |properties: Value| {
        let body = json!({"sku": {"capacity": 3}, "properties": properties});
        let named = read_only(Cluster::SHAPE, &rules, &body).into_iter();
        named.map(|(path, _)| path).collect::<Vec<_>>()
    };
    let pools = json!([{"name": "a", "count": 3}, {"name": "b"}]);
    assert_eq!(named(json!({"pools": pools})), ["properties.pools.a.count"]);
    assert_eq!(named(json!({"version": "1", "ha": {"mode": "x"}})), [""; 0]);
}
