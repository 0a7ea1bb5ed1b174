use super::*;

const POOL: &str = "Microsoft.ContainerService/managedClusters/agentPools";
const CLUSTER: &str = "Microsoft.ContainerService/managedClusters";
const MYSQL: &str = "Microsoft.DBforMySQL/flexibleServers";

fn wanted(act: Act, seed: u64) -> Wanted {
    Wanted {
        id: String::new(),
        act,
        path: None,
        value: None,
        seed,
    }
}

fn moved(arm_type: &str, act: Act, value: &Value, seed: u64) -> Result<Value, String> {
    let body = Body {
        value,
        scaled: None,
    };
    let found = changes(arm_type, act, body, &wanted(act, seed));
    let found = found.map_err(|error| error.message.clone())?;
    let mut new = value.clone();
    for change in &found {
        apply(&mut new, change);
    }
    Ok(new)
}

#[test]
fn values_move_as_the_table_says() {
    let pool = |count: i64| json!({"properties": {"count": count, "minCount": 1, "maxCount": 3, "enableAutoScaling": true}});
    let server = |size: i64, zones: [&str; 2]| {
        json!({"properties": {
            "storage": {"autoGrow": "Enabled", "storageSizeGB": size}, "availabilityZone": zones[0],
            "highAvailability": {"mode": "ZoneRedundant", "standbyAvailabilityZone": zones[1]},
        }})
    };
    let cluster = |version: &str, proxy: Value| {
        json!({"properties": {
            "kubernetesVersion": version, "autoUpgradeProfile": {"upgradeChannel": "patch"},
            "httpProxyConfig": {"noProxy": proxy},
        }})
    };
    let keys = |tail: &str| {
        let url = format!("https://v.vault.azure.net/keys/k/{tail}");
        json!({"properties": {"activeKey": {"keyUrl": url}, "rotationToLatestKeyVersionEnabled": true}})
    };
    let hub = |units: i64| json!({"sku": {"capacity": units}, "properties": {"isAutoInflateEnabled": true, "maximumThroughputUnits": 4}});
    let encryption = "Microsoft.Compute/diskEncryptionSets";
    let first = "00000000000000000000000000000001";
    let rows = [
        (POOL, Act::Autoscale, pool(1), 2, pool(3)),
        (POOL, Act::Autoscale, pool(3), 2, pool(1)),
        (
            MYSQL,
            Act::Grow,
            server(32, ["1", "2"]),
            0,
            server(64, ["1", "2"]),
        ),
        (
            MYSQL,
            Act::Failover,
            server(32, ["1", "2"]),
            0,
            server(32, ["2", "1"]),
        ),
        (
            CLUSTER,
            Act::Upgrade,
            cluster("1.28.3", json!([])),
            0,
            cluster("1.28.4", json!([])),
        ),
        (
            CLUSTER,
            Act::AddItem,
            cluster("1", json!(["a"])),
            4,
            cluster("1", json!(["a", "10.4.0.0/16"])),
        ),
        (encryption, Act::Rotate, keys("abc"), 0, keys(first)),
        (
            "Microsoft.EventHub/namespaces",
            Act::Inflate,
            hub(2),
            2,
            hub(4),
        ),
    ];
    for (arm_type, act, before, seed, after) in rows {
        assert_eq!(
            moved(arm_type, act, &before, seed),
            Ok(after),
            "{act:?} {before}"
        );
    }
}

#[test]
fn what_does_not_move_is_told_with_what_would() {
    let pool = json!({"properties": {"count": 1, "minCount": 1, "maxCount": 3}});
    let told = moved(POOL, Act::Autoscale, &pool, 0).unwrap_err();
    let expected = "moves properties.count from properties.minCount to properties.maxCount while properties.enableAutoScaling is on";
    assert!(told.contains(expected), "{told}");
    let unknown = moved(POOL, Act::Inflate, &pool, 0).unwrap_err();
    let known = "it knows autoscale, rotate, tag-by-policy, add-item, respell";
    assert!(unknown.contains(known), "{unknown}");
}

#[test]
fn azure_may_have_what_a_row_lets_it_have() {
    let pool = |count: i64, is_on: bool| json!({"properties": {"count": count, "minCount": 1, "maxCount": 3, "enableAutoScaling": is_on}});
    let path = ["properties", "count"].map(str::to_owned);
    let rows = [
        (pool(1, true), pool(3, true), true),
        (pool(1, true), pool(4, true), false),
        (pool(1, false), pool(3, true), false),
        (json!({}), pool(3, true), true),
    ];
    for (desired, azure, expected) in rows {
        let found = crate::autonomy::owns(POOL, &path, &desired, &azure);
        assert_eq!(found, expected, "{desired} {azure}");
    }
    let size = |size: i64| json!({"properties": {"storage": {"autoGrow": "Enabled", "storageSizeGB": size}}});
    let path = ["properties", "storage", "storageSizeGB"].map(str::to_owned);
    assert!(crate::autonomy::owns(MYSQL, &path, &size(32), &size(64)));
    assert!(!crate::autonomy::owns(MYSQL, &path, &size(64), &size(32)));
}

#[test]
fn an_autoscale_setting_moves_its_target() {
    let setting = json!({"properties": {"targetResourceUri": "/Subscriptions/s/x", "enabled": true, "profiles": [
        {"capacity": {"minimum": "2", "maximum": "5"}},
    ]}});
    assert_eq!(
        bounds_of_setting(&setting, "/subscriptions/s/x"),
        Some((2, 5))
    );
    assert_eq!(bounds_of_setting(&setting, "/subscriptions/s/y"), None);
    let body = json!({"sku": {"capacity": 2}});
    let service = "Microsoft.ApiManagement/service";
    let scaled = |scaled| Body {
        value: &body,
        scaled,
    };
    let act = wanted(Act::Autoscale, 3);
    let found = changes(service, Act::Autoscale, scaled(Some((2, 5))), &act).unwrap();
    assert_eq!(found[0].after, Some(json!(5)));
    assert!(changes(service, Act::Autoscale, scaled(None), &act).is_err());
}

#[test]
fn an_added_item_stays_by_its_row_whatever_is_said_of_the_list() {
    let pools = |names: &[&str]| {
        let pools = names.iter().map(|name| json!({ "name": name }));
        json!({"properties": {"agentPoolProfiles": pools.collect::<Vec<_>>()}})
    };
    let ranges = |allotted: Value| json!({"properties": {"addressSpace": {"addressPrefixes": ["10.1.0.0/16"], "ipamPoolPrefixAllocations": allotted}}});
    let clusters = "Microsoft.ContainerService/managedClusters";
    let networks = "Microsoft.Network/virtualNetworks";
    let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    let list = path("properties.agentPoolProfiles");
    let azure = pools(&["other1"]);
    assert!(crate::autonomy::adds(
        clusters,
        &list,
        &pools(&["a"]),
        &azure
    ));
    assert!(crate::autonomy::adds(clusters, &list, &pools(&[]), &azure));
    assert!(!crate::autonomy::owns(clusters, &list, &pools(&[]), &azure));
    let list = path("properties.addressSpace.addressPrefixes");
    let azure = ranges(json!([{"pool": "p"}]));
    for (allotted, expected) in [(json!([{"pool": "p"}]), true), (json!([]), false)] {
        let found = crate::autonomy::adds(networks, &list, &ranges(allotted), &azure);
        assert_eq!(
            found, expected,
            "a condition on something else is the manifest's"
        );
    }
    let count = path("properties.agentPoolProfiles.0.count");
    assert!(!crate::autonomy::adds(
        clusters,
        &count,
        &pools(&["a"]),
        &azure
    ));
}
