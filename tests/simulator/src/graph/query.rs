//! The part of the Kusto query language that is understood: a table, then `where`, `extend`, `project` and `order by`,
//! with the functions and comparisons that are needed to ask for ids and changes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::record::{Record, Table};

/// A query that is not understood.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidQuery(pub String);

/// A row on its way through the stages: its columns.
type Columns = BTreeMap<String, Value>;

type Understood<T> = Result<T, InvalidQuery>;

/// The rows of a query at a moment, of all subscriptions.
pub fn run(text: &str, record: &Record, at: Timestamp) -> Understood<Vec<Value>> {
    let mut stages = split(text, '|').into_iter();
    let table = stages.next().unwrap_or_default();
    let rows: Vec<Value> = match table.to_ascii_lowercase().as_str() {
        "resources" => record.present(Table::Resources, at).collect(),
        "resourcecontainers" => record.present(Table::Containers, at).collect(),
        "resourcechanges" => record.changed(Table::Resources, at).collect(),
        "resourcecontainerchanges" => record.changed(Table::Containers, at).collect(),
        other => return Err(InvalidQuery(format!("'{other}' is no table"))),
    };
    let rows = rows.into_iter().filter_map(|row| match row {
        Value::Object(columns) => Some(columns.into_iter().collect()),
        _ => None,
    });
    let mut rows: Vec<Columns> = rows.collect();
    for stage in stages {
        rows = apply(&stage, rows)?;
    }
    let object = |columns: Columns| Value::Object(columns.into_iter().collect::<Map<_, _>>());
    Ok(rows.into_iter().map(object).collect())
}

fn apply(stage: &str, mut rows: Vec<Columns>) -> Understood<Vec<Columns>> {
    if let Some(condition) = stage.strip_prefix("where ") {
        let condition = Condition::parse(condition)?;
        rows.retain(|row| condition.holds(row));
        return Ok(rows);
    }
    if let Some(list) = stage.strip_prefix("extend ") {
        let columns = columns(list)?;
        for row in &mut rows {
            for (name, expression) in &columns {
                let value = expression.value(row);
                row.insert(name.clone(), value);
            }
        }
        return Ok(rows);
    }
    if let Some(list) = stage.strip_prefix("project ") {
        let columns = columns(list)?;
        let project = |row: &Columns| {
            let named = columns.iter();
            named
                .map(|(name, expression)| (name.clone(), expression.value(row)))
                .collect()
        };
        return Ok(rows.iter().map(project).collect());
    }
    let column = stage.strip_prefix("order by ").and_then(|order| {
        let (column, way) = order.trim().split_once(' ')?;
        (way.trim() == "asc").then(|| column.to_owned())
    });
    let Some(column) = column else {
        return Err(InvalidQuery(format!("'{stage}' is not understood")));
    };
    rows.sort_by_key(|row| row.get(&column).map(Value::to_string));
    Ok(rows)
}

/// `name = expression` or a column's name, with commas between them.
fn columns(list: &str) -> Understood<Vec<(String, Expression)>> {
    let column = |text: String| match text.split_once('=') {
        Some((name, expression)) => Ok((name.trim().to_owned(), Expression::parse(expression)?)),
        None => Ok((text.clone(), Expression::parse(&text)?)),
    };
    split(list, ',').into_iter().map(column).collect()
}

/// A path of members, within a function that keeps it as it is.
#[derive(Debug)]
struct Expression(Vec<String>);

impl Expression {
    fn parse(text: &str) -> Understood<Self> {
        let text = text.trim();
        let inner = ["tostring(", "todatetime("]
            .iter()
            .find_map(|function| text.strip_prefix(function)?.strip_suffix(')'));
        let path = inner.unwrap_or(text);
        let is_path = !path.is_empty()
            && path
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '.');
        if !is_path {
            return Err(InvalidQuery(format!("'{text}' is not understood")));
        }
        Ok(Self(path.split('.').map(str::to_owned).collect()))
    }

    fn value(&self, row: &Columns) -> Value {
        let [first, rest @ ..] = self.0.as_slice() else {
            return Value::Null;
        };
        let mut value = row.get(first).unwrap_or(&Value::Null);
        for member in rest {
            value = value.get(member).unwrap_or(&Value::Null);
        }
        value.clone()
    }
}

/// What a row must satisfy.
#[derive(Debug)]
enum Condition {
    /// One of these texts, in any casing.
    In(Expression, Vec<String>),
    /// Later than a moment.
    After(Expression, Timestamp),
}

impl Condition {
    fn parse(text: &str) -> Understood<Self> {
        let not_understood = || InvalidQuery(format!("'{text}' is not understood"));
        if let Some((left, list)) = text.split_once(" in~ ") {
            let list = list.trim().strip_prefix('(');
            let list = list.and_then(|list| list.strip_suffix(')'));
            let literal = |text: String| {
                let text = text.strip_prefix('\'')?.strip_suffix('\'')?;
                (!text.contains('\'')).then(|| text.to_owned())
            };
            let items = split(list.ok_or_else(not_understood)?, ',').into_iter();
            let items: Option<Vec<String>> = items.map(literal).collect();
            let items = items.ok_or_else(not_understood)?;
            return Ok(Self::In(Expression::parse(left)?, items));
        }
        let (left, right) = text.split_once(" > ").ok_or_else(not_understood)?;
        let moment = right.trim().strip_prefix("datetime(");
        let moment = moment.and_then(|moment| moment.strip_suffix(')')?.parse().ok());
        Ok(Self::After(
            Expression::parse(left)?,
            moment.ok_or_else(not_understood)?,
        ))
    }

    fn holds(&self, row: &Columns) -> bool {
        match self {
            Self::In(expression, items) => {
                let value = expression.value(row);
                let value = value.as_str().unwrap_or_default();
                items.iter().any(|item| item.eq_ignore_ascii_case(value))
            }
            Self::After(expression, moment) => {
                let value = expression.value(row);
                let at = value.as_str().and_then(|text| text.parse().ok());
                at.is_some_and(|at: Timestamp| at > *moment)
            }
        }
    }
}

/// Splits a text at a letter, but not within quotes or parentheses.
fn split(text: &str, at: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut is_quoted) = (0, false);
    for letter in text.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth -= 1,
            _ => {}
        }
        if letter == at && depth == 0 && !is_quoted {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_refused_by_name() {
        let refused = |text: &str| {
            let found = run(text, &Record::default(), Timestamp::UNIX_EPOCH);
            found.expect_err(text).0
        };
        for (text, named) in [
            ("vaults | project id", "vaults"),
            ("resources | summarize count()", "summarize"),
            ("resources | where type == 'a'", "type == 'a'"),
            ("resources | where type in~ ('a'; drop", "in~"),
            ("resources | project id, ago(1d)", "ago(1d)"),
            ("resources | order by id desc", "desc"),
            ("resourcechanges | where at > datetime(soon)", "soon"),
        ] {
            assert!(refused(text).contains(named), "{text}");
        }
    }

    #[test]
    fn columns_conditions_and_order() {
        let rows = [("b", "2026-01-02T00:00:00Z"), ("A", "2026-01-03T00:00:00Z")];
        let row = |(name, at): &(&str, &str)| {
            let value = serde_json::json!({"name": name, "p": {"at": at}});
            value.as_object().cloned().unwrap().into_iter().collect()
        };
        let rows: Vec<Columns> = rows.iter().map(row).collect();
        let stages = [
            "extend at = todatetime(p.at)",
            "where name in~ ('a', 'b|c', 'B')",
            "where at > datetime(2026-01-01T00:00:00Z)",
            "project id = name, at",
            "order by id asc",
        ];
        let rows = stages
            .iter()
            .fold(rows, |rows, stage| apply(stage, rows).unwrap());
        let ids: Vec<&Value> = rows.iter().map(|row| &row["id"]).collect();
        assert_eq!(ids, ["A", "b"]);
        assert!(!rows[0].contains_key("name"));
        let later = apply("where at > datetime(2026-01-02T12:00:00Z)", rows).unwrap();
        assert_eq!(later.len(), 1);
    }
}
