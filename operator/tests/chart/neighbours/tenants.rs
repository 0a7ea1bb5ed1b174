//! Tenants: each may do in one namespace what an editor may, and nothing else.

use futures::{StreamExt, stream};
use kube::api::{Api, DynamicObject, PostParams};
use kube::config::Kubeconfig;
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use crate::cluster::Cluster;

/// Groups of the kinds that are installed.
const GROUPS: [&str; 2] = ["resources.azure.com", "managedidentity.azure.com"];

/// Objects that are created at the same time.
const AT_ONCE: usize = 8;

/// A tenant of one namespace.
pub struct Tenant {
    pub namespace: String,
    client: kube::Client,
}

impl Tenant {
    /// A tenant of this namespace.
    pub async fn admit(cluster: &Cluster, namespace: &str) -> Self {
        let user = format!("tenant-of-{namespace}");
        let metadata = json!({"name": user, "namespace": namespace});
        let rbac = "rbac.authorization.k8s.io";
        cluster
            .apply(&json!({
                "apiVersion": format!("{rbac}/v1"), "kind": "Role", "metadata": metadata,
                "rules": [
                    {"apiGroups": GROUPS, "resources": ["*"], "verbs": ["*"]},
                    {"apiGroups": [""], "resources": ["secrets", "configmaps"], "verbs": ["*"]},
                ],
            }))
            .await;
        cluster
            .apply(&json!({
                "apiVersion": format!("{rbac}/v1"), "kind": "RoleBinding", "metadata": metadata,
                "roleRef": {"apiGroup": rbac, "kind": "Role", "name": user},
                "subjects": [{"apiGroup": rbac, "kind": "User", "name": user}],
            }))
            .await;
        let mut config = Kubeconfig::read_from(cluster.admin_kubeconfig()).unwrap();
        let account = config.auth_infos[0].auth_info.as_mut().unwrap();
        account.impersonate = Some(user);
        account.impersonate_groups = Some(vec!["system:authenticated".to_owned()]);
        let options = Default::default();
        let config = kube::Config::from_custom_kubeconfig(config, &options);
        Self {
            namespace: namespace.to_owned(),
            client: kube::Client::try_from(config.await.unwrap()).unwrap(),
        }
    }

    /// His objects of a type.
    pub fn api(&self, api_version: &str, kind: &str) -> Api<DynamicObject> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource)
    }

    /// Creates an object as the API server takes it.
    pub async fn create(&self, object: Value) {
        let text = |name: &str| object[name].as_str().unwrap();
        let api = self.api(text("apiVersion"), text("kind"));
        let made: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        // The answer may be one that kube cannot read.
        if let Err(error @ kube::Error::Api(_)) = api.create(&PostParams::default(), &made).await {
            let object: String = object.to_string().chars().take(300).collect();
            panic!("{error}: {object}");
        }
    }

    /// Creates objects, some at a time.
    pub async fn create_all(&self, objects: impl IntoIterator<Item = Value>) {
        let objects = stream::iter(objects);
        objects
            .for_each_concurrent(AT_ONCE, |object| self.create(object))
            .await;
    }
}
