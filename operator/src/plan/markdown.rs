//! A plan as Markdown, for a comment on a pull request.

use super::resource::{Action, Plan, Property, Resource};
use super::text::{left_out_value, tree, values, verdict};

/// The whole plan: the summary, a table, and the properties of each resource folded away.
pub fn markdown(plan: &Plan) -> String {
    let mut text = format!("### {}\n", plan.summary());
    if plan.offline {
        text.push_str("\nAzure was not asked.\n");
    }
    let positions = tree(plan);
    let shown: Vec<_> = positions
        .iter()
        .filter(|(_, position)| plan.resources[*position].action != Action::Unchanged)
        .collect();
    if !shown.is_empty() {
        text.push_str("\n| | resource | what happens | |\n|---|---|---|---|\n");
    }
    for (depth, position) in &shown {
        let one = &plan.resources[*position];
        let indent = "&nbsp;&nbsp;".repeat(*depth);
        let message = one.message.as_deref().unwrap_or_default();
        text.push_str(&format!(
            "| {} | {indent}{} | {} | {} |\n",
            position + 1,
            cell(&one.name.to_string()),
            cell(&verdict(one)),
            cell(message),
        ));
    }
    for (_, position) in &shown {
        details(&mut text, &plan.resources[*position]);
        left_out(&mut text, &plan.resources[*position]);
    }
    if !plan.problems.is_empty() {
        text.push_str("\n**Problems**\n\n");
        for problem in &plan.problems {
            text.push_str(&format!("- {}\n", cell(problem)));
        }
    }
    if !plan.notes.is_empty() {
        text.push_str("\n**Notes**\n\n");
        for note in &plan.notes {
            text.push_str(&format!("- {}\n", cell(note)));
        }
    }
    text
}

fn details(text: &mut String, one: &Resource) {
    if one.properties.is_empty() {
        return;
    }
    let (count, name) = (one.properties.len(), &one.name);
    let noun = if count == 1 { "property" } else { "properties" };
    text.push_str(&format!(
        "\n<details><summary>{name}: {count} {noun}</summary>\n\n```diff\n"
    ));
    for property in &one.properties {
        let mark = mark(property);
        text.push_str(&format!("{mark} {}: {}\n", property.path, values(property)));
    }
    text.push_str("```\n\n</details>\n");
}

fn left_out(text: &mut String, one: &Resource) {
    let Some((said, left_out)) = one.told_left_out() else {
        return;
    };
    let (count, name) = (left_out.len(), &one.name);
    let noun = if count == 1 { "value" } else { "values" };
    text.push_str(&format!(
        "\n<details><summary>{name}: {count} {noun} left out</summary>\n\n{said}\n\n```text\n"
    ));
    for one in left_out {
        text.push_str(&format!("{}: {}\n", one.path, left_out_value(one)));
    }
    text.push_str("```\n\n</details>\n");
}

/// What colours a line of a diff.
fn mark(property: &Property) -> char {
    match (property.hidden, &property.old, &property.new) {
        (false, None, Some(_)) => '+',
        (false, Some(_), None) => '-',
        _ => '!',
    }
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
