//! Text for Graphviz.

use super::{Edge, Graph, State};
use crate::relations::relations::Need;

/// The graph in the language DOT, with a cluster for each frame.
pub fn dot(graph: &Graph) -> String {
    let mut text = String::from(
        "digraph armature {\n  rankdir=LR\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=11]\n  \
         edge [color=\"#5f6368\"]\n",
    );
    for (at, frame) in graph.frames.iter().enumerate() {
        let border = frame.state.colours().1;
        let title = quoted(&frame.title);
        text.push_str(&format!(
            "  subgraph cluster_{at} {{\n    label={title}\n    color=\"{border}\"\n    fontname=\"sans-serif\"\n"
        ));
        for position in graph.within(at) {
            let vertex = &graph.vertices[position];
            let label = quoted(&vertex.lines.join("\n"));
            let style = style(vertex.state);
            text.push_str(&format!("    n{position} [label={label}, {style}]\n"));
        }
        text.push_str("  }\n");
    }
    for edge in &graph.edges {
        text.push_str(&arrow(edge));
    }
    text + "}\n"
}

/// Ranks go from what is needed to what needs it; the arrow of a reference points at what it names.
fn arrow(edge: &Edge) -> String {
    let Edge { needed, by, need } = edge;
    let style = match need {
        Need::Owner => "",
        Need::Reference => " [dir=back, style=dashed]",
        Need::Reads => " [dir=back, style=dotted]",
        Need::WrittenBy => " [style=dotted]",
    };
    format!("  n{needed} -> n{by}{style}\n")
}

fn style(state: State) -> String {
    let (inside, border) = state.colours();
    let dashed = match state {
        State::Missing => ", style=\"rounded,filled,dashed\"",
        _ => "",
    };
    format!("fillcolor=\"{inside}\", color=\"{border}\"{dashed}")
}

fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('\n', "\\n"))
}
