//! A fake Azure: Azure Resource Manager over HTTPS for every kind that has a shape, on a laptop and in tests.
//!
//! | module | what lives here |
//! |---|---|
//! | [`options`] | how a simulator is set up |
//! | `state`, `arm` | the state machine: a request and the time in, a reply out |
//! | `catalog`, `schema` | what is served and what bodies must look like, read from kind descriptors |
//! | `behaviour` | particulars of resource providers, one file each |
//! | [`autonomy`] | what Azure does by itself: values that move, tags of policies, answers in another form |
//! | `store`, `id`, `operation` | resources, their ids, long-running operations |
//! | `graph` | Azure Resource Graph: what there is and what changed, somewhat late |
//! | [`fault`], [`log`], `throttle` | faults on purpose, the log of requests, request limits |
//! | `token`, `control` | sign-in and metadata; the endpoints under `/simulator` |
//! | `server`, `tls` | the edge: sockets, certificates, HTTP |
//!
//! What does not live here: anything about Kubernetes, and any knowledge of the operator.

mod acts;
mod arm;
pub mod autonomy;
mod behaviour;
mod catalog;
mod control;
mod duration;
mod error;
mod exchange;
pub mod fault;
mod graph;
mod id;
mod json;
pub mod log;
mod operation;
pub mod options;
mod pattern;
mod schema;
mod server;
mod sign_in;
mod state;
mod store;
mod throttle;
mod tls;
mod token;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armature_runtime::kind::KindInfo;
use jiff::Timestamp;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use acts::{Act, Autonomy};
pub use autonomy::{Changed, Wanted};
pub use behaviour::ConnectionDecision;
pub use control::ClusterState;
pub use duration::parse as parse_duration;
pub use error::ArmError;
pub use exchange::{Answer, Reply, Request};
pub use fault::{Chaos, FaultRule, Spoil};
pub use graph::GraphSettings;
pub use log::{LoggedRequest, Query};
pub use operation::{Failure, OperationRule, Style};
pub use options::{Client, Federation, Normalise, Settings};
pub use server::Service;
pub use throttle::Limits;

use id::ResourceId;
use state::State;

/// Returns the time; the simulator reads no other clock.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What a running simulator is started with.
#[derive(Clone)]
pub struct Options {
    /// Kinds whose ARM types are served.
    pub kinds: &'static [&'static KindInfo],
    /// Address and port to listen on; port 0 takes a free one.
    pub listen: String,
    /// Host names that the certificate is for, beside loopback.
    pub names: Vec<String>,
    /// The simulated Azure.
    pub settings: Settings,
    /// The clock.
    pub clock: Clock,
}

impl Options {
    /// A simulator for these kinds on a free loopback port, with the system's clock.
    pub fn new(kinds: &'static [&'static KindInfo]) -> Self {
        Self {
            kinds,
            listen: "127.0.0.1:0".to_owned(),
            names: Vec::new(),
            settings: Settings::default(),
            clock: Arc::new(Timestamp::now),
        }
    }
}

/// A simulator that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another address with --listen")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// A rule for a type that no kind has.
    #[error(
        "operations-of names the ARM type '{name}', which is not served; {}",
        nearest.as_ref().map_or_else(
            || "types read like 'Microsoft.Storage/storageAccounts'".to_owned(),
            |nearest| format!("did you mean '{nearest}'?"),
        )
    )]
    UnknownType {
        /// The type.
        name: String,
        /// The served type that is most like it.
        nearest: Option<&'static str>,
    },
    /// A fault rule that cannot work.
    #[error(transparent)]
    Fault(#[from] fault::FaultError),
    /// No certificate.
    #[error(transparent)]
    Tls(#[from] tls::TlsError),
}

/// A handle on the simulated Azure: what a test sees of it and does to it.
#[derive(Clone)]
pub struct Simulator {
    state: Arc<Mutex<State>>,
    clock: Clock,
    endpoint: Arc<str>,
}

/// A simulator, or another [`Service`], that listens. Stops when dropped; [`Running::stop`] also waits for open
/// connections.
pub struct Running<S: Service = Simulator> {
    service: S,
    ca_pem: String,
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl Running {
    /// The simulated Azure.
    pub fn simulator(&self) -> &Simulator {
        &self.service
    }
}

impl<S: Service> Running<S> {
    /// Starts to listen with a certificate of its own for loopback and these further names; `service` gets the
    /// endpoint. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// When the address cannot be listened on, or no certificate can be issued.
    pub async fn start(
        listen: &str,
        mut names: Vec<String>,
        service: impl FnOnce(String) -> S,
    ) -> Result<Self, StartError> {
        let host = listen
            .rsplit_once(':')
            .map(|(host, _)| host.trim_matches(['[', ']']).to_owned());
        names.extend(host);
        let identity = tls::issue(&names)?;
        let listen_error = |source| StartError::Listen {
            address: listen.to_owned(),
            source,
        };
        let listener = server::bind(listen).await.map_err(listen_error)?;
        let mut address = listener.local_addr().map_err(listen_error)?;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        let service = service(format!("https://{address}"));
        let stop = CancellationToken::new();
        let serving = server::serve(service.clone(), listener, identity.server, stop.clone());
        Ok(Self {
            service,
            ca_pem: identity.ca_pem,
            stop,
            task: Some(tokio::spawn(serving)),
        })
    }

    /// `https://127.0.0.1:PORT`, for ARM, for sign-in and for the control endpoints.
    pub fn endpoint(&self) -> &str {
        self.service.endpoint()
    }

    /// What answers.
    pub fn service(&self) -> &S {
        &self.service
    }

    /// The authority that clients must trust, in PEM.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Stops listening and waits until open requests are answered.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            // A task that panicked has stopped too.
            let _ = task.await;
        }
    }
}

impl<S: Service> Drop for Running<S> {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Simulator {
    /// A simulated Azure without a socket: [`Simulator::handle`] is all there is.
    pub fn new(kinds: &'static [&'static KindInfo], settings: Settings, clock: Clock) -> Self {
        let key = rand::random::<[u8; 32]>().to_vec();
        Self {
            state: Arc::new(Mutex::new(State::new(kinds, settings, key))),
            clock,
            endpoint: "https://localhost".into(),
        }
    }

    fn at(self, endpoint: String) -> Self {
        Self {
            endpoint: endpoint.into(),
            ..self
        }
    }

    /// Starts to listen; must be called within a tokio runtime.
    pub async fn start(options: Options) -> Result<Running, StartError> {
        check_types(options.kinds, &options.settings)?;
        for rule in &options.settings.faults {
            rule.check()?;
        }
        let simulator = Self::new(options.kinds, options.settings, options.clock);
        Running::start(&options.listen, options.names, |endpoint| {
            simulator.at(endpoint)
        })
        .await
    }

    /// `https://127.0.0.1:PORT`.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic in one request leaves the others a state that is whole: every change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers one request without a socket.
    pub fn handle(&self, request: &Request) -> Reply {
        let now = (self.clock)();
        let mut state = self.state();
        if control::is_control(&request.path) {
            let answer = control::answer(&mut state, request, now);
            state.note_changes(now);
            return answer.into();
        }
        state.handle(request, now)
    }

    /// The requests that match, oldest first. Requests to the control endpoints are not among them.
    pub fn requests(&self, query: &Query) -> Vec<LoggedRequest> {
        self.state().log.find(query)
    }

    /// The number of the last request.
    pub fn sequence(&self) -> u64 {
        self.state().log.total()
    }

    /// Forgets the requests so far.
    pub fn clear_requests(&self) {
        self.state().log.clear();
    }

    /// Adds a fault rule; returns its number.
    pub fn add_fault(&self, rule: FaultRule) -> u64 {
        self.state().faults.add(rule)
    }

    /// Faults from this seed from now on, or none.
    pub fn set_chaos(&self, chaos: Option<Chaos>) {
        self.state().faults.set_chaos(chaos);
    }

    /// Ends every running operation on what is at or below this id, as a provider does that gives up: the resource
    /// is as it was before, with `provisioningState` Failed. Returns how many there were.
    pub fn fail_operations(&self, id: &str, failure: &Failure) -> Result<usize, ArmError> {
        let id = parse_id(id)?;
        let now = (self.clock)();
        let failure = Some(failure.clone());
        Ok(self.state().finish_operations(&id, failure, now))
    }

    /// Ends every running operation on what is at or below this id as it would end by itself, whatever it still has to run.
    /// Returns how many there were.
    pub fn finish_operations(&self, id: &str) -> Result<usize, ArmError> {
        let id = parse_id(id)?;
        let now = (self.clock)();
        Ok(self.state().finish_operations(&id, None, now))
    }

    /// Removes all fault rules.
    pub fn clear_faults(&self) {
        self.state().faults.clear();
    }

    /// What Azure shows of a resource; `None` when a GET would not find it.
    pub fn resource(&self, id: &str) -> Option<Value> {
        let id = ResourceId::parse(id)?;
        let now = (self.clock)();
        let mut state = self.state();
        state.settle(now);
        state
            .store
            .visible(&id)
            .map(|resource| resource.body.clone())
    }

    /// What Azure showed of a resource before it was last written; `None` when a GET did not find it then.
    pub fn resource_before(&self, id: &str) -> Option<Value> {
        let id = ResourceId::parse(id)?;
        let state = self.state();
        let before = state.store.before(&id).flatten();
        before.map(|resource| resource.body.clone())
    }

    /// What was last sent for a resource, secrets included.
    pub fn desired(&self, id: &str) -> Option<Value> {
        let id = ResourceId::parse(id)?;
        self.state()
            .store
            .get(&id)
            .map(|resource| resource.desired.clone())
    }

    /// Ids of everything in Azure, in order. Deleted vaults that are still kept are not among them.
    pub fn ids(&self) -> Vec<String> {
        self.state()
            .store
            .all()
            .filter(|resource| !behaviour::is_deleted_vault(&resource.id))
            .map(|resource| resource.id.to_string())
            .collect()
    }

    /// Puts a resource into Azure as it is, without checks.
    pub fn place(&self, id: &str, body: Value) -> Result<(), ArmError> {
        let id = parse_id(id)?;
        let now = (self.clock)();
        let mut state = self.state();
        state.place(&id, body);
        state.note_changes(now);
        Ok(())
    }

    /// Changes a resource behind everybody's back, by a JSON merge patch.
    pub fn drift(&self, id: &str, patch: &Value) -> Result<(), ArmError> {
        let id = parse_id(id)?;
        let now = (self.clock)();
        let mut state = self.state();
        state.drift(&id, patch)?;
        state.note_changes(now);
        Ok(())
    }

    /// Takes a resource and everything below it out of Azure behind everybody's back.
    pub fn remove(&self, id: &str) -> Result<(), ArmError> {
        let id = parse_id(id)?;
        let now = (self.clock)();
        let mut state = self.state();
        state.remove(&id, now);
        state.note_changes(now);
        Ok(())
    }

    /// Lets Azure do something by itself; returns what changed.
    pub fn act(&self, wanted: &Wanted) -> Result<Vec<Changed>, ArmError> {
        let now = (self.clock)();
        let mut state = self.state();
        state.settle(now);
        let changes = state.move_by_itself(wanted)?;
        state.note_changes(now);
        Ok(changes)
    }

    /// Approves or rejects private endpoint connections.
    pub fn decide_connections(&self, decision: &ConnectionDecision) -> Result<(), ArmError> {
        self.state().decide_connections(decision).map(drop)
    }

    /// Sets the states of a Kusto cluster.
    pub fn set_cluster_state(&self, wanted: &ClusterState) -> Result<(), ArmError> {
        self.state().set_cluster_state(wanted).map(drop)
    }

    /// Adds a subscription to those that exist.
    pub fn add_subscription(&self, id: &str) {
        let settings = &mut self.state().settings;
        if !settings.has_subscription(id) {
            settings.subscriptions.push(id.to_owned());
        }
    }

    /// How late Azure Resource Graph is from now on.
    pub fn set_graph_delay(&self, delay: std::time::Duration) {
        self.state().settings.graph.delay = delay;
    }

    /// How operations on a type run from now on; without a type, on every type that has no rule of its own.
    pub fn set_operation_rule(&self, arm_type: Option<&str>, rule: OperationRule) {
        let settings = &mut self.state().settings;
        match arm_type {
            Some(arm_type) => {
                settings.operations_of.insert(arm_type.to_owned(), rule);
            }
            None => settings.operations = rule,
        }
    }

    /// What a client proves itself with from now on. Others need [`Settings::other_clients`] then.
    pub fn set_client(&self, client: Client) {
        let clients = &mut self.state().settings.clients;
        clients.retain(|known| !known.id.eq_ignore_ascii_case(&client.id));
        clients.push(client);
    }

    /// Forgets resources, operations, fault rules and the log.
    pub fn reset(&self) {
        self.state().reset();
    }
}

impl Service for Simulator {
    fn handle(&self, request: &Request) -> Reply {
        Simulator::handle(self, request)
    }

    fn endpoint(&self) -> &str {
        Simulator::endpoint(self)
    }
}

/// A rule that would never apply is a mistake.
fn check_types(kinds: &'static [&'static KindInfo], settings: &Settings) -> Result<(), StartError> {
    for name in settings.operations_of.keys() {
        let same = |kind: &&&KindInfo| kind.remote_type().eq_ignore_ascii_case(name);
        if kinds.iter().find(same).is_none() {
            let types = kinds.iter().map(|kind| kind.remote_type());
            return Err(StartError::UnknownType {
                name: name.clone(),
                nearest: armature_runtime::shape::nearest(name, types),
            });
        }
    }
    Ok(())
}

fn parse_id(id: &str) -> Result<ResourceId, ArmError> {
    ResourceId::parse(id).ok_or_else(|| ArmError::invalid_path(id))
}
