//! One import: from ids to manifests.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use armature_progress::Progress;
use armature_runtime::arm::ArmAccess;
use armature_runtime::conversion;
use armature_runtime::engine::status::status_from_arm;
use armature_runtime::extension::{Context, Import, Registry, Resolver};
use armature_runtime::id::ResourceId;
use armature_runtime::kind::KindInfo;
use armature_runtime::resource::{Kind, Object};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use kube::core::ObjectMeta;
use serde_json::json;
use serde_json::value::to_raw_value;
use tokio_util::sync::CancellationToken;

use super::defaults::leave_out;
use super::discover::{Finder, Found, Refusals, Types};
use super::draft::{Draft, Resource, draft};
use super::known::{Known, version};
use super::manifest::{Imported, Wanted, manifests};
use super::reader::{Reader, Refused};
use crate::descriptions::Descriptions;
use crate::transports::reading::Reading;
use crate::worlds::manifests::cluster::Cluster;

/// What is known beside the ids.
pub struct Setting<'a> {
    /// The kinds that there are.
    pub kinds: &'a [&'static KindInfo],
    /// Extensions of the kinds.
    pub extensions: Registry,
    /// Reads.
    pub reader: Reader,
    /// Which types are wanted.
    pub types: Types,
    /// Whether manifests have values, too, that equal the defaults of Azure's specs.
    pub with_defaults: bool,
    /// How manifests are to be.
    pub wanted: Wanted,
    /// Resources that are read at a time.
    pub parallel: usize,
    /// Where to tell how far it is.
    pub progress: Progress,
}

/// What an import came to.
#[derive(Debug, Default)]
pub struct Report {
    /// Manifests, owners first.
    pub imported: Vec<Imported>,
    /// Resources that are not to be imported, and why.
    pub skipped: Vec<(String, String)>,
    /// What could not be imported or read, and why.
    pub failed: Vec<(String, String)>,
    /// Requests to Azure, all of them reads.
    pub requests: usize,
}

/// What came of one id.
struct Visited {
    id: ResourceId,
    outcome: Outcome,
    found: Found,
}

enum Outcome {
    Draft(Box<Draft>),
    /// It is there for what is below it alone.
    Passed,
    Skipped(String),
    Failed(String),
}

/// Imports subscriptions, resource groups and resources with all that is below and on them.
pub async fn import(ids: Vec<ResourceId>, setting: &Setting<'_>) -> Report {
    let known = Known::new(setting.kinds);
    let visitor = Visitor {
        finder: Finder {
            known: &known,
            types: &setting.types,
            reader: &setting.reader,
            refusals: Refusals::default(),
        },
        known: &known,
        setting,
    };
    let named: HashSet<ResourceId> = ids.iter().cloned().collect();
    let mut seen: HashSet<ResourceId> = named.clone();
    let mut queue: VecDeque<ResourceId> = ids.into();
    let (mut report, mut drafts) = (Report::default(), Vec::new());
    let (mut running, mut done) = (FuturesUnordered::new(), 0);
    loop {
        while running.len() < setting.parallel.max(1)
            && let Some(id) = queue.pop_front()
        {
            let is_named = named.contains(&id);
            running.push(visitor.visit(id, is_named));
        }
        let Some(visited) = running.next().await else {
            break;
        };
        done += 1;
        let Visited { id, outcome, found } = visited;
        report.failed.extend(found.unread);
        let new = found.ids.into_iter().filter(|id| seen.insert(id.clone()));
        queue.extend(new);
        let name = id.as_str().to_owned();
        match outcome {
            Outcome::Draft(draft) => drafts.push(*draft),
            Outcome::Passed => {}
            Outcome::Skipped(why) => report.skipped.push((name, why)),
            Outcome::Failed(why) => report.failed.push((name, why)),
        }
        let total = done + queue.len() + running.len();
        setting.progress.steps("resources are read", done, total);
    }
    report.imported = manifests(drafts, &setting.wanted);
    report.skipped.sort();
    report.failed.sort();
    report.requests = setting.reader.sent();
    report
}

struct Visitor<'a> {
    finder: Finder<'a>,
    known: &'a Known,
    setting: &'a Setting<'a>,
}

impl Visitor<'_> {
    /// Reads a resource and looks for what is below it. What was named and is not there has failed; what was only found has gone
    /// in the meantime.
    async fn visit(&self, id: ResourceId, is_named: bool) -> Visited {
        let outcome = self.read(&id).await;
        let outcome = match outcome {
            Outcome::Failed(why) if !is_named && why == Refused::Gone.to_string() => {
                Outcome::Skipped(why)
            }
            outcome => outcome,
        };
        let found = match outcome {
            Outcome::Draft(_) | Outcome::Passed => self.finder.below(&id, is_named).await,
            Outcome::Skipped(_) | Outcome::Failed(_) => Found::default(),
        };
        Visited { id, outcome, found }
    }

    async fn read(&self, id: &ResourceId) -> Outcome {
        let arm_type = id.arm_type();
        let is_subscription = id.as_str().matches('/').count() == 2;
        if is_subscription || !self.setting.types.keep(&arm_type) {
            return Outcome::Passed;
        }
        let Some(kind) = self.known.of_type(&arm_type) else {
            return Outcome::Failed(format!("there is no kind for the type {arm_type}"));
        };
        let version = match version(kind) {
            Some(version) if version.verbs.get => version,
            _ => return Outcome::Skipped(format!("Azure does not show resources of {arm_type}")),
        };
        let body = match self.setting.reader.get(&id.url(version.api_version)).await {
            Ok(body) => body,
            Err(why) => return Outcome::Failed(why.to_string()),
        };
        let resource = Resource {
            id: id.clone(),
            kind,
            version,
            body,
        };
        match draft(resource) {
            Ok(draft) => self.without_defaults(self.ask_kind(draft).await),
            Err(why) => Outcome::Failed(why),
        }
    }

    fn without_defaults(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Draft(mut draft) if !self.setting.with_defaults => {
                let descriptions = Descriptions::shared(draft.resource.kind.group);
                leave_out(&mut draft, &descriptions);
                Outcome::Draft(draft)
            }
            outcome => outcome,
        }
    }

    /// What the kind's importer says of it.
    async fn ask_kind(&self, draft: Draft) -> Outcome {
        let Resource {
            id, kind, version, ..
        } = &draft.resource;
        let points = self.setting.extensions.of(Kind(kind));
        if !points.has_importer() {
            return Outcome::Draft(Box::new(draft));
        }
        let object = match hub_object(&draft) {
            Ok(object) => object,
            Err(why) => return Outcome::Failed(why),
        };
        let cluster = Cluster::new(Arc::default(), Arc::default(), object.clone());
        let reading = Arc::new(Reading::new(self.setting.reader.transport()));
        let context = Context {
            resolver: Resolver::new(Arc::new(cluster), String::new()),
            access: ArmAccess::new(reading, self.setting.reader.credential()).into(),
            id: Some(id.clone()),
            api_version: version.api_version,
            owner: None,
            span: tracing::Span::none(),
            cancellation: CancellationToken::new(),
        };
        match points.import(&context, &object).await {
            Ok(Import::Succeeded) => Outcome::Draft(Box::new(draft)),
            Ok(Import::Skipped(why)) => Outcome::Skipped(why),
            Err(error) => Outcome::Failed(error.to_string()),
        }
    }
}

/// The object that would be made, with what Azure shows as its status.
fn hub_object(draft: &Draft) -> Result<Object, String> {
    let Resource {
        id,
        kind,
        version,
        body,
    } = &draft.resource;
    let object = json!({
        "apiVersion": format!("{}/{}", kind.group, version.name),
        "kind": kind.kind,
        "metadata": {"name": id.name()},
        "spec": draft.spec,
        "status": status_from_arm(version, body),
    });
    let mut stored = conversion::to_hub(kind, version.name, object).map_err(|e| e.to_string())?;
    let mut raw = |member: &str| to_raw_value(&stored[member].take()).map_err(|e| e.to_string());
    Ok(Object {
        kind: Kind(kind),
        metadata: ObjectMeta {
            name: Some(id.name().to_owned()),
            ..ObjectMeta::default()
        },
        spec: Some(raw("spec")?),
        status: Some(raw("status")?),
    })
}
