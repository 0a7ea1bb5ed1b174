//! Two questions about ARM bodies that must not be mixed up, neither of which needs to know a service.
//!
//! *Was what is desired edited?* [`edit`] asks the [`Record`] of the latest PUT: an edit that changes the body is sent,
//! whatever Azure shows, since what was taken out must go.
//!
//! *Did Azure drift?* Two comparisons. *Direct:* desired against observed, on the paths that desired names, knowing the
//! casing of ids, locations and enums, the identity of list items, fields that ARM never returns, and the kind's rules
//! for what Azure says in other words ([`Spelling`]). *Against the
//! record:* what Azure returned after the latest PUT; whatever the service rewrote by then is its normalisation and no
//! drift, and what it rewrites anew on every GET is nobody's.

mod certain;
mod collections;
mod earlier;
mod equal;
mod former;
mod keyed;
mod leaf;
mod leaves;
mod left_out;
mod look;
mod lookup;
mod marked;
mod marks;
mod matching;
mod member;
mod members;
mod name;
pub mod overlay;
mod record;
mod repeat;
#[cfg(test)]
mod sizes;
mod spelling;
mod timed;

use std::collections::BTreeSet;
use std::fmt;

use armature_shapes::shape::StructShape;
use serde_json::Value;

use self::collections::{Collection, collections};
use self::leaf::Leaf;
use self::leaves::visit;
use self::lookup::PathSet;
use self::spelling::Spellings;
pub(crate) use lookup::member;

pub use collections::MOST_SHARED;
pub use earlier::EarlierRecord;
pub(crate) use equal::{is_nothing, is_same_text};
pub use keyed::{DigestKey, Keyed};
pub(crate) use leaves::{identifiers, identity, is_unseen};
pub use left_out::LeftOut;
pub use look::Place;
pub use marked::{MOST as MOST_MARKS, Mark, Remembered};
pub use marks::Marks;
pub use member::Member;
pub use record::{Desired, Edit, Record, Settled, UNSTABLE_FOR, edit};
pub use repeat::{MOST_REPEATED, Repeated};
pub use spelling::{Same, Spelling, SpellingError, While, Word};
pub use timed::{MOST_TIMED, Timed, Topic};

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
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, change, .. } = self;
        match change {
            Change::Hidden => write!(formatter, "{path}: differs"),
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

/// An item of a shared list that the spec no longer names and that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Where, as comparisons write it.
    pub path: String,
    /// Whether it is still ours, to go later. Else another object stands for it.
    pub is_ours: bool,
}

/// The two bodies and what is needed to compare them.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// Shape of the spec in the version whose api-version is used for both bodies.
    pub shape: &'static StructShape,
    /// Body that would be PUT.
    pub desired: &'a Value,
    /// The part of it that comes from the spec, where what others added is sent along; else nothing.
    pub own: Option<&'a Value>,
    /// Body that GET returned.
    pub observed: &'a Value,
    /// ARM paths that the user does not want compared; everything below them is ignored too.
    pub ignored: &'a [String],
    /// Places whose value is Azure's now: not compared either, but it is remembered what the spec names of them.
    pub owned: &'a [String],
    /// ARM paths of maps and lists to which others add members.
    pub shared: &'a [String],
    /// ARM paths of lists of objects that the spec does not name, although the body has them: further items are not compared.
    pub unnamed: &'a [String],
    /// Items of shared lists that the spec no longer names and that stay.
    pub held: &'a [Held],
    /// What the record is to note of paths beside a time.
    pub timed: &'a [Timed],
    /// What the spec says of values that have a rule for what Azure moves by itself; nothing where the kind has no rules.
    pub marks: Option<&'a [Mark]>,
    /// The kind's rules for values that Azure answers in other words ([`Spelling`]).
    pub equal_values: &'a [&'a str],
}

impl<'a> Comparison<'a> {
    /// Compares a whole body with what GET returned.
    pub fn new(shape: &'static StructShape, desired: &'a Value, observed: &'a Value) -> Self {
        Self {
            shape,
            desired,
            own: None,
            observed,
            ignored: &[],
            owned: &[],
            shared: &[],
            unnamed: &[],
            held: &[],
            timed: &[],
            marks: None,
            equal_values: &[],
        }
    }

    fn spellings(&self) -> Spellings {
        Spellings::of(self.equal_values)
    }

    /// Calls `take` for every value that desired names.
    fn leaves(&self, take: &mut dyn FnMut(Leaf<'_>)) {
        let (desired, observed) = (self.desired, self.observed);
        let ignored = self.ignored_in_desired();
        visit(
            &self.spellings(),
            self.shape,
            desired,
            observed,
            &mut |leaf| {
                if !ignored.covers(&leaf.path) && !self.is_unnamed(&leaf) {
                    take(leaf);
                }
            },
        );
    }

    /// Where nothing of what Azure has is compared.
    fn ignored_paths(&self) -> PathSet<'a> {
        let held = self.held.iter().map(|held| &held.path);
        PathSet::of(self.ignored.iter().chain(self.owned).chain(held))
    }

    /// The same of paths in the desired body. An item that has only its place in Azure's list may have another one there: it is
    /// compared, and is what Azure has.
    fn ignored_in_desired(&self) -> PathSet<'a> {
        let held = self.held.iter().map(|held| &held.path);
        let held = held.filter(|path| !is_by_place(path));
        PathSet::of(self.ignored.iter().chain(self.owned).chain(held))
    }

    /// Whether it is an item that Azure has beside those of the body, in a list that the spec does not name.
    fn is_unnamed(&self, leaf: &Leaf<'_>) -> bool {
        let mut lists = self.unnamed.iter();
        let is_item = |list: &String| first_below(&leaf.path, list) == Some(leaf.path.as_str());
        leaf.desired.is_none() && lists.any(is_item)
    }

    /// The member of a shared map or list that this path is of, or is.
    fn shared_member<'p>(&self, path: &'p str) -> Option<&'p str> {
        shared_member(self.shared, path)
    }

    /// Calls `take` for the member of a shared map or list that each leaf of the spec is of.
    fn shared_members(&self, take: &mut dyn FnMut(&str)) {
        if self.shared.is_empty() {
            return;
        }
        let (spellings, spec) = (Spellings::default(), self.spec_alone());
        visit(&spellings, self.shape, spec, &Value::Null, &mut |leaf| {
            if let Some(member) = self.shared_member(&leaf.path) {
                take(member);
            }
        });
    }

    /// Whether the spec names more members of shared maps and lists than can be told from those of others
    /// ([`MOST_SHARED`]).
    pub fn has_too_many_shared(&self) -> bool {
        let items = self.collections();
        // Before any of them is looked for.
        if items.iter().any(Collection::is_too_large) {
            return true;
        }
        let mut members = BTreeSet::new();
        self.shared_members(&mut |member| {
            members.insert(member.to_owned());
        });
        let items = items.iter().map(|list| list.members().0.len());
        members.len().max(items.sum()) > MOST_SHARED
    }

    /// The shared maps and lists that the spec or Azure has.
    fn collections(&self) -> Vec<Collection<'a>> {
        collections(self.shape, (self.spec_alone(), self.observed), self.shared)
    }

    /// What the spec alone asks for.
    fn spec_alone(&self) -> &'a Value {
        self.own.unwrap_or(self.desired)
    }

    /// The direct comparison. Values of secrets are never among the differences.
    pub fn differences(&self) -> Vec<Difference> {
        self.unexplained(&|_| false)
    }

    /// The direct comparison without the leaves that need no PUT.
    fn unexplained(&self, explained: &dyn Fn(&Leaf<'_>) -> bool) -> Vec<Difference> {
        let mut found = Vec::new();
        self.leaves(&mut |leaf| {
            if !leaf.is_same() && !explained(&leaf) {
                let change = if leaf.hidden {
                    Change::Hidden
                } else {
                    Change::Value {
                        desired: leaf.desired.map(std::borrow::Cow::into_owned),
                        observed: leaf
                            .observed
                            .map(std::borrow::Cow::into_owned)
                            .or_else(|| leaf.elsewhere.cloned()),
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

    /// Drift against the record of an earlier release. `uid` is the object's.
    pub fn differences_since(&self, earlier: &EarlierRecord, uid: &str) -> Vec<Difference> {
        if earlier.is_unchanged(self, uid) {
            return Vec::new();
        }
        let is_of_this = earlier.is_of(self, uid);
        self.unexplained(&|leaf| is_of_this && earlier.expects(leaf, uid))
    }
}

/// The member of the innermost of these maps and lists that a path is of, or is.
fn shared_member<'p>(shared: &[String], path: &'p str) -> Option<&'p str> {
    let shared = shared.iter();
    let members = shared.filter_map(|prefix| Some((prefix.len(), first_below(path, prefix)?)));
    let innermost = members.max_by_key(|(length, _)| *length);
    innermost.map(|(_, member)| member)
}

/// The first step of a path below a prefix, with the prefix: `rules.a` of `rules.a.properties`.
fn first_below<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(prefix)?;
    let mut letters = rest.char_indices();
    let (_, first) = letters.next()?;
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (at, letter) in letters {
        let is_end = match (first, letter) {
            ('.', '.' | '[') => true,
            ('[', ']') if !is_quoted => return path.get(..prefix.len() + at + 1),
            ('[', '"') if !is_escaped => {
                is_quoted = !is_quoted;
                false
            }
            _ => false,
        };
        is_escaped = letter == '\\' && !is_escaped;
        if is_end {
            return path.get(..prefix.len() + at);
        }
    }
    matches!(first, '.' | '[').then_some(path)
}

/// Whether a path of an item is that of its place in a list: nothing tells it from its neighbours.
pub fn is_by_place(path: &str) -> bool {
    path.ends_with(']') && !path.ends_with("\"]")
}

fn is_at_or_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests;
