//! Findings: a change with all its places.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Change, Side};

/// The type that a change is in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// Side of the type.
    pub side: Side,
    /// Name of the type in generated code.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The property; absent where the change is of the type as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
}

/// Where a change shows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// Kind.
    pub kind: String,
    /// Names under which the version is served, or the two versions of a comparison; absent where the change is of the
    /// kind as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Path in the manifest: `spec.sku.name`, with `[]` for the items of a list and `{}` for those of a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// One change and everywhere it shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Group.
    pub group: String,
    /// What changed.
    #[serde(flatten)]
    pub change: Change,
    /// The type that it is in; absent for changes of kinds and groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// Every place, sorted; none for changes of the group.
    pub places: BTreeSet<Place>,
}

impl Finding {
    /// Order of reports: by group, what breaks users first, then by place.
    pub(super) fn order(&self) -> impl Ord {
        (
            &self.group,
            !self.change.breaking,
            self.places.first(),
            &self.change,
            &self.subject,
        )
    }
}

/// Collects the changes of a group, each once.
pub(super) struct Collector {
    group: String,
    found: BTreeMap<(Change, Option<Subject>), BTreeSet<Place>>,
}

impl Collector {
    pub(super) fn new(group: &str) -> Self {
        Self {
            group: group.to_owned(),
            found: BTreeMap::new(),
        }
    }

    pub(super) fn about_group(&mut self, change: Change) {
        self.found.entry((change, None)).or_default();
    }

    pub(super) fn add(&mut self, change: Change, subject: Option<Subject>, place: Place) {
        let places = self.found.entry((change, subject)).or_default();
        places.insert(place);
    }

    pub(super) fn finish(self) -> Vec<Finding> {
        let finding = |((change, subject), places)| Finding {
            group: self.group.clone(),
            change,
            subject,
            places,
        };
        self.found.into_iter().map(finding).collect()
    }
}
