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

/// A client, and Secrets of which one has such an archive.
async fn slow(rounds: u32) -> (Client, Arc<Secrets>) {
    let server = server().await;
    let secrets = Arc::new(Secrets::default());
    let more = [
        ("AZURE_CLIENT_CERTIFICATE", archive(rounds)),
        ("AZURE_CLIENT_CERTIFICATE_PASSWORD", "x".to_owned()),
    ];
    let more = more.each_ref().map(|(key, value)| (*key, value.as_str()));
    secrets.set_keys("1", "app", &more);
    let proof = Proof::ClientSecret("x".into());
    (client(&server, proof, secrets.clone(), None), secrets)
}

/// Who stands in a line of others' certificates is told to come back, and what waits has its turn all the same.
#[tokio::test]
async fn a_line_of_certificates_keeps_nobody() {
    let (client, _) = slow(1000).await;
    let key = own_secret();
    let turns = client.credentials.turns();
    let turn = turns.acquire().await.expect("a turn");
    for _ in 0..20 {
        let early = client.subscription(&key).await.unwrap_err();
        assert!(early.is_early(), "{early:?}");
    }
    drop(turn);
    let found = loop {
        let found = client.subscription(&key).await.unwrap_err();
        if !found.is_early() {
            break found.message;
        }
        tokio::task::yield_now().await;
    };
    // The archive of this test holds nothing else.
    assert!(found.contains("it holds no private key"), "{found}");
}

/// Who asked may be told to stop, or take too long for its pass. What it began runs on, and takes memory.
#[tokio::test]
async fn who_gives_up_leaves_the_turn_to_what_it_began() {
    let (client, _secrets) = slow(300_000).await;
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
