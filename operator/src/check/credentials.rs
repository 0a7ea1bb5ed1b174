//! Secrets with credentials: whether today's rules take them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use armature_runtime::azure::Cloud;
use armature_runtime::azure::credential::{
    CredentialError, Identity, NamespaceBounds, Place, SecretBounds, SecretData, SecretRules,
    check_bounds, identity_folders, is_true, operator_identity, secret_identity,
};
use armature_runtime::names;
use armature_runtime::reconcile::object_name::is_object_name;
use armature_runtime::resource::Object;

use crate::installation::Variables;
use crate::secret_bounds::secret_bounds;

/// What the operator's settings say about Secrets.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The operator's own cloud.
    pub cloud: Cloud,
    token_file: Option<String>,
    other_clouds: bool,
    identity_folders: Vec<PathBuf>,
    bounds: SecretBounds,
    /// The operator's own identity, where its settings tell which that is.
    own: Option<Identity>,
}

impl Rules {
    /// Those that the operator's variables make.
    ///
    /// # Errors
    /// When they name no cloud, or bounds that mean nothing.
    pub fn of(variables: &Variables) -> anyhow::Result<Self> {
        let get = |name: &str| variables.get(name);
        let other_clouds = get("ALLOW_MULTI_ENV_MANAGEMENT");
        Ok(Self {
            cloud: Cloud::of_operator(get)?,
            token_file: get("AZURE_FEDERATED_TOKEN_FILE"),
            other_clouds: other_clouds.is_some_and(|value| is_true(&value)),
            identity_folders: identity_folders(get),
            bounds: secret_bounds(get)?,
            own: operator_identity(get).ok().flatten(),
        })
    }

    /// Whether a Secret holds a credential that is taken, and that its namespace may use.
    ///
    /// # Errors
    /// What the operator would say of it.
    pub fn check(
        &self,
        namespace: &str,
        name: &str,
        secret: &SecretData,
        bounds: &NamespaceBounds,
    ) -> Result<(), CredentialError> {
        let rules = SecretRules {
            token_file: self.token_file.as_deref(),
            cloud: &self.cloud,
            other_clouds: self.other_clouds,
            identity_folders: &self.identity_folders,
            bounds: &self.bounds,
        };
        let identity = secret_identity(namespace, name, secret, rules)?;
        let place = Place::Secret {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        identity.check_path(place.clone())?;
        check_bounds(&identity, self.own.as_ref(), bounds, place)
    }
}

/// Namespaces and names of the Secrets that these objects may have their credentials from.
pub fn named(objects: &[Object]) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for object in objects {
        let namespace = object.key().namespace;
        let annotations = object.metadata.annotations.as_ref();
        let own = annotations.and_then(|annotations| annotations.get(names::CREDENTIAL_FROM));
        // What no Secret can be called is told of the object.
        let own = own.filter(|name| is_object_name(name));
        found.extend(own.map(|name| (namespace.clone(), name.clone())));
        found.insert((namespace, names::NAMESPACE_CREDENTIAL.to_owned()));
    }
    found
}
