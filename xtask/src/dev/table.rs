//! The live table: redrawn in place on a terminal, a line per change elsewhere.

use std::collections::HashMap;

use console::{Term, pad_str, style, truncate_str};

use super::status::Row;

const MARK: &str = "…";

/// The table and what it showed last.
#[derive(Debug)]
pub struct Table {
    terminal: Option<Term>,
    drawn: usize,
    shown: HashMap<(String, String), Row>,
    remarked: Option<String>,
}

impl Table {
    /// For standard output.
    pub fn new() -> Self {
        let terminal = Term::stdout();
        Self {
            terminal: terminal.is_term().then_some(terminal),
            drawn: 0,
            shown: HashMap::new(),
            remarked: None,
        }
    }

    /// A sentence that stays above the table.
    pub fn note(&mut self, text: &str) {
        self.clear();
        println!("{text}");
    }

    /// Shows the rows, and a remark below them.
    pub fn draw(&mut self, rows: &[Row], remark: Option<String>) {
        let Some(terminal) = self.terminal.clone() else {
            for row in self.changed(rows) {
                println!("{row}");
            }
            if self.remarked != remark {
                remark.iter().for_each(|text| println!("{text}"));
                self.remarked = remark;
            }
            return;
        };
        self.clear();
        let (height, width) = terminal.size();
        let mut lines = render(rows, usize::from(width));
        // A table that is higher than the screen could not be cleared again; what is not ready matters most.
        let room = usize::from(height).saturating_sub(3).max(1);
        if lines.len() > room {
            let hidden = lines.len() - room;
            lines.truncate(room);
            lines.push(format!("and {hidden} more"));
        }
        lines.extend(remark.map(|text| truncate_str(&text, usize::from(width), MARK).into_owned()));
        self.drawn = lines.len();
        for line in lines {
            let _ = terminal.write_line(&line);
        }
    }

    fn clear(&mut self) {
        if let Some(terminal) = &self.terminal {
            let _ = terminal.clear_last_lines(self.drawn);
        }
        self.drawn = 0;
    }

    /// Rows that are not as they were shown last.
    fn changed<'r>(&mut self, rows: &'r [Row]) -> Vec<&'r Row> {
        rows.iter()
            .filter(|row| row.is_known())
            .filter(|row| {
                let key = (row.kind.clone(), row.name.clone());
                self.shown.insert(key, (*row).clone()).as_ref() != Some(*row)
            })
            .collect()
    }
}

/// Header and rows, the ones that are not ready first, each at most `width` wide.
fn render(rows: &[Row], width: usize) -> Vec<String> {
    let longest = |of: fn(&Row) -> &str, title: &str| {
        let lengths = rows.iter().map(|row| of(row).chars().count());
        lengths.max().unwrap_or(0).max(title.len())
    };
    let widths = [
        longest(|row| &row.kind, "KIND"),
        longest(|row| &row.name, "NAME"),
        "Unknown".len(),
        longest(|row| &row.reason, "REASON"),
    ];
    let line = |cells: [&str; 5]| {
        let mut text = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            text.push_str(&pad_str(cell, width, console::Alignment::Left, None));
            text.push_str("  ");
        }
        text.push_str(&cells[4].replace('\n', " "));
        truncate_str(&text, width, MARK).into_owned()
    };
    let header = line(["KIND", "NAME", "READY", "REASON", "MESSAGE"]);
    let mut lines = vec![style(header).bold().to_string()];
    let (ready, waiting): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.is_ready());
    for row in waiting.into_iter().chain(ready) {
        let text = line([&row.kind, &row.name, &row.ready, &row.reason, &row.message]);
        lines.push(match row.ready.as_str() {
            "True" => style(text).green().to_string(),
            "False" => style(text).yellow().to_string(),
            _ => text,
        });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, ready: &str, message: &str) -> Row {
        Row {
            kind: "Database".into(),
            name: name.into(),
            ready: ready.into(),
            message: message.into(),
            ..Row::default()
        }
    }

    #[test]
    fn what_is_not_ready_comes_first_and_fits() {
        let rows = [
            row("a", "True", ""),
            row("b", "False", "waits for\nsomething that is long"),
        ];
        let lines: Vec<String> = render(&rows, 50)
            .iter()
            .map(|line| console::strip_ansi_codes(line).trim_end().to_owned())
            .collect();
        assert_eq!(
            lines,
            [
                "KIND      NAME  READY    REASON  MESSAGE",
                "Database  b     False            waits for someth…",
                "Database  a     True",
            ]
        );
    }

    #[test]
    fn plain_output_says_only_what_changed() {
        let mut table = Table {
            terminal: None,
            drawn: 0,
            shown: HashMap::new(),
            remarked: None,
        };
        let first = [row("a", "", ""), row("b", "False", "x")];
        assert_eq!(table.changed(&first), [&first[1]]);
        let second = [row("a", "True", ""), row("b", "False", "x")];
        assert_eq!(table.changed(&second), [&second[0]]);
    }
}
