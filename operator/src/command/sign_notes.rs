//! `armature sign-notes`: signs the notes of all objects that an operator manages, after which it believes none without a signature.

use std::process::ExitCode;

use anyhow::Context;
use armature_runtime::kubernetes::{Cause, Lacking, NoteSigning, Signed, installed_crds};
use armature_runtime::resource::Kind;
use armature_runtime::{engine::crd::name, kind::KindInfo};
use clap::Args;
use kube::Client;
use serde::Serialize;

use super::cluster::ClusterArguments;
use super::form::Form;
use super::output;
use super::relations::run;

/// Arguments of `armature sign-notes`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature sign-notes --dry-run          Which objects have no signature of the key, and why; writes nothing
  armature sign-notes                    Sign the notes of all objects of all namespaces
  armature sign-notes --vouch            Those that somebody else may have written as well

What the operator notes in an object bears a signature, so that it is not taken for the operator's when somebody else wrote it.
Objects that are older than signatures are believed without one until this command has signed all of them, as they are: look at
--dry-run first. Those whose signature does not fit, and newer ones without any, are left out: the operator takes them over as from
another operator where it can, or says in their conditions what it waits for. After a key was lost, a restore from a backup or a
rollback, --vouch signs them as they are. Each object is written once; nothing is sent to Azure. The operator knows within a minute.
The exit code is 1 when an object could not be signed, or one was left out that is still believed; then it is as before.")]
pub struct SignNotesArguments {
    /// Show what would be signed, and write nothing.
    #[arg(long)]
    dry_run: bool,

    /// Sign notes that somebody else may have written, too: what they say is right.
    #[arg(long)]
    vouch: bool,

    /// Form of the output.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,

    /// Namespace of the operator, which has the keys.
    #[arg(
        long,
        env = "POD_NAMESPACE",
        default_value = "armature-system",
        value_name = "NAME"
    )]
    operator_namespace: String,

    #[command(flatten)]
    way: ClusterArguments,
}

/// What became of the objects.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// Nothing was written.
    dry_run: bool,
    /// Objects that had a signature of the current key.
    signed_before: usize,
    /// Objects that were signed, or would be.
    signed: Vec<Line>,
    /// Objects that nobody vouches for.
    left_out: Vec<Line>,
    /// Objects that could not be, and why.
    failed: Vec<String>,
    /// Within a minute, the operator believes no object without a signature.
    all_signed: bool,
}

/// An object, and why it has no signature of the current key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    object: String,
    cause: &'static str,
    /// The operator believes its notes for as long as it believes any without a signature.
    is_believed: bool,
}

/// The causes, as programs read them and as people do.
const CAUSES: [(Cause, &str, &str); 4] = [
    (
        Cause::Missing,
        "missing",
        "without a signature, older than signatures",
    ),
    (
        Cause::PreviousKey,
        "previousKey",
        "signed by the key before",
    ),
    (
        Cause::MissingThoughDue,
        "missingThoughDue",
        "without a signature, though they should have one",
    ),
    (
        Cause::DoesNotFit,
        "doesNotFit",
        "with a signature that does not fit",
    ),
];

impl Line {
    fn of(lacking: &Lacking) -> Self {
        let mut rows = CAUSES.iter();
        let row = rows.find(|(cause, ..)| *cause == lacking.cause);
        Self {
            object: lacking.object.key().to_string(),
            cause: row.map_or("", |(_, word, _)| word),
            is_believed: lacking.is_believed,
        }
    }
}

impl SignNotesArguments {
    /// Signs what has no signature that fits, and says what became of it.
    ///
    /// # Errors
    /// When the cluster cannot be read, or has no such operator.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        run(async {
            anyhow::ensure!(
                self.way.namespace().is_none(),
                "the objects of all namespaces are signed, or the operator could not tell which have to be: leave --namespace out"
            );
            let config = self.way.config().await?;
            let client = self.way.connect(config)?;
            let operator = &self.operator_namespace;
            let signing = NoteSigning::open(client.clone(), operator).await?;
            let signing = signing.with_context(|| {
                format!(
                    "there is no Secret armature-digest-key in namespace {operator}: the operator makes it when it manages its \
                     first object; --operator-namespace says where the operator is"
                )
            })?;
            let report = self.sign_all(&client, &signing).await?;
            output::print(&self.output.of(&report, || report.text())?)?;
            Ok(match report.is_complete() || self.dry_run {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            })
        })
    }

    async fn sign_all(&self, client: &Client, signing: &NoteSigning) -> anyhow::Result<Report> {
        let mut report = Report {
            dry_run: self.dry_run,
            ..Report::default()
        };
        for kind in installed(client).await? {
            let found = signing.unsigned(Kind(kind)).await?;
            let count = found.unsigned.len();
            report.signed_before += found.signed;
            for lacking in found.unsigned {
                self.sign(signing, lacking, &mut report).await;
            }
            if count > 0 && self.output == Form::Text && !self.dry_run {
                output::print(&format!(
                    "{}: {count} without a signature of the key\n",
                    kind.kind
                ))?;
            }
        }
        if !self.dry_run && report.is_complete() {
            if !signing.demands_all() {
                signing.end().await?;
            }
            report.all_signed = true;
        }
        Ok(report)
    }

    async fn sign(&self, signing: &NoteSigning, lacking: Lacking, report: &mut Report) {
        let line = Line::of(&lacking);
        if lacking.cause.asks_to_vouch() && !self.vouch {
            report.left_out.push(line);
            return;
        }
        if self.dry_run {
            report.signed.push(line);
            return;
        }
        match signing.sign(lacking.object, self.vouch).await {
            Ok(Signed::Now) => report.signed.push(line),
            Ok(Signed::LeftOut) => report.left_out.push(line),
            Ok(Signed::Gone) => {}
            Err(error) => report.failed.push(error.to_string()),
        }
    }
}

/// The kinds whose CRDs the cluster has.
async fn installed(client: &Client) -> anyhow::Result<Vec<&'static KindInfo>> {
    let installed = installed_crds(client).await?;
    let kinds = armature_generated::KINDS.iter().copied();
    let is_there = |kind: &&KindInfo| {
        let name = name(kind);
        let mut names = installed.iter().map(|crd| crd.metadata.name.as_deref());
        names.any(|found| found == Some(&name))
    };
    Ok(kinds.filter(is_there).collect())
}

impl Report {
    /// Whether no object is believed without a signature any more, or need not be.
    fn is_complete(&self) -> bool {
        self.failed.is_empty() && !self.left_out.iter().any(|line| line.is_believed)
    }

    fn text(&self) -> String {
        let mut lines = Vec::new();
        for (_, word, text) in CAUSES {
            let of_cause = |line: &&Line| line.cause == word;
            let signed = self.signed.iter().filter(|_| self.dry_run);
            let found: Vec<&Line> = signed.chain(&self.left_out).filter(of_cause).collect();
            if !found.is_empty() {
                lines.push(format!("{text}:"));
                lines.extend(found.iter().map(|line| format!("  {}", line.object)));
            }
        }
        let (count, left, before) = (self.signed.len(), self.left_out.len(), self.signed_before);
        let done = match self.dry_run {
            true => "to sign",
            false => "signed",
        };
        lines.push(format!(
            "{count} {done}, {left} left out, {before} signed before"
        ));
        lines.extend(self.failed.iter().map(|why| format!("not signed: {why}")));
        if left > 0 {
            lines.push(
                "Somebody else may have written the notes of those that are left out: --vouch signs them as they are."
                    .to_owned(),
            );
        }
        if self.all_signed {
            lines.push(
                "Within a minute the operator believes no object without a signature.".to_owned(),
            );
        } else if !self.dry_run {
            lines.push(
                "Objects that are older than signatures are still believed without one.".to_owned(),
            );
        }
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(object: &str, cause: &'static str, is_believed: bool) -> Line {
        Line {
            object: object.to_owned(),
            cause,
            is_believed,
        }
    }

    #[test]
    fn what_there_is_to_do_is_told_by_cause() {
        let report = Report {
            dry_run: true,
            signed_before: 2,
            signed: vec![
                line("Vault team/b", "previousKey", true),
                line("Vault team/a", "missing", true),
            ],
            left_out: vec![
                line("Vault team/d", "doesNotFit", true),
                line("Vault team/c", "missingThoughDue", false),
            ],
            ..Report::default()
        };
        assert_eq!(
            report.text(),
            "without a signature, older than signatures:\n  Vault team/a\n\
             signed by the key before:\n  Vault team/b\n\
             without a signature, though they should have one:\n  Vault team/c\n\
             with a signature that does not fit:\n  Vault team/d\n\
             2 to sign, 2 left out, 2 signed before\n\
             Somebody else may have written the notes of those that are left out: --vouch signs them as they are.\n"
        );
    }

    #[test]
    fn what_was_done_is_told() {
        let signed = || vec![line("Vault team/a", "missing", true)];
        for (report, expected) in [
            (
                Report {
                    signed: signed(),
                    all_signed: true,
                    ..Report::default()
                },
                "1 signed, 0 left out, 0 signed before\n\
                 Within a minute the operator believes no object without a signature.\n",
            ),
            (
                Report {
                    failed: vec!["why".to_owned()],
                    ..Report::default()
                },
                "0 signed, 0 left out, 0 signed before\nnot signed: why\n\
                 Objects that are older than signatures are still believed without one.\n",
            ),
        ] {
            assert_eq!(report.text(), expected);
        }
    }

    /// To end the time in which they are believed would have them all taken over, after a lost key for instance.
    #[test]
    fn the_time_does_not_end_for_what_is_left_out_and_still_believed() {
        for (left_out, expected) in [
            (vec![], true),
            (vec![line("Vault team/a", "missingThoughDue", false)], true),
            (vec![line("Vault team/a", "doesNotFit", false)], true),
            (vec![line("Vault team/a", "doesNotFit", true)], false),
        ] {
            let report = Report {
                left_out,
                ..Report::default()
            };
            assert_eq!(report.is_complete(), expected, "{report:?}");
        }
    }
}
