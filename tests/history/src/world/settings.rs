//! How Azure behaves, and how the operator is set up.

use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

use armature_runtime::kind::KindInfo;
use armature_runtime::reconcile::allowed_scopes::Enforcement;
use armature_runtime::reconcile::driver::Settings as Operator;
use armature_runtime::reconcile::policy::Policy;
use armature_runtime::reconcile::{azure_name, young::Silence};
use armature_simulator::{Autonomy, Normalise, OperationRule, Settings, Style};

use super::OPERATOR_NAMESPACE;
use crate::plan::Manner;

/// How Azure behaves.
pub(super) fn settings(manner: Manner, kind: &KindInfo) -> Settings {
    // Elsewhere nobody could tell that the operation failed.
    let versions = &mut kind.versions.iter();
    let is_shown = manner.asynchronous
        && versions.all(|version| version.status.field("provisioningState").is_some());
    let by_state = OperationRule {
        put: Some(Style::ProvisioningState),
        ..OperationRule::default()
    };
    Settings {
        operations: OperationRule {
            latency: Some(Duration::from_secs(u64::from(manner.seconds))),
            retry_after: Some(5),
            ..OperationRule::default()
        },
        operations_of: is_shown
            .then(|| (kind.remote_type().to_owned(), by_state))
            .into_iter()
            .collect(),
        normalise: if manner.rewrites {
            Normalise::ALL
        } else {
            Normalise::default()
        },
        keeps: if manner.keeps {
            vec![kind.remote_type().to_owned()]
        } else {
            Vec::new()
        },
        autonomy: Autonomy {
            policy_tags: (manner.policy)
                .then(|| ("policy".to_owned(), "of the policy".to_owned()))
                .into_iter()
                .collect(),
            ..Autonomy::default()
        },
        ..Settings::default()
    }
}

/// How the operator is set up.
pub(super) fn operator() -> Operator {
    Operator {
        operator_namespace: OPERATOR_NAMESPACE.to_owned(),
        operator_version: "v1".to_owned(),
        default_policy: Policy::Manage,
        default_scopes: None,
        scopes_enforcement: Enforcement::Enforce,
        export_bounds: Default::default(),
        random_name: azure_name::pretended,
        longest_hold_before_put: Duration::from_secs(3600),
        longest_hold_before_delete: Duration::from_secs(300),
        silence: Silence::LONGEST,
    }
}

/// What limits of time are counted by.
#[allow(clippy::panic, reason = "a machine on which nothing can be run")]
pub fn timers() -> Runtime {
    let timers = Builder::new_current_thread().enable_time().build();
    timers.unwrap_or_else(|error| panic!("no timers: {error}"))
}
