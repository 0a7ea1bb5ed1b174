//! Values of any shape, for property tests: specs and statuses in Kubernetes form, and answers as ARM gives them.
//!
//! A value is a function of a seed and a size, so a test framework that shrinks both numbers shrinks values.
//! They lean towards what schemas allow and people rarely write: empty texts, lists and maps, bounds of rules,
//! integers beyond 2^53, enum members that nobody knows, odd dates, keys full of punctuation.
//!
//! | module | what it makes |
//! |---|---|
//! | this one | structs, lists and maps in Kubernetes form |
//! | [`scalar`] | numbers, texts and free JSON |
//! | [`answer`] | the same types in ARM's form, with what services get wrong |

mod answer;
mod scalar;

use serde_json::{Map, Value, json};

use crate::shape::{ArmPlace, Field, Flags, ListShape, Rules, Semantic, StructShape, Type};

/// How well values keep to the rules of their shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manners {
    /// Whatever JSON may reach an engine: as typed, and unknown members, nulls for absent fields, whole
    /// numbers written with a fraction.
    Loose,
    /// Right JSON types; anything else goes.
    Typed,
    /// What an API server accepts, as far as patterns allow.
    Valid,
}

/// A source of values.
#[derive(Clone, Debug)]
pub struct Arbitrary {
    state: u64,
    budget: usize,
    /// Whether values are to be usual ones too.
    plain: bool,
    manners: Manners,
}

/// Names that no shape has, some of them traps for whoever builds paths from names.
const UNKNOWN: [&str; 4] = ["unheardOf", "un.heard/of~1", "un[0]", "$unheard"];

/// Keys of maps: property names that look like paths, pointers or our own members, and twins in another casing.
const KEYS: [&str; 10] = [
    "a",
    "A",
    "b.c",
    "/x~1y",
    "",
    "$propertyBag",
    "[0]",
    "ünï ☃",
    "originalVersion",
    "null",
];

impl Arbitrary {
    /// Values of the right JSON types, about `size` scalars altogether. Required fields may be absent, enum
    /// members unknown, no variant set or several.
    pub fn typed(seed: u64, size: usize) -> Self {
        Self {
            // The generator needs a state that is not zero.
            state: seed | 1 << 63,
            budget: size,
            plain: false,
            manners: Manners::Typed,
        }
    }

    /// As [`Arbitrary::typed`], and with unknown members, explicit nulls and whole numbers like `1.0`.
    pub fn loose(seed: u64, size: usize) -> Self {
        Self {
            manners: Manners::Loose,
            ..Self::typed(seed, size)
        }
    }

    /// Values that keep to the rules. With size 0 there is nothing but what is required, and usual values.
    pub fn valid(seed: u64, size: usize) -> Self {
        Self {
            manners: Manners::Valid,
            plain: size == 0,
            ..Self::typed(seed, size)
        }
    }

    /// A struct in Kubernetes form.
    pub fn object(&mut self, shape: &'static StructShape) -> Value {
        let mut members = Map::new();
        let chosen = self.variant(shape);
        for field in self.fields(shape) {
            let is_variant = shape.one_of.as_ref().is_some_and(|one_of| {
                let mut variants = one_of.variants.iter();
                variants.any(|variant| variant.field == field.name)
            });
            // Owners and references get one form as a whole.
            if self.manners == Manners::Valid && field.name == "armId" {
                continue;
            }
            let is_there = match self.manners {
                Manners::Valid if is_variant => chosen == Some(field.name),
                Manners::Valid if field.flags.has(Flags::REQUIRED) => true,
                _ => self.spends(),
            };
            if is_there {
                members.insert(field.name.to_owned(), self.field(field));
            } else if self.manners == Manners::Loose && self.one_in(8) {
                members.insert(field.name.to_owned(), Value::Null);
            }
        }
        match self.manners {
            Manners::Valid => settle(shape, &mut members),
            Manners::Loose => self.add_unknown(&mut members),
            Manners::Typed => {}
        }
        Value::Object(members)
    }

    /// The fields from a random one on, so that a small budget reaches the last fields as well as the first.
    fn fields(
        &mut self,
        shape: &'static StructShape,
    ) -> impl Iterator<Item = &'static Field> + use<> {
        let first = self.below(shape.fields.len().max(1));
        let (before, after) = shape.fields.split_at(first.min(shape.fields.len()));
        after.iter().chain(before)
    }

    fn variant(&mut self, shape: &StructShape) -> Option<&'static str> {
        let variants = shape.one_of.as_ref()?.variants;
        let index = self.below(variants.len());
        variants.get(index).map(|variant| variant.field)
    }

    fn field(&mut self, field: &'static Field) -> Value {
        match field.ty {
            Type::List(list) if self.manners == Manners::Valid => self.valid_list(field, list),
            Type::List(_) | Type::Map(_) => self.value(field.ty, field.item_rules),
            _ => self.value(field.ty, field.rules),
        }
    }

    fn valid_list(&mut self, field: &'static Field, list: &ListShape) -> Value {
        let bound = |bound: Option<u64>| bound.and_then(|bound| usize::try_from(bound).ok());
        let least = bound(field.rules.min_items).unwrap_or(0);
        let most = bound(field.rules.max_items).unwrap_or(usize::MAX);
        let length = if self.plain {
            least.max(1)
        } else {
            (least + self.length()).min(most)
        };
        let items = (0..length).map(|_| self.value(list.item, field.item_rules));
        items.collect()
    }

    fn value(&mut self, ty: Type, rules: &Rules) -> Value {
        match ty {
            Type::Bool => Value::from(self.one_in(2)),
            Type::Integer(format) => self.integer(format, rules),
            Type::Number => self.number(rules),
            Type::String => Value::from(self.text(rules)),
            Type::Json => self.json(),
            Type::Enum(shape) => Value::from(self.member(shape)),
            Type::Struct(shape) if self.manners == Manners::Valid => match shape.semantic {
                Semantic::Reference | Semantic::WellKnownReference => {
                    json!({"armId": self.arm_id()})
                }
                Semantic::SecretReference | Semantic::ConfigMapReference => {
                    json!({"name": "some", "key": "key"})
                }
                Semantic::SecretMapReference => json!({"name": "some"}),
                Semantic::ArmIdKeyed => json!({"reference": {"armId": self.arm_id()}}),
                _ => self.object(shape),
            },
            Type::Struct(shape) => self.object(shape),
            Type::List(list) => {
                let length = self.length();
                (0..length).map(|_| self.value(list.item, rules)).collect()
            }
            Type::Map(map) => {
                let mut members = Map::new();
                for _ in 0..self.length() {
                    let key = KEYS[self.below(KEYS.len())].to_owned();
                    let value = self.value(map.value, rules);
                    members.insert(key, value);
                }
                Value::Object(members)
            }
        }
    }

    fn add_unknown(&mut self, members: &mut Map<String, Value>) {
        if self.one_in(6) {
            let name = UNKNOWN[self.below(UNKNOWN.len())].to_owned();
            let value = self.json();
            members.insert(name, value);
        }
    }

    fn length(&mut self) -> usize {
        let most = if self.budget == 0 { 1 } else { 4 };
        self.below(most)
    }

    /// Whether to set one more optional field.
    fn spends(&mut self) -> bool {
        let spends = self.budget > 0 && self.below(3) > 0;
        if spends {
            self.budget -= 1;
        }
        spends
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap_or(0)
    }

    /// xorshift64*: small, and good enough to vary tests. The upper bits are the good ones.
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }
}

/// Makes a valid object of one whose fields are each valid: references and owners take one form, values come
/// from one source.
fn settle(shape: &StructShape, members: &mut Map<String, Value>) {
    let names: Vec<_> = shape.fields.iter().map(|field| field.name).collect();
    let is_owner = names == ["armId", "name"] || names == ["armId", "group", "kind", "name"];
    if is_owner {
        members.clear();
        for name in names.iter().filter(|name| **name != "armId") {
            members.insert((*name).to_owned(), json!("some"));
        }
    }
    for name in names {
        if members.contains_key(name) {
            members.shift_remove(&format!("{name}FromConfig"));
            members.shift_remove(&format!("{name}FromSecret"));
        }
    }
    // `name` stands in the body of every resource: it is no further member of one.
    for field in shape.fields {
        if let (ArmPlace::Further([]), Some(further)) = (field.arm, members.get_mut(field.name))
            && let Some(further) = further.as_object_mut()
        {
            further.shift_remove("name");
        }
    }
}

#[cfg(test)]
mod tests;
