//! The conversion webhook of a running operator: its certificate, its renewal, and the CRDs that trust it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use armature_runtime::engine::crd::WebhookEndpoint;
use armature_runtime::kind::KindInfo;
use armature_runtime::kubernetes::{CertificateStore, CrdInstaller, Material, ServingCertificate};
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

/// Host names and addresses that the certificate must be for.
pub fn certificate_names(endpoint: &WebhookEndpoint) -> Result<Vec<String>, String> {
    match endpoint {
        WebhookEndpoint::Service {
            namespace, name, ..
        } => Ok(vec![
            format!("{name}.{namespace}.svc"),
            format!("{name}.{namespace}.svc.cluster.local"),
        ]),
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

/// Keeps the served certificate and the CRDs' trust in it current, until told to stop.
pub struct Renewal {
    /// Where the certificate is kept.
    pub store: CertificateStore,
    /// Who writes CRDs.
    pub installer: CrdInstaller,
    /// Kinds whose CRDs convert through this webhook.
    pub kinds: Vec<&'static KindInfo>,
    /// What TLS serves.
    pub serving: Arc<ServingCertificate>,
    /// What is served and trusted now.
    pub current: Material,
    /// How often the stored certificate is looked at: another replica may have renewed it.
    pub interval: Duration,
    /// Today's date in UTC.
    pub today: fn() -> Date,
}

impl Renewal {
    /// Looks at the certificate in intervals.
    pub async fn run(mut self, stop: CancellationToken) {
        // Wall-clock time counts, not the timer: a machine may have slept.
        while stop
            .run_until_cancelled(tokio::time::sleep(self.interval))
            .await
            .is_some()
        {
            if let Err(error) = self.check().await {
                tracing::error!(
                    error,
                    "the webhook's certificate was not renewed; trying again"
                );
            }
        }
    }

    async fn check(&mut self) -> Result<(), String> {
        let text = |error: &dyn std::error::Error| error.to_string();
        let stored = self
            .store
            .ensure((self.today)())
            .await
            .map_err(|error| text(&error))?;
        if stored.bundle != self.current.bundle {
            self.installer
                .point_conversion(&self.kinds, &stored.bundle)
                .await
                .map_err(|error| text(&error))?;
        }
        if stored.certificate != self.current.certificate {
            self.serving
                .replace(&stored)
                .map_err(|error| text(&error))?;
            tracing::info!("the webhook serves a new certificate");
        }
        self.current = stored;
        Ok(())
    }
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
