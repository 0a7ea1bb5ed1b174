//! Kinds and properties for a terminal.

use armature_runtime::kind::KindInfo;
use serde_json::Value;

use super::find::newest;
use super::kind::{KindPage, owner};
use super::property::{Member, PropertyPage};

/// Length of a line of prose.
const LINE: usize = 100;

/// Widest first column of a table.
const WIDEST: usize = 48;

/// A list of kinds.
pub fn kinds(kinds: &[&'static KindInfo]) -> String {
    let mut rows = vec![["GROUP", "KIND", "NEWEST", "ARM TYPE", "OWNER"].map(str::to_owned)];
    for kind in kinds {
        let owner = owner(kind);
        let owner = owner.as_deref().and_then(|owner| owner.rsplit('/').next());
        rows.push([
            kind.group.to_owned(),
            kind.kind.to_owned(),
            newest(kind).map_or("", |version| version.name).to_owned(),
            kind.remote_type().to_owned(),
            owner.unwrap_or("-").to_owned(),
        ]);
    }
    table(&rows)
}

/// Rows with columns in line.
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// One kind.
pub fn kind(page: &KindPage) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("{name:<15} {value}\n"));
        }
    };
    line("KIND", &format!("{} ({})", page.kind, page.group));
    line("ARM TYPE", page.arm_type);
    line("SCOPE", page.scope);
    line("OWNER", page.owner.as_deref().unwrap_or("none"));
    line("NAME", &page.name);
    let versions: Vec<String> = page
        .versions
        .iter()
        .map(|version| match version.on_request {
            true => format!("{} (on request)", version.name),
            false => version.name.to_owned(),
        })
        .collect();
    line("VERSIONS", &versions.join(", "));
    line("STORED AS", page.stored_as);
    line("SECRETS", &page.secrets.join(", "));
    line("CONFIG MAPS", &page.config_maps.join(", "));
    line("CANNOT CHANGE", &page.cannot_change.join(", "));
    for (at, rule) in page.edits.iter().enumerate() {
        line(if at == 0 { "EDITS" } else { "" }, rule);
    }
    for (at, rule) in page.azure_owned.iter().enumerate() {
        line(if at == 0 { "AZURE MOVES" } else { "" }, rule);
    }
    if !page.can_be_deleted {
        line(
            "DELETE",
            "goes with its owner: Azure does not delete it by itself",
        );
    }
    text.push_str(&format!("\nSPEC in {}\n", page.version));
    text.push_str(&members(&page.spec));
    text
}

/// One property.
pub fn property(page: &PropertyPage) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("{name:<15} {value}\n"));
        }
    };
    line(
        "PROPERTY",
        &format!("{}.{} ({})", page.kind, page.path, page.group),
    );
    line("VERSION", page.version);
    line("TYPE", &page.ty);
    let others = if page.takes_others {
        ", or another"
    } else {
        ""
    };
    line("VALUES", &format!("{}{others}", page.values.join(", ")));
    let default = page.default.as_ref();
    line("DEFAULT", &default.map(shown).unwrap_or_default());
    line("RULES", &page.rules.join("; "));
    // Spec and status as a whole are neither left out nor sent.
    let is_part = page.path.contains('.');
    let required = if page.required { "yes" } else { "no" };
    line("REQUIRED", if is_part { required } else { "" });
    line("NOTES", &page.facts.join("; "));
    let arm_path = page.arm_path.as_deref();
    let unsent = "none: it is not sent to Azure as it is";
    line(
        "ARM PATH",
        arm_path.unwrap_or(if is_part { unsent } else { "" }),
    );
    let versions = match page.lacking.is_empty() {
        true => "all".to_owned(),
        false => page.versions.join(", "),
    };
    line("IN VERSIONS", &versions);
    line("NOT IN", &page.lacking.join(", "));
    if let Some(description) = &page.description {
        text.push_str(&format!("\nAZURE SAYS\n{}", wrapped(description)));
    }
    if !page.members.is_empty() {
        text.push_str("\nMEMBERS\n");
        text.push_str(&members(&page.members));
    }
    text
}

/// A value as people write it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// A text in lines of a terminal.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let is_full = |line: &String| line.chars().count() + 1 + word.chars().count() > LINE;
        if lines
            .last()
            .is_some_and(|line| !line.is_empty() && is_full(line))
        {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "  " } else { " " });
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

fn members(members: &[Member]) -> String {
    let names = members.iter().map(|member| member.name.chars().count());
    let width = names.max().unwrap_or(0).min(WIDEST);
    let mut text = String::new();
    for member in members {
        let required = if member.required { ", required" } else { "" };
        text.push_str(&format!(
            "  {:<width$}  {}{required}\n",
            member.name, member.ty
        ));
    }
    text
}
