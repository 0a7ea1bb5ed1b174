//! Arguments of Azure Service Operator: those of a Deployment of which the image alone was changed.

use std::ffi::{OsStr, OsString};

use clap::{Args, Command};

use super::run::RunArguments;
use crate::takeover::settings::FLAGS;

/// What is said to whoever calls this program as Azure Service Operator is called: without a command or as `run`, with flags that only the
/// other has; nothing to others. The words are those of a command line, of which the first is the program's name.
pub fn told(words: &[OsString]) -> Option<String> {
    let first = words.get(1)?.to_str()?;
    if first != "run" && !first.starts_with("--") {
        return None;
    }
    let ours = own_flags();
    let is_theirs = |name: &&str| {
        FLAGS.iter().any(|(flag, _)| flag == name) && !ours.iter().any(|own| own == name)
    };
    let flags = words[1..].iter().filter_map(|word| flag(word));
    let theirs: Vec<String> = flags
        .filter(is_theirs)
        .map(|flag| format!("--{flag}"))
        .collect();
    (!theirs.is_empty()).then(|| {
        format!(
            "called with arguments of Azure Service Operator, {}: its image was changed and nothing else. Nothing was read or written. Put \
             its image back and run `armature takeover check`; docs/image-only.md says what has to change with the image",
            theirs.join(", ")
        )
    })
}

/// The name of a long flag.
fn flag(word: &OsStr) -> Option<&str> {
    let flag = word.to_str()?.strip_prefix("--")?;
    Some(flag.split_once('=').map_or(flag, |(name, _)| name))
}

/// The flags of `run`.
fn own_flags() -> Vec<String> {
    let run = RunArguments::augment_args(Command::new("run"));
    run.get_arguments()
        .filter_map(|argument| argument.get_long().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let told = told(&words)?;
        let (_, rest) = told.split_once("Azure Service Operator, ").unwrap();
        Some(rest.split_once(": its image").unwrap().0.to_owned())
    }

    #[test]
    fn arguments_of_a_deployment_of_azure_service_operator_are_known() {
        for (line, expected) in [
            (
                "armature --metrics-addr=:8443 --secure-metrics=true --profiling-metrics=false --v=2",
                Some("--secure-metrics, --v"),
            ),
            // Without metrics, and without conversion.
            ("armature --health-addr=:8081 --v=2", Some("--v")),
            // Who has added the command, and left the rest.
            (
                "armature run --health-addr=:8081 --secure-metrics=true --webhook-cert-dir=/tmp/certs",
                Some("--secure-metrics, --webhook-cert-dir"),
            ),
            (
                "armature run --enable-leader-election --metrics-addr :8080 --verbose",
                None,
            ),
            // Who has forgotten the command, and whose flags are ours.
            ("armature --crd-pattern=*/* --namespace=a", None),
            ("armature run", None),
            ("armature", None),
            ("armature --version", None),
            ("armature plan --secure-metrics=true", None),
        ] {
            assert_eq!(shown(line).as_deref(), expected, "{line}");
        }
    }
}
