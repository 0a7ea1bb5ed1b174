//! The certificate of the metrics endpoint where no conversion is served, whose certificate it would be: kept as that one is, for
//! all replicas, and renewed in time.

use std::sync::Arc;
use std::time::Duration;

use armature_runtime::kubernetes::{CertificateError, CertificateStore, ServingCertificate};
use jiff::civil::Date;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::config::OperatorConfig;
use crate::webhook::service_names;

/// The certificate, as it is kept and as it is served.
pub struct Certificate {
    store: CertificateStore,
    serving: Arc<ServingCertificate>,
    today: fn() -> Date,
    check: Duration,
}

impl Certificate {
    /// For the Service by which the metrics are read.
    ///
    /// # Errors
    /// When it can be neither issued nor kept.
    pub async fn begin(
        config: &OperatorConfig,
        client: kube::Client,
        service: &str,
    ) -> Result<Self, CertificateError> {
        let namespace = &config.namespace;
        let names = service_names(service, namespace).to_vec();
        let secret = format!("{service}-certificate");
        let store = CertificateStore::new(client, namespace, &secret, names);
        let current = store.ensure((config.today)(), None).await?;
        Ok(Self {
            serving: Arc::new(ServingCertificate::new(&current)?),
            store,
            today: config.today,
            check: config.certificate_check,
        })
    }

    /// What TLS serves.
    pub fn serving(&self) -> Arc<ServingCertificate> {
        Arc::clone(&self.serving)
    }

    /// Looks at it again and again until told to stop.
    pub async fn run(self, stop: CancellationToken) {
        stop.run_until_cancelled(self.keep()).await;
    }

    async fn keep(self) {
        let mut check = tokio::time::interval_at(Instant::now() + self.check, self.check);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            check.tick().await;
            if let Err(error) = self.renew().await {
                tracing::error!(%error, "the certificate of the metrics was not renewed; trying again");
            }
        }
    }

    async fn renew(&self) -> Result<(), CertificateError> {
        let stored = self.store.ensure((self.today)(), None).await?;
        self.serving.replace(&stored)
    }
}
