//! Drift: does Azure differ from what is desired, and would a PUT change that?
//!
//! Two comparisons of ARM bodies, neither of which knows a service. *Direct:* desired against observed, on the
//! paths that desired names, knowing the casing of ids, locations and enums, the identity of list items, and
//! fields that ARM never returns. *Against the [`Baseline`]:* what desired was and what Azure returned after
//! the last good PUT; whatever the service rewrote by then is its normalisation and no drift, and what it rewrites
//! anew on every GET is nobody's.

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
    /// The same path in the schema, of which there are only so many: `properties.networkAcls.ipRules[].action`.
    pub schema_path: String,
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
    fn of_secret(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            schema_path: "secret".to_owned(),
            change: Change::Secret,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, change, .. } = self;
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

impl Verdict {
    fn of(differences: Vec<Difference>) -> Self {
        if differences.is_empty() {
            Self::InSync
        } else {
            Self::Drift(differences)
        }
    }
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
        self.unexplained(&|_| false)
    }

    /// The direct comparison without the leaves that need no PUT.
    fn unexplained(&self, explained: &dyn Fn(&Leaf<'_>) -> bool) -> Vec<Difference> {
        let mut found = Vec::new();
        self.leaves(&mut |leaf| {
            if is_rewritten(&leaf) && !explained(&leaf) {
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
                    schema_path: leaf.schema_path,
                    change,
                });
            }
        });
        found
    }

    /// The baseline of desired and observed alone. `uid` is the object's.
    pub fn baseline(&self, uid: &str) -> Baseline {
        Baseline::of(self, uid)
    }

    /// The baseline to keep while Azure works on desired. `before` is the one until now.
    pub fn sent(&self, uid: &str, before: Option<Baseline>) -> Baseline {
        let unknown = Comparison {
            observed: &Value::Null,
            ..*self
        };
        Baseline::of(&unknown, uid).remembering(before)
    }

    /// The baseline to keep after a PUT of desired that made Azure return observed. `again` is what another GET
    /// returned right after, `before` the baseline until now: where Azure returns this and then that for what was
    /// sent once, the value is its own and never drift.
    pub fn settled(&self, uid: &str, again: Option<&Value>, before: Option<&Baseline>) -> Baseline {
        let look = |observed| Baseline::of(&Comparison { observed, ..*self }, uid);
        let again = again.map(look);
        look(self.observed).unstable_where([again.as_ref(), before])
    }

    /// Decides whether to PUT. Without a baseline (on adoption) the direct comparison alone decides.
    pub fn decide(&self, uid: &str, baseline: Option<&Baseline>) -> Verdict {
        let mut differences = Vec::new();
        let Some(known) = baseline else {
            return Verdict::of(self.differences());
        };
        let now = self.baseline(uid);
        if now.is_same_state(known) {
            return Verdict::InSync;
        }
        if !now.same_secrets(known) {
            let names = self.secrets.iter().map(|secret| secret.name.as_str());
            differences.extend(names.map(|name| Difference::of_secret(&format!("secret {name}"))));
            if differences.is_empty() {
                differences.push(Difference::of_secret("secrets"));
            }
        }
        // What the user has edited since is compared as it is.
        let explained = |leaf: &Leaf<'_>| now.same_desired(known) && known.expects(leaf, uid);
        differences.extend(self.unexplained(&explained));
        Verdict::of(differences)
    }
}

/// Whether Azure has something else on the path than what is desired.
fn is_rewritten(leaf: &Leaf<'_>) -> bool {
    !equal(leaf.rule, leaf.desired.as_deref(), leaf.observed.as_deref())
}

fn is_at_or_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests;
