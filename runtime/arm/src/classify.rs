//! What an error of Azure means for the object, whatever its kind: a table of rules (ASO behaviour §1.7).

use armature_reconcile::classify::matches;
use armature_reconcile::remote::RemoteError;
use armature_shapes::kind::{ErrorClass, ErrorRule};

const fn code(code: &'static str, class: ErrorClass) -> ErrorRule {
    ErrorRule {
        code: Some(code),
        status: None,
        message: None,
        class,
    }
}

const fn any(status: Option<u16>, class: ErrorClass) -> ErrorRule {
    ErrorRule {
        code: None,
        status,
        message: None,
        class,
    }
}

/// Rules for all kinds: ASO behaviour §1.7, row by row, without the codes that only the network's service has. The last
/// one matches everything.
static RULES: &[ErrorRule] = &[
    code("InvalidRequestContent", ErrorClass::Fatal),
    code("InvalidResourceType", ErrorClass::Fatal),
    code("InvalidTemplate", ErrorClass::Fatal),
    code("InvalidValuesForRequestParameters", ErrorClass::Fatal),
    code("K8sVersionNotSupported", ErrorClass::Fatal),
    code("LocationRequired", ErrorClass::Fatal),
    code("MissingRequiredParameter", ErrorClass::Fatal),
    code("PasswordTooLong", ErrorClass::Fatal),
    code("PropertyChangeNotAllowed", ErrorClass::Fatal),
    code("AllocationFailed", ErrorClass::RetrySlow),
    code("AnotherOperationInProgress", ErrorClass::RetrySlow),
    code("AuthorizationFailed", ErrorClass::RetrySlow),
    code("Conflict", ErrorClass::RetrySlow),
    code("FailedIdentityOperation", ErrorClass::RetrySlow),
    code("InvalidResourceReference", ErrorClass::RetrySlow),
    code(
        "InvalidSubscriptionRegistrationState",
        ErrorClass::RetrySlow,
    ),
    code("LinkedAuthorizationFailed", ErrorClass::RetrySlow),
    code("MissingRegistrationForLocation", ErrorClass::RetrySlow),
    code("MissingSubscriptionRegistration", ErrorClass::RetrySlow),
    code("NoRegisteredProviderFound", ErrorClass::RetrySlow),
    code("NotFound", ErrorClass::RetrySlow),
    code("ParentResourceNotFound", ErrorClass::RetrySlow),
    code("PrincipalNotFound", ErrorClass::RetrySlow),
    code("RequestDisallowedByPolicy", ErrorClass::RetrySlow),
    code("ResourceGroupNotFound", ErrorClass::RetrySlow),
    code("ResourceNotFound", ErrorClass::RetrySlow),
    code("ResourceQuotaExceeded", ErrorClass::RetrySlow),
    code("SubscriptionNotRegistered", ErrorClass::RetrySlow),
    code("BadRequest", ErrorClass::RetryVerySlow),
    code("BadRequestFormat", ErrorClass::RetryVerySlow),
    code("InvalidParameter", ErrorClass::RetryVerySlow),
    code("InvalidParameterValue", ErrorClass::RetryVerySlow),
    code("InvalidResourceGroupLocation", ErrorClass::RetryVerySlow),
    code("MethodNotAllowed", ErrorClass::RetryVerySlow),
    code("RegionIsOfferRestricted", ErrorClass::RetryVerySlow),
    code("ReservedResourceName", ErrorClass::RetryVerySlow),
    code("ScopeLocked", ErrorClass::RetryVerySlow),
    code("SkuNotAvailable", ErrorClass::RetryVerySlow),
    code("SubscriptionNotFound", ErrorClass::RetryVerySlow),
    any(Some(400), ErrorClass::RetryVerySlow),
    any(None, ErrorClass::RetrySlow),
];

/// Class of an error by these rules.
pub(super) fn class_of(error: &dyn RemoteError) -> ErrorClass {
    let mut rules = RULES.iter();
    let rule = rules.find(|rule| matches(rule, error));
    rule.map_or(ErrorClass::RetrySlow, |rule| rule.class)
}

#[cfg(test)]
mod tests {
    use armature_azure::CloudError;

    use super::*;
    use crate::ArmError;

    fn error(code: &str, status: Option<u16>, message: &str) -> ArmError {
        ArmError(CloudError {
            status,
            code: Some(code.to_owned()),
            message: Some(message.to_owned()),
            ..CloudError::default()
        })
    }

    #[test]
    fn no_code_has_two_rules_and_the_last_rule_matches_everything() {
        let mut codes: Vec<_> = RULES.iter().filter_map(|rule| rule.code).collect();
        codes.sort_unstable();
        for pair in codes.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
        assert_eq!(RULES.last(), Some(&any(None, ErrorClass::RetrySlow)));
    }

    /// ASO behaviour §1.7, "Error classification", its rows in its order.
    #[test]
    fn table_of_all_kinds() {
        use ErrorClass::{Fatal, RetrySlow, RetryVerySlow};
        let rows: [(&[&str], Option<u16>, ErrorClass); 8] = [
            (
                &[
                    "InvalidRequestContent",
                    "InvalidResourceType",
                    "K8sVersionNotSupported",
                    "LocationRequired",
                    "PasswordTooLong",
                    "PropertyChangeNotAllowed",
                ],
                Some(400),
                Fatal,
            ),
            (
                &[
                    "AllocationFailed",
                    "AnotherOperationInProgress",
                    "Conflict",
                    "MissingSubscriptionRegistration",
                    "ResourceNotFound",
                    "SubscriptionNotRegistered",
                ],
                Some(400),
                RetrySlow,
            ),
            (
                &[
                    "BadRequest",
                    "InvalidParameter",
                    "ScopeLocked",
                    "SkuNotAvailable",
                ],
                Some(409),
                RetryVerySlow,
            ),
            (&["SomethingNew", "UnknownError"], Some(400), RetryVerySlow),
            // "There is no separate rule for 401, 403, 409, 412, 429 or 5xx."
            (&["SomethingNew"], Some(403), RetrySlow),
            (&["SubscriptionRequestsThrottled"], Some(429), RetrySlow),
            (&["ServiceUnavailable"], Some(503), RetrySlow),
            (&["SomethingNew"], None, RetrySlow),
        ];
        for (codes, status, class) in rows {
            for code in codes {
                let found = class_of(&error(code, status, ""));
                assert_eq!(found, class, "{code} {status:?}");
            }
        }
    }
}
