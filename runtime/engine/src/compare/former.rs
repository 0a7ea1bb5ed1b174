//! Which paths the spec names and which it named once: what was taken out must go from Azure, and what others added
//! beside it must not.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use armature_shapes::shape::path::Path;
use serde_json::Value;

use super::equal::Rule;
use super::keyed::{Keyed, take};
use super::leaf::Leaf;
use super::leaves::{says, visit};
use super::member::{Items, Member};
use super::members::{Members, Whose};
use super::name::Name;
use super::{Change, Comparison, Difference};

/// Most paths that are remembered as named. A virtual network of some twenty subnets has fewer.
const NAMED: usize = 192;

/// Most paths that are remembered as named once. The latest stay.
const ONCE: usize = 63;

/// Paths of what was sent, and of what was sent before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Former {
    named: Vec<Name>,
    once: Vec<Name>,
    /// Members of shared maps and items of shared lists that are ours, or were and are not known to be gone from Azure: each as
    /// a whole.
    shared: Members,
}

/// What Azure has of what the spec no longer names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// Paths that were taken out and that Azure keeps.
    pub kept: Vec<String>,
    /// Members of shared maps and lists that stay, although the spec may have named them: that is not known.
    pub unsure: Vec<String>,
}

/// What a member that Azure has is to the spec.
enum Status<'v> {
    /// The spec names it, here; and this is what Azure has.
    Named(String, Collected<'v>),
    /// It was the spec's, and is to go.
    Gone,
    /// It stays.
    Stays,
}

/// A member with the map or list that it is of.
type Collected<'v> = (String, Option<Items>, &'v Value);

impl Former {
    /// The paths that desired names, and those that it named before.
    pub fn of(comparison: &Comparison<'_>, keyed: Keyed<'_>, before: Option<&Self>) -> Self {
        let paths = Paths::of(comparison);
        let (named, once) = (paths.first(keyed), paths.once(before, keyed));
        let keys = (keyed, before.map(|before| &before.shared));
        let mut shared = Members::of((comparison, false), keys, &|member| {
            before.map_or(Whose::Unknown, |before| before.whose(member, keyed))
        });
        if let Some(before) = before {
            shared.extend(&before.shared);
        }
        Self {
            named,
            once,
            shared,
        }
    }

    /// Whether the path was named, now or once, or is of a member that is known as a whole.
    pub fn has(&self, path: &str, keyed: Keyed<'_>) -> bool {
        let name = Name::of(path, keyed);
        self.shared.has(path, keyed) || self.named.contains(&name) || self.once.contains(&name)
    }

    /// How many of so many items that say nothing were sent before, and are in a list of this length in other words, if at all.
    pub fn filled(&self, list: &str, counts: (usize, usize), keyed: Keyed<'_>) -> usize {
        self.shared.filled(list, counts, keyed)
    }

    /// Whether it tells of each shared map and list that there is which members are ours.
    pub fn covers(&self, comparison: &Comparison<'_>, keyed: Keyed<'_>) -> bool {
        let lists = comparison.collections();
        let mut lists = lists.iter();
        lists.all(|list| self.shared.covers(&list.path, keyed))
    }

    /// Whose a member is that Azure has and the spec does not name.
    pub fn whose(&self, member: &Member<'_>, keyed: Keyed<'_>) -> Whose {
        match self.shared.is_ours(member, keyed) {
            Some(true) => Whose::Ours,
            Some(false) => Whose::Others,
            None if self.shared.is_unsure_of(member.list, keyed) => Whose::Unknown,
            None => self.by_paths(member, keyed),
        }
    }

    /// The same by paths within it, of a map or list that became shared since they were recorded.
    fn by_paths(&self, member: &Member<'_>, keyed: Keyed<'_>) -> Whose {
        let mut paths = Vec::new();
        for path in member.paths() {
            within(member.value, &Path::Root(&path), &mut paths);
        }
        let names: Vec<Name> = paths.iter().map(|path| Name::of(path, keyed)).collect();
        if names.iter().any(|name| self.named.contains(name)) {
            return Whose::Ours;
        }
        if names.iter().any(|name| self.once.contains(name)) {
            // Where members were known as a whole, this one may have gone, and be another one by now.
            return match self.shared.is_empty() {
                true => Whose::Ours,
                false => Whose::Unknown,
            };
        }
        let is_cut = self.named.len() >= NAMED || self.once.len() >= ONCE;
        match is_cut || self.has_items_like(member, keyed) {
            true => Whose::Unknown,
            false => Whose::Others,
        }
    }

    /// Whether items of the list were named of which no more is known than their places.
    fn has_items_like(&self, member: &Member<'_>, keyed: Keyed<'_>) -> bool {
        /// Places that are looked at.
        const PLACES: usize = 16;
        let Some(items) = member.items else {
            return false;
        };
        let said = says(items, member.value);
        let was_named = |path: &str| {
            let name = Name::of(path, keyed);
            self.named.contains(&name) || self.once.contains(&name)
        };
        let places = (0..PLACES).map(|place| Path::Root(member.list).item(place).to_string());
        said.iter().any(|(path, _)| path.is_empty()) && was_named(member.list)
            || places.into_iter().any(|place| {
                let mut said = said.iter();
                said.any(|(path, _)| was_named(&format!("{place}.{path}")))
            })
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

    /// What members that Azure has are to the spec, by their paths in what Azure has alone, in lower case.
    fn statuses<'v>(
        &self,
        comparison: &Comparison<'v>,
        keyed: Keyed<'_>,
    ) -> BTreeMap<String, Status<'v>> {
        let mut statuses = BTreeMap::new();
        for list in comparison.collections() {
            let (named, others) = list.members();
            // One of these may be of ours in other words.
            let is_missing = named.iter().any(|found| found.counterpart.is_none());
            let is_doubtful = is_missing && !list.has_identity();
            for found in named {
                if let Some(azure) = found.counterpart {
                    let collected = (list.path.clone(), list.items, azure);
                    statuses.insert(
                        found.alone.to_lowercase(),
                        Status::Named(found.of_spec, collected),
                    );
                }
            }
            for found in &others {
                let is_held = comparison.held.iter().any(|held| held.path == found.path);
                let stays = is_held || is_doubtful;
                let is_gone = !stays && self.whose(&list.member(found), keyed) == Whose::Ours;
                let status = if is_gone { Status::Gone } else { Status::Stays };
                statuses.insert(found.alone.to_lowercase(), status);
            }
        }
        statuses
    }

    /// The paths by which a value that Azure has may have been named once; none where the spec names it, or where others do.
    fn once_at(path: &str, member: Option<(&str, &Status<'_>)>, spec: &Paths) -> Vec<String> {
        let Some((label, status)) = member else {
            return vec![path.to_owned()];
        };
        let Status::Named(of_spec, (list, items, azure)) = status else {
            return Vec::new();
        };
        let below = path.strip_prefix(label).unwrap_or_default();
        let whole = Member {
            path: label,
            list,
            items: *items,
            value: azure,
        };
        if spec.has(&format!("{of_spec}{below}")) || whole.is_identity(below) {
            return Vec::new();
        }
        let mut paths = whole.paths();
        paths.extend([label.to_owned(), of_spec.clone()]);
        paths.iter().map(|path| format!("{path}{below}")).collect()
    }

    /// What Azure has on paths that desired does not name and that were named once.
    pub fn found(&self, comparison: &Comparison<'_>, keyed: Keyed<'_>) -> Vec<Difference> {
        let paths = Paths::of(comparison);
        let once = paths.once(Some(self), keyed);
        let statuses = self.statuses(comparison, keyed);
        let is_gone = |status: &Status<'_>| matches!(status, Status::Gone);
        if once.is_empty() && !statuses.values().any(is_gone) {
            return Vec::new();
        }
        let mut told = BTreeSet::new();
        let mut found = Vec::new();
        present(comparison, &mut |path, schema_path, value| {
            let member = comparison.shared_member(&path);
            let member = member.and_then(|it| Some((it, statuses.get(&it.to_lowercase())?)));
            // A member is told once, and not leaf by leaf.
            let is_new = match member {
                Some((label, Status::Gone)) => told.insert(label.to_owned()),
                member => {
                    let paths = Self::once_at(&path, member, &paths);
                    let mut names = paths.iter().map(|path| Name::of(path, keyed));
                    !once.is_empty() && names.any(|name| once.contains(&name))
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
    /// not change that. Tells which, and which members may have been taken out.
    pub fn give_up(&mut self, comparison: &Comparison<'_>, keyed: Keyed<'_>) -> Left {
        let mut left = Left::default();
        let statuses = self.statuses(comparison, keyed);
        let held = |path: &str| comparison.held.iter().find(|held| held.path == path);
        for list in comparison.collections() {
            let (named, others) = list.members_as_sent();
            // What Azure made of an item that said nothing, and that the spec no longer names, may be any of them.
            let left_of_them = list.filled(&named);
            let are_doubtful = self.shared.has_filled(&list.path, left_of_them + 1, keyed);
            for found in &others {
                match self.whose(&list.member(found), keyed) {
                    _ if held(&found.path).is_some() => {}
                    Whose::Ours => left.kept.push(found.path.clone()),
                    Whose::Unknown => left.unsure.push(found.path.clone()),
                    Whose::Others if are_doubtful => left.unsure.push(found.path.clone()),
                    Whose::Others => {}
                }
            }
        }
        // What Azure does not have is gone, and no longer ours where somebody else makes it again.
        let keys = (keyed, Some(&self.shared));
        let shared = Members::of((comparison, true), keys, &|member| {
            let is_ours = held(member.path).is_some_and(|held| held.is_ours)
                && self.whose(member, keyed) == Whose::Ours;
            if is_ours { Whose::Ours } else { Whose::Others }
        });
        self.release(comparison, keyed);
        self.shared = shared;
        if self.once.is_empty() {
            return left;
        }
        let paths = Paths::of(comparison);
        let members = left.kept.len();
        present(comparison, &mut |path, _, _| {
            let member = comparison.shared_member(&path);
            let member = member.and_then(|it| Some((it, statuses.get(&it.to_lowercase())?)));
            let is_others = matches!(member, Some((_, Status::Gone | Status::Stays)));
            let paths = match is_others {
                true => vec![path.clone()],
                false => Self::once_at(&path, member, &paths),
            };
            let names: Vec<Name> = paths.iter().map(|path| Name::of(path, keyed)).collect();
            if !names.iter().any(|name| self.once.contains(name)) {
                return;
            }
            self.once.retain(|once| !names.contains(once));
            // Of a list that is kept as a whole, the items are not told again.
            let mut lists = left.kept[members..].iter();
            if !is_others && !lists.any(|list| super::is_at_or_below(&path, list)) {
                left.kept.push(path);
            }
        });
        left
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
            bytes.extend(names.iter().flat_map(|name| name.bytes()));
        }
        bytes.extend(self.shared.names().flat_map(|name| name.bytes()));
    }

    /// Reads what [`Self::write`] wrote; members of shared maps and lists are what is left to the end.
    pub fn read(rest: &mut &[u8]) -> Option<Self> {
        let mut names = || {
            let [count] = take(rest)?;
            let names = (0..count).map(|_| Name::read(rest));
            names.collect::<Option<Vec<Name>>>()
        };
        let (named, once) = (names()?, names()?);
        Some(Self {
            named,
            once,
            shared: Members::read(rest)?,
        })
    }
}

#[cfg(test)]
impl Former {
    /// The same as earlier releases noted it.
    pub fn of_earlier(self, comparison: &Comparison<'_>, keyed: Keyed<'_>) -> Self {
        let shared = Members::of_earlier(comparison, keyed);
        Self { shared, ..self }
    }
}

/// All paths that the spec names; those beside others' members first, of which it must be known which are ours.
struct Paths {
    paths: Vec<String>,
    /// The same in lower case.
    known: OnceCell<HashSet<String>>,
}

impl Paths {
    fn of(comparison: &Comparison<'_>) -> Self {
        let mut named = Vec::new();
        spec_leaves(comparison, &mut |leaf| {
            let ids = ids(&leaf);
            let is_alone = comparison.shared_member(&leaf.path).is_none();
            named.push((is_alone, leaf.path));
            named.extend(ids.into_iter().map(|(path, _)| (is_alone, path)));
        });
        named.sort_by_key(|(is_alone, _)| *is_alone);
        Self {
            paths: named.into_iter().map(|(_, path)| path).collect(),
            known: OnceCell::new(),
        }
    }

    fn has(&self, path: &str) -> bool {
        let paths = || self.paths.iter().map(|path| path.to_lowercase());
        let known = self.known.get_or_init(|| paths().collect());
        known.contains(&path.to_lowercase())
    }

    /// Those that are remembered.
    fn first(&self, keyed: Keyed<'_>) -> Vec<Name> {
        let paths = self.paths.iter().take(NAMED);
        paths.map(|path| Name::of(path, keyed)).collect()
    }

    /// What was named before and is not now.
    fn once(&self, before: Option<&Former>, keyed: Keyed<'_>) -> Vec<Name> {
        let before = before.into_iter();
        let before = before.flat_map(|before| before.named.iter().chain(&before.once));
        let named: HashSet<Name> = self.first(keyed).into_iter().collect();
        let mut once = Vec::new();
        for name in before.filter(|name| !named.contains(name)) {
            if !once.contains(name) {
                once.push(*name);
            }
        }
        // What is beyond those that are remembered is named, too.
        if !once.is_empty() {
            let beyond = self.paths.iter().skip(NAMED);
            let beyond: HashSet<Name> = beyond.map(|path| Name::of(path, keyed)).collect();
            once.retain(|name| !beyond.contains(name));
        }
        once.truncate(ONCE);
        once
    }
}

/// Paths of all values within a value, and its own.
fn within(value: &Value, path: &Path<'_>, paths: &mut Vec<String>) {
    paths.push(path.to_string());
    for (name, value) in value.as_object().into_iter().flatten() {
        within(value, &path.key(name), paths);
    }
}

/// Calls `take` for every value that Azure has and that a spec could name; the value is left out where it must stay out of
/// messages.
fn present(comparison: &Comparison<'_>, take: &mut dyn FnMut(String, String, Option<Value>)) {
    let ignored = comparison.ignored_paths();
    visit(
        &comparison.spellings(),
        comparison.shape,
        comparison.observed,
        &Value::Null,
        &mut |leaf| {
            let ids = ids(&leaf);
            let says_nothing = leaf.says_nothing();
            let value = leaf.desired.map(std::borrow::Cow::into_owned);
            if !says_nothing && !ignored.covers(&leaf.path) {
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
        let kept = Former::of(&second, keyed, Some(&first))
            .give_up(&second, keyed)
            .kept;
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
            let kept = former.give_up(&comparison, keyed).kept;
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
