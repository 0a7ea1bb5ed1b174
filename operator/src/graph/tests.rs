//! What is drawn of a few things and of many.

use armature_generated::KINDS;
use armature_runtime::kind::KindInfo;
use armature_runtime::resource::{Kind, Object};
use kube::core::ObjectMeta;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::*;

fn info(kind: &str) -> &'static KindInfo {
    let mut kinds = KINDS.iter();
    kinds.find(|info| info.kind == kind).expect("it is there")
}

fn object(kind: &str, name: &str, spec: Value, is_ready: bool) -> Object {
    let (status, reason) = match is_ready {
        true => ("True", "Succeeded"),
        false => ("False", "<Waiting>"),
    };
    let ready = json!({"type": "Ready", "status": status, "reason": reason, "message": "m"});
    Object {
        kind: Kind(info(kind)),
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some("n".to_owned()),
            ..ObjectMeta::default()
        },
        spec: to_raw_value(&spec).ok(),
        status: to_raw_value(&json!({"conditions": [ready]})).ok(),
    }
}

fn group(name: &str) -> Object {
    object("ResourceGroup", name, json!({"location": "x"}), true)
}

fn account(name: &str, group: &str, is_ready: bool) -> Object {
    object(
        "StorageAccount",
        name,
        json!({"owner": {"name": group}}),
        is_ready,
    )
}

fn graph(objects: &[Object]) -> Graph {
    Graph::new(&Relations::of(objects), Source::Cluster)
}

/// Titles of frames with the names in each.
fn shown(graph: &Graph) -> Vec<(&str, Vec<&str>)> {
    let frames = graph.frames.iter().enumerate();
    let names = |at| {
        graph
            .within(at)
            .map(|one| graph.vertices[one].lines[1].as_str())
    };
    frames
        .map(|(at, frame)| (frame.title.as_str(), names(at).collect()))
        .collect()
}

#[test]
fn a_frame_is_a_resource_group() {
    let blobs = json!({"owner": {"name": "a"}});
    let found = graph(&[
        group("one"),
        account("a", "one", true),
        object("StorageAccountsBlobService", "b", blobs, true),
        account("c", "two", false),
    ]);
    let expected = [
        ("ResourceGroup n/one ready", vec!["n/a", "n/b"]),
        ("ResourceGroup n/two does not exist", vec!["n/c"]),
    ];
    assert_eq!(shown(&found), expected);
    let owner = Edge {
        needed: 0,
        by: 1,
        need: Need::Owner,
    };
    assert_eq!(found.edges, [owner]);
    let states: Vec<State> = found.vertices.iter().map(|one| one.state).collect();
    assert_eq!(states, [State::Ready, State::Ready, State::Waiting]);
    assert_eq!(found.frames[1].state, State::Missing);
}

#[test]
fn what_is_in_no_resource_group_has_a_frame_of_its_own() {
    let found = graph(&[group("empty"), account("a", "one", true)]);
    let expected = [
        ("ResourceGroup n/one does not exist", vec!["n/a"]),
        ("in no resource group", vec!["n/empty"]),
    ];
    assert_eq!(shown(&found), expected);
}

#[test]
fn texts_cannot_break_out_of_a_graph() {
    let found = graph(&[group("one"), account("a", "one", false)]);
    assert!(svg::svg(&found).contains("not ready (&lt;Waiting&gt;)"));
    assert!(mermaid::mermaid(&found).contains("not ready (#lt;Waiting#gt;)"));
    let mut odd = found;
    odd.vertices[0].lines[1] = "a\"b\\".to_owned();
    assert!(dot::dot(&odd).contains("a\\\"b\\\\"));
}

/// Six groups of fifty: chains, fans, things that stand alone, and references between groups.
fn many() -> Vec<Object> {
    let mut objects = Vec::new();
    for at in 0..6 {
        objects.push(group(&format!("g{at}")));
        for one in 0..24 {
            let name = format!("a{at}x{one}");
            objects.push(account(&name, &format!("g{at}"), one % 5 > 0));
            let spec = json!({"owner": {"name": name}});
            objects.push(object("StorageAccountsBlobService", &name, spec, true));
        }
        let container = json!({"owner": {"name": format!("a{at}x0")}});
        objects.push(object(
            "StorageAccountsBlobServicesContainer",
            &format!("c{at}"),
            container,
            true,
        ));
    }
    objects
}

/// Width and height of a drawing.
fn size(svg: &str) -> (f64, f64) {
    let number = |name: &str| {
        let (_, rest) = svg.split_once(&format!(" {name}=\"")).expect("it is there");
        let (number, _) = rest.split_once('"').expect("it ends");
        number.parse::<f64>().expect("a number")
    };
    (number("width"), number("height"))
}

#[test]
fn three_hundred_resources_have_the_proportions_of_a_page() {
    let objects = many();
    assert_eq!(objects.len(), 300);
    let found = graph(&objects);
    assert_eq!(found.frames.len(), 6);
    let drawing = svg::svg(&found);
    let (width, height) = size(&drawing);
    assert!((0.5..4.0).contains(&(width / height)), "{width} x {height}");
    assert_eq!(drawing.matches("<rect").count(), 294 + 6);
    assert_eq!(drawing, svg::svg(&graph(&objects)), "the same again");
    for text in [dot::dot(&found), mermaid::mermaid(&found)] {
        assert_eq!(
            text.matches(" -> ").count() + text.matches(" --> ").count(),
            150
        );
    }
}

/// No box of a drawing lies over another one of its part.
#[test]
fn boxes_do_not_overlap() {
    let fan = (0..12).map(|at| {
        let spec = json!({"owner": {"name": "a"}});
        object("StorageAccountsBlobService", &format!("b{at}"), spec, true)
    });
    let objects: Vec<Object> = [group("one"), account("a", "one", true)]
        .into_iter()
        .chain(fan)
        .collect();
    let drawing = svg::svg(&graph(&objects));
    let number = |text: &str, name: &str| -> f64 {
        let (_, rest) = text
            .split_once(&format!(" {name}=\""))
            .expect("it is there");
        rest.split('"')
            .next()
            .and_then(|text| text.parse().ok())
            .expect("a number")
    };
    let boxes = drawing
        .lines()
        .filter(|line| line.starts_with("<rect class=\"ready\""));
    let boxes: Vec<[f64; 4]> = boxes
        .map(|line| ["x", "y", "width", "height"].map(|name| number(line, name)))
        .collect();
    assert_eq!(boxes.len(), 13);
    for (at, [x, y, width, height]) in boxes.iter().enumerate() {
        for [other_x, other_y, other_width, other_height] in &boxes[at + 1..] {
            let is_apart = x + width <= *other_x
                || other_x + other_width <= *x
                || y + height <= *other_y
                || other_y + other_height <= *y;
            assert!(is_apart, "{boxes:?}");
        }
    }
}
