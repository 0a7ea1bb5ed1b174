//! The webhook's certificate is renewed under a running operator.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use armature_e2e::World;
use k8s_openapi::api::core::v1::Secret;
use kube::api::Api;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::wait_until;

/// The certificate that is served there, checked against these authorities.
fn served(address: SocketAddr, authorities: &[u8]) -> Vec<u8> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(authorities) {
        roots.add(authority.unwrap()).unwrap();
    }
    let config = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::IpAddress(address.ip().into());
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, TcpStream::connect(address).unwrap());
    stream.flush().unwrap();
    stream.conn.peer_certificates().unwrap()[0].to_vec()
}

#[test]
fn conversion_goes_on_when_the_certificate_is_renewed() {
    World::shared().run("certificate", async |world, objects| {
        let read = async || world.webhook_secret().await.unwrap().data.unwrap();
        let old = read().await;
        let address = world.webhook_address();
        let before = served(address, &old["ca.crt"].0);
        let manifest = "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: certificate
  namespace: certificate
  annotations: {serviceoperator.azure.com/reconcile-policy: skip}
spec: {location: westeurope}
";
        objects.apply(manifest).await.unwrap();

        world.reveal_today();
        wait_until("another certificate is served", async || {
            served(address, &old["ca.crt"].0) != before
        })
        .await;
        let new = read().await;
        assert_ne!(new["tls.crt"], old["tls.crt"]);
        assert_eq!(
            new["ca.crt"], old["ca.crt"],
            "the authority is good for years"
        );
        let stored = CertificateDer::from_pem_slice(&new["tls.crt"].0).unwrap();
        assert_eq!(served(address, &old["ca.crt"].0), stored.to_vec());
        objects
            .get("ResourceGroup", "v1api20200601storage", "certificate")
            .await
            .unwrap();
        objects
            .apply(&manifest.replace("spec: {", "spec: {tags: {a: b}, "))
            .await
            .unwrap();

        // Whoever deletes the Secret has all issued anew, and conversion goes on meanwhile.
        let secret = world.webhook_secret().await.unwrap();
        let namespace = secret.metadata.namespace.as_deref().unwrap();
        let secrets: Api<Secret> = Api::namespaced(world.client().clone(), namespace);
        let name = secret.metadata.name.as_deref().unwrap();
        secrets.delete(name, &Default::default()).await.unwrap();
        wait_until("another authority serves", async || {
            objects
                .get("ResourceGroup", "v1api20200601", "certificate")
                .await
                .unwrap();
            let Some(newest) = world.webhook_secret().await.ok().and_then(|it| it.data) else {
                return false;
            };
            let bundle = String::from_utf8_lossy(&newest["ca.crt"].0).into_owned();
            assert!(bundle.ends_with(&*String::from_utf8_lossy(&old["ca.crt"].0)));
            let stored = CertificateDer::from_pem_slice(&newest["tls.crt"].0).unwrap();
            served(address, bundle.as_bytes()) == stored.to_vec()
        })
        .await;
    });
}
