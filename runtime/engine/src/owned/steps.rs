//! Paths of rules, and the places in two bodies that they stand for.

use std::fmt;

use crate::compare::member;
use armature_shapes::shape::arm_tree::ArmTree;
use armature_shapes::shape::path::Path;
use armature_shapes::shape::{Field, StructShape, Type};
use serde_json::{Map, Value};

use crate::compare::{identifiers, identity, is_unseen};

/// A path in ARM's JSON: `properties.agentPoolProfiles[].count` for all items, `properties.agentPoolProfiles.user1.count` for
/// one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps(Vec<Step>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A member, an entry of a map, or the item with this identity.
    Name(String),
    /// Each item or entry.
    Each,
}

/// Why a text is no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepsError {
    /// Two dots, or one at an end.
    #[error("the path `{0}` has an empty step")]
    Empty(String),
    /// A bracket that is not closed, or holds something else than text in quotes.
    #[error("the path `{0}` has a bracket that is neither `[]` nor `[\"…\"]`")]
    Bracket(String),
}

impl fmt::Display for Steps {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Each => formatter.write_str("[]")?,
                Step::Name(name) if at == 0 => formatter.write_str(name)?,
                Step::Name(name) => write!(formatter, ".{name}")?,
            }
        }
        Ok(())
    }
}

impl Steps {
    /// Reads a path.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<Self, StepsError> {
        let mut steps = Vec::new();
        let mut rest = text;
        loop {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let name = &rest[..end];
            let is_after_bracket = rest.starts_with('[') && !steps.is_empty();
            match name {
                "" if is_after_bracket => {}
                "" => return Err(StepsError::Empty(text.to_owned())),
                name => steps.push(Step::Name(name.to_owned())),
            }
            rest = &rest[end..];
            while let Some(inner) = rest.strip_prefix('[') {
                let (step, after) =
                    bracket(inner).ok_or_else(|| StepsError::Bracket(text.to_owned()))?;
                steps.push(step);
                rest = after;
            }
            match rest.strip_prefix('.') {
                Some(after) => rest = after,
                None if rest.is_empty() => return Ok(Self(steps)),
                None => return Err(StepsError::Bracket(text.to_owned())),
            }
            if rest.starts_with('[') {
                return Err(StepsError::Empty(text.to_owned()));
            }
        }
    }

    /// Whether it stands for items or entries.
    pub(super) fn has_items(&self) -> bool {
        self.0.contains(&Step::Each)
    }

    /// Whether each `[]` of it is one of the other path's, too.
    pub(super) fn is_within_items_of(&self, other: &Self) -> bool {
        let last = self.0.iter().rposition(|step| *step == Step::Each);
        last.is_none_or(|last| other.0.get(..=last) == self.0.get(..=last))
    }

    /// Whether bodies of this shape may have the path.
    pub fn is_known(&self, shape: &'static StructShape) -> bool {
        let tree = ArmTree::of(shape, &Map::new());
        leads(&tree, &self.0, &|_| true)
    }

    /// Whether it stands for a map or a list, or for what may be one.
    pub fn is_of_members(&self, shape: &'static StructShape) -> bool {
        let tree = ArmTree::of(shape, &Map::new());
        let has_members = |ty| matches!(ty, Some(Type::Map(_) | Type::List(_) | Type::Json));
        leads(&tree, &self.0, &has_members)
    }
}

/// What stands in a bracket, and what comes after it.
fn bracket(inner: &str) -> Option<(Step, &str)> {
    if let Some(after) = inner.strip_prefix(']') {
        return Some((Step::Each, after));
    }
    let quoted = inner.strip_prefix('"')?;
    let (name, after) = quoted.split_once("\"]")?;
    Some((Step::Name(name.to_owned()), after))
}

/// What must be so of the type at the end of a path; of an object that is none of the shape's own nothing is given.
type Wanted<'w> = &'w dyn Fn(Option<Type>) -> bool;

/// Whether a path leads to what is wanted.
fn leads(tree: &ArmTree, steps: &[Step], is_wanted: Wanted<'_>) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        return is_wanted(None);
    };
    let Step::Name(name) = step else {
        return false;
    };
    match tree.member(name) {
        Some(tree) if tree.fields.is_empty() && tree.discriminator => is_wanted(None),
        Some(tree) if tree.fields.is_empty() => leads(tree, rest, is_wanted),
        Some(tree) => {
            let mut fields = tree.fields.iter();
            fields.any(|field| leads_in(field.ty, rest, is_wanted))
        }
        None => match tree.further.map(|field| field.ty) {
            Some(Type::Map(map)) => leads_in(map.value, rest, is_wanted),
            _ => false,
        },
    }
}

fn leads_in(ty: Type, steps: &[Step], is_wanted: Wanted<'_>) -> bool {
    match (ty, steps.split_first()) {
        (ty, None) => is_wanted(Some(ty)),
        (Type::Json, _) => is_wanted(Some(ty)),
        (Type::Struct(shape), _) => leads(&ArmTree::of(shape, &Map::new()), steps, is_wanted),
        (Type::List(list), Some((_, rest))) => leads_in(list.item, rest, is_wanted),
        (Type::Map(map), Some((_, rest))) => leads_in(map.value, rest, is_wanted),
        _ => false,
    }
}

/// Which item or entry a step stands for, in each of two bodies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Binding {
    desired: Option<At>,
    observed: Option<At>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum At {
    Name(String),
    Index(usize),
}

/// One place that a rule is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Path as comparisons write it.
    pub path: String,
    /// The same in the schema.
    pub schema_path: String,
    /// Whether the value is a secret, or has parts, of which one may be.
    pub is_hidden: bool,
    steps: Vec<Step>,
    /// The path in words before each step, and the whole.
    stems: Vec<String>,
    /// For each step which item or entry it is; none for members of objects.
    bindings: Vec<Binding>,
}

/// Which of two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Desired,
    Observed,
}

impl Place {
    /// The value at a path within the same items; null counts as none.
    pub(super) fn value<'v>(
        &self,
        steps: &Steps,
        body: &'v Value,
        side: Side,
    ) -> Option<&'v Value> {
        let mut value = body;
        for (index, step) in steps.0.iter().enumerate() {
            value = match (self.bound(index, steps, side), step) {
                (Some(At::Index(index)), _) => value.as_array()?.get(*index)?,
                (Some(At::Name(name)), _) | (None, Step::Name(name)) => {
                    member(value.as_object()?, name)?
                }
                (None, Step::Each) => return None,
            };
        }
        Some(value).filter(|value| !value.is_null())
    }

    /// The value at the place itself.
    pub(super) fn own<'v>(&self, body: &'v Value, side: Side) -> Option<&'v Value> {
        self.value(&Steps(self.steps.clone()), body, side)
    }

    /// A path within the same items in words, as [`Place::path`] is written.
    pub(super) fn path_of(&self, steps: &Steps) -> String {
        let shared = self.steps.iter().zip(&steps.0);
        let shared = shared.take_while(|(own, other)| own == other).count();
        let rest = Steps(steps.0.get(shared..).unwrap_or_default().to_vec());
        match (self.stems.get(shared), rest.0.is_empty()) {
            (Some(stem), true) => stem.clone(),
            (Some(stem), false) if stem.is_empty() => rest.to_string(),
            (Some(stem), false) => format!("{stem}.{rest}"),
            (None, _) => steps.to_string(),
        }
    }

    /// Which item a step stands for. Paths of conditions share the items of the rule's own path as far as the two are the
    /// same.
    fn bound(&self, index: usize, steps: &Steps, side: Side) -> Option<&At> {
        let is_shared = self.steps.get(..=index) == steps.0.get(..=index);
        let binding = self.bindings.get(index).filter(|_| is_shared)?;
        match side {
            Side::Desired => binding.desired.as_ref(),
            Side::Observed => binding.observed.as_ref(),
        }
    }

    /// Sets, or takes out, the value of desired. An item or an object above it that desired lacks is not made.
    pub(super) fn set(&self, body: &mut Value, value: Option<Value>) {
        let steps = Steps(self.steps.clone());
        let Some((Step::Name(last), above)) = self.steps.split_last() else {
            return;
        };
        let mut at = body;
        for (index, step) in above.iter().enumerate() {
            let next = match (self.bound(index, &steps, Side::Desired), step) {
                (Some(At::Index(index)), _) => at.as_array_mut().and_then(|it| it.get_mut(*index)),
                (Some(At::Name(name)), _) | (None, Step::Name(name)) => object(at, name),
                (None, Step::Each) => None,
            };
            let Some(next) = next else {
                return;
            };
            at = next;
        }
        let Some(members) = at.as_object_mut() else {
            return;
        };
        let mut known = members.keys();
        let known = known.find(|known| known.eq_ignore_ascii_case(last));
        let name = known.unwrap_or(last).clone();
        match value {
            Some(value) => members.insert(name, value),
            None => members.remove(&name),
        };
    }
}

/// The object with a name in any case.
fn object<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    let members = value.as_object_mut()?;
    let mut known = members.keys();
    let known = known
        .find(|known| known.eq_ignore_ascii_case(name))
        .cloned();
    members.get_mut(&known?)
}

/// The places that a path stands for in two bodies, each item of either once.
pub(super) fn places(
    shape: &'static StructShape,
    steps: &Steps,
    desired: &Value,
    observed: &Value,
) -> Vec<Place> {
    let mut search = Search {
        steps: &steps.0,
        bindings: Vec::new(),
        stems: Vec::new(),
        is_hidden: false,
        found: Vec::new(),
    };
    let none = Map::new();
    let members = desired.as_object().or(observed.as_object());
    let tree = ArmTree::of(shape, members.unwrap_or(&none));
    let sides = (Some(desired), Some(observed));
    search.object(&tree, sides, &steps.0, &Path::Root(""));
    search.found
}

type Sides<'v> = (Option<&'v Value>, Option<&'v Value>);

struct Search<'s> {
    steps: &'s [Step],
    bindings: Vec<Binding>,
    /// The path in words before each step that was taken.
    stems: Vec<String>,
    /// Whether something above is a secret.
    is_hidden: bool,
    found: Vec<Place>,
}

impl Search<'_> {
    fn object(&mut self, tree: &ArmTree, sides: Sides<'_>, steps: &[Step], path: &Path<'_>) {
        let Some((Step::Name(name), rest)) = steps.split_first() else {
            return;
        };
        let below = (child(sides.0, name), child(sides.1, name));
        let known = tree.member(name);
        let label = match known {
            Some(_) => path.member(name),
            None => path.key(name),
        };
        self.stems.push(path.to_string());
        self.bindings.push(Binding::default());
        match known {
            Some(known) if known.fields.is_empty() => {
                self.further(known, below, rest, &label);
            }
            Some(known) => self.value(known.fields[0].ty, known.fields[0], below, rest, &label),
            None => {
                if let Some((field, Type::Map(map))) = tree.further.map(|field| (field, field.ty)) {
                    self.value(map.value, field, below, rest, &label);
                }
            }
        }
        self.bindings.pop();
        self.stems.pop();
    }

    /// An object of ARM between two fields of a shape.
    fn further(&mut self, tree: &ArmTree, sides: Sides<'_>, steps: &[Step], path: &Path<'_>) {
        match steps.is_empty() {
            true => self.take(sides, path, true),
            false => self.object(tree, sides, steps, path),
        }
    }

    fn value(
        &mut self,
        ty: Type,
        field: &'static Field,
        sides: Sides<'_>,
        steps: &[Step],
        path: &Path<'_>,
    ) {
        let Some((step, rest)) = steps.split_first() else {
            let is_hidden = self.is_hidden || is_unseen(field) || has_parts(ty);
            return self.take(sides, path, is_hidden);
        };
        let was_hidden = self.is_hidden;
        self.is_hidden |= is_unseen(field);
        match ty {
            Type::Struct(shape) => {
                let none = Map::new();
                let members = sides.0.or(sides.1).and_then(Value::as_object);
                let tree = ArmTree::of(shape, members.unwrap_or(&none));
                self.object(&tree, sides, steps, path);
            }
            Type::Map(map) => {
                let keys = match step {
                    Step::Name(name) => vec![name.clone()],
                    Step::Each => keys(sides),
                };
                for key in keys {
                    let below = (child(sides.0, &key), child(sides.1, &key));
                    self.stems.push(path.to_string());
                    self.bindings.push(Binding {
                        desired: Some(At::Name(key.clone())),
                        observed: Some(At::Name(key.clone())),
                    });
                    self.value(map.value, field, below, rest, &path.key(&key));
                    self.bindings.pop();
                    self.stems.pop();
                }
            }
            Type::List(list) => self.items(list.item, field, sides, (step, rest), path),
            _ => {}
        }
        self.is_hidden = was_hidden;
    }

    fn items(
        &mut self,
        item: Type,
        field: &'static Field,
        sides: Sides<'_>,
        (step, rest): (&Step, &[Step]),
        path: &Path<'_>,
    ) {
        let none = Vec::new();
        let [desired, observed] =
            [sides.0, sides.1].map(|side| side.and_then(Value::as_array).unwrap_or(&none));
        let names = identifiers(field, desired, observed);
        for (label, binding) in bindings(names, desired, observed) {
            if matches!(step, Step::Name(name) if !label.eq_ignore_ascii_case(name)) {
                continue;
            }
            let at = |at: &Option<At>, items: &'_ [Value]| match at {
                Some(At::Index(index)) => items.get(*index).cloned(),
                _ => None,
            };
            let below = (
                at(&binding.desired, desired),
                at(&binding.observed, observed),
            );
            let below = (below.0.as_ref(), below.1.as_ref());
            let position = binding.desired.as_ref().or(binding.observed.as_ref());
            let label = match (names, position) {
                (None, Some(At::Index(index))) => path.item(*index),
                _ => path.key(&label),
            };
            self.stems.push(path.to_string());
            self.bindings.push(binding);
            self.value(item, field, below, rest, &label);
            self.bindings.pop();
            self.stems.pop();
        }
    }

    fn take(&mut self, sides: Sides<'_>, path: &Path<'_>, is_hidden: bool) {
        if sides.0.is_none() && sides.1.is_none() {
            return;
        }
        self.found.push(Place {
            path: path.to_string(),
            schema_path: path.schema_path(),
            is_hidden,
            steps: self.steps.to_vec(),
            stems: self
                .stems
                .iter()
                .cloned()
                .chain([path.to_string()])
                .collect(),
            bindings: self.bindings.clone(),
        });
    }
}

/// The items of both lists, counterparts together: by identity, else by their place.
fn bindings(
    names: Option<&'static [&'static str]>,
    desired: &[Value],
    observed: &[Value],
) -> Vec<(String, Binding)> {
    let Some(names) = names else {
        let longest = desired.len().max(observed.len());
        let at = |index: usize, items: &[Value]| (index < items.len()).then_some(At::Index(index));
        let both = |index: usize| Binding {
            desired: at(index, desired),
            observed: at(index, observed),
        };
        return (0..longest)
            .map(|index| (index.to_string(), both(index)))
            .collect();
    };
    let mut found: Vec<(String, Binding)> = Vec::new();
    for (index, item) in desired.iter().enumerate() {
        let desired = Some(At::Index(index));
        let binding = Binding {
            desired,
            observed: None,
        };
        found.push((identity(item, names).unwrap_or_default(), binding));
    }
    for (index, item) in observed.iter().enumerate() {
        let label = identity(item, names).unwrap_or_default();
        match found.iter_mut().find(|(known, _)| *known == label) {
            Some((_, binding)) => binding.observed = Some(At::Index(index)),
            None => found.push((
                label,
                Binding {
                    desired: None,
                    observed: Some(At::Index(index)),
                },
            )),
        }
    }
    found
}

fn has_parts(ty: Type) -> bool {
    match ty {
        Type::Struct(_) | Type::Map(_) | Type::Json => true,
        Type::List(list) => has_parts(list.item),
        _ => false,
    }
}

fn child<'v>(value: Option<&'v Value>, name: &str) -> Option<&'v Value> {
    member(value?.as_object()?, name).filter(|value| !value.is_null())
}

/// The keys of both maps, each once in whatever case.
fn keys(sides: Sides<'_>) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for side in [sides.0, sides.1].into_iter().flatten() {
        for key in side.as_object().into_iter().flat_map(Map::keys) {
            if !keys.iter().any(|known| known.eq_ignore_ascii_case(key)) {
                keys.push(key.clone());
            }
        }
    }
    keys
}
