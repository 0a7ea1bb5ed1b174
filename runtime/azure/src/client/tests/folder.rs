//! The operator's own credential in a folder: what counts of its files, and when.

use std::collections::BTreeMap;

use super::*;

#[tokio::test]
async fn the_folder_of_the_operator_is_read_whenever_it_changes() {
    let server = server().await;
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    let variable = |name: &str| (name == "AZURE_TENANT_ID").then(|| "tenant".to_owned());
    let settings = ClientSettings {
        identity: OperatorIdentity::folder(folder.path().to_owned(), variable, BTreeMap::new()),
        ..settings(&server, Proof::ManagedIdentity)
    };
    assert!(
        !format!("{settings:?}").contains("\"tenant\""),
        "values are not shown"
    );
    let client = Client::new(settings, Arc::new(Secrets::default())).expect("a client");
    let key = CredentialKey::Global;
    let error = client.subscription(&key).await.expect_err("nothing there");
    assert!(
        error.message.contains("there is no Azure credential"),
        "{error}"
    );

    write("AZURE_SUBSCRIPTION_ID", "sub-3\n");
    write("AZURE_CLIENT_SECRET", "x");
    let error = client.subscription(&key).await.expect_err("no client");
    let expected = "key AZURE_CLIENT_ID is missing in the operator's settings";
    assert!(error.message.starts_with(expected), "{error}");
    for name in ["first", "second"] {
        write("AZURE_CLIENT_ID", name);
        for _ in 0..2 {
            let subscription = client.subscription(&key).await;
            assert_eq!(subscription.expect("a subscription"), "sub-3");
            client
                .send(request("/good", key.clone()))
                .await
                .expect("an answer");
        }
    }
    let seen = server.log.all();
    let tokens: Vec<&str> = seen
        .iter()
        .map(|seen| seen.authorization.as_str())
        .collect();
    let (first, second) = ("Bearer token-first", "Bearer token-second");
    assert_eq!(tokens, ["", first, first, "", second, second]);
}

/// Whoever writes a credential and a policy into one Secret means both.
#[tokio::test]
async fn a_credential_does_not_count_before_the_settings_beside_it_do() {
    let server = server().await;
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    let variable = |name: &str| {
        let is_proof = name == "USE_WORKLOAD_IDENTITY_AUTH";
        is_proof.then(|| "false".to_owned())
    };
    let beside = |policy: Option<&str>| {
        let policy = policy.map(str::to_owned);
        BTreeMap::from([("POLICY".to_owned(), policy)])
    };
    let read = |policy: Option<&str>| {
        let path = folder.path().to_owned();
        let settings = ClientSettings {
            identity: OperatorIdentity::folder(path, variable, beside(policy)),
            ..settings(&server, Proof::ManagedIdentity)
        };
        async {
            let client = Client::new(settings, Arc::new(Secrets::default())).expect("a client");
            client.subscription(&CredentialKey::Global).await
        }
    };
    for (name, text) in [
        ("AZURE_SUBSCRIPTION_ID", "sub-3"),
        ("AZURE_TENANT_ID", "tenant"),
        ("AZURE_CLIENT_ID", "first"),
        ("AZURE_CLIENT_SECRET", "x"),
        // The variable comes first.
        ("USE_WORKLOAD_IDENTITY_AUTH", "true"),
    ] {
        write(name, text);
    }
    assert_eq!(read(None).await.expect("nothing beside it"), "sub-3");
    write("POLICY", " skip\n");
    let error = read(None).await.expect_err("the policy came with it");
    assert!(error.message.contains("starts anew"), "{error}");
    assert_eq!(read(Some("skip")).await.expect("as at the start"), "sub-3");
    let error = read(Some("manage")).await.expect_err("edited");
    assert!(error.message.contains("/POLICY is not what"), "{error}");
}
