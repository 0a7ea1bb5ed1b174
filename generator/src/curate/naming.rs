//! Names that curation gives (ASO behaviour §3.1, §3.3).

/// Lower-case plural of a kind: `PublicIPAddress` → `publicipaddresses`, `Factory` → `factories`.
pub fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| kind.ends_with(ending));
    match kind.strip_suffix('y') {
        Some(stem) if !ends(&["ay", "ey", "oy", "uy"]) => format!("{stem}ies"),
        _ if ends(&["s", "x", "ch", "sh"]) => format!("{kind}es"),
        _ => format!("{kind}s"),
    }
}

/// Name of the reference that stands in place of an ARM id: `id` → `reference`, `subnetId` →
/// `subnetReference`, `subnetIds` → `subnetReferences`, `userIdentity` → `userIdentityReference`.
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
    format!("{}{suffix}", stem.unwrap_or(name))
}

/// Name of the twin that takes a value from a ConfigMap.
pub fn from_config(name: &str) -> String {
    format!("{name}FromConfig")
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
        ] {
            assert_eq!(reference(name, is_list), expected);
        }
    }
}
