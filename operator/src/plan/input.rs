//! Which objects are planned, and which are only seen by others.

use std::collections::{BTreeMap, BTreeSet};

use armature_runtime::kind::KindInfo;
use armature_runtime::reconcile::port::KubernetesError;
use armature_runtime::resource::{Object, ObjectKey};
use futures::{StreamExt, stream};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use crate::worlds::applied::dry_run::Verdict;
use crate::worlds::applied::{Live, merge};
use crate::worlds::manifests::inventory::Manifests;
use crate::worlds::manifests::manifest::Document;
use crate::worlds::manifests::problem::Problem;
use crate::worlds::manifests::relevant::relevant;

/// Manifests that the API server is asked about at a time.
const AT_A_TIME: usize = 16;

/// What is planned.
#[derive(Default)]
pub struct Input {
    /// Manifests to apply.
    pub documents: Vec<Document>,
    /// Namespace of manifests that name none.
    pub namespace: Option<String>,
    /// The cluster to apply them to, or to plan where there are none.
    pub live: Option<Live>,
    /// Objects of the cluster that are in no manifest go, in the namespaces of the manifests.
    pub prune: Option<Prune>,
}

/// Which objects go when they are in no manifest.
#[derive(Clone, Debug, Default)]
pub struct Prune {
    /// Labels that they have.
    pub labels: BTreeMap<String, String>,
}

/// The objects of a plan.
pub struct Gathered {
    /// The manifests.
    pub manifests: Manifests,
    /// Objects to be planned, in the order of the inputs.
    pub planned: Vec<Object>,
    /// Objects to be planned because they go.
    pub going: Vec<Object>,
    /// What runs beside them.
    pub beside: Vec<Object>,
    /// Why an API server would not take a manifest, by object.
    pub refused: BTreeMap<String, Vec<Problem>>,
    /// What may be a slip of a manifest, by object.
    pub warnings: BTreeMap<String, Vec<Problem>>,
    /// Why the API server of the cluster would not take a manifest, by object.
    pub denied: BTreeMap<String, String>,
    /// What is wrong beside the objects.
    pub problems: Vec<String>,
    /// What the plan could not find out.
    pub notes: Vec<String>,
}

impl Input {
    /// Puts manifests and cluster together.
    ///
    /// # Errors
    /// When the cluster cannot be read.
    pub async fn gather(
        &self,
        kinds: &[&'static KindInfo],
        now: Timestamp,
    ) -> Result<Gathered, KubernetesError> {
        let documents = relevant(&self.documents, kinds, self.namespace.as_deref());
        let (manifests, problems) = Manifests::with_pauses(&documents, kinds);
        let mut problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let mut running = BTreeMap::new();
        if let Some(live) = &self.live {
            let (objects, unlisted) = live.objects(kinds).await?;
            problems.extend(unlisted);
            let named = objects
                .into_iter()
                .map(|object| (title(&object.key()), object));
            running.extend(named);
        }
        let mut gathered = Gathered {
            manifests,
            planned: Vec::new(),
            going: Vec::new(),
            beside: Vec::new(),
            refused: BTreeMap::new(),
            warnings: BTreeMap::new(),
            denied: BTreeMap::new(),
            problems,
            notes: Vec::new(),
        };
        if self.documents.is_empty() {
            gathered.planned = running.into_values().collect();
            return Ok(gathered);
        }
        for resource in gathered.manifests.resources() {
            let title = title(&resource.object.key());
            gathered.planned.push(match running.remove(&title) {
                Some(live) => merge::applied(&resource.object, &live),
                None => created(&resource.object, now),
            });
            if !resource.warnings.is_empty() {
                let warnings = resource.warnings.clone();
                gathered.warnings.insert(title.clone(), warnings);
            }
            if !resource.problems.is_empty() {
                gathered.refused.insert(title, resource.problems.clone());
            }
        }
        self.divide(running.into_values(), &mut gathered, now);
        if let Some(live) = &self.live {
            ask_admission(live, &documents, &mut gathered).await;
        }
        Ok(gathered)
    }

    /// What runs and is in no manifest goes or stays.
    fn divide(
        &self,
        running: impl Iterator<Item = Object>,
        gathered: &mut Gathered,
        now: Timestamp,
    ) {
        let namespaces: BTreeSet<String> = gathered.manifests.namespaces();
        let goes = |object: &Object| {
            let none = BTreeMap::new();
            let labels = object.metadata.labels.as_ref().unwrap_or(&none);
            self.prune.as_ref().is_some_and(|prune| {
                let mut wanted = prune.labels.iter();
                namespaces.contains(&object.key().namespace)
                    && wanted.all(|(name, text)| labels.get(name) == Some(text))
            })
        };
        for mut object in running {
            if goes(&object) {
                let time = &mut object.metadata.deletion_timestamp;
                time.get_or_insert_with(|| Time(now));
                gathered.going.push(object);
            } else {
                gathered.beside.push(object);
            }
        }
    }
}

/// Asks the API server what it would say to the manifests that have nothing wrong about themselves.
async fn ask_admission(live: &Live, documents: &[Document], gathered: &mut Gathered) {
    let sound = gathered
        .manifests
        .resources()
        .iter()
        .filter_map(|resource| {
            let key = resource.object.key();
            // The items of a list have one origin.
            let is_this = |document: &&Document| {
                let text = |member: &str| document.value[member].as_str();
                document.origin == resource.origin
                    && text("kind") == Some(key.kind.0.kind)
                    && document.value["metadata"]["name"] == key.name.as_str()
                    && text("apiVersion")
                        .is_some_and(|version| version.starts_with(key.kind.0.group))
            };
            let document = documents.iter().find(is_this)?;
            resource.problems.is_empty().then_some((resource, document))
        });
    let asked = sound.map(|(resource, document)| async move {
        let key = resource.object.key();
        (resource, live.dry_run(&key, &document.value).await)
    });
    let mut answers = stream::iter(asked).buffered(AT_A_TIME);
    let (mut denied, mut unknown, mut first) = (BTreeMap::new(), 0, None);
    while let Some((resource, verdict)) = answers.next().await {
        match verdict {
            Verdict::Taken => {}
            Verdict::Refused(why) => {
                denied.insert(title(&resource.object.key()), why);
            }
            Verdict::Unknown(why) => {
                unknown += 1;
                first.get_or_insert(why);
            }
        }
    }
    drop(answers);
    gathered.denied = denied;
    gathered.notes.extend(first.map(|why| {
        format!("whether the API server admits {unknown} of the manifests is not known: {why}")
    }));
}

/// An object that an API server makes now: whoever runs already is older.
fn created(object: &Object, now: Timestamp) -> Object {
    let mut object = object.clone();
    object.metadata.creation_timestamp = Some(Time(now));
    object
}

/// Group, kind, namespace and name as one text.
pub fn title(key: &ObjectKey) -> String {
    format!("{}/{key}", key.kind.0.group)
}
