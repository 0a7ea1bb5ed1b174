//! The groups that a user wants, by name.

use std::collections::BTreeMap;

use super::reasons::short;

/// The groups that are wanted, all when none is named, each in full or by its short name.
///
/// # Errors
/// When there is no group of a name that is wanted.
pub fn select<T>(
    mut groups: BTreeMap<String, T>,
    wanted: &[String],
) -> anyhow::Result<BTreeMap<String, T>> {
    anyhow::ensure!(!groups.is_empty(), "there are no CRDs to compare");
    for wanted in wanted {
        anyhow::ensure!(
            groups
                .keys()
                .any(|group| is_wanted(group, std::slice::from_ref(wanted))),
            "there are no CRDs of group `{wanted}`; there are: {}",
            groups.keys().cloned().collect::<Vec<_>>().join(", ")
        );
    }
    groups.retain(|group, _| is_wanted(group, wanted));
    Ok(groups)
}

/// Whether a group is among those that are wanted, as all are when none is named.
pub fn is_wanted(group: &str, wanted: &[String]) -> bool {
    // `network` is not `network.frontdoor`, which begins so.
    let is = |wanted: &String| wanted == group || wanted == short(group);
    wanted.is_empty() || wanted.iter().any(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_chosen_by_name_and_an_unknown_one_is_told_with_all_there_are() {
        let groups = || {
            let names = ["a.azure.com", "a.x.azure.com", "b.azure.com"];
            names.map(|name| (name.to_owned(), ()))
        };
        let chosen = |wanted: &[&str]| {
            let wanted: Vec<_> = wanted.iter().map(|name| (*name).to_owned()).collect();
            select(BTreeMap::from(groups()), &wanted)
                .map(|groups| groups.into_keys().collect::<Vec<_>>().join(" "))
                .map_err(|error| error.to_string())
        };
        let all = "a.azure.com a.x.azure.com b.azure.com";
        assert_eq!(chosen(&[]).as_deref(), Ok(all));
        assert_eq!(chosen(&["a"]).as_deref(), Ok("a.azure.com"));
        assert_eq!(chosen(&["a.x"]).as_deref(), Ok("a.x.azure.com"));
        assert_eq!(chosen(&["b"]).as_deref(), Ok("b.azure.com"));
        assert_eq!(chosen(&["a.azure.com"]).as_deref(), Ok("a.azure.com"));
        let error =
            "there are no CRDs of group `c`; there are: a.azure.com, a.x.azure.com, b.azure.com";
        assert_eq!(chosen(&["a", "c"]), Err(error.to_owned()));
    }
}
