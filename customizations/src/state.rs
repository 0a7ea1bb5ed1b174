//! Resources that take changes, of themselves and of what is below them, only in some states.
//!
//! Azure would refuse a PUT in between with an error that says little, or keep it waiting. A group says in one line what
//! holds for a kind ([`StateRule`]), and registers [`TakesChanges`] for it and [`OwnerTakesChanges`] for what it owns.

use armature_runtime::extension::{
    Context, ExtensionError, Next, PreCheck, PreReconciliationChecker,
    PreReconciliationOwnerChecker,
};
use armature_runtime::kind::TypedKind;
use armature_runtime::resource::TypedObject;
use async_trait::async_trait;

/// The states in which most resources rest, whether the latest operation took or not.
pub const RESTING: States = States::Only(&["Succeeded", "Failed", "Canceled"]);

/// States in which a resource takes changes. Casing does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    /// These and no others.
    Only(&'static [&'static str]),
    /// All but these.
    AllBut(&'static [&'static str]),
}

impl States {
    fn hold(self, state: &str) -> bool {
        let is_among =
            |states: &[&str]| states.iter().any(|known| known.eq_ignore_ascii_case(state));
        match self {
            Self::Only(states) => is_among(states),
            Self::AllBut(states) => !is_among(states),
        }
    }

    /// What a resource in another state waits for.
    fn awaited(self) -> String {
        match self {
            Self::Only([]) => "another state".to_owned(),
            Self::Only([one]) => (*one).to_owned(),
            Self::Only([most @ .., last]) => format!("{} or {last}", most.join(", ")),
            Self::AllBut(_) => "the end of that".to_owned(),
        }
    }
}

/// What a kind's status says of whether its resources take changes.
pub struct StateRule<K: TypedKind> {
    /// Name of the field that tells, for messages.
    pub field: &'static str,
    /// Its value, where Azure reports one.
    pub state: fn(&K::Status) -> Option<&str>,
    /// Where changes are taken.
    pub takes_changes: States,
}

impl<K: TypedKind> StateRule<K> {
    /// The state, where it is one in which changes are not taken.
    fn blocks<'o>(&self, object: &'o TypedObject<K>) -> Option<&'o str> {
        let state = object.status.as_ref().and_then(self.state)?;
        (!self.takes_changes.hold(state)).then_some(state)
    }

    /// Whether a resource with this status is blocked.
    #[cfg(test)]
    pub fn blocks_with(&self, status: &serde_json::Value) -> bool {
        let status = armature_runtime::shape::decode(status);
        let object = TypedObject {
            status: Some(status.expect("a status")),
            ..TypedObject::default()
        };
        self.blocks(&object).is_some()
    }
}

/// Blocks a PUT while the resource is in a state in which it takes none. A resource without a state, which Azure does not
/// have yet, is not blocked.
pub struct TakesChanges<K: TypedKind>(pub StateRule<K>);

#[async_trait]
impl<K: TypedKind> PreReconciliationChecker for TakesChanges<K> {
    type Hub = K;

    async fn check(
        &self,
        _context: &Context,
        object: &TypedObject<K>,
        next: Next<'_, PreCheck>,
    ) -> Result<PreCheck, ExtensionError> {
        let Self(rule) = self;
        let Some(state) = rule.blocks(object) else {
            return next.call().await;
        };
        let (field, awaited) = (rule.field, rule.takes_changes.awaited());
        Ok(PreCheck::Block(format!(
            "the resource is in {field} '{state}' and takes no changes; waiting for {awaited}"
        )))
    }
}

/// Blocks an object of one kind while the resource that owns it, of the other kind, takes no changes. An owner without a
/// state blocks nothing: not every api-version tells one, and Azure has the last word.
pub struct OwnerTakesChanges<K, O: TypedKind> {
    rule: StateRule<O>,
    owned: std::marker::PhantomData<fn() -> K>,
}

impl<K: TypedKind, O: TypedKind> OwnerTakesChanges<K, O> {
    /// For objects of kind `K` that are owned by one of kind `O`.
    pub fn new(rule: StateRule<O>) -> Self {
        Self {
            rule,
            owned: std::marker::PhantomData,
        }
    }
}

#[async_trait]
impl<K: TypedKind, O: TypedKind> PreReconciliationOwnerChecker for OwnerTakesChanges<K, O> {
    type Hub = K;
    type Owner = O;

    async fn check(
        &self,
        _context: &Context,
        owner: &TypedObject<O>,
        next: Next<'_, PreCheck>,
    ) -> Result<PreCheck, ExtensionError> {
        let rule = &self.rule;
        let Some(state) = rule.blocks(owner) else {
            return next.call().await;
        };
        let found = format!("is in {} '{state}'", rule.field);
        let (kind, awaited) = (O::KIND.kind, rule.takes_changes.awaited());
        let name = owner.metadata.name.as_deref().unwrap_or_default();
        Ok(PreCheck::Block(format!(
            "the owning {kind} '{name}' {found}; waiting for {awaited}"
        )))
    }
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_generated::kusto::hub::{
        Cluster, ClusterKind, ClusterStatus, Database, DatabaseKind,
    };
    use armature_generated::{kusto, resources};
    use armature_runtime::extension::typed;
    use armature_runtime::shape::decode;
    use serde_json::json;

    use super::*;
    use crate::testing::{Doubles, failing, object, owner_check, pre_check};

    fn rule(takes_changes: States) -> StateRule<ClusterKind> {
        StateRule {
            field: "provisioningState",
            state: |status| status.provisioning_state.as_deref(),
            takes_changes,
        }
    }

    fn cluster(state: Option<&str>) -> Cluster {
        let status = decode(&json!({ "provisioningState": state }));
        let mut cluster = Cluster {
            status: Some(status.expect("a status")),
            ..Cluster::default()
        };
        cluster.metadata.name = Some("sample".to_owned());
        cluster
    }

    #[test]
    fn states_hold_in_any_casing() {
        let but = States::AllBut(&["Deleting"]);
        for (states, state, holds) in [
            (RESTING, "Succeeded", true),
            (RESTING, "failed", true),
            (RESTING, "CANCELED", true),
            (RESTING, "Updating", false),
            (RESTING, "", false),
            (but, "deleting", false),
            (but, "Updating", true),
        ] {
            assert_eq!(states.hold(state), holds, "{states:?} {state}");
        }
        assert_eq!(RESTING.awaited(), "Succeeded, Failed or Canceled");
        assert_eq!(States::Only(&["Succeeded"]).awaited(), "Succeeded");
    }

    #[tokio::test]
    async fn a_resource_is_blocked_in_other_states_alone() {
        let checker = TakesChanges(rule(RESTING));
        for state in [None, Some("Succeeded"), Some("failed"), Some("CANCELED")] {
            let check = pre_check(&checker, &cluster(state)).await;
            assert_eq!(check, PreCheck::Proceed, "{state:?}");
        }
        for state in ["Creating", "Updating", "Deleting", "Stopping"] {
            match pre_check(&checker, &cluster(Some(state))).await {
                PreCheck::Block(reason) => assert!(reason.contains(state), "{reason}"),
                other => panic!("{state}: {other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn what_does_not_exist_yet_can_be_created() {
        let checker = TakesChanges(rule(RESTING));
        let check = pre_check(&checker, &Cluster::default()).await;
        assert_eq!(check, PreCheck::Proceed);
    }

    #[tokio::test]
    async fn an_owner_blocks_in_other_states_alone() {
        let checker = OwnerTakesChanges::<DatabaseKind, _>::new(rule(RESTING));
        let gone = Cluster {
            status: None::<ClusterStatus>,
            ..cluster(None)
        };
        for owner in [cluster(Some("succeeded")), cluster(None), gone] {
            let check = owner_check(&checker, &owner).await;
            assert_eq!(check, PreCheck::Proceed);
        }
        match owner_check(&checker, &cluster(Some("Stopping"))).await {
            PreCheck::Block(reason) => {
                assert!(reason.contains("provisioningState 'Stopping'"), "{reason}");
                assert!(reason.contains("Cluster 'sample'"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn errors_of_the_default_are_passed_on_unless_it_is_blocked() {
        let context = Doubles::default().context();
        let checker = TakesChanges(rule(RESTING));
        let ready = cluster(Some("Succeeded"));
        assert!(checker.check(&context, &ready, failing()).await.is_err());
        let busy = cluster(Some("Updating"));
        let blocked = checker.check(&context, &busy, failing()).await;
        assert!(matches!(blocked, Ok(PreCheck::Block(_))));
        let checker = OwnerTakesChanges::<DatabaseKind, _>::new(rule(RESTING));
        assert!(checker.check(&context, &ready, failing()).await.is_err());
    }

    #[test]
    fn an_owner_of_another_kind_is_an_error() {
        let group = object(&resources::kinds::RESOURCE_GROUP, "g");
        assert!(matches!(
            typed::<ClusterKind>(&group),
            Err(ExtensionError::WrongKind { .. })
        ));
        let database: Result<Database, _> =
            typed::<DatabaseKind>(&object(&kusto::kinds::DATABASE, "d"));
        assert!(database.is_ok());
    }
}
