//! Drift: does Azure differ from what is desired, and would a PUT change that?
//!
//! Two comparisons of ARM bodies, neither of which knows a service. *Direct:* desired against observed, on the
//! paths that desired names, knowing the casing of ids, locations and enums, the identity of list items, and
//! fields that ARM never returns. *Against the [`Baseline`]:* what desired was and what Azure returned after
//! the last good PUT; whatever the service rewrote by then is its normalisation and no drift.

mod baseline;
mod equal;
mod leaves;

use std::fmt;

use serde_json::Value;

use self::equal::equal;
use self::leaves::{Leaf, visit};
use crate::shape::StructShape;

pub use baseline::{Baseline, BaselineError};

/// A Secret that went into desired: enough to see that it changed, without its value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretVersion {
    /// Name of the Secret.
    pub name: String,
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.resourceVersion`.
    pub resource_version: String,
}

/// One path on which Azure differs from what is desired.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Path in ARM's JSON: `properties.networkAcls.ipRules["10.0.0.0/8"].action`.
    pub path: String,
    /// What is different.
    pub change: Change,
}

/// What is different at a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Two values; `None` on the side that has none.
    Value {
        /// What is desired.
        desired: Option<Value>,
        /// What Azure has.
        observed: Option<Value>,
    },
    /// Values that must not be shown, or of which the shape does not say that they may be.
    Hidden,
    /// A Secret that the spec refers to has changed since the last PUT.
    Secret,
}

impl Difference {
    /// The path without keys and positions: `properties.networkAcls.ipRules[].action`.
    pub fn general_path(&self) -> String {
        let (mut is_key, mut is_quoted, mut is_escaped) = (false, false, false);
        let mut general = self.path.clone();
        general.retain(|letter| {
            let was_key = is_key;
            match letter {
                '"' if is_key && !is_escaped => is_quoted = !is_quoted,
                '[' => is_key = true,
                ']' if !is_quoted => is_key = false,
                _ => {}
            }
            is_escaped = letter == '\\' && !is_escaped;
            !was_key || !is_key
        });
        general
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, change } = self;
        match change {
            Change::Hidden => write!(formatter, "{path}: differs"),
            Change::Secret => write!(formatter, "{path}: changed since it was sent"),
            Change::Value { desired, observed } => write!(
                formatter,
                "{path}: desired {}, Azure has {}",
                shown(desired.as_ref()),
                shown(observed.as_ref())
            ),
        }
    }
}

/// A value as text that fits into a condition message.
fn shown(value: Option<&Value>) -> String {
    const LONGEST: usize = 80;
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    let text = value.to_string();
    if text.chars().count() <= LONGEST {
        return text;
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("{start}…")
}

/// What to do about drift.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// A PUT would change nothing.
    InSync,
    /// A PUT is called for; the differences say why. Never empty.
    Drift(Vec<Difference>),
}

/// The two bodies and what is needed to compare them.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// Shape of the spec in the version whose api-version is used for both bodies.
    pub shape: &'static StructShape,
    /// Body that would be PUT.
    pub desired: &'a Value,
    /// Body that GET returned.
    pub observed: &'a Value,
    /// Secrets that desired was built with.
    pub secrets: &'a [SecretVersion],
    /// ARM paths that the user does not want compared; everything below them is ignored too.
    pub ignored: &'a [String],
}

impl Comparison<'_> {
    /// Calls `take` for every value that desired names.
    fn leaves(&self, take: &mut dyn FnMut(Leaf<'_>)) {
        visit(self.shape, self.desired, self.observed, &mut |leaf| {
            let ignored = |path: &str| {
                let mut ignored = self.ignored.iter();
                ignored.any(|prefix| is_at_or_below(path, prefix))
            };
            if !ignored(&leaf.path) {
                take(leaf);
            }
        });
    }

    /// The direct comparison. Values of secrets are never among the differences.
    pub fn differences(&self) -> Vec<Difference> {
        let mut found = Vec::new();
        self.leaves(&mut |leaf| {
            if !equal(leaf.rule, leaf.desired.as_deref(), leaf.observed.as_deref()) {
                let change = if leaf.hidden {
                    Change::Hidden
                } else {
                    Change::Value {
                        desired: leaf.desired.map(std::borrow::Cow::into_owned),
                        observed: leaf.observed.map(std::borrow::Cow::into_owned),
                    }
                };
                found.push(Difference {
                    path: leaf.path,
                    change,
                });
            }
        });
        found
    }

    /// The baseline to keep after a PUT of desired that made Azure return observed. `uid` is the object's.
    pub fn baseline(&self, uid: &str) -> Baseline {
        Baseline::of(self, uid)
    }

    /// Decides whether to PUT. Without a baseline (on adoption) the direct comparison alone decides.
    pub fn decide(&self, uid: &str, baseline: Option<&Baseline>) -> Verdict {
        let mut differences = Vec::new();
        if let Some(known) = baseline {
            let now = self.baseline(uid);
            if now == *known {
                return Verdict::InSync;
            }
            if !now.same_secrets(known) {
                differences.extend(self.secrets.iter().map(|secret| Difference {
                    path: format!("secret {}", secret.name),
                    change: Change::Secret,
                }));
                if self.secrets.is_empty() {
                    differences.push(Difference {
                        path: "secrets".to_owned(),
                        change: Change::Secret,
                    });
                }
            }
        }
        differences.extend(self.differences());
        if differences.is_empty() {
            Verdict::InSync
        } else {
            Verdict::Drift(differences)
        }
    }
}

fn is_at_or_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests;
