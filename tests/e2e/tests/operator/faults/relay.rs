//! Between an operator and the real API server: passes bytes on, until the connections that are open fall silent, as those behind
//! a gateway do that has forgotten them. Nobody is told; connections that are made after that work.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The relay. Stops with the runtime.
pub struct Relay {
    silence: watch::Sender<()>,
}

impl Relay {
    /// Listens on a free port, and connects to this address.
    pub async fn start(to: SocketAddr) -> (Self, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let silence = watch::Sender::new(());
        let connections = silence.clone();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut silenced = connections.subscribe();
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(to).await.unwrap();
                    tokio::select! {
                        // One of them has ended the connection.
                        _ = copy_bidirectional(&mut client, &mut server) => return,
                        _ = silenced.changed() => {}
                    }
                    // Open, and silent.
                    std::future::pending::<()>().await;
                });
            }
        });
        (Self { silence }, address)
    }

    /// From now on nothing passes on the connections that are open.
    pub fn silence(&self) {
        self.silence.send_replace(());
    }
}
