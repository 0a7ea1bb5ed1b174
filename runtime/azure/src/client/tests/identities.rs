//! Identities that a namespace may borrow of the operator's service account and machine.

use super::credentials::refused;
use super::*;

/// What needs no proof of its own is whose pod it is: the namespace may bound which of those its Secrets name, and what it says counts
/// for credentials that are in use, too.
#[tokio::test]
async fn a_namespace_bounds_the_identities_that_need_no_proof() {
    const CLIENT_ID: &str = "0f6a2b1c-0000-4000-8000-00000000000a";
    const OTHER: &str = "0f6a2b1c-0000-4000-8000-00000000000b";
    let server = server().await;
    let token = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(token.path(), "federated").expect("written");
    let token_file = token.path().to_str().map(str::to_owned);
    let secrets = Arc::new(Secrets::default());
    let proof = Proof::ClientSecret("x".into());
    let client = client(&server, proof, Arc::clone(&secrets), token_file);
    let say = |text: Option<&str>| {
        *secrets.1.lock().expect("the annotation") = text.map(str::to_owned);
    };
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
        say(Some(text));
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
    say(Some("none"));
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
