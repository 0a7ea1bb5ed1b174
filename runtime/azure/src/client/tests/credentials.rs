//! Credentials in use: every proof as the token endpoint sees it, and what changes without a restart.

use std::path::Path;
use std::sync::Weak;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value;

use super::*;

/// A certificate and its key in PEM.
fn certificate() -> String {
    let key = rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048);
    let key = key.expect("a key");
    let params = rcgen::CertificateParams::new(Vec::new()).expect("parameters");
    let certificate = params.self_signed(&key).expect("a certificate");
    certificate.pem() + &key.serialize_pem()
}

/// The body of the last request for a token, and the token that ARM saw after it.
fn last(server: &Server) -> (Vec<(String, String)>, String) {
    let seen = server.log.all();
    let (token, arm) = (&seen[seen.len() - 2], &seen[seen.len() - 1]);
    let form = url::form_urlencoded::parse(token.body.as_bytes());
    (form.into_owned().collect(), arm.authorization.clone())
}

fn assertion(server: &Server) -> String {
    let (form, _) = last(server);
    let field = form
        .into_iter()
        .find(|(name, _)| name == "client_assertion");
    field.expect("an assertion").1
}

/// A part of the assertion, which is a JWT.
fn part(assertion: &str, at: usize) -> Value {
    let part = assertion.split('.').nth(at).expect("three parts");
    let bytes = URL_SAFE_NO_PAD.decode(part).expect("base64");
    serde_json::from_slice(&bytes).expect("JSON")
}

pub(super) async fn refused(client: &Client, key: CredentialKey) -> TransportError {
    let answer = client.send(request("/good", key)).await;
    answer.expect_err("refused")
}

#[tokio::test]
async fn workload_identities_send_the_mounted_token() {
    let server = server().await;
    let token = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(token.path(), "federated").expect("written");
    let secrets = Arc::new(Secrets::default());
    secrets.set("1", "workload", None);
    let proof = Proof::WorkloadIdentity {
        token_file: token.path().to_owned(),
    };
    let token_file = token.path().to_str().map(str::to_owned);
    let client = client(&server, proof, secrets, token_file);
    for (key, expected) in [
        (CredentialKey::Global, "operator"),
        (own_secret(), "workload"),
    ] {
        client.send(request("/good", key)).await.expect("an answer");
        let seen = server.log.all();
        let token = &seen[seen.len() - 2];
        assert!(
            token.body.contains("client_assertion=federated"),
            "{}",
            token.body
        );
        assert_eq!(
            seen[seen.len() - 1].authorization,
            format!("Bearer token-{expected}")
        );
    }
}

/// The kubelet replaces the file long before the token in it expires.
#[tokio::test]
async fn a_rotated_token_file_counts_for_the_next_token() {
    let server = server().await;
    let file = tempfile::NamedTempFile::new().expect("a file");
    let path = file.path().to_owned();
    let write = |text: &str| std::fs::write(&path, text).expect("written");
    let proof = Proof::WorkloadIdentity {
        token_file: path.clone(),
    };
    let client = client(&server, proof, Arc::default(), None);
    let send = async |url: &str| client.send(request(url, CredentialKey::Global)).await;
    write("first");
    send("/good").await.expect("an answer");
    assert_eq!(assertion(&server), "first");
    write("second");
    let before = server.log.all().len();
    send("/good").await.expect("an answer");
    assert_eq!(
        server.log.all().len(),
        before + 1,
        "the token is still good"
    );
    send("/unauthorized").await.expect("an answer");
    send("/good").await.expect("an answer");
    assert_eq!(assertion(&server), "second");

    for (content, expected) in [(Some(" "), "the file is empty"), (None, "No such file")] {
        match content {
            Some(content) => write(content),
            None => std::fs::remove_file(&path).expect("removed"),
        }
        send("/unauthorized").await.ok();
        let error = refused(&client, CredentialKey::Global).await;
        assert!(error.credential, "{error:?}");
        let name = path.display().to_string();
        for part in [
            expected,
            &name,
            "workload identity in the operator's settings",
        ] {
            assert!(error.message.contains(part), "{part}: {error}");
        }
    }
}

/// A restart with many objects: all of them ask for their credential at once.
#[tokio::test]
async fn requests_that_begin_together_share_one_token() {
    let server = server().await;
    let secrets = Arc::new(Secrets::default());
    secrets.set("1", "app", Some("right"));
    let proof = Proof::ClientSecret("unused".into());
    let client = client(&server, proof, secrets, None);
    let passes = (0..20).map(async |_| {
        client.subscription(&own_secret()).await?;
        client.send(request("/good", own_secret())).await
    });
    let answers = futures::future::try_join_all(passes).await;
    assert_eq!(answers.expect("answers").len(), 20);
    let lines = server.log.all().into_iter().map(|seen| seen.line);
    let (tokens, calls): (Vec<_>, Vec<_>) = lines.partition(|line| line.ends_with("/token"));
    assert_eq!(
        (calls.len(), tokens),
        (20, vec!["POST /tenant/oauth2/v2.0/token".to_owned()])
    );
}

#[tokio::test]
async fn client_certificates_sign_for_the_token_endpoint() {
    let server = server().await;
    let secrets = Arc::new(Secrets::default());
    let proof = Proof::ClientSecret("unused".into());
    let client = client(&server, proof, Arc::clone(&secrets), None);
    let mut seen = Vec::new();
    for version in ["1", "2"] {
        let certificate = certificate();
        let keys = [("AZURE_CLIENT_CERTIFICATE", certificate.as_str())];
        secrets.set_keys(version, "app", &keys);
        client
            .subscription(&own_secret())
            .await
            .expect("a subscription");
        let answer = client.send(request("/good", own_secret())).await;
        answer.expect("an answer");
        let assertion = assertion(&server);
        let claims = part(&assertion, 1);
        let endpoint = format!("{}/tenant/oauth2/v2.0/token", server.endpoint);
        assert_eq!(claims["aud"], endpoint.as_str());
        assert_eq!(claims["sub"], "app");
        assert_eq!(last(&server).1, "Bearer token-app");
        seen.push(part(&assertion, 0)["x5t"].clone());
    }
    assert_ne!(seen[0], seen[1], "the new certificate is in use");

    secrets.set_keys("3", "app", &[("AZURE_CLIENT_CERTIFICATE", "s3cr3t")]);
    let error = client.subscription(&own_secret()).await;
    let error = error.expect_err("no certificate");
    let expected = "key AZURE_CLIENT_CERTIFICATE of Secret team/own cannot be used";
    assert!(
        error.credential && error.message.starts_with(expected),
        "{error}"
    );
    assert!(!error.message.contains("s3cr3t"), "{error}");
}

/// What has expired is told by the client itself, by its key, and nothing is sent.
#[tokio::test]
async fn an_expired_certificate_is_named() {
    let server = server().await;
    let key = rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048);
    let key = key.expect("a key");
    let mut params = rcgen::CertificateParams::new(Vec::new()).expect("parameters");
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let certificate = params.self_signed(&key).expect("a certificate");
    let pem = certificate.pem() + &key.serialize_pem();
    let secrets = Arc::new(Secrets::default());
    secrets.set_keys("1", "app", &[("AZURE_CLIENT_CERTIFICATE", &pem)]);
    let proof = Proof::ClientSecret("unused".into());
    let client = client(&server, proof, secrets, None);
    let error = refused(&client, own_secret()).await;
    let expected = "key AZURE_CLIENT_CERTIFICATE of Secret team/own cannot be used: the certificate expired at 2021";
    assert!(
        error.credential && error.message.starts_with(expected),
        "{error}"
    );
    assert!(server.log.all().is_empty());
}

fn write_identity_file(path: &Path, server: &Server, client: &str, secret: &str) {
    let json = json!({
        "client_id": client,
        "tenant_id": "tenant",
        "authentication_endpoint": format!("{}/", server.endpoint),
        "client_secret": secret,
        "not_after": "2100-01-01T00:00:00Z",
    });
    std::fs::write(path, json.to_string()).expect("written");
}

#[tokio::test]
async fn the_credential_file_of_an_identity_is_read_whenever_it_changes() {
    let server = server().await;
    let file = tempfile::NamedTempFile::new().expect("a file");
    let path = file.path().to_owned();
    let proof = Proof::IdentityFile {
        path: path.clone(),
        folders: None,
    };
    let client = client(&server, proof, Arc::default(), None);
    for name in ["first", "second"] {
        write_identity_file(&path, &server, name, &STANDARD.encode(certificate()));
        let answer = client.send(request("/good", CredentialKey::Global)).await;
        answer.expect("an answer");
        assert_eq!(last(&server).1, format!("Bearer token-{name}"));
        let head = part(&assertion(&server), 0);
        assert!(head["x5c"].is_array(), "the chain goes along: {head}");
    }
    let before = server.log.all().len();
    for (content, expected) in [
        ("{\"client_secret\": \"s3cr3t\"}", "'client_id' is missing"),
        ("s3cr3t", "no JSON object"),
        ("{\"client_secret\": 73}", "no JSON object"),
    ] {
        std::fs::write(&path, content).expect("written");
        let error = refused(&client, CredentialKey::Global).await;
        assert!(
            error.credential && error.message.contains(expected),
            "{error}"
        );
        assert!(
            error.message.contains(&path.display().to_string()),
            "{error}"
        );
        assert!(!error.message.contains("s3cr3t"), "{error}");
    }
    write_identity_file(&path, &server, "third", &STANDARD.encode("s3cr3t"));
    let error = refused(&client, CredentialKey::Global).await;
    assert!(
        error.message.contains("'client_secret': it is neither"),
        "{error}"
    );
    assert_eq!(server.log.all().len(), before);
}

#[tokio::test]
async fn tokens_of_additional_tenants_go_along() {
    let server = server().await;
    let secrets = Arc::new(Secrets::default());
    let keys = [
        ("AZURE_CLIENT_SECRET", "x"),
        ("AZURE_ADDITIONAL_TENANTS", "u,v"),
    ];
    secrets.set_keys("1", "app", &keys);
    let proof = Proof::ClientSecret("x".into());
    let client = client(&server, proof, secrets, None);
    for (key, expected) in [
        (own_secret(), "Bearer token-app-of-u, Bearer token-app-of-v"),
        (CredentialKey::Global, ""),
    ] {
        client.send(request("/good", key)).await.expect("an answer");
        let seen = server.log.all();
        assert_eq!(seen[seen.len() - 1].auxiliary, expected);
    }
}

#[tokio::test]
async fn a_secret_can_name_another_cloud_where_that_is_allowed() {
    let (server, other) = (server().await, server().await);
    let secrets = Arc::new(Secrets::default());
    let keys = [
        ("AZURE_CLIENT_SECRET", "x"),
        ("AZURE_RESOURCE_MANAGER_ENDPOINT", other.endpoint.as_str()),
        ("AZURE_AUTHORITY_HOST", other.endpoint.as_str()),
        ("AZURE_RESOURCE_MANAGER_AUDIENCE", "https://other.test"),
    ];
    secrets.set_keys("1", "app", &keys);
    let both = tempfile::NamedTempFile::new().expect("a file");
    let read = |server: &Server| std::fs::read_to_string(server.ca.path()).expect("a CA");
    std::fs::write(both.path(), read(&server) + &read(&other)).expect("written");
    let client = |other_clouds| {
        let settings = ClientSettings {
            ca_file: Some(both.path().to_owned()),
            other_clouds,
            identity_folders: Vec::new(),
            secret_bounds: Default::default(),
            ..settings(&server, Proof::ClientSecret("x".into()))
        };
        Client::new(settings, Arc::clone(&secrets) as Arc<dyn SecretReader>).expect("a client")
    };
    let answer = client(true).send(request("/good", own_secret())).await;
    assert_eq!(answer.expect("an answer").status, 200);
    let (form, token) = last(&other);
    assert!(form.contains(&("scope".to_owned(), "https://other.test/.default".to_owned())));
    assert_eq!(token, "Bearer token-app");
    // Whoever else has this tenant and client shares neither limits nor answers with it.
    let principal = client(true).principal(&own_secret()).await;
    assert!(
        principal.starts_with(other.endpoint.as_str()),
        "{principal}"
    );
    assert_eq!(
        client(true).endpoint(&own_secret()).await,
        format!("{}/", other.endpoint)
    );

    let error = refused(&client(false), own_secret()).await;
    assert!(
        error.message.contains("ALLOW_MULTI_ENV_MANAGEMENT"),
        "{error}"
    );
    assert!(server.log.all().is_empty());
}

/// What listens there is no metadata service: the caller decides when to ask again, and learns it at once.
#[tokio::test]
async fn a_machine_without_metadata_service_is_asked_once() {
    let server = server().await;
    let other = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let other = other.expect("a free port");
    let endpoint = format!("http://{}", other.local_addr().expect("an address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        while other.accept().await.is_ok() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let settings = ClientSettings {
        metadata_endpoint: Some(endpoint.parse().expect("a URL")),
        ..settings(&server, Proof::ManagedIdentity)
    };
    let client = Client::new(settings, Arc::new(Secrets::default())).expect("a client");
    let error = refused(&client, CredentialKey::Global).await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert!(!error.credential, "it may pass: {error:?}");
    for part in [
        "managed identity in the operator's settings",
        &format!("{endpoint} cannot be reached"),
        "client secret",
    ] {
        assert!(error.message.contains(part), "{part}: {error}");
    }
}

#[tokio::test]
async fn a_secret_that_is_gone_is_not_used_any_more() {
    struct Gone(Mutex<bool>);
    #[async_trait]
    impl SecretReader for Gone {
        async fn read_secret(&self, _: &str, _: &str) -> Result<Option<SecretData>, String> {
            let secrets = Secrets::default();
            secrets.set("1", "app", Some("x"));
            let gone = *self.0.lock().expect("the flag");
            Ok((!gone).then(|| secrets.0.into_inner().expect("the secret")))
        }

        async fn bounds(&self, _: &str, _: bool) -> Result<NamespaceBounds, String> {
            Ok(NamespaceBounds::default())
        }
    }
    let server = server().await;
    let secrets = Arc::new(Gone(Mutex::new(false)));
    let settings = settings(&server, Proof::ClientSecret("x".into()));
    let client = Client::new(settings, Arc::clone(&secrets) as Arc<dyn SecretReader>);
    let client = client.expect("a client");
    client
        .send(request("/good", own_secret()))
        .await
        .expect("an answer");
    *secrets.0.lock().expect("the flag") = true;
    let error = client.subscription(&own_secret()).await.expect_err("gone");
    assert!(
        error
            .message
            .contains("Secret team/own with the Azure credential does not exist")
    );
    let before = server.log.all().len();
    assert!(refused(&client, own_secret()).await.credential);
    assert_eq!(server.log.all().len(), before);
}

/// A server that wants to be asked later is not asked by each pass of each object, and whoever waits knows how long.
#[tokio::test]
async fn a_sign_in_server_that_asks_to_wait_is_asked_later() {
    let server = server().await;
    let secrets = Arc::new(Secrets::default());
    let client = client(
        &server,
        Proof::ClientSecret("x".into()),
        Arc::clone(&secrets),
        None,
    );
    let waits = |error: &TransportError| {
        let wait = error.retry_after.expect("a time").as_secs();
        assert!((80..=90).contains(&wait), "{wait}");
        assert!(!error.credential && !error.is_early(), "{error:?}");
        assert!(error.message.contains("HTTP 429"), "{}", error.message);
    };
    for client_id in ["busy", "busy-proxy"] {
        secrets.set(client_id, client_id, Some("x"));
        let first = refused(&client, own_secret()).await;
        let wait = first.retry_after.expect("a time").as_secs();
        assert!((80..=90).contains(&wait), "{first:?}");
        let asked = server.log.all().len();
        waits(&refused(&client, own_secret()).await);
        assert_eq!(server.log.all().len(), asked, "it is not asked again");
    }
    // What is refused is not a matter of waiting.
    secrets.set("3", "busy", Some("wrong"));
    let error = refused(&client, own_secret()).await;
    assert!(error.credential && error.retry_after.is_none(), "{error:?}");
}

/// Who only names another one's client shares no limits with it, and is not tried by every pass.
#[tokio::test]
async fn a_client_counts_for_who_has_proven_to_be_it() {
    let server = server().await;
    let secrets = Arc::new(Secrets::default());
    let proof = Proof::ClientSecret("x".into());
    let client = client(&server, proof, Arc::clone(&secrets), None);
    secrets.set("1", "app", Some("wrong"));
    let unproven = client.principal(&own_secret()).await;
    assert!(unproven.contains("Secret team/own"), "{unproven}");
    let first = refused(&client, own_secret()).await;
    let asked = server.log.all().len();
    let again = refused(&client, own_secret()).await;
    assert_eq!((again.message, again.credential), (first.message, true));
    assert_eq!(
        server.log.all().len(),
        asked,
        "Entra ID was not asked again"
    );
    // Another Secret is another word.
    secrets.set("2", "app", Some("x"));
    let answer = client.send(request("/good", own_secret())).await;
    assert_eq!(answer.expect("an answer").status, 200);
    let proven = client.principal(&own_secret()).await;
    assert!(unproven.starts_with(&proven), "{unproven} {proven}");
    assert!(!proven.contains("Secret"), "{proven}");
    // Who can prove it no more, since its secret has expired, speaks for nobody else: others may have a good one.
    let expired = client
        .credentials
        .get(&own_secret(), crate::credentials::Asked::Known)
        .await;
    let expired = expired.expect("a credential");
    let refusal = crate::failed_credentials::Refusal {
        message: "expired".to_owned(),
        wait: None,
    };
    assert_eq!(expired.principal(&own_secret()), proven);
    client.credentials.refuse(&own_secret(), &expired, refusal);
    assert_eq!(expired.principal(&own_secret()), unproven);
    // The tenant of a machine's identity is not what a Secret says it is.
    let pod = [("AUTH_MODE", "podidentity")];
    let mut principals = std::collections::BTreeSet::new();
    for (version, tenant) in [("3", "tenant"), ("4", "another")] {
        let mut keys = pod.to_vec();
        keys.push(("AZURE_TENANT_ID", tenant));
        secrets.set_keys(version, "machine", &keys);
        principals.insert(client.principal(&own_secret()).await);
    }
    assert_eq!(principals.len(), 1, "{principals:?}");
}

/// A Secret as a watch shows it.
#[derive(Default)]
struct Watched {
    secrets: Secrets,
    shown: Mutex<Option<String>>,
    reads: Mutex<usize>,
    user: Mutex<Option<Weak<dyn SecretUser>>>,
}

#[async_trait]
impl SecretReader for Watched {
    async fn read_secret(&self, namespace: &str, name: &str) -> Result<Option<SecretData>, String> {
        *self.reads.lock().expect("a count") += 1;
        self.secrets.read_secret(namespace, name).await
    }

    async fn bounds(&self, _: &str, _: bool) -> Result<NamespaceBounds, String> {
        Ok(NamespaceBounds::default())
    }

    fn shown_version(&self, _: &str, _: &str) -> Option<String> {
        self.shown.lock().expect("a version").clone()
    }

    fn tell(&self, user: Weak<dyn SecretUser>) {
        *self.user.lock().expect("a user") = Some(user);
    }
}

/// Whoever sends without a pass, such as the lookout, does not go on with what the Secret said before.
#[tokio::test]
async fn what_a_changed_secret_said_is_used_for_no_further_request() {
    let server = server().await;
    let watched = Arc::new(Watched::default());
    let settings = settings(&server, Proof::ClientSecret("x".into()));
    let client = Client::new(settings, Arc::clone(&watched) as Arc<dyn SecretReader>);
    let client = client.expect("a client");
    let send = async || {
        let answer = client.send(request("/good", own_secret())).await;
        answer.expect("an answer");
        last(&server).1
    };
    watched.secrets.set("1", "old", Some("x"));
    assert_eq!(send().await, "Bearer token-old");
    // The watch tells it.
    watched.secrets.set("2", "new", Some("x"));
    let user = watched.user.lock().expect("a user").clone();
    let user = user.and_then(|user| user.upgrade()).expect("a user");
    user.secret_changed("team", "other");
    user.secret_changed("team", "own");
    assert_eq!(send().await, "Bearer token-new");
    // It told it while the Secret was read.
    watched.secrets.set("3", "newest", Some("x"));
    *watched.shown.lock().expect("a version") = Some("3".to_owned());
    assert_eq!(send().await, "Bearer token-newest");
    let before = server.log.all().len();
    send().await;
    assert_eq!(server.log.all().len(), before + 1, "the token is kept");
    drop(client);
    assert_eq!(Arc::strong_count(&user), 1, "and nothing keeps the rest");
}

/// A watch that shows the version spares the read; what it does not show, and what Azure refuses, is read.
#[tokio::test]
async fn a_secret_is_read_when_its_version_changed() {
    let server = server().await;
    let watched = Arc::new(Watched::default());
    let settings = settings(&server, Proof::ClientSecret("x".into()));
    let client = Client::new(settings, Arc::clone(&watched) as Arc<dyn SecretReader>);
    let client = client.expect("a client");
    watched.secrets.set("1", "app", Some("x"));
    let mut expected = 0;
    for (shown, read) in [
        (None, 1),
        (None, 1),
        (Some("1"), 0),
        (Some("1"), 0),
        (Some("2"), 1),
        (None, 1),
    ] {
        *watched.shown.lock().expect("a version") = shown.map(str::to_owned);
        if let Some(version) = shown {
            watched.secrets.set(version, "app", Some("x"));
        }
        let answer = client.subscription(&own_secret()).await;
        answer.expect("a subscription");
        expected += read;
        let reads = *watched.reads.lock().expect("a count");
        assert_eq!(reads, expected, "shown: {shown:?}");
    }
    *watched.shown.lock().expect("a version") = Some("2".to_owned());
    let answer = client.send(request("/unauthorized", own_secret())).await;
    assert_eq!(answer.expect("an answer").status, 401);
    let answer = client.subscription(&own_secret()).await;
    answer.expect("a subscription");
    let reads = *watched.reads.lock().expect("a count");
    assert_eq!(reads, expected + 1, "Azure refused it");
}
