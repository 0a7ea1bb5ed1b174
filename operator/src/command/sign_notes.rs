//! `armature sign-notes`: signs the notes of all objects that an operator manages, after which it believes none without a signature.

use std::process::ExitCode;

use anyhow::Context;
use armature_runtime::kubernetes::{NoteSigning, installed_crds};
use armature_runtime::resource::{Kind, Object};
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
  armature sign-notes --dry-run          Which objects have no signature, or one that does not fit; writes nothing
  armature sign-notes                    Sign the notes of all objects of all namespaces

What the operator notes in an object bears a signature, so that it is not taken for the operator's when somebody else wrote it.
Objects that are older than signatures are believed without one until this command has signed all of them, as they are: look at
--dry-run first. Each object is written once; nothing is sent to Azure. Restart the operator afterwards: it reads its keys when it
starts. The exit code is 1 when an object could not be signed; then it is as before.")]
pub struct SignNotesArguments {
    /// Show what would be signed, and write nothing.
    #[arg(long)]
    dry_run: bool,

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
    signed: Vec<String>,
    /// Objects that could not be, and why.
    failed: Vec<String>,
    /// From its next start on, the operator believes no object without a signature.
    all_signed: bool,
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
            Ok(match report.failed.is_empty() {
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
            for object in found.unsigned {
                self.sign(signing, object, &mut report).await;
            }
            if count > 0 && self.output == Form::Text && !self.dry_run {
                output::print(&format!("{}: {count} to sign\n", kind.kind))?;
            }
        }
        if !self.dry_run && report.failed.is_empty() {
            if !signing.demands_all() {
                signing.end().await?;
            }
            report.all_signed = true;
        }
        Ok(report)
    }

    async fn sign(&self, signing: &NoteSigning, object: Object, report: &mut Report) {
        let name = object.key().to_string();
        if self.dry_run {
            report.signed.push(name);
            return;
        }
        match signing.sign(object).await {
            Ok(true) => report.signed.push(name),
            Ok(false) => {}
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
    fn text(&self) -> String {
        let mut lines = Vec::new();
        let (count, before) = (self.signed.len(), self.signed_before);
        if self.dry_run {
            lines.extend(self.signed.iter().cloned());
            lines.push(format!("{count} to sign, {before} signed before"));
        } else {
            lines.push(format!("{count} signed, {before} signed before"));
        }
        lines.extend(self.failed.iter().map(|why| format!("not signed: {why}")));
        if self.all_signed {
            lines.push(
                "Restart the operator: from then on it believes no object without a signature."
                    .to_owned(),
            );
        }
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_to_do_is_told() {
        let objects = || vec!["StorageAccount team/a".to_owned()];
        for (report, expected) in [
            (
                Report {
                    dry_run: true,
                    signed_before: 2,
                    signed: objects(),
                    ..Report::default()
                },
                "StorageAccount team/a\n1 to sign, 2 signed before\n",
            ),
            (
                Report {
                    signed: objects(),
                    all_signed: true,
                    ..Report::default()
                },
                "1 signed, 0 signed before\nRestart the operator: from then on it believes no object without a signature.\n",
            ),
            (
                Report {
                    failed: vec!["why".to_owned()],
                    ..Report::default()
                },
                "0 signed, 0 signed before\nnot signed: why\n",
            ),
        ] {
            assert_eq!(report.text(), expected);
        }
    }
}
