//! How Secrets and ConfigMaps are written.

use std::sync::Mutex;

use armature_shapes::testing::gadget::MODEL;

use super::*;
use crate::testing::mock;

/// What appears meanwhile under the name of one that is made is somebody else's: its values stay, and the write is refused.
#[tokio::test]
async fn only_what_was_the_objects_own_before_is_written_over() {
    let owner = Object {
        kind: Kind(&MODEL),
        metadata: ObjectMeta {
            name: Some("g".to_owned()),
            namespace: Some("n".to_owned()),
            uid: Some("uid".to_owned()),
            ..ObjectMeta::default()
        },
        spec: None,
        status: None,
    };
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let client = mock::client(move |request| {
        let query = request.uri().query().unwrap_or_default();
        let is_forced = query.split('&').any(|part| part == "force=true");
        let path = request.uri().path().to_owned();
        noted.lock().unwrap().push((path, is_forced));
        match is_forced {
            true => (200, r#"{"metadata":{"name":"e"}}"#.to_owned()),
            false => mock::failure(409, "Apply failed with 1 conflict: .data.a"),
        }
    });
    let cluster = Cluster::new(client.into(), "operators", &[], Arc::new(|_: ObjectKey| ()));
    for (kind, plural) in [
        (DataKind::Secret, "secrets"),
        (DataKind::ConfigMap, "configmaps"),
    ] {
        for (target_uid, is_own) in [(None, false), (Some("there".to_owned()), true)] {
            let export = DataExport {
                kind,
                name: "e".to_owned(),
                target_uid,
                incomplete: false,
                data: BTreeMap::from([("a".to_owned(), "b".to_owned())]),
                labels: BTreeMap::new(),
                annotations: BTreeMap::new(),
            };
            let written = cluster.write_data(&owner, export).await;
            let is_conflict = matches!(written, Err(KubernetesError::Conflict { .. }));
            assert_eq!(is_conflict, !is_own, "{written:?}");
            let path = format!("/api/v1/namespaces/n/{plural}/e");
            assert_eq!(asked.lock().unwrap().pop(), Some((path, is_own)));
        }
    }
}
