//! Whose name requests are sent in.

/// Which credential a request is sent with (ASO behaviour §1.8).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CredentialRef {
    /// The operator's own.
    Global,
    /// A Secret in the object's namespace: `credential-from`, or `aso-credential`.
    Secret {
        /// Namespace of the Secret.
        namespace: String,
        /// Name of the Secret.
        name: String,
    },
}
