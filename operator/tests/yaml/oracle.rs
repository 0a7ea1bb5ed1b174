//! What kubectl makes of a file, without a cluster.

use std::path::PathBuf;
use std::process::Stdio;

use armature::render::manifest;
use armature_controlplane::locate_or_build_kubectl;
use serde_json::{Map, Value};
use tokio::process::Command;

/// kubectl, and a folder for its input.
pub struct Kubectl {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl Kubectl {
    /// Finds or builds it.
    pub async fn new() -> Self {
        Self {
            program: locate_or_build_kubectl(&Default::default()).await.unwrap(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// The objects of a file; `None` where kubectl refuses any of it.
    pub async fn objects(&self, text: &str) -> Option<Vec<Value>> {
        let file = self.folder.path().join("objects.yaml");
        std::fs::write(&file, text).unwrap();
        let output = Command::new(&self.program)
            .args(["label", "--local", "-o", "json", "a=b", "-f"])
            .arg(file)
            .env("KUBECONFIG", self.folder.path().join("none"))
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        let objects = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
        output
            .status
            .success()
            .then(|| objects.map(Result::unwrap).collect())
    }

    /// The values of a document's `values`; `None` where kubectl refuses the document.
    async fn values(&self, text: &str) -> Option<Vec<Value>> {
        let objects = self.objects(text).await?;
        Some(in_order(&objects.first()?["values"]))
    }

    /// Both readings of scalars, each as the members of one document.
    pub async fn both(&self, scalars: &[String]) -> (Option<Vec<Value>>, Option<Vec<Value>>) {
        let text = document(scalars);
        let ours = ours(&text).ok();
        let ours = ours.and_then(|objects| Some(in_order(&objects.first()?["values"])));
        (ours, self.values(&text).await)
    }
}

fn document(scalars: &[String]) -> String {
    let mut text =
        "apiVersion: example.com/v1\nkind: Odd\nmetadata: {name: a}\nvalues:\n".to_owned();
    for (index, scalar) in scalars.iter().enumerate() {
        text.push_str(&format!("  k{index:05}: {scalar}\n"));
    }
    text
}

fn in_order(values: &Value) -> Vec<Value> {
    let empty = Map::new();
    let members = values.as_object().unwrap_or(&empty);
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by_key(|(name, _)| *name);
    members
        .into_iter()
        .map(|(_, value)| value.clone())
        .collect()
}

/// The same values; numbers beyond 63 bits are doubles in Kubernetes.
pub fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(ours), Value::Number(theirs)) => {
            ours == theirs || (ours.is_f64() || theirs.is_f64()) && ours.as_f64() == theirs.as_f64()
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|(ours, theirs)| same(ours, theirs))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            let is_same = |(name, ours): (&String, &Value)| {
                theirs.get(name).is_some_and(|theirs| same(ours, theirs))
            };
            ours.len() == theirs.len() && ours.iter().all(is_same)
        }
        (ours, theirs) => ours == theirs,
    }
}

/// The objects of a file as Armature reads them, or the first that it says against it.
pub fn ours(text: &str) -> Result<Vec<Value>, String> {
    let (mut documents, mut errors) = (Vec::new(), Vec::new());
    manifest::parse(&Default::default(), text, &mut documents, &mut errors);
    match errors.first() {
        Some(error) => Err(error.message.clone()),
        None => Ok(documents
            .into_iter()
            .map(|document| document.value)
            .collect()),
    }
}
