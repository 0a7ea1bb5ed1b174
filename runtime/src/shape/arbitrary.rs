//! Values of any shape, for property tests.
//!
//! A value is a function of a seed and a size, so a test framework that shrinks both numbers shrinks values.

use regex::Regex;
use serde_json::{Map, Value, json};

use super::{EnumShape, Field, Flags, Rules, Semantic, StructShape, Type};

/// How well values keep to the rules of their shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manners {
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
    manners: Manners,
}

impl Arbitrary {
    /// Values of the right JSON types, about `size` scalars altogether. Required fields may be absent, enum
    /// members unknown, several variants set.
    pub fn typed(seed: u64, size: usize) -> Self {
        Self {
            // The generator needs a state that is not zero.
            state: seed | 1 << 63,
            budget: size,
            manners: Manners::Typed,
        }
    }

    /// Values that keep to the rules. With size 0 there is nothing but what is required.
    pub fn valid(seed: u64, size: usize) -> Self {
        Self {
            manners: Manners::Valid,
            ..Self::typed(seed, size)
        }
    }

    /// A struct in Kubernetes form.
    pub fn object(&mut self, shape: &'static StructShape) -> Value {
        let mut members = Map::new();
        let chosen = self.variant(shape);
        let first = self.below(shape.fields.len().max(1));
        let (after, before) = (&shape.fields[first..], &shape.fields[..first]);
        // From a random field on, so that a small budget reaches the last fields as well as the first.
        for field in after.iter().chain(before) {
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
            }
        }
        if self.manners == Manners::Valid {
            settle(shape, &mut members);
        }
        Value::Object(members)
    }

    fn variant(&mut self, shape: &StructShape) -> Option<&'static str> {
        let variants = shape.one_of.as_ref()?.variants;
        let index = self.below(variants.len());
        variants.get(index).map(|variant| variant.field)
    }

    fn field(&mut self, field: &Field) -> Value {
        if let (Manners::Valid, Type::List(list)) = (self.manners, field.ty) {
            let least = usize::try_from(field.rules.min_items.unwrap_or(0)).unwrap_or(0);
            let items = (0..least.max(1)).map(|_| self.value(list.item, field.item_rules));
            return items.collect();
        }
        let is_collection = matches!(field.ty, Type::List(_) | Type::Map(_));
        let rules = if is_collection {
            field.item_rules
        } else {
            field.rules
        };
        self.value(field.ty, rules)
    }

    fn value(&mut self, ty: Type, rules: &Rules) -> Value {
        match ty {
            Type::Bool => Value::from(self.next() & 1 == 0),
            Type::Integer(_) => Value::from(self.integer(rules)),
            Type::Number => self.number(rules),
            Type::String => Value::from(self.text(rules)),
            Type::Json => self.json(),
            Type::Enum(shape) => Value::from(self.member(shape)),
            Type::Struct(shape) if self.manners == Manners::Valid => match shape.semantic {
                Semantic::Reference | Semantic::WellKnownReference => {
                    json!({"armId": "/subscriptions/s/resourceGroups/r/providers/a.b/c/d"})
                }
                _ => self.object(shape),
            },
            Type::Struct(shape) => self.object(shape),
            Type::List(list) => {
                let length = self.length();
                (0..length).map(|_| self.value(list.item, rules)).collect()
            }
            Type::Map(map) => {
                let mut members = Map::new();
                for index in 0..self.length() {
                    let key = ["a", "b.c", "D e", "/x"][index % 4].to_owned();
                    members.insert(key, self.value(map.value, rules));
                }
                Value::Object(members)
            }
        }
    }

    fn integer(&mut self, rules: &Rules) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "any integer will do")]
        let bound = |bound: Option<f64>, default: i64| bound.map_or(default, |bound| bound as i64);
        if self.manners == Manners::Valid {
            return bound(rules.minimum, bound(rules.maximum, 1).min(1));
        }
        match self.below(4) {
            0 => i64::MAX - i64::try_from(self.below(3)).unwrap_or(0),
            1 => -i64::try_from(self.below(1_000)).unwrap_or(0),
            _ => i64::try_from(self.below(1_000)).unwrap_or(0),
        }
    }

    /// Quarters are exact, and the codec writes whole numbers without a fraction.
    fn number(&mut self, rules: &Rules) -> Value {
        if self.manners == Manners::Valid {
            return Value::from(self.integer(rules));
        }
        let quarters = i64::try_from(self.below(400)).unwrap_or(0) - 200;
        if quarters % 4 == 0 {
            return Value::from(quarters / 4);
        }
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let number = quarters as f64 / 4.0;
        Value::from(number)
    }

    fn text(&mut self, rules: &Rules) -> String {
        if self.manners == Manners::Valid {
            return valid_text(rules);
        }
        const TEXTS: [&str; 8] = [
            "",
            "a",
            "Hot",
            "ünï",
            "x y",
            "/subscriptions/s",
            "{\"a\":1}",
            "0",
        ];
        TEXTS[self.below(TEXTS.len())].to_owned()
    }

    fn member(&mut self, shape: &EnumShape) -> String {
        let known = self.manners == Manners::Valid || self.below(8) > 0;
        match shape.values.get(self.below(shape.values.len().max(1))) {
            Some(value) if known => (*value).to_owned(),
            _ => "Unheard-of".to_owned(),
        }
    }

    fn json(&mut self) -> Value {
        match self.below(5) {
            0 => Value::from(self.below(10)),
            1 => json!("text"),
            2 => json!([1, null, {"a": []}]),
            3 => json!({"deep": {"null": null, "empty": {}}}),
            _ => json!(false),
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

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap_or(0)
    }

    /// xorshift64*: small, and good enough to vary tests.
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 1
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
}

/// A text that keeps to the rules, found by trying; the first candidate when none does.
fn valid_text(rules: &Rules) -> String {
    const CANDIDATES: [&str; 12] = [
        "abc",
        "a",
        "00000000-0000-0000-0000-000000000000",
        "10.0.0.0/8",
        "/subscriptions/s/resourceGroups/r/providers/a.b/c/d",
        "https://a.example/b",
        "default",
        "P1D",
        "2030-01-01T00:00:00Z",
        "1",
        "a.b",
        "A",
    ];
    let least = usize::try_from(rules.min_length.unwrap_or(0)).unwrap_or(0);
    let pattern = rules.pattern.and_then(|pattern| Regex::new(pattern).ok());
    let lengths = Rules {
        pattern: None,
        ..*rules
    };
    let keeps = |text: &str| {
        let matches = pattern
            .as_ref()
            .is_none_or(|pattern| pattern.is_match(text));
        matches && super::rules::check_rules(&lengths, &Value::from(text)).is_empty()
    };
    let padded = CANDIDATES
        .iter()
        .flat_map(|text| [(*text).to_owned(), text.repeat(least.div_ceil(text.len()))]);
    padded
        .into_iter()
        .find(|text| keeps(text))
        .unwrap_or_else(|| CANDIDATES[0].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{MODEL, VERSION};
    use crate::shape::check;

    #[test]
    fn valid_values_have_no_problem() {
        for seed in 0..60 {
            let size = usize::try_from(seed % 60).unwrap();
            let spec = Arbitrary::valid(seed, size).object(VERSION.spec);
            assert_eq!(check(VERSION.spec, &spec, "spec"), [], "{spec:#}");
        }
        let least = Arbitrary::valid(7, 0).object(VERSION.spec);
        assert_eq!(least.as_object().unwrap().len(), 2, "{least}");
    }

    #[test]
    fn every_field_is_reached_and_equal_seeds_give_equal_values() {
        for shape in [VERSION.spec, MODEL.hub.spec] {
            let mut unseen: Vec<_> = shape.fields.iter().map(|field| field.name).collect();
            for seed in 0..200 {
                let value = Arbitrary::typed(seed, 10).object(shape);
                assert_eq!(value, Arbitrary::typed(seed, 10).object(shape));
                unseen.retain(|name| value.get(name).is_none());
            }
            assert!(unseen.is_empty(), "{unseen:?}");
        }
    }
}
