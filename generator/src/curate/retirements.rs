//! api-versions that Azure retires: which version of each kind is to be used in their place.

use toml::Spanned;

use crate::curation::{GroupConfig, Problem, RetirementRules};
use crate::model::{ApiVersion, Group, Resource, Retirement, Version};

/// A version of a kind.
struct Candidate {
    api_version: ApiVersion,
    /// The name to use: the newer one where there are two.
    name: String,
    is_on_request: bool,
    is_retired: bool,
}

/// Notes in each resource when Azure retires it and what is used then. A kind without any such version is a problem: nobody
/// could do anything about the warning.
pub(super) fn finish(group: &mut Group, config: &GroupConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (kind, rules) in &config.rules.kinds {
        let candidates = candidates(group, config, kind.get_ref());
        for version in group.versions.values_mut() {
            let of_kind = |it: &&Resource| it.kind == *kind.get_ref();
            let resource = version.resources.iter().find(of_kind);
            let found = resource.and_then(|resource| rule(config, version, resource));
            let Some((place, rule)) = found else { continue };
            let Some(successor) = successor(&version.api_version, &candidates) else {
                problems.push(config.problem(
                    place,
                    without_successor(kind, place, rules.versions.is_some()),
                ));
                continue;
            };
            let retirement = Retirement {
                date: rule.date.get_ref().clone(),
                page: rule.page.get_ref().clone(),
                successor: successor.name.clone(),
            };
            let of_kind = |it: &&mut Resource| it.kind == *kind.get_ref();
            let resource = version.resources.iter_mut().find(of_kind);
            if let Some(resource) = resource {
                resource.retirement = Some(retirement);
            }
        }
    }
    problems
}

fn without_successor(kind: &Spanned<String>, version: &Spanned<String>, is_listed: bool) -> String {
    let end = match is_listed {
        true => " and under `versions` of the kind",
        false => "",
    };
    format!(
        "`{}` retires, and `{}` has no later api-version that does not: add one to its source{end}, or remove the line",
        version.get_ref(),
        kind.get_ref()
    )
}

/// What the file says of the end of a resource's api-version.
fn rule<'c>(
    config: &'c GroupConfig,
    version: &Version,
    resource: &Resource,
) -> Option<(&'c Spanned<String>, &'c RetirementRules)> {
    let (arm_type, api_version) = (&resource.arm_type, &version.api_version);
    config.rules.sources.iter().find_map(|(name, source)| {
        let found = source.retires.get_key_value(api_version.as_str());
        found.filter(|_| config.reads(arm_type, api_version, name.get_ref(), &version.arm_types))
    })
}

/// The versions of a kind, oldest first.
fn candidates(group: &Group, config: &GroupConfig, kind: &str) -> Vec<Candidate> {
    let versions = group.versions.values();
    let candidates = versions.filter_map(|version| {
        let resource = version.resources.iter().find(|it| it.kind == kind)?;
        Some(Candidate {
            api_version: version.api_version.clone(),
            name: resource.version_names.last()?.clone(),
            is_on_request: resource.is_on_request,
            is_retired: rule(config, version, resource).is_some(),
        })
    });
    candidates.collect()
}

/// What to use in the place of an api-version: of the later ones that stay, the newest stable one that is served without being
/// asked for; else the newest preview that is; else one on request.
fn successor<'c>(of: &ApiVersion, candidates: &'c [Candidate]) -> Option<&'c Candidate> {
    let later = candidates
        .iter()
        .filter(|it| it.api_version > *of && !it.is_retired);
    later.max_by_key(|it| {
        let is_stable = !it.api_version.is_preview();
        (!it.is_on_request, is_stable, it.api_version.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_to_use_stays_and_is_served_unasked_where_one_is() {
        let candidate = |text: &str| {
            let (name, marks) = text.split_once(' ').unwrap_or((text, ""));
            Candidate {
                api_version: ApiVersion::new(name),
                name: name.to_owned(),
                is_on_request: marks.contains("asked"),
                is_retired: marks.contains("retired"),
            }
        };
        for (candidates, of, expected) in [
            (
                &["2021-01-01 retired", "2022-01-01", "2023-01-01"][..],
                "2021-01-01",
                Some("2023-01-01"),
            ),
            (
                &["2021-01-01 retired", "2022-01-01", "2023-01-01-preview"],
                "2021-01-01",
                Some("2022-01-01"),
            ),
            (
                &["2021-01-01 retired", "2022-01-01", "2023-01-01 asked"],
                "2021-01-01",
                Some("2022-01-01"),
            ),
            (
                &[
                    "2021-01-01 retired",
                    "2022-01-01-preview",
                    "2023-01-01 asked",
                ],
                "2021-01-01",
                Some("2022-01-01-preview"),
            ),
            (
                &[
                    "2021-01-01 retired",
                    "2022-01-01 retired",
                    "2023-01-01 asked",
                ],
                "2021-01-01",
                Some("2023-01-01"),
            ),
            // What is older is no way on.
            (&["2020-01-01", "2021-01-01 retired"], "2021-01-01", None),
            (
                &["2021-01-01 retired", "2022-01-01 retired"],
                "2021-01-01",
                None,
            ),
        ] {
            let candidates: Vec<_> = candidates.iter().map(|it| candidate(it)).collect();
            let found = successor(&ApiVersion::new(of), &candidates);
            let found = found.map(|it| it.name.as_str());
            assert_eq!(found, expected, "{of}");
        }
    }
}
