//! Which cluster, and as whom: the flags that kubectl has.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use serde_json::json;

use super::{names, reach};

/// Flags for the way to a cluster.
#[derive(Clone, Debug, Default, Args)]
pub struct ClusterArguments {
    /// Cluster of the kubeconfig; else that of the context.
    #[arg(
        long,
        value_name = "NAME",
        hide_short_help = true,
        help_heading = HEADING
    )]
    cluster: Option<String>,

    #[command(flatten)]
    way: WayArguments,
}

const HEADING: &str = "Cluster";

/// The same without `--cluster`, for commands that have a flag of that name with a meaning of its own.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = HEADING)]
pub struct WayArguments {
    /// The kubeconfig; else KUBECONFIG, ~/.kube/config, or the pod's service account.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig; else its current one.
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// Namespace; else that of the context for what is applied, and all for what is looked at.
    #[arg(short, long, value_name = "NAME", value_parser = names::namespace)]
    pub namespace: Option<String>,

    /// User of the kubeconfig; else that of the context.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    user: Option<String>,

    /// User to impersonate: a name, or system:serviceaccount:NAMESPACE:NAME.
    #[arg(long = "as", value_name = "NAME", hide_short_help = true)]
    impersonate: Option<String>,

    /// Group to impersonate. Can be repeated.
    #[arg(
        long = "as-group",
        value_name = "NAME",
        requires = "impersonate",
        hide_short_help = true
    )]
    impersonate_groups: Vec<String>,

    /// Address of the API server.
    #[arg(short, long, value_name = "URL", hide_short_help = true)]
    server: Option<http::Uri>,

    /// Token for the API server.
    #[arg(long, value_name = "TOKEN", hide_short_help = true)]
    token: Option<String>,

    /// PEM file of the authority that issued the API server's certificate.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    certificate_authority: Option<PathBuf>,

    /// PEM file of a certificate for the API server.
    #[arg(
        long,
        value_name = "FILE",
        requires = "client_key",
        hide_short_help = true
    )]
    client_certificate: Option<PathBuf>,

    /// PEM file of its key.
    #[arg(
        long,
        value_name = "FILE",
        requires = "client_certificate",
        hide_short_help = true
    )]
    client_key: Option<PathBuf>,

    /// Name in the API server's certificate; else that of its address.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    tls_server_name: Option<String>,

    /// Do not check the API server's certificate: whoever is in between sees and changes everything.
    #[arg(long, conflicts_with = "certificate_authority", hide_short_help = true)]
    insecure_skip_tls_verify: bool,

    /// How long one request may take: 30s, 2m or seconds; 0 for as long as it takes.
    #[arg(long, value_name = "DURATION", value_parser = timeout, hide_short_help = true)]
    request_timeout: Option<Timeout>,
}

/// Longest time of a request; none when it may take any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Timeout(Option<Duration>);

impl ClusterArguments {
    /// The way to the cluster.
    ///
    /// # Errors
    /// When there is no kubeconfig, or it has no such context, cluster or user.
    pub async fn config(&self) -> anyhow::Result<kube::Config> {
        self.way.config(self.cluster.as_deref()).await
    }

    /// A client for it, whose errors say what is wrong with the way.
    ///
    /// # Errors
    /// When TLS or credentials cannot be used.
    pub fn connect(&self, config: kube::Config) -> anyhow::Result<kube::Client> {
        self.way.connect(config)
    }

    /// The namespace that was asked for.
    pub fn namespace(&self) -> Option<&str> {
        self.way.namespace.as_deref()
    }
}

impl WayArguments {
    /// The way that a kubeconfig and a context say.
    pub fn named(kubeconfig: Option<PathBuf>, context: Option<String>) -> Self {
        Self {
            kubeconfig,
            context,
            ..Self::default()
        }
    }

    /// The way to a cluster of the kubeconfig, or that of the context.
    ///
    /// # Errors
    /// When there is no kubeconfig, or it has no such context, cluster or user.
    pub async fn config(&self, cluster: Option<&str>) -> anyhow::Result<kube::Config> {
        let mut config = match self.read_config(cluster).await {
            Ok(config) => config,
            // Who names a server needs no kubeconfig.
            Err(error) => match (&self.server, self.names_kubeconfig(cluster)) {
                (Some(server), false) => kube::Config::new(server.clone()),
                _ => return Err(error),
            },
        };
        self.put_over(&mut config)?;
        Ok(config)
    }

    /// A client for a way, whose errors say what is wrong with it.
    ///
    /// # Errors
    /// When TLS or credentials cannot be used.
    pub fn connect(&self, config: kube::Config) -> anyhow::Result<kube::Client> {
        reach::client(config, &self.origin()).context("cannot connect to Kubernetes")
    }

    /// Who names the server.
    fn origin(&self) -> String {
        if self.server.is_some() {
            return "--server".to_owned();
        }
        let named = self
            .kubeconfig
            .as_ref()
            .map(|path| path.display().to_string());
        let named = named.or_else(|| std::env::var("KUBECONFIG").ok());
        let file = match named.filter(|named| !named.is_empty()) {
            Some(named) => format!("the kubeconfig {named}"),
            None => "the kubeconfig ~/.kube/config, or of this pod".to_owned(),
        };
        match &self.context {
            Some(context) => format!("the context {context} of {file}"),
            None => file,
        }
    }

    fn names_kubeconfig(&self, cluster: Option<&str>) -> bool {
        let names = [&self.context, &self.user];
        self.kubeconfig.is_some() || cluster.is_some() || names.iter().any(|name| name.is_some())
    }

    async fn read_config(&self, cluster: Option<&str>) -> anyhow::Result<kube::Config> {
        let options = KubeConfigOptions {
            context: self.context.clone(),
            cluster: cluster.map(str::to_owned),
            user: self.user.clone(),
        };
        let file = match &self.kubeconfig {
            Some(path) => Some(
                Kubeconfig::read_from(path)
                    .with_context(|| format!("cannot read the kubeconfig {}", path.display()))?,
            ),
            None if self.names_kubeconfig(cluster) => {
                Some(Kubeconfig::read().context("cannot read the kubeconfig")?)
            }
            None => None,
        };
        let config = match (file, &self.user) {
            // The library would go on as nobody.
            (Some(file), Some(user)) if !file.auth_infos.iter().any(|one| one.name == *user) => {
                Err(anyhow!("the kubeconfig has no user {user}"))
            }
            (Some(file), _) => kube::Config::from_custom_kubeconfig(file, &options)
                .await
                .map_err(anyhow::Error::from),
            (None, _) => kube::Config::infer().await.map_err(Into::into),
        };
        config.context(
            "cannot find out how to reach Kubernetes; name a kubeconfig with --kubeconfig or KUBECONFIG, and a context \
             with --context",
        )
    }

    /// What flags say goes before what the kubeconfig says.
    fn put_over(&self, config: &mut kube::Config) -> anyhow::Result<()> {
        if let Some(server) = &self.server {
            anyhow::ensure!(
                server.host().is_some() && matches!(server.scheme_str(), Some("http" | "https")),
                "--server is '{server}'; expected a URL such as https://10.0.0.1:6443"
            );
            config.cluster_url = server.clone();
        }
        if let Some(path) = &self.certificate_authority {
            // The client would tell only that the certificate is not trusted.
            std::fs::read(path).with_context(|| {
                format!("cannot read the certificate authority {}", path.display())
            })?;
            config.root_cert_file = Some(path.clone());
            config.accept_invalid_certs = false;
        }
        if self.insecure_skip_tls_verify {
            config.accept_invalid_certs = true;
        }
        if let Some(name) = &self.tls_server_name {
            config.tls_server_name = Some(name.clone());
        }
        if let Some(Timeout(limit)) = self.request_timeout {
            config.connect_timeout = limit;
            config.write_timeout = limit;
            config.read_timeout = limit;
            // Counted from the request, not from when its connection was last used.
            config.reset_reader_on_write = true;
        }
        self.identify(&mut config.auth_info)
    }

    /// Who asks. A token or certificate takes the place of whatever proof the kubeconfig has.
    fn identify(&self, auth: &mut AuthInfo) -> anyhow::Result<()> {
        if self.token.is_some() || self.client_certificate.is_some() {
            let path = |file: &Option<PathBuf>| {
                let text = file.as_ref().map(|path| path.to_str().map(str::to_owned));
                text.map(|text| text.ok_or_else(|| anyhow!("a path is not UTF-8")))
                    .transpose()
            };
            let given = json!({
                "token": self.token,
                "client-certificate": path(&self.client_certificate)?,
                "client-key": path(&self.client_key)?,
            });
            let given = serde_json::from_value::<AuthInfo>(given);
            let given =
                given.context("cannot make credentials of --token and --client-certificate")?;
            let before = std::mem::replace(auth, given);
            auth.impersonate = before.impersonate;
            auth.impersonate_uid = before.impersonate_uid;
            auth.impersonate_groups = before.impersonate_groups;
            auth.impersonate_user_extra = before.impersonate_user_extra;
        }
        if let Some(name) = &self.impersonate {
            auth.impersonate = Some(name.clone());
            auth.impersonate_uid = None;
            auth.impersonate_user_extra = None;
            auth.impersonate_groups = Some(self.impersonate_groups.clone());
        }
        Ok(())
    }
}

/// kubectl's form: a number with a unit, or seconds without one.
fn timeout(text: &str) -> Result<Timeout, String> {
    const EXPECTED: &str = "expected a duration such as 30s or 2m, seconds, or 0 for none";
    let duration = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let span = text.parse::<jiff::SignedDuration>();
            let span = span.ok().and_then(|span| Duration::try_from(span).ok());
            span.ok_or(EXPECTED)?
        }
    };
    Ok(Timeout(Some(duration).filter(|limit| !limit.is_zero())))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        cluster: ClusterArguments,
    }

    const KUBECONFIG: &str = "
apiVersion: v1
kind: Config
clusters:
- {name: blue, cluster: {server: 'https://blue.example:6443', insecure-skip-tls-verify: true}}
- {name: green, cluster: {server: 'https://green.example:6443'}}
users:
- {name: anna, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: does-not-exist}}}
- {name: bert, user: {username: bert, password: secret, as: carla, as-groups: [ops]}}
contexts:
- {name: work, context: {cluster: blue, user: anna, namespace: team}}
- {name: home, context: {cluster: green, user: bert}}
current-context: work
";

    async fn config(flags: &str) -> anyhow::Result<kube::Config> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kubeconfig");
        std::fs::write(&file, KUBECONFIG).unwrap();
        let words = ["armature", "--kubeconfig", file.to_str().unwrap()];
        let words = words.into_iter().chain(flags.split_whitespace());
        Flags::try_parse_from(words)?.cluster.config().await
    }

    #[tokio::test]
    async fn contexts_clusters_and_users() {
        let rows = [
            ("", "blue", "team"),
            ("--context home", "green", "default"),
            ("--cluster green", "green", "team"),
            ("--context home --cluster=blue", "blue", "default"),
        ];
        for (flags, host, namespace) in rows {
            let config = config(flags).await.unwrap();
            let url = config.cluster_url.to_string();
            assert!(url.contains(host), "{flags}: {url}");
            assert_eq!(config.default_namespace, namespace, "{flags}");
        }
        let bert = config("--user bert").await.unwrap().auth_info;
        assert_eq!(bert.username.as_deref(), Some("bert"));
        for wrong in ["--context x", "--cluster x", "--user x"] {
            assert!(config(wrong).await.is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn flags_go_before_the_kubeconfig() {
        let found = config("--token abc --server https://other:1 --tls-server-name name").await;
        let found = found.unwrap();
        assert!(found.auth_info.exec.is_none(), "the token is the proof");
        assert!(found.auth_info.token.is_some());
        assert_eq!(found.cluster_url.host(), Some("other"));
        assert_eq!(found.tls_server_name.as_deref(), Some("name"));
        assert!(found.accept_invalid_certs, "as the kubeconfig says");

        let found = config("--context home --insecure-skip-tls-verify --request-timeout 5s")
            .await
            .unwrap();
        assert!(found.accept_invalid_certs);
        assert_eq!(found.read_timeout, Some(Duration::from_secs(5)));
        assert!(config("--certificate-authority nowhere.pem").await.is_err());
        assert!(config("--server other:1").await.is_err());
    }

    #[tokio::test]
    async fn impersonation() {
        let auth = async |flags: &str| config(flags).await.unwrap().auth_info;
        let of_file = auth("--context home --token abc").await;
        assert_eq!(of_file.impersonate.as_deref(), Some("carla"));
        let given = auth("--context home --as dora --as-group a --as-group b").await;
        assert_eq!(given.impersonate.as_deref(), Some("dora"));
        assert_eq!(given.impersonate_groups.unwrap(), ["a", "b"]);
        assert!(config("--as-group a").await.is_err(), "a group of nobody");
    }

    #[test]
    fn timeouts() {
        let read = |text| timeout(text).map(|Timeout(limit)| limit.map(|limit| limit.as_secs()));
        assert_eq!(read("30s"), Ok(Some(30)));
        assert_eq!(read("2m"), Ok(Some(120)));
        assert_eq!(read("7"), Ok(Some(7)));
        assert_eq!(read("0"), Ok(None));
        assert!(read("soon").is_err() && read("-1s").is_err());
    }
}
