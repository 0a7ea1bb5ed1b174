//! A drawing. What hangs together is laid out by the library; such parts stand beside each other in the frame of their resource
//! group, and frames beside each other on the page, so that three hundred resources take no more than a page's proportions.

use std::collections::BTreeMap;

use layout::core::base::Orientation;
use layout::core::geometry::{Point, Position};
use layout::core::style::{LineStyleKind, StyleAttr};
use layout::std_shapes::shapes::{Arrow, Element, LineEndKind, ShapeKind};
use layout::topo::layout::VisualGraph;

use super::canvas::{Canvas, LINE, escaped};
use super::{Graph, State};
use crate::relations::relations::Need;

/// Width of a letter in pixels, and what is around texts, boxes and frames.
const LETTER: f64 = 7.2;
const PADDING: f64 = 14.0;
const GAP: f64 = 18.0;
const TITLE: f64 = 30.0;

/// How much wider than high a frame or a page is, about.
const PROPORTION: f64 = 1.6;

/// A part that has its place within a larger one.
struct Part {
    content: String,
    width: f64,
    height: f64,
}

/// The graph as SVG.
pub fn svg(graph: &Graph) -> String {
    let frames = (0..graph.frames.len()).map(|at| frame(graph, at));
    let page = beside(frames.collect());
    let (width, height) = (page.width + 2.0 * GAP, page.height + 2.0 * GAP);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} \
         {height:.0}\" style=\"background: #ffffff\">\n{}<g transform=\"translate({GAP:.0} {GAP:.0})\">\n{}</g>\n</svg>\n",
        styles(),
        page.content
    )
}

fn styles() -> String {
    let mut text = String::from(
        "<style>\ntext { font: 12px sans-serif; fill: #202124; text-anchor: middle; dominant-baseline: central }\n\
         .name { font-weight: bold }\n.title { font-weight: bold; text-anchor: start }\n\
         path { fill: none; stroke: #5f6368 }\n.reference { stroke-dasharray: 6 4 }\n.data { stroke-dasharray: 2 3 }\n\
         .frame { fill: none }\n.elsewhere { fill: #ffffff; stroke: #9aa0a6; stroke-dasharray: 2 3 }\n",
    );
    for state in [State::Ready, State::Waiting, State::Missing, State::Plain] {
        let (word, (inside, border)) = (state.word(), state.colours());
        let dashed = match state {
            State::Missing => "; stroke-dasharray: 4",
            _ => "",
        };
        text.push_str(&format!(
            ".{word} {{ fill: {inside}; stroke: {border}{dashed} }}\n"
        ));
        text.push_str(&format!(".frame.{word} {{ fill: none }}\n"));
    }
    text + "</style>\n<defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" \
            orient=\"auto-start-reverse\"><path d=\"M 0 0 L 10 5 L 0 10 z\" style=\"fill: #5f6368; stroke: none\"/></marker></defs>\n"
}

/// A frame with what is in it.
fn frame(graph: &Graph, at: usize) -> Part {
    let inner = beside(parts(graph, at));
    let frame = &graph.frames[at];
    let title = escaped(&frame.title);
    let width = inner
        .width
        .max(frame.title.chars().count() as f64 * (LETTER + 0.8))
        + 2.0 * GAP;
    let height = inner.height + TITLE + GAP;
    let word = frame.state.word();
    Part {
        content: format!(
            "<rect class=\"frame {word}\" x=\"0\" y=\"0\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"10\"/>\n\
             <text class=\"title\" x=\"{GAP:.0}\" y=\"{:.0}\">{title}</text>\n\
             <g transform=\"translate({GAP:.0} {TITLE:.0})\">\n{}</g>\n",
            TITLE / 2.0,
            inner.content
        ),
        width,
        height,
    }
}

/// What hangs together within a frame, each part drawn. What something needs of another frame stands beside it as a note.
fn parts(graph: &Graph, at: usize) -> Vec<Part> {
    let inside: Vec<usize> = graph.within(at).collect();
    let mut part: BTreeMap<usize, usize> = inside.iter().map(|one| (*one, *one)).collect();
    for edge in &graph.edges {
        if let (Some(&one), Some(&other)) = (part.get(&edge.needed), part.get(&edge.by)) {
            let (least, most) = (one.min(other), one.max(other));
            for known in part.values_mut().filter(|known| **known == most) {
                *known = least;
            }
        }
    }
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (one, part) in part {
        members.entry(part).or_default().push(one);
    }
    members
        .values()
        .map(|members| drawn(graph, members))
        .collect()
}

fn drawn(graph: &Graph, members: &[usize]) -> Part {
    let mut drawing = VisualGraph::new(Orientation::LeftToRight);
    let mut handles = BTreeMap::new();
    for at in members {
        let vertex = &graph.vertices[*at];
        let class = vertex.state.word();
        handles.insert(*at, drawing.add_node(shape(&vertex.lines, class)));
    }
    for edge in &graph.edges {
        let Some(by) = handles.get(&edge.by).copied() else {
            continue;
        };
        let is_inside = members.contains(&edge.needed);
        if !is_inside && !handles.contains_key(&edge.needed) {
            let vertex = &graph.vertices[edge.needed];
            let mut lines: Vec<String> = vertex.lines.iter().take(2).cloned().collect();
            lines.push(graph.frames[vertex.frame].title.clone());
            handles.insert(edge.needed, drawing.add_node(shape(&lines, "elsewhere")));
        }
        if let Some(needed) = handles.get(&edge.needed).copied() {
            drawing.add_edge(arrow(edge.need), needed, by);
        }
    }
    let mut canvas = Canvas::default();
    drawing.do_it(false, false, false, &mut canvas);
    Part {
        content: canvas.content,
        width: canvas.width,
        height: canvas.height,
    }
}

fn shape(lines: &[String], class: &str) -> Element {
    let longest = lines.iter().map(|line| line.chars().count()).max();
    let width = longest.unwrap_or_default() as f64 * LETTER + 2.0 * PADDING;
    let height = lines.len() as f64 * LINE + PADDING;
    let size = Point::new(width, height);
    Element {
        shape: ShapeKind::new_box(&lines.join("\n")),
        pos: Position::new(
            Point::zero(),
            size,
            Point::zero(),
            Point::new(2.0 * GAP, GAP),
        ),
        look: StyleAttr::simple(),
        orientation: Orientation::LeftToRight,
        properties: Some(class.to_owned()),
    }
}

/// From what is needed to what needs it; a reference points at what it names.
fn arrow(need: Need) -> Arrow {
    let (class, points_back) = match need {
        Need::Owner => ("owner", false),
        Need::Reference => ("reference", true),
        Need::Reads => ("data", true),
        Need::WrittenBy => ("data", false),
    };
    let head = |is_there| match is_there {
        true => LineEndKind::Arrow,
        false => LineEndKind::None,
    };
    Arrow {
        start: head(points_back),
        end: head(!points_back),
        line_style: LineStyleKind::Normal,
        properties: Some(class.to_owned()),
        ..Arrow::default()
    }
}

/// Parts in rows, one beside the other, about as wide as it looks well.
fn beside(parts: Vec<Part>) -> Part {
    let area: f64 = parts
        .iter()
        .map(|part| (part.width + GAP) * (part.height + GAP))
        .sum();
    let widest = parts.iter().map(|part| part.width).fold(0.0, f64::max);
    let limit = widest.max((area * PROPORTION).sqrt());
    let (mut x, mut y, mut row) = (0.0, 0.0, 0.0_f64);
    let mut whole = Part {
        content: String::new(),
        width: 0.0,
        height: 0.0,
    };
    for part in parts {
        if x > 0.0 && x + part.width > limit {
            (x, y, row) = (0.0, y + row + GAP, 0.0);
        }
        whole.content.push_str(&format!(
            "<g transform=\"translate({x:.0} {y:.0})\">\n{}</g>\n",
            part.content
        ));
        whole.width = whole.width.max(x + part.width);
        whole.height = whole.height.max(y + part.height);
        x += part.width + GAP;
        row = row.max(part.height);
    }
    whole
}
