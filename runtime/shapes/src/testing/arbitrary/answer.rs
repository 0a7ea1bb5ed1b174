//! Answers of ARM for a shape: values at their ARM paths, and what services do that specs do not say.

use serde_json::{Map, Value, json};

use super::Arbitrary;
use crate::shape::{ArmPlace, Field, Rules, Semantic, StructShape, Type};

impl Arbitrary {
    /// A struct as ARM would return it: members in any casing, values of the wrong type, nulls, members and
    /// enum members that no shape has, variants that nobody knows.
    pub fn answer(&mut self, shape: &'static StructShape) -> Value {
        Value::Object(self.arm_members(shape))
    }

    fn arm_members(&mut self, shape: &'static StructShape) -> Map<String, Value> {
        let mut members = Map::new();
        let chosen = self.variant(shape);
        if let Some(one_of) = &shape.one_of {
            let mut variants = one_of.variants.iter();
            let known = variants.find(|variant| Some(variant.field) == chosen);
            let value = known.map_or("Unheard-of", |variant| variant.value);
            match self.below(8) {
                0 => {}
                1 => put(&mut members, &[one_of.discriminator], json!("Unheard-of")),
                2 => put(
                    &mut members,
                    &[one_of.discriminator],
                    json!(value.to_uppercase()),
                ),
                _ => put(&mut members, &[one_of.discriminator], json!(value)),
            }
        }
        for field in self.fields(shape) {
            match (field.arm, field.ty) {
                (ArmPlace::At(path) | ArmPlace::Further(path @ [_, ..]), _) if self.spends() => {
                    let value = self.arm_field(field);
                    self.put_anyhow(&mut members, path, value);
                }
                (ArmPlace::Variant, Type::Struct(variant)) if chosen == Some(field.name) => {
                    for (name, value) in self.arm_members(variant) {
                        members.entry(name).or_insert(value);
                    }
                }
                _ => {}
            }
        }
        self.add_unknown(&mut members);
        members
    }

    fn arm_field(&mut self, field: &'static Field) -> Value {
        if self.one_in(16) {
            return Value::Null;
        }
        let is_collection = matches!(field.ty, Type::List(_) | Type::Map(_));
        let rules = if is_collection {
            field.item_rules
        } else {
            field.rules
        };
        self.arm_value(field.ty, rules)
    }

    fn arm_value(&mut self, ty: Type, rules: &Rules) -> Value {
        if self.one_in(24) {
            return self.json();
        }
        match ty {
            Type::Enum(shape) => {
                let text = self.member(shape);
                Value::from(if self.one_in(4) {
                    text.to_uppercase()
                } else {
                    text
                })
            }
            Type::Integer(_) if self.one_in(12) => Value::from(u64::MAX),
            Type::Struct(shape) => match shape.semantic {
                Semantic::Plain | Semantic::ArmIdKeyed => self.answer(shape),
                Semantic::Reference | Semantic::WellKnownReference => Value::from(self.arm_id()),
                _ => Value::from(self.text(rules)),
            },
            Type::List(list) => {
                if let Type::Struct(item) = list.item
                    && item.semantic == Semantic::ArmIdKeyed
                {
                    let id = self.arm_id();
                    return json!({id: {"clientId": "c", "principalId": null}});
                }
                let length = self.length();
                let items = (0..length).map(|_| self.arm_item(list.item, rules));
                items.collect()
            }
            Type::Map(map) => {
                let mut members = Map::new();
                for _ in 0..self.length() {
                    let key = super::KEYS[self.below(super::KEYS.len())];
                    let value = self.arm_item(map.value, rules);
                    members.insert(key.to_owned(), value);
                }
                Value::Object(members)
            }
            _ => self.value(ty, rules),
        }
    }

    fn arm_item(&mut self, ty: Type, rules: &Rules) -> Value {
        if self.one_in(16) {
            Value::Null
        } else {
            self.arm_value(ty, rules)
        }
    }

    /// At the path, now and then in a casing of the service's own.
    fn put_anyhow(&mut self, members: &mut Map<String, Value>, path: &[&str], value: Value) {
        let upper: Vec<_> = path.iter().map(|name| name.to_uppercase()).collect();
        if self.one_in(24) {
            put(members, &upper, value);
        } else {
            put(members, path, value);
        }
    }
}

/// Sets what lies at a path of member names; a value that is in the way stays.
fn put(members: &mut Map<String, Value>, path: &[impl AsRef<str>], value: Value) {
    match path {
        [] => {}
        [last] => {
            members.insert(last.as_ref().to_owned(), value);
        }
        [first, rest @ ..] => {
            let below = members
                .entry(first.as_ref())
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(below) = below {
                put(below, rest, value);
            }
        }
    }
}
