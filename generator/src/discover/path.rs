//! What a resource's path tells: ARM type, scope, owner and rules of the name.

use crate::load::Schema;
use crate::model::{NameRule, Owner, Rules, Scope};

/// ARM type of resource groups, whose path names no provider.
const RESOURCE_GROUP: &str = "Microsoft.Resources/resourceGroups";

/// What one path tells about one resource.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PathFacts {
    pub arm_type: String,
    pub template: String,
    pub scope: Scope,
    pub owner: Owner,
    pub name: NameRule,
}

/// A parameter of the path: name and schema.
pub(super) type PathParameter<'a> = (&'a str, &'a Schema);

/// Most resources that come of one path. Azure's paths have up to 10.
pub(super) const MOST_RESOURCES: usize = 256;

/// Reads a path template. Several resources come of a path in which an enum stands for the type, none of one
/// that does not end in pairs of type and name below a provider. `None` if they are too many.
pub(super) fn read(template: &str, parameters: &[PathParameter<'_>]) -> Option<Vec<PathFacts>> {
    let segments: Vec<&str> = template
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    let providers: Vec<usize> = (0..segments.len())
        .filter(|index| segments[*index].eq_ignore_ascii_case("providers"))
        .collect();
    let Some(last) = providers.last() else {
        let group = resource_group(template, &segments, parameters);
        return Some(group.into_iter().collect());
    };
    let Some((namespace, pairs)) = segments[last + 1..].split_first() else {
        return Some(Vec::new());
    };
    if parameter_name(namespace).is_some() || pairs.is_empty() || !pairs.len().is_multiple_of(2) {
        return Some(Vec::new());
    }
    let mut expanded = vec![(segments.clone(), vec![(*namespace).to_owned()])];
    for index in (last + 2..segments.len()).step_by(2) {
        let Some(name) = parameter_name(segments[index]) else {
            for (_, types) in &mut expanded {
                types.push(segments[index].to_owned());
            }
            continue;
        };
        let values = find(parameters, name).map_or(&[][..], |schema| &schema.values);
        if expanded.len() * values.len() > MOST_RESOURCES {
            return None;
        }
        expanded = expanded
            .into_iter()
            .flat_map(|(segments, types)| {
                values.iter().map(move |value| {
                    let mut segments = segments.clone();
                    segments[index] = value.as_str();
                    let types = types.iter().cloned().chain([value.clone()]).collect();
                    (segments, types)
                })
            })
            .collect();
    }
    let scope = scope(&segments[..*last], providers.len());
    let facts = expanded
        .into_iter()
        .map(|(segments, types): (Vec<&str>, Vec<String>)| PathFacts {
            template: format!("/{}", segments.join("/")),
            owner: owner(&types, scope),
            arm_type: types.join("/"),
            scope,
            name: name_rule(segments.last().copied().unwrap_or_default(), parameters),
        });
    Some(facts.collect())
}

fn resource_group(
    template: &str,
    segments: &[&str],
    parameters: &[PathParameter<'_>],
) -> Option<PathFacts> {
    let [subscriptions, _, groups, name] = segments else {
        return None;
    };
    (subscriptions.eq_ignore_ascii_case("subscriptions")
        && groups.eq_ignore_ascii_case("resourceGroups"))
    .then(|| PathFacts {
        arm_type: RESOURCE_GROUP.to_owned(),
        template: template.to_owned(),
        scope: Scope::Subscription,
        owner: Owner::None,
        name: name_rule(name, parameters),
    })
}

/// Scope from what stands before the last `providers`.
fn scope(before: &[&str], providers: usize) -> Scope {
    if providers > 1 {
        return Scope::Extension;
    }
    match before {
        [] => Scope::Tenant,
        [subscriptions, _] if subscriptions.eq_ignore_ascii_case("subscriptions") => {
            Scope::Subscription
        }
        [subscriptions, _, groups, _]
            if subscriptions.eq_ignore_ascii_case("subscriptions")
                && groups.eq_ignore_ascii_case("resourceGroups") =>
        {
            Scope::ResourceGroup
        }
        _ => Scope::Extension,
    }
}

fn owner(types: &[String], scope: Scope) -> Owner {
    match (types, scope) {
        ([parent @ .., _], _) if parent.len() > 1 => Owner::Parent(parent.join("/")),
        (_, Scope::ResourceGroup) => Owner::ResourceGroup,
        (_, Scope::Extension) => Owner::Any,
        (_, Scope::Subscription | Scope::Tenant) => Owner::None,
    }
}

fn name_rule(segment: &str, parameters: &[PathParameter<'_>]) -> NameRule {
    let Some(name) = parameter_name(segment) else {
        return NameRule::Fixed(segment.to_owned());
    };
    match find(parameters, name) {
        None => NameRule::Free(Rules::default()),
        Some(schema) => match schema.values.as_slice() {
            [] => NameRule::Free(schema.rules.clone()),
            [value] => NameRule::Fixed(value.clone()),
            values => NameRule::OneOf(values.to_vec()),
        },
    }
}

fn find<'a>(parameters: &[PathParameter<'a>], name: &str) -> Option<&'a Schema> {
    parameters
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, schema)| *schema)
}

fn parameter_name(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// The path in lower case without the names of its parameters, which is what ARM tells paths apart by.
pub(super) fn without_parameter_names(template: &str) -> String {
    let parts: Vec<String> = template
        .split('/')
        .map(|part| {
            if parameter_name(part).is_some() {
                "{}".to_owned()
            } else {
                part.to_ascii_lowercase()
            }
        })
        .collect();
    parts.join("/")
}
