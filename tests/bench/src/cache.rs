//! Memory of an object in the cache: what the process grows by while objects are taken in as watches deliver them.

use anyhow::Context;
use armature_generated::KINDS;
use armature_runtime::kind::KindInfo;
use armature_runtime::kubernetes::{ObjectCache, StoredObject};
use armature_runtime::resource::Kind;
use serde_json::Value;

use crate::figure::Figure;

/// Objects of each round.
const OBJECTS: usize = 5_000;

/// A virtual network as the operator leaves it in the cluster, in stored form. `NAME` is replaced.
const NETWORK: &str = include_str!("network.json");

/// Resident memory for each object, text and index included. Rounds fill caches of their own and keep them, so that no
/// round uses what another gave back.
///
/// # Errors
/// When the system does not tell the memory of a process.
pub fn memory(runs: u32) -> anyhow::Result<Vec<Figure>> {
    let kind = network()?;
    // As API servers write it, without the file's line breaks.
    let text = serde_json::from_str::<Value>(NETWORK)?.to_string();
    let mut caches = Vec::new();
    let mut samples = Vec::new();
    for round in 0..=runs {
        let before = resident()?;
        let cache = ObjectCache::default();
        for number in 0..OBJECTS {
            let object = text.replace("NAME", &format!("network-{round}-{number}"));
            let object: StoredObject = serde_json::from_str(&object)?;
            cache.apply(object.into_object(Kind(kind)));
        }
        caches.push(cache);
        samples.push((resident()? - before) / OBJECTS as f64);
    }
    // The first round takes memory for code and tables, too.
    samples.remove(0);
    let sent = Figure {
        name: "JSON of the object",
        unit: "bytes",
        samples: vec![text.len() as f64],
    };
    let cached = Figure {
        name: "memory in the cache",
        unit: "bytes",
        samples,
    };
    Ok(vec![sent, cached])
}

fn network() -> anyhow::Result<&'static KindInfo> {
    let found = KINDS.iter().find(|kind| kind.kind == "VirtualNetwork");
    found.copied().context("there is no kind VirtualNetwork")
}

/// Resident memory of this process in bytes that is no file's.
fn resident() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")
        .context("the memory of a process is read from /proc, which only Linux has")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|text| text.trim().strip_suffix(" kB"));
    let kilobytes = kilobytes.context("/proc/self/status has no RssAnon in kB")?;
    Ok(kilobytes.parse::<f64>()? * 1024.0)
}
