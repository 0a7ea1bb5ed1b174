//! Every recorded PUT of our kinds, and what became of it. Nothing is left out.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use armature::render::manifest::{self, Document};
use armature::render::{self, PLACEHOLDER_SUBSCRIPTION, Problem, RenderedRequest, Setting};
use armature::transports::recording::{self, Resources};
use armature_generated::KINDS;
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, VersionInfo};
use serde_json::Value;

use crate::comparison::difference;
use crate::data::{Exchange, Manifests, Recording};
use crate::renaming;

/// A recorded PUT; the same body to the same URL of one recording is one of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// Recording.
    pub recording: String,
    /// Short name of the kind's group: `kusto`.
    pub group: String,
    /// Path below the resource group; the name of a resource group itself.
    pub path: String,
    /// ARM api-version.
    pub api_version: String,
    /// How often it was recorded.
    pub times: usize,
    /// Where the manifest is from.
    pub source: Source,
    /// What became of it.
    pub verdict: Verdict,
}

/// Where the manifest of a PUT is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A published sample.
    Sample,
    /// A manifest of ours for what the recorded test built in code.
    Scenario,
    /// The resource group that each recorded test makes for itself.
    OwnGroup,
}

/// What became of a PUT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The rendered body equals the recorded one.
    Equal,
    /// It does not, or only by chance.
    Different {
        /// The first difference, or why nothing was rendered, or what the body depends on.
        what: String,
        /// It depends on what Azure has, and is equal where Azure answers as it was recorded.
        equal_after_modifier: bool,
    },
}

/// Compares all recordings.
///
/// # Errors
/// When manifests cannot be read.
pub fn all(recordings: &[Recording]) -> Result<Vec<Put>> {
    let mut puts = Vec::new();
    for recording in recordings {
        let found = of_recording(recording);
        puts.extend(found.with_context(|| recording.name.clone())?);
    }
    Ok(puts)
}

/// One state of the manifests and what it renders to.
struct Step {
    documents: Vec<Document>,
    requests: BTreeMap<String, RenderedRequest>,
    errors: Vec<Problem>,
}

impl Step {
    /// What the manifests render to where Azure has nothing but these beside their resources.
    fn new(documents: Vec<Document>, resources: Resources) -> Self {
        let mut setting = Setting::new(KINDS, PLACEHOLDER_SUBSCRIPTION);
        setting.resources = resources;
        let rendering = render::render_in(&documents, &setting);
        let by_url = |request: RenderedRequest| (request.url.to_lowercase(), request);
        Self {
            documents,
            requests: rendering.requests.into_iter().map(by_url).collect(),
            errors: rendering.errors,
        }
    }

    /// The same manifests before an Azure that answers what was asked in vain as it was recorded.
    fn answered(&self, asked: &[String], before: &[Exchange]) -> Self {
        let asked: BTreeSet<String> = asked.iter().map(|url| recording::path(url)).collect();
        let answers = before
            .iter()
            .filter(|exchange| exchange.method == "GET" && exchange.status == 200)
            .map(|exchange| (recording::path(&exchange.url), exchange.response.clone()));
        let known = answers.filter(|(path, _)| asked.contains(path));
        Self::new(self.documents.clone(), known.collect())
    }
}

fn of_recording(recording: &Recording) -> Result<Vec<Put>> {
    let steps = manifests(recording)?.into_iter();
    let steps: Vec<Step> = steps
        .map(|documents| Step::new(documents, Resources::new()))
        .collect();
    let mut puts: Vec<(&Exchange, Put)> = Vec::new();
    for (index, exchange) in recording.exchanges.iter().enumerate() {
        let Ok(id) = ResourceId::parse(renaming::path(&exchange.url)) else {
            continue;
        };
        let kind = KINDS.iter().find(|kind| id.has_type(kind.remote_type()));
        let Some(kind) = kind.filter(|_| exchange.method == "PUT") else {
            continue;
        };
        let known = puts
            .iter_mut()
            .find(|(known, _)| (&known.url, &known.request) == (&exchange.url, &exchange.request));
        if let Some((_, put)) = known {
            put.times += 1;
            continue;
        }
        let before = &recording.exchanges[..index];
        let put = Put {
            recording: recording.name.clone(),
            group: short(kind.group).to_owned(),
            path: below_group(&id),
            api_version: api_version(&exchange.url).to_owned(),
            times: 1,
            source: source(recording, &id),
            verdict: verdict(exchange, before, &id, &steps),
        };
        puts.push((exchange, put));
    }
    Ok(puts.into_iter().map(|(_, put)| put).collect())
}

/// Short names of the groups that there are.
pub fn groups() -> BTreeSet<&'static str> {
    KINDS.iter().map(|kind| short(kind.group)).collect()
}

/// Short name of an API group, which is that of its folder.
pub fn short(group: &str) -> &str {
    group.strip_suffix(".azure.com").unwrap_or(group)
}

fn source(recording: &Recording, id: &ResourceId) -> Source {
    match (&recording.manifests, renaming::is_own_group(id)) {
        (_, true) => Source::OwnGroup,
        (Manifests::Scenario(_), _) => Source::Scenario,
        _ => Source::Sample,
    }
}

/// What the recorded test applied, one state of all manifests after the other: each file of a scenario adds manifests
/// or replaces them.
///
/// # Errors
/// When a manifest cannot be read.
pub fn manifests(recording: &Recording) -> Result<Vec<Vec<Document>>> {
    let inputs = match &recording.manifests {
        Manifests::Samples(folder) => vec![folder.clone()],
        Manifests::Scenario(files) => files.clone(),
        Manifests::None => Vec::new(),
    };
    let mut documents = Vec::new();
    let mut steps = Vec::new();
    for input in &inputs {
        let (new, errors) = manifest::read(std::slice::from_ref(input));
        ensure!(errors.is_empty(), "{errors:?}");
        for document in new {
            documents.retain(|known: &Document| name(known) != name(&document));
            documents.push(document);
        }
        steps.push(documents.clone());
    }
    if steps.is_empty() {
        steps.push(Vec::new());
    }
    let renamed = |documents| renaming::apply(documents, &recording.exchanges, KINDS);
    Ok(steps.into_iter().map(renamed).collect())
}

fn name(document: &Document) -> [&Value; 3] {
    let manifest = &document.value;
    [
        &manifest["apiVersion"],
        &manifest["kind"],
        &manifest["metadata"]["name"],
    ]
}

/// Equal when any step renders the recorded body; else what differs in the last step that renders one.
fn verdict(exchange: &Exchange, before: &[Exchange], id: &ResourceId, steps: &[Step]) -> Verdict {
    let url = exchange.url.to_lowercase();
    let mut verdict = Verdict::Different {
        what: reason(steps, id, &exchange.url),
        equal_after_modifier: false,
    };
    for step in steps {
        let Some(request) = step.requests.get(&url) else {
            continue;
        };
        let what = difference(&exchange.request, &request.body);
        let asked = &request.assumed_absent;
        verdict = match (what, asked.first()) {
            (None, None) => return Verdict::Equal,
            (Some(what), None) => Verdict::Different {
                what,
                equal_after_modifier: false,
            },
            (what, Some(first)) => {
                let answered = step.answered(asked, before);
                let body = answered.requests.get(&url).map(|request| &request.body);
                let is_equal = |body| difference(&exchange.request, body).is_none();
                Verdict::Different {
                    what: what.unwrap_or_else(|| depends(first)),
                    equal_after_modifier: body.is_some_and(is_equal),
                }
            }
        };
    }
    verdict
}

/// What is said of a body that is equal only because Azure did not have something.
fn depends(url: &str) -> String {
    let path = renaming::path(url);
    let there = ResourceId::parse(path).map_or_else(|_| path.to_owned(), |id| below_group(&id));
    format!("depends on whether Azure has {there}")
}

/// Why nothing was rendered for an id: the problem of the object of that name, if there is one.
fn reason(steps: &[Step], id: &ResourceId, url: &str) -> String {
    if version(id, api_version(url)).is_none() {
        return format!(
            "not rendered: api-version {} is not generated",
            api_version(url)
        );
    }
    let errors = || steps.iter().flat_map(|step| &step.errors);
    let of_object = errors().find(|error| {
        let object = error.object.as_deref().unwrap_or_default();
        object.ends_with(&format!("/{}", id.name()))
    });
    match of_object.or_else(|| errors().next()) {
        // Without the file: where the samples are differs from machine to machine.
        Some(Problem { path, message, .. }) => format!("not rendered: {path}: {message}"),
        None => "not rendered: in no manifest".to_owned(),
    }
}

fn version(
    id: &ResourceId,
    api_version: &str,
) -> Option<(&'static KindInfo, &'static VersionInfo)> {
    let mut kinds = KINDS.iter().filter(|kind| id.has_type(kind.remote_type()));
    kinds.find_map(|kind| {
        let mut versions = kind.versions.iter();
        let version = versions.find(|version| version.api_version == api_version)?;
        Some((*kind, version))
    })
}

fn api_version(url: &str) -> &str {
    url.split("api-version=").nth(1).unwrap_or_default()
}

/// The id without subscription and resource group; a resource group's own name otherwise.
pub(crate) fn below_group(id: &ResourceId) -> String {
    match id.as_str().find("/providers/") {
        Some(at) => id.as_str()[at + "/providers/".len()..].to_owned(),
        None => id.name().to_owned(),
    }
}
