//! A check and the steps of a takeover, for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::check::{Check, Row};
use super::settings::{Setting, Settings};
use super::steps::{State, Step, Task};
use crate::explain::text as explain;

/// What a check has come to.
pub fn check(check: &Check) -> String {
    let mut text = String::new();
    for workload in &check.former {
        line(
            &mut text,
            "operator",
            &format!(
                "{}/{}, {} pods wanted",
                workload.namespace, workload.name, workload.replicas
            ),
        );
    }
    for settings in &check.settings {
        of_identity(&mut text, settings);
    }
    line(
        &mut text,
        "CRDs",
        &format!(
            "{} of kinds that Armature has; it adds a status that says when nobody has looked at an object",
            check.crds
        ),
    );
    line(&mut text, "objects", &check.objects.len().to_string());
    of_objects(&mut text, check);
    let writes = check
        .objects
        .iter()
        .filter(|row| row.action.changes_azure())
        .count();
    let asked = match check.offline {
        true => "Azure was not asked".to_owned(),
        false => format!(
            "{writes} writes to Azure; {} reads were sent for that",
            check.requests
        ),
    };
    line(&mut text, "Azure", &asked);
    for settings in check.settings.iter().filter(|it| !it.settings.is_empty()) {
        let _ = writeln!(text, "\nSettings of {}:", settings.deployment);
        text.push_str(&settings_table(&settings.settings));
    }
    if !check.objects.is_empty() {
        text.push('\n');
        text.push_str(&table(&check.objects));
    }
    text.push('\n');
    if check.exceptions.is_empty() {
        text.push_str("Nothing stands against a takeover.\n");
        return text;
    }
    let _ = match check.exceptions.len() {
        1 => writeln!(text, "One exception:"),
        count => writeln!(text, "{count} exceptions:"),
    };
    for exception in &check.exceptions {
        let _ = writeln!(text, "  {}: {}", exception.of, exception.message);
    }
    text
}

/// The service account, and how workload identity is set up with it.
fn of_identity(text: &mut String, settings: &Settings) {
    let told = settings.workload_identity.iter();
    let told: Vec<String> = told
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let account = match told.is_empty() {
        true => settings.service_account.clone(),
        false => format!(
            "{}, the subject of federated credentials ({})",
            settings.service_account,
            told.join(", ")
        ),
    };
    line(text, "account", &account);
    if !settings.bindings.is_empty() {
        let rights = format!(
            "{}: the account keeps what they give; delete them after the takeover",
            settings.bindings.join(", ")
        );
        line(text, "rights", &rights);
    }
}

/// A line for each setting.
fn settings_table(settings: &[Setting]) -> String {
    let mut lines = vec![["SETTING", "VALUE", "FROM", "HERE"].map(str::to_owned)];
    lines.extend(settings.iter().map(|setting| {
        [
            &setting.name,
            &setting.value,
            &setting.source,
            &setting.here,
        ]
        .map(Clone::clone)
    }));
    explain::table(&lines)
}

/// A name, and what an object has under it.
type Column = (&'static str, fn(&Row) -> String);

/// How many objects are of which version, credential and policy, and what becomes of them.
fn of_objects(text: &mut String, check: &Check) {
    let columns: [Column; 4] = [
        ("versions", |row| {
            format!("{} {}", row.name.kind, row.version)
        }),
        ("credentials", |row| row.credential.clone()),
        ("policies", |row| row.policy.clone()),
        ("first passes", |row| {
            format!("{:?}", row.action).to_lowercase()
        }),
    ];
    for (name, of) in columns {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for row in &check.objects {
            *counts.entry(of(row)).or_default() += 1;
        }
        let counts = counts
            .into_iter()
            .map(|(word, count)| format!("{word} ({count})"));
        let counts: Vec<String> = counts.collect();
        if !counts.is_empty() {
            line(text, name, &counts.join(", "));
        }
    }
}

/// A line for each object.
fn table(rows: &[Row]) -> String {
    let head = [
        "NAMESPACE",
        "KIND",
        "NAME",
        "VERSION",
        "CREDENTIAL",
        "POLICY",
        "READY",
        "FIRST PASS",
    ];
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(rows.iter().map(|row| {
        let name = &row.name;
        let ready = if row.ready { "yes" } else { "no" };
        [
            &name.namespace,
            &name.kind,
            &name.name,
            &row.version,
            &row.credential,
            &row.policy,
            ready,
            row.action.word(),
        ]
        .map(str::to_owned)
    }));
    explain::table(&lines)
}

fn line(text: &mut String, name: &str, value: &str) {
    // Writing into a String cannot fail.
    let _ = writeln!(text, "{name:<13} {value}");
}

/// The steps, and what comes next.
pub fn steps(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        let _ = writeln!(text, "{}", one(step));
    }
    text
}

/// What to say of steps that were only shown; nothing where all are done.
pub fn undone(steps: &[Step]) -> Option<&'static str> {
    let next = steps.iter().find(|step| step.state != State::Done)?;
    Some(match next.state {
        State::ByHand(_) => {
            "\nNothing was changed. What is to be done by hand comes first; --yes does nothing before.\n"
        }
        _ => "\nNothing was changed. --yes does it.\n",
    })
}

/// One step.
pub fn one(step: &Step) -> String {
    match &step.state {
        State::Done => format!("[x] {}", step.name),
        State::Open(task) => format!("[ ] {}\n      to do: {}", step.name, done_by(task)),
        State::Waiting(what) => format!("[ ] {}\n      waits until {what}", step.name),
        State::ByHand(what) => format!("[ ] {}\n      by hand: {what}", step.name),
    }
}

/// What doing a task means.
pub fn done_by(task: &Task) -> String {
    match task {
        Task::KeepRecord => "write that ConfigMap".to_owned(),
        Task::Stop(it) => format!(
            "scale Deployment {}/{} from {} to 0",
            it.namespace, it.name, it.replicas
        ),
        Task::Start(it) => format!(
            "scale Deployment {}/{} to {}",
            it.namespace,
            it.name,
            it.before.unwrap_or(1)
        ),
        Task::RemoveAdmission => "delete them".to_owned(),
        Task::RestoreAdmission => "create them as they were".to_owned(),
        Task::TakeOutStatus(names) => {
            format!("take the default of the status out of {} CRDs", names.len())
        }
        Task::RestoreConversion(names) => {
            format!("point the conversion of {} CRDs at it", names.len())
        }
    }
}
