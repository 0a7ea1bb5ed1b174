//! What a Service does for pods: it sends connections to those that are ready.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use armature_controlplane::waiting::until;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::pod::Ports;

/// How often pods are asked whether they are ready: as slow as a busy cluster is to learn of it.
const PROBE: Duration = Duration::from_secs(1);

/// A Service on this machine. Dropping it closes its connections.
pub struct Service {
    port: u16,
    pods: Arc<Mutex<Vec<Pod>>>,
    _tasks: JoinSet<()>,
}

struct Pod {
    ports: Ports,
    is_ready: bool,
}

impl Service {
    pub async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let pods = Arc::default();
        let mut tasks = JoinSet::new();
        tasks.spawn(forward(listener, Arc::clone(&pods)));
        tasks.spawn(probe(Arc::clone(&pods)));
        Self {
            port,
            pods,
            _tasks: tasks,
        }
    }

    /// The URL of the webhook behind it.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}/convert", self.port)
    }

    /// Counts another pod among its own.
    pub fn select(&self, ports: Ports) {
        let is_ready = false;
        self.pods.lock().unwrap().push(Pod { ports, is_ready });
    }

    /// Waits until connections go to the pod.
    pub async fn wait_ready(&self, ports: Ports) {
        let is_ready = |pod: &Pod| pod.ports.webhook == ports.webhook && pod.is_ready;
        until("connections to go to the pod", async || {
            self.pods.lock().unwrap().iter().any(is_ready)
        })
        .await;
    }
}

/// Sends each connection to the next ready pod.
async fn forward(listener: TcpListener, pods: Arc<Mutex<Vec<Pod>>>) {
    let mut connections = JoinSet::new();
    let mut turn = 0;
    while let Ok((mut client, _)) = listener.accept().await {
        let ready: Vec<u16> = {
            let pods = pods.lock().unwrap();
            let ready = pods.iter().filter(|pod| pod.is_ready);
            ready.map(|pod| pod.ports.webhook).collect()
        };
        turn += 1;
        let Some(port) = ready.get(turn % ready.len().max(1)).copied() else {
            continue;
        };
        connections.spawn(async move {
            // Where the pod is gone, the client is refused, as by a Service.
            if let Ok(mut pod) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
                copy_bidirectional(&mut client, &mut pod).await.ok();
            }
        });
    }
}

async fn probe(pods: Arc<Mutex<Vec<Pod>>>) {
    loop {
        let ports: Vec<Ports> = {
            let pods = pods.lock().unwrap();
            pods.iter().map(|pod| pod.ports).collect()
        };
        for (index, ports) in ports.into_iter().enumerate() {
            let is_ready = ports.is_ready().await;
            pods.lock().unwrap()[index].is_ready = is_ready;
        }
        tokio::time::sleep(PROBE).await;
    }
}
