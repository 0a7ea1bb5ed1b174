//! Resources: made, read, changed, listed and removed, through the state machine alone.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod common;

use armature_simulator::{Normalise, Settings};
use common::{Bench, SUBSCRIPTION, code, in_group, message};
use serde_json::{Value, json};

fn account() -> Value {
    json!({"location": "westus2", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}})
}

#[test]
fn paths_that_lead_nowhere_are_refused_as_azure_does() {
    let bench = Bench::with_group(Default::default());
    let missing_account = in_group("Microsoft.Storage/storageAccounts/none");
    let table = [
        (
            "/subscriptions/other/resourceGroups/g".to_owned(),
            404,
            "SubscriptionNotFound",
        ),
        (
            format!("{SUBSCRIPTION}/resourceGroups/none"),
            404,
            "ResourceGroupNotFound",
        ),
        (
            format!(
                "{SUBSCRIPTION}/resourceGroups/none/providers/Microsoft.Storage/storageAccounts/a"
            ),
            404,
            "ResourceGroupNotFound",
        ),
        (missing_account.clone(), 404, "ResourceNotFound"),
        (
            format!("{missing_account}/blobServices/default"),
            404,
            "ParentResourceNotFound",
        ),
        (
            in_group("Microsoft.Nothing/things/a"),
            404,
            "InvalidResourceNamespace",
        ),
        (
            in_group("Microsoft.Storage/things/a"),
            404,
            "InvalidResourceType",
        ),
        (
            format!("{missing_account}?api-version=2020-01-01"),
            400,
            "NoRegisteredProviderFound",
        ),
        (
            format!("{missing_account}?api-version="),
            400,
            "MissingApiVersionParameter",
        ),
        ("/nonsense".to_owned(), 404, "InvalidRequestUri"),
    ];
    for (path, status, expected) in table {
        let answer = bench.get(&path);
        assert_eq!((answer.status, code(&answer)), (status, expected), "{path}");
    }
    let answer = bench.get(&format!(
        "{missing_account}/blobServices/default/containers/c"
    ));
    assert_eq!(
        message(&answer),
        format!(
            "Failed to perform 'read' on resource(s) of type 'storageAccounts/blobServices', because the \
             parent resource '{missing_account}' could not be found."
        )
    );
    let answer = bench.get(&format!("{missing_account}?api-version=2020-01-01"));
    assert!(message(&answer).contains("The supported api-versions are '2024-01-01'."));
}

#[test]
fn a_write_needs_its_parent() {
    let bench = Bench::with_group(Default::default());
    let missing = in_group("Microsoft.Storage/storageAccounts/none");
    let answer = bench.put(&format!("{missing}/blobServices/default"), json!({}));
    assert_eq!(
        (answer.status, code(&answer)),
        (404, "ParentResourceNotFound")
    );
    assert!(message(&answer).contains("Failed to perform 'write'"));
    let answer = bench.delete(&format!("{missing}/blobServices/default"));
    assert!(message(&answer).contains("Failed to perform 'delete'"));
}

#[test]
fn names_follow_the_rule_of_the_type() {
    let bench = Bench::with_group(Default::default());
    for name in ["ab", "UPPER", "with-dash"] {
        let path = in_group(&format!("Microsoft.Storage/storageAccounts/{name}"));
        let answer = bench.put(&path, account());
        assert_eq!(
            (answer.status, code(&answer)),
            (400, "InvalidResourceName"),
            "{name}"
        );
    }
}

#[test]
fn ids_keep_the_casing_of_their_creation() {
    let bench = Bench::with_group(Default::default());
    let path = in_group("CONTOSO.test/WIDGETS/Wheel");
    bench.put(&path, json!({"location": "westus2"}));
    let other = path
        .to_ascii_uppercase()
        .replace("/PROVIDERS/", "/providers/");
    let shown = bench.get(&other);
    assert_eq!(shown.status, 200);
    let body = shown.body.unwrap();
    assert_eq!(body["id"], in_group("Contoso.Test/widgets/Wheel"));
    assert_eq!(body["type"], "Contoso.Test/widgets");
}

#[test]
fn secrets_are_kept_and_not_shown() {
    let bench = Bench::with_group(Default::default());
    let path = in_group("Microsoft.Storage/storageAccounts/account");
    let mut body = account();
    body["properties"] = json!({"password": "hunter2"});
    bench.put(&path, body);
    let shown = bench.get(&path).body.unwrap();
    assert!(!shown.to_string().contains("hunter2"), "{shown}");
    let desired = bench.simulator.desired(&path).unwrap();
    assert_eq!(desired["properties"]["password"], "hunter2");
}

#[test]
fn a_put_replaces_what_can_be_set_and_keeps_what_azure_set() {
    let bench = Bench::with_group(Default::default());
    let path = in_group("Microsoft.Storage/storageAccounts/account");
    let mut body = account();
    body["tags"] = json!({"a": "b"});
    bench.put(&path, body);
    let created = bench.get(&path).body.unwrap()["properties"]["creationTime"].clone();
    bench.pass(60);
    bench.put(&path, account());
    let shown = bench.get(&path).body.unwrap();
    assert_eq!(shown["tags"], json!({}), "what was set before is gone");
    assert_eq!(shown["properties"]["creationTime"], created);
}

#[test]
fn a_patch_changes_what_it_names() {
    let bench = Bench::with_group(Default::default());
    let path = in_group("Microsoft.Storage/storageAccounts/account");
    bench.put(&path, account());
    bench.get(&path);
    let answer = bench.send("PATCH", &path, Some(json!({"tags": {"a": "b"}})));
    assert!(answer.status < 300, "{}", message(&answer));
    let shown = bench.get(&path).body.unwrap();
    assert_eq!(shown["tags"], json!({"a": "b"}));
    assert_eq!(shown["sku"]["name"], "Standard_LRS");
    let answer = bench.send("PATCH", &path, Some(json!({"sku": {"name": "Nope"}})));
    assert_eq!(code(&answer), "InvalidRequestContent");
}

#[test]
fn a_location_cannot_change() {
    let bench = Bench::with_group(Default::default());
    let path = in_group("Contoso.Test/widgets/w");
    bench.put(&path, json!({"location": "westus2"}));
    bench.get(&path);
    assert_eq!(
        bench.put(&path, json!({"location": "West US 2"})).status,
        200
    );
    bench.get(&path);
    let answer = bench.put(&path, json!({"location": "eastus"}));
    assert_eq!(
        (answer.status, code(&answer)),
        (409, "InvalidResourceLocation")
    );
}

#[test]
fn lists_show_what_is_below_and_come_in_pages() {
    let bench = Bench::with_group(Settings {
        page_size: 2,
        ..Settings::default()
    });
    for name in ["a", "b", "c"] {
        let path = in_group(&format!("Contoso.Test/widgets/{name}"));
        bench.put(&path, json!({"location": "westus2"}));
    }
    let names = |answer: &Value| -> Vec<String> {
        let items = answer["value"].as_array().unwrap();
        items
            .iter()
            .map(|item| item["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let first = bench.get(&in_group("Contoso.Test/widgets")).body.unwrap();
    assert_eq!(names(&first), ["a", "b"]);
    let second = bench.get(first["nextLink"].as_str().unwrap()).body.unwrap();
    assert_eq!(names(&second), ["c"]);
    assert_eq!(second.get("nextLink"), None);
    let path = format!("{SUBSCRIPTION}/providers/contoso.test/WIDGETS");
    assert_eq!(names(&bench.get(&path).body.unwrap()), ["a", "b"]);
    let groups = bench
        .get(&format!("{SUBSCRIPTION}/resourceGroups"))
        .body
        .unwrap();
    assert_eq!(names(&groups), ["group"]);
    let all = bench
        .get(&format!("{SUBSCRIPTION}/resourceGroups/group/resources"))
        .body
        .unwrap();
    assert_eq!(names(&all), ["a", "b"]);
}

#[test]
fn a_group_takes_everything_with_it() {
    let bench = Bench::with_group(Default::default());
    let cluster = in_group("Microsoft.Kusto/clusters/cluster");
    bench.put(&cluster, json!({"location": "westus2"}));
    let group = format!("{SUBSCRIPTION}/resourceGroups/group");
    let answer = bench.delete(&group);
    assert_eq!(answer.status, 202);
    let poll = answer.header("location").unwrap().to_owned();
    assert_eq!(bench.get(&poll).status, 200);
    assert_eq!(code(&bench.get(&cluster)), "ResourceGroupNotFound");
    assert_eq!(bench.simulator.ids(), Vec::<String>::new());
    assert_eq!(code(&bench.delete(&group)), "ResourceGroupNotFound");
}

#[test]
fn deleting_what_is_not_there_is_no_error() {
    let bench = Bench::with_group(Default::default());
    let answer = bench.delete(&in_group("Contoso.Test/widgets/none"));
    assert_eq!(answer.status, 204);
}

#[test]
fn head_tells_whether_something_is_there() {
    let bench = Bench::with_group(Default::default());
    let group = format!("{SUBSCRIPTION}/resourceGroups/group");
    assert_eq!(bench.send("HEAD", &group, None).status, 204);
    let missing = bench.send("HEAD", &format!("{group}2"), None);
    assert_eq!((missing.status, missing.body), (404, None));
}

#[test]
fn conditions_hold_or_refuse() {
    let bench = Bench::with_group(Default::default());
    let path = in_group("Contoso.Test/widgets/w");
    bench.put(&path, json!({"location": "westus2"}));
    let shown = bench.get(&path);
    let etag = shown.header("etag").unwrap().to_owned();
    assert_eq!(shown.body.unwrap()["etag"], etag);
    let send = |name: &'static str, value: &str| {
        bench.send_with(
            "PUT",
            &path,
            json!({"location": "westus2"}),
            &[(name, value)],
        )
    };
    assert_eq!(send("if-none-match", "*").status, 412);
    assert_eq!(send("if-match", "W/\"other\"").status, 412);
    assert_eq!(send("if-match", &etag).status, 200);
    bench.get(&path);
    assert_eq!(send("if-match", &etag).status, 412, "the etag has moved on");
}

#[test]
fn children_in_the_body_of_their_parent_come_and_go_with_it() {
    let bench = Bench::with_group(Default::default());
    let network = in_group("Microsoft.Network/virtualNetworks/net");
    let body = |subnets: Value| json!({"location": "westus2", "properties": {"subnets": subnets}});
    bench.put(&network, body(json!([])));
    let subnet = |name: &str| format!("{network}/subnets/{name}");
    let answer = bench.put(
        &subnet("own"),
        json!({"properties": {"addressPrefix": "10.0.0.0/24"}}),
    );
    assert_eq!(answer.status, 201);
    let shown = bench.get(&network).body.unwrap();
    let listed = &shown["properties"]["subnets"];
    assert_eq!(listed[0]["id"], subnet("own"));
    assert_eq!(listed[0]["properties"]["addressPrefix"], "10.0.0.0/24");

    // A PATCH changes what it names.
    bench.send("PATCH", &network, Some(json!({"tags": {"a": "b"}})));
    let shown = bench.get(&network).body.unwrap();
    assert_eq!(&shown["properties"]["subnets"][0]["id"], &listed[0]["id"]);
    assert_eq!(bench.get(&subnet("own")).status, 200);
    // A PUT that carries the list over keeps the child, one that leaves it out removes it.
    bench.put(&network, body(listed.clone()));
    assert_eq!(bench.get(&subnet("own")).status, 200);
    bench.put(&network, body(json!([{"name": "other"}])));
    assert_eq!(bench.get(&subnet("own")).status, 404);
    assert_eq!(bench.get(&subnet("other")).status, 200);
    bench.delete(&subnet("other"));
    let shown = bench.get(&network).body.unwrap();
    assert_eq!(shown["properties"]["subnets"], json!([]));
}

#[test]
fn values_are_rewritten_only_when_asked_for() {
    let path = in_group("Contoso.Test/widgets/w");
    for (normalise, expected) in [
        (Normalise::default(), "westus2"),
        (Normalise::ALL, "West US 2"),
    ] {
        let bench = Bench::with_group(Settings {
            normalise,
            ..Settings::default()
        });
        bench.put(&path, json!({"location": "westus2"}));
        assert_eq!(bench.get(&path).body.unwrap()["location"], expected);
    }
}

#[test]
fn a_provider_names_what_is_below_in_its_own_way() {
    let bench = Bench::with_group(Settings {
        normalise: Normalise::ALL,
        ..Settings::default()
    });
    let cluster = in_group("Microsoft.Kusto/clusters/cluster");
    bench.put(&cluster, json!({"location": "westus2"}));
    let database = format!("{cluster}/databases/db");
    let body = json!({"kind": "ReadWrite", "properties": {"softDeletePeriod": "P1D"}});
    let shown = bench.put(&database, body).body.unwrap();
    assert_eq!(shown["name"], "cluster/db");
    let id = shown["id"].as_str().unwrap();
    assert!(id.contains("/resourcegroups/group/"), "{id}");
    assert_eq!(bench.get(id).status, 200, "any casing finds it");
}

#[test]
fn providers_and_subscriptions_can_be_listed() {
    let bench = Bench::with_group(Default::default());
    let subscription = bench.get(SUBSCRIPTION).body.unwrap();
    assert_eq!(subscription["tenantId"], common::TENANT);
    let all = bench.get("/subscriptions").body.unwrap();
    assert_eq!(all["value"][0], subscription);
    let provider = bench
        .get(&format!("{SUBSCRIPTION}/providers/microsoft.kusto"))
        .body
        .unwrap();
    assert_eq!(provider["namespace"], "Microsoft.Kusto");
    assert_eq!(provider["registrationState"], "Registered");
    assert_eq!(provider["resourceTypes"][0]["resourceType"], "clusters");
    assert_eq!(
        provider["resourceTypes"][0]["apiVersions"],
        json!(["2024-01-01"])
    );
}

#[test]
fn a_put_replaces_unless_the_type_keeps_what_is_left_out() {
    let keeps = Settings {
        keeps: vec!["microsoft.storage/StorageAccounts".to_owned()],
        ..Settings::default()
    };
    let rows = [
        (Settings::default(), json!({"b": "3"})),
        (keeps, json!({"a": "1", "b": "3"})),
    ];
    for (settings, expected) in rows {
        let bench = Bench::with_group(settings);
        let path = in_group("Microsoft.Storage/storageAccounts/account");
        for tags in [json!({"a": "1", "b": "2"}), json!({"b": "3"})] {
            let mut body = account();
            body["tags"] = tags;
            assert!(bench.put(&path, body).status < 300);
        }
        assert_eq!(bench.get(&path).body.unwrap()["tags"], expected);
        // What is null goes in any case.
        let without = json!({"location": "westus2", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}, "tags": null});
        assert!(bench.put(&path, without).status < 300);
        assert!(
            bench
                .get(&path)
                .body
                .unwrap()
                .get("tags")
                .is_none_or(|tags| tags == &json!({}))
        );
    }
}
