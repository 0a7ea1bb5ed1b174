//! From inputs to a plan.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use armature_progress::Progress;
use armature_runtime::azure::budget::{Budget, Limit, Limits};
use armature_runtime::azure::credential::OperatorIdentity;
use armature_runtime::azure::{Client, ClientSettings};
use armature_runtime::engine::compare::DigestKey;
use armature_runtime::extension::Registry;
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, OwnerRule};
use armature_runtime::reconcile::claim;
use armature_runtime::reconcile::condition::reason;
use armature_runtime::reconcile::driver::Settings;
use armature_runtime::reconcile::time::{Clock, Time};
use armature_runtime::resource::{Object, ObjectKey};
use futures::{StreamExt, stream};
use serde_json::Value;

use super::edits;
use super::input::{Gathered, Input, title};
use super::left_out::{beside_the_told, items, left_alone, left_out};
use super::look::{Azure, Look, Looker, settings};
use super::order::{Order, exported};
use super::outcome::{Beside, Outcome, outcome, went_along};
use super::resource::{Action, FORMAT, Name, Plan, Resource};
use crate::installation::Found;
use crate::installation::variables::Variables;
use crate::transports::reading::{NOBODY, Reading};
use crate::worlds::applied::state::Parts;
use crate::worlds::applied::{Applied, Known};
use crate::worlds::manifests::problem::Problem;

/// The way to Azure.
#[derive(Clone, Debug)]
pub enum Way {
    /// Azure is asked.
    Azure(Box<ClientSettings>),
    /// Nobody is asked; every credential is for this subscription.
    Offline(String),
}

/// What is known beside the input.
pub struct Setting<'a> {
    /// The kinds that there are.
    pub kinds: &'a [&'static KindInfo],
    /// Extensions of the kinds.
    pub extensions: Registry,
    /// The way to Azure.
    pub way: Way,
    /// Namespace of the operator that would carry it out.
    pub operator_namespace: String,
    /// What that operator would be told, where it is not what the one in the cluster is told.
    pub told: Option<Variables>,
    /// Requests that Azure takes.
    pub limits: Limits,
    /// Objects that are looked at at a time.
    pub parallel: usize,
    /// The time.
    pub time: Time,
    /// Where to tell how far it is.
    pub progress: Progress,
}

/// More than any plan asks for.
pub const UNLIMITED: Limits = {
    let none = Limit {
        size: 1e12,
        per_second: 1e12,
    };
    Limits {
        reads: none,
        writes: none,
        deletes: none,
    }
};

/// What would happen.
///
/// # Errors
/// When the cluster cannot be read, or there is no way to Azure.
pub async fn plan(input: &Input, setting: &Setting<'_>) -> anyhow::Result<Plan> {
    let now = setting.time.now();
    setting.progress.update("reading what there is");
    let mut gathered = input.gather(setting.kinds, now).await?;
    let refused = std::mem::take(&mut gathered.refused);
    let warnings = std::mem::take(&mut gathered.warnings);
    let mut problems = std::mem::take(&mut gathered.problems);
    let mut notes = std::mem::take(&mut gathered.notes);
    let (settings, namespaces) = as_told(input, setting, &mut notes).await?;
    let denied = std::mem::take(&mut gathered.denied);
    let (planned, going) = (gathered.planned.clone(), gathered.going.clone());
    let digest_key = digest_key(input, setting, &mut problems).await;
    let world = world(input, setting, gathered, digest_key).await?;
    let azure = azure(setting, &world)?;
    let planner = Planner {
        looker: Looker {
            world,
            azure,
            extensions: setting.extensions.clone(),
            // Requests wait where they are sent.
            budget: Arc::new(Budget::new(UNLIMITED)),
            time: setting.time,
            settings,
        },
        setting,
        refused,
        warnings,
        denied,
        namespaces,
        has_cluster: input.live.is_some(),
        keys: planned.iter().chain(&going).map(Object::key).collect(),
    };
    let resources = planner.resources(&planned, going).await;
    if let Azure::Asked(reading) = &planner.looker.azure
        && reading.unsigned() > 0
    {
        problems.push(format!(
            "{NOBODY}, or put a Secret with a credential among the manifests; --offline asks nobody"
        ));
    }
    Ok(Plan {
        format: FORMAT.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        offline: matches!(setting.way, Way::Offline(_)),
        requests: match &planner.looker.azure {
            Azure::Asked(reading) => reading.sent(),
            Azure::Unasked { .. } => 0,
        },
        resources,
        problems,
        notes,
    })
}

/// What the operator's configuration says: that of the cluster, where there is one, and nobody gave another. With the namespaces
/// whose objects it manages; all where there are none.
async fn as_told(
    input: &Input,
    setting: &Setting<'_>,
    notes: &mut Vec<String>,
) -> anyhow::Result<(Settings, BTreeSet<String>)> {
    let mut settings = settings(&setting.operator_namespace);
    let variables = match (&setting.told, &input.live) {
        (Some(told), _) => told.clone(),
        (None, Some(live)) => {
            let operator = Found::read(live, Some(&setting.operator_namespace)).await;
            let operator = operator.with_counted(live).await;
            notes.extend(operator.unread());
            operator.variables
        }
        (None, None) => Variables::default(),
    };
    variables.set(&mut settings)?;
    Ok((settings, variables.target_namespaces()))
}

/// The way on which the plan asks Azure, or none.
fn azure(setting: &Setting<'_>, world: &Arc<Applied>) -> anyhow::Result<Azure> {
    let settings = match &setting.way {
        Way::Offline(subscription) => {
            return Ok(Azure::Unasked {
                subscription: subscription.clone(),
            });
        }
        Way::Azure(settings) => settings,
    };
    let client = Client::new(settings.as_ref().clone(), world.clone())?;
    let budget = Arc::new(Budget::new(setting.limits));
    let is_signed_in = !matches!(settings.identity, OperatorIdentity::Fixed(None));
    let reading = Reading::new(Arc::new(client)).within(budget, setting.time, is_signed_in);
    Ok(Azure::Asked(Arc::new(reading)))
}

/// The key of the digests in objects. Without it nothing is known of earlier PUTs, and the direct comparison decides.
async fn digest_key(input: &Input, setting: &Setting<'_>, problems: &mut Vec<String>) -> DigestKey {
    let Some(live) = &input.live else {
        return DigestKey::random();
    };
    match live.digest_key(&setting.operator_namespace).await {
        Ok(Some(key)) => key,
        Ok(None) => DigestKey::random(),
        Err(error) => {
            problems.push(format!(
                "{error}; what the operator has sent before is not known, so only what Azure shows counts. \
                 --operator-namespace says where the operator is"
            ));
            DigestKey::random()
        }
    }
}

async fn world(
    input: &Input,
    setting: &Setting<'_>,
    gathered: Gathered,
    digest_key: DigestKey,
) -> anyhow::Result<Arc<Applied>> {
    let Gathered {
        manifests,
        planned,
        going,
        beside,
        ..
    } = gathered;
    let exported = exported(planned.iter().chain(&beside));
    let objects = planned.into_iter().chain(going).chain(beside).collect();
    let parts = Parts {
        kinds: setting.kinds.to_vec(),
        manifests,
        live: input.live.clone(),
        objects,
        exported,
        digest_key,
    };
    Ok(Arc::new(Applied::new(parts).await?))
}

struct Planner<'a> {
    looker: Looker,
    setting: &'a Setting<'a>,
    refused: BTreeMap<String, Vec<Problem>>,
    warnings: BTreeMap<String, Vec<Problem>>,
    denied: BTreeMap<String, String>,
    /// Namespaces whose objects the operator manages; all where there are none.
    namespaces: BTreeSet<String>,
    has_cluster: bool,
    /// All that the plan is about.
    keys: HashSet<ObjectKey>,
}

impl Planner<'_> {
    /// What would happen to each: first what is wanted, owners before what they own; then what goes, in the other order.
    async fn resources(&self, planned: &[Object], going: Vec<Object>) -> Vec<Resource> {
        let order = Order::of(planned);
        let parallel = self.setting.parallel;
        self.looker.find_places(planned, &order, parallel).await;
        let total = planned.len() + going.len();
        let mut found: HashMap<ObjectKey, Resource> = HashMap::new();
        for turn in &order.turns {
            let objects = turn.iter().map(|position| &planned[*position]);
            self.take_turn(objects, total, &mut found).await;
        }
        let leaving = Order::of(&going);
        self.take_turn(going.iter(), total, &mut found).await;
        self.look_for_those_that_go_along(&going, &mut found).await;
        let first = order.sequence.iter().map(|position| &planned[*position]);
        let last = leaving
            .sequence
            .iter()
            .rev()
            .map(|position| &going[*position]);
        first
            .chain(last)
            .filter_map(|object| found.remove(&object.key()))
            .collect()
    }

    /// What Azure does not delete by itself goes with its owner, where that is deleted.
    async fn look_for_those_that_go_along(
        &self,
        going: &[Object],
        found: &mut HashMap<ObjectKey, Resource>,
    ) {
        let Azure::Asked(reading) = &self.looker.azure else {
            return;
        };
        for one in found.values().filter(|one| one.action == Action::Delete) {
            let id = one.id.as_ref().and_then(|id| ResourceId::parse(id).ok());
            if let Some(id) = id {
                reading.assume_gone(&id);
            }
        }
        for key in going.iter().map(Object::key) {
            let Some(one) = found.get_mut(&key) else {
                continue;
            };
            if one.reason.as_deref() != Some(reason::DELETION_NOT_SUPPORTED) {
                continue;
            }
            if let Some(outcome) = went_along(self.looker.look(&key).await) {
                (one.action, one.reason) = (outcome.action, outcome.reason);
                one.message = outcome.message;
            }
        }
    }

    async fn take_turn<'o>(
        &self,
        objects: impl Iterator<Item = &'o Object>,
        total: usize,
        found: &mut HashMap<ObjectKey, Resource>,
    ) {
        let looks = objects.map(|object| async move {
            let key = object.key();
            let is_looked_at = self.is_managed(&key) && !self.refused.contains_key(&title(&key));
            let look = match is_looked_at {
                true => Some(self.looker.look(&key).await),
                false => None,
            };
            (object, look)
        });
        let mut looks = stream::iter(looks).buffer_unordered(self.setting.parallel);
        while let Some((object, look)) = looks.next().await {
            let resource = self.resource(object, look, found);
            found.insert(object.key(), resource);
            let progress = &self.setting.progress;
            progress.steps("objects are planned", found.len(), total);
        }
    }

    fn resource(
        &self,
        object: &Object,
        look: Option<Look>,
        found: &HashMap<ObjectKey, Resource>,
    ) -> Resource {
        let key = object.key();
        let owner = self.owner(object).filter(|owner| self.keys.contains(owner));
        let places = self.looker.world.places();
        let place = places.get(&key);
        let recorded = claim::resource_id(object);
        let edits = edits::of(key.kind.0);
        let beside = Beside {
            edits: &edits,
            offline: matches!(self.looker.azure, Azure::Unasked { .. }),
            moved_from: recorded.filter(|recorded| {
                place.is_some_and(|place| !place.as_str().eq_ignore_ascii_case(recorded))
            }),
            place,
            has_cluster: self.has_cluster,
            owner: owner
                .as_ref()
                .and_then(|owner| Some(found.get(owner)?.action)),
        };
        let left_out = look.as_ref().map(|look| left_out(key.kind.0, look));
        let left_alone = look.as_ref().map(left_alone);
        let outside = look
            .as_ref()
            .and_then(|look| look.foresight.as_ref().ok()?.outside.clone());
        let items = look.as_ref().map(items);
        let assumed = look.as_ref().map(|look| look.notes.assumed.clone());
        let outcome = match look {
            Some(look) => self.admitted(&key, outcome(look, beside)),
            None if self.refused.contains_key(&title(&key)) => self.invalid(&key),
            None => self.others(&key),
        };
        self.teach(object, &outcome);
        Resource {
            name: name(&key),
            action: outcome.action,
            id: outcome.id.as_ref().map(|id| id.as_str().to_owned()),
            owner: owner.as_ref().map(name),
            reason: outcome.reason,
            message: outcome.message,
            left_out: beside_the_told(left_out.unwrap_or_default(), &outcome.properties),
            properties: outcome.properties,
            left_alone: left_alone.unwrap_or_default(),
            assumed: assumed.unwrap_or_default(),
            warnings: told_of(&self.warnings, &key)
                .into_iter()
                .chain(outside)
                .chain(items.into_iter().flatten())
                .collect(),
        }
    }

    fn is_managed(&self, key: &ObjectKey) -> bool {
        self.namespaces.is_empty() || self.namespaces.contains(&key.namespace)
    }

    fn others(&self, key: &ObjectKey) -> Outcome {
        let names: Vec<&str> = self.namespaces.iter().map(String::as_str).collect();
        Outcome::held(&format!(
            "namespace {} is none of those whose objects the operator manages (AZURE_TARGET_NAMESPACES: {})",
            key.namespace,
            names.join(", ")
        ))
    }

    fn invalid(&self, key: &ObjectKey) -> Outcome {
        Outcome::blocked("Invalid", told_of(&self.refused, key).join("\n"))
    }

    /// What the API server of the cluster says to the manifest, where the pass has nothing against it: what cannot change is told
    /// better by the pass.
    fn admitted(&self, key: &ObjectKey, outcome: Outcome) -> Outcome {
        match (self.denied.get(&title(key)), outcome.action) {
            (None, _) | (_, Action::Replace | Action::Blocked) => outcome,
            (Some(why), _) => {
                Outcome::blocked("Refused", format!("the API server refuses it: {why}"))
            }
        }
    }

    /// Tells the world what those find that build on the object.
    fn teach(&self, object: &Object, outcome: &Outcome) {
        let key = object.key();
        let world = &self.looker.world;
        let id = outcome.id.clone();
        match (outcome.action, id) {
            (Action::Delete | Action::Release, _) => {}
            (Action::Create | Action::Send, Some(id)) => {
                if let (Azure::Asked(reading), Some(id)) = (&self.looker.azure, id.arm()) {
                    reading.assume(id);
                }
                world.learn(&key, Known::Ready(id));
            }
            (Action::Update | Action::Replace | Action::Adopt | Action::Unchanged, Some(id)) => {
                world.learn(&key, Known::Ready(id));
            }
            // What was there before it was held is there still.
            (Action::Held, Some(id)) if claim::resource_id(object).is_some() => {
                world.learn(&key, Known::Ready(id));
            }
            _ => {
                let reason = outcome.reason.clone().unwrap_or_default();
                world.learn(&key, Known::Blocked(reason));
            }
        }
    }

    /// The owner that the object names in the cluster.
    fn owner(&self, object: &Object) -> Option<ObjectKey> {
        let spec: Value = serde_json::from_str(object.spec.as_ref()?.get()).ok()?;
        let owner = &spec["owner"];
        let text = |member: &str| owner[member].as_str();
        let (group, kind) = match object.kind.0.owner {
            OwnerRule::Kind { group, kind } => (group, kind),
            OwnerRule::Any => (text("group")?, text("kind")?),
            OwnerRule::None => return None,
        };
        let kind = self.looker.world.kind(group, kind)?;
        Some(ObjectKey {
            kind: armature_runtime::resource::Kind(kind),
            namespace: object.key().namespace,
            name: text("name")?.to_owned(),
        })
    }
}

/// What is told of an object, which is named above it.
fn told_of(problems: &BTreeMap<String, Vec<Problem>>, key: &ObjectKey) -> Vec<String> {
    let unnamed = |problem: &Problem| {
        let unnamed = Problem {
            object: None,
            ..problem.clone()
        };
        unnamed.to_string()
    };
    let problems = problems.get(&title(key)).into_iter().flatten();
    problems.map(unnamed).collect()
}

fn name(key: &ObjectKey) -> Name {
    Name {
        group: key.kind.0.group.to_owned(),
        kind: key.kind.0.kind.to_owned(),
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    }
}
