//! Lines in the text of a curation file: what a key says, and the text with a key that says something else. Whatever else
//! stands in the file, remarks included, stays as it is.

use armature_generator::propose::place::with_tables;
use toml::{Table, Value};

/// Where a line stands: its table, `types.Album`, empty for the top of the file, and its key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Table.
    pub table: String,
    /// Key.
    pub key: String,
}

impl Spot {
    /// The parts of the file.
    pub fn parts() -> Self {
        Self {
            table: String::new(),
            key: "parts".to_owned(),
        }
    }

    /// Whether it is [`Self::parts`].
    pub fn is_parts(&self) -> bool {
        *self == Self::parts()
    }
}

/// What a file says at a spot.
pub fn value(text: &str, spot: &Spot) -> Option<Value> {
    let file: Table = toml::from_str(text).ok()?;
    let mut table = &file;
    for name in spot.table.split('.').filter(|name| !name.is_empty()) {
        table = table.get(name)?.as_table()?;
    }
    table.get(&spot.key).cloned()
}

/// The text with a value at a spot. Nothing where that would mean to rewrite several lines.
pub fn with_value(text: &str, spot: &Spot, value: &Value) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let below = format!("[{}.{}]", spot.table, spot.key);
    if lines.iter().any(|line| line.trim_end() == below) {
        return with_members(text, &below, value);
    }
    let spot = &written(&lines, spot);
    let line = line(spot, value) + "\n";
    let Some(range) = range(&lines, &spot.table) else {
        return Some(with_tables(text, &format!("\n[{}]\n{line}", spot.table)));
    };
    let own = range
        .clone()
        .find(|at| key_of(lines[*at]) == Some(&spot.key));
    let (at, replaced) = match own {
        Some(at) => {
            // A value over several lines is somebody's careful work.
            toml::from_str::<Table>(lines[at]).ok()?;
            (at, 1)
        }
        None => (place(&lines, range, spot), 0),
    };
    let rest = lines[at + replaced..].concat();
    let mut before = lines[..at].concat();
    if !before.is_empty() && !before.ends_with('\n') {
        before.push('\n');
    }
    Some(before + &line + &rest)
}

/// A value that has a table of its own, key by key.
fn with_members(text: &str, header: &str, value: &Value) -> Option<String> {
    let table = header.trim_matches(['[', ']']).to_owned();
    let mut members = value.as_table()?.iter();
    members.try_fold(text.to_owned(), |text, (key, member)| {
        let spot = Spot {
            table: table.clone(),
            key: key.clone(),
        };
        match self::value(&text, &spot).as_ref() == Some(member) {
            true => Some(text),
            false => with_value(&text, &spot, member),
        }
    })
}

/// Line (from 1) of a spot.
pub fn line_of(text: &str, spot: &Spot) -> Option<usize> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let below = format!("[{}.{}]", spot.table, spot.key);
    let header = lines.iter().position(|line| line.trim_end() == below);
    let written = written(&lines, spot);
    let own = || range(&lines, &written.table)?.find(|at| key_of(lines[*at]) == Some(&written.key));
    header.or_else(own).map(|at| at + 1)
}

/// Where a file writes a spot: a rule stands below `[types.Album]`, or as `Album.title` where the file has one table `[types]`.
fn written(lines: &[&str], spot: &Spot) -> Spot {
    const RULES: &str = "types";
    let has = |table: &str| range(lines, table).is_some();
    match spot.table.split_once('.') {
        Some((RULES, name)) if has(RULES) && !has(&spot.table) => Spot {
            table: RULES.to_owned(),
            key: format!("{name}.{}", spot.key),
        },
        _ => spot.clone(),
    }
}

/// The lines of a table, its header not included.
fn range(lines: &[&str], table: &str) -> Option<std::ops::Range<usize>> {
    let is_header = |line: &&str| line.starts_with('[');
    let start = match table {
        "" => 0,
        name => {
            1 + lines
                .iter()
                .position(|line| line.trim_end() == format!("[{name}]"))?
        }
    };
    let length = lines[start..].iter().position(is_header);
    let mut end = length.map_or(lines.len(), |length| start + length);
    // Remarks above the next header are the next table's.
    while end > start && (lines[end - 1].trim().is_empty() || lines[end - 1].starts_with('#')) {
        end -= 1;
    }
    Some(start..end)
}

/// Rules stand by name; what is said of a kind, or at the top, in the order that it was written in.
fn place(lines: &[&str], range: std::ops::Range<usize>, spot: &Spot) -> usize {
    let end = range.end;
    let is_type = spot.table == "types"
        || spot
            .table
            .strip_prefix("types.")
            .is_some_and(|name| !name.contains('.'));
    if !is_type {
        return end;
    }
    let mut range = range;
    let is_later = |line: &str| key_of(line).is_some_and(|key| *key > *spot.key);
    range.find(|at| is_later(lines[*at])).unwrap_or(end)
}

/// The key of a line that begins one.
fn key_of(line: &str) -> Option<&str> {
    if line.starts_with([' ', '\t', '#', '[', ']']) {
        return None;
    }
    let (key, _) = line.split_once('=')?;
    Some(key.trim().trim_matches('"'))
}

/// A key as TOML wants it.
fn key(name: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    match name.chars().all(is_bare) && !name.is_empty() {
        true => name.to_owned(),
        false => Value::from(name).to_string(),
    }
}

/// A key with its value, as it stands in a file.
pub fn line(spot: &Spot, value: &Value) -> String {
    let name = match (spot.table.as_str(), spot.key.split_once('.')) {
        ("types", Some((ty, name))) => format!("{}.{}", key(ty), key(name)),
        _ => key(&spot.key),
    };
    format!("{name} = {}", inline(value))
}

/// A value on one line, with its members in the order of the documentation.
fn inline(value: &Value) -> String {
    const ORDER: [&str; 5] = ["as", "type", "items", "values", "required"];
    const LAST: [&str; 3] = ["side", "versions", "because"];
    let rank = |name: &str| {
        let first = ORDER.iter().position(|known| *known == name);
        let last = LAST.iter().position(|known| *known == name);
        first.or(last.map(|at| 100 + at)).unwrap_or(50)
    };
    match value {
        Value::Table(table) if table.is_empty() => "{}".to_owned(),
        Value::Table(table) => {
            let mut members: Vec<_> = table.iter().collect();
            members.sort_by_key(|(name, _)| (rank(name), (*name).clone()));
            let member =
                |(name, value): (&String, &Value)| format!("{} = {}", key(name), inline(value));
            format!(
                "{{ {} }}",
                members
                    .into_iter()
                    .map(member)
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        }
        Value::Array(items) => {
            format!(
                "[{}]",
                items.iter().map(inline).collect::<Vec<_>>().join(", ")
            )
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "group = \"g\"\n\n[kinds.Thing]\ntype = \"T\"\n\n[types.B]\n# First.\nb = \"plain\"\nd = { side = \"spec\", as = \"remove\" }\n\n# Of C.\n[types.C.x]\nvalues = [\"a\"]\n";

    fn set(table: &str, key: &str, value: &str) -> Option<String> {
        let line: Table = toml::from_str(&format!("x = {value}")).unwrap();
        let spot = Spot {
            table: table.to_owned(),
            key: key.to_owned(),
        };
        let text = with_value(FILE, &spot, &line["x"])?;
        assert_eq!(
            super::value(&text, &spot).as_ref(),
            Some(&line["x"]),
            "{text}"
        );
        let at = line_of(&text, &spot).unwrap();
        assert!(text.lines().nth(at - 1).unwrap().contains(key), "{text}");
        Some(text)
    }

    #[test]
    fn lines_stand_where_they_belong() {
        let plain = "b = \"plain\"\n";
        for (table, key, value, old, new) in [
            (
                "types.B",
                "c",
                "\"secret\"",
                plain,
                "b = \"plain\"\nc = \"secret\"\n",
            ),
            (
                "types.B",
                "a",
                "\"secret\"",
                plain,
                "a = \"secret\"\nb = \"plain\"\n",
            ),
            ("types.B", "b", "\"secret\"", plain, "b = \"secret\"\n"),
            (
                "",
                "parts",
                "[\"P\"]",
                "group = \"g\"\n",
                "group = \"g\"\nparts = [\"P\"]\n",
            ),
            (
                "kinds.Thing",
                "naming",
                "\"new\"",
                "type = \"T\"\n",
                "type = \"T\"\nnaming = \"new\"\n",
            ),
            (
                "types.A",
                "a.b",
                "\"plain\"",
                "[types.B]",
                "[types.A]\n\"a.b\" = \"plain\"\n\n[types.B]",
            ),
        ] {
            assert_eq!(
                set(table, key, value).unwrap(),
                FILE.replace(old, new),
                "{table} {key}"
            );
        }
        let text = set("types.C", "x", "{ side = \"spec\", values = [\"a\"] }").unwrap();
        assert!(
            text.ends_with("values = [\"a\"]\nside = \"spec\"\n"),
            "{text}"
        );
    }

    #[test]
    fn rules_of_one_table_have_the_type_before_the_name() {
        let file = "[types]\nA.b = \"plain\"\nB.a = \"remove\"\n";
        for (table, key, expected) in [
            ("types.A", "b", file.replace("plain", "secret")),
            ("types.A", "c", file.replace("B.a", "A.c = \"secret\"\nB.a")),
            ("types.C", "a", format!("{file}C.a = \"secret\"\n")),
        ] {
            let spot = Spot {
                table: table.to_owned(),
                key: key.to_owned(),
            };
            let text = with_value(file, &spot, &Value::from("secret")).unwrap();
            assert_eq!(text, expected, "{table} {key}");
            let at = line_of(&text, &spot).unwrap();
            assert!(text.lines().nth(at - 1).unwrap().contains("secret"));
        }
    }

    #[test]
    fn a_value_over_several_lines_is_left_alone() {
        let text = FILE.replace("\"plain\"", "[\n    1,\n]");
        let spot = Spot {
            table: "types.B".to_owned(),
            key: "b".to_owned(),
        };
        assert_eq!(with_value(&text, &spot, &Value::from("secret")), None);
    }

    #[test]
    fn members_have_one_order() {
        let table: Table = toml::from_str(
            "x = { because = \"y\", side = \"spec\", as = \"remove\", secrets = {} }",
        )
        .unwrap();
        assert_eq!(
            inline(&table["x"]),
            "{ as = \"remove\", secrets = {}, side = \"spec\", because = \"y\" }"
        );
    }
}
