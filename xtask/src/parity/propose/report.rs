//! Proposals as text for people and as data for programs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Serialize;

use super::edit::{self, Spot};
use super::rounds::Outcome;
use super::trial::Tried;
use super::world::Key;

/// Examples shown of what no line can settle.
const EXAMPLES: usize = 3;

/// What is proposed for a group.
#[derive(Debug, Serialize)]
pub struct Proposals {
    /// Short name of the group.
    pub group: String,
    /// The file that the lines are for.
    pub path: String,
    /// Paths that differed without a reason, over all kinds and versions.
    pub open: usize,
    /// Those that the lines settle together.
    pub settled: usize,
    /// Paths that agree now and would not.
    pub broken: usize,
    /// Lines worth it, by table.
    pub proposed: Vec<Lines>,
    /// Lines that were tried and are not.
    pub refused: Vec<Lines>,
    /// What no line settles, by cause.
    pub left: Vec<Left>,
}

/// Lines for one table.
#[derive(Debug, Serialize)]
pub struct Lines {
    /// The table, empty for the top of the file.
    pub table: String,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line.
#[derive(Debug, Serialize)]
pub struct Line {
    /// As TOML.
    pub line: String,
    /// Paths that it settles by itself.
    pub settles: usize,
    /// Paths that agree now and would not.
    pub breaks: usize,
    /// Line of the file in whose place it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<usize>,
    /// Why the generator refuses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What no line settles, for one cause.
#[derive(Debug, Serialize)]
pub struct Left {
    /// Why.
    pub cause: String,
    /// How many paths.
    pub paths: usize,
    /// Some of them.
    pub examples: Vec<String>,
}

impl Proposals {
    /// What came of a group.
    pub fn new(group: &str, path: &str, outcome: &Outcome) -> Self {
        let settled = outcome.before.difference(&outcome.after).count();
        let broken = outcome.after.difference(&outcome.before).count();
        Self {
            group: group.to_owned(),
            path: path.to_owned(),
            open: outcome.before.len(),
            settled,
            broken,
            proposed: tables(proposed(outcome)),
            refused: tables(refused(outcome)),
            left: left(outcome),
        }
    }
}

/// What was taken as it stands in the file then: one line for each key.
fn proposed(outcome: &Outcome) -> BTreeMap<Spot, Line> {
    let mut lines = BTreeMap::<Spot, Line>::new();
    for tried in &outcome.taken {
        for spot in tried.spots() {
            let value = edit::value(&outcome.text, &spot);
            let Some(value) = value else { continue };
            // A part may be all that a rule was lacking.
            if edit::value(&outcome.text_before, &spot).as_ref() == Some(&value) {
                continue;
            }
            let line = lines.entry(spot.clone()).or_insert_with(|| Line {
                line: edit::line(&spot, &value),
                settles: 0,
                breaks: 0,
                replaces: edit::line_of(&outcome.text_before, &spot),
                problem: None,
            });
            line.settles += tried.settles;
            line.breaks += tried.breaks;
        }
    }
    lines
}

/// What was tried last for keys of which nothing was taken.
fn refused(outcome: &Outcome) -> BTreeMap<Spot, Line> {
    let taken: BTreeSet<Spot> = outcome.taken.iter().flat_map(Tried::spots).collect();
    let mut lines = BTreeMap::new();
    for tried in &outcome.refused {
        for (spot, value) in tried.lines(&outcome.text) {
            let line = Line {
                line: edit::line(&spot, &value),
                settles: tried.settles,
                breaks: tried.breaks,
                replaces: edit::line_of(&outcome.text_before, &spot),
                problem: tried.problem.clone(),
            };
            if !taken.contains(&spot) {
                lines.insert(spot, line);
            }
        }
    }
    lines
}

/// Lines by table, what settles most first.
fn tables(lines: BTreeMap<Spot, Line>) -> Vec<Lines> {
    let mut tables = BTreeMap::<String, Vec<Line>>::new();
    for (spot, line) in lines {
        tables.entry(spot.table).or_default().push(line);
    }
    let lines = |(table, mut lines): (String, Vec<Line>)| {
        lines.sort_by_key(|line| Reverse(line.settles));
        Lines { table, lines }
    };
    let mut tables: Vec<Lines> = tables.into_iter().map(lines).collect();
    // Keys at the top of a file come before its tables.
    let sum = |table: &Lines| table.lines.iter().map(|line| line.settles).sum::<usize>();
    tables.sort_by_key(|table| (!table.table.is_empty(), Reverse(sum(table))));
    tables
}

fn left(outcome: &Outcome) -> Vec<Left> {
    const TRIED: &str = "lines were tried, and none was worth it";
    let mut causes = BTreeMap::<&str, Vec<&Key>>::new();
    for key in &outcome.after {
        let cause = outcome.causes.get(key).map_or(TRIED, String::as_str);
        causes.entry(cause).or_default().push(key);
    }
    let left = |(cause, keys): (&str, Vec<&Key>)| Left {
        cause: cause.to_owned(),
        paths: keys.len(),
        examples: keys
            .iter()
            .take(EXAMPLES)
            .map(|key| format!("{} {} {}", key.kind, key.version, key.path))
            .collect(),
    };
    let mut left: Vec<Left> = causes.into_iter().map(left).collect();
    left.sort_by_key(|left| Reverse(left.paths));
    left
}

/// All groups, for people: lines as they stand in a file, what is not proposed as remarks.
pub fn text(proposals: &[Proposals]) -> String {
    let mut out = String::new();
    for group in proposals {
        let Proposals {
            path,
            open,
            settled,
            broken,
            ..
        } = group;
        let _ = writeln!(
            out,
            "# {path}: {open} paths differ without a reason, over all kinds and versions; these lines settle {settled}{}",
            match broken {
                0 => String::new(),
                broken => format!(" and break {broken}"),
            }
        );
        for table in &group.proposed {
            table_text(&mut out, table, "");
        }
        if !group.refused.is_empty() {
            out += "\n# Tried and not proposed:\n";
        }
        for table in &group.refused {
            table_text(&mut out, table, "# ");
        }
        for left in &group.left {
            let _ = writeln!(out, "\n# Left, {}: {}", left.paths, left.cause);
            for example in &left.examples {
                let _ = writeln!(out, "#   {example}");
            }
        }
        out.push('\n');
    }
    out
}

fn table_text(out: &mut String, table: &Lines, mark: &str) {
    out.push('\n');
    if !table.table.is_empty() {
        let _ = writeln!(out, "{mark}[{}]", table.table);
    }
    for line in &table.lines {
        let mut remark = format!("settles {}", line.settles);
        if line.breaks > 0 {
            let _ = write!(remark, ", breaks {}", line.breaks);
        }
        if let Some(at) = line.replaces {
            let _ = write!(remark, "; in place of line {at}");
        }
        if let Some(problem) = &line.problem {
            let _ = write!(remark, "; refused: {problem}");
        }
        let _ = writeln!(out, "{mark}{} # {remark}", line.line);
    }
}
