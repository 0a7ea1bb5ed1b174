//! Checking manifests in Kubernetes' form against shapes.
//!
//! All problems are reported, not the first one only. The rules are those of the CRDs, for use where there is
//! no API server (`armature render`).

use serde_json::{Map, Value};

use super::codec::integer;
use super::name::{check_name, is_azure_name};
use super::path::{Path, kind_of};
use super::problem::{Problem, ProblemKind};
use super::rules::{Unlisted, check_enum, check_rules};
use super::suggest::nearest;
use super::{ArmPlace, EnumShape, Field, Flags, Semantic, StructShape, Type};

/// Checks a value in Kubernetes' form. `root` is what paths start with: `spec`. `null` is an empty object.
pub fn check(shape: &'static StructShape, value: &Value, root: &str) -> Vec<Problem> {
    Checker::run(shape, value, root).problems
}

/// What is no mistake by itself and may be a slip: values beyond a list that is open. Otherwise as [`check`].
pub fn warnings(shape: &'static StructShape, value: &Value, root: &str) -> Vec<Problem> {
    Checker::run(shape, value, root).warnings
}

#[derive(Default)]
struct Checker {
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Checker {
    fn run(shape: &'static StructShape, value: &Value, root: &str) -> Self {
        let mut checker = Self::default();
        match value {
            Value::Null => checker.members(shape, &Map::new(), &Path::Root(root)),
            value => checker.object(shape, value, &Path::Root(root)),
        }
        checker
    }

    fn text(&mut self, shape: &'static EnumShape, text: &str, path: &Path<'_>) {
        match check_enum(shape, text) {
            None => {}
            Some(Unlisted::Refused(kind)) => self.report(path, kind),
            Some(Unlisted::Told(kind)) => self.warnings.push(Problem {
                path: path.to_string(),
                kind,
            }),
        }
    }

    fn report(&mut self, path: &Path<'_>, kind: ProblemKind) {
        self.problems.push(Problem {
            path: path.to_string(),
            kind,
        });
    }

    fn wrong_type(&mut self, path: &Path<'_>, expected: &'static str, value: &Value) {
        let found = kind_of(value);
        self.report(path, ProblemKind::WrongType { expected, found });
    }

    fn object(&mut self, shape: &'static StructShape, value: &Value, path: &Path<'_>) {
        match value {
            Value::Object(members) => self.members(shape, members, path),
            _ => self.wrong_type(path, "an object", value),
        }
    }

    fn members(
        &mut self,
        shape: &'static StructShape,
        members: &Map<String, Value>,
        path: &Path<'_>,
    ) {
        for (name, value) in members {
            let below = path.member(name);
            match shape.field(name) {
                Some(_) if value.is_null() => {}
                Some(field) => self.field(field, value, &below),
                None => {
                    let names = shape.fields.iter().map(|field| field.name);
                    let suggestion = nearest(name, names);
                    self.report(&below, ProblemKind::UnknownField { suggestion });
                }
            }
        }
        let is_set = |name: &str| members.get(name).is_some_and(|value| !value.is_null());
        for field in shape.fields {
            if field.flags.has(Flags::REQUIRED) && !is_set(field.name) {
                self.report(&path.member(field.name), ProblemKind::Missing);
            }
        }
        if let Some(one_of) = &shape.one_of {
            let variants: Vec<_> = one_of
                .variants
                .iter()
                .map(|variant| variant.field)
                .collect();
            let found = variants.iter().filter(|name| is_set(name)).count();
            if found != 1 {
                self.report(path, ProblemKind::OneOf { variants, found });
            }
        }
        self.reference_form(shape, &is_set, path);
    }

    /// References take one form (ASO behaviour §3.3).
    fn reference_form(
        &mut self,
        shape: &StructShape,
        is_set: &dyn Fn(&str) -> bool,
        path: &Path<'_>,
    ) {
        let named = ["group", "kind", "name"].map(is_set);
        let by_name = named.contains(&true);
        let forms = [is_set("armId"), is_set("wellKnownName"), by_name];
        let one_form = forms.iter().filter(|form| **form).count() == 1;
        let complete = one_form && (!by_name || !named.contains(&false));
        let message = match shape.semantic {
            Semantic::Reference => "set either armId, or group, kind and name together",
            Semantic::WellKnownReference => {
                "set exactly one of armId, wellKnownName, or group, kind and name together"
            }
            _ => return,
        };
        if !complete {
            self.report(path, ProblemKind::Rule(message.to_owned()));
        }
    }

    fn field(&mut self, field: &'static Field, value: &Value, path: &Path<'_>) {
        let owner = field.name == "owner" && field.arm == ArmPlace::Operator;
        if owner && !has_owner_form(value) {
            let rule = "set exactly one of name and armId".to_owned();
            self.report(path, ProblemKind::Rule(rule));
        }
        self.value(field.ty, field, value, path);
        let problems = match value.as_str() {
            Some(name) if is_azure_name(field) => check_name(field.rules, name),
            _ => check_rules(field.rules, value),
        };
        for problem in problems {
            self.report(path, ProblemKind::Rule(problem));
        }
    }

    fn value(&mut self, ty: Type, field: &'static Field, value: &Value, path: &Path<'_>) {
        match ty {
            Type::Bool if !value.is_boolean() => self.wrong_type(path, "a boolean", value),
            Type::Integer(_) if integer(value).is_none() => {
                self.wrong_type(path, "an integer", value);
            }
            Type::Number if !value.is_number() => self.wrong_type(path, "a number", value),
            Type::String if !value.is_string() => self.wrong_type(path, "a string", value),
            Type::Bool | Type::Integer(_) | Type::Number | Type::String | Type::Json => {}
            Type::Enum(shape) => match value.as_str() {
                None => self.wrong_type(path, "a string", value),
                Some(text) => self.text(shape, text, path),
            },
            Type::Struct(shape) => self.object(shape, value, path),
            Type::List(list) => self.list(list.item, field, value, path),
            Type::Map(map) => match value {
                Value::Object(members) => {
                    for (key, value) in members {
                        self.item(map.value, field, value, &path.member(key));
                    }
                }
                _ => self.wrong_type(path, "an object", value),
            },
        }
    }

    fn list(&mut self, item: Type, field: &'static Field, value: &Value, path: &Path<'_>) {
        match value {
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    self.item(item, field, value, &path.item(index));
                }
            }
            _ => self.wrong_type(path, "a list", value),
        }
    }

    fn item(&mut self, item: Type, field: &'static Field, value: &Value, path: &Path<'_>) {
        self.value(item, field, value, path);
        let innermost = !matches!(item, Type::List(_) | Type::Map(_));
        if innermost {
            for problem in check_rules(field.item_rules, value) {
                self.report(path, ProblemKind::Rule(problem));
            }
        }
    }
}

/// Owners take one form (ASO behaviour §3.2); what an owner of any kind needs more is told by its reference.
fn has_owner_form(owner: &Value) -> bool {
    let is_set = |name: &str| owner.get(name).is_some_and(|value| !value.is_null());
    is_set("armId") != is_set("name")
}

#[cfg(test)]
mod tests;
