//! Reads manifests and applies them with server-side apply.

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams},
    core::TypeMeta,
    discovery::{self, Scope},
};
use serde_json::{Value, json};

use crate::workspace;

const FIELD_MANAGER: &str = "xtask-dev";

/// Folder of all samples in the repository.
const SAMPLES: &str = "samples";

/// One manifest.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Place among all manifests.
    pub order: usize,
    /// API group; empty for Secrets, ConfigMaps and the like.
    pub group: String,
    /// API version.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Namespace; `default` if the manifest has none.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// All of it.
    pub manifest: Value,
}

impl Sample {
    /// Whether it stands for something in Azure, and so has a condition.
    pub fn is_of_azure(&self) -> bool {
        self.group.ends_with(".azure.com")
    }
}

/// A manifest that the API server has taken.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The manifest.
    pub sample: Sample,
    /// Where its objects live.
    pub resource: ApiResource,
}

/// The path that is meant: one that exists, below the root of the repository, else that of a group's samples.
///
/// # Errors
/// When there is neither.
pub fn find(root: &Utf8Path, name: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    let samples = root.join(SAMPLES);
    let candidates = [samples.join(name), root.join(name)];
    if let Some(found) = candidates.into_iter().find(|path| path.exists()) {
        return Ok(found);
    }
    let mut names = Vec::new();
    for entry in samples.read_dir_utf8()? {
        names.push(entry?.file_name().to_owned());
    }
    names.sort();
    anyhow::bail!(
        "there are no samples of `{name}`, and no such file or folder; there are samples of {}",
        names.join(", ")
    )
}

/// Manifests in a file or, in order of name, in a folder's `.yaml` files.
pub fn read(path: &Utf8Path) -> anyhow::Result<Vec<Sample>> {
    let files = if path.is_dir() {
        let mut files = workspace::files_below(path)?;
        files.retain(|file| matches!(file.extension(), Some("yaml" | "yml")));
        files.iter().map(|file| path.join(file)).collect()
    } else {
        vec![path.to_owned()]
    };
    let mut samples = Vec::new();
    for file in files {
        let found = parse(&workspace::read(&file)?).with_context(|| format!("{file}"))?;
        samples.extend(found);
    }
    for (order, sample) in samples.iter_mut().enumerate() {
        sample.order = order;
    }
    anyhow::ensure!(!samples.is_empty(), "there are no manifests in {path}");
    Ok(samples)
}

fn parse(text: &str) -> anyhow::Result<Vec<Sample>> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).context("this is not YAML")?;
    documents
        .into_iter()
        .filter(|document| !document.is_null())
        .enumerate()
        .map(|(index, document)| {
            sample(document).with_context(|| format!("document {}", index + 1))
        })
        .collect()
}

fn sample(manifest: Value) -> anyhow::Result<Sample> {
    let text = |pointer: &str| {
        let found = manifest.pointer(pointer).and_then(Value::as_str);
        found.map(str::to_owned)
    };
    let api_version = text("/apiVersion").context("has no apiVersion")?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    Ok(Sample {
        order: 0,
        group: group.to_owned(),
        version: version.to_owned(),
        kind: text("/kind").context("has no kind")?,
        namespace: text("/metadata/namespace").unwrap_or_else(|| "default".to_owned()),
        name: text("/metadata/name").context("has no metadata.name")?,
        manifest,
    })
}

/// Applies a manifest; `None` if it must be tried again later: the kind's CRD or its webhook is not there yet.
///
/// # Errors
/// The API server refuses the manifest itself.
pub async fn apply(client: &Client, sample: &Sample) -> anyhow::Result<Option<Applied>> {
    let gvk = GroupVersionKind::gvk(&sample.group, &sample.version, &sample.kind);
    let Ok((resource, capabilities)) = discovery::pinned_kind(client, &gvk).await else {
        return Ok(None);
    };
    let mut object: DynamicObject = serde_json::from_value(sample.manifest.clone())?;
    object.types = Some(TypeMeta {
        api_version: resource.api_version.clone(),
        kind: resource.kind.clone(),
    });
    let api: Api<DynamicObject> = match capabilities.scope {
        Scope::Cluster => Api::all_with(client.clone(), &resource),
        Scope::Namespaced => Api::namespaced_with(client.clone(), &sample.namespace, &resource),
    };
    let parameters = PatchParams::apply(FIELD_MANAGER).force();
    match api
        .patch(&sample.name, &parameters, &Patch::Apply(&object))
        .await
    {
        Ok(_) => Ok(Some(Applied {
            sample: sample.clone(),
            resource,
        })),
        Err(kube::Error::Api(status)) if matches!(status.code, 400 | 422) => anyhow::bail!(
            "the API server refuses {} {}: {}",
            sample.kind,
            sample.name,
            status.message
        ),
        // Not established yet, no webhook yet, or a hiccup.
        Err(_) => Ok(None),
    }
}

/// Sets an annotation of what was applied; nothing where somebody has deleted it meanwhile.
///
/// # Errors
/// The API server refuses.
pub async fn annotate(
    client: &Client,
    applied: &Applied,
    annotation: &str,
    value: &str,
) -> anyhow::Result<()> {
    let Sample {
        namespace, name, ..
    } = &applied.sample;
    let api = Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &applied.resource);
    let patch = json!({"metadata": {"annotations": {annotation: value}}});
    let (how, patch) = (PatchParams::default(), Patch::Merge(&patch));
    match api.patch_metadata(name, &how, &patch).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot annotate {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_several_documents() {
        let text = "# a comment\napiVersion: a.azure.com/v1\nkind: A\nmetadata:\n  name: one\n---\n\
                    apiVersion: b.azure.com/v2\nkind: B\nmetadata: {name: two, namespace: shop}\n---\n\
                    apiVersion: v1\nkind: Secret\nmetadata: {name: three}\n";
        let samples = parse(text).unwrap();
        let shown: Vec<String> = samples
            .iter()
            .map(|s| {
                format!(
                    "{} {} {} {}/{}",
                    s.group, s.version, s.kind, s.namespace, s.name
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "a.azure.com v1 A default/one",
                "b.azure.com v2 B shop/two",
                " v1 Secret default/three"
            ]
        );
        let of_azure: Vec<bool> = samples.iter().map(Sample::is_of_azure).collect();
        assert_eq!(of_azure, [true, true, false]);
    }

    #[test]
    fn samples_are_found_by_group_and_by_path() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        for path in ["samples/storage", "samples/quick-start", "mine"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        let found = |name: &str| find(root, Utf8Path::new(name));
        assert_eq!(found("storage").unwrap(), root.join("samples/storage"));
        assert_eq!(found("mine").unwrap(), root.join("mine"));
        let error = found("stroage").unwrap_err().to_string();
        assert!(
            error.ends_with("there are samples of quick-start, storage"),
            "{error}"
        );
    }

    #[test]
    fn a_manifest_without_a_name_is_an_error_that_says_which() {
        let error = format!("{:#}", parse("apiVersion: a/v1\nkind: A\n").unwrap_err());
        assert_eq!(error, "document 1: has no metadata.name");
    }
}
