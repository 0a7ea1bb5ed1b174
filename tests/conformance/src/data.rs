//! Recordings, and the manifests that they were made with.
//!
//! A recording is `recordings/<group>-<version>.jsonl`, its manifests the samples in `samples/<group>/<version>/`; a
//! few groups have folders of their own in the folder of another (`samples/documentdb/mongodb/<version>`). What the
//! recorded tests built in code is in no sample: `scenarios/` of this crate has manifests for that, one file for each
//! step.

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
    pub status: u16,
    /// Headers of the answer, names in lower case.
    pub headers: Vec<(String, String)>,
    /// JSON body of the answer; null without one.
    pub response: Value,
}

/// A recording and the manifests that it was made with.
#[derive(Debug)]
pub struct Recording {
    /// `<group>-<version>`.
    pub name: String,
    /// What was applied.
    pub manifests: Manifests,
    /// The exchanges in order.
    pub exchanges: Vec<Exchange>,
}

/// What the recorded test applied.
#[derive(Debug)]
pub enum Manifests {
    /// This folder of samples, at once.
    Samples(PathBuf),
    /// These files of ours, one after the other.
    Scenario(Vec<PathBuf>),
    /// Nothing that is known here.
    None,
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

/// All recordings, by name.
///
/// # Errors
/// When a file cannot be read or is no JSON.
pub fn recordings(data: &Path) -> Result<Vec<Recording>> {
    let mut recordings = Vec::new();
    for file in sorted(&data.join("recordings"))? {
        let Some(name) = file
            .file_stem()
            .map(|name| name.to_string_lossy().into_owned())
        else {
            continue;
        };
        recordings.push(Recording {
            exchanges: read(&file).with_context(|| file.display().to_string())?,
            manifests: manifests(data, &name)?,
            name,
        });
    }
    Ok(recordings)
}

fn manifests(data: &Path, recording: &str) -> Result<Manifests> {
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("scenarios")
        .join(recording);
    if scenario.is_dir() {
        return Ok(Manifests::Scenario(sorted(&scenario)?));
    }
    let Some((group, version)) = recording.split_once('-') else {
        return Ok(Manifests::None);
    };
    let samples = data.join("samples");
    let direct = samples.join(group).join(version);
    let below_another = sorted(&samples)?;
    let below_another = below_another.iter().map(|folder| folder.join(group));
    // The folder of samples has been moved down since the recording was made.
    let moved = sorted(&samples.join(group)).unwrap_or_default();
    let folders = std::iter::once(direct)
        .chain(below_another.map(|folder| folder.join(version)))
        .chain(moved.iter().map(|folder| folder.join(version)));
    let found = folders.into_iter().find(|folder| folder.is_dir());
    Ok(found.map_or(Manifests::None, Manifests::Samples))
}

/// Files and folders in a folder, by name.
fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
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
            status: u16::try_from(value["status"].as_u64().unwrap_or_default())?,
            headers: headers(&value["headers"]),
            response: value["response"].clone(),
        })
    };
    text.lines().enumerate().map(exchange).collect()
}

fn headers(recorded: &Value) -> Vec<(String, String)> {
    let recorded = recorded.as_object().into_iter().flatten();
    recorded
        .map(|(name, value)| {
            let value = value.as_str().unwrap_or_default();
            (name.to_lowercase(), value.to_owned())
        })
        .collect()
}
