//! The operator's process is killed with SIGKILL at every request to Azure of a create, an update and a deletion.
//!
//! Each request of a run, counted on an object that nothing happens to, has two objects of its own: at that request
//! Azure holds one before doing anything, the other after having done it. When all of them are held, the process is
//! killed and started again. So one kill per phase cuts every request once. After each phase nothing that people see
//! shows a secret.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use std::collections::BTreeMap;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use armature_controlplane::waiting::{until, until_ok};
use armature_controlplane::{ControlPlane, free_port};
use armature_exposure::{Collector, Place, SeenSecrets, random_value, scrape, shown_in};
use armature_runtime::kind::KindInfo;
use armature_simulator::{FaultRule, OperationRule, Query, Running, Settings, Simulator, Style};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

const NAMESPACE: &str = "armature-system";
const SUBSCRIPTION: &str = "/subscriptions/00000000-0000-0000-0000-000000000001";

/// A kind, and how Azure works on it.
struct Subject {
    kind: &'static str,
    version: &'static str,
    /// Beginning of names in Azure.
    prefix: &'static str,
    put: Style,
    delete: Style,
    spec: fn(&str) -> Value,
}

/// One kind whose operations announce themselves beside the resource, and one whose resource appears at the end and
/// which asks for keys.
static SUBJECTS: [Subject; 2] = [
    Subject {
        kind: "PublicIPAddress",
        version: "v1api20201101",
        prefix: "crash-ip-",
        put: Style::AsyncOperation,
        delete: Style::Both,
        spec: |_| {
            json!({
                "location": "westeurope",
                "owner": {"name": "crash"},
                "sku": {"name": "Standard"},
                "publicIPAllocationMethod": "Static",
            })
        },
    },
    Subject {
        kind: "StorageAccount",
        version: "v1api20230101",
        prefix: "crashsa",
        put: Style::Location,
        delete: Style::Immediate,
        spec: |name| {
            json!({
                "location": "westeurope",
                "owner": {"name": "crash"},
                "kind": "StorageV2",
                "sku": {"name": "Standard_LRS"},
                "operatorSpec": {"secrets": {"key1": {"name": format!("{name}-key"), "key": "key1"}}},
            })
        },
    },
];

static GROUP: Subject = Subject {
    kind: "ResourceGroup",
    version: "v1api20200601",
    prefix: "crash",
    put: Style::Immediate,
    delete: Style::Location,
    spec: |_| json!({"location": "westeurope"}),
};

impl Subject {
    fn info(&self) -> &'static KindInfo {
        let mut kinds = armature_generated::KINDS.iter();
        kinds.find(|info| info.kind == self.kind).unwrap()
    }

    /// From now on operations on the kind take this long.
    fn take(&self, azure: &Simulator, latency: Duration) {
        let rule = OperationRule {
            put: Some(self.put),
            delete: Some(self.delete),
            latency: Some(latency),
            retry_after: Some(1),
            ..OperationRule::default()
        };
        azure.set_operation_rule(Some(self.info().remote_type()), rule);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Create,
    Update,
    Delete,
}

const PHASES: [Phase; 3] = [Phase::Create, Phase::Update, Phase::Delete];

/// An object and the request of each phase at which it is held.
#[derive(Clone)]
struct Case {
    subject: &'static Subject,
    name: String,
    /// Request of the phase, counted from 0.
    position: usize,
    /// Held before Azure does anything.
    is_lost: bool,
}

impl Case {
    fn path(&self) -> String {
        let (arm_type, name) = (self.subject.info().remote_type(), &self.name);
        format!("{SUBSCRIPTION}/resourceGroups/crash/providers/{arm_type}/{name}")
    }
}

struct World {
    plane: ControlPlane,
    azure: Running,
    client: kube::Client,
    folder: TempDir,
    webhook: SocketAddr,
    metrics: SocketAddr,
    traces: Collector,
    client_secret: String,
    secrets: SeenSecrets,
}

fn free_address() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, free_port().unwrap()).into()
}

impl World {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let plane = ControlPlane::start(Default::default()).await.unwrap();
        let options = armature_simulator::Options::new(armature_generated::KINDS);
        let azure = Simulator::start(options).await.unwrap();
        azure
            .simulator()
            .set_operation_rule(None, OperationRule::default());
        for subject in &SUBJECTS {
            subject.take(azure.simulator(), Duration::from_secs(1));
        }
        std::fs::write(folder.path().join("azure-ca.pem"), azure.ca_pem()).unwrap();
        let client = plane.client().await.unwrap();
        let namespaces: Api<Namespace> = Api::all(client.clone());
        for name in [NAMESPACE, "team"] {
            let namespace = json!({"metadata": {"name": name}});
            let namespace = serde_json::from_value(namespace).unwrap();
            let created = namespaces.create(&PostParams::default(), &namespace).await;
            created.unwrap();
        }
        let client_secret = random_value();
        let secrets = SeenSecrets::watch(client.clone());
        secrets.add("the operator's own credential", &client_secret);
        Self {
            plane,
            azure,
            client,
            folder,
            webhook: free_address(),
            metrics: free_address(),
            traces: Collector::start().await.unwrap(),
            client_secret,
            secrets,
        }
    }

    /// Starts the real operator.
    fn operator(&self) -> Child {
        let settings = Settings::default();
        let endpoint = self.azure.endpoint();
        let mut command = Command::new(env!("CARGO_BIN_EXE_armature"));
        command
            .arg("run")
            .arg("--crd-pattern=resources.azure.com/*;network.azure.com/PublicIPAddress;storage.azure.com/StorageAccount")
            .arg("--max-concurrent-reconciles=20")
            .arg("--health-addr=0")
            .arg(format!("--webhook-listen={}", self.webhook))
            .arg(format!("--webhook-url=https://{}/convert", self.webhook))
            .arg(format!("--metrics-addr={}", self.metrics))
            .arg(format!("--otlp-endpoint={}", self.traces.url()))
            .arg("-vv")
            .env_clear()
            .env("POD_NAMESPACE", NAMESPACE)
            .env("KUBECONFIG", self.plane.kubeconfig())
            .env("ARMATURE_ARM_CA_FILE", self.folder.path().join("azure-ca.pem"))
            .env("AZURE_SUBSCRIPTION_ID", &settings.subscriptions[0])
            .env("AZURE_TENANT_ID", &settings.tenant)
            .env("AZURE_CLIENT_ID", "00000000-0000-0000-0000-00000000000a")
            .env("AZURE_CLIENT_SECRET", &self.client_secret)
            .env("AZURE_AUTHORITY_HOST", endpoint)
            .env("AZURE_RESOURCE_MANAGER_ENDPOINT", endpoint)
            .env("AZURE_RESOURCE_MANAGER_AUDIENCE", "https://management.azure.com")
            // Spans that are not sent yet go with the process.
            .env("OTEL_BSP_SCHEDULE_DELAY", "100")
            .stderr(File::options().create(true).append(true).open(self.log()).unwrap())
            .kill_on_drop(true);
        command.spawn().unwrap()
    }

    /// Log of all operators, one after the other.
    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Fails when a secret is shown anywhere.
    async fn assert_no_secret_is_shown(&self) {
        let mut places = shown_in(&self.client, None).await.unwrap();
        let log = std::fs::read(self.log()).unwrap();
        let text = String::from_utf8_lossy(&log);
        // A line of HTTP/2, of which -v shows none.
        assert!(text.contains("received frame="), "the log is that of -vv");
        places.push(Place::new("log", log));
        let traces = self.traces.bodies().concat();
        assert!(!traces.is_empty(), "spans arrive");
        places.push(Place::new("traces", traces));
        let metrics = scrape(self.metrics).await.unwrap();
        places.push(Place::new("metrics", metrics));
        let secrets = self.secrets.all().await.unwrap();
        secrets.assert_hidden(&places, None);
    }

    fn api(&self, subject: &Subject, version: &str) -> Api<DynamicObject> {
        let info = subject.info();
        let gvk = GroupVersionKind::gvk(info.group, version, info.kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, info.plural);
        Api::namespaced_with(self.client.clone(), "team", &resource)
    }

    /// Applies until the API server takes it: conversion needs the operator.
    async fn apply(&self, subject: &Subject, name: &str, spec: &Value) {
        let manifest = json!({
            "apiVersion": format!("{}/{}", subject.info().group, subject.version),
            "kind": subject.kind,
            "metadata": {"name": name, "namespace": "team"},
            "spec": spec,
        });
        let api = self.api(subject, subject.version);
        let parameters = PatchParams::apply("test").force();
        let what = format!("the API server to take {name}");
        until_ok(&what, async || {
            api.patch(name, &parameters, &Patch::Apply(&manifest)).await
        })
        .await;
    }

    /// Lets a phase begin for an object.
    async fn begin(&self, phase: Phase, case: &Case) {
        let subject = case.subject;
        let stage = match phase {
            Phase::Create => "one",
            Phase::Update => "two",
            Phase::Delete => {
                let api = self.api(subject, subject.version);
                api.delete(&case.name, &Default::default()).await.unwrap();
                return;
            }
        };
        let mut spec = (subject.spec)(&case.name);
        spec["tags"] = json!({"stage": stage});
        self.apply(subject, &case.name, &spec).await;
    }

    /// Objects of a kind, and whether each is ready as it is now. Nothing while the API server does not answer. Read in
    /// the stored version: conversion is away while the operator is.
    async fn list(&self, subject: &Subject) -> Option<BTreeMap<String, bool>> {
        let api = self.api(subject, subject.info().hub.storage_version);
        let list = api.list(&ListParams::default()).await.ok()?;
        let is_ready = |object: &DynamicObject| {
            let conditions = object.data.pointer("/status/conditions");
            let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
            let ready = conditions.find(|condition| condition["type"] == "Ready");
            ready.is_some_and(|ready| {
                let observed = ready["observedGeneration"].as_i64();
                ready["status"] == "True" && observed == object.metadata.generation
            })
        };
        let items = list.items.iter();
        let named = items.map(|object| (object.metadata.name.clone().unwrap(), is_ready(object)));
        Some(named.collect())
    }

    /// Those that have not come to the end of the phase.
    async fn open(&self, phase: Phase, cases: &[Case]) -> Vec<Case> {
        let mut open = Vec::new();
        for subject in &SUBJECTS {
            let listed = self.list(subject).await;
            let has_ended = |case: &Case| match (&listed, phase) {
                (None, _) => false,
                (Some(listed), Phase::Delete) => !listed.contains_key(&case.name),
                (Some(listed), _) => listed.get(&case.name) == Some(&true),
            };
            let own = cases
                .iter()
                .filter(|case| case.subject.kind == subject.kind);
            open.extend(own.filter(|case| !has_ended(case)).cloned());
        }
        open
    }

    async fn wait_ended(&self, phase: Phase, cases: &[Case]) {
        let what = format!("{phase:?} ends");
        self.wait(&what, async || self.open(phase, cases).await)
            .await;
    }

    /// Waits until nothing is left of what the closure returns.
    async fn wait(&self, what: &str, left: impl AsyncFn() -> Vec<Case>) {
        until_ok(what, async || {
            let left = left().await;
            let names: Vec<&str> = left.iter().map(|case| case.name.as_str()).collect();
            match names[..] {
                [] => Ok(()),
                _ => Err(format!("left are {names:?}")),
            }
        })
        .await;
    }

    /// Requests for a resource, and polls of its operations, after a moment of the log.
    fn requests(&self, case: &Case, after: u64) -> Vec<Sent> {
        let query = Query {
            after: Some(after),
            ..Query::default()
        };
        let path = case.path().to_lowercase();
        let below = format!("{path}/");
        let concerns = |text: &str| {
            let text = text.to_lowercase();
            text == path || text.starts_with(&below)
        };
        let mut all = self.azure.simulator().requests(&query);
        all.retain(|request| {
            concerns(&request.path) || request.subject.as_deref().is_some_and(concerns)
        });
        let sent = all.into_iter().map(|request| Sent {
            method: request.method,
            is_cut: request.fault.is_some(),
        });
        sent.collect()
    }

    /// Number of the latest request.
    fn now(&self) -> u64 {
        let all = self.azure.simulator().requests(&Query::default());
        all.last().map_or(0, |request| request.sequence)
    }

    /// Holds each object at its request.
    fn hold(&self, cases: &[Case]) {
        self.azure.simulator().clear_faults();
        for case in cases {
            self.azure.simulator().add_fault(FaultRule {
                path: Some(case.path()),
                skip: case.position as u64,
                count: Some(1),
                reset: case.is_lost,
                delay: Some(Duration::from_secs(3600)),
                ..FaultRule::default()
            });
        }
    }
}

#[derive(Debug)]
struct Sent {
    method: String,
    is_cut: bool,
}

impl Sent {
    fn is_write(&self) -> bool {
        matches!(self.method.as_str(), "PUT" | "DELETE" | "PATCH")
    }
}

/// The objects of a kind that are held, for phases of at most this many requests.
fn held(subject: &'static Subject, requests: usize) -> impl Iterator<Item = Case> {
    let both = (0..requests).flat_map(|position| [(position, "l"), (position, "d")]);
    both.map(move |(position, how)| Case {
        subject,
        // No name is the beginning of another.
        name: format!("{}{position:02}{how}", subject.prefix),
        position,
        is_lost: how == "l",
    })
}

/// Runs the phases on objects that nothing happens to. Returns the most requests that any phase of each kind has.
async fn count(world: &World) -> [usize; 2] {
    let cases = SUBJECTS.each_ref().map(|subject| Case {
        subject,
        name: format!("{}free", subject.prefix),
        position: 0,
        is_lost: false,
    });
    let mut most = [0; 2];
    for phase in PHASES {
        let before = world.now();
        for case in &cases {
            world.begin(phase, case).await;
        }
        world.wait_ended(phase, &cases).await;
        for (case, most) in cases.iter().zip(&mut most) {
            let sent = world.requests(case, before);
            let writes = sent.iter().filter(|sent| sent.is_write()).count();
            assert_eq!(writes, 1, "{phase:?} {}: {sent:?}", case.name);
            *most = sent.len().max(*most);
        }
    }
    most
}

/// Runs a phase on all objects, with one kill when all are held. Returns how many requests were cut, and the objects
/// that were written more often than the cut excuses.
async fn kill_once(
    world: &World,
    operator: &mut Child,
    phase: Phase,
    cases: &[Case],
) -> (usize, Vec<String>) {
    let before = world.now();
    world.hold(cases);
    for case in cases {
        world.begin(phase, case).await;
    }
    let is_held = |case: &Case| world.requests(case, before).iter().any(|sent| sent.is_cut);
    let what = format!("{phase:?}: requests are held");
    world
        .wait(&what, async || {
            let mut open = world.open(phase, cases).await;
            open.retain(|case| !is_held(case));
            open
        })
        .await;
    operator.kill().await.unwrap();
    *operator = world.operator();
    world.wait_ended(phase, cases).await;

    let (mut cuts, mut wrong) = (0, Vec::new());
    for case in cases {
        let sent = world.requests(case, before);
        let cut = sent.iter().find(|sent| sent.is_cut);
        cuts += usize::from(cut.is_some());
        // Of an edit whose PUT nobody noted, Azure cannot tell whether it arrived.
        let cut_at = sent.iter().position(|sent| sent.is_cut);
        let is_unnoted = phase == Phase::Update
            && cut_at.is_some_and(|cut| sent.iter().take(cut).any(Sent::is_write));
        let excused = usize::from(is_unnoted || cut.is_some_and(Sent::is_write));
        let writes = sent.iter().filter(|sent| sent.is_write()).count();
        let is_there = world.azure.simulator().resource(&case.path()).is_some();
        if !(1..=1 + excused).contains(&writes) || is_there == (phase == Phase::Delete) {
            wrong.push(format!(
                "{phase:?} {}: in Azure {is_there}, {sent:?}",
                case.name
            ));
        }
    }
    (cuts, wrong)
}

/// The process is killed while Azure works on a PUT and shows nothing of it, and the object is deleted before the next
/// process runs. That waits for the resource, and deletes it.
async fn delete_what_is_not_to_be_seen(world: &World, operator: &mut Child) {
    let subject = &SUBJECTS[1];
    // Until the test ends it.
    subject.take(world.azure.simulator(), Duration::MAX);
    let case = Case {
        subject,
        name: format!("{}unseen", subject.prefix),
        // After the GET.
        position: 1,
        is_lost: false,
    };
    let cases = [case.clone()];
    let before = world.now();
    world.hold(&cases);
    world.begin(Phase::Create, &case).await;
    let is_held = |case: &Case| world.requests(case, before).iter().any(|sent| sent.is_cut);
    let held = async || {
        cases
            .iter()
            .filter(|case| !is_held(case))
            .cloned()
            .collect()
    };
    world.wait("the PUT is held", held).await;
    operator.kill().await.unwrap();
    // In the stored version: conversion is away.
    let api = world.api(subject, subject.info().hub.storage_version);
    api.delete(&case.name, &Default::default()).await.unwrap();
    let killed = world.now();
    *operator = world.operator();
    until("a look at what is not to be seen", async || {
        !world.requests(&case, killed).is_empty()
    })
    .await;
    let azure = world.azure.simulator();
    assert_eq!(azure.finish_operations(&case.path()).unwrap(), 1);
    world.wait_ended(Phase::Delete, &cases).await;
    let sent = world.requests(&case, before);
    let left = world.azure.simulator().resource(&case.path());
    assert!(left.is_none(), "left behind after {sent:?}");
    let writes: Vec<&str> = sent
        .iter()
        .filter(|sent| sent.is_write())
        .map(|sent| sent.method.as_str())
        .collect();
    assert_eq!(writes, ["PUT", "DELETE"], "{sent:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_is_killed_at_any_request_ends_where_it_would_have() {
    let world = World::start().await;
    let mut operator = world.operator();
    world.apply(&GROUP, GROUP.prefix, &(GROUP.spec)("")).await;
    let requests = count(&world).await;
    let cases = SUBJECTS.iter().zip(requests);
    let cases: Vec<Case> = cases
        .flat_map(|(subject, requests)| held(subject, requests))
        .collect();
    let (mut cuts, mut wrong) = (0, Vec::new());
    for phase in PHASES {
        let (more_cuts, more_wrong) = kill_once(&world, &mut operator, phase, &cases).await;
        cuts += more_cuts;
        wrong.extend(more_wrong);
        world.assert_no_secret_is_shown().await;
    }
    println!(
        "crash: {} of {cuts} cut requests led to the same end without a further write",
        cuts - wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(cuts >= 20, "only {cuts} requests were cut");
    delete_what_is_not_to_be_seen(&world, &mut operator).await;
}
