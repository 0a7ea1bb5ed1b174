//! Evaluation of a checked expression.
//!
//! What the check could not know – values without a schema – is checked again here. Messages name types and
//! places and never values, because values may be secrets.

use std::collections::BTreeMap;
use std::sync::Arc;

use armature_shapes::kind::VersionInfo;
use cel::IdedExpr;
use cel::common::ast::{CallExpr, EntryExpr, Expr, ListExpr, LiteralValue, MapExpr, operators};
use serde_json::Value as Json;

use super::check::callee;
use super::comprehension::{self, Comprehension, Purpose};
use super::types::ObjectType;
use super::value::{Allowance, Budget, Key, Value};
use super::{Fault, functions, literal_text};

/// The evaluation of one expression.
pub(super) struct Evaluator<'a> {
    /// `self`.
    object: Value<'a>,
    /// `secret`.
    secrets: Value<'a>,
    variables: Vec<(&'a str, Value<'a>)>,
    budget: Budget,
}

type Evaluated<'a> = Result<Value<'a>, Fault>;

/// Gives an error the place where it happened.
trait At<T> {
    fn at(self, id: u64) -> Result<T, Fault>;
}

impl<T> At<T> for Result<T, String> {
    fn at(self, id: u64) -> Result<T, Fault> {
        self.map_err(|message| Fault::new(id, message))
    }
}

impl<'a> Evaluator<'a> {
    /// For an object in the words of this version.
    pub fn new(
        version: &'static VersionInfo,
        object: &'a Json,
        secrets: &BTreeMap<String, String>,
        allowance: &Allowance,
    ) -> Self {
        let secrets = secrets.iter();
        let secrets = secrets.map(|(name, text)| {
            let key = Key::String(name.as_str().into());
            (key, Value::text(text.as_str()))
        });
        Self {
            object: Value::Object(ObjectType::Resource(version), object.as_object()),
            secrets: Value::map(secrets.collect()),
            variables: Vec::new(),
            budget: Budget::new(allowance),
        }
    }

    /// What it has taken.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    pub fn evaluate(&mut self, node: &'a IdedExpr) -> Evaluated<'a> {
        self.budget.spend(1).at(node.id)?;
        match &node.expr {
            Expr::Literal(literal) => self.literal(node.id, literal),
            Expr::Ident(name) => self.variable(node.id, name),
            Expr::Select(select) => {
                let operand = self.evaluate(&select.operand)?;
                self.through(&operand, |this, value| {
                    this.field(value, &select.field).at(node.id)
                })
            }
            Expr::List(list) => self.list(node.id, list),
            Expr::Map(map) => self.map(map),
            Expr::Call(call) => self.call(node.id, call),
            Expr::Struct(_) | Expr::Comprehension(_) | Expr::Unspecified => {
                Err(Fault::new(node.id, "this is no expression"))
            }
        }
    }

    fn literal(&mut self, id: u64, literal: &LiteralValue) -> Evaluated<'a> {
        Ok(match literal {
            LiteralValue::Boolean(value) => Value::Bool(*value.inner()),
            LiteralValue::Double(value) => Value::Double(*value.inner()),
            LiteralValue::Int(value) => Value::Int(*value.inner()),
            LiteralValue::UInt(value) => Value::Uint(*value.inner()),
            LiteralValue::Null => Value::Null,
            LiteralValue::String(text) => {
                self.budget.spend(text.inner().len()).at(id)?;
                Value::text(text.inner())
            }
            LiteralValue::Bytes(_) => return Err(Fault::new(id, "bytes cannot be used here")),
        })
    }

    fn variable(&self, id: u64, name: &str) -> Evaluated<'a> {
        let mut bound = self.variables.iter().rev();
        if let Some((_, value)) = bound.find(|(known, _)| *known == name) {
            return Ok(value.clone());
        }
        match name {
            "self" => Ok(self.object.clone()),
            "secret" => Ok(self.secrets.clone()),
            _ => Err(Fault::new(id, format!("there is no variable {name}"))),
        }
    }

    /// Looks into an optional, and makes what is found there optional.
    fn through(
        &mut self,
        operand: &Value<'a>,
        look: impl FnOnce(&mut Self, &Value<'a>) -> Evaluated<'a>,
    ) -> Evaluated<'a> {
        match operand {
            Value::Optional(None) => Ok(Value::Optional(None)),
            Value::Optional(Some(inner)) => look(self, inner).map(Value::some),
            value => look(self, value),
        }
    }

    fn field(&mut self, operand: &Value<'a>, name: &str) -> Result<Value<'a>, String> {
        match operand {
            Value::Object(object, members) => {
                let field = object.field(name);
                let (name, ty) = field.ok_or_else(|| format!("there is no field {name}"))?;
                let json = members.and_then(|members| members.get(name));
                Value::of_json(&ty, json, &mut self.budget)
            }
            Value::Map(entries) => {
                let found = entries.get(&Key::String(name.into())).cloned();
                found.ok_or_else(|| format!("there is no key {name}"))
            }
            other => Err(format!("{} has no fields, so no {name}", other.type_name())),
        }
    }

    /// The field, when it is set.
    fn set_field(&mut self, operand: &Value<'a>, name: &str) -> Result<Option<Value<'a>>, String> {
        match operand {
            Value::Object(object, members) => {
                let json = object
                    .field(name)
                    .and_then(|(name, _)| members.as_ref()?.get(name));
                match json {
                    None | Some(Json::Null) => Ok(None),
                    Some(_) => self.field(operand, name).map(Some),
                }
            }
            Value::Map(entries) => Ok(entries.get(&Key::String(name.into())).cloned()),
            other => Err(format!("{} has no fields, so no {name}", other.type_name())),
        }
    }

    fn list(&mut self, id: u64, list: &'a ListExpr) -> Evaluated<'a> {
        let mut items = Vec::new();
        for (at, element) in list.elements.iter().enumerate() {
            let value = self.evaluate(element)?;
            match (list.optional_indices.contains(&at), value) {
                (true, Value::Optional(None)) => {}
                (true, Value::Optional(Some(inner))) => items.push(Value::clone(&inner)),
                (true, _) => return Err(Fault::new(id, "expected an optional after ?")),
                (false, value) => items.push(value),
            }
        }
        Ok(Value::list(items))
    }

    fn map(&mut self, map: &'a MapExpr) -> Evaluated<'a> {
        let mut entries = BTreeMap::new();
        for entry in &map.entries {
            let EntryExpr::MapEntry(parts) = &entry.expr else {
                return Err(Fault::new(entry.id, "this is no entry of a map"));
            };
            let key = self.evaluate(&parts.key)?;
            let value = match (parts.optional, self.evaluate(&parts.value)?) {
                (true, Value::Optional(None)) => continue,
                (true, Value::Optional(Some(inner))) => Value::clone(&inner),
                (_, value) => value,
            };
            add(&mut entries, &key, value).at(entry.id)?;
        }
        Ok(Value::map(entries))
    }

    fn call(&mut self, id: u64, call: &'a CallExpr) -> Evaluated<'a> {
        if let Some(comprehension) = comprehension::of(call)? {
            return self.comprehension(id, &comprehension);
        }
        match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::CONDITIONAL, [condition, yes, no]) => {
                let chosen = if self.truth(condition)? { yes } else { no };
                self.evaluate(chosen)
            }
            (operators::LOGICAL_AND, [left, right]) => self.either(left, right, false),
            (operators::LOGICAL_OR, [left, right]) => self.either(left, right, true),
            (operators::HAS, [tested]) if call.target.is_none() => self.has(id, tested),
            (operators::INDEX, [operand, index]) => {
                let operand = self.evaluate(operand)?;
                let index = self.evaluate(index)?;
                self.through(&operand, |_, value| {
                    let found = item(value, &index).at(id)?;
                    found.ok_or_else(|| Fault::new(id, "there is no such item"))
                })
            }
            (operators::OPT_INDEX | operators::OPT_SELECT, [operand, index]) => {
                self.optional_element(id, operand, index)
            }
            _ => self.function(id, call),
        }
    }

    /// `&&` and `||`: one operand that decides is enough, even if the other fails.
    fn either(&mut self, left: &'a IdedExpr, right: &'a IdedExpr, decides: bool) -> Evaluated<'a> {
        let first = self.truth(left);
        if matches!(first, Ok(value) if value == decides) {
            return Ok(Value::Bool(decides));
        }
        match self.truth(right)? {
            value if value == decides => Ok(Value::Bool(decides)),
            value => first.map(|_| Value::Bool(value)),
        }
    }

    fn truth(&mut self, node: &'a IdedExpr) -> Result<bool, Fault> {
        match self.evaluate(node)? {
            Value::Bool(value) => Ok(value),
            other => {
                let message = format!("expected bool, found {}", other.type_name());
                Err(Fault::new(node.id, message))
            }
        }
    }

    fn has(&mut self, id: u64, tested: &'a IdedExpr) -> Evaluated<'a> {
        let Expr::Select(select) = &tested.expr else {
            return Err(Fault::new(id, "has() takes a field"));
        };
        let operand = match self.evaluate(&select.operand)? {
            Value::Optional(None) => return Ok(Value::Bool(false)),
            Value::Optional(Some(inner)) => Value::clone(&inner),
            value => value,
        };
        let found = self.set_field(&operand, &select.field).at(id)?;
        Ok(Value::Bool(found.is_some()))
    }

    /// `a[?b]` and `a.?b`.
    fn optional_element(
        &mut self,
        id: u64,
        operand: &'a IdedExpr,
        index: &'a IdedExpr,
    ) -> Evaluated<'a> {
        let operand = match self.evaluate(operand)? {
            Value::Optional(None) => return Ok(Value::Optional(None)),
            Value::Optional(Some(inner)) => Value::clone(&inner),
            value => value,
        };
        let found = match (&operand, literal_text(index)) {
            (Value::Object(..), Some(name)) => self.set_field(&operand, name).at(id)?,
            _ => item(&operand, &self.evaluate(index)?).at(id)?,
        };
        Ok(Value::Optional(found.map(Arc::new)))
    }

    fn function(&mut self, id: u64, call: &'a CallExpr) -> Evaluated<'a> {
        let bound = |name: &str| self.variables.iter().any(|(known, _)| *known == name);
        let (name, receiver) = callee(call, bound);
        let mut values = Vec::new();
        for argument in receiver.into_iter().chain(&call.args) {
            values.push(self.evaluate(argument)?);
        }
        let mut ways = functions::named(&name, receiver.is_some());
        let way = ways.find(|way| {
            let mut pairs = way.parameters.iter().zip(&values);
            way.parameters.len() == values.len()
                && pairs.all(|(parameter, value)| parameter.takes_value(value))
        });
        match way {
            Some(way) => (way.run)(&values, &mut self.budget).at(id),
            None => {
                let types: Vec<_> = values.iter().map(Value::type_name).collect();
                let message = format!("{name} does not take ({})", types.join(", "));
                Err(Fault::new(id, message))
            }
        }
    }

    fn comprehension(&mut self, id: u64, call: &Comprehension<'a>) -> Evaluated<'a> {
        let range = self.evaluate(call.range)?;
        if matches!(call.purpose, Purpose::Optional | Purpose::FlatOptional) {
            return self.inside_optional(id, call, range);
        }
        let outer = self.variables.len();
        let made = self.elements(id, call, &range);
        self.variables.truncate(outer);
        made
    }

    fn inside_optional(
        &mut self,
        id: u64,
        call: &Comprehension<'a>,
        range: Value<'a>,
    ) -> Evaluated<'a> {
        let inner = match range {
            Value::Optional(None) => return Ok(Value::Optional(None)),
            Value::Optional(Some(inner)) => inner,
            other => {
                let message = format!("expected an optional, found {}", other.type_name());
                return Err(Fault::new(id, message));
            }
        };
        let outer = self.variables.len();
        let names = call.variables.iter().copied();
        self.variables.extend(names.zip([Value::clone(&inner)]));
        let body = self.evaluate(call.body);
        self.variables.truncate(outer);
        match (call.purpose, body?) {
            (Purpose::Optional, value) => Ok(Value::some(value)),
            (_, value @ Value::Optional(_)) => Ok(value),
            (_, other) => {
                let message = format!("the body gives {}, expected an optional", other.type_name());
                Err(Fault::new(id, message))
            }
        }
    }

    fn elements(&mut self, id: u64, call: &Comprehension<'a>, range: &Value<'a>) -> Evaluated<'a> {
        let pairs = pairs(range).at(call.range.id)?;
        self.budget.spend(pairs.len()).at(id)?;
        let mut made = Made::new(call.purpose);
        let outer = self.variables.len();
        for (key, value) in pairs {
            let element = match range {
                Value::List(_) => value.clone(),
                _ => key.clone(),
            };
            self.variables.truncate(outer);
            match call.variables.as_slice() {
                [one] => self.variables.push((one, element.clone())),
                names => {
                    let pair = [key.clone(), value];
                    self.variables.extend(names.iter().copied().zip(pair));
                }
            }
            if let Some(condition) = call.condition
                && !self.truth(condition)?
            {
                continue;
            }
            match call.purpose {
                Purpose::All | Purpose::Exists | Purpose::ExistsOne | Purpose::Filter => {
                    let truth = self.truth(call.body);
                    if made.judge(element, truth)? {
                        break;
                    }
                }
                _ => {
                    let body = self.evaluate(call.body)?;
                    made.take(&key, body).at(call.body.id)?;
                }
            }
        }
        made.finish()
    }
}

/// What a comprehension has made so far.
struct Made<'a> {
    purpose: Purpose,
    items: Vec<Value<'a>>,
    entries: BTreeMap<Key, Value<'a>>,
    /// Elements for which the body was true.
    hits: usize,
    /// Whether one element has decided `all` or `exists`.
    decided: bool,
    /// The first failure of `all` or `exists`: an element that decides makes up for it.
    failed: Option<Fault>,
}

impl<'a> Made<'a> {
    fn new(purpose: Purpose) -> Self {
        Self {
            purpose,
            items: Vec::new(),
            entries: BTreeMap::new(),
            hits: 0,
            decided: false,
            failed: None,
        }
    }

    /// Takes in whether the body holds for an element; true ends the loop.
    fn judge(&mut self, element: Value<'a>, truth: Result<bool, Fault>) -> Result<bool, Fault> {
        match (self.purpose, truth) {
            (Purpose::All | Purpose::Exists, Err(fault)) => {
                self.failed.get_or_insert(fault);
            }
            (_, Err(fault)) => return Err(fault),
            (Purpose::All, Ok(truth)) => self.decided = !truth,
            (Purpose::Exists, Ok(truth)) => self.decided = truth,
            (_, Ok(true)) => {
                self.hits += 1;
                if self.purpose == Purpose::Filter {
                    self.items.push(element);
                }
            }
            (_, Ok(false)) => {}
        }
        Ok(self.decided)
    }

    /// Takes in what the body gives for an element.
    fn take(&mut self, key: &Value<'a>, body: Value<'a>) -> Result<(), String> {
        match (self.purpose, body) {
            (Purpose::Map, value) => add(&mut self.entries, key, value),
            (Purpose::MapEntry, Value::Map(entries)) => {
                for (key, value) in entries.iter() {
                    add(&mut self.entries, &key.into(), value.clone())?;
                }
                Ok(())
            }
            (Purpose::MapEntry, other) => {
                let found = other.type_name();
                Err(format!("the body gives {found}, expected a map"))
            }
            (_, value) => {
                self.items.push(value);
                Ok(())
            }
        }
    }

    fn finish(self) -> Evaluated<'a> {
        if let (Some(fault), false) = (self.failed, self.decided) {
            return Err(fault);
        }
        Ok(match self.purpose {
            Purpose::All => Value::Bool(!self.decided),
            Purpose::Exists => Value::Bool(self.decided),
            Purpose::ExistsOne => Value::Bool(self.hits == 1),
            Purpose::Map | Purpose::MapEntry => Value::map(self.entries),
            _ => Value::list(self.items),
        })
    }
}

/// Index and item, or key and value, of all elements.
fn pairs<'a>(range: &Value<'a>) -> Result<Vec<(Value<'a>, Value<'a>)>, String> {
    match range {
        Value::List(items) => {
            let numbers = (0..).map(Value::Int);
            Ok(numbers.zip(items.iter().cloned()).collect())
        }
        Value::Map(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| (key.into(), value.clone()));
            Ok(entries.collect())
        }
        other => {
            let found = other.type_name();
            Err(format!("expected a list or a map, found {found}"))
        }
    }
}

/// Adds an entry to a map that does not have its key yet.
fn add<'a>(
    entries: &mut BTreeMap<Key, Value<'a>>,
    key: &Value<'a>,
    value: Value<'a>,
) -> Result<(), String> {
    let ty = key.type_name();
    let key = key.key();
    let key = key.ok_or_else(|| format!("{ty} cannot be the key of a map"))?;
    match entries.insert(key, value) {
        None => Ok(()),
        Some(_) => Err("two entries of the map have the same key".to_owned()),
    }
}

/// The item of a list or a map, if it is there.
fn item<'a>(operand: &Value<'a>, index: &Value<'a>) -> Result<Option<Value<'a>>, String> {
    match (operand, index.key()) {
        (Value::List(items), Some(Key::Int(at))) => {
            let at = usize::try_from(at).ok();
            Ok(at.and_then(|at| items.get(at)).cloned())
        }
        (Value::Map(entries), Some(key)) => Ok(entries.get(&key).cloned()),
        _ => {
            let (operand, index) = (operand.type_name(), index.type_name());
            Err(format!(
                "{operand} is not read with {index} in the brackets"
            ))
        }
    }
}
