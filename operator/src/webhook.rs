//! The conversion webhook of a running operator: where it is reached, its certificate, how it stops.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use armature_runtime::engine::crd::WebhookEndpoint;
use armature_runtime::kubernetes::{
    CertificateStore, Material, Replica, ServingCertificate, Webhook,
};
use jiff::civil::Date;
use tokio_util::sync::CancellationToken;

use crate::config::{OperatorConfig, WebhookReach};

/// The endpoint that CRDs name, for a webhook that listens here.
pub fn endpoint(config: &OperatorConfig, listening: SocketAddr) -> WebhookEndpoint {
    match &config.webhook_reach {
        WebhookReach::Service { name, port } => WebhookEndpoint::Service {
            namespace: config.namespace.clone(),
            name: name.clone(),
            path: "/convert".to_owned(),
            port: *port,
        },
        WebhookReach::Url(url) => WebhookEndpoint::Url(url.clone()),
        WebhookReach::Loopback => {
            WebhookEndpoint::Url(format!("https://127.0.0.1:{}/convert", listening.port()))
        }
    }
}

/// Host names of a Service.
pub fn service_names(name: &str, namespace: &str) -> [String; 2] {
    [
        format!("{name}.{namespace}.svc"),
        format!("{name}.{namespace}.svc.cluster.local"),
    ]
}

/// Host names and addresses that the certificate must be for.
pub fn certificate_names(endpoint: &WebhookEndpoint) -> Result<Vec<String>, String> {
    match endpoint {
        WebhookEndpoint::Service {
            namespace, name, ..
        } => Ok(service_names(name, namespace).to_vec()),
        WebhookEndpoint::Url(text) => {
            let url = url::Url::parse(text).map_err(|error| error.to_string())?;
            if url.scheme() != "https" {
                return Err("the API server calls webhooks over https only".to_owned());
            }
            match url.host() {
                Some(url::Host::Domain(name)) => Ok(vec![name.to_owned()]),
                Some(url::Host::Ipv4(address)) => Ok(vec![address.to_string()]),
                Some(url::Host::Ipv6(address)) => Ok(vec![address.to_string()]),
                None => Err("there is no host in it".to_owned()),
            }
        }
    }
}

/// The certificate of the webhook: where it is kept, and what is served of it.
pub struct Certificates {
    /// Where it is kept for all replicas.
    pub store: CertificateStore,
    /// What TLS serves.
    pub serving: Arc<ServingCertificate>,
    /// What is served and trusted now.
    pub current: Material,
    /// Today's date in UTC.
    pub today: fn() -> Date,
}

/// Serves conversion until told to stop and for a while after that, then takes leave of the other replicas.
pub async fn serve(webhook: Webhook, replica: Replica, delay: Duration, stop: CancellationToken) {
    let closed = CancellationToken::new();
    tokio::join!(webhook.run(closed.clone()), async {
        stop.cancelled().await;
        // Whoever sends objects here learns only now that we stop.
        tokio::time::sleep(delay).await;
        closed.cancel();
    });
    replica.leave().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_for_the_host_that_is_called() {
        let url = |text: &str| certificate_names(&WebhookEndpoint::Url(text.to_owned()));
        assert_eq!(
            url("https://127.0.0.1:9443/convert").unwrap(),
            ["127.0.0.1"]
        );
        assert_eq!(url("https://[::1]:1/convert").unwrap(), ["::1"]);
        assert_eq!(url("https://host.test/convert").unwrap(), ["host.test"]);
        assert!(url("http://host.test/convert").is_err());
        let service = WebhookEndpoint::Service {
            namespace: "a".into(),
            name: "w".into(),
            path: "/convert".into(),
            port: 443,
        };
        assert_eq!(certificate_names(&service).unwrap()[0], "w.a.svc");
    }
}
