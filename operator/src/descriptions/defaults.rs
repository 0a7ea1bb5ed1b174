//! Defaults: what Azure takes where nothing is sent, as its specs say it of a property.

use armature_runtime::shape::{ArmPlace, StructShape, Type};
use serde_json::Value;

use super::Descriptions;

/// The defaults of an object's properties.
#[derive(Clone, Copy, Debug)]
pub struct Defaults<'d> {
    descriptions: &'d Descriptions,
    object: Option<usize>,
}

impl Descriptions {
    /// Those of the spec of a version.
    pub fn defaults(&self, kind: &str, version: &str) -> Defaults<'_> {
        let [spec, _] = self.sides(kind, version);
        Defaults {
            descriptions: self,
            object: spec,
        }
    }

    /// The default of a property of a version, by its path from `spec` down.
    pub fn default_of(&self, kind: &str, version: &str, path: &[String]) -> Option<&Value> {
        let entry = self.entry(kind, version, path)?;
        self.defaults.get(entry.default?)
    }
}

impl<'d> Defaults<'d> {
    /// The default of a member, and the defaults below it.
    pub fn member(self, name: &str) -> (Option<&'d Value>, Self) {
        let found = self.object;
        let entry = found.and_then(|object| self.descriptions.member(object, name));
        let default = entry.and_then(|entry| entry.default);
        let below = Self {
            object: entry.and_then(|entry| entry.object),
            ..self
        };
        let default = default.and_then(|at| self.descriptions.defaults.get(at));
        (default, below)
    }

    /// The default at a path of the schema in ARM's JSON: `properties.rules[].action`.
    pub fn at_arm(self, shape: &'static StructShape, path: &str) -> Option<&'d Value> {
        let names: Vec<&str> = path.split('.').collect();
        self.at_names(shape, &names)
    }

    fn at_names(self, shape: &'static StructShape, names: &[&str]) -> Option<&'d Value> {
        shape.fields.iter().find_map(|field| {
            let (default, below) = self.member(field.name);
            let rest = match field.arm {
                ArmPlace::At(at) => after(names, at)?,
                ArmPlace::Variant => names,
                ArmPlace::Further(_) | ArmPlace::Operator => return None,
            };
            match (rest, innermost(field.ty)) {
                ([], _) => default,
                (_, Some(inner)) => below.at_names(inner, rest),
                _ => None,
            }
        })
    }
}

/// What is left of a path after a place, items aside.
fn after<'n, 's>(names: &'n [&'s str], at: &[&str]) -> Option<&'n [&'s str]> {
    let (first, rest) = names.split_at_checked(at.len())?;
    let is_there = first.iter().zip(at).all(|(name, at)| {
        let name = name.trim_end_matches("[]");
        name.eq_ignore_ascii_case(at)
    });
    (is_there && !at.is_empty()).then_some(rest)
}

/// The struct that a type holds in the end.
fn innermost(ty: Type) -> Option<&'static StructShape> {
    match ty {
        Type::Struct(shape) => Some(shape),
        Type::List(list) => innermost(list.item),
        Type::Map(map) => innermost(map.value),
        _ => None,
    }
}

/// Whether a value is the default: the same text, truth or number.
pub fn is_default(value: &Value, default: &Value) -> bool {
    match (value, default) {
        (Value::Number(value), Value::Number(default)) => value.as_f64() == default.as_f64(),
        _ => value == default,
    }
}

#[cfg(test)]
mod tests {
    use armature_generated::KINDS;
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn defaults_are_found_by_both_paths() {
        let (kind, version) = ("StorageAccount", "v1api20230101");
        let group = Descriptions::of("storage.azure.com");
        let of_spec = |text: &str| group.default_of(kind, version, &path(text)).cloned();
        let expected = Some(json!("AzureServices"));
        assert_eq!(of_spec("spec.networkAcls.bypass"), expected);
        let within = of_spec("spec.networkAcls.ipRules.action");
        assert_eq!(within, Some(json!("Allow")), "within a list");
        assert_eq!(of_spec("spec.accessTier"), None);
        assert_eq!(of_spec("status.networkAcls.bypass"), None);

        let mut kinds = KINDS.iter();
        let known = kinds.find(|known| known.kind == kind);
        let shape = known.and_then(|known| known.version(version)).unwrap().spec;
        let at_arm = |text: &str| group.defaults(kind, version).at_arm(shape, text).cloned();
        assert_eq!(at_arm("properties.networkAcls.bypass"), expected);
        assert_eq!(at_arm("properties.networkAcls.ipRules[].action"), within);
        assert_eq!(at_arm("properties.accessTier"), None);
        assert_eq!(at_arm("properties"), None);
    }

    #[test]
    fn a_default_is_a_value_that_is_the_same() {
        for (value, default, expected) in [
            (json!(1), json!(1.0), true),
            (json!(true), json!(true), true),
            (json!("a"), json!("A"), false),
            (json!("1"), json!(1), false),
            (json!(null), json!(false), false),
        ] {
            assert_eq!(is_default(&value, &default), expected, "{value} {default}");
        }
    }
}
