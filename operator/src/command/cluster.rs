//! Which cluster: the flags that kubectl has.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use kube::config::{KubeConfigOptions, Kubeconfig};

/// Flags for the way to a cluster.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Cluster")]
pub struct ClusterArguments {
    /// The kubeconfig; else KUBECONFIG, ~/.kube/config, or the pod's service account.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig; else its current one.
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// Namespace; else that of the context for what is applied, and all for what is looked at.
    #[arg(short, long, value_name = "NAME")]
    pub namespace: Option<String>,
}

impl ClusterArguments {
    /// The way to the cluster.
    ///
    /// # Errors
    /// When there is no kubeconfig, or it has no such context.
    pub async fn config(&self) -> anyhow::Result<kube::Config> {
        let options = KubeConfigOptions {
            context: self.context.clone(),
            ..KubeConfigOptions::default()
        };
        let config = match (&self.kubeconfig, &self.context) {
            (Some(path), _) => {
                let file = Kubeconfig::read_from(path)
                    .with_context(|| format!("cannot read the kubeconfig {}", path.display()))?;
                kube::Config::from_custom_kubeconfig(file, &options)
                    .await
                    .map_err(Into::into)
            }
            (None, Some(_)) => kube::Config::from_kubeconfig(&options)
                .await
                .map_err(Into::into),
            (None, None) => kube::Config::infer().await.map_err(anyhow::Error::from),
        };
        config.context(
            "cannot find out how to reach Kubernetes; name a kubeconfig with --kubeconfig or KUBECONFIG, and a context \
             with --context",
        )
    }
}
