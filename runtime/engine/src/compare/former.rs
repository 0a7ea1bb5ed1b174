//! Which paths the spec names and which it named once: what was taken out must go from Azure, and what others added
//! beside it must not.

use std::collections::BTreeSet;

use serde_json::Value;

use super::equal::Rule;
use super::keyed::{Keyed, take};
use super::leaf::Leaf;
use super::leaves::visit;
use super::{Change, Comparison, Difference};

/// Bytes kept of the digest of a path: among hundreds of paths, chance has one in millions.
const LENGTH: usize = 4;

/// Most paths that are remembered as named. A virtual network of some twenty subnets has fewer.
const NAMED: usize = 192;

/// Most paths that are remembered as named once. The latest stay.
const ONCE: usize = 63;

/// Most members of shared maps and lists that one object may name. Ours must be told from those of others, so none is ever
/// forgotten; a body with more of them is refused ([`Comparison::has_too_many_shared`]).
pub const MOST_SHARED: usize = 4000;

/// Stands among members where the last one has gone: what is known of paths is not of others that come.
const NO_MEMBER: &str = "";

/// A path as its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name([u8; LENGTH]);

impl Name {
    pub fn of(path: &str, keyed: Keyed<'_>) -> Self {
        Self(keyed.of("named", &path.to_lowercase()))
    }
}

/// Paths of what was sent, and of what was sent before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Former {
    named: Vec<Name>,
    once: Vec<Name>,
    /// Members of shared maps and items of shared lists that are ours, or were and are not known to be gone from Azure: each as
    /// a whole. Sorted.
    shared: BTreeSet<Name>,
}

impl Former {
    /// The paths that desired names, and those that it named before.
    pub fn of(comparison: &Comparison<'_>, keyed: Keyed<'_>, before: Option<&Self>) -> Self {
        let mut named = Vec::new();
        spec_leaves(comparison, &mut |leaf| {
            let ids = ids(&leaf);
            let is_alone = comparison.shared_member(&leaf.path).is_none();
            named.push((is_alone, leaf.path));
            named.extend(ids.into_iter().map(|(path, _)| (is_alone, path)));
        });
        // Beside others' members it must be known which are ours.
        named.sort_by_key(|(is_alone, _)| *is_alone);
        let named = named.iter().map(|(_, path)| Name::of(path, keyed));
        let named: Vec<Name> = named.take(NAMED).collect();
        let mut shared = shared_now(comparison, keyed);
        let mut once = Vec::new();
        for name in before
            .into_iter()
            .flat_map(|before| before.named.iter().chain(&before.once))
        {
            if !named.contains(name) && !once.contains(name) {
                once.push(*name);
            }
        }
        once.truncate(ONCE);
        if let Some(before) = before {
            shared.extend(&before.shared);
            shared.extend(before.members_by_paths(comparison, keyed));
        }
        Self {
            named,
            once,
            shared,
        }
    }

    /// Members that Azure has and that were ours, where a record of an earlier release knows no more than paths within them.
    fn members_by_paths(&self, comparison: &Comparison<'_>, keyed: Keyed<'_>) -> BTreeSet<Name> {
        let mut members = BTreeSet::new();
        if self.has_shared() || comparison.shared.is_empty() {
            return members;
        }
        present(comparison, &mut |path, _, _| {
            let member = comparison.shared_member(&path);
            let was_ours = |member: &&str| self.has((&path, Some(member)), keyed);
            members.extend(member.filter(was_ours).map(|it| Name::of(it, keyed)));
        });
        members
    }

    /// Whether the path was named, now or once, `member` being the member of a shared map or list that it is of.
    pub fn has(&self, (path, member): (&str, Option<&str>), keyed: Keyed<'_>) -> bool {
        if !self.may_be_ours(member, keyed) {
            return false;
        }
        let name = Name::of(path, keyed);
        self.shared.contains(&name) || self.named.contains(&name) || self.once.contains(&name)
    }

    /// Whether what is known of a path within a member of a shared map or list is of that one: another one may bear the name of
    /// one that has gone. Records of earlier releases know paths alone.
    fn may_be_ours(&self, member: Option<&str>, keyed: Keyed<'_>) -> bool {
        let of_ours = |member| self.shared.contains(&Name::of(member, keyed));
        !self.has_shared() || member.is_none_or(of_ours)
    }

    /// Whether Azure returns what it did when these paths were recorded, `observed` being the digest of that. Paths that are new in
    /// desired do not count; nothing where desired no longer names one that was recorded, or not all were.
    pub fn shown_as_before(
        &self,
        comparison: &Comparison<'_>,
        keyed: Keyed<'_>,
        observed: [u8; super::keyed::LENGTH],
    ) -> Option<bool> {
        let mut missing: BTreeSet<Name> = self.named.iter().copied().collect();
        let mut shown = keyed.digest("observed");
        spec_leaves(comparison, &mut |leaf| {
            for (path, _) in ids(&leaf) {
                missing.remove(&Name::of(&path, keyed));
            }
            missing.remove(&Name::of(&leaf.path, keyed));
        });
        comparison.leaves(&mut |leaf| {
            let name = Name::of(&leaf.path, keyed);
            let is_new = leaf.desired.is_some()
                && !self.named.contains(&name)
                && comparison.shared_member(&leaf.path).is_none();
            if !is_new {
                super::look::add(&mut shown, &leaf);
            }
        });
        let is_known = missing.is_empty() && self.has_all();
        is_known.then(|| shown.finish() == observed)
    }

    /// Members of shared maps and lists that were ours and that the spec no longer names.
    fn shared_once(&self, comparison: &Comparison<'_>, keyed: Keyed<'_>) -> BTreeSet<Name> {
        let now = shared_now(comparison, keyed);
        self.shared.difference(&now).copied().collect()
    }

    /// What Azure has on paths that desired does not name and that were named once.
    pub fn found(&self, comparison: &Comparison<'_>, keyed: Keyed<'_>) -> Vec<Difference> {
        let now = Self::of(comparison, keyed, Some(self));
        let gone = self.shared_once(comparison, keyed);
        let mut told = BTreeSet::new();
        let mut found = Vec::new();
        present(comparison, &mut |path, schema_path, value| {
            let member = comparison.shared_member(&path);
            let name = member.map(|member| Name::of(member, keyed));
            // A member is told once, and not leaf by leaf.
            let is_new = match name.filter(|name| gone.contains(name)) {
                Some(name) => told.insert(name),
                None => {
                    now.once.contains(&Name::of(&path, keyed)) && self.may_be_ours(member, keyed)
                }
            };
            if is_new {
                let change = match value {
                    None => Change::Hidden,
                    observed => Change::Value {
                        desired: None,
                        observed,
                    },
                };
                found.push(Difference {
                    path,
                    schema_path,
                    change,
                });
            }
        });
        found
    }

    /// Forgets the paths on which Azure has something although they were taken out: it keeps them, and another PUT would
    /// not change that. Returns them.
    pub fn give_up(&mut self, comparison: &Comparison<'_>, keyed: Keyed<'_>) -> Vec<String> {
        let mut kept = Vec::new();
        // What Azure does not have is gone, and no longer ours where somebody else makes it again.
        let mut gone = self.shared_once(comparison, keyed);
        for held in comparison.held.iter().filter(|held| held.is_ours) {
            gone.remove(&Name::of(&held.path, keyed));
        }
        self.release(comparison, keyed);
        let had_shared = self.has_shared();
        self.shared.retain(|name| !gone.contains(name));
        if had_shared && self.shared.is_empty() {
            self.shared.insert(Name::of(NO_MEMBER, keyed));
        }
        present(comparison, &mut |path, _, _| {
            let name = Name::of(&path, keyed);
            let member = comparison.shared_member(&path);
            let is_others = !self.may_be_ours(member, keyed);
            let member = member.filter(|member| gone.contains(&Name::of(member, keyed)));
            if member.is_some() || self.once.contains(&name) {
                self.once.retain(|once| *once != name);
                if member.is_none() && is_others {
                    return;
                }
                let path = member.map_or_else(|| path.clone(), str::to_owned);
                // Of a list that is kept as a whole, the items are not told again.
                let mut lists = kept.iter();
                if !lists.any(|list: &String| super::is_at_or_below(&path, list)) {
                    kept.push(path);
                }
            }
        });
        kept
    }

    /// Forgets what was named within items that are others' from now on.
    fn release(&mut self, comparison: &Comparison<'_>, keyed: Keyed<'_>) {
        let held = comparison.held.iter();
        let released: Vec<_> = held.filter(|held| !held.is_ours).collect();
        if released.is_empty() {
            return;
        }
        let all = Comparison {
            held: &[],
            ..*comparison
        };
        present(&all, &mut |path, _, _| {
            let mut released = released.iter();
            if released.any(|held| super::is_at_or_below(&path, &held.path)) {
                let name = Name::of(&path, keyed);
                self.once.retain(|once| *once != name);
            }
        });
    }

    /// Whether there was room for all paths that were named.
    pub fn has_all(&self) -> bool {
        self.named.len() < NAMED
    }

    /// Whether it takes more than earlier releases can read.
    pub fn has_shared(&self) -> bool {
        !self.shared.is_empty()
    }

    pub fn write(&self, bytes: &mut Vec<u8>) {
        for names in [&self.named, &self.once] {
            bytes.push(u8::try_from(names.len()).unwrap_or(u8::MAX));
            bytes.extend(names.iter().flat_map(|name| name.0));
        }
        if self.has_shared() {
            bytes.extend(self.shared.iter().flat_map(|name| name.0));
        }
    }

    /// Reads what [`Self::write`] wrote; members of shared maps and lists are what is left to the end.
    pub fn read(rest: &mut &[u8]) -> Option<Self> {
        let mut names = || {
            let [count] = take(rest)?;
            let names = (0..count).map(|_| Some(Name(take(rest)?)));
            names.collect::<Option<Vec<Name>>>()
        };
        let (named, once) = (names()?, names()?);
        let mut shared = BTreeSet::new();
        while !rest.is_empty() {
            shared.insert(Name(take(rest)?));
        }
        Some(Self {
            named,
            once,
            shared,
        })
    }
}

/// The members of shared maps and lists that the spec names.
fn shared_now(comparison: &Comparison<'_>, keyed: Keyed<'_>) -> BTreeSet<Name> {
    let mut members = BTreeSet::new();
    comparison.shared_members(&mut |member| {
        members.insert(Name::of(member, keyed));
    });
    members
}

/// Calls `take` for every value that Azure has and that a spec could name; the value is left out where it must stay out of
/// messages.
fn present(comparison: &Comparison<'_>, take: &mut dyn FnMut(String, String, Option<Value>)) {
    visit(
        &comparison.spellings(),
        comparison.shape,
        comparison.observed,
        &Value::Null,
        &mut |leaf| {
            let ids = ids(&leaf);
            let says_nothing = leaf.says_nothing();
            let value = leaf.desired.map(std::borrow::Cow::into_owned);
            if !says_nothing && !comparison.is_ignored(&leaf.path) {
                take(
                    leaf.path,
                    leaf.schema_path.clone(),
                    value.filter(|_| !leaf.hidden),
                );
                for (path, id) in ids {
                    take(path, leaf.schema_path.clone(), Some(id));
                }
            }
        },
    );
}

/// Calls `take` for every value that the spec names, whether it is compared or Azure's.
fn spec_leaves(comparison: &Comparison<'_>, take: &mut dyn FnMut(Leaf<'_>)) {
    let alone = Comparison {
        observed: &Value::Null,
        desired: comparison.spec_alone(),
        owned: &[],
        ..*comparison
    };
    alone.leaves(take);
}

/// Paths of the ids in a list of ids: each of them can be taken out, an identity above all.
fn ids(leaf: &Leaf<'_>) -> Vec<(String, Value)> {
    let items = leaf.desired.as_deref().and_then(Value::as_array);
    let items = items.filter(|_| leaf.rule == Rule::ArmId && !leaf.hidden);
    let path = |id: &Value| Some(format!("{}[{:?}]", leaf.path, id.as_str()?));
    let items = items.into_iter().flatten();
    items
        .filter_map(|id| Some((path(id)?, id.clone())))
        .collect()
}

#[cfg(test)]
mod tests {
    use armature_shapes::testing::gadget::VERSION;
    use serde_json::json;

    use super::super::DigestKey;
    use super::*;

    #[test]
    fn what_was_named_while_it_was_azures_is_told_when_azure_keeps_it() {
        let key = DigestKey::random();
        let keyed = key.of("uid");
        let shape = VERSION.spec;
        let observed = json!({"tags": {"a": "theirs"}});
        let (named, nothing) = (json!({"tags": {"a": "ours"}}), json!({}));
        let owned = ["tags.a".to_owned()];
        let first = Comparison {
            owned: &owned,
            ..Comparison::new(shape, &named, &observed)
        };
        let first = Former::of(&first, keyed, None);
        let second = Comparison::new(shape, &nothing, &observed);
        assert_eq!(first.found(&second, keyed).len(), 1, "it is to go");
        let kept = Former::of(&second, keyed, Some(&first)).give_up(&second, keyed);
        assert_eq!(kept, ["tags.a"]);
    }

    #[test]
    fn an_identity_is_taken_out_of_a_list_by_itself() {
        let key = DigestKey::random();
        let keyed = key.of("uid-1");
        let identities = |ids: &[&str]| {
            let ids = ids.iter().map(|id| ((*id).to_owned(), json!({})));
            let ids: serde_json::Map<_, _> = ids.collect();
            json!({"identity": {"type": "UserAssigned", "userAssignedIdentities": ids}})
        };
        let both = identities(&["/i/a", "/i/b"]);
        let of = |desired: &Value, before: Option<&Former>| {
            let comparison = Comparison::new(VERSION.spec, desired, &both);
            let mut former = Former::of(&comparison, keyed, before);
            let kept = former.give_up(&comparison, keyed);
            (former, kept)
        };
        let (first, _) = of(&both, None);
        let one = identities(&["/i/B"]);
        let (second, kept) = of(&one, Some(&first));
        assert_eq!(kept, ["identity.userAssignedIdentities[\"/i/a\"]"]);
        assert_eq!(of(&one, Some(&second)).1, Vec::<String>::new());
        let (_, kept) = of(&json!({}), Some(&first));
        let list = ["identity.type", "identity.userAssignedIdentities"];
        assert_eq!(kept, list, "it says so for all of them");
    }
}
