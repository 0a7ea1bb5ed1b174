//! Text for Mermaid, which GitHub and GitLab draw in Markdown.

use super::{Edge, Graph, State};
use crate::relations::relations::Need;

const STATES: [State; 4] = [State::Ready, State::Waiting, State::Missing, State::Plain];

/// The graph as a flow chart, with a subgraph for each frame.
pub fn mermaid(graph: &Graph) -> String {
    let mut text = String::from("flowchart LR\n");
    for (at, frame) in graph.frames.iter().enumerate() {
        text.push_str(&format!(
            "  subgraph g{at}[\"{}\"]\n",
            escaped(&frame.title)
        ));
        for position in graph.within(at) {
            let vertex = &graph.vertices[position];
            let lines: Vec<String> = vertex.lines.iter().map(|line| escaped(line)).collect();
            let (label, class) = (lines.join("<br>"), vertex.state.word());
            text.push_str(&format!("    n{position}[\"{label}\"]:::{class}\n"));
        }
        text.push_str("  end\n");
    }
    for Edge { needed, by, need } in &graph.edges {
        let line = match need {
            Need::Owner => format!("n{needed} --> n{by}"),
            Need::Reference => format!("n{by} -.-> n{needed}"),
            Need::Reads => format!("n{by} -. reads .-> n{needed}"),
            Need::WrittenBy => format!("n{needed} -. writes .-> n{by}"),
        };
        text.push_str(&format!("  {line}\n"));
    }
    for state in STATES {
        let (inside, border) = state.colours();
        let dashed = match state {
            State::Missing => ",stroke-dasharray:4",
            _ => "",
        };
        let word = state.word();
        text.push_str(&format!(
            "  classDef {word} fill:{inside},stroke:{border},color:#202124{dashed}\n"
        ));
    }
    text
}

/// Mermaid reads entities as HTML does, with # for &.
fn escaped(text: &str) -> String {
    let text = text.replace('#', "#35;").replace('"', "#quot;");
    text.replace('<', "#lt;").replace('>', "#gt;")
}
