//! Checking JSON against shapes: manifests in Kubernetes' form, and bodies in ARM's.
//!
//! All problems are reported, not the first one only. The rules are those of the CRDs, for use where there is
//! no API server (`armature render`), and of ARM, for use where there is no Azure (the simulator).

use serde_json::{Map, Value};

use super::arm_json::member;
use super::arm_tree::ArmTree;
use super::codec::integer;
use super::path::{Path, kind_of};
use super::problem::{Problem, ProblemKind, Severity};
use super::rules::{check_enum, check_rules};
use super::suggest::nearest;
use super::{ArmPath, Field, Flags, Semantic, StructShape, Type};

/// Checks a value in Kubernetes' form. `root` is what paths start with: `spec`. `null` is an empty object.
pub fn check(shape: &'static StructShape, value: &Value, root: &str) -> Vec<Problem> {
    let mut checker = Checker {
        side: Side::Kubernetes,
        problems: Vec::new(),
    };
    match value {
        Value::Null => checker.members(shape, &Map::new(), &Path::Root(root)),
        value => checker.object(shape, value, &Path::Root(root)),
    }
    checker.problems
}

/// Which way an ARM body goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To ARM: required fields, known values and constraints are checked.
    Request,
    /// From ARM: types only.
    Response,
}

/// Checks a body in ARM's form. Members that the shape does not have are warnings: most services ignore them.
pub fn check_arm(shape: &'static StructShape, body: &Value, direction: Direction) -> Vec<Problem> {
    let mut checker = Checker {
        side: Side::Arm(direction),
        problems: Vec::new(),
    };
    checker.object(shape, body, &Path::Root(""));
    // The name is in the URL; ASO sends it in the body too, and services ignore it there.
    checker
        .problems
        .retain(|problem| !matches!(problem.path.as_str(), "name" | "id" | "type"));
    checker.problems
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Kubernetes,
    Arm(Direction),
}

struct Checker {
    side: Side,
    problems: Vec<Problem>,
}

impl Checker {
    fn report(&mut self, path: &Path<'_>, kind: ProblemKind) {
        let severity = match (self.side, &kind) {
            (Side::Arm(_), ProblemKind::UnknownField { .. }) => Severity::Warning,
            _ => Severity::Error,
        };
        self.problems.push(Problem {
            path: path.to_string(),
            severity,
            kind,
        });
    }

    fn wrong_type(&mut self, path: &Path<'_>, expected: &'static str, value: &Value) {
        let found = kind_of(value);
        self.report(path, ProblemKind::WrongType { expected, found });
    }

    /// Whether more than types is checked.
    fn is_strict(&self) -> bool {
        self.side != Side::Arm(Direction::Response)
    }

    fn object(&mut self, shape: &'static StructShape, value: &Value, path: &Path<'_>) {
        match (value, self.side) {
            (Value::Object(members), Side::Kubernetes) => self.members(shape, members, path),
            (Value::Object(members), Side::Arm(_)) => {
                let tree = ArmTree::of(shape, members);
                self.arm_members(&tree, members, path);
                self.discriminator(shape, members, path);
            }
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
                _ if value.is_null() => {}
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

    fn arm_members(&mut self, tree: &ArmTree, members: &Map<String, Value>, path: &Path<'_>) {
        for (name, value) in members {
            let below = path.member(name);
            match tree.member(name) {
                _ if value.is_null() => {}
                Some(tree) => match (tree.fields.first(), value) {
                    (Some(field), _) => self.field(field, value, &below),
                    (None, _) if tree.discriminator => {}
                    (None, Value::Object(members)) => self.arm_members(tree, members, &below),
                    (None, _) => self.wrong_type(&below, "an object", value),
                },
                None => {
                    let suggestion = nearest(name, tree.below.keys().copied());
                    self.report(&below, ProblemKind::UnknownField { suggestion });
                }
            }
        }
        if self.side == Side::Arm(Direction::Request) {
            self.required_arm_members(tree, Some(members), path);
        }
    }

    /// Required fields at this level and in envelopes that are absent altogether.
    fn required_arm_members(
        &mut self,
        tree: &ArmTree,
        members: Option<&Map<String, Value>>,
        path: &Path<'_>,
    ) {
        for (name, tree) in &tree.below {
            let value = members.and_then(|members| member(members, name));
            let absent = value.is_none_or(Value::is_null);
            let below = path.member(name);
            let mut fields = tree.fields.iter();
            if absent && fields.any(|field| field.flags.has(Flags::REQUIRED)) {
                self.report(&below, ProblemKind::Missing);
            } else if absent && tree.fields.is_empty() {
                self.required_arm_members(tree, None, &below);
            }
        }
    }

    /// A discriminated object must name one of its variants.
    fn discriminator(
        &mut self,
        shape: &StructShape,
        members: &Map<String, Value>,
        path: &Path<'_>,
    ) {
        let (Some(one_of), Side::Arm(Direction::Request)) = (&shape.one_of, self.side) else {
            return;
        };
        if super::arm_tree::chosen_variant(shape, members).is_none() {
            let known: Vec<_> = one_of
                .variants
                .iter()
                .map(|variant| variant.value)
                .collect();
            let rule = format!("must be one of {}", known.join(", "));
            self.report(&path.member(one_of.discriminator), ProblemKind::Rule(rule));
        }
    }

    fn field(&mut self, field: &'static Field, value: &Value, path: &Path<'_>) {
        let owner = field.name == "owner" && field.arm == ArmPath::Absent;
        if owner && self.side == Side::Kubernetes && !has_owner_form(value) {
            let rule = "set exactly one of name and armId".to_owned();
            self.report(path, ProblemKind::Rule(rule));
        }
        self.value(field.ty, field, value, path);
        if self.is_strict() {
            for problem in check_rules(field.rules, value) {
                self.report(path, ProblemKind::Rule(problem));
            }
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
                Some(text) if self.is_strict() => {
                    let exact = self.side == Side::Kubernetes;
                    if let Some(problem) = check_enum(shape, text, exact) {
                        self.report(path, problem);
                    }
                }
                Some(_) => {}
            },
            Type::Struct(shape) => self.structure(shape, value, path),
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

    /// On ARM's side some structs are no objects.
    fn structure(&mut self, shape: &'static StructShape, value: &Value, path: &Path<'_>) {
        match (self.side, shape.semantic) {
            (Side::Kubernetes, _) | (_, Semantic::Plain | Semantic::ArmIdKeyed) => {
                self.object(shape, value, path);
            }
            (_, Semantic::SecretMapReference) if value.is_object() => {}
            (_, Semantic::SecretMapReference) => self.wrong_type(path, "an object", value),
            _ if value.is_string() => {}
            _ => self.wrong_type(path, "a string", value),
        }
    }

    fn list(&mut self, item: Type, field: &'static Field, value: &Value, path: &Path<'_>) {
        let keyed = matches!(item, Type::Struct(shape) if shape.semantic == Semantic::ArmIdKeyed);
        match value {
            Value::Object(_) if keyed && self.side != Side::Kubernetes => {}
            _ if keyed && self.side != Side::Kubernetes => {
                self.wrong_type(path, "an object with ARM ids as names", value);
            }
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
        if innermost && self.is_strict() {
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
