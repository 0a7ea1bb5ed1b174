//! Samples and recordings: `samples/<group>/<version>/**.yaml` and `recordings/<group>-<version>.jsonl`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

/// One recorded exchange.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// HTTP method.
    pub method: String,
    /// Path and query, as below the ARM endpoint.
    pub url: String,
    /// JSON body of the request; null without one.
    pub request: Value,
    /// HTTP status of the answer.
    pub status: u64,
}

/// A recording and the samples that it was made with.
#[derive(Debug)]
pub struct Recording {
    /// `<group>-<version>`.
    pub name: String,
    /// Folder with the samples.
    pub samples: PathBuf,
    /// The exchanges in order.
    pub exchanges: Vec<Exchange>,
}

/// The folder of samples and recordings: `$ARMATURE_AZURE_DATA`, else `shared/azure` beside the workspace.
pub fn folder() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("shared/azure"));
    std::env::var_os("ARMATURE_AZURE_DATA")
        .map(PathBuf::from)
        .into_iter()
        .chain(beside)
        .find(|folder| folder.join("recordings").is_dir() && folder.join("samples").is_dir())
}

/// The recordings of these groups that have samples, by name.
///
/// # Errors
/// When a file cannot be read or is no JSON.
pub fn recordings(data: &Path, groups: &[&str]) -> Result<Vec<Recording>> {
    let folder = data.join("recordings");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".jsonl").map(str::to_owned));
    }
    names.sort();
    let mut recordings = Vec::new();
    for name in names {
        let Some((group, version)) = name.split_once('-') else {
            continue;
        };
        let samples = data.join("samples").join(group).join(version);
        if !groups.contains(&group) || !samples.is_dir() {
            continue;
        }
        let file = folder.join(format!("{name}.jsonl"));
        recordings.push(Recording {
            exchanges: read(&file).with_context(|| file.display().to_string())?,
            samples,
            name,
        });
    }
    Ok(recordings)
}

fn read(file: &Path) -> Result<Vec<Exchange>> {
    let text = std::fs::read_to_string(file)?;
    let exchange = |(index, line): (usize, &str)| {
        let value: Value =
            serde_json::from_str(line).with_context(|| format!("line {}", index + 1))?;
        let url = value["url"].as_str().unwrap_or_default();
        let path = url.split_once("://").map_or(url, |(_, rest)| {
            rest.find('/').map_or("", |slash| &rest[slash..])
        });
        Ok(Exchange {
            method: value["method"].as_str().unwrap_or_default().to_owned(),
            url: path.to_owned(),
            request: value["request"].clone(),
            status: value["status"].as_u64().unwrap_or_default(),
        })
    };
    text.lines().enumerate().map(exchange).collect()
}
