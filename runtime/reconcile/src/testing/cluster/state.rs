//! What the cluster in memory has.

use std::collections::{BTreeMap, HashMap, HashSet};

use armature_shapes::resource::{Object, ObjectKey};

use crate::claim;
use crate::port::{DataKind, EventNote, KeyedData};

#[derive(Default)]
pub(super) struct State {
    pub objects: HashMap<ObjectKey, Object>,
    /// Objects that ever had an ARM id, by the id in lower case.
    pub ids: HashMap<String, HashSet<ObjectKey>>,
    pub data: BTreeMap<(DataKind, String, String), KeyedData>,
    pub namespaces: BTreeMap<String, BTreeMap<String, String>>,
    /// What the server has, where watches have not told of it yet.
    pub live_namespaces: BTreeMap<String, BTreeMap<String, String>>,
    pub events: Vec<(ObjectKey, EventNote)>,
    pub conflicts: usize,
    /// Writes of metadata are refused, as by a policy.
    pub refuses_metadata: bool,
    /// Bytes of the longest status that is taken.
    pub longest_status: Option<usize>,
    /// What the cache has of objects that it is behind with.
    pub cached: HashMap<ObjectKey, Object>,
    pub data_reads: usize,
    pub version: u64,
    pub created: u64,
}

impl State {
    pub fn note_id(&mut self, key: &ObjectKey) {
        let object = self.objects.get(key);
        if let Some(id) = object.and_then(claim::resource_id) {
            let keys = self.ids.entry(id.to_lowercase()).or_default();
            keys.insert(key.clone());
        }
    }

    pub fn next_version(&mut self) -> String {
        self.version += 1;
        self.version.to_string()
    }
}
