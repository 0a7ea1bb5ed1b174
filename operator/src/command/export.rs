//! `armature export operator`, and `armature export template` as asoctl has it: the installation as manifests (see [`crate::export`]).

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use armature_runtime::kubernetes::CrdPattern;
use clap::{Args, Subcommand, ValueEnum};

use super::crds::{Format, format};
use super::export_template::TemplateArguments;
use super::{names, output};
use crate::config::VersionChoice;
use crate::export::{IMAGE, Installation, NAMESPACE};

const EXAMPLES: &str = "\
Examples:
  armature export operator --crd-pattern 'resources.azure.com/*;storage.azure.com/*' | kubectl apply --server-side -f -
  armature export operator --subscription ID --tenant ID --client ID --workload-identity > armature.yaml
  armature export operator -n platform --image registry.example.com/armature:0.1.0

What comes out is what the chart makes of the same values, with the namespace before it. For everything else that can be set,
use the chart, or change the manifests.";

/// Arguments of `armature export`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature export operator --crd-pattern 'storage.azure.com/*'
  armature export template --raw                                The same for who is used to asoctl")]
pub struct ExportArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the installation of the operator as manifests; needs no helm and no cluster.
    Operator(OperatorArguments),
    /// The same with the flags that asoctl has for it.
    Template(TemplateArguments),
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
struct OperatorArguments {
    /// Namespace of the operator.
    #[arg(short, long, value_name = "NAME", default_value = NAMESPACE, value_parser = names::namespace)]
    namespace: String,

    /// Image of the operator, with a tag or digest.
    #[arg(long, value_name = "IMAGE", default_value = IMAGE, value_parser = names::image)]
    image: String,

    /// CRDs that the operator installs, beside those that are there: globs over group/Kind joined by ';'. Can be repeated.
    #[arg(long, value_name = "PATTERN")]
    crd_pattern: Vec<String>,

    /// API versions to serve of each kind.
    #[arg(long, value_enum, default_value_t = VersionChoice::All)]
    crd_versions: VersionChoice,

    /// Have the operator mark versions that Azure retires as deprecated in the CRDs.
    #[arg(long)]
    crd_deprecations: bool,

    /// Subscription of the operator's own credential.
    #[arg(long, value_name = "ID")]
    subscription: Option<String>,

    /// Tenant of its identity.
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,

    /// Client id of its identity.
    #[arg(long, value_name = "ID")]
    client: Option<String>,

    /// File with the secret of the client, - for standard input. It is in what comes out.
    #[arg(long, value_name = "FILE", conflicts_with = "workload_identity")]
    client_secret_file: Option<PathBuf>,

    /// The identity proves itself with the token of the service account.
    #[arg(long)]
    workload_identity: bool,

    /// Output format: several YAML documents, or one JSON List.
    #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
    output: Format,
}

impl ExportArguments {
    /// Prints manifests.
    ///
    /// # Errors
    /// When a pattern is none, or a file cannot be read.
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let (installation, form) = match &self.what {
            What::Operator(arguments) => (arguments.installation()?, arguments.output),
            What::Template(arguments) => (of_pattern(&arguments.patterns()?)?, Format::Yaml),
        };
        let manifests = installation
            .manifests(armature_generated::KINDS)
            .context("the manifests in this program cannot be read")?;
        output::print(&format(&manifests, form)?)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl OperatorArguments {
    fn installation(&self) -> anyhow::Result<Installation> {
        let installation = of_pattern(&self.crd_pattern)?;
        let versions = self.crd_versions.to_possible_value();
        let secret = self.client_secret_file.as_deref().map(secret).transpose()?;
        Ok(Installation {
            namespace: Some(self.namespace.clone()),
            image: Some(self.image.clone()),
            crd_versions: versions.map(|value| value.get_name().to_owned()),
            subscription: self.subscription.clone(),
            tenant: self.tenant.clone(),
            client: self.client.clone(),
            client_secret: secret,
            crd_deprecations: self.crd_deprecations,
            has_workload_identity: self.workload_identity,
            ..installation
        })
    }
}

/// The installation with nothing said but which CRDs there are to be.
fn of_pattern(patterns: &[String]) -> anyhow::Result<Installation> {
    let pattern = patterns.join(";");
    let parsed: CrdPattern = pattern.parse()?;
    if !parsed.is_empty() {
        // Told here rather than by a pod that does not start.
        parsed.select(armature_generated::KINDS)?;
    }
    Ok(Installation {
        crd_pattern: Some(pattern),
        ..Installation::default()
    })
}

/// A secret from a file, without the end of its line.
fn secret(path: &Path) -> anyhow::Result<String> {
    let text = match path == Path::new("-") {
        true => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map(|_| text)
        }
        false => std::fs::read_to_string(path),
    };
    let text = text.with_context(|| format!("cannot read the secret in {}", path.display()))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
