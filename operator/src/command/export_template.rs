//! `armature export template`, for who is used to `asoctl`, which fetches the manifests of a release of Azure Service Operator:
//! this program prints those of its own release, or says what does.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `armature export template`.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(after_help = "\
Examples:
  armature export template --crd-pattern 'storage.azure.com/*'     As armature export operator
  armature export template --raw                                   The same without a pattern

asoctl fetches the manifests of the release that --version or --source names. This program has those of its own release in it, and says
for another one what to do.")]
pub struct TemplateArguments {
    /// Release whose manifests are wanted; this program's own when left out.
    #[arg(short = 'v', long, value_name = "VERSION", conflicts_with = "source")]
    version: Option<String>,

    /// File or URL of a template, which this program does not read: it says what to use.
    #[arg(short, long, value_name = "FILE")]
    source: Option<PathBuf>,

    /// Print the manifests without a pattern.
    #[arg(long, conflicts_with = "crd_pattern")]
    raw: bool,

    /// CRDs that the operator installs, beside those that are there: globs over group/Kind joined by ';'. Can be repeated.
    #[arg(short = 'p', long, value_name = "PATTERN", value_delimiter = ',')]
    crd_pattern: Vec<String>,

    /// Nothing: there is nothing more to tell.
    #[arg(long, hide = true, conflicts_with = "quiet")]
    verbose: bool,

    /// Nothing: nothing is told beside the manifests.
    #[arg(long, hide = true)]
    quiet: bool,
}

impl TemplateArguments {
    /// The patterns of the manifests that are printed.
    ///
    /// # Errors
    /// A sentence with the command to use, where the manifests of something else are wanted.
    pub fn patterns(&self) -> anyhow::Result<Vec<String>> {
        if let Some(refused) = self.refusal(env!("CARGO_PKG_VERSION")) {
            anyhow::bail!(refused);
        }
        Ok(self.crd_pattern.clone())
    }

    /// Why nothing is printed, and what to use.
    fn refusal(&self, own: &str) -> Option<String> {
        let instead = match &self.crd_pattern[..] {
            [] => "armature export operator".to_owned(),
            patterns => format!(
                "armature export operator --crd-pattern '{}'",
                patterns.join(";")
            ),
        };
        if let Some(source) = &self.source {
            return Some(format!(
                "{} is not read: this program has the manifests of its own release {own} in it, which `{instead}` prints; change \
                 these, or use the chart, for an installation of your own",
                source.display()
            ));
        }
        match self.version.as_deref() {
            Some(version) if version.trim_start_matches('v') != own => Some(format!(
                "this program has the manifests of its own release {own} in it, and none of {version}: `{instead}` prints them; for \
                 another release of Armature use its program or chart, and for Azure Service Operator asoctl"
            )),
            None if !self.raw && self.crd_pattern.is_empty() => Some(
                "nothing says which CRDs to install: name them with --crd-pattern, such as 'storage.azure.com/*', or print the \
                 manifests without any with --raw"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        template: TemplateArguments,
    }

    fn template(line: &str) -> TemplateArguments {
        let words = std::iter::once("template").chain(line.split_whitespace());
        Line::try_parse_from(words).expect(line).template
    }

    #[test]
    fn what_asoctl_would_fetch_is_printed_or_told_where_it_is() {
        let pattern =
            "armature export operator --crd-pattern 'storage.azure.com/*;sql.azure.com/*'`";
        for (line, told) in [
            ("--raw", None),
            ("-v v1.2.3 --raw", None),
            ("--version 1.2.3 -p storage.azure.com/*", None),
            ("--crd-pattern storage.azure.com/* --quiet", None),
            ("", Some("name them with --crd-pattern")),
            (
                "--version v2.20.0 --raw",
                Some("none of v2.20.0: `armature export operator` prints them"),
            ),
            (
                "-v v2.20.0 -p storage.azure.com/* -p sql.azure.com/*",
                Some(pattern),
            ),
            (
                "-v v2.20.0 -p storage.azure.com/*,sql.azure.com/*",
                Some(pattern),
            ),
            ("-s aso.yaml --raw", Some("aso.yaml is not read")),
            (
                "--source https://example.com/aso.yaml -p storage.azure.com/*;sql.azure.com/*",
                Some(pattern),
            ),
        ] {
            let refusal = template(line).refusal("1.2.3");
            match (told, &refusal) {
                (None, None) => {}
                (Some(told), Some(refusal)) => assert!(refusal.contains(told), "{line}: {refusal}"),
                _ => panic!("{line}: {refusal:?}"),
            }
        }
    }
}
