//! The course of a folder: applied, Ready, deleted, and nothing left in Azure.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use armature_controlplane::waiting::LIMIT;
use armature_e2e::{World, condition};
use armature_generated::KINDS;
use armature_runtime::id::ResourceId;
use armature_runtime::kind::KindInfo;
use armature_runtime::names::RESOURCE_ID;
use armature_simulator::ConnectionDecision;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, ValidationDirective};
use kube::core::GroupVersionKind;
use serde_json::Value;

use crate::folder::{Folder, Sample};
use crate::surroundings;

/// Least time between two looks at the objects of a folder.
const POLL: Duration = Duration::from_secs(1);

/// When nothing has changed in any folder for so long, and only samples are left that are known not to pass, they do not.
const QUIET_AS_EXPECTED: Duration = Duration::from_secs(10);

/// When anything changed last, in whichever folder: the API server and the operator work for all of them, and a busy
/// machine lets some folders wait for others.
#[derive(Debug)]
pub struct News(Mutex<Instant>);

impl News {
    /// From now on.
    pub fn new() -> Self {
        Self(Mutex::new(Instant::now()))
    }

    fn tell(&self) {
        *self.0.lock().unwrap() = Instant::now();
    }

    fn is_older_than(&self, limit: Duration) -> bool {
        self.0.lock().unwrap().elapsed() >= limit
    }
}

/// What is wrong with a sample.
#[derive(Debug)]
pub struct Problem {
    /// File of the sample.
    pub file: String,
    /// The object.
    pub object: String,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}: {}", self.file, self.object, self.what)
    }
}

/// What became of a folder.
#[derive(Debug)]
pub struct Course {
    name: String,
    /// Objects in Azure's kinds.
    pub objects: usize,
    ready: Duration,
    gone: Duration,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Course {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}: {} objects, Ready after {:.1} s, gone after {:.1} s",
            self.name,
            self.objects,
            self.ready.as_secs_f64(),
            self.gone.as_secs_f64()
        )?;
        match self.problems.len() {
            0 => Ok(()),
            count => write!(formatter, ", {count} problems"),
        }
    }
}

/// Runs a folder. `expected` are the files of samples that are known not to pass.
pub async fn run(
    world: &World,
    news: &News,
    folder: Folder,
    expected: &BTreeSet<String>,
) -> Course {
    let mut problems = Vec::new();
    prepare(world, &folder).await;
    let started = Instant::now();
    let stage = Stage {
        world,
        news,
        folder: &folder,
        expected,
    };
    let mut objects = Vec::new();
    for sample in &folder.samples {
        match stage.apply(sample).await {
            Ok(kind) => {
                news.tell();
                objects.extend(kind.map(|kind| (sample, kind)));
            }
            Err(what) => problems.push(problem(sample, what)),
        }
    }
    problems.extend(stage.wait_until_ready(&objects).await);
    let ready = started.elapsed();
    problems.extend(stage.delete(&objects).await);
    Course {
        objects: objects.len(),
        ready,
        gone: started.elapsed().saturating_sub(ready),
        problems,
        name: folder.name,
    }
}

async fn prepare(world: &World, folder: &Folder) {
    world.azure().add_subscription(&folder.subscription);
    world.create_namespace(&folder.namespace).await.unwrap();
    let mut objects = vec![surroundings::credential(folder)];
    objects.extend(surroundings::inputs(folder));
    for object in objects {
        surroundings::apply(world, folder, &object).await.unwrap();
    }
}

fn problem(sample: &Sample, what: String) -> Problem {
    Problem {
        file: sample.file.clone(),
        object: format!("{} {}", sample.kind_name(), sample.name()),
        what,
    }
}

/// Applies an object with strict validation: a member that the schema lacks is refused.
pub async fn apply_object(
    world: &World,
    namespace: &str,
    (group, version): (&str, &str),
    kind: &str,
    name: &str,
    object: &Value,
) -> kube::Result<()> {
    let gvk = GroupVersionKind::gvk(group, version, kind);
    let known = armature_generated::KINDS.iter();
    let known = known
        .filter(|info| info.group == group)
        .find(|info| info.kind == kind);
    let resource = match known {
        Some(info) => ApiResource::from_gvk_with_plural(&gvk, info.plural),
        None => ApiResource::from_gvk(&gvk),
    };
    let api: Api<DynamicObject> =
        Api::namespaced_with(world.client().clone(), namespace, &resource);
    let parameters = PatchParams {
        field_validation: Some(ValidationDirective::Strict),
        ..PatchParams::apply("samples").force()
    };
    api.patch(name, &parameters, &Patch::Apply(object))
        .await
        .map(drop)
}

/// A folder in its world.
struct Stage<'a> {
    world: &'a World,
    news: &'a News,
    folder: &'a Folder,
    expected: &'a BTreeSet<String>,
}

type Applied<'a> = (&'a Sample, &'static KindInfo);

impl Stage<'_> {
    /// Applies a sample; the kind that then has to become Ready.
    async fn apply(&self, sample: &Sample) -> Result<Option<&'static KindInfo>, String> {
        let (group, version) = sample.api_version();
        let is_served = match sample.kind {
            Some(kind) => kind.version(version).is_some(),
            None => group.is_empty(),
        };
        if !is_served {
            return Err(format!("{group}/{version} with this kind is not served"));
        }
        let (namespace, value) = (&self.folder.namespace, &sample.value);
        let (kind, name) = (sample.kind_name(), sample.name());
        let apply = || apply_object(self.world, namespace, (group, version), kind, name, value);
        let mut applied = apply().await;
        // A connection that is lost on a busy machine says nothing about the sample.
        for _ in 0..3 {
            if !matches!(
                applied,
                Err(kube::Error::Service(_) | kube::Error::HyperError(_))
            ) {
                break;
            }
            tokio::time::sleep(POLL).await;
            applied = apply().await;
        }
        match applied {
            Ok(()) => Ok(sample.kind),
            Err(kube::Error::Api(status)) => Err(format!("refused: {}", status.message)),
            Err(error) => Err(format!("not applied: {error}")),
        }
    }

    /// Waits until all are Ready, or nothing changes any more.
    async fn wait_until_ready(&self, objects: &[Applied<'_>]) -> Vec<Problem> {
        let is_over = |kind: &KindInfo, object: Option<Value>| {
            let object = object.unwrap_or_default();
            let ready = condition(&object, "Ready");
            if ready["status"] == "True" {
                return None;
            }
            self.approve(kind, &object);
            Some(shown(&ready))
        };
        let known = QUIET_AS_EXPECTED;
        self.wait(objects.to_vec(), "not Ready", known, is_over)
            .await
    }

    /// Waits until all are gone, or nothing changes any more.
    async fn wait_until_gone(&self, objects: Vec<Applied<'_>>) -> Vec<Problem> {
        let is_over = |_: &KindInfo, object: Option<Value>| {
            let object = object?;
            Some(shown(&condition(&object, "Ready")))
        };
        self.wait(objects, "not deleted", LIMIT, is_over).await
    }

    /// Looks at objects until `state` says of none what it is in, or nothing changes any more: for `known` where only samples
    /// are left that are known not to pass.
    async fn wait(
        &self,
        objects: Vec<Applied<'_>>,
        what: &str,
        known: Duration,
        state: impl Fn(&KindInfo, Option<Value>) -> Option<String>,
    ) -> Vec<Problem> {
        let mut left: Vec<(Applied<'_>, String)> = objects
            .into_iter()
            .map(|object| (object, String::new()))
            .collect();
        while !left.is_empty() && !self.is_quiet(&left, known) {
            let started = Instant::now();
            let mut pending = Vec::new();
            for ((sample, kind), told) in left {
                let object = self.get(sample, kind).await;
                let Some(now) = state(kind, object) else {
                    self.news.tell();
                    continue;
                };
                if now != told {
                    self.news.tell();
                }
                pending.push(((sample, kind), now));
            }
            left = pending;
            // Most of the time is for those who do the work.
            tokio::time::sleep(POLL.max(started.elapsed())).await;
        }
        let left = left.into_iter();
        left.map(|((sample, _), told)| problem(sample, format!("{what}: {told}")))
            .collect()
    }

    fn is_quiet(&self, left: &[(Applied<'_>, String)], known: Duration) -> bool {
        let mut samples = left.iter().map(|((sample, _), _)| sample);
        let as_expected = samples.all(|sample| self.expected.contains(&sample.file));
        self.news.is_older_than(match as_expected {
            true => known,
            false => LIMIT,
        })
    }

    /// Does what the owner of a private link service does.
    fn approve(&self, kind: &KindInfo, object: &Value) {
        let id = &object["metadata"]["annotations"][RESOURCE_ID];
        if let ("PrivateEndpoint", Some(id)) = (kind.kind, id.as_str()) {
            // There is nothing to approve before the endpoint is there, and nothing where none is asked.
            let _ = self.world.azure().decide_connections(&ConnectionDecision {
                endpoint: id.to_owned(),
                connection: None,
                status: "Approved".to_owned(),
                description: None,
            });
        }
    }

    /// Deletes everything: first what is in resource groups, so that each is deleted by itself, then the rest.
    async fn delete(&self, objects: &[Applied<'_>]) -> Vec<Problem> {
        let is_group = |(_, kind): &Applied<'_>| kind.kind == "ResourceGroup";
        let (groups, others): (Vec<_>, Vec<_>) = objects.iter().copied().partition(is_group);
        let mut problems = Vec::new();
        for objects in [others, groups] {
            problems.extend(self.delete_all(objects).await);
        }
        let below = format!("/subscriptions/{}/", self.folder.subscription);
        let ids = self.world.azure().ids().into_iter();
        let left = ids.filter(|id| id.starts_with(&below) && !is_kept(id));
        problems.extend(left.map(|id| Problem {
            file: self.folder.name.clone(),
            object: id,
            what: "is still in Azure".to_owned(),
        }));
        problems
    }

    async fn delete_all(&self, objects: Vec<Applied<'_>>) -> Vec<Problem> {
        for (sample, kind) in objects.iter().rev() {
            // One that is gone already is as it should be; another error shows when it stays.
            let _ = self
                .api(kind)
                .delete(sample.name(), &Default::default())
                .await;
        }
        // Whatever kept the folder from being Ready is over.
        self.news.tell();
        self.wait_until_gone(objects).await
    }

    /// The object as it is stored; `None` when it is not there.
    async fn get(&self, sample: &Sample, kind: &KindInfo) -> Option<Value> {
        let found = self.api(kind).get_opt(sample.name()).await;
        match found {
            Ok(object) => object.map(|object| serde_json::to_value(object).unwrap()),
            // The API server may be busy; the object is looked at again.
            Err(_) => Some(Value::Null),
        }
    }

    fn api(&self, kind: &KindInfo) -> Api<DynamicObject> {
        let gvk = GroupVersionKind::gvk(kind.group, kind.hub.storage_version, kind.kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, kind.plural);
        Api::namespaced_with(
            self.world.client().clone(),
            &self.folder.namespace,
            &resource,
        )
    }
}

/// A condition in a line.
/// Whether Azure keeps the resource, because it cannot delete any of its type: its object is let go.
fn is_kept(id: &str) -> bool {
    let Ok(id) = ResourceId::parse(id) else {
        return false;
    };
    let mut kinds = KINDS.iter().filter(|kind| id.has_type(kind.remote_type()));
    kinds.any(|kind| kind.versions.iter().all(|version| !version.verbs.delete))
}

fn shown(condition: &Value) -> String {
    let text = |name: &str| condition[name].as_str().unwrap_or_default();
    match text("reason") {
        "" => "no condition".to_owned(),
        reason => format!("{reason}: {}", text("message")),
    }
}
