//! Pages of the reference: one for each kind, and one for each group that lists them.
//!
//! | module | what lives here |
//! |---|---|
//! | [`arm_words`] | what a kind is in Azure, in words |
//! | [`notes`] | what is told beside the specs |
//! | [`rows`] | tables of properties |
//! | [`special`] | what curation says is special about a kind |

mod arm_words;
mod notes;
mod rows;
mod special;

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use camino::Utf8PathBuf;

pub use notes::{Example, Extension, KindNotes, Notes};

use self::rows::{Row, Section};
use super::crates::rendered;
use super::facts::rule_words;
use super::{KindVersions, page_of};
use crate::model::{
    AnswerStep, Group, NameRule, Owner, Resource, Retirement, Rules, Scope, SecretSource, Version,
};

/// Largest page of a kind, in bytes. On a larger one each type is told once, and then the end of the status is left out.
pub const LARGEST_PAGE: usize = 60_000;

/// Where Microsoft describes ARM types, whose pages are named after them.
const MICROSOFT: &str = "https://learn.microsoft.com/azure/templates/";

#[derive(Template)]
#[template(path = "reference.md", escape = "none")]
struct GroupPage<'a> {
    group: &'a str,
    api_group: &'a str,
    kinds: Vec<KindLine<'a>>,
    errors: Vec<special::ErrorRow>,
}

struct KindLine<'a> {
    kind: &'a str,
    file: String,
    arm_type: &'a str,
    newest: String,
}

#[derive(Template)]
#[template(path = "reference_kind.md", escape = "none")]
struct KindPage<'a> {
    group: &'a str,
    api_group: &'a str,
    kind: &'a str,
    plural: &'a str,
    what_it_is: String,
    children: String,
    arm_type: &'a str,
    microsoft: String,
    scope: &'static str,
    owner: String,
    name: String,
    storage_version: &'a str,
    versions: Vec<VersionLine>,
    retirements: Vec<String>,
    /// One of [`Self::versions`] that is served on request, as a pattern.
    on_request: Option<String>,
    example: Option<Example>,
    secrets: Vec<(&'a str, String)>,
    config_maps: Vec<(&'a str, String)>,
    extensions: Vec<Extension>,
    facts: Vec<String>,
    errors: Vec<special::ErrorRow>,
    fixed: String,
    newest: String,
    spec: Vec<Row>,
    sections: Vec<Section>,
    status: Vec<Row>,
    left_out: usize,
}

struct VersionLine {
    names: String,
    api_version: String,
    source: String,
}

/// Writes the pages of a group: path relative to the workspace → text.
pub(super) fn pages(
    group: &Group,
    kinds: &[KindVersions<'_>],
    notes: &Notes,
) -> BTreeMap<Utf8PathBuf, String> {
    let at = |path: String| Utf8PathBuf::from(format!("docs/reference/{path}"));
    let pages = kinds.iter().map(|kind| {
        let path = at(format!("{}/{}", group.name, page_of(kind.kind)));
        (
            path,
            kind_page(group, kind, notes.of(&group.name, kind.kind)),
        )
    });
    let mut pages = pages.collect::<BTreeMap<_, _>>();
    let index = GroupPage {
        group: &group.name,
        api_group: &group.api_group,
        kinds: kinds
            .iter()
            .map(|kind| KindLine {
                kind: kind.kind,
                file: page_of(kind.kind),
                arm_type: &kind.newest.1.arm_type,
                newest: newest(described(kind).1),
            })
            .collect(),
        errors: special::errors(group, None),
    };
    pages.insert(at(format!("{}.md", group.name)), rendered(&index));
    pages
}

/// The version that a page describes, as `armature explain` does: the newest stable one that is served without being asked
/// for, else the newest one of those.
fn described<'a>(kind: &KindVersions<'a>) -> (&'a Version, &'a Resource) {
    let served = kind.versions.iter().copied();
    let served = || {
        served
            .clone()
            .filter(|(_, resource)| !resource.is_on_request)
    };
    let stable = served().rfind(|(version, _)| !version.api_version.is_preview());
    stable
        .or_else(|| served().next_back())
        .unwrap_or(kind.newest)
}

fn newest(resource: &Resource) -> String {
    resource.version_names.last().cloned().unwrap_or_default()
}

/// The page with all paths; else with each type once; else with as much of the status as there is room for.
fn kind_page(group: &Group, kind: &KindVersions<'_>, notes: KindNotes) -> String {
    let mut page = with_all_paths(group, kind, notes);
    let text = rendered(&page);
    if text.len() <= LARGEST_PAGE {
        return text;
    }
    let (version, resource) = described(kind);
    (page.spec, page.sections) = rows::by_type(&version.types, &resource.spec);
    let mut text = rendered(&page);
    while text.len() > LARGEST_PAGE && !page.status.is_empty() {
        let kept = page.status.len() * 4 / 5;
        page.left_out += page.status.len() - kept;
        page.status.truncate(kept);
        text = rendered(&page);
    }
    text
}

fn with_all_paths<'a>(
    group: &'a Group,
    kind: &'a KindVersions<'_>,
    notes: KindNotes,
) -> KindPage<'a> {
    let (version, resource) = described(kind);
    let spec = rows::by_path(&version.types, &resource.spec);
    let mut status = rows::by_path(&version.types, &resource.status);
    let known = spec.iter().map(|row| row.path.as_str());
    let known = known.collect::<BTreeSet<_>>();
    status.retain(|row| !known.contains(row.path.as_str()) && row.path != "conditions");
    let exports = |path: &[String]| match path {
        [] => "a handwritten exporter has it".to_owned(),
        path => format!("`status.{}`", path.join(".")),
    };
    KindPage {
        group: &group.name,
        api_group: &group.api_group,
        kind: kind.kind,
        plural: &resource.plural,
        arm_type: &resource.arm_type,
        microsoft: format!("{MICROSOFT}{}", resource.arm_type.to_lowercase()),
        scope: scope(resource.scope),
        owner: owner(group, resource),
        name: name(&resource.name),
        storage_version: &kind.hub.storage_version,
        what_it_is: arm_words::what_it_is(&resource.arm_type),
        children: children(group, resource),
        versions: kind
            .versions
            .iter()
            .map(|version| version_line(group, version))
            .collect(),
        retirements: kind.versions.iter().filter_map(retirement).collect(),
        on_request: on_request(group, kind),
        example: notes.example,
        secrets: resource
            .secrets
            .iter()
            .map(|(key, source)| (key.as_str(), secret(source)))
            .collect(),
        config_maps: resource
            .config_maps
            .iter()
            .map(|(key, path)| (key.as_str(), exports(path)))
            .collect(),
        extensions: notes.extensions,
        facts: special::facts(group, resource),
        errors: special::errors(group, Some(kind.kind)),
        fixed: fixed(&spec),
        newest: newest(resource),
        spec,
        sections: Vec::new(),
        status,
        left_out: 0,
    }
}

/// What Azure has told of the end of a version, in a sentence.
fn retirement((version, resource): &(&Version, &Resource)) -> Option<String> {
    let Retirement {
        date,
        page,
        successor,
    } = resource.retirement.as_ref()?;
    Some(format!(
        "Azure retires {} on {date} ([announcement]({page})): use `{successor}`.",
        version.api_version
    ))
}

/// The newest version on request, as users name it in `crdPattern`.
fn on_request(group: &Group, kind: &KindVersions<'_>) -> Option<String> {
    let mut versions = kind.versions.iter();
    let (_, resource) = versions.rfind(|(_, resource)| resource.is_on_request)?;
    Some(pattern(group, resource, &newest(resource)))
}

fn pattern(group: &Group, resource: &Resource, version: &str) -> String {
    format!("{}/{version}/{}", group.api_group, resource.kind)
}

/// The kinds of the group that belong to a resource.
fn children(group: &Group, resource: &Resource) -> String {
    let resources = group.versions.values().flat_map(|it| &it.resources);
    let is_below = |it: &&Resource| matches!(&it.owner, Owner::Parent(parent) if parent.eq_ignore_ascii_case(&resource.arm_type));
    let kinds = resources.filter(is_below).map(|it| it.kind.as_str());
    let kinds = kinds.collect::<BTreeSet<_>>().into_iter();
    let links = kinds.map(|kind| format!("[`{kind}`]({})", page_of(kind)));
    links.collect::<Vec<_>>().join(", ")
}

fn version_line(group: &Group, (version, resource): &(&Version, &Resource)) -> VersionLine {
    let names = resource.version_names.iter();
    let name = |name: &String| match resource.is_on_request {
        true => format!("`{name}`, on request: `{}`", pattern(group, resource, name)),
        false => format!("`{name}`"),
    };
    let names = names.map(name).collect::<Vec<_>>();
    let file = &resource.source.0.0;
    let format = match file.ends_with("/types.json") {
        true => "Bicep types",
        false => "OpenAPI",
    };
    let mut source = format!("{format} `{file}`");
    if let Some(older) = &resource.inherited_from {
        source.push_str(&format!("; what these leave out, OpenAPI of {older}"));
    }
    VersionLine {
        names: names.join(", "),
        api_version: version.api_version.to_string(),
        source,
    }
}

fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::ResourceGroup => "in a resource group",
        Scope::Subscription => "in a subscription",
        Scope::Tenant => "in the tenant",
        Scope::Extension => "on another resource",
    }
}

fn owner(group: &Group, resource: &Resource) -> String {
    match &resource.owner {
        Owner::None if resource.scope == Scope::Tenant => "none: the tenant".to_owned(),
        Owner::None => "none: the subscription of the credential".to_owned(),
        Owner::ResourceGroup => "`ResourceGroup`".to_owned(),
        Owner::Any => "any resource".to_owned(),
        Owner::Parent(arm_type) => {
            let mut resources = group.versions.values().flat_map(|v| &v.resources);
            let parent = resources.find(|r| r.arm_type.eq_ignore_ascii_case(arm_type));
            parent.map_or_else(
                || format!("any resource of type `{arm_type}`"),
                |parent| format!("[`{}`]({})", parent.kind, page_of(&parent.kind)),
            )
        }
    }
}

fn name(rule: &NameRule) -> String {
    match rule {
        NameRule::Free(rules) => free_name(rules),
        NameRule::Uuid { rules, .. } => format!("{}; by default a UUID", free_name(rules)),
        NameRule::OneOf(values) => format!("one of `{}`", values.join("`, `")),
        NameRule::Fixed(value) => format!("always `{value}`"),
    }
}

fn free_name(rules: &Rules) -> String {
    match rule_words(rules) {
        words if words.is_empty() => "free".to_owned(),
        words => words.join("; ").replace('|', "\\|"),
    }
}

fn secret(source: &SecretSource) -> String {
    match source {
        SecretSource::Status(path) => format!("`status.{}`", path.join(".")),
        SecretSource::Subscription => "the subscription of the ARM id".to_owned(),
        SecretSource::Action { action, value } => {
            format!("POST `{action}`: `{}`", answer(value))
        }
        SecretSource::Extension => "a handwritten exporter has it".to_owned(),
    }
}

/// The way to a value in an answer, as a curation file has it.
fn answer(steps: &[AnswerStep]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            AnswerStep::Member(name) if text.is_empty() => text.push_str(name),
            AnswerStep::Member(name) => text.push_str(&format!(".{name}")),
            AnswerStep::Item { member, is } => text.push_str(&format!("[{member}={is}]")),
            AnswerStep::First => text.push_str("[first]"),
            AnswerStep::Base64 => text.push_str(" in Base64"),
        }
    }
    text
}

/// What is refused once the resource is there, in words. As `armature explain` tells it: what is within something fixed
/// goes without saying.
fn fixed(spec: &[Row]) -> String {
    let has = |path: &&str| spec.iter().any(|row| row.path == *path);
    let own = ["azureName", "owner"].into_iter().filter(has);
    let mut azure = Vec::<&str>::new();
    for row in spec.iter().filter(|row| row.is_fixed) {
        let is_within = |above: &&str| {
            let below = row.path.strip_prefix(above);
            below.is_some_and(|rest| rest.starts_with(['.', '[', '{']))
        };
        if !azure.iter().any(is_within) {
            azure.push(&row.path);
        }
    }
    let all = own.chain(azure);
    let all = all.map(|path| format!("`{path}`")).collect::<Vec<_>>();
    match all.is_empty() {
        true => "Nothing that the specs tell of.".to_owned(),
        false => format!("{}.", all.join(", ")),
    }
}
