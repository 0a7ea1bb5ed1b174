//! What runs on the threads of passes, and what goes on while these are held.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Barrier, Mutex};

use armature_controlplane::waiting::{until, until_ended};
use armature_runtime::arm::testing::MemoryAzure;
use armature_runtime::kubernetes::StoredObject;
use armature_runtime::reconcile::annotations::Annotations;
use armature_runtime::reconcile::inventory::Inventory;
use armature_runtime::reconcile::port::EventNote;
use armature_runtime::reconcile::testing::Journal;
use armature_runtime::resource::{Kind, Object, ObjectKey};
use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use tokio::net::TcpListener;

use super::*;
use crate::command::run::testing::configured;
use crate::pass_threads::NAME;

/// An API server in this process that has nothing; it keeps what it was asked.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<Vec<String>>>);

impl Server {
    /// Starts it, and says how it is reached.
    async fn start(&self) -> kube::Config {
        let asked = Arc::clone(&self.0);
        let nothing = async move |method: Method, uri: Uri| {
            asked
                .lock()
                .unwrap()
                .push(format!("{method} {}", uri.path()));
            let status = r#"{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404, "reason": "NotFound"}"#;
            (StatusCode::NOT_FOUND, status)
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(nothing);
        tokio::spawn(async move { axum::serve(listener, router).await });
        kube::Config::new(format!("http://{address}").parse().unwrap())
    }

    /// How often it was asked so.
    fn asked(&self, how: &str) -> usize {
        let asked = self.0.lock().unwrap();
        asked.iter().filter(|it| it.starts_with(how)).count()
    }
}

fn object() -> Object {
    let text = r#"{"metadata": {"name": "a", "namespace": "team", "uid": "u"}, "spec": {}}"#;
    let stored: StoredObject = serde_json::from_str(text).unwrap();
    stored.into_object(Kind(armature_generated::KINDS[0]))
}

async fn manager(server: &Server, stop: &CancellationToken) -> (Manager, Clients) {
    let kubernetes = server.start().await;
    let config = configured(kubernetes, &["--namespace=armature-system"]).await;
    let clients = Clients::connect(&config.kubernetes, 1).unwrap();
    let manager = Manager::new(&config, clients.clone(), Fence::open(), stop.clone());
    (manager.unwrap(), clients)
}

/// Holds all of the threads, as passes would that compute, until what is returned is dropped.
async fn hold_all(threads: &PassThreads) -> Vec<Sender<()>> {
    let count = threads.handle().metrics().num_workers();
    let (all, held) = (Arc::new(Barrier::new(count)), Arc::<AtomicUsize>::default());
    let hold = |_| {
        let (all, held) = (all.clone(), held.clone());
        let (holder, end) = channel();
        threads.handle().spawn(async move {
            all.wait();
            held.fetch_add(1, Ordering::SeqCst);
            // The error is the end.
            end.recv().ok();
        });
        holder
    };
    let holders = (0..count).map(hold).collect();
    until("all threads are held", async || {
        held.load(Ordering::SeqCst) == count
    })
    .await;
    holders
}

#[tokio::test]
async fn who_is_no_pass_reaches_the_api_server_while_all_threads_of_passes_are_held() {
    let (server, stop) = (Server::default(), CancellationToken::new());
    let (manager, clients) = manager(&server, &stop).await;
    let (queue, threads, cluster) = (
        manager.queue.clone(),
        manager.threads(),
        manager.cluster.clone(),
    );
    let managing = tokio::spawn(manager.manage(stop.clone()));
    queue.add(object().key());
    // Its connection is open now, and free for others.
    until("a pass has read its object", async || {
        server.asked("GET ") > 0 && queue.depth().running == 0
    })
    .await;
    let holders = hold_all(&threads).await;

    for (who, client) in [
        ("the Lease", clients.lease()),
        ("watches", clients.watch().client()),
        ("metrics, CRDs, certificates", clients.requests()),
    ] {
        let request = http::Request::get("/livez").body(Vec::new()).unwrap();
        // Who waits for these threads waits for ever: they are held until all have an answer.
        let answer = until_ended(who, client.request_text(request)).await;
        assert!(
            matches!(answer, Err(kube::Error::Api(_))),
            "{who}: {answer:?}"
        );
    }
    let note = EventNote {
        warning: false,
        reason: "Tried".to_owned(),
        message: String::new(),
        paths: Vec::new(),
    };
    cluster.recorder().record(&object(), note);
    until("the event is written", async || {
        server.asked("POST /apis/events.k8s.io") > 0
    })
    .await;
    drop(holders);

    // The threads stay for whoever holds them, whatever has ended.
    stop.cancel();
    managing.await.unwrap();
    assert_eq!(threads.run(async { 1 }).await, Some(1));
}

/// Says on which threads it was asked.
#[derive(Default)]
struct Spy(Mutex<Vec<String>>);

impl Inventory for Spy {
    fn is_complete(&self) -> bool {
        let name = std::thread::current().name().map(str::to_owned);
        self.0.lock().unwrap().push(name.unwrap_or_default());
        false
    }

    fn all(&self) -> Box<dyn Iterator<Item = Arc<Object>> + '_> {
        Box::new(std::iter::empty())
    }

    fn get(&self, _: &ObjectKey) -> Option<Arc<Object>> {
        None
    }

    fn namespace(&self, _: &str) -> Annotations {
        Annotations::default()
    }

    fn has_credential(&self, _: &str) -> Option<bool> {
        None
    }
}

/// It has tokens and connections in common with passes.
#[tokio::test]
async fn azure_is_asked_for_changes_on_the_threads_of_passes() {
    let (server, stop) = (Server::default(), CancellationToken::new());
    let (mut manager, _) = manager(&server, &stop).await;
    let spy = Arc::<Spy>::default();
    manager.lookout = Some(Lookout::new(Parts {
        arm: Arc::new(MemoryAzure::new(Journal::default(), "s-1")),
        budget: manager.budget.clone(),
        inventory: spy.clone(),
        readers: Arc::new(manager.queue.clone()),
        written: manager.reconciler.written.clone(),
        clock: manager.reconciler.clock.clone(),
        terms: Terms {
            sync: Duration::from_secs(3600),
            rest: None,
            shortest: Duration::from_secs(60),
        },
    }));
    let managing = tokio::spawn(manager.manage(stop.clone()));
    until("the objects were asked for", async || {
        !spy.0.lock().unwrap().is_empty()
    })
    .await;
    stop.cancel();
    managing.await.unwrap();
    assert_eq!(spy.0.lock().unwrap()[0], NAME);
}
