//! What to do about something that is in the way.

use armature_runtime::reconcile::condition::reason;

use super::node::Node;

/// Advice by reason, where the message of the condition does not say it all.
const BY_REASON: [(&str, &str); 24] = [
    (
        reason::RECONCILING,
        "Azure is at work on it: wait. `kubectl describe` shows since when.",
    ),
    (
        reason::DELETING,
        "It is being deleted: wait, or look at what its message says.",
    ),
    (
        reason::WAITING_FOR_OWNER,
        "Its owner is there by now: the operator looks at it again within minutes.",
    ),
    (
        reason::REFERENCE_NOT_FOUND,
        "Apply the manifest of what the message names, or refer to it by its armId: the object waits for it.",
    ),
    (
        reason::SECRET_NOT_FOUND,
        "Create the Secret that the message names, with that key, in the object's namespace: the operator waits for it.",
    ),
    (
        reason::CONFIG_MAP_NOT_FOUND,
        "Create the ConfigMap that the message names, with that key, in the object's namespace: the operator waits for it.",
    ),
    (
        reason::BLOCKED,
        "A check before the write stands against it: do what its message says, in the spec or in Azure.",
    ),
    (
        reason::POSTPONED,
        "A check before the write waits for what its message names: the operator asks again by itself.",
    ),
    (
        reason::POST_CHECK_FAILED,
        "Azure has it, and a check after the write is not content: do what its message says; the operator asks again by \
         itself.",
    ),
    (
        reason::DELETION_NOT_SUPPORTED,
        "Azure deletes it with its owner only: delete that, or set reconcile-policy to detach-on-delete to let it stay.",
    ),
    (
        reason::PAUSED,
        "Somebody has paused it: the message says how, and taking that away goes on.",
    ),
    (
        reason::TIMED_OUT,
        "Something did not answer for minutes in the step that the message names: look at the operator's way to it; the operator tries \
         again by itself.",
    ),
    (
        reason::FAILED,
        "The message says what went wrong: correct that; the operator tries again by itself.",
    ),
    (
        reason::SUBSCRIPTION_MISMATCH,
        "Use a credential for the resource's subscription: the annotation credential-from names a Secret with one.",
    ),
    (
        reason::CREDENTIAL_NOT_FOUND,
        "Put the namespace's Secret aso-credential back, or name another one with the annotation credential-from.",
    ),
    (
        reason::SCOPE_NOT_ALLOWED,
        "Ask whoever set allowed-scopes on the namespace, or move the object to one that allows the id.",
    ),
    (
        reason::AZURE_RESOURCE_NOT_FOUND,
        "The operator may not create it: make it in Azure, or set reconcile-policy to manage.",
    ),
    (
        reason::ADOPTION_REFUSED,
        "It exists in Azure and is not to be taken over: give the object another azureName, or allow it with adopt.",
    ),
    (
        reason::PROTECTED,
        "Take the annotation protect away if it may really be deleted.",
    ),
    (
        reason::INVALID_ANNOTATION,
        "Correct the annotation that the message names.",
    ),
    (
        reason::EXPORT_FAILED,
        "Look at who owns the Secret or ConfigMap that the message names, and at the operator's rights to write it.",
    ),
    (
        "AuthorizationFailed",
        "Give the operator's identity a role on the scope that the message names: in Azure, Access control (IAM).",
    ),
    (
        "LinkedAuthorizationFailed",
        "Give the operator's identity a role on the resource that the message refers to, too.",
    ),
    (
        reason::UNKNOWN_ERROR,
        "Azure did not answer: look at the operator's way to Azure, and at its credential.",
    ),
];

/// What to do.
pub fn advice(node: &Node) -> String {
    if !node.exists {
        return match node.group.is_empty() {
            true => format!(
                "Create the {} in the namespace {}.",
                node.kind, node.namespace
            ),
            false => {
                "Apply its manifest, or name the resource by its armId where it is referred to."
                    .to_owned()
            }
        };
    }
    if node.ready.status.is_empty() {
        return "The operator has not looked at it: see that it runs, and that it manages this namespace and kind."
            .to_owned();
    }
    let mut known = BY_REASON.iter();
    let found = known.find(|(reason, _)| *reason == node.ready.reason);
    let found = found.map(|(_, advice)| (*advice).to_owned());
    found.unwrap_or_else(|| {
        "The message is that of the operator or of Azure: correct the spec by it; the operator looks again at once."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reasons that the operator gives, with their module's source for a list.
    const REASONS: &str = include_str!("../../../runtime/reconcile/src/condition.rs");

    #[test]
    fn every_reason_of_the_operator_has_advice_of_its_own() {
        let values = REASONS.lines().filter_map(|line| {
            let (_, rest) = line.trim().split_once("pub const ")?;
            let (_, value) = rest.split_once(": &str = \"")?;
            value.strip_suffix("\";")
        });
        let reasons: Vec<&str> = values
            .filter(|value| *value != reason::SUCCEEDED)
            .take_while(|value| value.chars().all(char::is_alphanumeric))
            .collect();
        assert!(reasons.len() > 20, "{reasons:?}");
        for reason in reasons {
            let of_its_own = BY_REASON.iter().any(|(known, _)| *known == reason);
            assert!(of_its_own, "{reason}");
        }
    }
}
