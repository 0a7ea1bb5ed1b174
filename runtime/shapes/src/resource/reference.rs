//! References to other resources, Secrets and ConfigMaps, and the destinations of exports.
//! Field names and forms: ASO behaviour §3.2 to §3.4.

use std::collections::BTreeMap;

use crate::shape::{Rules, Semantic};
use crate::shaped;

/// Pattern of an `armId`: anything below `/`.
static ARM_ID: Rules = Rules {
    pattern: Some(
        "(?i)(^(/subscriptions/([^/]+)(/resourcegroups/([^/]+))?)?/providers/([^/]+)/([^/]+/[^/]+)(/([^/]+/[^/]+))*$|^/subscriptions/([^/]+)(/resourcegroups/([^/]+))?$)",
    ),
    ..Rules::NONE
};

shaped! {
    /// A resource that the kind refers to: either `armId`, or `group`, `kind` and `name` in the same namespace.
    ResourceReference.meaning(Semantic::Reference) {
        /// Full ARM id.
        arm_id: String = "armId".rules(&ARM_ID);
        /// API group of the target.
        group: String = "group";
        /// Kind of the target.
        kind: String = "kind";
        /// Name of the target.
        name: String = "name";
    }
}

shaped! {
    /// As [`ResourceReference`], and takes a well-known name instead (`Contributor`).
    WellKnownResourceReference.meaning(Semantic::WellKnownReference) {
        /// Full ARM id.
        arm_id: String = "armId".rules(&ARM_ID);
        /// API group of the target.
        group: String = "group";
        /// Kind of the target.
        kind: String = "kind";
        /// Name of the target.
        name: String = "name";
        /// Name that Azure knows.
        well_known_name: String = "wellKnownName";
    }
}

shaped! {
    /// Owner of a fixed kind: `name` in the same namespace, or `armId`.
    KnownResourceReference {
        /// Full ARM id of the owner.
        arm_id: String = "armId".rules(&ARM_ID);
        /// Name of the owner.
        name: String = "name";
    }
}

shaped! {
    /// Owner of any kind: `group`, `kind` and `name` in the same namespace, or `armId`.
    ArbitraryOwnerReference {
        /// Full ARM id of the owner.
        arm_id: String = "armId".rules(&ARM_ID);
        /// API group of the owner.
        group: String = "group";
        /// Kind of the owner.
        kind: String = "kind";
        /// Name of the owner.
        name: String = "name";
    }
}

shaped! {
    /// A key of a Secret in the same namespace.
    SecretReference.meaning(Semantic::SecretReference) {
        /// Key in the Secret.
        key: String = "key".required();
        /// Name of the Secret.
        name: String = "name".required();
    }
}

shaped! {
    /// All keys of a Secret in the same namespace.
    SecretMapReference.meaning(Semantic::SecretMapReference) {
        /// Name of the Secret.
        name: String = "name".required();
    }
}

shaped! {
    /// A key of a ConfigMap in the same namespace.
    ConfigMapReference.meaning(Semantic::ConfigMapReference) {
        /// Key in the ConfigMap.
        key: String = "key".required();
        /// Name of the ConfigMap.
        name: String = "name".required();
    }
}

shaped! {
    /// A user-assigned identity: a member `"<ARM id>": {}` in ARM.
    UserAssignedIdentityDetails.meaning(Semantic::ArmIdKeyed) {
        /// The identity.
        reference: Box<ResourceReference> = "reference";
    }
}

shaped! {
    /// Where a named secret is written.
    SecretDestination {
        /// Annotations of the Secret.
        annotations: BTreeMap<String, String> = "annotations";
        /// Key in the Secret.
        key: String = "key".required();
        /// Labels of the Secret.
        labels: BTreeMap<String, String> = "labels";
        /// Name of the Secret.
        name: String = "name".required();
    }
}

shaped! {
    /// Where a named value is written.
    ConfigMapDestination {
        /// Annotations of the ConfigMap.
        annotations: BTreeMap<String, String> = "annotations";
        /// Key in the ConfigMap.
        key: String = "key".required();
        /// Labels of the ConfigMap.
        labels: BTreeMap<String, String> = "labels";
        /// Name of the ConfigMap.
        name: String = "name".required();
    }
}

shaped! {
    /// Where the result of a CEL expression is written.
    DestinationExpression {
        /// Annotations of the target; values are CEL.
        annotations: BTreeMap<String, String> = "annotations";
        /// Key in the target; absent when the expression yields a map.
        key: String = "key";
        /// Labels of the target; values are CEL.
        labels: BTreeMap<String, String> = "labels";
        /// Name of the target.
        name: String = "name".required();
        /// CEL expression over `self` (and `secret`).
        value: String = "value".required();
    }
}
