//! A certificate that takes as long to read as its owner wished.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::*;

/// An archive in PKCS#12 whose password is checked in this many rounds.
fn archive(rounds: u32) -> String {
    let store = p12_keystore::KeyStore::new();
    let archive = store.writer("x").mac_iterations(rounds).write();
    STANDARD.encode(archive.expect("an archive"))
}

/// Who asked may be told to stop, or take too long for its pass. What it began runs on, and takes memory.
#[tokio::test]
async fn who_gives_up_leaves_the_turn_to_what_it_began() {
    let server = server().await;
    let secrets = Arc::new(Secrets::default());
    let more = [
        ("AZURE_CLIENT_CERTIFICATE", archive(300_000)),
        ("AZURE_CLIENT_CERTIFICATE_PASSWORD", "x".to_owned()),
    ];
    let more = more.each_ref().map(|(key, value)| (*key, value.as_str()));
    secrets.set_keys("1", "app", &more);
    let client = client(&server, Proof::ClientSecret("x".into()), secrets, None);
    let turns = client.credentials.turns();
    let key = own_secret();
    let mut asked = Box::pin(client.subscription(&key));
    while turns.available_permits() > 0 {
        let read = futures::poll!(&mut asked);
        assert!(read.is_pending(), "it was read before it could be given up");
        tokio::task::yield_now().await;
    }
    drop(asked);
    assert_eq!(turns.available_permits(), 0, "it is still being read");
    let _turn = turns.acquire().await.expect("a turn at its end");
}
