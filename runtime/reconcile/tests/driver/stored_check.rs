//! What would be refused of an object as it is stored, told without a request.

use armature_reconcile::annotations::CREDENTIAL;
use armature_reconcile::condition::reason;

use super::*;

const OTHER: &str = "/subscriptions/s-1/resourceGroups/other";

async fn refused(world: &World, key: &ObjectKey) -> Vec<(String, String)> {
    let found = world.reconciler().check_stored(key).await;
    let found = found.expect("the port answers");
    let refused = found.refused.into_iter();
    refused.map(|one| (one.reason, one.message)).collect()
}

#[tokio::test]
async fn each_refusal_is_told_although_nothing_would_be_sent_now() {
    let world = World::with_group().await;
    let scopes = [(names::ALLOWED_SCOPES.to_owned(), GROUP.to_owned())];
    world.cluster.annotate_namespace("default", scopes.into());
    let spec = json!({"owner": {"name": "g"}, "location": "westus", "peerId": OTHER});
    for (name, annotation, spec, expected) in [
        (
            "paused",
            Some((names::PAUSED, "true")),
            &spec,
            Some((reason::SCOPE_NOT_ALLOWED, "spec.peerId: ")),
        ),
        // It is only looked at, and its spec sends nothing.
        (
            "skipped",
            Some((names::RECONCILE_POLICY, "skip")),
            &spec,
            None,
        ),
        (
            "mistaken",
            Some((names::PROTECT, "yes")),
            &json!({"owner": {"name": "g"}}),
            Some((
                reason::INVALID_ANNOTATION,
                "annotation armature.azure.com/protect",
            )),
        ),
        (
            "unknown",
            None,
            &json!({"owner": {"name": "g"}, "originalVersion": "v19990101"}),
            Some((reason::FAILED, "the object was last written in a version")),
        ),
        (
            "nested",
            Some((names::CREDENTIAL_FROM, "other/secret")),
            &json!({"owner": {"name": "g"}}),
            Some((
                reason::FAILED,
                "annotation serviceoperator.azure.com/credential-from",
            )),
        ),
        (
            "sound",
            None,
            &json!({"owner": {"name": "g"}, "location": "westus"}),
            None,
        ),
    ] {
        let key = world.cluster.apply(&kinds::STORE, name, spec);
        if let Some((annotation, text)) = annotation {
            world.cluster.annotate(&key, annotation, Some(text));
        }
        let found = refused(&world, &key).await;
        let told = found.first().map(|(reason, _)| reason.as_str());
        assert_eq!(
            told,
            expected.map(|(reason, _)| reason),
            "{name}: {found:?}"
        );
        let start = expected.map_or("", |(_, start)| start);
        let is_told = found.iter().all(|(_, message)| message.starts_with(start));
        assert!(is_told, "{name}: {found:?}");
    }
    assert_eq!(world.requests(), [""; 0]);
}

#[tokio::test]
async fn what_cannot_be_seen_is_no_refusal_and_told() {
    let world = World::with_group().await;
    let peer = json!({"group": "toys.azure.com", "kind": "Store", "name": "missing"});
    let spec = json!({"owner": {"name": "g"}, "peerReference": peer});
    let key = world.cluster.apply(&kinds::STORE, "s", &spec);
    let found = world.reconciler().check_stored(&key).await.unwrap();
    assert_eq!(found.refused, []);
    let unseen = found.unseen.expect("the body cannot be built");
    assert_eq!(unseen.reason, reason::REFERENCE_NOT_FOUND);
}

/// Nothing is ever sent for an object that has no credential to use, so it is refused and not merely unseen.
#[tokio::test]
async fn an_object_without_a_credential_that_it_may_use_is_refused() {
    let world = World::with_group().await;
    let own = [(CREDENTIAL.to_owned(), "own".to_owned())];
    world.cluster.annotate_namespace("default", own.into());
    let spec = json!({"owner": {"name": "g"}, "location": "westus"});
    let key = world.cluster.apply(&kinds::STORE, "s", &spec);
    let found = refused(&world, &key).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, reason::CREDENTIAL_NOT_FOUND);
    assert!(found[0].1.contains("may not use the operator's own"));
}

/// Bounds on what an object may ask for count from an upgrade on, also where nothing is sent for it.
#[tokio::test]
async fn what_an_object_asks_for_beyond_its_bounds_is_told() {
    let ten = "[0,1,2,3,4,5,6,7,8,9]";
    let work = format!(
        "{ten}.map(a, {ten}.map(b, {ten}.map(c, {ten}.map(d, {ten}.map(e, a))))).size() == 0 ? 'a' : 'b'"
    );
    let spec = |count: usize, value: &str| {
        let entry = |at: usize| json!({"name": "config", "key": format!("k{at}"), "value": value});
        let entries: Vec<Value> = (0..count).map(entry).collect();
        let exports = json!({"configMapExpressions": entries});
        json!({"capacity": 5, "operatorSpec": exports})
    };
    let paths = |count: usize| vec!["properties.capacity"; count].join(",");
    let (few, many, exports) = (
        paths(100),
        paths(101),
        Some((reason::EXPORT_FAILED, "spec.operatorSpec")),
    );
    let mistake = Some((reason::INVALID_ANNOTATION, "annotation armature.azure.com/"));
    for (name, annotation, spec, expected) in [
        ("few", None, spec(200, "'x'"), None),
        ("many", None, spec(201, "'x'"), exports),
        (
            "skipped",
            Some((names::RECONCILE_POLICY, "skip")),
            spec(201, "'x'"),
            exports,
        ),
        ("together", None, spec(200, &work), exports),
        (
            "paths",
            Some((names::IGNORE_PATHS, few.as_str())),
            spec(0, ""),
            None,
        ),
        (
            "ignored-paths",
            Some((names::IGNORE_PATHS, many.as_str())),
            spec(0, ""),
            mistake,
        ),
        (
            "kept-paths",
            Some((names::KEEP_UNKNOWN, many.as_str())),
            spec(0, ""),
            mistake,
        ),
    ] {
        let world = World::with_group().await;
        let azure = json!({"id": STORE, "properties": {"capacity": 5}});
        world.azure.set(STORE, azure);
        let key = world.store(spec);
        if let Some((annotation, text)) = annotation {
            world.cluster.annotate(&key, annotation, Some(text));
        }
        let found = world.reconciler().check_stored(&key).await.unwrap();
        assert_eq!(found.unseen, None, "{name}");
        let refused = found.refused;
        assert_eq!(
            refused.len(),
            usize::from(expected.is_some()),
            "{name}: {refused:?}"
        );
        if let Some((reason, start)) = expected {
            assert_eq!(refused[0].reason, reason, "{name}");
            assert!(refused[0].message.starts_with(start), "{name}: {refused:?}");
            // It is what the object's own pass says.
            world.pass(&key).await;
            assert_eq!(world.message(&key), refused[0].message, "{name}");
        }
    }
    // One refusal hides no other.
    let world = World::with_group().await;
    let scopes = [(names::ALLOWED_SCOPES.to_owned(), GROUP.to_owned())];
    world.cluster.annotate_namespace("default", scopes.into());
    let mut both = spec(201, "'x'");
    both["peerId"] = json!(OTHER);
    let found = refused(&world, &world.store(both)).await;
    let reasons: Vec<&str> = found.iter().map(|(reason, _)| reason.as_str()).collect();
    let expected = [reason::EXPORT_FAILED, reason::SCOPE_NOT_ALLOWED];
    assert_eq!(reasons, expected, "{found:?}");
}
