//! How long whoever changes a line waits for the next operator: the development build after a file was touched, and the
//! one with optimisations that `cargo xtask dev --release` runs.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use anyhow::Context as _;
use serde::Deserialize;
use wait4::Wait4;

use super::Context;
use super::figure::{Figure, Unit};
use crate::programs::Profile;
use crate::workspace;

/// What people wait for at most, in seconds, on two cores.
const BAR: f64 = 15.0;

/// What they wait for at most where they want optimisations, in seconds.
const OPTIMISED_BAR: f64 = 60.0;

/// A file that people change, and what it is called in the result.
struct Place {
    name: &'static str,
    file: &'static str,
    bar: Option<f64>,
}

const PLACES: [Place; 3] = [
    Place {
        name: "after a decision",
        file: "runtime/reconcile/src/decide/mod.rs",
        bar: Some(BAR),
    },
    Place {
        name: "after a customization",
        file: "customizations/src/network/private_endpoint.rs",
        bar: Some(BAR),
    },
    Place {
        name: "after the ARM client",
        file: "runtime/azure/src/client.rs",
        bar: None,
    },
];

/// The lines of `--message-format=json` that matter here.
#[derive(Deserialize)]
struct Artifact {
    manifest_path: Option<String>,
    #[serde(default = "yes")]
    fresh: bool,
}

fn yes() -> bool {
    true
}

/// Builds after each of the places was touched.
///
/// # Errors
/// When a place is not there, or the build fails.
pub fn figures(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let root = context.root.as_std_path();
    let mut figures = Vec::new();
    let mut generated = Vec::new();
    for profile in [Profile::Dev, Profile::Release] {
        build(root, profile)?;
        for place in PLACES {
            let (mut walls, mut cpus) = (Vec::new(), Vec::new());
            for _ in 0..context.runs {
                touch(&root.join(place.file))?;
                let built = build(root, profile)?;
                walls.push(built.wall);
                cpus.push(built.cpu);
                generated.push(built.generated);
            }
            let (name, bar) = if profile == Profile::Release {
                (format!("{}, optimised", place.name), Some(OPTIMISED_BAR))
            } else {
                (place.name.to_owned(), place.bar)
            };
            figures.push(Figure::new(name.clone(), Unit::Seconds, walls).at_most(bar));
            figures.push(Figure::new(format!("{name}, cpu"), Unit::Seconds, cpus));
        }
    }
    let name = "generated crates that were built again";
    figures.push(Figure::new(name, Unit::Count, generated).at_most(Some(0.0)));
    Ok(figures)
}

/// One build.
struct Built {
    wall: f64,
    cpu: f64,
    /// Generated crates that cargo did not find fresh.
    generated: f64,
}

fn build(root: &Path, profile: Profile) -> anyhow::Result<Built> {
    let started = Instant::now();
    let mut child = Command::new(workspace::cargo())
        .args([
            "build",
            "--package",
            "armature",
            "--message-format=json-render-diagnostics",
        ])
        .args(["--profile", profile.name()])
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run cargo build")?;
    let output = child.stdout.take().context("cargo has no output")?;
    let messages = std::io::read_to_string(output).context("cannot read what cargo says")?;
    let used = child.wait4().context("cannot wait for cargo build")?;
    anyhow::ensure!(used.status.success(), "cargo build failed, see above");
    Ok(Built {
        wall: started.elapsed().as_secs_f64(),
        cpu: (used.rusage.utime + used.rusage.stime).as_secs_f64(),
        generated: generated_again(&messages, root) as f64,
    })
}

fn generated_again(messages: &str, root: &Path) -> usize {
    let folder = root.join("generated");
    let artifacts = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
    let again = artifacts.filter(|artifact| {
        let manifest = artifact.manifest_path.as_deref().map(Path::new);
        !artifact.fresh && manifest.is_some_and(|manifest| manifest.starts_with(&folder))
    });
    again.count()
}

/// Makes a file look changed, as an editor does that saves it.
fn touch(file: &Path) -> anyhow::Result<()> {
    let opened = File::options().append(true).open(file);
    opened
        .and_then(|opened| opened.set_modified(SystemTime::now()))
        .with_context(|| {
            format!(
                "cannot touch {}; name the file that is meant in bench/rebuild.rs",
                file.display()
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_below_generated_that_are_not_fresh_count() {
        let messages = r#"{"reason":"compiler-artifact","manifest_path":"/w/generated/kusto/Cargo.toml","fresh":false}
{"reason":"compiler-artifact","manifest_path":"/w/generated/storage/Cargo.toml","fresh":true}
{"reason":"compiler-artifact","manifest_path":"/w/operator/Cargo.toml","fresh":false}
{"reason":"build-finished","success":true}"#;
        assert_eq!(generated_again(messages, Path::new("/w")), 1);
    }

    #[test]
    fn the_places_are_there() {
        let root = workspace::root().expect("a workspace");
        for place in PLACES {
            assert!(root.join(place.file).is_file(), "{}", place.file);
        }
    }
}
