//! Expressions in CEL, the Common Expression Language: what a user wants exported, in words of the object.
//!
//! | module | part |
//! |---|---|
//! | `check` | types of all parts, before anything is evaluated |
//! | `evaluate` | values, within a budget |
//! | `comprehension` | calls that bind variables, such as `map` |
//! | `functions`, `arithmetic`, `text`, `format`, `resource_id` | functions and operators: types and meaning |
//! | `function`, `builder` | what each of them is made of: a row of a table, and text within the budget |
//! | `types`, `value` | what both work on |
//! | `cache` | compiled expressions |
//!
//! The `cel` crate parses. Check and evaluation are here, because its own evaluation has no types, no bound
//! on work and no place for errors, and because absent fields have a value in ASO's expressions.
//!
//! What does not live here: which fields are expressions and where results go (see `armature_reconcile`).

mod arithmetic;
mod builder;
mod cache;
mod check;
mod comprehension;
mod evaluate;
mod format;
mod function;
mod functions;
mod resource_id;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use cel::common::ast::{Expr, LiteralValue, SourceInfo};
use cel::{Env, IdedExpr};
use serde_json::Value as Json;

pub use self::cache::{Cache, CacheObserver};
use armature_shapes::kind::{SecretExport, VersionInfo};
use armature_shapes::quote::cut;

use self::check::Checker;
use self::evaluate::Evaluator;
use self::types::Type;
pub use self::value::Allowance;
use self::value::{Key, Value};

/// Longest expression, in bytes.
const LENGTH: usize = 4_096;

/// Stack for reading one expression; memory is taken only for the part that is used.
const STACK: usize = 256 << 20;

/// What an expression may speak of.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// Version that `self` is in.
    pub version: &'static VersionInfo,
    /// Secrets that `secret` has; `None` where it may not be used.
    pub secrets: Option<&'static [SecretExport]>,
}

/// An expression that is parsed and checked.
pub struct Expression {
    tree: IdedExpr,
    source: SourceInfo,
    version: &'static VersionInfo,
    output: Output,
    secrets: BTreeSet<String>,
}

/// The type of an expression's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// `string`.
    Text,
    /// `map(string, string)`.
    Map,
}

/// The result of an expression. There is no `Debug`: it may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Produced {
    /// One value.
    Text(String),
    /// Values by key.
    Map(BTreeMap<String, String>),
}

/// What is wrong with an expression. Names no values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ExpressionError {
    /// Line in the expression, from 1.
    pub line: usize,
    /// Column in the line, in characters from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

/// What is wrong at a node of the tree.
#[derive(Debug)]
struct Fault {
    id: u64,
    message: String,
}

impl Fault {
    fn new(id: u64, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { id, message }
    }

    fn at(self, source: &SourceInfo) -> ExpressionError {
        let offset = source.offset_for(self.id).map_or(0, |(start, _)| start);
        let offset = usize::try_from(offset).unwrap_or(0);
        let (mut line, mut column) = (1, 1);
        for sign in source.source.chars().take(offset) {
            (line, column) = match sign {
                '\n' => (line + 1, 1),
                _ => (line, column + 1),
            };
        }
        ExpressionError {
            line,
            column,
            message: self.message,
        }
    }
}

impl Expression {
    /// Parses and checks an expression.
    ///
    /// # Errors
    /// When it is no CEL, speaks of what does not exist, uses functions wrongly, or gives something else than
    /// text or a map of texts.
    pub fn compile(source: &str, scope: Scope) -> Result<Self, ExpressionError> {
        if source.len() > LENGTH {
            let message = format!("the expression is longer than {LENGTH} bytes");
            return Err(refused(message));
        }
        // The parser calls itself once for each sign that can nest, so a line of a few kilobytes would use up
        // the stack of a worker.
        std::thread::scope(|threads| {
            let compiler = std::thread::Builder::new().stack_size(STACK);
            let compiler = compiler.spawn_scoped(threads, || Self::compile_here(source, scope));
            let compiled = compiler.map(std::thread::ScopedJoinHandle::join);
            compiled.unwrap_or_else(|error| {
                Ok(Err(refused(format!(
                    "the expression cannot be read now: {error}"
                ))))
            })
        })
        .unwrap_or_else(|_| Err(refused("the parser failed on the expression".to_owned())))
    }

    fn compile_here(source: &str, scope: Scope) -> Result<Self, ExpressionError> {
        let (tree, source) = parse(source)?;
        let mut checker = Checker::new(scope);
        let output = checker.check(&tree).and_then(|ty| output(tree.id, &ty));
        let secrets = checker.secrets;
        match output {
            Ok(output) => Ok(Self {
                tree,
                source,
                version: scope.version,
                output,
                secrets,
            }),
            Err(fault) => Err(fault.at(&source)),
        }
    }

    /// The type of the result.
    pub fn output(&self) -> Output {
        self.output
    }

    /// Names of the secrets that it uses.
    pub fn secrets(&self) -> &BTreeSet<String> {
        &self.secrets
    }

    /// The result for an object in the words of the scope's version. Fields that the object does not have are
    /// the zero values of their types.
    ///
    /// # Errors
    /// When an item or key is missing, a conversion fails, or the work is too much: of this expression, or of all that have shared
    /// the allowance.
    pub fn evaluate(
        &self,
        object: &Json,
        secrets: &BTreeMap<String, String>,
        allowance: &mut Allowance,
    ) -> Result<Produced, ExpressionError> {
        let mut evaluator = Evaluator::new(self.version, object, secrets, allowance);
        let value = evaluator.evaluate(&self.tree);
        allowance.settle(evaluator.budget());
        value
            .and_then(|value| produced(self.tree.id, &value))
            .map_err(|fault| fault.at(&self.source))
    }
}

/// An expression that is refused as a whole.
fn refused(message: String) -> ExpressionError {
    ExpressionError {
        line: 1,
        column: 1,
        message,
    }
}

fn parse(source: &str) -> Result<(IdedExpr, SourceInfo), ExpressionError> {
    // An environment without macros: calls stay as they were written.
    let parser = Env::default().parser().enable_ident_escape_syntax(true);
    parser.parse_with_source_info(source).map_err(|errors| {
        let Some(first) = errors.errors.into_iter().next() else {
            return refused("this is no expression".to_owned());
        };
        let (line, column) = first.pos;
        ExpressionError {
            line: usize::try_from(line).unwrap_or(0).max(1),
            column: usize::try_from(column).unwrap_or(0).max(1),
            message: plain(&first.msg),
        }
    })
}

/// What the parser says, without the words of its program.
fn plain(said: &str) -> String {
    const SAID: usize = 300;
    let inner = said.split_once("msg: \"").map(|(_, inner)| inner);
    let inner = inner.and_then(|inner| inner.split_once('"'));
    let said = match inner {
        Some((inner, _)) if !inner.is_empty() => inner,
        _ if said.contains("Error(") || said.contains(" { ") => "it cannot be read here",
        _ => said,
    };
    let mut said = said.to_owned();
    cut(&mut said, SAID);
    said
}

fn output(id: u64, ty: &Type) -> Result<Output, Fault> {
    match ty {
        Type::String => Ok(Output::Text),
        Type::Map(key, value) => match (&**key, &**value) {
            (Type::String | Type::Unknown, Type::String | Type::Unknown) => Ok(Output::Map),
            _ => Err(unexpected(id, ty)),
        },
        _ => Err(unexpected(id, ty)),
    }
}

fn unexpected(id: u64, ty: &Type) -> Fault {
    let scalar = ty.is_numeric() || matches!(ty, Type::Bool);
    let advice = if scalar { "; write string(…)" } else { "" };
    let message =
        format!("the expression gives {ty}, expected string or map(string, string){advice}");
    Fault::new(id, message)
}

fn produced(id: u64, value: &Value<'_>) -> Result<Produced, Fault> {
    let wrong = || {
        let message = format!("the expression gives {}", value.type_name());
        Fault::new(id, format!("{message}, expected text or a map of texts"))
    };
    match value {
        Value::String(text) => Ok(Produced::Text(text.to_string())),
        Value::Map(entries) => {
            let texts = entries.iter().map(|entry| match entry {
                (Key::String(key), Value::String(text)) => Ok((key.to_string(), text.to_string())),
                _ => Err(wrong()),
            });
            texts.collect::<Result<_, _>>().map(Produced::Map)
        }
        _ => Err(wrong()),
    }
}

/// The text of a node that is a literal.
fn literal_text(node: &IdedExpr) -> Option<&str> {
    match &node.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}
