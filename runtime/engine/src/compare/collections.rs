//! Maps and lists to which others add members: where they are in two bodies, and which item of Azure's is which of the spec's.

use std::collections::{BTreeMap, HashMap, HashSet};

use armature_shapes::shape::arm_tree::ArmTree;
use armature_shapes::shape::path::Path;
use armature_shapes::shape::{Field, Semantic, StructShape, Type};
use serde_json::{Map, Value};

use super::leaves::{identifiers, identities, identity, says, says_nothing};
use super::lookup::{Folded, PLACES, PathSet};
use super::matching::give_place;
use super::member::{Items, Member};

/// Most members of shared maps and lists that one object may name. Ours must be told from those of others, so none is ever
/// forgotten; a body with more of them is refused ([`has_too_many_shared`](super::Comparison::has_too_many_shared)).
pub const MOST_SHARED: usize = 4000;

/// A shared map or list in two bodies.
pub(super) struct Collection<'v> {
    /// Its path in ARM's JSON.
    pub path: String,
    /// Of a list, of what its items are.
    pub items: Option<Items>,
    spec: &'v Value,
    azure: &'v Value,
}

/// One member of a map, or item of a list.
pub(super) struct Found<'v> {
    /// Where, as a body beside Azure's has it.
    pub path: String,
    /// Where, as Azure's alone has it.
    pub alone: String,
    /// Where, as the spec alone has it.
    pub of_spec: String,
    /// What is there.
    pub value: &'v Value,
    /// What Azure has for it. Nothing for what only Azure has.
    pub counterpart: Option<&'v Value>,
}

impl<'v> Collection<'v> {
    /// One of its members as it is asked whose it is.
    pub fn member<'m>(&'m self, found: &'m Found<'_>) -> Member<'m> {
        Member {
            path: &found.path,
            list: &self.path,
            items: self.items,
            value: found.value,
        }
    }

    /// The spec's members, and those that only Azure has.
    pub fn members(&self) -> (Vec<Found<'v>>, Vec<Found<'v>>) {
        match self.items {
            Some(items) => {
                let (spec, azure) = (list(self.spec), list(self.azure));
                self.of_list(items, &counterparts(items, spec, azure))
            }
            None => self.of_map(),
        }
    }

    /// The same after a PUT. What nothing tells apart, and what Azure says in words of its own, stands where it was sent.
    pub fn members_as_sent(&self) -> (Vec<Found<'v>>, Vec<Found<'v>>) {
        let Some(items) = self.items.filter(|_| !self.has_identity()) else {
            return self.members();
        };
        let (spec, azure) = (list(self.spec), list(self.azure));
        let mut pairs = counterparts(items, spec, azure);
        let is_likely = |ours: &Value, theirs: &Value| {
            let [ours, theirs] = [ours, theirs].map(|item| says(items, item));
            let has = |path: &String| theirs.iter().any(|(known, _)| known == path);
            // Beside others' it also says something as it was sent.
            let is_alike = spec.len() == azure.len() || ours.iter().any(|it| theirs.contains(it));
            is_alike && ours.iter().all(|(path, _)| has(path))
        };
        let mut paired: HashSet<usize> = pairs.iter().flatten().copied().collect();
        for at in 0..spec.len().min(azure.len()) {
            let is_free = pairs[at].is_none() && !paired.contains(&at);
            if is_free && is_likely(&spec[at], &azure[at]) {
                pairs[at] = Some(at);
                paired.insert(at);
            }
        }
        self.of_list(items, &pairs)
    }

    /// Whether there are more members than can be told from those of others ([`MOST_SHARED`]). Where nothing tells items apart,
    /// fewer can.
    pub fn is_too_large(&self) -> bool {
        let members = |value: &Value| match value {
            Value::Array(items) => items.len(),
            value => value.as_object().map_or(0, Map::len),
        };
        let most = members(self.spec).max(members(self.azure));
        members(self.spec) > MOST_SHARED || most > PLACES && !self.has_identity()
    }

    /// How many items Azure has.
    pub fn length(&self) -> usize {
        list(self.azure).len()
    }

    /// How many of the spec's items say nothing and are not found in Azure: it has filled them in, or made nothing of them.
    pub fn filled(&self, named: &[Found<'_>]) -> usize {
        let Some(items) = self.items else {
            return 0;
        };
        let named = named.iter().filter(|it| it.counterpart.is_none());
        named.filter(|it| says_nothing(items, it.value)).count()
    }

    /// Whether items are told apart by what they are called.
    pub fn has_identity(&self) -> bool {
        self.items.is_none_or(|(_, field)| {
            identifiers(field, list(self.spec), list(self.azure)).is_some()
        })
    }

    fn of_map(&self) -> (Vec<Found<'v>>, Vec<Found<'v>>) {
        let (spec, azure) = (entries(self.spec), entries(self.azure));
        let found = |(name, value): (&String, &'v Value), counterpart| {
            let path = Path::Root(&self.path).key(name).to_string();
            Found {
                alone: path.clone(),
                of_spec: path.clone(),
                path,
                value,
                counterpart,
            }
        };
        let named = spec.into_iter().flatten().filter(|it| !it.1.is_null());
        let (ours, theirs) = (Folded::of(spec), Folded::of(azure));
        let named = named.map(|it| found(it, theirs.get(it.0)));
        let is_others = |name: &str| ours.get(name).is_none();
        let others = azure.into_iter().flatten().filter(|it| is_others(it.0));
        (named.collect(), others.map(|it| found(it, None)).collect())
    }

    fn of_list(
        &self,
        (_, field): Items,
        pairs: &[Option<usize>],
    ) -> (Vec<Found<'v>>, Vec<Found<'v>>) {
        let (spec, azure) = (list(self.spec), list(self.azure));
        let together = identifiers(field, spec, azure);
        let alone = identifiers(field, azure, &[]);
        let of_spec = identifiers(field, spec, &[]);
        let root = Path::Root(&self.path);
        let label = |names: Option<&[&str]>, at: usize, item: &Value| {
            let identity = names.and_then(|names| identity(item, names));
            identity.map_or_else(|| root.item(at).to_string(), |it| root.key(&it).to_string())
        };
        let named = spec.iter().zip(pairs).enumerate();
        let named = named.map(|(at, (value, pair))| Found {
            path: label(together, at, value),
            alone: match pair {
                Some(pair) => label(alone, *pair, &azure[*pair]),
                None => label(together, at, value),
            },
            of_spec: label(of_spec, at, value),
            value,
            counterpart: pair.map(|pair| &azure[pair]),
        });
        let others = azure.iter().enumerate();
        let paired: HashSet<usize> = pairs.iter().flatten().copied().collect();
        let others = others.filter(|(at, _)| !paired.contains(at));
        let others = others.map(|(at, value)| Found {
            path: label(together, at, value),
            alone: label(alone, at, value),
            of_spec: label(of_spec, at, value),
            value,
            counterpart: None,
        });
        (named.collect(), others.collect())
    }
}

/// The shared maps and lists that there are in either body.
pub(super) fn collections<'v>(
    shape: &'static StructShape,
    (spec, azure): (&'v Value, &'v Value),
    shared: &[String],
) -> Vec<Collection<'v>> {
    let mut search = Search {
        shared: PathSet::of(shared),
        found: Vec::new(),
    };
    if !shared.is_empty() {
        let tree = tree_of(shape, (spec, azure));
        search.object(&tree, (spec, azure), &Path::Root(""));
    }
    search.found
}

/// A value of the spec, and what Azure has for it; null on the side that has none.
type Sides<'v> = (&'v Value, &'v Value);

struct Search<'s, 'v> {
    shared: PathSet<'s>,
    found: Vec<Collection<'v>>,
}

impl<'v> Search<'_, 'v> {
    fn object(&mut self, tree: &ArmTree, sides: Sides<'v>, path: &Path<'_>) {
        for (name, below) in members(sides) {
            match (tree.member(&name), tree.further) {
                (Some(known), _) if known.fields.is_empty() => {
                    let path = path.member(&name);
                    if self.goes_on(None, below, &path) {
                        self.object(known, below, &path);
                    }
                }
                (Some(known), _) => {
                    let field = known.fields[0];
                    self.value((field.ty, field), below, &path.member(&name));
                }
                (None, Some(field)) => {
                    if let Type::Map(map) = field.ty {
                        self.value((map.value, field), below, &path.key(&name));
                    }
                }
                (None, None) => {}
            }
        }
    }

    fn value(&mut self, (ty, field): Items, sides: Sides<'v>, path: &Path<'_>) {
        let items = match ty {
            Type::List(list) if !sides.0.is_object() && !sides.1.is_object() => {
                Some((list.item, field))
            }
            _ => None,
        };
        if !self.goes_on(items, sides, path) {
            return;
        }
        match ty {
            Type::Struct(shape) if matches!(shape.semantic, Semantic::Plain) => {
                self.object(&tree_of(shape, sides), sides, path);
            }
            Type::Map(map) => {
                for (name, below) in members(sides) {
                    self.value((map.value, field), below, &path.key(&name));
                }
            }
            Type::List(of) => {
                let (spec, azure) = (list(sides.0), list(sides.1));
                let Some(names) = identifiers(field, spec, azure) else {
                    for at in 0..spec.len().max(azure.len()) {
                        let below = (at_place(spec, at), at_place(azure, at));
                        self.value((of.item, field), below, &path.item(at));
                    }
                    return;
                };
                for (label, below) in by_identity(names, spec, azure) {
                    self.value((of.item, field), below, &path.key(&label));
                }
            }
            _ => {}
        }
    }

    /// Takes what is shared, and tells whether something further below is.
    fn goes_on(&mut self, items: Option<Items>, sides: Sides<'v>, path: &Path<'_>) -> bool {
        let path = path.to_string();
        let has_members = |value: &Value| match value {
            Value::Array(items) => !items.is_empty(),
            value => value.as_object().is_some_and(|members| !members.is_empty()),
        };
        if self.shared.has(&path) && (has_members(sides.0) || has_members(sides.1)) {
            self.found.push(Collection {
                path: path.clone(),
                items,
                spec: sides.0,
                azure: sides.1,
            });
        }
        self.shared.is_above_one(&path)
    }
}

/// For each of the spec's items the place of the one of Azure's that it is. Items that nothing tells apart are told by what they say.
pub(super) fn counterparts(items: Items, spec: &[Value], azure: &[Value]) -> Vec<Option<usize>> {
    let field = items.1;
    if let Some(names) = identifiers(field, spec, azure) {
        let places = azure.iter().enumerate();
        let places: HashMap<_, _> = places.map(|(at, it)| (identity(it, names), at)).collect();
        let of_spec = spec.iter().map(|item| identity(item, names));
        return of_spec.map(|it| places.get(&it).copied()).collect();
    }
    let (ours, theirs) = (Called::all(field, spec), Called::all(field, azure));
    let mut taken = vec![None; azure.len()];
    let mut found = vec![None; spec.len()];
    for (kind, _) in identities(field).enumerate() {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, called) in theirs.iter().enumerate() {
            let name = called.0[kind].as_deref();
            if let Some(name) = name {
                places.entry(name).or_default().push(at);
            }
        }
        for (one, found) in found.iter_mut().enumerate().filter(|(_, it)| it.is_none()) {
            let places = ours[one].0[kind].as_deref().and_then(|it| places.get(it));
            let mut places = places.into_iter().flatten().copied();
            let free =
                |at: &usize| taken[*at].is_none() && ours[one].is_same(&theirs[*at]) == Some(true);
            *found = places.find(free);
            found.map(|at| taken[at] = Some(one));
        }
    }
    if found.contains(&None) {
        by_content(
            items,
            (spec, azure),
            (&ours, &theirs),
            &mut found,
            &mut taken,
        );
    }
    found
}

/// What an item is called in each way that there is.
struct Called(Vec<Option<String>>);

impl Called {
    fn all(field: &'static Field, items: &[Value]) -> Vec<Self> {
        let called = |item| {
            let all = identities(field).map(|names| identity(item, names));
            Self(all.collect())
        };
        items.iter().map(called).collect()
    }

    /// What both are called decides; nothing where there is none.
    fn is_same(&self, other: &Self) -> Option<bool> {
        let mut both = self.0.iter().zip(&other.0);
        both.find_map(|(one, other)| Some(one.as_ref()? == other.as_ref()?))
    }
}

/// Finds those that are left by what they say: Azure's item says all that the spec's does.
fn by_content(
    items: Items,
    (spec, azure): (&[Value], &[Value]),
    (ours, theirs): (&[Called], &[Called]),
    found: &mut [Option<usize>],
    taken: &mut [Option<usize>],
) {
    let said: Vec<HashSet<_>> = azure
        .iter()
        .map(|item| says(items, item).into_iter().collect())
        .collect();
    let mut places: HashMap<&(String, String), Vec<usize>> = HashMap::new();
    for (at, said) in said
        .iter()
        .enumerate()
        .filter(|(at, _)| taken[*at].is_none())
    {
        for one in said {
            places.entry(one).or_default().push(at);
        }
    }
    let none = Vec::new();
    let candidates = |one: usize| -> Vec<usize> {
        let asked = says(items, &spec[one]);
        // Those that have what fewest have.
        let few = asked.iter().map(|it| places.get(it).unwrap_or(&none));
        let few = few.min_by_key(|places| places.len()).unwrap_or(&none);
        let fits = |at: &&usize| {
            let at = **at;
            ours[one].is_same(&theirs[at]).is_none() && asked.iter().all(|it| said[at].contains(it))
        };
        few.iter().filter(fits).copied().collect()
    };
    let all = (0..spec.len()).map(|one| match found[one] {
        Some(_) => Vec::new(),
        None => candidates(one),
    });
    let all: Vec<Vec<usize>> = all.collect();
    for one in (0..spec.len()).filter(|one| !all[*one].is_empty()) {
        give_place(one, &all, taken, &mut vec![false; azure.len()]);
    }
    // What says nothing is what Azure has that says nothing.
    let ours = (0..spec.len()).filter(|one| found[*one].is_none());
    let ours = ours.filter(|one| says_nothing(items, &spec[*one]));
    let theirs = (0..azure.len()).filter(|at| taken[*at].is_none() && said[*at].is_empty());
    let pairs: Vec<_> = ours.zip(theirs).collect();
    pairs
        .into_iter()
        .for_each(|(one, at)| taken[at] = Some(one));
    for (at, one) in taken.iter().enumerate() {
        if let Some(one) = one {
            found[*one] = Some(at);
        }
    }
}

/// The items of both lists, each once.
fn by_identity<'v>(
    names: &[&str],
    spec: &'v [Value],
    azure: &'v [Value],
) -> BTreeMap<String, Sides<'v>> {
    let mut all: BTreeMap<String, Sides<'v>> = BTreeMap::new();
    for item in spec {
        let label = identity(item, names).unwrap_or_default();
        all.insert(label, (item, &Value::Null));
    }
    for item in azure {
        let label = identity(item, names).unwrap_or_default();
        all.entry(label).or_insert((&Value::Null, &Value::Null)).1 = item;
    }
    all
}

fn tree_of(shape: &'static StructShape, sides: Sides<'_>) -> ArmTree {
    let none = Map::new();
    let members = sides.0.as_object().or(sides.1.as_object());
    ArmTree::of(shape, members.unwrap_or(&none))
}

fn entries(value: &Value) -> Option<&Map<String, Value>> {
    value.as_object()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn at_place(items: &[Value], at: usize) -> &Value {
    items.get(at).unwrap_or(&Value::Null)
}

/// The members of both, each once in whatever casing.
fn members<'v>(sides: Sides<'v>) -> impl Iterator<Item = (String, Sides<'v>)> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for name in [sides.0, sides.1].into_iter().filter_map(Value::as_object) {
        for name in name.keys() {
            names
                .entry(name.to_lowercase())
                .or_insert_with(|| name.clone());
        }
    }
    let folded = [sides.0, sides.1].map(|side| Folded::of(side.as_object()));
    names.into_values().map(move |name| {
        let [ours, theirs] = [0, 1].map(|side: usize| folded[side].get(&name));
        let side = |found: Option<&'v Value>| found.unwrap_or(&Value::Null);
        let below = (side(ours), side(theirs));
        (name, below)
    })
}
