//! The body of a PUT that repeats what Azure has where drift is put right later.
//!
//! It is Azure's own at the nearest place that exists in both: a value; an item, there or not; a list of which nothing tells the
//! items; the object of which a value is gone. Comparing such a body with Azure finds nothing there.

use std::collections::{BTreeSet, HashSet};

use armature_shapes::shape::arm_tree::ArmTree;
use armature_shapes::shape::path::Path;
use armature_shapes::shape::{Field, Semantic, StructShape, Type};
use serde_json::{Map, Value};

use super::leaves::{self, Pairs, identifiers, identity};
use super::left_out::writable;
use super::lookup::{Folded, in_any_case, names};
use super::spelling::{Around, At, Roots};
use super::{Comparison, is_at_or_below};

/// How often it is looked at what else differs once a value is Azure's: rules may look at that value.
const ROUNDS: usize = 4;

/// Most paths of differences that are repeated. Each is looked for at each value of the body.
pub const MOST_REPEATED: usize = 256;

/// A body that repeats what Azure has.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeated {
    /// The body.
    pub body: Value,
    /// The places at which it is Azure's.
    pub places: Vec<String>,
    /// Whether it is known to differ from Azure nowhere there. Else a PUT of it may change what it is to repeat.
    pub is_settled: bool,
}

impl Comparison<'_> {
    /// The desired body with what Azure has at, around or below these paths of differences. What is at or below `unsent` is never
    /// added.
    pub fn repeating(&self, carried: &[String], unsent: &[String]) -> Repeated {
        let paths = |comparison: &Comparison<'_>| {
            let differences = comparison.differences().into_iter();
            differences.map(|it| it.path).collect::<Vec<_>>()
        };
        if carried.len() > MOST_REPEATED {
            return Repeated {
                body: self.desired.clone(),
                places: Vec::new(),
                is_settled: false,
            };
        }
        let before: BTreeSet<String> = paths(self).into_iter().collect();
        let spellings = self.spellings();
        let mut body = self.desired.clone();
        let mut places = Vec::new();
        let mut left = carried.to_vec();
        for _ in 0..ROUNDS {
            if left.is_empty() {
                break;
            }
            let desired = body.clone();
            let mut repeat = Repeat {
                carried: &left,
                unsent,
                roots: Roots {
                    desired: &desired,
                    observed: self.observed,
                },
                places: &mut places,
                twins: Vec::new(),
            };
            repeat.root(self.shape, &mut body, spellings.root());
            let now = Comparison {
                desired: &body,
                ..*self
            };
            left = paths(&now);
            left.retain(|path| !before.contains(path) || is_touched(carried, path));
        }
        places.sort();
        places.dedup();
        Repeated {
            body,
            places,
            is_settled: left.is_empty(),
        }
    }
}

/// Whether one of the paths leads to this one, above or below.
fn is_touched(carried: &[String], path: &str) -> bool {
    let mut carried = carried.iter();
    carried.any(|carried| is_at_or_below(carried, path) || is_at_or_below(path, carried))
}

struct Repeat<'a> {
    carried: &'a [String],
    unsent: &'a [String],
    /// Both bodies as they are compared.
    roots: Roots<'a>,
    places: &'a mut Vec<String>,
    /// Values to be set at paths from the top.
    twins: Vec<(String, Value)>,
}

impl Repeat<'_> {
    fn root(&mut self, shape: &'static StructShape, body: &mut Value, at: At<'_>) {
        let nothing = Map::new();
        let azure = self.roots.observed.as_object().unwrap_or(&nothing);
        if let Value::Object(members) = body {
            let tree = ArmTree::of(shape, members);
            self.object(&tree, members, azure, at, &Path::Root(""));
        }
        for (path, value) in std::mem::take(&mut self.twins) {
            set(body, &path, value);
        }
    }

    /// Returns whether something is gone that Azure does not have.
    fn object(
        &mut self,
        tree: &ArmTree,
        desired: &mut Map<String, Value>,
        azure: &Map<String, Value>,
        at: At<'_>,
        path: &Path<'_>,
    ) -> bool {
        let before = desired.clone();
        let around = Around {
            desired: &before,
            observed: Some(azure),
        };
        let mut has_gone = false;
        let of_azure = Folded::of(Some(azure));
        // Few are touched: what is below a place is Azure's as a whole.
        for name in names(&before, Some(azure)).into_iter().map(|it| it.name) {
            let known = tree.member(&name);
            let further = known.is_none().then_some(tree.further).flatten();
            let below = match further {
                Some(_) => path.key(&name),
                None => path.member(&name),
            };
            if !self.is_touched(&below) {
                continue;
            }
            let there = of_azure.get(&name).filter(|value| !value.is_null());
            let at = match known {
                Some(_) => at.member(&name),
                None => at.item(),
            };
            let Some(there) = there else {
                has_gone |= self.is_missing(desired, &name, around, at, &below);
                continue;
            };
            let Some(value) = in_any_case(desired, &name).filter(|value| !value.is_null()) else {
                self.note(&below);
                desired.insert(name, there.clone());
                continue;
            };
            let field = known.and_then(|known| known.fields.first());
            match (field, known, further.map(|field| (field, field.ty))) {
                (Some(field), ..) => self.value((field.ty, field), value, there, at, &below),
                (None, Some(known), _) if !known.discriminator => {
                    self.envelope(known, value, there, at, &below);
                }
                (None, None, Some((field, Type::Map(map)))) => {
                    self.value((map.value, field), value, there, at, &below);
                }
                _ => self.replace(value, there, &below),
            }
        }
        has_gone
    }

    /// An object of the body that is no field of its own, as `properties`.
    fn envelope(
        &mut self,
        tree: &ArmTree,
        value: &mut Value,
        there: &Value,
        at: At<'_>,
        path: &Path<'_>,
    ) {
        let is_here = self.is_covered(path);
        match (&mut *value, there) {
            (Value::Object(members), Value::Object(azure)) if !is_here => {
                self.object(tree, members, azure, at, path);
            }
            _ => self.replace(value, there, path),
        }
    }

    /// Takes out what Azure does not have, unless it has it in another form. Returns whether nothing is there for it.
    fn is_missing(
        &mut self,
        desired: &mut Map<String, Value>,
        name: &str,
        around: Around<'_>,
        at: At<'_>,
        path: &Path<'_>,
    ) -> bool {
        if in_any_case(desired, name).is_none() {
            return false;
        }
        self.note(path);
        if let Some(elsewhere) = at.find(around, self.roots).elsewhere {
            if let Some(value) = in_any_case(desired, name) {
                *value = elsewhere;
            }
            return false;
        }
        desired.retain(|known, _| !known.eq_ignore_ascii_case(name));
        let Some(twin) = at.other_form(around, self.roots) else {
            return true;
        };
        match twin.is_beside {
            true => {
                desired.insert(twin.name, twin.value);
            }
            false => self.twins.push((twin.name, twin.value)),
        }
        false
    }

    fn value(
        &mut self,
        (ty, field): (Type, &'static Field),
        value: &mut Value,
        there: &Value,
        at: At<'_>,
        path: &Path<'_>,
    ) {
        if let (Type::List(list), Value::Array(items), Value::Array(azure)) =
            (ty, &mut *value, there)
            && leaves::is_object(list.item)
            && !items.is_empty()
        {
            return self.items((list.item, field), items, azure, at, path);
        }
        if self.is_covered(path) {
            return self.replace(value, there, path);
        }
        match (ty, &mut *value, there) {
            (Type::Struct(shape), Value::Object(members), Value::Object(azure))
                if matches!(shape.semantic, Semantic::Plain | Semantic::ArmIdKeyed) =>
            {
                let tree = ArmTree::of(shape, members);
                if self.is_another_variant(&tree, path) {
                    return self.replace(value, there, path);
                }
                if self.object(&tree, members, azure, at, path) {
                    self.complete(&tree, members, azure, path);
                }
            }
            (Type::Map(map), Value::Object(members), Value::Object(azure))
                if !members.is_empty() =>
            {
                self.entries((map.value, field), members, azure, at, path);
            }
            _ => self.replace(value, there, path),
        }
    }

    /// An object that has lost a value is Azure's as a whole: what has taken the place of that value goes along.
    fn complete(
        &mut self,
        tree: &ArmTree,
        members: &mut Map<String, Value>,
        azure: &Map<String, Value>,
        path: &Path<'_>,
    ) {
        let known: HashSet<String> = members
            .keys()
            .map(|name| name.to_ascii_lowercase())
            .collect();
        for (name, value) in writable(tree, None, azure) {
            let below = path.member(&name);
            let below = below.to_string();
            let mut unsent = self.unsent.iter();
            let is_unsent = unsent.any(|unsent| is_at_or_below(unsent, &below));
            if !is_unsent && !known.contains(&name.to_ascii_lowercase()) {
                self.places.push(below);
                members.insert(name, value);
            }
        }
    }

    fn entries(
        &mut self,
        (ty, field): (Type, &'static Field),
        members: &mut Map<String, Value>,
        azure: &Map<String, Value>,
        at: At<'_>,
        path: &Path<'_>,
    ) {
        let of_azure = Folded::of(Some(azure));
        for name in names(members, Some(azure)).into_iter().map(|it| it.name) {
            let below = path.key(&name);
            if !self.is_touched(&below) {
                continue;
            }
            let there = of_azure.get(&name);
            match (in_any_case(members, &name), there) {
                (Some(value), Some(there)) => {
                    self.value((ty, field), value, there, at.item(), &below);
                }
                (Some(_), None) => {
                    self.note(&below);
                    members.retain(|known, _| !known.eq_ignore_ascii_case(&name));
                }
                (None, Some(there)) => {
                    self.note(&below);
                    members.insert(name, there.clone());
                }
                (None, None) => {}
            }
        }
    }

    fn items(
        &mut self,
        (ty, field): (Type, &'static Field),
        items: &mut Vec<Value>,
        azure: &[Value],
        at: At<'_>,
        path: &Path<'_>,
    ) {
        let Some(identifiers) = identifiers(field, items, azure) else {
            self.note(path);
            let mut ours: Vec<Option<Value>> =
                std::mem::take(items).into_iter().map(Some).collect();
            // What Azure does not show of an item is known of ours alone.
            let own = |there: &Value| {
                let mut fitting = ours.iter_mut();
                let fits = |own: &Value| leaves::fits((ty, field), (own, there), at, self.roots);
                fitting.find(|own| own.as_ref().is_some_and(fits))?.take()
            };
            let mut own = own;
            let there = azure.iter();
            items.extend(there.map(|there| own(there).unwrap_or_else(|| there.clone())));
            return;
        };
        let pairs = Pairs::of(items, azure, identifiers, at.item());
        let mut found = pairs.found.iter();
        items.retain_mut(|value| {
            let label = identity(value, identifiers).unwrap_or_default();
            let below = path.key(&label);
            let there = found.next().copied().flatten();
            match there.map(|there| &azure[there]) {
                _ if !self.is_touched(&below) => true,
                Some(there) => {
                    self.value((ty, field), value, there, at.item(), &below);
                    true
                }
                None => {
                    self.note(&below);
                    false
                }
            }
        });
        for there in pairs.superfluous(azure.len()).map(|there| &azure[there]) {
            let label = identity(there, identifiers).unwrap_or_default();
            let below = path.key(&label);
            if self.is_touched(&below) {
                self.note(&below);
                items.push(there.clone());
            }
        }
    }

    fn replace(&mut self, value: &mut Value, there: &Value, path: &Path<'_>) {
        self.note(path);
        *value = there.clone();
    }

    fn note(&mut self, path: &Path<'_>) {
        self.places.push(path.to_string());
    }

    fn is_touched(&self, path: &Path<'_>) -> bool {
        is_touched(self.carried, &path.to_string())
    }

    /// Whether all of a place is Azure's.
    fn is_covered(&self, path: &Path<'_>) -> bool {
        let path = path.to_string();
        let mut carried = self.carried.iter();
        carried.any(|carried| is_at_or_below(&path, carried))
    }

    fn is_another_variant(&self, tree: &ArmTree, path: &Path<'_>) -> bool {
        let mut below = tree.below.iter();
        below.any(|(name, tree)| tree.discriminator && self.is_covered(&path.member(name)))
    }
}

/// Writes a value below the body, making the objects on the way.
fn set(body: &mut Value, path: &str, value: Value) {
    let mut at = body;
    for name in path.split('.') {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        at = &mut at[name];
    }
    *at = value;
}

#[cfg(test)]
mod tests;
