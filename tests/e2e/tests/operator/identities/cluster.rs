//! Tokens of the cluster's service accounts, as the kubelet mounts them for workload identities.

use std::path::Path;

use armature_e2e::World;
use armature_simulator::{Client, Federation};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::{Api, PostParams};
use serde_json::json;
use tempfile::NamedTempFile;

/// What the API server of the world calls itself in tokens.
const ISSUER: &str = "https://kubernetes.default.svc";

/// Service accounts of a namespace, and the file with the token of one of them.
pub struct Accounts {
    world: &'static World,
    namespace: &'static str,
    keys: String,
    file: NamedTempFile,
}

impl Accounts {
    /// Creates the accounts of these names.
    pub async fn create(
        world: &'static World,
        namespace: &'static str,
        names: &[&str],
    ) -> Accounts {
        let accounts: Api<ServiceAccount> = Api::namespaced(world.client().clone(), namespace);
        for name in names {
            let account = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
            let created = accounts.create(&PostParams::default(), &account).await;
            created.unwrap();
        }
        let request = http::Request::get("/openid/v1/jwks").body(Vec::new());
        let keys = world.client().request_text(request.unwrap()).await;
        Accounts {
            world,
            namespace,
            keys: keys.unwrap(),
            file: NamedTempFile::new().unwrap(),
        }
    }

    /// Lets a client of the simulated Azure trust one account, and no other.
    pub fn trust(&self, client: &str, name: &str) {
        let subject = format!("system:serviceaccount:{}:{name}", self.namespace);
        self.world.azure().set_client(Client {
            id: client.to_owned(),
            federated: vec![Federation::new(ISSUER, &subject, &self.keys)],
            ..Client::default()
        });
    }

    /// Puts a new token of the account into the file.
    pub async fn mount(&self, name: &str) {
        let client = self.world.client().clone();
        let accounts: Api<ServiceAccount> = Api::namespaced(client, self.namespace);
        let request = TokenRequest {
            spec: TokenRequestSpec {
                audiences: vec!["api://AzureADTokenExchange".to_owned()],
                ..TokenRequestSpec::default()
            },
            ..TokenRequest::default()
        };
        let parameters = PostParams::default();
        let answer = accounts.create_token_request(name, &parameters, &request);
        let token = answer.await.unwrap().status.unwrap().token;
        std::fs::write(&self.file, token).unwrap();
    }

    /// The file.
    pub fn file(&self) -> &Path {
        self.file.path()
    }
}
