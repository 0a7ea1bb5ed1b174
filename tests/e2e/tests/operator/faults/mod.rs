//! Every fault at every step of a create, an update and a deletion: the object ends ready or deleted, nothing is
//! written more often than needed, and nothing is left in Azure.
//!
//! Each fault and each position has an object; all live at the same time, under an operator of their own whose time
//! passes faster. A step is a request that the operator sends for the object: to Azure, or to the API server through
//! a proxy. The steps are counted on objects that nothing happens to. An object that needs fewer of them on a busy machine
//! (Azure has ended before the operator says that it waits) is not hit at its last step; few may be so.
//!
//! | module | what lives here |
//! |---|---|
//! | `azure` | what goes wrong in Azure |
//! | `proxy` | what goes wrong between the operator and the API server |
//! | `relay` | connections to the API server that fall silent |
//! | `seeded` | not one by one, but drawn from a seed, with several kinds at once |

mod azure;
pub(crate) mod proxy;
pub(crate) mod relay;
mod seeded;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use armature::{Operator, OperatorConfig};
use armature_controlplane::waiting::until_ended;
use armature_e2e::{Objects, World, condition, kind_info};
use armature_runtime::reconcile::time::Time;
use armature_simulator::{Failure, LoggedRequest, Query};
use futures::future::try_join_all;
use kube::api::ListParams;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use self::azure::Fault;
use self::proxy::{Harm, Proxy};
use crate::{LIMIT, SUBSCRIPTION};

const NAMESPACE: &str = "faults";
const KIND: &str = "NetworkSecurityGroup";
const GROUP: &str = "faults-rg";

/// By how much faster the operator's time passes.
const SPEED: u32 = 50;

/// Longer than any test, at such speeds too.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Objects that nothing happens to.
const FREE: usize = 3;

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Create,
    Update,
    Delete,
}

const PHASES: [Phase; 3] = [Phase::Create, Phase::Update, Phase::Delete];

#[derive(Clone, Copy)]
enum Trouble {
    Nothing,
    Azure(Fault),
    Kubernetes(Harm),
}

impl Trouble {
    fn name(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Azure(fault) => fault.name.to_owned(),
            Self::Kubernetes(harm) => format!("API server: {harm:?}"),
        }
    }
}

/// An object with what happens to it at one step of each phase.
#[derive(Clone)]
struct Case {
    name: String,
    trouble: Trouble,
    position: usize,
}

impl Case {
    fn azure_path(&self) -> String {
        format!(
            "{SUBSCRIPTION}/resourceGroups/{GROUP}/providers/Microsoft.Network/networkSecurityGroups/{}",
            self.name
        )
    }

    fn kubernetes_path(&self) -> String {
        let info = kind_info(KIND);
        let version = info.hub.storage_version;
        format!(
            "/apis/{}/{version}/namespaces/{NAMESPACE}/{}/{}",
            info.group, info.plural, self.name
        )
    }
}

/// Steps of a phase: the requests that Azure and the API server get for an object.
#[derive(Clone, Debug, Default)]
struct Steps {
    azure: Vec<String>,
    kubernetes: Vec<String>,
}

/// What came of a step at which something was to happen, once the phase has ended as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Hit,
    /// The phase had fewer steps this time.
    NotReached,
}

/// The objects as the API server has them, looked up for all at once.
type Board = watch::Receiver<Arc<BTreeMap<String, Value>>>;

#[derive(Clone)]
struct Stage {
    world: &'static World,
    objects: Objects,
    proxy: Proxy,
    board: Board,
}

impl Stage {
    /// Lets a phase begin; the generation that the object has then.
    async fn begin(&self, phase: Phase, case: &Case) -> Result<Option<i64>, String> {
        let stage = match phase {
            Phase::Create => "one",
            Phase::Update => "two",
            Phase::Delete => {
                let deleted = self.objects.delete(KIND, &case.name).await;
                return deleted.map(|()| None).map_err(|error| error.to_string());
            }
        };
        let manifest = json!({
            "apiVersion": "network.azure.com/v1api20201101",
            "kind": KIND,
            "metadata": metadata(&case.name),
            "spec": {"location": "westeurope", "owner": {"name": GROUP}, "tags": {"stage": stage}},
        });
        let applied = self.objects.apply_value(&manifest).await;
        let applied = applied.map_err(|error| error.to_string())?;
        Ok(applied.metadata.generation)
    }

    /// Waits until the object is ready as it is in this generation, or gone when it has none.
    async fn end(&self, case: &Case, generation: Option<i64>) -> Result<(), String> {
        let mut board = self.board.clone();
        let has_ended = |objects: &Arc<BTreeMap<String, Value>>| {
            let object = objects.get(&case.name);
            match generation {
                None => object.is_none(),
                Some(generation) => object.is_some_and(|object| is_ready(object, generation)),
            }
        };
        let waited = tokio::time::timeout(LIMIT, board.wait_for(has_ended)).await;
        if waited.is_ok() {
            return Ok(());
        }
        let last = self.board.borrow().get(&case.name).cloned();
        let last = last.map(|object| condition(&object, "Ready"));
        Err(format!("not ended within {LIMIT:?}: {last:?}"))
    }

    fn now(&self) -> u64 {
        let all = self.world.azure().requests(&Query::default());
        all.last().map_or(0, |request| request.sequence)
    }

    /// One phase of one object. `None` when nothing was to happen to it.
    async fn run(
        &self,
        phase: Phase,
        case: &Case,
        steps: &Steps,
    ) -> Option<Result<Outcome, String>> {
        let before = self.now();
        let (is_due, rule) = self.prepare(phase, case, steps);
        let ended = async {
            let generation = self.begin(phase, case).await?;
            if let (Trouble::Azure(fault), Some(_)) = (case.trouble, rule)
                && fault.is_endless()
            {
                self.give_up(case).await;
            }
            self.end(case, generation).await
        };
        if let Err(why) = ended.await {
            return Some(Err(why));
        }
        let requests = self.requests(case, before);
        let hit = requests
            .iter()
            .find(|one| rule.is_some() && one.fault == rule);
        let was_harmed = match case.trouble {
            Trouble::Kubernetes(_) => {
                self.proxy.seen(&case.kubernetes_path()).len() > case.position
            }
            _ => hit.is_some(),
        };
        match self.judge(phase, case, &requests, hit) {
            Err(why) => Some(Err(why)),
            Ok(()) if is_due && !was_harmed => Some(Ok(Outcome::NotReached)),
            Ok(()) => is_due.then_some(Ok(Outcome::Hit)),
        }
    }

    /// Has the phase's trouble ready: whether there is any, and the number of its rule of the simulator.
    fn prepare(&self, phase: Phase, case: &Case, steps: &Steps) -> (bool, Option<u64>) {
        let object = case.kubernetes_path();
        self.proxy.forget(&object);
        match case.trouble {
            Trouble::Azure(fault) => {
                let path = case.azure_path();
                let rule = fault.rule(phase, &path, &steps.azure, case.position);
                let rule = rule.map(|rule| self.world.azure().add_fault(rule));
                (rule.is_some(), rule)
            }
            Trouble::Kubernetes(harm) => {
                let is_due = case.position < steps.kubernetes.len();
                if is_due {
                    self.proxy.harm(&object, case.position, harm);
                }
                (is_due, None)
            }
            Trouble::Nothing => (false, None),
        }
    }

    /// What Azure was asked, and whether it is as it should be there.
    fn judge(
        &self,
        phase: Phase,
        case: &Case,
        requests: &[LoggedRequest],
        hit: Option<&LoggedRequest>,
    ) -> Result<(), String> {
        let mut writes: Vec<_> = requests.iter().filter(|one| one.method != "GET").collect();
        let mut needed = 1;
        if let (Trouble::Azure(fault), Some(hit)) = (case.trouble, hit) {
            writes.retain(|one| !(fault.refuses() && one.sequence == hit.sequence));
            needed += fault.more_writes;
        }
        let at_most = needed + usize::from(may_be_sent_again(phase, case, hit));
        if !(needed..=at_most).contains(&writes.len()) {
            let (writes, requests) = (writes.len(), shown(requests));
            return Err(format!("{writes} writes, {needed} needed: {requests:?}"));
        }
        let is_there = self.world.azure().resource(&case.azure_path()).is_some();
        if is_there == (phase == Phase::Delete) {
            return Err(format!("the resource is in Azure: {is_there}"));
        }
        Ok(())
    }

    /// Waits until the operator has followed an operation for a while, and lets Azure end it.
    async fn give_up(&self, case: &Case) {
        let path = case.azure_path();
        let failure = Failure {
            code: "OperationTimedOut".to_owned(),
            message: "The operation took too long.".to_owned(),
        };
        tokio::time::sleep(Duration::from_secs(2)).await;
        let azure = self.world.azure();
        let ended = || azure.fail_operations(&path, &failure).expect("an ARM id");
        until_ended("an operation to be started", async {
            while ended() == 0 {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        })
        .await;
    }

    /// Requests for the resource, and polls of its operations, since a moment of the log.
    fn requests(&self, case: &Case, after: u64) -> Vec<LoggedRequest> {
        let query = Query {
            after: Some(after),
            ..Query::default()
        };
        let path = case.azure_path();
        let concerns = |text: &str| text.eq_ignore_ascii_case(&path);
        let mut all = self.world.azure().requests(&query);
        all.retain(|one| concerns(&one.path) || one.subject.as_deref().is_some_and(concerns));
        all
    }

    /// The steps that each phase always has: those of the object that needs the fewest. A conflict with the test's own write
    /// costs one more.
    async fn count(&self) -> Result<[Steps; 3], String> {
        // Soon after its start the operator does not know all objects yet, and deletions wait for that: one life first.
        self.count_one(FREE).await?;
        let counted = (0..FREE).map(|number| self.count_one(number));
        let counted = try_join_all(counted).await?;
        Ok(std::array::from_fn(|phase| {
            let of = || counted.iter().map(|steps| steps[phase].clone());
            let azure = of().map(|steps| steps.azure);
            let kubernetes = of().map(|steps| steps.kubernetes);
            Steps {
                azure: azure.min_by_key(Vec::len).unwrap_or_default(),
                kubernetes: kubernetes.min_by_key(Vec::len).unwrap_or_default(),
            }
        }))
    }

    /// The steps of each phase of an object that nothing happens to.
    async fn count_one(&self, number: usize) -> Result<[Steps; 3], String> {
        let case = Case {
            name: format!("faults-none-{number}"),
            trouble: Trouble::Nothing,
            position: 0,
        };
        let mut all: [Steps; 3] = Default::default();
        for (phase, steps) in PHASES.into_iter().zip(&mut all) {
            let before = self.now();
            if let Some(Err(why)) = self.run(phase, &case, &Steps::default()).await {
                return Err(format!("{phase:?} without trouble: {why}"));
            }
            let requests = self.requests(&case, before).into_iter();
            steps.azure = requests.map(|one| one.method).collect();
            steps.kubernetes = self.proxy.seen(&case.kubernetes_path());
        }
        Ok(all)
    }

    /// All phases of one object: what came of each step at which something happened.
    async fn live(&self, case: &Case, steps: &[Steps; 3]) -> Vec<Result<Outcome, String>> {
        let mut results = Vec::new();
        for (phase, steps) in PHASES.into_iter().zip(steps) {
            let Some(result) = self.run(phase, case, steps).await else {
                continue;
            };
            let is_ok = result.is_ok();
            let (name, position) = (case.trouble.name(), case.position + 1);
            results.push(result.map_err(|why| {
                format!(
                    "{name} at step {position} of {phase:?} ({}): {why}",
                    case.name
                )
            }));
            if !is_ok {
                break;
            }
        }
        results
    }
}

/// Whether nobody can know that an edit arrived: the answer to its PUT was spoiled, Azure did not say how its operation
/// ended, or the API server did not take the note of it. What was taken out of a spec cannot be seen in Azure either, so it
/// is sent again.
fn may_be_sent_again(phase: Phase, case: &Case, hit: Option<&LoggedRequest>) -> bool {
    phase == Phase::Update
        && match case.trouble {
            Trouble::Nothing => false,
            Trouble::Azure(fault) => hit.is_some_and(|request| {
                let is_poll = !request.path.eq_ignore_ascii_case(&case.azure_path());
                is_poll || (!fault.refuses() && request.method == "PUT")
            }),
            Trouble::Kubernetes(_) => true,
        }
}

/// Requests as the list of what fails shows them.
fn shown(requests: &[LoggedRequest]) -> Vec<String> {
    let shown = requests.iter().map(|one| {
        let fault = one.fault.map_or("", |_| " (hit)");
        format!("{} {}{fault}", one.method, one.status)
    });
    shown.collect()
}

fn metadata(name: &str) -> Value {
    json!({
        "name": name,
        "namespace": NAMESPACE,
        "annotations": {"serviceoperator.azure.com/operator-namespace": NAMESPACE},
    })
}

fn is_ready(object: &Value, generation: i64) -> bool {
    let ready = condition(object, "Ready");
    ready["status"] == "True" && ready["observedGeneration"] == generation
}

/// An object for each fault and each position that any phase has.
fn cases(steps: &[Steps; 3]) -> Vec<Case> {
    let most = |count: fn(&Steps) -> usize| steps.iter().map(count).max().unwrap_or(0);
    let mut cases = Vec::new();
    let mut add = |trouble, index: usize, positions: usize| {
        for position in 0..positions {
            // No name is the beginning of another.
            let name = format!("fault-{index:02}-{position:02}");
            cases.push(Case {
                name,
                trouble,
                position,
            });
        }
    };
    for (index, fault) in azure::ALL.into_iter().enumerate() {
        add(
            Trouble::Azure(fault),
            index,
            most(|steps| steps.azure.len()),
        );
    }
    for (index, harm) in Harm::ALL.into_iter().enumerate() {
        let positions = most(|steps| steps.kubernetes.len());
        add(Trouble::Kubernetes(harm), 50 + index, positions);
    }
    cases
}

/// Keeps the board up to date: one list for all who wait. It is read in the stored version, which needs no conversion.
fn watch_objects(objects: &Objects) -> Board {
    let (sender, board) = watch::channel(Arc::default());
    let api = objects.api(KIND, kind_info(KIND).hub.storage_version);
    tokio::spawn(async move {
        while !sender.is_closed() {
            if let Ok(list) = api.list(&ListParams::default()).await {
                let named = list.items.into_iter().filter_map(|object| {
                    let name = object.metadata.name.clone()?;
                    Some((name, serde_json::to_value(object).ok()?))
                });
                sender.send_replace(Arc::new(named.collect()));
            }
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
    });
    board
}

#[test]
fn every_fault_at_every_step_ends_well() {
    World::shared().run(NAMESPACE, async |world, objects| {
        let (proxy, address) = Proxy::start(world.plane().client().await.unwrap()).await;
        let config = OperatorConfig {
            kubernetes: kube::Config::new(format!("http://{address}").parse().unwrap()),
            time: Time::times(SPEED),
            // Somebody ends what is endless, in the machine's time.
            longest_hold_before_put: FOREVER,
            longest_hold_before_delete: FOREVER,
            max_concurrent_reconciles: Some(32),
            ..world.operator_config(NAMESPACE)
        };
        let operator = Operator::start(config).await.unwrap();
        let stage = Stage {
            world,
            board: watch_objects(&objects),
            objects: objects.clone(),
            proxy,
        };
        let group = json!({
            "apiVersion": "resources.azure.com/v1api20200601",
            "kind": "ResourceGroup",
            "metadata": metadata(GROUP),
            "spec": {"location": "westeurope"},
        });
        objects.apply_value(&group).await.unwrap();
        // Who waits for the owner needs another write.
        objects
            .wait_ready("ResourceGroup", GROUP, crate::is_ready)
            .await;
        let steps = stage.count().await.unwrap();
        println!("steps of create, update and deletion: {steps:?}");
        let mut lives = JoinSet::new();
        for case in cases(&steps) {
            let (stage, steps) = (stage.clone(), steps.clone());
            lives.spawn(async move { stage.live(&case, &steps).await });
        }
        let results: Vec<_> = lives.join_all().await.into_iter().flatten().collect();
        let wrong: Vec<_> = results
            .iter()
            .filter_map(|result| result.as_ref().err())
            .collect();
        let count = |wanted| {
            let of_it = results.iter().filter(|one| one.as_ref() == Ok(&wanted));
            of_it.count()
        };
        let (hit, not_reached) = (count(Outcome::Hit), count(Outcome::NotReached));
        println!(
            "fault matrix: {hit} of {}, {not_reached} not reached",
            results.len()
        );
        assert!(wrong.is_empty(), "{wrong:#?}");
        // Each fault of Azure meets at least GET, PUT and DELETE, or those of them that it is about.
        assert!(hit >= 150, "only {hit}");
        assert!(
            not_reached * 20 <= results.len(),
            "{not_reached} steps were not reached"
        );
        operator.stop().await;
    });
}
