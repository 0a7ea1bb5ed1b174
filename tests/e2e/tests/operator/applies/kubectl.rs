//! `kubectl apply --server-side` moves manifests between versions, and takes over what was applied by the client.

use std::path::PathBuf;
use std::process::Stdio;

use armature_controlplane::locate_or_build_kubectl;
use armature_e2e::World;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::OPERATOR;
use crate::is_ready;

/// A resource group, an account and its blob service, whose labels, versions and members are filled in.
fn manifest(label: &str, version: &str, members: &str) -> String {
    let labels = match label {
        "" => String::new(),
        label => format!(", labels: {{example.com/by: {label}}}"),
    };
    format!(
        "
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: gitops{labels}}}
spec: {{location: westeurope}}
---
apiVersion: storage.azure.com/{version}
kind: StorageAccount
metadata: {{name: gitopsdata01{labels}}}
spec:
  location: westeurope
  owner: {{name: gitops}}
  kind: StorageV2
  sku: {{name: Standard_LRS}}
  {members}
---
apiVersion: storage.azure.com/{version}
kind: StorageAccountsBlobService
metadata: {{name: gitops-blobs{labels}}}
spec:
  owner: {{name: gitopsdata01}}
"
    )
}

/// kubectl with all rights, in a namespace.
struct Kubectl {
    program: PathBuf,
    world: &'static World,
    namespace: &'static str,
}

impl Kubectl {
    async fn new(world: &'static World, namespace: &'static str) -> Self {
        Self {
            program: locate_or_build_kubectl(&Default::default()).await.unwrap(),
            world,
            namespace,
        }
    }

    /// Applies a manifest; what kubectl prints.
    async fn apply(&self, arguments: &[&str], manifest: &str) -> String {
        let mut child = Command::new(&self.program)
            .args(["apply", "--namespace", self.namespace, "-f", "-"])
            .args(arguments)
            .env("KUBECONFIG", self.world.plane().kubeconfig())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(manifest.as_bytes()).await.unwrap();
        drop(input);
        let output = child.wait_with_output().await.unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (said, problems) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{problems}\n{manifest}");
        said
    }

    /// Applies a manifest on the server, as one field manager.
    async fn server_side(&self, manifest: &str) -> String {
        self.apply(&["--server-side", "--field-manager=flux"], manifest)
            .await
    }

    async fn account(&self) -> Value {
        let objects = self.world.objects(self.namespace);
        objects
            .get("StorageAccount", "v20250601", "gitopsdata01")
            .await
            .unwrap()
    }
}

/// Label, version, members; members of the account that are there then, and that are not.
type Step<'s> = (&'s str, &'s str, &'s str, &'s [&'s str], &'s [&'s str]);

const OLD: &str = "v1api20210401";
const MIDDLE: &str = "v1api20230101";
const NEW: &str = "v20250601";

#[test]
fn one_manager_moves_a_manifest_to_any_version_while_the_operator_manages_it() {
    const NAMESPACE: &str = "applies-kubectl";
    World::shared().run(NAMESPACE, async |world, objects| {
        let kubectl = Kubectl::new(world, NAMESPACE).await;
        let is_there = |account: &Value, member: &str| !account["spec"][member].is_null();
        let steps: [Step<'_>; 12] = [
            ("alpha", MIDDLE, "accessTier: Hot", &["accessTier"], &[]),
            ("beta", MIDDLE, "accessTier: Hot", &["accessTier"], &[]),
            // Up, with nothing else; down, with a label changed; back, with a member taken out.
            ("beta", NEW, "accessTier: Hot", &["accessTier"], &[]),
            ("gamma", OLD, "accessTier: Hot", &["accessTier"], &[]),
            ("gamma", NEW, "", &[], &["accessTier"]),
            // A member that only one version has, and the way to one that lacks it.
            (
                "gamma",
                NEW,
                "enableExtendedGroups: true",
                &["enableExtendedGroups"],
                &[],
            ),
            ("gamma", OLD, "", &[], &["enableExtendedGroups"]),
            // A list, and a shorter one at another version.
            (
                "gamma",
                MIDDLE,
                "networkAcls: {defaultAction: Deny, ipRules: [{value: 1.2.3.4}, {value: 1.2.3.5}]}",
                &["networkAcls"],
                &[],
            ),
            (
                "gamma",
                OLD,
                "networkAcls: {defaultAction: Deny, ipRules: [{value: 1.2.3.4}]}",
                &["networkAcls"],
                &[],
            ),
            // All labels gone, with the version changed.
            ("", NEW, "", &[], &["networkAcls"]),
            // All of it at once.
            ("delta", OLD, "accessTier: Cool", &["accessTier"], &[]),
            ("", MIDDLE, "", &[], &["accessTier"]),
        ];
        for (label, version, members, there, not_there) in steps {
            kubectl
                .server_side(&manifest(label, version, members))
                .await;
            for (kind, name) in [
                ("StorageAccount", "gitopsdata01"),
                ("StorageAccountsBlobService", "gitops-blobs"),
            ] {
                objects.wait_ready(kind, name, is_ready).await;
            }
            let account = kubectl.account().await;
            let step = format!("{label} {version} {members}: {account:#}");
            assert!(
                there.iter().all(|member| is_there(&account, member)),
                "{step}"
            );
            assert!(
                !not_there.iter().any(|member| is_there(&account, member)),
                "{step}"
            );
            let labels = &account["metadata"]["labels"];
            match label {
                "" => assert!(labels["example.com/by"].is_null(), "{step}"),
                label => assert_eq!(labels["example.com/by"], label, "{step}"),
            }
            let again = kubectl
                .server_side(&manifest(label, version, members))
                .await;
            assert_eq!(again.matches("serverside-applied").count(), 3, "{again}");
        }
        let rules = kubectl.account().await["spec"]["networkAcls"].clone();
        assert!(rules.is_null(), "{rules}");
    });
}

#[test]
fn what_the_client_applied_is_taken_over_by_an_apply_on_the_server() {
    const NAMESPACE: &str = "applies-migration";
    World::shared().run(NAMESPACE, async |world, _| {
        let kubectl = Kubectl::new(world, NAMESPACE).await;
        for (first, then) in [(OLD, OLD), (OLD, NEW), (NEW, OLD), (NEW, MIDDLE)] {
            let name = format!("acc{first}{then}")
                .replace("v1api", "")
                .replace('v', "");
            let manifest = |version: &str, members: &str| {
                format!(
                    "
apiVersion: storage.azure.com/{version}
kind: StorageAccount
metadata:
  name: {name}
  labels: {{team: a}}
  annotations: {{{OPERATOR}: nobody}}
spec:
  location: westeurope
  owner: {{name: nobody}}
  kind: StorageV2
  sku: {{name: Standard_LRS}}
  {members}
"
                )
            };
            kubectl
                .apply(&[], &manifest(first, "accessTier: Hot"))
                .await;
            kubectl
                .apply(&[], &manifest(first, "accessTier: Cool\n  tags: {a: b}"))
                .await;
            // kubectl gives what the client-side manager owned to the one on the server, at the version of both; with
            // another version it forgets who owned what.
            kubectl
                .apply(&["--server-side"], &manifest(first, "accessTier: Cool"))
                .await;
            kubectl
                .apply(&["--server-side"], &manifest(then, "accessTier: Cool"))
                .await;
            let objects = world.objects(NAMESPACE);
            let account = objects.get("StorageAccount", NEW, &name).await.unwrap();
            assert_eq!(account["spec"]["accessTier"], "Cool", "{first} {then}");
            assert!(
                account["spec"]["tags"].is_null(),
                "{first} {then}: {account:#}"
            );
            // And on from there, as for any other manager.
            let without_label = manifest(first, "").replace("{team: a}", "{}");
            kubectl.apply(&["--server-side"], &without_label).await;
            let account = objects.get("StorageAccount", NEW, &name).await.unwrap();
            assert!(account["spec"]["accessTier"].is_null(), "{account:#}");
            assert!(
                account["metadata"]["labels"]["team"].is_null(),
                "{account:#}"
            );
        }
    });
}
