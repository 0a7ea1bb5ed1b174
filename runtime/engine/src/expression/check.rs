//! The type check: every field, function and argument is known to fit before anything is evaluated.

use std::collections::BTreeSet;

use armature_shapes::shape::nearest;
use cel::IdedExpr;
use cel::common::ast::{CallExpr, EntryExpr, Expr, ListExpr, LiteralValue, MapExpr, operators};

use super::comprehension::{self, Comprehension, Purpose};
use super::function::{Function, Parameter};
use super::functions;
use super::types::{ObjectType, Type};
use super::{Fault, Scope, literal_text};

/// Deepest nesting of an expression. The check and the evaluation call themselves once for each level.
const DEPTH: usize = 100;

/// The check of one expression.
pub(super) struct Checker<'t> {
    scope: Scope,
    variables: Vec<(&'t str, Type)>,
    depth: usize,
    /// Names of the secrets that the expression uses.
    pub secrets: BTreeSet<String>,
}

/// Type of an expression, or what is wrong with it.
type Checked = Result<Type, Fault>;

impl<'t> Checker<'t> {
    pub fn new(scope: Scope) -> Self {
        Self {
            scope,
            variables: Vec::new(),
            depth: 0,
            secrets: BTreeSet::new(),
        }
    }

    pub fn check(&mut self, node: &'t IdedExpr) -> Checked {
        if self.depth == DEPTH {
            let message = format!("the expression is nested deeper than {DEPTH} levels");
            return Err(Fault::new(node.id, message));
        }
        self.depth += 1;
        let ty = self.check_node(node);
        self.depth -= 1;
        ty
    }

    fn check_node(&mut self, node: &'t IdedExpr) -> Checked {
        match &node.expr {
            Expr::Literal(literal) => literal_type(node.id, literal),
            Expr::Ident(name) => self.variable(node.id, name),
            Expr::Select(select) if self.is_secret(&select.operand) => {
                self.secret(node.id, &select.field)
            }
            Expr::Select(select) => {
                let operand = self.check(&select.operand)?;
                through(operand, |ty| field(node.id, ty, &select.field))
            }
            Expr::List(list) => self.list(list),
            Expr::Map(map) => self.map(map),
            Expr::Call(call) => self.call(node.id, call),
            Expr::Struct(_) => Err(Fault::new(node.id, "objects cannot be made here")),
            Expr::Comprehension(_) | Expr::Unspecified => {
                Err(Fault::new(node.id, "this is no expression"))
            }
        }
    }

    fn variable(&self, id: u64, name: &str) -> Checked {
        let mut bound = self.variables.iter().rev();
        if let Some((_, ty)) = bound.find(|(known, _)| *known == name) {
            return Ok(ty.clone());
        }
        match name {
            "self" => Ok(Type::Object(ObjectType::Resource(self.scope.version))),
            "secret" => Err(Fault::new(
                id,
                "write secret.<name>, one secret by its name",
            )),
            _ => {
                let message = format!("there is no variable {name}; there are self and secret");
                Err(Fault::new(id, message))
            }
        }
    }

    /// Whether this is the variable with the secrets of the resource.
    fn is_secret(&self, node: &IdedExpr) -> bool {
        let bound = self.variables.iter().any(|(name, _)| *name == "secret");
        !bound && matches!(&node.expr, Expr::Ident(name) if name == "secret")
    }

    fn secret(&mut self, id: u64, name: &str) -> Checked {
        let Some(secrets) = self.scope.secrets else {
            let message = "secret can be used in secretExpressions only";
            return Err(Fault::new(id, message));
        };
        if !secrets.iter().any(|secret| secret.key == name) {
            let known = secrets.iter().map(|secret| secret.key);
            let message = unknown("secret", name, known.map(str::to_owned).collect());
            return Err(Fault::new(id, message));
        }
        self.secrets.insert(name.to_owned());
        Ok(Type::String)
    }

    fn list(&mut self, list: &'t ListExpr) -> Checked {
        let mut item = Type::Unknown;
        for (at, element) in list.elements.iter().enumerate() {
            let mut ty = self.check(element)?;
            if list.optional_indices.contains(&at) {
                ty = self.optional(element.id, &ty)?;
            }
            // Lists of mixed types are CEL's way to pass arguments to format.
            item = item.unify(&ty).unwrap_or(Type::Dyn);
        }
        Ok(Type::list(item))
    }

    fn map(&mut self, map: &'t MapExpr) -> Checked {
        let (mut keys, mut values) = (Type::Unknown, Type::Unknown);
        for entry in &map.entries {
            let EntryExpr::MapEntry(parts) = &entry.expr else {
                return Err(Fault::new(entry.id, "this is no entry of a map"));
            };
            let key = self.check(&parts.key)?;
            let mut value = self.check(&parts.value)?;
            if parts.optional {
                value = self.optional(entry.id, &value)?;
            }
            keys = keys.unify(&key).unwrap_or(Type::Dyn);
            values = values.unify(&value).unwrap_or(Type::Dyn);
        }
        Ok(Type::map(keys, values))
    }

    /// What an optional element holds.
    fn optional(&self, id: u64, ty: &Type) -> Checked {
        match ty {
            Type::Optional(inner) => Ok(Type::clone(inner)),
            Type::Dyn => Ok(Type::Dyn),
            _ => Err(Fault::new(id, format!("expected an optional, found {ty}"))),
        }
    }

    fn call(&mut self, id: u64, call: &'t CallExpr) -> Checked {
        if let Some(comprehension) = comprehension::of(call)? {
            return self.comprehension(id, &comprehension);
        }
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::CONDITIONAL, [condition, yes, no]) => {
                self.expect_bool(condition)?;
                let (yes, no) = (self.check(yes)?, self.check(no)?);
                let both = yes.unify(&no);
                both.ok_or_else(|| {
                    Fault::new(id, format!("one branch gives {yes}, the other {no}"))
                })
            }
            (operators::LOGICAL_AND | operators::LOGICAL_OR, [left, right]) => {
                self.expect_bool(left)?;
                self.expect_bool(right)?;
                Ok(Type::Bool)
            }
            (operators::HAS, [tested]) if call.target.is_none() => match &tested.expr {
                Expr::Select(_) => self.check(tested).map(|_| Type::Bool),
                _ => Err(Fault::new(id, "has() takes a field: has(self.status.id)")),
            },
            (operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT, [operand, index]) => {
                self.element(id, &call.func_name, operand, index)
            }
            _ => self.function(id, call),
        }
    }

    /// `a[b]`, `a[?b]` and `a.?b`.
    fn element(
        &mut self,
        id: u64,
        name: &str,
        operand: &'t IdedExpr,
        index: &'t IdedExpr,
    ) -> Checked {
        let optional = name != operators::INDEX;
        let ty = if self.is_secret(operand) {
            match literal_text(index) {
                Some(name) => self.secret(id, name)?,
                None => return self.check(operand),
            }
        } else {
            let operand = self.check(operand)?;
            match literal_text(index) {
                Some(field_name) if name == operators::OPT_SELECT => {
                    through(operand, |ty| field(id, ty, field_name))?
                }
                _ => {
                    let key = self.check(index)?;
                    through(operand, |ty| item(id, ty, &key))?
                }
            }
        };
        Ok(match ty {
            Type::Optional(_) => ty,
            ty if optional => Type::optional(ty),
            ty => ty,
        })
    }

    fn expect_bool(&mut self, node: &'t IdedExpr) -> Result<(), Fault> {
        let ty = self.check(node)?;
        if Parameter::Bool.takes(&ty) {
            return Ok(());
        }
        Err(Fault::new(node.id, format!("expected bool, found {ty}")))
    }

    fn function(&mut self, id: u64, call: &'t CallExpr) -> Checked {
        let (name, receiver) = callee(call, |name| self.is_bound(name));
        let mut types = Vec::new();
        for argument in receiver.into_iter().chain(&call.args) {
            types.push(self.check(argument)?);
        }
        let mut ways = functions::named(&name, receiver.is_some()).peekable();
        if ways.peek().is_none() {
            let known = functions::names(receiver.is_some()).map(str::to_owned);
            return Err(Fault::new(id, unknown("function", &name, known.collect())));
        }
        let mut result: Option<Type> = None;
        for way in ways.filter(|way| fits(way, &types)) {
            let Some(ty) = (way.result)(&types) else {
                continue;
            };
            result = Some(match result {
                None => ty,
                Some(other) => other.unify(&ty).unwrap_or(Type::Dyn),
            });
        }
        result.ok_or_else(|| Fault::new(id, mismatch(&name, receiver.is_some(), &types)))
    }

    fn is_bound(&self, name: &str) -> bool {
        self.variables.iter().any(|(known, _)| *known == name)
    }

    fn comprehension(&mut self, id: u64, call: &Comprehension<'t>) -> Checked {
        let range = self.check(call.range)?;
        let optional = matches!(call.purpose, Purpose::Optional | Purpose::FlatOptional);
        let (first, second) = match &range {
            Type::Optional(inner) if optional => (Type::clone(inner), Type::Dyn),
            Type::List(item) if !optional && call.variables.len() == 1 => {
                (Type::clone(item), Type::Dyn)
            }
            Type::List(item) if !optional => (Type::Int, Type::clone(item)),
            Type::Map(key, value) if !optional => (Type::clone(key), Type::clone(value)),
            Type::Dyn | Type::Unknown => (Type::Dyn, Type::Dyn),
            _ => {
                let expected = if optional {
                    "an optional"
                } else {
                    "a list or a map"
                };
                let message = format!("expected {expected}, found {range}");
                return Err(Fault::new(call.range.id, message));
            }
        };
        let outer = self.variables.len();
        let names = call.variables.iter().copied();
        self.variables.extend(names.zip([first.clone(), second]));
        let body = self.comprehension_body(call);
        self.variables.truncate(outer);
        let body = body?;
        match call.purpose {
            Purpose::All | Purpose::Exists | Purpose::ExistsOne => Ok(Type::Bool),
            Purpose::Filter => match range {
                Type::Map(key, _) => Ok(Type::List(key)),
                range => Ok(range),
            },
            Purpose::List => Ok(Type::list(body)),
            Purpose::Map => Ok(Type::map(first, body)),
            Purpose::MapEntry => match body {
                Type::Map(..) | Type::Dyn => Ok(body),
                _ => Err(Fault::new(
                    id,
                    format!("the body gives {body}, expected a map"),
                )),
            },
            Purpose::Optional => Ok(Type::optional(body)),
            Purpose::FlatOptional => self.optional(id, &body).map(Type::optional),
        }
    }

    fn comprehension_body(&mut self, call: &Comprehension<'t>) -> Checked {
        if let Some(condition) = call.condition {
            self.expect_bool(condition)?;
        }
        match call.purpose {
            Purpose::All | Purpose::Exists | Purpose::ExistsOne | Purpose::Filter => {
                self.expect_bool(call.body)?;
                Ok(Type::Bool)
            }
            _ => self.check(call.body),
        }
    }
}

fn literal_type(id: u64, literal: &LiteralValue) -> Checked {
    Ok(match literal {
        LiteralValue::Boolean(_) => Type::Bool,
        LiteralValue::Double(_) => Type::Double,
        LiteralValue::Int(_) => Type::Int,
        LiteralValue::Null => Type::Null,
        LiteralValue::String(_) => Type::String,
        LiteralValue::UInt(_) => Type::Uint,
        LiteralValue::Bytes(_) => return Err(Fault::new(id, "bytes cannot be used here")),
    })
}

/// Name of the function that is called, and its receiver. `aso.parseResourceId(…)` has none.
pub(super) fn callee(
    call: &CallExpr,
    is_bound: impl Fn(&str) -> bool,
) -> (String, Option<&IdedExpr>) {
    match call.target.as_deref() {
        Some(target) => match &target.expr {
            Expr::Ident(space) if functions::is_namespace(space) && !is_bound(space) => {
                (format!("{space}.{}", call.func_name), None)
            }
            _ => (call.func_name.clone(), Some(target)),
        },
        None => (call.func_name.clone(), None),
    }
}

/// Looks into an optional, and makes what is found there optional.
fn through(operand: Type, look: impl Fn(&Type) -> Checked) -> Checked {
    match operand {
        Type::Optional(inner) => look(&inner).map(Type::optional),
        ty => look(&ty),
    }
}

/// Type of a field, or of the value of this key.
fn field(id: u64, ty: &Type, name: &str) -> Checked {
    match ty {
        Type::Object(object) => match object.field(name) {
            Some((_, ty)) => Ok(ty),
            None => {
                let what = format!("field of {ty}");
                Err(Fault::new(id, unknown(&what, name, object.names())))
            }
        },
        Type::Map(key, value) if Parameter::String.takes(key) => Ok(Type::clone(value)),
        Type::Dyn | Type::Unknown => Ok(Type::Dyn),
        _ => Err(Fault::new(id, format!("{ty} has no fields, so no {name}"))),
    }
}

/// Type of an item of a list or a map.
fn item(id: u64, ty: &Type, key: &Type) -> Checked {
    let (expected, found) = match ty {
        Type::List(item) => (&Type::Int, item),
        Type::Map(key, value) => (&**key, value),
        Type::Dyn | Type::Unknown => return Ok(Type::Dyn),
        _ => return Err(Fault::new(id, format!("{ty} is neither a list nor a map"))),
    };
    let numbers = expected.is_numeric() && key.is_numeric();
    if numbers || expected.unify(key).is_some() {
        return Ok(Type::clone(found));
    }
    let message = format!("{ty} is read with {expected} in the brackets, found {key}");
    Err(Fault::new(id, message))
}

fn fits(way: &Function, types: &[Type]) -> bool {
    let pairs = way.parameters.iter().zip(types);
    way.parameters.len() == types.len() && pairs.into_iter().all(|(place, ty)| place.takes(ty))
}

/// Says what a function takes.
fn mismatch(name: &str, receiver: bool, types: &[Type]) -> String {
    let found = types.iter().map(Type::to_string).collect::<Vec<_>>();
    let shown = operator(name);
    if let Some(shown) = shown {
        return format!("{shown} does not take {}", found.join(" and "));
    }
    let written = |names: Vec<String>| match names.split_first() {
        Some((first, rest)) if receiver => format!("{first}.{name}({})", rest.join(", ")),
        _ => format!("{name}({})", names.join(", ")),
    };
    let ways = functions::named(name, receiver).map(|way| {
        let names = way.parameters.iter();
        written(names.map(|parameter| parameter.name().to_owned()).collect())
    });
    let ways = ways.collect::<Vec<_>>().join(" and ");
    format!("{} does not fit; there is {ways}", written(found))
}

/// An operator as users write it.
fn operator(name: &str) -> Option<&str> {
    match name {
        operators::IN => Some("in"),
        _ => name
            .contains('_')
            .then(|| name.trim_matches('_'))
            .filter(|sign| !sign.is_empty() && !sign.contains(char::is_alphanumeric)),
    }
}

/// Says that there is no such thing, and which one may be meant.
fn unknown(what: &str, name: &str, known: Vec<String>) -> String {
    let near = nearest(name, known.iter().map(String::as_str));
    match near {
        Some(near) => format!("there is no {what} named {name}; did you mean {near}?"),
        None if known.is_empty() => format!("there is no {what} named {name}; there are none"),
        None if known.len() <= 12 => {
            format!(
                "there is no {what} named {name}; there are {}",
                known.join(", ")
            )
        }
        None => format!("there is no {what} named {name}"),
    }
}
