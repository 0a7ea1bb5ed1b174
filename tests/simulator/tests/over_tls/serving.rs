//! Starting and stopping.

use std::time::Duration;

use armature_simulator::{FaultRule, OperationRule, Options, Settings, Simulator};

use crate::common::client::Session;
use crate::common::{SUBSCRIPTION, kinds};

#[tokio::test]
async fn stopping_does_not_wait_for_ever() {
    let session = Session::start(Settings::default()).await;
    session.running.simulator().add_fault(FaultRule {
        delay: Some(Duration::from_secs(600)),
        ..FaultRule::default()
    });
    let request = session.client.get(session.url(SUBSCRIPTION)).send();
    let (answer, ()) = tokio::join!(request, async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        session.running.stop().await;
    });
    assert!(answer.is_err());
}

#[tokio::test]
async fn a_stopped_simulator_lets_its_port_go() {
    let session = Session::start(Settings::default()).await;
    assert_eq!(session.json("GET", SUBSCRIPTION, None).await.0, 200);
    let address = session
        .running
        .endpoint()
        .trim_start_matches("https://")
        .to_owned();
    session.running.stop().await;
    tokio::net::TcpListener::bind(address).await.unwrap();
}

#[tokio::test]
async fn a_rule_for_an_unknown_type_is_refused() {
    let settings = Settings {
        operations_of: [("Contoso.Test/widget".to_owned(), OperationRule::default())].into(),
        ..Settings::default()
    };
    let options = Options {
        settings,
        ..Options::new(kinds::KINDS)
    };
    let error = Simulator::start(options).await.err().unwrap().to_string();
    assert!(
        error.contains("did you mean 'Contoso.Test/widgets'?"),
        "{error}"
    );
}

#[tokio::test]
async fn an_address_in_use_is_named() {
    let session = Session::start(Settings::default()).await;
    let options = Options {
        listen: session
            .running
            .endpoint()
            .trim_start_matches("https://")
            .to_owned(),
        ..Options::new(kinds::KINDS)
    };
    let listen = options.listen.clone();
    let error = Simulator::start(options).await.err().unwrap().to_string();
    assert!(
        error.starts_with(&format!("cannot listen on {listen}")),
        "{error}"
    );
    session.running.stop().await;
}
