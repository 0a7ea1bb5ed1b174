//! The kubeconfig of the administrator, in the form that kubectl reads.

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::certificates::Certificates;

/// YAML with everything inline, so that the file alone is enough.
pub(crate) fn render(server: &str, certificates: &Certificates) -> String {
    let ca = STANDARD.encode(&certificates.ca);
    let certificate = STANDARD.encode(&certificates.admin_certificate);
    let key = STANDARD.encode(&certificates.admin_key);
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: armature
  cluster:
    server: {server}
    certificate-authority-data: {ca}
users:
- name: admin
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: armature
  context:
    cluster: armature
    user: admin
    namespace: default
current-context: armature
"
    )
}
