//! Which resources a group exports, and what each is called.

use std::collections::BTreeMap;

use super::error::hint;
use super::pattern::keep_re2;
use super::{CurateError, GroupConfig, KindRules, naming};
use crate::model::{ApiVersion, Group, NameRule, Owner, Resource};

/// Keeps the resources that the file exports and gives them their names.
pub(super) fn select(group: &mut Group, config: &GroupConfig) -> Result<(), Box<CurateError>> {
    check_kinds(group, config)?;
    let kinds = config
        .rules
        .kinds
        .iter()
        .map(|(kind, rules)| (rules.arm_type.get_ref().to_lowercase(), (kind, rules)))
        .collect::<BTreeMap<_, _>>();
    for (api_version, version) in &mut group.versions {
        version.resources.retain_mut(|resource| {
            match kinds.get(&resource.arm_type.to_lowercase()) {
                Some((kind, rules)) if rules.exports(api_version) => {
                    export(resource, kind.get_ref(), rules, config, api_version);
                    true
                }
                _ => false,
            }
        });
    }
    group
        .versions
        .retain(|_, version| !version.resources.is_empty());
    check_owners(group, config)
}

/// `spec.owner` names a kind, so the owner of an exported kind must be one.
fn check_owners(group: &Group, config: &GroupConfig) -> Result<(), Box<CurateError>> {
    let resources = || {
        group
            .versions
            .values()
            .flat_map(|version| &version.resources)
    };
    for resource in resources() {
        let Owner::Parent(parent) = &resource.owner else {
            continue;
        };
        if resources().any(|other| other.arm_type.eq_ignore_ascii_case(parent)) {
            continue;
        }
        let mut kinds = config.rules.kinds.iter();
        let kind = kinds.find(|(kind, _)| *kind.get_ref() == resource.kind);
        return Err(Box::new(CurateError::Inapplicable {
            path: config.path.clone(),
            line: kind.map_or(1, |(_, rules)| config.line(&rules.arm_type)),
            message: format!(
                "`{}` belongs to a `{parent}`, which no kind exports; export that as well",
                resource.kind
            ),
        }));
    }
    Ok(())
}

fn export(
    resource: &mut Resource,
    kind: &str,
    rules: &KindRules,
    config: &GroupConfig,
    api_version: &ApiVersion,
) {
    kind.clone_into(&mut resource.kind);
    resource.plural = naming::plural(kind);
    if let NameRule::Free(rules) = &mut resource.name {
        keep_re2(rules);
    }
    resource.version_names = config.rules.naming.names(api_version);
    let has_secrets = rules
        .secrets_from
        .as_ref()
        .is_none_or(|from| *api_version >= ApiVersion::new(from));
    if has_secrets {
        let secrets = rules.secrets.iter();
        resource.secrets = secrets
            .map(|(key, source)| (key.clone(), source.0.clone()))
            .collect();
    }
    resource.config_maps = rules
        .config_maps
        .iter()
        .map(|(key, path)| {
            let path = path.split('.').filter(|member| !member.is_empty());
            (key.clone(), path.map(str::to_owned).collect())
        })
        .collect();
}

fn is_kind(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// Every kind of the file must be found, in every api-version that it names.
fn check_kinds(group: &Group, config: &GroupConfig) -> Result<(), Box<CurateError>> {
    let mut arm_types = BTreeMap::<String, &str>::new();
    for (kind, rules) in &config.rules.kinds {
        if !is_kind(kind.get_ref()) {
            return Err(Box::new(CurateError::Inapplicable {
                path: config.path.clone(),
                line: config.line(kind),
                message: format!(
                    "`{}` is no name for a kind; expected a capital letter, then letters and digits",
                    kind.get_ref()
                ),
            }));
        }
        let arm_type = rules.arm_type.get_ref().to_lowercase();
        if let Some(other) = arm_types.insert(arm_type.clone(), kind.get_ref()) {
            return Err(Box::new(CurateError::Inapplicable {
                path: config.path.clone(),
                line: config.line(&rules.arm_type),
                message: format!("`{other}` exports this ARM type already; remove one of the two"),
            }));
        }
        let has = |version: &ApiVersion| {
            group.versions.get(version).is_some_and(|found| {
                let mut resources = found.resources.iter();
                resources.any(|resource| resource.arm_type.to_lowercase() == arm_type)
            })
        };
        if !group.versions.keys().any(has) {
            let known = group.versions.values().flat_map(|version| {
                let resources = version.resources.iter();
                resources.map(|resource| resource.arm_type.as_str())
            });
            return Err(Box::new(CurateError::NoMatch {
                path: config.path.clone(),
                line: config.line(&rules.arm_type),
                what: "ARM type".to_owned(),
                name: rules.arm_type.get_ref().clone(),
                hint: hint(rules.arm_type.get_ref(), known),
            }));
        }
        for version in rules.versions.iter().flatten() {
            if !has(&ApiVersion::new(version.get_ref())) {
                let known = group.versions.keys().filter(|v| has(v));
                return Err(Box::new(CurateError::NoMatch {
                    path: config.path.clone(),
                    line: config.line(version),
                    what: format!("`{}` to export from api-version", kind.get_ref()),
                    name: version.get_ref().clone(),
                    hint: hint(version.get_ref(), known.map(ApiVersion::as_str)),
                }));
            }
        }
    }
    Ok(())
}
