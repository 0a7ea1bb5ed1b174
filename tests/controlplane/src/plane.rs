//! One running control plane: etcd on a Unix socket, kube-apiserver on a free loopback port.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use armature_progress::Progress;
use kube::config::{KubeConfigOptions, Kubeconfig};
use tempfile::TempDir;

use crate::{
    Binaries, Error, LogTail, Usage, certificates::Certificates, kubeconfig, ports::free_port,
    process::Supervised, waiting::LIMIT,
};

const POLL: Duration = Duration::from_millis(100);
/// How often a start is retried when another process took the free port first.
const PORT_ATTEMPTS: usize = 3;

/// How to start a control plane. The default is right for tests.
#[derive(Debug, Default)]
pub struct Options {
    /// Further flags for kube-apiserver, such as `--v=4`; they come last and so win over ours.
    pub apiserver_flags: Vec<String>,
    /// Shows progress of getting the binaries and of the start. Defaults to a spinner or plain lines on stderr.
    pub progress: Option<Progress>,
}

/// A running etcd and kube-apiserver. Both end, and their data goes, when this is dropped or the process ends, by
/// whatever signal.
#[derive(Debug)]
pub struct ControlPlane {
    // Fields drop in this order: programs first, then their folder.
    apiserver: Option<Supervised>,
    _etcd: Supervised,
    certificates: Certificates,
    binaries: Binaries,
    flags: Vec<String>,
    port: u16,
    kubeconfig: PathBuf,
    folder: TempDir,
}

impl ControlPlane {
    /// Gets the binaries if need be, starts both programs, and waits until the API server is ready.
    ///
    /// # Errors
    /// The binaries cannot be had, or a program does not come up; the message has the last lines of its log.
    pub async fn start(options: Options) -> Result<Self, Error> {
        // kube's client needs a process-wide provider; a caller may have set the same one before.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let progress = options.progress.unwrap_or_default();
        let binaries = Binaries::locate_or_install(&progress).await?;
        let folder = tempfile::Builder::new()
            .prefix("armature-controlplane-")
            .tempdir()
            .map_err(Error::file("create a folder in", std::env::temp_dir()))?;
        let certificates = Certificates::issue(folder.path())?;
        progress.update("starting etcd");
        let etcd = start_etcd(&binaries, folder.path()).await?;
        let mut plane = Self {
            apiserver: None,
            _etcd: etcd,
            certificates,
            binaries,
            flags: options.apiserver_flags,
            port: 0,
            kubeconfig: folder.path().join("kubeconfig"),
            folder,
        };
        progress.update("starting kube-apiserver");
        plane.start_on_free_port().await?;
        Ok(plane)
    }

    /// A kubeconfig file with all rights. It goes with the control plane.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// URL of the API server, such as `https://127.0.0.1:40123`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// Configuration of a client with all rights.
    ///
    /// # Errors
    /// Our own kubeconfig is not accepted; a defect of this crate.
    pub async fn client_config(&self) -> Result<kube::Config, Error> {
        let text = kubeconfig::render(&self.url(), &self.certificates);
        let parsed = Kubeconfig::from_yaml(&text).map_err(client_error)?;
        kube::Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default())
            .await
            .map_err(client_error)
    }

    /// A client with all rights.
    ///
    /// # Errors
    /// As for [`ControlPlane::client_config`].
    pub async fn client(&self) -> Result<kube::Client, Error> {
        kube::Client::try_from(self.client_config().await?).map_err(client_error)
    }

    /// Log of kube-apiserver, over all its restarts.
    #[must_use]
    pub fn apiserver_log(&self) -> PathBuf {
        self.folder.path().join("kube-apiserver.log")
    }

    /// Time and memory of kube-apiserver since its latest start; nothing while it is stopped, or off Linux.
    #[must_use]
    pub fn apiserver_usage(&self) -> Option<Usage> {
        self.apiserver.as_ref()?.usage()
    }

    /// Kills the API server, as a crash would; data stay in etcd. Does nothing when it is stopped already.
    pub async fn stop_apiserver(&mut self) {
        if let Some(apiserver) = self.apiserver.take() {
            apiserver.stop(Duration::ZERO).await;
        }
    }

    /// Starts the API server again on the same port and waits until it is ready. Does nothing when it runs.
    ///
    /// # Errors
    /// It does not come up.
    pub async fn start_apiserver(&mut self) -> Result<(), Error> {
        if self.apiserver.is_none() {
            self.apiserver = Some(self.spawn_apiserver()?);
            self.wait_ready().await?;
        }
        Ok(())
    }

    /// Stops both programs and waits for their end. Dropping does the same without waiting.
    pub async fn stop(mut self) {
        self.stop_apiserver().await;
    }

    async fn start_on_free_port(&mut self) -> Result<(), Error> {
        let mut attempt = 1;
        loop {
            self.port = free_port().map_err(Error::file("bind a port of", "127.0.0.1"))?;
            match self.start_apiserver().await {
                Err(Error::Exited { log, .. })
                    if attempt < PORT_ATTEMPTS && log.contains("address already in use") =>
                {
                    self.stop_apiserver().await;
                    attempt += 1;
                }
                other => break other?,
            }
        }
        let text = kubeconfig::render(&self.url(), &self.certificates);
        write_private(&self.kubeconfig, &text)
    }

    fn spawn_apiserver(&self) -> Result<Supervised, Error> {
        let file = |path: &Path| path.display().to_string();
        let folder = self.folder.path();
        let certificates = &self.certificates;
        let mut flags = vec![
            format!("--etcd-servers={}", etcd_endpoint(folder)),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", self.port),
            // Without a network, no address could be detected; and no service shall point at this server.
            "--advertise-address=127.0.0.1".to_owned(),
            "--endpoint-reconciler-type=none".to_owned(),
            format!(
                "--tls-cert-file={}",
                file(&certificates.server_certificate_file)
            ),
            format!(
                "--tls-private-key-file={}",
                file(&certificates.server_key_file)
            ),
            format!("--client-ca-file={}", file(&certificates.ca_file)),
            "--authorization-mode=RBAC".to_owned(),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            format!(
                "--service-account-key-file={}",
                file(&certificates.service_account_public_key_file)
            ),
            format!(
                "--service-account-signing-key-file={}",
                file(&certificates.service_account_key_file)
            ),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            // Nothing here creates the service accounts that this plugin asks for.
            "--disable-admission-plugins=ServiceAccount".to_owned(),
            format!("--cert-dir={}", file(folder)),
        ];
        flags.extend(self.flags.iter().cloned());
        Supervised::spawn(
            &self.binaries.kube_apiserver,
            &flags,
            &[],
            &self.apiserver_log(),
            Some(folder),
        )
    }

    /// Waits for `/readyz` and for the `default` namespace, which the API server creates a moment later.
    async fn wait_ready(&mut self) -> Result<(), Error> {
        let mut config = self.client_config().await?;
        // A request to a server that is just coming up must not be retried behind our back.
        config.default_retry = false;
        config.read_timeout = Some(LIMIT);
        let client = kube::Client::try_from(config).map_err(client_error)?;
        let started = Instant::now();
        for path in ["/readyz", "/api/v1/namespaces/default"] {
            while let Err(error) = get(&client, path).await {
                self.check_running()?;
                if started.elapsed() > LIMIT {
                    return Err(Error::NotReady {
                        seconds: LIMIT.as_secs(),
                        last: error,
                        log: LogTail::of_file(&self.apiserver_log()),
                    });
                }
                tokio::time::sleep(POLL).await;
            }
        }
        Ok(())
    }

    fn check_running(&mut self) -> Result<(), Error> {
        match self.apiserver.as_mut().and_then(Supervised::exited) {
            None => Ok(()),
            Some(status) => Err(Error::Exited {
                program: "kube-apiserver",
                status,
                log: LogTail::of_file(&self.apiserver_log()),
            }),
        }
    }
}

async fn get(client: &kube::Client, path: &str) -> Result<(), String> {
    let request = http::Request::get(path)
        .body(Vec::new())
        .map_err(|error| error.to_string())?;
    client
        .request_text(request)
        .await
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Starts etcd on a Unix socket: no port to race for. Its data is thrown away, so it need not survive a crash.
async fn start_etcd(binaries: &Binaries, folder: &Path) -> Result<Supervised, Error> {
    let endpoint = etcd_endpoint(folder);
    let peer = format!("unix://{}", folder.join("peer.sock").display());
    let log = folder.join("etcd.log");
    let flags = [
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls={endpoint}"),
        // etcd insists on a host and port here; a single member is never dialled by it.
        "--advertise-client-urls=http://127.0.0.1:2379".to_owned(),
        format!("--listen-peer-urls={peer}"),
        "--unsafe-no-fsync=true".to_owned(),
        "--log-level=warn".to_owned(),
    ];
    let mut etcd = Supervised::spawn(&binaries.etcd, &flags, &[], &log, Some(folder))?;
    let started = Instant::now();
    while !client_socket(folder).exists() && started.elapsed() < LIMIT {
        if let Some(status) = etcd.exited() {
            return Err(Error::Exited {
                program: "etcd",
                status,
                log: LogTail::of_file(&log),
            });
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(etcd)
}

fn client_socket(folder: &Path) -> PathBuf {
    folder.join("client.sock")
}

fn etcd_endpoint(folder: &Path) -> String {
    format!("unix://{}", client_socket(folder).display())
}

/// Writes a file that only its owner may read.
fn write_private(path: &Path, text: &str) -> Result<(), Error> {
    use std::{io::Write, os::unix::fs::OpenOptionsExt};
    std::fs::OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(Error::file("write", path))
}

fn client_error(error: impl ToString) -> Error {
    Error::Client(error.to_string())
}
