//! Values of a manifest that only Azure says: an import of another tool may have written them.

use armature_runtime::engine::collect;
use armature_runtime::engine::owned::{self, Right, Rule};
use armature_runtime::engine::payload::{self, Resolved};
use armature_runtime::kind::{KindInfo, VersionInfo};
use serde_json::Value;

use super::problem::Wrong;

/// Stands for ids and values that do not matter here.
const ANY: &str = "/any";

/// That a value is never sent, of each that the spec names.
pub fn never_sent(kind: &KindInfo, version: &VersionInfo, spec: &Value) -> Vec<Wrong> {
    let rules = kind.azure_owned.iter();
    let rules = rules.filter_map(|rule| Rule::parse(rule).ok());
    let rules: Vec<Rule> = rules.filter(|it| it.right == Right::ReadOnly).collect();
    if rules.is_empty() {
        return Vec::new();
    }
    // What is no body is told as such.
    let Ok(body) = payload::arm_body(version, "", spec, &stand_ins(version, spec)) else {
        return Vec::new();
    };
    let named = owned::read_only(version.spec, &rules, &body).into_iter();
    let told = named.map(|(path, rule)| {
        let message = format!(
            "{path} in Azure's JSON is only Azure's to say: it is never sent, and never compared ({}); take it out",
            rule.text
        );
        ("spec".to_owned(), message)
    });
    told.collect()
}

/// Something for all that the spec refers to.
fn stand_ins(version: &VersionInfo, spec: &Value) -> Resolved {
    let inputs = collect::inputs(version.spec, spec);
    let any = || ANY.to_owned();
    Resolved {
        references: inputs
            .references
            .into_iter()
            .map(|used| (used.target, any()))
            .collect(),
        secrets: inputs
            .secrets
            .into_iter()
            .map(|used| (used.target, any()))
            .collect(),
        secret_maps: inputs
            .secret_maps
            .into_iter()
            .map(|used| (used.target, Default::default()))
            .collect(),
        config_maps: inputs
            .config_maps
            .into_iter()
            .map(|used| (used.target, any()))
            .collect(),
    }
}
