//! Desired against observed, and the baseline of the latest PUT.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cluster::{clear_operation, set};
use super::pass::Pass;
use crate::arm::Method;
use crate::engine::compare::{self, Baseline, Verdict};
use crate::reconcile::names;
use crate::reconcile::observed::{Comparison, Differences, Recorded};
use crate::reconcile::port::{KubernetesError, MetadataPatch};

/// Differences named in one message.
const SHOWN: usize = 8;

impl Pass<'_> {
    /// Steps 12 and 13: is there anything to send?
    pub(super) fn compare(&self) -> Comparison {
        let ignored = self.ignored_paths();
        let comparison = self.comparison(&ignored);
        match comparison.decide(&self.uid(), self.baseline().as_ref()) {
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
                let paths = differences
                    .into_iter()
                    .map(|difference| difference.schema_path);
                Comparison::Differs(Differences {
                    text: shown.join("; "),
                    paths: paths.collect::<BTreeSet<_>>().into_iter().collect(),
                })
            }
        }
    }

    /// What is sent with a PUT, without an answer: kept as the baseline while Azure works on it, so that the
    /// end of the operation can tell whether something else is desired by then.
    pub(super) fn sent(&self) -> Baseline {
        let ignored = self.ignored_paths();
        let comparison = self.comparison(&ignored);
        comparison.sent(&self.uid(), self.baseline())
    }

    /// Step 15 after a PUT: what was sent, what Azure made of it, and from which generation, in one write.
    pub(super) async fn record_baseline(&mut self) -> Result<(), KubernetesError> {
        let before = self.baseline();
        let outdated = |sent: &Baseline| !sent.is_of_same_spec(&self.sent());
        if self.observed.poll.is_some() && before.as_ref().is_some_and(outdated) {
            self.observed.baseline = Some(Recorded::Outdated);
            return Ok(());
        }
        let again = self.look_again().await;
        let ignored = self.ignored_paths();
        let comparison = self.comparison(&ignored);
        let baseline = comparison.settled(&self.uid(), again.as_ref(), before.as_ref());
        let baseline = baseline.encode();
        let generation = self.generation.to_string();
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
            self.patch_anyway(patch).await?;
        }
        self.observed.baseline = Some(Recorded::Current);
        Ok(())
    }

    /// Where the service rewrote something: what it says when it is asked once more. A value that is another one then
    /// changes by itself.
    async fn look_again(&self) -> Option<Value> {
        self.azure.as_ref()?;
        if self
            .comparison(&self.ignored_paths())
            .differences()
            .is_empty()
        {
            return None;
        }
        let url = self.id.as_ref()?.url(self.version.api_version);
        let response = self.send(Method::Get, url, None).await.ok()?;
        response.body.filter(|_| response.status == 200)
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

    /// Whether something else is desired than what was sent last; only known once the body is built.
    pub(super) fn is_edited(&self) -> bool {
        let is_built = matches!(self.observed.payload, Some(Ok(())));
        is_built
            && self
                .baseline()
                .is_some_and(|sent| !sent.is_of_same_spec(&self.sent()))
    }

    /// The baseline in the annotation; one of another form counts as absent.
    fn baseline(&self) -> Option<Baseline> {
        Baseline::parse(self.annotation(names::BASELINE)?).ok()
    }

    fn uid(&self) -> String {
        self.object.metadata.uid.clone().unwrap_or_default()
    }
}
