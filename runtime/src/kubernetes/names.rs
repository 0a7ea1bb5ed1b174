//! Names on the wire that the watches look at (ASO behaviour §1.2).

/// Policy of an object or namespace: `manage`, `skip`, `detach-on-delete`.
pub const RECONCILE_POLICY: &str = "serviceoperator.azure.com/reconcile-policy";

/// Name of the Secret with the object's own credential.
pub const CREDENTIAL_FROM: &str = "serviceoperator.azure.com/credential-from";

/// Full ARM id, once the object has claimed it.
pub const RESOURCE_ID: &str = "serviceoperator.azure.com/resource-id";

/// The value of [`RECONCILE_POLICY`] that leaves Azure alone.
pub const POLICY_SKIP: &str = "skip";

/// Field manager of everything the operator writes.
pub const FIELD_MANAGER: &str = "armature";
