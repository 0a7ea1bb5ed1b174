//! A pool of nodes that its autoscaler grows: the operator sees the new number, and leaves it alone.

use std::time::{Duration, Instant};

use super::Act;
use crate::dev::{samples::Sample, status::Row};

/// How many nodes the autoscaler adds.
const ADDED: i64 = 2;

/// The thread of one pool.
#[derive(Debug)]
pub struct Scaling {
    /// Name of the pool's object.
    pub pool: String,
    /// What its manifest says.
    count: i64,
    step: Step,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// Until the pool is Ready.
    Creating,
    /// The autoscaler has added nodes; until the object shows them and is Ready.
    Scaled,
    /// Since then; it stays to be looked at for the pause.
    LeftAlone(Instant),
    Over,
}

impl Scaling {
    /// The thread of a pool whose manifest switches its autoscaler on.
    pub fn of(sample: &Sample) -> Option<Self> {
        let spec = &sample.manifest["spec"];
        let is_on = spec["enableAutoScaling"].as_bool() == Some(true);
        is_on.then_some(Self {
            pool: sample.name.clone(),
            count: spec["count"].as_i64()?,
            step: Step::Creating,
        })
    }

    /// What happens now to the pool in this row.
    pub fn next(&mut self, pool: Option<&Row>, now: Instant, pause: Duration) -> Option<Act> {
        let pool = pool.filter(|pool| pool.is_ready())?;
        match self.step {
            Step::Creating => {
                self.step = Step::Scaled;
                Some(Act::Autoscale {
                    pool: self.pool.clone(),
                    id: pool.id.clone(),
                    count: self.count + ADDED,
                })
            }
            Step::Scaled if pool.count == Some(self.count + ADDED) => {
                self.step = Step::LeftAlone(now);
                None
            }
            Step::LeftAlone(since) if now.duration_since(since) >= pause => {
                self.step = Step::Over;
                None
            }
            Step::Scaled | Step::LeftAlone(_) | Step::Over => None,
        }
    }

    /// Whether it has come to its end.
    pub fn is_over(&self) -> bool {
        self.step == Step::Over
    }

    /// What a person is looking at.
    pub fn remark(&self) -> Option<String> {
        let is_shown = matches!(self.step, Step::LeftAlone(_));
        is_shown.then(|| {
            format!(
                "{} has {} nodes, and its manifest says {}: the autoscaler's number is left alone",
                self.pool,
                self.count + ADDED,
                self.count
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dev::samples;

    fn pool(scaling: &str) -> Option<Scaling> {
        let text = format!(
            "apiVersion: containerservice.azure.com/v1\nkind: ManagedClustersAgentPool\nmetadata: {{name: p}}\nspec: {{{scaling}count: 2}}\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pool.yaml");
        std::fs::write(&path, text).unwrap();
        let samples = samples::read(camino::Utf8Path::from_path(&path).unwrap()).unwrap();
        Scaling::of(&samples[0])
    }

    #[test]
    fn a_pool_without_an_autoscaler_has_no_thread() {
        assert!(pool("").is_none());
        assert!(pool("enableAutoScaling: false, ").is_none());
    }

    #[test]
    fn nodes_are_added_once_and_it_ends_when_the_object_shows_them_and_is_ready() {
        let mut scaling = pool("enableAutoScaling: true, ").unwrap();
        let (start, pause) = (Instant::now(), Duration::from_secs(5));
        let row = |ready: &str, count: i64| Row {
            ready: ready.to_owned(),
            id: "/pool".to_owned(),
            count: Some(count),
            ..Row::default()
        };
        assert_eq!(scaling.next(None, start, pause), None);
        assert_eq!(scaling.next(Some(&row("False", 2)), start, pause), None);
        let act = Act::Autoscale {
            pool: "p".to_owned(),
            id: "/pool".to_owned(),
            count: 4,
        };
        assert_eq!(scaling.next(Some(&row("True", 2)), start, pause), Some(act));
        // Not yet seen, or taken back.
        for row in [row("True", 2), row("False", 4)] {
            assert_eq!(scaling.next(Some(&row), start, pause), None);
            assert_eq!(scaling.remark(), None);
        }
        let seen = row("True", 4);
        assert_eq!(scaling.next(Some(&seen), start, pause), None);
        assert!(scaling.remark().unwrap().contains("p has 4 nodes"));
        assert_eq!(scaling.next(Some(&seen), start, pause), None);
        assert!(!scaling.is_over());
        assert_eq!(scaling.next(Some(&seen), start + pause, pause), None);
        assert!(scaling.is_over());
    }
}
