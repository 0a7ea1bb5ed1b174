//! The table of `armature status --watch` on a terminal: as high and as wide as the terminal, what is not ready first.

use armature_runtime::reconcile::plain::plain;
use console::{Style, truncate_str};

use super::node::Node;
use super::text::summary;
use crate::colour::Colour;
use crate::explain::text::table;

const MARK: &str = "…";

/// Lines that are not for objects: the head, an empty one, the summary, and where the cursor stays.
const OTHER_LINES: usize = 4;

/// What there is room for.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Lines of the terminal.
    pub lines: usize,
    /// Characters in a line.
    pub columns: usize,
    /// Whether ready and not ready differ in colour, too.
    pub colour: Colour,
}

/// Objects with what their conditions say, and a summary, below the problems of whoever reads them. What has no room is counted.
pub fn status(nodes: &[&Node], problems: &[String], room: Room) -> String {
    let (ready, waiting): (Vec<&Node>, Vec<&Node>) = nodes.iter().partition(|node| node.is_fine());
    let nodes_in_order: Vec<&Node> = waiting.into_iter().chain(ready).collect();
    let head = ["NAMESPACE", "KIND", "NAME", "READY", "REASON", "MESSAGE"].map(str::to_owned);
    let mut rows = vec![head];
    rows.extend(nodes_in_order.iter().map(|node| row(node)));
    let rows = table(&rows);
    // The only colours are ours.
    let rows = plain(&rows);
    let fits = room.lines.saturating_sub(OTHER_LINES + problems.len());
    // One line says how many more there are.
    let shown = match nodes.len() > fits {
        true => fits.saturating_sub(1),
        false => nodes.len(),
    };
    let mut rows = rows
        .lines()
        .map(|row| truncate_str(row, room.columns, MARK));
    let coloured = |line, style: Style| {
        let style = style.force_styling(room.colour == Colour::Yes);
        format!("{}\n", style.apply_to(line))
    };
    let head = rows.next().unwrap_or_default();
    let mut text = coloured(head, Style::new().bold());
    for (line, node) in rows.zip(&nodes_in_order).take(shown) {
        let style = match node.is_fine() {
            true => Style::new().green(),
            false => Style::new().yellow(),
        };
        text.push_str(&coloured(line, style));
    }
    if shown < nodes.len() {
        text.push_str(&format!("and {} more\n", nodes.len() - shown));
    }
    text.push_str(&format!("\n{}\n", summary(nodes)));
    for problem in problems {
        let line = format!("error: {}", plain(problem));
        text.push_str(&format!("{}\n", truncate_str(&line, room.columns, MARK)));
    }
    text
}

fn row(node: &Node) -> [String; 6] {
    let ready = match node.ready.status.as_str() {
        "" => "-",
        status => status,
    };
    let message = node.ready.message.lines().next().unwrap_or_default();
    let (name, reason) = (node.name.as_str(), node.ready.reason.as_str());
    [&node.namespace, &node.kind, name, ready, reason, message].map(str::to_owned)
}
