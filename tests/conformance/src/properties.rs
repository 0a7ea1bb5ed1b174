//! Properties over arbitrary values of every generated kind and version.
//!
//! A kind or version that is generated anew is covered without a line here: everything goes through the registry.

use std::collections::BTreeSet;

use armature_generated::KINDS;
use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::shape::{StructShape, Type};
use armature_runtime::testing::by_shape::TypesByShape;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Map, Value};

/// Largest size of a value: about as many scalars as a long manifest has.
const LARGEST: usize = 120;

/// Runs a property over values of every size, each from a seed. `PROPTEST_CASES` overrides the number of cases.
///
/// # Panics
/// With the smallest seed and size for which the property does not hold.
#[allow(clippy::panic, reason = "a test that fails")]
pub fn for_all(what: &str, cases: u32, property: impl Fn(u64, usize) -> Result<(), String>) {
    let usual = Config::default();
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let config = Config {
        cases: if asked { usual.cases } else { cases },
        // The seeds of failures are in the message; nothing is to be written beside the sources.
        failure_persistence: None,
        ..usual
    };
    let inputs = (proptest::num::u64::ANY, 0..LARGEST);
    let result = TestRunner::new(config).run(&inputs, |(seed, size)| {
        property(seed, size).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("{what}: {error}");
    }
}

/// Set by `cargo xtask test --all`: properties hold for every version of every kind.
const ALL_VERSIONS: &str = "ARMATURE_ALL_VERSIONS";

/// The newest version of every kind, and the newest of those that are served without a request: most of what an older one
/// has is the same type. With `cargo xtask test --all` every version.
pub fn versions() -> impl Iterator<Item = (&'static KindInfo, &'static VersionInfo)> {
    let is_wanted = |kind: &KindInfo, version: &VersionInfo| {
        let newest = [kind.versions.last(), kind.served_unasked().next_back()];
        let mut newest = newest.into_iter().flatten();
        newest.any(|newest| newest.api_version == version.api_version)
    };
    let all = std::env::var_os(ALL_VERSIONS).is_some();
    every_version().filter(move |(kind, version)| all || is_wanted(kind, version))
}

/// Every version of every kind.
fn every_version() -> impl Iterator<Item = (&'static KindInfo, &'static VersionInfo)> {
    let kinds = KINDS.iter();
    kinds.flat_map(|kind| kind.versions.iter().map(move |version| (*kind, version)))
}

/// The shapes at the top of specs and statuses, of versions and hubs, each once.
pub fn shapes() -> Vec<&'static StructShape> {
    let hubs = KINDS
        .iter()
        .flat_map(|kind| [kind.hub.spec, kind.hub.status]);
    let served = versions().flat_map(|(_, version)| [version.spec, version.status]);
    let mut seen = BTreeSet::new();
    let mut shapes = Vec::new();
    for shape in hubs.chain(served) {
        if seen.insert(std::ptr::from_ref(shape)) {
            shapes.push(shape);
        }
    }
    shapes
}

/// The Rust types of [`shapes`].
pub fn types() -> TypesByShape {
    let mut types = TypesByShape::default();
    macro_rules! add {
        ($version:ty, $hub:ty) => {
            types.add::<$version>();
            types.add::<$hub>();
        };
    }
    macro_rules! add_groups {
        ($($group:ident)*) => { $(armature_generated::$group::each_kind!(add);)* };
    }
    armature_generated::each_group!(add_groups);
    types
}

/// Whether two documents are the same, and if not, where they differ first.
///
/// # Errors
/// The first difference and both documents.
pub fn same(expected: &Value, found: &Value) -> Result<(), String> {
    match first_difference(expected, found, String::new()) {
        None => Ok(()),
        Some(place) => Err(format!(
            "differs at `{place}`\nexpected {expected}\nfound    {found}"
        )),
    }
}

fn first_difference(expected: &Value, found: &Value, place: String) -> Option<String> {
    match (expected, found) {
        _ if expected == found => None,
        (Value::Object(expected), Value::Object(found)) => {
            let names: BTreeSet<_> = expected.keys().chain(found.keys()).collect();
            names.into_iter().find_map(|name| {
                let below = format!("{place}/{name}");
                match (expected.get(name), found.get(name)) {
                    (Some(expected), Some(found)) => first_difference(expected, found, below),
                    _ => Some(below),
                }
            })
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            let mut pairs = expected.iter().zip(found).enumerate();
            pairs.find_map(|(index, (expected, found))| {
                first_difference(expected, found, format!("{place}/{index}"))
            })
        }
        _ => Some(place),
    }
}

/// The members of a document that its type has, at every level; everything else as it is. This is what an API
/// server keeps of an object.
pub fn pruned(shape: &StructShape, document: &Value) -> Value {
    let Value::Object(members) = document else {
        return document.clone();
    };
    let known = members.iter().filter_map(|(name, value)| {
        let field = shape.field(name)?;
        Some((name.clone(), pruned_value(field.ty, value)))
    });
    Value::Object(known.collect())
}

fn pruned_value(ty: Type, value: &Value) -> Value {
    match (ty, value) {
        (Type::Struct(shape), _) => pruned(shape, value),
        (Type::List(list), Value::Array(items)) => {
            let items = items.iter();
            items.map(|item| pruned_value(list.item, item)).collect()
        }
        (Type::Map(map), Value::Object(members)) => {
            let members = members.iter();
            let members = members.map(|(key, value)| (key.clone(), pruned_value(map.value, value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        _ => value.clone(),
    }
}

/// The document with one variant of each discriminated object, as the API server admits them.
pub fn with_one_variant(shape: &StructShape, document: &mut Value) {
    let Value::Object(members) = document else {
        return;
    };
    if let Some(one_of) = shape.one_of {
        let is_variant = |name: &str| one_of.variants.iter().any(|one| one.field == name);
        let mut is_chosen = false;
        members.retain(|name, _| !is_variant(name) || !std::mem::replace(&mut is_chosen, true));
    }
    for (name, value) in members {
        if let Some(field) = shape.field(name) {
            one_variant_in(field.ty, value);
        }
    }
}

fn one_variant_in(ty: Type, value: &mut Value) {
    match (ty, value) {
        (Type::Struct(shape), value) => with_one_variant(shape, value),
        (Type::List(list), Value::Array(items)) => {
            for item in items {
                one_variant_in(list.item, item);
            }
        }
        (Type::Map(map), Value::Object(members)) => {
            for member in members.values_mut() {
                one_variant_in(map.value, member);
            }
        }
        _ => {}
    }
}

/// What the codec makes of a document, said independently of it: absent instead of null, no unknown members, and
/// whole numbers without a fraction. Nothing else may change.
pub fn normal(shape: &StructShape, document: &Value) -> Value {
    let members = document.as_object().into_iter().flatten();
    let known = members.filter(|(_, value)| !value.is_null());
    let known = known.filter_map(|(name, value)| {
        let field = shape.field(name)?;
        Some((name.clone(), normal_value(field.ty, value)))
    });
    Value::Object(known.collect())
}

fn normal_value(ty: Type, value: &Value) -> Value {
    match (ty, value) {
        (Type::Struct(shape), _) => normal(shape, value),
        (Type::List(list), Value::Array(items)) => {
            let items = items.iter();
            items.map(|item| normal_value(list.item, item)).collect()
        }
        (Type::Map(map), Value::Object(members)) => {
            let members = members.iter();
            let members = members.map(|(key, value)| (key.clone(), normal_value(map.value, value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        (Type::Integer(_) | Type::Number, Value::Number(number)) if number.is_f64() => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0);
            let whole = whole.filter(|number| number.abs() <= 9_007_199_254_740_992.0);
            #[expect(
                clippy::cast_possible_truncation,
                reason = "checked to be whole and small"
            )]
            whole.map_or_else(|| value.clone(), |number| Value::from(number as i64))
        }
        _ => value.clone(),
    }
}
