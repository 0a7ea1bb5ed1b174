//! A plan as Markdown, for a comment on a pull request.

use super::resource::{Action, Plan, Property, Resource};
use super::text::{left_alone_values, left_out_value, tree, values, verdict};

/// What a comment on GitHub may have, which is 65,536 characters, less some room for what others write around it.
const MOST: usize = 60_000;

/// What the problems and notes may have of it.
const MOST_PROBLEMS: usize = 15_000;

/// What the table may have of it.
const MOST_ROWS: usize = 30_000;

/// The whole plan: the summary, a table, and the properties of each resource folded away. A long one is cut so that it fits:
/// values that are left out go before properties, and these before rows of the table.
pub fn markdown(plan: &Plan) -> String {
    let mut text = format!("### {}\n", plan.summary());
    if plan.offline {
        text.push_str("\nAzure was not asked.\n");
    }
    let positions = tree(plan);
    let shown: Vec<(usize, usize)> = positions
        .into_iter()
        .filter(|(_, position)| plan.resources[*position].action != Action::Unchanged)
        .collect();
    let ends = ends(plan);
    table(&mut text, plan, &shown);
    let resources = || shown.iter().map(|(_, position)| &plan.resources[*position]);
    let mut room = MOST.saturating_sub(text.len() + ends.len());
    let mut take = |parts: Vec<String>| -> (Vec<String>, usize) {
        let total = parts.iter().filter(|part| !part.is_empty()).count();
        let fits = |part: &String| {
            let left = room.checked_sub(part.len());
            room = left.unwrap_or(0);
            left.is_some()
        };
        let taken: Vec<String> = parts.into_iter().take_while(fits).collect();
        let told = taken.iter().filter(|part| !part.is_empty()).count();
        (taken, total - told)
    };
    let (changes, more_changes) = take(resources().map(details).collect());
    let (kept, more_kept) = take(resources().map(left_out).collect());
    let (alone, more_alone) = take(resources().map(left_alone).collect());
    for position in 0..changes.len().max(kept.len()).max(alone.len()) {
        text.extend(changes.get(position).map(String::as_str));
        text.extend(kept.get(position).map(String::as_str));
        text.extend(alone.get(position).map(String::as_str));
    }
    for (count, what) in [
        (more_changes, "properties"),
        (more_kept, "values that a PUT leaves out"),
        (more_alone, "values that are left to Azure"),
    ] {
        if count > 0 {
            text.push_str(&format!(
                "\nand {what} of {count} more resources, which `-o text` and `-o json` tell\n"
            ));
        }
    }
    text + &ends
}

fn table(text: &mut String, plan: &Plan, shown: &[(usize, usize)]) {
    if !shown.is_empty() {
        text.push_str("\n| | resource | what happens | |\n|---|---|---|---|\n");
    }
    for (told, (depth, position)) in shown.iter().enumerate() {
        let one = &plan.resources[*position];
        let indent = "&nbsp;&nbsp;".repeat(*depth);
        let warnings = one.warnings.iter().map(|it| format!("warning: {it}"));
        let said: Vec<String> = one.message.iter().cloned().chain(warnings).collect();
        let row = format!(
            "| {} | {indent}{} | {} | {} |\n",
            position + 1,
            cell(&one.name.to_string()),
            cell(&verdict(one)),
            cell(&said.join("\n")),
        );
        if text.len() + row.len() > MOST_ROWS {
            let more = shown.len() - told;
            text.push_str(&format!(
                "\nand {more} more, which `-o text` and `-o json` tell\n"
            ));
            return;
        }
        text.push_str(&row);
    }
}

/// Problems and notes, which stand at the end.
fn ends(plan: &Plan) -> String {
    let mut text = String::new();
    for (title, told) in [("Problems", &plan.problems), ("Notes", &plan.notes)] {
        if !told.is_empty() {
            text.push_str(&format!("\n**{title}**\n\n"));
        }
        for (position, one) in told.iter().enumerate() {
            let line = format!("- {}\n", cell(one));
            if text.len() + line.len() > MOST_PROBLEMS {
                let more = told.len() - position;
                text.push_str(&format!("- and {more} more\n"));
                break;
            }
            text.push_str(&line);
        }
    }
    text
}

fn details(one: &Resource) -> String {
    if one.properties.is_empty() {
        return String::new();
    }
    let (count, name) = (one.properties.len(), &one.name);
    let noun = if count == 1 { "property" } else { "properties" };
    let mut text = format!("\n<details><summary>{name}: {count} {noun}</summary>\n\n```diff\n");
    for property in &one.properties {
        let mark = mark(property);
        text.push_str(&format!("{mark} {}: {}\n", property.path, values(property)));
    }
    text + "```\n\n</details>\n"
}

fn left_out(one: &Resource) -> String {
    let Some((said, left_out)) = one.told_left_out() else {
        return String::new();
    };
    let (count, name) = (left_out.len(), &one.name);
    let noun = if count == 1 { "value" } else { "values" };
    let mut text = format!(
        "\n<details><summary>{name}: {count} {noun} left out</summary>\n\n{said}\n\n```text\n"
    );
    for one in left_out {
        text.push_str(&format!("{}: {}\n", one.path, left_out_value(one)));
    }
    text + "```\n\n</details>\n"
}

fn left_alone(one: &Resource) -> String {
    if one.left_alone.is_empty() {
        return String::new();
    }
    let (count, name) = (one.left_alone.len(), &one.name);
    let noun = if count == 1 { "value" } else { "values" };
    let mut text =
        format!("\n<details><summary>{name}: {count} {noun} left to Azure</summary>\n\n```text\n");
    for one in &one.left_alone {
        text.push_str(&format!("{}: {}\n", one.path, left_alone_values(one)));
    }
    text + "```\n\n</details>\n"
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
    text.replace('|', "\\|").replace('\n', "<br>")
}
