//! What was found, for people.

use std::fmt::Write as _;

use super::finding::{Checked, Finding};

/// What a check has come to.
pub fn text(checked: &Checked) -> String {
    let mut text = String::new();
    let Checked {
        objects,
        secrets,
        findings,
        unseen,
        notes,
        ..
    } = checked;
    for finding in findings {
        one(&mut text, finding);
    }
    if !unseen.is_empty() {
        text.push_str("Not looked at to the end, because something is missing:\n\n");
        for finding in unseen {
            one(&mut text, finding);
        }
    }
    for note in notes {
        let _ = writeln!(text, "Note: {note}.");
    }
    let looked = format!(
        "{} and {} with credentials",
        counted(*objects, "object"),
        counted(*secrets, "Secret")
    );
    let is_whole = checked.problems.is_empty() && unseen.is_empty();
    let told = match (findings.len(), is_whole) {
        (0, true) => "nothing is refused by this release.".to_owned(),
        (0, false) => "nothing is refused of what could be looked at.".to_owned(),
        (1, _) => "one thing would be refused by this release.".to_owned(),
        (count, _) => format!("{count} things would be refused by this release."),
    };
    let _ = writeln!(text, "{looked}: {told}");
    text
}

fn one(text: &mut String, finding: &Finding) {
    let Finding {
        of,
        reason,
        path,
        message,
    } = finding;
    let place = path.as_ref().map(|path| format!(" at {path}"));
    let _ = writeln!(text, "{of}: {reason}{}", place.unwrap_or_default());
    let _ = writeln!(text, "    {message}\n");
}

fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
