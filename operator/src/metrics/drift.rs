//! Counts which paths drift, for a limited number of paths.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use armature_runtime::resource::Kind;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Paths of a kind with a label of their own. Users name members of maps, such as tags, and there is no end of them.
const PATHS: usize = 50;

/// Label of the others together.
const OTHER: &str = "other";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    group: &'static str,
    kind: &'static str,
    path: String,
}

/// Counts by kind and path. Clones count together.
#[derive(Clone, Default)]
pub(super) struct Paths {
    counts: Family<Labels, Counter>,
    known: Arc<Mutex<BTreeMap<&'static str, BTreeSet<String>>>>,
}

impl Paths {
    pub(super) fn register(&self, name: &str, help: &str, registry: &mut Registry) {
        registry.register(name, help, self.counts.clone());
    }

    /// Counts each of these paths once.
    pub(super) fn count(&self, kind: Kind, paths: &[String]) {
        for path in paths {
            let labels = Labels {
                group: kind.0.group,
                kind: kind.0.kind,
                path: self.label(kind, path),
            };
            self.counts.get_or_create(&labels).inc();
        }
    }

    fn label(&self, kind: Kind, path: &str) -> String {
        // Every change of the map is whole, so a panic elsewhere leaves it valid.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.entry(kind.0.remote_type()).or_default();
        if known.len() < PATHS {
            known.insert(path.to_owned());
        }
        let label = known.get(path);
        label.cloned().unwrap_or_else(|| OTHER.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_beyond_the_limit_share_a_label() {
        let (one, two) = (armature_generated::KINDS[0], armature_generated::KINDS[1]);
        let paths = Paths::default();
        for number in 0..PATHS {
            let path = format!("tags.t{number}");
            assert_eq!(paths.label(Kind(one), &path), path);
        }
        assert_eq!(paths.label(Kind(one), "tags.late"), OTHER);
        assert_eq!(paths.label(Kind(one), "tags.t7"), "tags.t7");
        assert_eq!(paths.label(Kind(two), "tags.late"), "tags.late");
    }
}
