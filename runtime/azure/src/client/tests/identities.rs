//! Identities that a namespace may borrow of the operator's service account and machine.

use super::credentials::refused;
use super::*;
use crate::credential::{ALLOWED_IDENTITIES, OWN_CREDENTIAL};

const CLIENT_ID: &str = "0f6a2b1c-0000-4000-8000-00000000000a";
const OTHER: &str = "0f6a2b1c-0000-4000-8000-00000000000b";

/// What needs no proof of its own is whose pod it is: the namespace may bound which of those its Secrets name, and what it says counts
/// for credentials that are in use, too.
#[tokio::test]
async fn a_namespace_bounds_the_identities_that_need_no_proof() {
    let server = server().await;
    let token = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(token.path(), "federated").expect("written");
    let token_file = token.path().to_str().map(str::to_owned);
    let secrets = Arc::new(Secrets::default());
    let proof = Proof::ClientSecret("x".into());
    let client = client(&server, proof, Arc::clone(&secrets), token_file);
    let say = |text: &str| secrets.annotate(&[(ALLOWED_IDENTITIES, text)]);
    secrets.set("1", CLIENT_ID, None);
    client
        .send(request("/good", own_secret()))
        .await
        .expect("all are allowed");
    let sent = server.log.all().len();
    for (text, is_allowed) in [
        (OTHER, false),
        ("none", false),
        ("*", false),
        (&*format!("{OTHER}, {}", CLIENT_ID.to_uppercase()), true),
    ] {
        say(text);
        let found = client.subscription(&own_secret()).await;
        assert_eq!(found.is_ok(), is_allowed, "{text}");
        if is_allowed {
            continue;
        }
        let error = refused(&client, own_secret()).await;
        assert!(error.credential, "{error:?}");
        for part in [
            "key AZURE_CLIENT_ID of Secret team/own",
            "armature.azure.com/allowed-identities",
        ] {
            assert!(error.message.contains(part), "{error}");
        }
        assert!(!error.message.contains(CLIENT_ID), "{error}");
        assert_eq!(server.log.all().len(), sent, "{text}: nothing is sent");
    }
    // The operator's own is not the namespace's, and who has a secret proves to be it.
    say("none");
    let global = client.send(request("/good", CredentialKey::Global)).await;
    global.expect("the operator's own");
    secrets.set("2", CLIENT_ID, Some("hunter2"));
    let changed = client.subscription(&own_secret()).await;
    changed.expect("it is read again");
    client
        .send(request("/good", own_secret()))
        .await
        .expect("its own secret");
}

/// `credential: own` is no word about the Secret's name, but about whose identity is used.
#[tokio::test]
async fn a_namespace_keeps_off_the_operators_own_identity() {
    let server = server().await;
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        path
    };
    let token = write("token", "federated");
    let own_file = write("own.json", &json!({"client_id": CLIENT_ID}).to_string());
    let copy = write("copy.json", &json!({"client_id": CLIENT_ID}).to_string());
    let other = write("other.json", &json!({"client_id": OTHER}).to_string());
    let of_file = |path: &std::path::Path| Proof::IdentityFile {
        path: path.to_owned(),
        folders: None,
    };
    let text = |path: &std::path::Path| path.to_str().expect("a path").to_owned();
    let file = |path: &std::path::Path| {
        vec![(
            "AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS".to_owned(),
            text(path),
        )]
    };
    let pod = || vec![("AUTH_MODE".to_owned(), "podidentity".to_owned())];
    let secret = || vec![("AZURE_CLIENT_SECRET".to_owned(), "x".to_owned())];
    let own = |client: &str, proof: Proof| Some(Identity::new("sub-1", "tenant", client, proof));
    let federated = || Proof::WorkloadIdentity {
        token_file: token.clone(),
    };
    let named: &[(&str, &str)] = &[(ALLOWED_IDENTITIES, OTHER)];
    for (row, (own, client, keys, more, refused_key)) in [
        // Workload identity of the operator, and what a Secret may name it as.
        (
            own(CLIENT_ID, federated()),
            CLIENT_ID,
            vec![],
            &[][..],
            Some("AZURE_CLIENT_ID"),
        ),
        (
            own(CLIENT_ID, federated()),
            &*CLIENT_ID.to_uppercase(),
            vec![],
            &[],
            Some("AZURE_CLIENT_ID"),
        ),
        (
            own(CLIENT_ID, federated()),
            CLIENT_ID,
            pod(),
            &[],
            Some("AZURE_CLIENT_ID"),
        ),
        (
            own(CLIENT_ID, federated()),
            CLIENT_ID,
            secret(),
            &[],
            Some("AZURE_CLIENT_ID"),
        ),
        (own(CLIENT_ID, federated()), OTHER, vec![], &[], None),
        (own(CLIENT_ID, federated()), OTHER, secret(), &[], None),
        (
            own(CLIENT_ID, federated()),
            OTHER,
            file(&copy),
            &[],
            Some("AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS"),
        ),
        (own(CLIENT_ID, federated()), OTHER, file(&other), &[], None),
        // A file says whom it names.
        (
            own("", of_file(&own_file)),
            OTHER,
            file(&own_file),
            &[],
            Some("AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS"),
        ),
        (
            own("", of_file(&own_file)),
            OTHER,
            file(&copy),
            &[],
            Some("AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS"),
        ),
        (
            own("", of_file(&own_file)),
            CLIENT_ID,
            vec![],
            &[],
            Some("AZURE_CLIENT_ID"),
        ),
        (own("", of_file(&own_file)), OTHER, file(&other), &[], None),
        // Which identity is the machine's own, only the machine knows, and an administrator.
        (
            own("", Proof::ManagedIdentity),
            OTHER,
            pod(),
            &[],
            Some("AZURE_CLIENT_ID"),
        ),
        (own("", Proof::ManagedIdentity), OTHER, pod(), named, None),
        (own("", Proof::ManagedIdentity), OTHER, vec![], &[], None),
        (
            own(CLIENT_ID, Proof::ManagedIdentity),
            OTHER,
            pod(),
            &[],
            None,
        ),
        (
            own(CLIENT_ID, Proof::ManagedIdentity),
            CLIENT_ID,
            pod(),
            &[(ALLOWED_IDENTITIES, CLIENT_ID)],
            Some("AZURE_CLIENT_ID"),
        ),
        // No identity of its own, or a file that says nothing.
        (None, CLIENT_ID, vec![], &[], None),
        (
            own("", of_file(&token)),
            CLIENT_ID,
            vec![],
            &[],
            Some("is not known"),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let secrets = Arc::new(Secrets::default());
        let settings = ClientSettings {
            identity: own.into(),
            token_file: Some(text(&token)),
            identity_folders: vec![folder.path().to_owned()],
            ..settings(&server, Proof::ManagedIdentity)
        };
        let asked = Client::new(settings, Arc::clone(&secrets) as Arc<dyn SecretReader>);
        let asked = asked.expect("a client");
        let keys: Vec<(&str, &str)> = keys.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        secrets.set_keys("1", client, &keys);
        let before = asked.subscription(&own_secret()).await;
        before.expect("the namespace says nothing");
        let said = [&[(OWN_CREDENTIAL, "own")], more].concat();
        secrets.annotate(&said);
        let found = asked.subscription(&own_secret()).await;
        let message = found.err().map(|error| error.message);
        match (refused_key, &message) {
            (None, None) => {}
            (Some(key), Some(message)) => {
                assert!(message.contains(key), "row {row}: {message}");
                assert!(message.contains("Secret team/own"), "row {row}: {message}");
                assert!(!message.contains(CLIENT_ID), "row {row}: {message}");
            }
            _ => panic!("row {row}: expected {refused_key:?}, found {message:?}"),
        }
    }
}

/// What a watch shows may be old, and a DELETE cannot be taken back.
#[tokio::test]
async fn before_a_delete_the_namespace_is_asked_itself() {
    let server = server().await;
    let token = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(token.path(), "federated").expect("written");
    let token_file = token.path().to_str().map(str::to_owned);
    let secrets = Arc::new(Secrets::default());
    let proof = Proof::ClientSecret("x".into());
    let client = client(&server, proof, Arc::clone(&secrets), token_file);
    secrets.set("1", CLIENT_ID, None);
    secrets.annotate_shown(&[(ALLOWED_IDENTITIES, CLIENT_ID)]);
    let delete = || Request {
        method: Method::Delete,
        ..request("/good", own_secret())
    };
    secrets.annotate_live(&[(ALLOWED_IDENTITIES, OTHER)]);
    let read = client.send(request("/good", own_secret())).await;
    read.expect("as the watch shows");
    let sent = server.log.all().len();
    let error = client.send(delete()).await.expect_err("refused");
    assert!(error.credential, "{error:?}");
    assert_eq!(server.log.all().len(), sent);
    secrets.annotate_live(&[]);
    client.send(delete()).await.expect("sent");
}
