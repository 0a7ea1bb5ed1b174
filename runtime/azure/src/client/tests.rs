//! The client against a TLS server of the test's own: token endpoint and ARM in one.

use std::sync::Mutex;

use armature_shapes::testing::shown::shows;
use serde_json::json;

use super::test_server::{Server, server};
use super::*;
use crate::CloudError;
use crate::credential::{Identity, NamespaceBounds, Proof, SecretData};

mod credentials;
mod folder;
mod identities;
mod slow_certificate;

/// One Secret, `team/own`, whose content a test can replace, and the annotations of its namespace: as a watch shows them, and as the
/// server has them.
#[derive(Default)]
struct Secrets(
    Mutex<SecretData>,
    Mutex<BTreeMap<String, String>>,
    Mutex<BTreeMap<String, String>>,
);

#[async_trait]
impl SecretReader for Secrets {
    async fn read_secret(&self, namespace: &str, name: &str) -> Result<Option<SecretData>, String> {
        let known = (namespace, name) == ("team", "own");
        // As a request to the API server would: others run meanwhile.
        tokio::task::yield_now().await;
        Ok(known.then(|| self.0.lock().expect("the secret").clone()))
    }

    async fn bounds(&self, namespace: &str, live: bool) -> Result<NamespaceBounds, String> {
        let said = match live {
            true => &self.2,
            false => &self.1,
        };
        let said = said.lock().expect("the annotations").clone();
        let said = Some(said).filter(|_| namespace == "team");
        Ok(NamespaceBounds::of(&said.unwrap_or_default()))
    }
}

impl Secrets {
    /// What the namespace says, everywhere.
    fn annotate(&self, annotations: &[(&str, &str)]) {
        self.annotate_shown(annotations);
        self.annotate_live(annotations);
    }

    /// What a watch shows of it.
    fn annotate_shown(&self, annotations: &[(&str, &str)]) {
        *self.1.lock().expect("the annotations") = owned(annotations);
    }

    /// What the server has of it.
    fn annotate_live(&self, annotations: &[(&str, &str)]) {
        *self.2.lock().expect("the annotations") = owned(annotations);
    }

    fn set(&self, version: &str, client: &str, secret: Option<&str>) {
        let secret = secret.map(|secret| ("AZURE_CLIENT_SECRET", secret));
        self.set_keys(version, client, &Vec::from_iter(secret));
    }

    fn set_keys(&self, version: &str, client: &str, more: &[(&str, &str)]) {
        let mut pairs = vec![
            ("AZURE_SUBSCRIPTION_ID", "sub-2"),
            ("AZURE_TENANT_ID", "tenant"),
            ("AZURE_CLIENT_ID", client),
        ];
        pairs.extend(more);
        *self.0.lock().expect("the secret") = SecretData {
            version: version.to_owned(),
            data: pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value.as_bytes().to_vec()))
                .collect(),
        };
    }
}

fn owned(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect()
}

fn client(
    server: &Server,
    proof: Proof,
    secrets: Arc<Secrets>,
    token_file: Option<String>,
) -> Client {
    let settings = ClientSettings {
        token_file,
        ..settings(server, proof)
    };
    Client::new(settings, secrets).expect("a client")
}

fn settings(server: &Server, proof: Proof) -> ClientSettings {
    ClientSettings {
        cloud: Cloud::new(&server.endpoint, &server.endpoint, "https://arm.test/")
            .expect("a cloud"),
        identity: Some(Identity::new("sub-1", "tenant", "operator", proof)).into(),
        ca_file: Some(server.ca.path().to_owned()),
        user_agent_suffix: Some("test".to_owned()),
        token_file: None,
        other_clouds: false,
        identity_folders: Vec::new(),
        secret_bounds: Default::default(),
        metadata_endpoint: None,
    }
}

fn own_secret() -> CredentialKey {
    CredentialKey::Secret {
        namespace: "team".to_owned(),
        name: "own".to_owned(),
    }
}

fn request(url: &str, credential: CredentialKey) -> Request {
    Request {
        method: Method::Put,
        url: url.to_owned(),
        body: Some(json!({"secret": "s3cr3t"})),
        if_match: None,
        credential,
    }
}

#[tokio::test]
async fn sends_with_a_token_that_is_fetched_once() {
    let server = server().await;
    let proof = Proof::ClientSecret("hunter2".into());
    let client = client(&server, proof, Arc::default(), None);
    for _ in 0..2 {
        let url = "/good?api-version=1";
        let response = client.send(request(url, CredentialKey::Global)).await;
        let response = response.expect("an answer");
        assert_eq!(response.status, 200);
        assert_eq!(response.body, Some(json!({"name": "x"})));
        assert_eq!(response.header(REQUEST_ID), Some("r-1"));
        assert!(
            response
                .header(CORRELATION)
                .is_some_and(|id| id.len() == 36)
        );
    }
    let seen = server.log.all();
    let lines: Vec<&str> = seen.iter().map(|seen| seen.line.as_str()).collect();
    let put = "PUT /good?api-version=1";
    assert_eq!(lines, ["POST /tenant/oauth2/v2.0/token", put, put]);
    assert!(
        seen[0]
            .body
            .contains("scope=https%3A%2F%2Farm.test%2F.default"),
        "{}",
        seen[0].body
    );
    assert_eq!(seen[1].authorization, "Bearer token-operator");
    assert_eq!(
        seen[1].agent,
        format!("armature/{} test", env!("CARGO_PKG_VERSION"))
    );
    assert_ne!(seen[1].correlation, seen[2].correlation);
    assert_eq!(seen[1].body, r#"{"secret":"s3cr3t"}"#);
    assert_eq!(
        client
            .subscription(&CredentialKey::Global)
            .await
            .expect("a subscription"),
        "sub-1"
    );
}

#[tokio::test]
async fn answers_become_responses_or_errors() {
    let server = server().await;
    let proof = Proof::ClientSecret("hunter2".into());
    let client = client(&server, proof, Arc::default(), None);
    let send = |url: &str| client.send(request(url, CredentialKey::Global));
    assert_eq!(send("/empty").await.expect("an answer").body, None);
    assert_eq!(send("/other").await.expect("an answer").status, 404);
    let broken = send("/html-error").await.expect("an answer");
    assert_eq!((broken.status, broken.body), (502, None));
    let error = send("/html").await.expect_err("no JSON").to_string();
    assert!(
        error.contains("PUT /html: HTTP 200 with a body that is no JSON"),
        "{error}"
    );
    for url in ["/long", "/endless"] {
        let error = send(url).await.expect_err("too long").to_string();
        assert!(error.contains("has more than 32 MiB"), "{error}");
    }
    // Status and ids of an error tell, however long it is.
    let long = send("/long-error").await.expect("an answer");
    assert_eq!((long.status, long.header(REQUEST_ID)), (400, Some("r-1")));
    let told = CloudError::from_response(&long).to_string();
    let expected = "the answer has more than 256 KiB, which no answer of this service has; nothing of it is read (request id r-1";
    assert!(told.starts_with(expected), "{told}");
    let before = server.log.all().len();
    for url in ["https://evil.test/x?sig=abc", "http://localhost/x", "x"] {
        let error = send(url).await.expect_err("refused");
        assert!(
            error.message.contains("not below the ARM endpoint"),
            "{error}"
        );
        assert!(!error.url.contains("sig"), "{error}");
    }
    assert_eq!(server.log.all().len(), before);
}

#[tokio::test]
async fn secrets_are_read_again_when_they_change() {
    let server = server().await;
    let secrets = Arc::new(Secrets::default());
    let proof = Proof::ClientSecret("hunter2".into());
    let client = client(&server, proof, Arc::clone(&secrets), None);
    let key = own_secret();
    let missing = client.subscription(&key).await.expect_err("nothing in it");
    assert!(missing.credential);
    assert!(
        missing
            .to_string()
            .contains("AZURE_SUBSCRIPTION_ID is missing in Secret team/own"),
        "{missing}"
    );

    let last_token = || {
        server
            .log
            .all()
            .last()
            .map(|seen| seen.authorization.clone())
    };
    for (version, name) in [("1", "first"), ("2", "second")] {
        secrets.set(version, name, Some("x"));
        assert_eq!(
            client.subscription(&key).await.expect("a subscription"),
            "sub-2"
        );
        client
            .send(request("/good", key.clone()))
            .await
            .expect("an answer");
        assert_eq!(last_token(), Some(format!("Bearer token-{name}")));
    }
    secrets.set("3", "third", Some("x"));
    client
        .send(request("/unauthorized", key.clone()))
        .await
        .expect("an answer");
    assert_eq!(last_token().as_deref(), Some("Bearer token-second"));
    client
        .send(request("/good", key.clone()))
        .await
        .expect("an answer");
    assert_eq!(last_token().as_deref(), Some("Bearer token-third"));

    let unknown = CredentialKey::Secret {
        namespace: "team".to_owned(),
        name: "no".to_owned(),
    };
    let error = client
        .send(request("/good", unknown))
        .await
        .expect_err("no secret");
    assert!(
        error.credential && error.message.contains("Secret team/no"),
        "{error}"
    );
}

#[tokio::test]
async fn a_refused_secret_is_told_without_the_secret() {
    let server = server().await;
    let proof = Proof::ClientSecret("wrong".into());
    let client = client(&server, proof, Arc::default(), None);
    let error = client
        .send(request("/good", CredentialKey::Global))
        .await
        .expect_err("refused");
    assert!(error.credential, "{error:?}");
    assert!(
        error.message.contains("AADSTS7000215") && !error.message.contains("wrong"),
        "{error}"
    );
    let named = "no token for the operator's settings, look at its key AZURE_CLIENT_SECRET: ";
    assert!(error.message.starts_with(named), "{error}");
    assert!(!error.message.contains("troubleshoot"), "{error}");
}

/// Whatever the sign-in server says ends in an error in words, which shows nothing that it was sent.
#[tokio::test]
async fn whatever_a_sign_in_server_says_is_told_without_the_secret() {
    const SECRET: &str = "p\"\\w é+/%~and more";
    let server = server().await;
    let secrets = Arc::new(Secrets::default());
    let proof = Proof::ClientSecret("x".into());
    let client = client(&server, proof, Arc::clone(&secrets), None);
    for (version, name, is_refused, expected) in [
        ("1", "echo", true, "look at its key AZURE_CLIENT_SECRET"),
        (
            "2",
            "forever",
            false,
            "'expires_in' is no number of seconds",
        ),
        ("3", "endless", false, "the answer has more than 1 MiB"),
        (
            "4",
            "proxy",
            false,
            "HTTP 403 and no error that can be read",
        ),
    ] {
        secrets.set(version, name, Some(SECRET));
        client.credentials.forget(&own_secret());
        let error = client.send(request("/good", own_secret())).await;
        let error = error.expect_err(name);
        assert_eq!(error.credential, is_refused, "{error}");
        let named = "no token for Secret team/own";
        assert!(error.message.starts_with(named), "{error}");
        assert!(error.message.contains(expected), "{error}");
        assert!(!shows(&error.message, SECRET), "{error}");
        assert!(error.message.len() < 4000, "{error}");
        let debug = format!("{error:?}");
        assert!(!shows(&debug, SECRET), "{debug}");
    }
}

#[tokio::test]
async fn a_server_with_another_authority_is_not_trusted() {
    let (server, other) = (server().await, server().await);
    let settings = ClientSettings {
        cloud: Cloud::new(&server.endpoint, &server.endpoint, "a").expect("a cloud"),
        identity: None.into(),
        ca_file: Some(other.ca.path().to_owned()),
        user_agent_suffix: None,
        token_file: None,
        other_clouds: false,
        identity_folders: Vec::new(),
        secret_bounds: Default::default(),
        metadata_endpoint: None,
    };
    let secrets = Arc::new(Secrets::default());
    secrets.set("1", "c", Some("x"));
    let client = Client::new(settings.clone(), secrets.clone()).expect("a client");
    let error = client
        .send(request("/good", own_secret()))
        .await
        .expect_err("untrusted");
    assert!(!error.credential, "{error:?}");
    // Whoever reads it knows what to do.
    for part in [
        "no token for Secret",
        "authority that is not trusted; ",
        "--arm-ca-file",
    ] {
        assert!(error.message.contains(part), "{error}");
    }
    assert!(server.log.all().is_empty());
    let none = client
        .send(request("/good", CredentialKey::Global))
        .await
        .expect_err("no credential");
    assert!(
        none.credential && none.message.contains("there is no Azure credential"),
        "{none}"
    );

    let missing = ClientSettings {
        ca_file: Some("/nowhere.pem".into()),
        ..settings
    };
    let error = Client::new(missing, secrets).err().expect("no such file");
    assert!(error.to_string().contains("/nowhere.pem"), "{error}");
}
