//! "Did you mean …": the nearest known name.

/// The candidate most like `name`, when it is like enough to be worth proposing.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| {
            let score = strsim::jaro_winkler(&lower, &candidate.to_lowercase());
            (score, candidate)
        })
        .filter(|(score, _)| *score >= 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn proposes_the_nearest_name_and_nothing_when_none_is_near() {
        let names = ["accessTier", "azureName", "location"];
        assert_eq!(nearest("acessTier", names), Some("accessTier"));
        assert_eq!(nearest("Location", names), Some("location"));
        assert_eq!(nearest("kind", names), None);
    }
}
