//! What a client gets of a server that is told to stop, and which versions of TLS are taken.

use std::net::Ipv4Addr;

use axum::routing::get;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ProtocolVersion, RootCertStore, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::*;
use crate::{Material, today};

/// Bytes of the answer: the kernel has many of them still to send when the server has written the last.
const ANSWER: usize = 1 << 20;

/// More than a server reads ahead.
const MORE: usize = 400 << 10;

async fn connect(port: u16, material: &Material) -> TlsStream<TcpStream> {
    let versions = rustls::DEFAULT_VERSIONS;
    speak(port, material, versions).await.unwrap()
}

/// A connection of a client that speaks these versions of TLS alone.
async fn speak(
    port: u16,
    material: &Material,
    versions: &[&'static SupportedProtocolVersion],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(material.bundle.as_bytes()).unwrap();
    roots.add(authority).unwrap();
    let tls = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
        .await
        .unwrap();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let connector = TlsConnector::from(Arc::new(tls));
    connector.connect(name, stream).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_arrives_although_its_client_sends_more_while_the_server_stops() {
    let (asked, may_answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let answer = {
        let (asked, may_answer) = (Arc::clone(&asked), Arc::clone(&may_answer));
        move || async move {
            asked.notify_one();
            may_answer.notified().await;
            "x".repeat(ANSWER)
        }
    };
    let material = Material::issue(&["127.0.0.1".to_owned()], today()).unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let certificate = Arc::new(ServingCertificate::new(&material).unwrap());
    let router = Router::new().route("/", get(answer));
    let server = HttpsServer::new(listener, certificate, TlsVersion::Tls13, router).unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(server.run(stop.clone()));

    let (mut reader, mut writer) = tokio::io::split(connect(port, &material).await);
    let request = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    writer.write_all(request).await.unwrap();
    asked.notified().await;
    stop.cancel();
    let more = tokio::spawn(async move {
        // May fail once the server has closed.
        writer
            .write_all(&request.repeat(MORE / request.len()))
            .await
            .ok();
        writer
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    may_answer.notify_one();

    let mut text = String::new();
    reader.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    assert!(text.ends_with(&"x".repeat(ANSWER)), "{} bytes", text.len());
    drop((reader, more.await.unwrap()));
    running.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn older_versions_of_tls_are_refused() {
    let (tls12, tls13) = (ProtocolVersion::TLSv1_2, ProtocolVersion::TLSv1_3);
    let material = Material::issue(&["127.0.0.1".to_owned()], today()).unwrap();
    for (oldest, spoken, expected) in [
        (TlsVersion::Tls12, &[&TLS12][..], Some(tls12)),
        (TlsVersion::Tls12, &[&TLS13], Some(tls13)),
        (TlsVersion::Tls12, &[&TLS12, &TLS13], Some(tls13)),
        (TlsVersion::Tls13, &[&TLS12], None),
        (TlsVersion::Tls13, &[&TLS13], Some(tls13)),
        (TlsVersion::Tls13, &[&TLS12, &TLS13], Some(tls13)),
    ] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let certificate = Arc::new(ServingCertificate::new(&material).unwrap());
        let server = HttpsServer::new(listener, certificate, oldest, Router::new()).unwrap();
        let stop = CancellationToken::new();
        let running = tokio::spawn(server.run(stop.clone()));
        let met = speak(port, &material, spoken).await;
        let met = match met {
            Ok(stream) => stream.get_ref().1.protocol_version(),
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("ProtocolVersion"), "{error}");
                None
            }
        };
        assert_eq!(met, expected, "{oldest}: {spoken:?}");
        stop.cancel();
        running.await.unwrap();
    }
}
