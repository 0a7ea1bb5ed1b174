//! Clusters that cannot be reached: what the program says of real listeners.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::Command;

use armature_controlplane::program;
use armature_simulator::{Answer, Reply, Request, Running, Service};
use serde_json::json;

/// An API server that knows nobody.
#[derive(Clone)]
struct Stranger(String);

impl Service for Stranger {
    fn handle(&self, _: &Request) -> Reply {
        Answer::json(
            401,
            json!({"kind": "Status", "code": 401, "message": "Unauthorized"}),
        )
        .into()
    }

    fn endpoint(&self) -> &str {
        &self.0
    }
}

const KUBECONFIG: &str = "
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'SERVER'}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: work, context: {cluster: c, user: u}}]
current-context: work
";

#[tokio::test(flavor = "multi_thread")]
async fn it_names_the_server_the_cause_and_what_to_do() {
    let server = Running::start("127.0.0.1:0", Vec::new(), Stranger).await;
    let server = server.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("config");
    let authority = folder.path().join("ca.pem");
    std::fs::write(&authority, server.ca_pem()).unwrap();
    let trust = format!("--certificate-authority={}", authority.display());
    let listening = server.endpoint().to_owned();
    let by_name = format!("{trust} --tls-server-name=another.example");
    // Nobody can listen there without being root.
    let nobody = "https://127.0.0.1:1".to_owned();
    let table = [
        (
            &listening,
            "",
            "authority that is not trusted; ",
            "--insecure-skip-tls-verify",
        ),
        (&listening, trust.as_str(), "who asks (401); ", "--token"),
        (
            &listening,
            "--insecure-skip-tls-verify",
            "who asks (401); ",
            "--context",
        ),
        (
            &listening,
            by_name.as_str(),
            "for another name; ",
            "--tls-server-name",
        ),
        (&nobody, "", "the connection is refused; ", "--kubeconfig"),
        (
            &"https://no-such-host.invalid".to_owned(),
            "",
            "no host of this name; ",
            "network",
        ),
    ];
    for (address, flag, cause, advice) in table {
        std::fs::write(&kubeconfig, KUBECONFIG.replace("SERVER", address)).unwrap();
        for command in ["status", "crds status", "plan --cluster=c"] {
            let mut program = Command::new(program(env!("CARGO_BIN_EXE_armature")));
            program.args(command.split(' ')).args(["--context", "work"]);
            program.arg("--kubeconfig").arg(&kubeconfig);
            program.args(flag.split_whitespace());
            let output = tokio::task::spawn_blocking(move || program.output().unwrap());
            let output = output.await.unwrap();
            let told = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{command} {flag}: {told}");
            let origin = format!(
                "the Kubernetes API server {address}, named by the context work of the kubeconfig {}",
                kubeconfig.display()
            );
            for part in [&origin, cause, advice] {
                assert!(told.contains(part), "{command} {flag}: {part}: {told}");
            }
            assert!(!told.contains("ServiceError"), "{told}");
        }
    }
}
