//! Calls that bind variables: `list.map(x, …)` and the like, with one variable or two.
//!
//! The parser leaves them as the calls that they are, so that messages speak of what the user wrote.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, Expr};

use super::Fault;

/// What is made of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    All,
    Exists,
    ExistsOne,
    Filter,
    /// A list of what the body gives for each element.
    List,
    /// A map with the same keys.
    Map,
    /// A map of the entries that the body gives.
    MapEntry,
    /// The same for an optional: `optMap`.
    Optional,
    /// As [`Purpose::Optional`], and the body gives an optional: `optFlatMap`.
    FlatOptional,
}

/// One such call.
pub(super) struct Comprehension<'t> {
    pub purpose: Purpose,
    /// The list, map or optional that it goes through.
    pub range: &'t IdedExpr,
    /// One variable: items of a list, keys of a map. Two: index or key, and value.
    pub variables: Vec<&'t str>,
    /// Elements for which this is false are left out.
    pub condition: Option<&'t IdedExpr>,
    pub body: &'t IdedExpr,
}

/// How a call of this name is built: purpose, variables, and arguments behind them without a condition.
fn form(name: &str, arguments: usize) -> Option<(Purpose, usize)> {
    Some(match (name, arguments) {
        ("all", 2) => (Purpose::All, 1),
        ("all", 3) => (Purpose::All, 2),
        ("exists", 2) => (Purpose::Exists, 1),
        ("exists", 3) => (Purpose::Exists, 2),
        ("existsOne" | "exists_one", 2) => (Purpose::ExistsOne, 1),
        ("existsOne" | "exists_one", 3) => (Purpose::ExistsOne, 2),
        ("filter", 2) => (Purpose::Filter, 1),
        ("map", 2 | 3) => (Purpose::List, 1),
        ("transformList", 3 | 4) => (Purpose::List, 2),
        ("transformMap", 3 | 4) => (Purpose::Map, 2),
        ("transformMapEntry", 3 | 4) => (Purpose::MapEntry, 2),
        ("optMap", 2) => (Purpose::Optional, 1),
        ("optFlatMap", 2) => (Purpose::FlatOptional, 1),
        _ => return None,
    })
}

/// The call as a comprehension, if it is one.
pub(super) fn of(call: &CallExpr) -> Result<Option<Comprehension<'_>>, Fault> {
    let Some(range) = call.target.as_deref() else {
        return Ok(None);
    };
    let Some((purpose, count)) = form(&call.func_name, call.args.len()) else {
        return Ok(None);
    };
    let (names, rest) = call.args.split_at(count);
    let variables = names.iter().map(variable).collect::<Result<Vec<_>, _>>()?;
    let (condition, body) = match rest {
        [body] => (None, body),
        [condition, body] => (Some(condition), body),
        _ => return Ok(None),
    };
    Ok(Some(Comprehension {
        purpose,
        range,
        variables,
        condition,
        body,
    }))
}

fn variable(name: &IdedExpr) -> Result<&str, Fault> {
    match &name.expr {
        Expr::Ident(name) => Ok(name),
        _ => Err(Fault::new(name.id, "a name for the element stands here")),
    }
}
