//! What the layout library draws on: SVG, and how large it has become.

use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;

/// Height of a line of text in pixels.
pub const LINE: f64 = 16.0;

/// Boxes and arrows as elements of an SVG. Boxes and arrows carry the name of their style as their property.
#[derive(Debug, Default)]
pub struct Canvas {
    /// Elements.
    pub content: String,
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
}

impl Canvas {
    fn reaches(&mut self, x: f64, y: f64) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }
}

impl RenderBackend for Canvas {
    fn draw_rect(
        &mut self,
        xy: Point,
        size: Point,
        _: &StyleAttr,
        properties: Option<String>,
        _: Option<ClipHandle>,
    ) {
        self.reaches(xy.x + size.x, xy.y + size.y);
        let class = properties.unwrap_or_default();
        self.content.push_str(&format!(
            "<rect class=\"{class}\" x=\"{:.0}\" y=\"{:.0}\" width=\"{:.0}\" height=\"{:.0}\" rx=\"6\"/>\n",
            xy.x, xy.y, size.x, size.y
        ));
    }

    fn draw_line(&mut self, from: Point, to: Point, _: &StyleAttr, _: Option<String>) {
        self.reaches(from.x.max(to.x), from.y.max(to.y));
        self.content.push_str(&format!(
            "<line x1=\"{:.0}\" y1=\"{:.0}\" x2=\"{:.0}\" y2=\"{:.0}\"/>\n",
            from.x, from.y, to.x, to.y
        ));
    }

    fn draw_circle(&mut self, xy: Point, size: Point, _: &StyleAttr, _: Option<String>) {
        self.reaches(xy.x + size.x / 2.0, xy.y + size.y / 2.0);
        self.content.push_str(&format!(
            "<ellipse cx=\"{:.0}\" cy=\"{:.0}\" rx=\"{:.0}\" ry=\"{:.0}\"/>\n",
            xy.x,
            xy.y,
            size.x / 2.0,
            size.y / 2.0
        ));
    }

    /// Lines around a point: the second one, the name, stands out.
    fn draw_text(&mut self, xy: Point, text: &str, _: &StyleAttr) {
        let count = text.lines().count() as f64;
        let first = xy.y - (count - 1.0) * LINE / 2.0;
        for (at, line) in text.lines().enumerate() {
            let class = if at == 1 { " class=\"name\"" } else { "" };
            let (x, y) = (xy.x, first + at as f64 * LINE);
            let line = escaped(line);
            self.content.push_str(&format!(
                "<text{class} x=\"{x:.0}\" y=\"{y:.0}\">{line}</text>\n"
            ));
        }
    }

    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        _: bool,
        head: (bool, bool),
        _: &StyleAttr,
        properties: Option<String>,
        _: &str,
    ) {
        let [(start, leaving), (entering, end), rest @ ..] = path else {
            return;
        };
        let mut line = format!(
            "M {:.0} {:.0} C {:.0} {:.0}, {:.0} {:.0}, {:.0} {:.0}",
            start.x, start.y, leaving.x, leaving.y, entering.x, entering.y, end.x, end.y
        );
        for (entering, end) in rest {
            line.push_str(&format!(
                " S {:.0} {:.0}, {:.0} {:.0}",
                entering.x, entering.y, end.x, end.y
            ));
        }
        for (one, other) in path {
            self.reaches(one.x.max(other.x), one.y.max(other.y));
        }
        let class = properties.unwrap_or_default();
        let marker = |is_there: bool, name: &str| match is_there {
            true => format!(" marker-{name}=\"url(#arrow)\""),
            false => String::new(),
        };
        let (from, to) = (marker(head.0, "start"), marker(head.1, "end"));
        self.content.push_str(&format!(
            "<path class=\"{class}\" d=\"{line}\"{from}{to}/>\n"
        ));
    }

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}

/// Text within an element.
pub fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
