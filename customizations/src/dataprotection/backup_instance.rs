//! BackupVaultsBackupInstance: it is of use once what it names is protected.

use armature_generated::dataprotection::hub::backup_vaults_backup_instance::{
    BackupInstanceStatus, UserFacingErrorStatus,
};
use armature_generated::dataprotection::hub::{
    BackupVaultsBackupInstance, BackupVaultsBackupInstanceKind,
};
use armature_runtime::arm::ArmContext;
use armature_runtime::extension::{
    Context, ExtensionError, Next, PostCheck, PostReconciliationChecker,
};
use async_trait::async_trait;
use serde_json::json;

/// Fails while the protection is in no state that it rests in. Where it failed for a reason that only a user can remove,
/// such as a missing role, Azure does not look again by itself: it is asked to, each time that the object is looked at, so
/// that the object becomes ready soon after the reason is gone. That takes a while in Azure, and nobody waits for it here.
#[derive(Debug)]
pub struct Protection;

/// What a state means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Rests,
    Changes,
    Failed,
}

#[async_trait]
impl PostReconciliationChecker for Protection {
    type Hub = BackupVaultsBackupInstanceKind;

    async fn check(
        &self,
        context: &Context,
        instance: &BackupVaultsBackupInstance,
        next: Next<'_, PostCheck>,
    ) -> Result<PostCheck, ExtensionError> {
        let status = instance.status.as_ref();
        let properties = status.and_then(|status| status.properties.as_deref());
        let Some((properties, state)) = properties.and_then(|it| Some((it, state(it)?))) else {
            return next.call().await;
        };
        match meaning(state) {
            State::Rests => next.call().await,
            State::Changes => Ok(PostCheck::Failure(format!(
                "the protection is in state {state}; waiting for ProtectionConfigured"
            ))),
            State::Failed => {
                let error = error(properties);
                let asked = match error.is_some_and(is_of_user) {
                    true => look_again(context).await?,
                    false => "",
                };
                let reason = error.map(reason).unwrap_or_default();
                Ok(PostCheck::Failure(format!(
                    "the protection is in state {state}{reason}{asked}"
                )))
            }
        }
    }
}

fn state(properties: &BackupInstanceStatus) -> Option<&str> {
    let details = properties.protection_status.as_deref();
    let detailed = details.and_then(|details| details.status.as_deref());
    detailed.or(properties.current_protection_state.as_deref())
}

fn error(properties: &BackupInstanceStatus) -> Option<&UserFacingErrorStatus> {
    let details = properties.protection_status.as_deref();
    let detailed = details.and_then(|details| details.error_details.as_deref());
    detailed.or(properties.protection_error_details.as_deref())
}

/// Azure says so by a flag, or in the code alone.
fn is_of_user(error: &UserFacingErrorStatus) -> bool {
    let code = error.code.as_deref().unwrap_or_default();
    error.is_user_error == Some(true) || code.to_ascii_lowercase().contains("usererror")
}

fn meaning(state: &str) -> State {
    match state.to_ascii_lowercase().as_str() {
        "protectionconfigured"
        | "protectionstopped"
        | "backupschedulessuspended"
        | "retentionschedulessuspended"
        | "softdeleted" => State::Rests,
        "protectionerror" | "configuringprotectionfailed" | "notprotected" | "invalid" => {
            State::Failed
        }
        _ => State::Changes,
    }
}

/// Code, text and advice of an error, as far as Azure gives them.
fn reason(error: &UserFacingErrorStatus) -> String {
    let mut text = String::new();
    for part in [error.code.as_deref(), error.message.as_deref()] {
        if let Some(part) = part.map(str::trim).filter(|part| !part.is_empty()) {
            text.push_str(": ");
            text.push_str(part);
        }
    }
    let advice = error.recommended_action.as_deref().unwrap_or_default();
    if !advice.is_empty() {
        text.push_str(&format!(" ({})", advice.join(" ")));
    }
    text
}

/// Asks Azure to check the protection again. It refuses while it is about to do so.
async fn look_again(context: &Context) -> Result<&'static str, ExtensionError> {
    let url = context.action_url("sync")?;
    let body = json!({"syncType": "Default"});
    match context.arm().post(&url, Some(body)).await {
        Ok(_) => Ok("; Azure was asked to look again"),
        Err(ExtensionError::Azure { error, .. }) if error.status() == Some(409) => {
            Ok("; Azure is looking again")
        }
        Err(error) => Err(error),
    }
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use armature_runtime::id::ResourceId;
    use armature_runtime::shape::decode;
    use serde_json::Value;

    use super::*;
    use crate::testing::{Doubles, succeed};

    const ID: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.DataProtection/backupVaults/v/backupInstances/b";

    fn instance(properties: Value) -> BackupVaultsBackupInstance {
        let status = json!({ "properties": properties });
        BackupVaultsBackupInstance {
            status: Some(decode(&status).expect("a status")),
            ..BackupVaultsBackupInstance::default()
        }
    }

    async fn check(doubles: &Doubles, properties: Value) -> Result<PostCheck, ExtensionError> {
        let context = Context {
            id: Some(ResourceId::parse(ID).expect("an id")),
            api_version: "2023-11-01",
            ..doubles.context()
        };
        Protection
            .check(&context, &instance(properties), succeed())
            .await
    }

    #[tokio::test]
    async fn a_protection_that_rests_is_of_use() {
        let doubles = Doubles::default();
        for properties in [
            json!({"currentProtectionState": "ProtectionConfigured"}),
            json!({"currentProtectionState": "protectionStopped"}),
            json!({"protectionStatus": {"status": "ProtectionConfigured"}}),
            json!({}),
        ] {
            let result = check(&doubles, properties.clone()).await;
            assert_eq!(
                result.expect("a result"),
                PostCheck::Success,
                "{properties}"
            );
        }
        doubles.assert_untouched();
    }

    #[tokio::test]
    async fn one_that_is_being_made_is_waited_for() {
        let doubles = Doubles::default();
        for state in [
            "ConfiguringProtection",
            "UpdatingProtection",
            "SoftDeleting",
        ] {
            let result = check(&doubles, json!({ "currentProtectionState": state })).await;
            match result.expect("a result") {
                PostCheck::Failure(reason) => assert!(reason.contains(state), "{reason}"),
                PostCheck::Success => panic!("{state}"),
            }
        }
        doubles.assert_untouched();
    }

    fn failed(is_user_error: bool) -> Value {
        json!({
            "currentProtectionState": "ProtectionError",
            "protectionErrorDetails": {
                "code": "MissingPermissions",
                "message": "The vault may not read the disk.",
                "recommendedAction": ["Grant it."],
                "isUserError": is_user_error,
            },
        })
    }

    #[tokio::test]
    async fn azure_is_asked_to_look_again_where_a_user_can_help() {
        let by_code = json!({"protectionStatus": {
            "status": "ConfiguringProtectionFailed",
            "errorDetails": {"code": "UserErrorMissingRole"},
        }});
        let doubles = Doubles::answering(json!({}));
        let result = check(&doubles, by_code).await.expect("a result");
        let expected = "the protection is in state ConfiguringProtectionFailed: UserErrorMissingRole; Azure was asked to look again";
        assert_eq!(result, PostCheck::Failure(expected.to_owned()));
        let told =
            "ProtectionError: MissingPermissions: The vault may not read the disk. (Grant it.)";
        for (doubles, is_user_error, asked) in [
            (
                Doubles::answering(json!({})),
                true,
                "; Azure was asked to look again",
            ),
            (
                Doubles::refusing(409, "OperationInProgress"),
                true,
                "; Azure is looking again",
            ),
            (Doubles::default(), false, ""),
        ] {
            let result = check(&doubles, failed(is_user_error)).await;
            let expected = format!("the protection is in state {told}{asked}");
            assert_eq!(result.expect("a result"), PostCheck::Failure(expected));
            let request = format!("POST {ID}/sync?api-version=2023-11-01");
            let expected: Vec<String> = is_user_error.then_some(request).into_iter().collect();
            assert_eq!(doubles.requests(), expected);
        }
    }

    #[tokio::test]
    async fn a_refusal_to_look_again_is_told() {
        let doubles = Doubles::refusing(403, "AuthorizationFailed");
        let refused = check(&doubles, failed(true)).await;
        assert!(matches!(refused, Err(ExtensionError::Azure { .. })));
    }
}
