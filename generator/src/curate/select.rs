//! Which resources a group exports, and what each is called.

use std::collections::BTreeMap;

use toml::Spanned;

use super::naming;
use super::pattern::keep_re2;
use crate::curation::{ErrorWord, GroupConfig, KindRules, NameWord, Problem};
use crate::model::{
    ApiVersion, ErrorClass, ErrorRule, Group, NameRule, Owner, Resource, UuidText, ValueRules,
};

/// Keeps the resources that the file exports, gives them their names and takes over what errors mean.
pub(super) fn select(group: &mut Group, config: &GroupConfig) {
    let errors = config.rules.errors.iter().map(|rule| ErrorRule {
        kinds: rule
            .kinds
            .iter()
            .map(|kind| kind.get_ref().clone())
            .collect(),
        code: rule.code.get_ref().clone(),
        message: rule.message.clone(),
        class: class(rule.class),
    });
    group.errors = errors.collect();
    let values = config.rules.kinds.iter().map(|(kind, rules)| {
        let texts =
            |rules: &[Spanned<String>]| rules.iter().map(|it| it.get_ref().clone()).collect();
        let values = ValueRules {
            azure_owned: texts(&rules.azure_owned),
            equal: texts(&rules.equal),
            edits: texts(&rules.edits),
        };
        (kind.get_ref().clone(), values)
    });
    group.values = values
        .filter(|(_, it)| *it != ValueRules::default())
        .collect();
    let kinds = config
        .rules
        .kinds
        .iter()
        .map(|(kind, rules)| (rules.arm_type.get_ref().to_lowercase(), (kind, rules)))
        .collect::<BTreeMap<_, _>>();
    for (api_version, version) in &mut group.versions {
        version.resources.retain_mut(|resource| {
            match kinds.get(&resource.arm_type.to_lowercase()) {
                Some((kind, rules)) if config.exports(rules, api_version) => {
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
}

fn class(word: ErrorWord) -> ErrorClass {
    match word {
        ErrorWord::Fatal => ErrorClass::Fatal,
        ErrorWord::RetryFast => ErrorClass::RetryFast,
        ErrorWord::RetrySlow => ErrorClass::RetrySlow,
        ErrorWord::RetryVerySlow => ErrorClass::RetryVerySlow,
    }
}

/// An api-version on request that no kind is exported from is one that nobody can ask for.
pub(super) fn check_on_request(group: &Group, config: &GroupConfig) -> Vec<Problem> {
    let sources = config.rules.sources.values();
    let listed = sources.flat_map(|source| source.on_request.keys());
    let is_empty =
        |it: &&Spanned<String>| !group.versions.contains_key(&ApiVersion::new(it.get_ref()));
    let problem = |version: &Spanned<String>| {
        let message = format!(
            "no kind is exported from `{}`: the files that it is read from have none of the ARM types here; remove it, or \
             correct the `folder` of its source, which tells where Bicep types are",
            version.get_ref()
        );
        config.problem(version, message)
    };
    listed.filter(is_empty).map(problem).collect()
}

/// `spec.owner` names a kind, so the owner of an exported kind must be one.
pub(super) fn check_owners(group: &Group, config: &GroupConfig) -> Vec<Problem> {
    let resources = || {
        group
            .versions
            .values()
            .flat_map(|version| &version.resources)
    };
    let orphan = |resource: &Resource| {
        let Owner::Parent(parent) = &resource.owner else {
            return None;
        };
        let is_parent = |other: &Resource| other.arm_type.eq_ignore_ascii_case(parent);
        if resources().any(is_parent) {
            return None;
        }
        let rules = config.rules.kinds.get(resource.kind.as_str())?;
        let message = format!(
            "`{}` belongs to a `{parent}`, which no kind exports; export that as well",
            resource.kind
        );
        Some(config.problem(&rules.arm_type, message))
    };
    resources().filter_map(orphan).collect()
}

fn export(
    resource: &mut Resource,
    kind: &str,
    rules: &KindRules,
    config: &GroupConfig,
    api_version: &ApiVersion,
) {
    kind.clone_into(&mut resource.kind);
    resource.plural = naming::plural_of(kind, rules);
    if let NameRule::Free(constraints) = &mut resource.name {
        keep_re2(constraints);
        let text = |given: &Option<Spanned<String>>| Some(given.as_ref()?.get_ref().clone());
        if let Some(pattern) = text(&rules.name_pattern) {
            constraints.pattern = Some(pattern);
        }
        constraints.slash = text(&rules.name_slash);
    }
    name_by_uuid(resource, rules.azure_name.as_ref());
    resource.version_names = config.version_names(rules, api_version);
    resource.is_on_request = config.is_on_request(rules, api_version);
    let is_within = |from: &Option<Spanned<String>>, until: &Option<Spanned<String>>| {
        let named = |it: &Option<Spanned<String>>| Some(ApiVersion::new(it.as_ref()?.get_ref()));
        named(from).is_none_or(|from| *api_version >= from)
            && named(until).is_none_or(|until| *api_version <= until)
    };
    if is_within(&rules.secrets_from, &rules.secrets_until) {
        let secrets = rules.secrets.iter();
        resource.secrets = secrets
            .map(|(key, source)| (key.get_ref().clone(), source.0.clone()))
            .collect();
    }
    if is_within(&rules.config_maps_from, &rules.config_maps_until) {
        let config_maps = rules.config_maps.iter();
        resource.config_maps = config_maps
            .map(|(key, path)| {
                let path = path.split('.').filter(|member| !member.is_empty());
                (key.get_ref().clone(), path.map(str::to_owned).collect())
            })
            .collect();
    }
}

/// What it is called where the user gives no name. A name that Azure fixes stays.
fn name_by_uuid(resource: &mut Resource, word: Option<&Spanned<NameWord>>) {
    let (Some(word), NameRule::Free(rules)) = (word, &resource.name) else {
        return;
    };
    resource.name = NameRule::Uuid {
        rules: rules.clone(),
        text: match word.get_ref() {
            NameWord::Uuid => UuidText::WithOwnerId,
            NameWord::UuidWithoutOwnerId => UuidText::WithoutOwnerId,
        },
    };
}
