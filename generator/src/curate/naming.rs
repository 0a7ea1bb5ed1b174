//! Names that curation gives (ASO behaviour §3.1, §3.3).

use crate::curation::KindRules;

/// The plural that a file gives its kind, else that of grammar.
pub fn plural_of(kind: &str, rules: &KindRules) -> String {
    let given = rules.plural.as_ref().map(|given| given.get_ref().clone());
    given.unwrap_or_else(|| plural(kind))
}

/// Lower-case plural of a kind: `PublicIPAddress` → `publicipaddresses`, `Factory` → `factories`. What ends with
/// `settings` is one already.
pub fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    if kind.ends_with("settings") {
        return kind;
    }
    let ends = |endings: &[&str]| endings.iter().any(|ending| kind.ends_with(ending));
    match kind.strip_suffix('y') {
        Some(stem) if !ends(&["ay", "ey", "oy", "uy"]) => format!("{stem}ies"),
        _ if ends(&["s", "x", "ch", "sh"]) => format!("{kind}es"),
        _ => format!("{kind}s"),
    }
}

/// Name of the reference that stands in place of an ARM id: `id` → `reference`, `subnetId` →
/// `subnetReference`, `subnetIds` → `subnetReferences`, `userIdentity` → `userIdentityReference`, `WorkspaceId` →
/// `workspaceReference`.
pub fn reference(name: &str, is_list: bool) -> String {
    let suffix = if is_list { "References" } else { "Reference" };
    let endings: &[&str] = if is_list {
        &["Ids", "IDs", "Id", "ID"]
    } else {
        &["Id", "ID"]
    };
    if name == "id" || (is_list && name == "ids") {
        return suffix.to_lowercase();
    }
    let stem = endings.iter().find_map(|ending| name.strip_suffix(ending));
    format!("{}{suffix}", with_small_first(stem.unwrap_or(name)))
}

fn with_small_first(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// Name of the twin that takes a value from a ConfigMap.
pub fn from_config(name: &str) -> String {
    format!("{name}FromConfig")
}

/// Name of the twin that takes a value from a Secret.
pub fn from_secret(name: &str) -> String {
    format!("{name}FromSecret")
}

#[cfg(test)]
mod tests {
    use super::{plural, reference};

    #[test]
    fn plurals() {
        for (kind, expected) in [
            ("StorageAccount", "storageaccounts"),
            ("PublicIPAddress", "publicipaddresses"),
            (
                "StorageAccountsManagementPolicy",
                "storageaccountsmanagementpolicies",
            ),
            ("NatGateway", "natgateways"),
            ("Redis", "redises"),
            ("ServersAuditingSetting", "serversauditingsettings"),
            (
                "AdvancedThreatProtectionSettings",
                "advancedthreatprotectionsettings",
            ),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }

    #[test]
    fn references() {
        for (name, is_list, expected) in [
            ("id", false, "reference"),
            ("subnetId", false, "subnetReference"),
            ("subnetIds", true, "subnetReferences"),
            ("userIdentity", false, "userIdentityReference"),
            ("subscriptions", true, "subscriptionsReferences"),
            ("WorkspaceResourceId", false, "workspaceResourceReference"),
        ] {
            assert_eq!(reference(name, is_list), expected);
        }
    }
}
