//! Trees, reasons and tables for a terminal.

use super::node::Node;
use super::relations::{Branch, Needed};
use super::why::Why;

/// Things in a tree, each with what it needs and what a check says of it.
pub fn tree(branches: &[Branch<'_>]) -> String {
    let mut text = String::new();
    for Branch { depth, node, needs } in branches {
        let indent = "    ".repeat(*depth);
        text.push_str(&format!("{indent}{}: {}\n", node.title(), node.state()));
        if let Some(said) = node.said_by_check() {
            text.push_str(&format!("{indent}  - check: {said}\n"));
        }
        for Needed { need, of } in needs {
            let (word, title, state) = (need.word(), of.title(), of.state());
            text.push_str(&format!("{indent}  - {word} {title}: {state}\n"));
        }
    }
    text
}

/// Why an object is not ready.
pub fn why(why: &Why) -> String {
    let mut text = format!("{}: {}\n", why.object.title(), why.object.state());
    if let Some(cause) = &why.cause {
        let node = &cause.of;
        text.push_str(&format!("\nThe cause: {} {}\n", node.title(), verb(node)));
        if !node.ready.message.is_empty() {
            text.push_str(&format!("    {}\n", node.ready.message));
        }
        text.push_str(&format!("What to do: {}\n", cause.advice));
    }
    if !why.chain.is_empty() {
        text.push_str("\nWhat it needs:\n");
    }
    for link in &why.chain {
        let indent = "    ".repeat(link.depth);
        let (need, node) = (link.need.word(), &link.of);
        text.push_str(&format!(
            "{indent}{need} {}: {}\n",
            node.title(),
            node.state()
        ));
    }
    if !why.azure_owned.is_empty() {
        text.push_str(
            "\nWhat Azure moves by itself, and is left alone (armature plan shows both values):\n",
        );
    }
    for rule in &why.azure_owned {
        text.push_str(&format!("    {rule}\n"));
    }
    text
}

fn verb(node: &Node) -> String {
    match node.state() {
        state if state.starts_with("does") || state.starts_with("exists") => state,
        state => format!("is {state}"),
    }
}

/// A table of objects.
pub fn status(nodes: &[&Node]) -> String {
    let head = ["NAMESPACE", "KIND", "NAME", "READY", "REASON"].map(str::to_owned);
    let mut rows = vec![head];
    for node in nodes {
        let ready = if node.ready.status.is_empty() {
            "-"
        } else {
            &node.ready.status
        };
        rows.push([
            node.namespace.clone(),
            node.kind.clone(),
            node.name.clone(),
            ready.to_owned(),
            node.ready.reason.clone(),
        ]);
    }
    crate::explain::text::table(&rows)
}

/// A line for each object that has changed, and for each that is gone, in the columns of [`status`].
pub fn status_changes(changed: &[&Node], gone: &[&Node]) -> String {
    let row = |node: &Node, ready: &str, reason: &str| {
        [&node.namespace, &node.kind, &node.name, ready, reason].map(str::to_owned)
    };
    let changed = changed.iter().map(|node| match &node.ready {
        ready if ready.status.is_empty() => row(node, "-", ""),
        ready => row(node, &ready.status, &ready.reason),
    });
    let gone = gone.iter().map(|node| row(node, "-", "deleted"));
    let rows: Vec<[String; 5]> = changed.chain(gone).collect();
    crate::explain::text::table(&rows)
}

/// One line about all objects.
pub fn summary(nodes: &[&Node]) -> String {
    let ready = nodes.iter().filter(|node| node.is_fine()).count();
    format!("{ready} of {} ready", nodes.len())
}
