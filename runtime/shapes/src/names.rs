//! Names on the wire that users and ASO know: finalizer, annotations, labels, event reasons
//! (ASO behaviour §1.2), and our own annotations below `armature.azure.com/`.

/// Finalizer of every claimed object.
pub const FINALIZER: &str = "serviceoperator.azure.com/finalizer";

/// Annotation by the user: `manage`, `skip` or `detach-on-delete`.
pub const RECONCILE_POLICY: &str = "serviceoperator.azure.com/reconcile-policy";
/// Annotation by the user: Secret with the credential, in the object's namespace.
pub const CREDENTIAL_FROM: &str = "serviceoperator.azure.com/credential-from";
/// Secret that is used for a namespace when there is no `credential-from` annotation (ASO behaviour §1.8).
pub const NAMESPACE_CREDENTIAL: &str = "aso-credential";
/// Annotation by the operator: namespace of the operator that manages the object.
pub const OPERATOR_NAMESPACE: &str = "serviceoperator.azure.com/operator-namespace";
/// Annotation by the operator: full ARM id.
pub const RESOURCE_ID: &str = "serviceoperator.azure.com/resource-id";
/// Annotation by the operator: state of a running long-running operation.
pub const POLLER_RESUME_TOKEN: &str = "serviceoperator.azure.com/poller-resume-token";
/// Annotation by the operator: which operation is running.
pub const POLLER_RESUME_ID: &str = "serviceoperator.azure.com/poller-resume-id";
/// Annotation by the operator: generation that the latest PUT was built from.
pub const LATEST_RECONCILED_GENERATION: &str =
    "serviceoperator.azure.com/latest-reconciled-generation";
/// Annotation by the operator: id that children build on instead of the resource id.
pub const CHILD_RESOURCE_ID_OVERRIDE: &str = "serviceoperator.azure.com/child-resource-id-override";

/// Label: name of the owner.
pub const OWNER_NAME: &str = "serviceoperator.azure.com/owner-name";
/// Label: `Kind.group` of the owner.
pub const OWNER_GROUP_KIND: &str = "serviceoperator.azure.com/owner-group-kind";
/// Label: UID of the owner.
pub const OWNER_UID: &str = "serviceoperator.azure.com/owner-uid";
/// Label: version of the operator that wrote the object last.
pub const LAST_RECONCILED_VERSION: &str = "serviceoperator.azure.com/last-reconciled-version";
/// Longest value of a label in Kubernetes.
pub const LABEL_LIMIT: usize = 63;

/// Annotation by the operator: keyed digests of what was sent or adopted, and of what Azure returned for it.
pub const BASELINE: &str = "armature.azure.com/baseline";
/// Annotation by the operator: keyed digests of the spec's inputs at the claim, until a PUT is recorded.
pub const CLAIMED_SPEC: &str = "armature.azure.com/claimed-spec";
/// Annotation by the user: `"true"` sends a PUT on every pass, as ASO does.
pub const ALWAYS_PUT: &str = "armature.azure.com/always-put";
/// Annotation by the user: `"true"` reads from Azure and reports drift, and never changes Azure.
pub const OBSERVE: &str = "armature.azure.com/observe";

/// Annotation by the user: any new value asks for one pass at once; on an object or its namespace.
pub const RECONCILE_NOW: &str = "armature.azure.com/reconcile-now";
/// Annotation by the user: how often Azure is looked at, or `never`; on an object or its namespace.
pub const SYNC_PERIOD: &str = "armature.azure.com/sync-period";
/// Annotation by the user: `"true"`, or until when nothing is sent to Azure; on an object or its namespace.
pub const PAUSED: &str = "armature.azure.com/paused";
/// Annotation by the user: `delete` refuses deletion; on an object or its namespace.
pub const PROTECT: &str = "armature.azure.com/protect";
/// Annotation by the user: `always`, `if-equal` or `never`; on an object or its namespace.
pub const ADOPT: &str = "armature.azure.com/adopt";
/// Annotation by the administrator of a namespace: ARM ids below which everything must be that its objects are for or refer
/// to, with commas or spaces. On objects it means nothing.
pub const ALLOWED_SCOPES: &str = "armature.azure.com/allowed-scopes";
/// Annotation by the operator: whether the resource is the object's, as far as that was asked.
pub const ADOPTION: &str = "armature.azure.com/adoption";
/// Annotation by the operator: whose credential the object was claimed with.
pub const CLAIMED_WITH: &str = "armature.azure.com/claimed-with";

/// Annotation by the user: ARM paths that are not compared and at which Azure's value is sent, with commas:
/// `properties.a, tags.b`.
pub const IGNORE_PATHS: &str = "armature.azure.com/ignore-paths";
/// Annotation by the user: ARM paths of maps and lists in which members of others stay, with commas: `tags`.
pub const KEEP_UNKNOWN: &str = "armature.azure.com/keep-unknown";

/// Annotation by the operator: since when something in Azure holds the next write back.
pub const HELD_SINCE: &str = "armature.azure.com/held-since";
/// Annotation by the operator: when the latest PUT was sent that had no answer, while Azure did not show the resource.
pub const UNANSWERED_PUT: &str = "armature.azure.com/unanswered-put";
/// Annotation by the operator: how many operations in a row failed after Azure had accepted them.
pub const FAILED_OPERATIONS: &str = "armature.azure.com/failed-operations";

/// Reason of the `Ready` that a CRD gives to objects which no operator has looked at, as the Gateway API does it. It is a default
/// of the schema and nobody's word: whoever reads conditions takes it for none.
pub const PENDING: &str = "Pending";

/// Reasons of events.
pub mod event {
    /// Another operator manages the object.
    pub const OVERLAP: &str = "Overlap";
    /// Which credential was chosen.
    pub const CREDENTIAL_FROM: &str = "CredentialFrom";
    /// A PUT failed.
    pub const PUT_FAILED: &str = "CreateOrUpdateActionError";
    /// A PUT was sent.
    pub const BEGIN_PUT: &str = "BeginCreateOrUpdate";
    /// A DELETE failed.
    pub const DELETE_FAILED: &str = "DeleteActionError";
    /// A DELETE was sent.
    pub const BEGIN_DELETE: &str = "BeginDelete";
    /// Azure cannot do what was asked.
    pub const NOT_POSSIBLE: &str = "NotPossibleInAzure";
    /// A resource that existed in Azure is managed by the object from now on.
    pub const ADOPTED: &str = "Adopted";
    /// Azure differs from the spec that was reconciled before.
    pub const DRIFTED: &str = "Drifted";
    /// Another object stands for the same resource and writes it.
    pub const HELD_ELSEWHERE: &str = "HeldByAnotherObject";
    /// An id outside of the allowed scopes is in a request, and is sent because scopes are not enforced there.
    pub const OUTSIDE_SCOPES: &str = "OutsideAllowedScopes";
    /// Azure has something that was taken out of the spec, after a PUT without it.
    pub const KEPT: &str = "KeptByAzure";
    /// Azure, or somebody in Azure on purpose, has another value than the spec, and it is left alone.
    pub const OWNED: &str = "OwnedByAzure";
    /// Azure changes a value by itself.
    pub const UNSTABLE: &str = "ChangesByItself";
    /// The operator was upgraded and would send something else, without an edit of the user.
    pub const REBUILT: &str = "WaitsForEdit";
}

/// Cuts a label value to what Kubernetes takes, at a character that may end one.
pub fn label_value(text: &str) -> String {
    let cut: String = text.chars().take(LABEL_LIMIT).collect();
    cut.trim_end_matches(|last: char| !last.is_ascii_alphanumeric())
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::label_value;

    #[test]
    fn label_values_fit_and_end_well() {
        assert_eq!(label_value("storage"), "storage");
        let long = format!("{}-tail", "a".repeat(62));
        assert_eq!(label_value(&long), "a".repeat(62));
    }
}
