//! States in which a cluster takes changes.

/// States that a cluster rests in (ASO behaviour §2.2: kusto).
const RESTING: [&str; 3] = ["Succeeded", "Failed", "Canceled"];

/// Whether a cluster in this `provisioningState` takes changes; casing does not count.
pub fn takes_changes(state: &str) -> bool {
    RESTING
        .iter()
        .any(|resting| resting.eq_ignore_ascii_case(state))
}

#[cfg(test)]
mod tests {
    use super::takes_changes;

    #[test]
    fn only_final_states_take_changes() {
        for state in ["Succeeded", "succeeded", "FAILED", "Canceled"] {
            assert!(takes_changes(state), "{state}");
        }
        for state in ["Creating", "Updating", "Deleting", "Running", "Moving", ""] {
            assert!(!takes_changes(state), "{state}");
        }
    }
}
