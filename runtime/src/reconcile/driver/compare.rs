//! Desired against observed, and the baseline of the latest PUT.

use serde_json::Value;

use super::cluster::{clear_operation, set};
use super::pass::Pass;
use crate::engine::compare::{self, Baseline, Verdict};
use crate::reconcile::names;
use crate::reconcile::observed::Comparison;
use crate::reconcile::port::{KubernetesError, MetadataPatch};

/// Differences named in one message.
const SHOWN: usize = 8;

impl Pass<'_> {
    /// Steps 12 and 13: is there anything to send?
    pub(super) fn compare(&self) -> Comparison {
        let ignored = self.ignored_paths();
        let baseline = self
            .annotation(names::BASELINE)
            .and_then(|text| Baseline::parse(text).ok());
        let comparison = self.comparison(&ignored);
        match comparison.decide(&self.uid(), baseline.as_ref()) {
            Verdict::InSync => Comparison::Same,
            Verdict::Drift(differences) => {
                let mut shown: Vec<String> = differences
                    .iter()
                    .take(SHOWN)
                    .map(ToString::to_string)
                    .collect();
                if differences.len() > SHOWN {
                    shown.push(format!("and {} more", differences.len() - SHOWN));
                }
                Comparison::Differs(shown.join("; "))
            }
        }
    }

    /// Step 15 after a PUT: what was sent, what Azure made of it, and from which generation, in one write.
    pub(super) async fn record_baseline(&mut self) -> Result<(), KubernetesError> {
        let ignored = self.ignored_paths();
        let baseline = self.comparison(&ignored).baseline(&self.uid()).encode();
        let generation = self.generation().to_string();
        let mut patch = MetadataPatch::default();
        for (name, value) in [
            (names::BASELINE, baseline),
            (names::LATEST_RECONCILED_GENERATION, generation),
        ] {
            if self.annotation(name) != Some(&value) {
                set(&mut patch, name, value);
            }
        }
        clear_operation(&mut patch, self);
        if patch != MetadataPatch::default() {
            self.patch(patch).await?;
        }
        self.observed.baseline_recorded = true;
        Ok(())
    }

    fn comparison<'p>(&'p self, ignored: &'p [String]) -> compare::Comparison<'p> {
        compare::Comparison {
            shape: self.version.spec,
            desired: &self.desired,
            observed: self.azure.as_ref().unwrap_or(&Value::Null),
            secrets: &self.secret_versions,
            ignored,
        }
    }

    /// Paths that the user does not want compared: a list with commas.
    fn ignored_paths(&self) -> Vec<String> {
        let text = self.annotation(names::IGNORE_PATHS).unwrap_or("");
        let paths = text.split(',').map(str::trim);
        paths
            .filter(|path| !path.is_empty())
            .map(str::to_owned)
            .collect()
    }

    fn uid(&self) -> String {
        self.object.metadata.uid.clone().unwrap_or_default()
    }
}
