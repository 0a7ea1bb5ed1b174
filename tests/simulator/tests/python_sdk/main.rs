//! Microsoft's SDK for Python drives the simulator: what it does not understand, the simulator does wrong.
//!
//! The packages of `requirements.txt` are installed from PyPI into a virtual environment in the user's cache folder,
//! once for each content of that file. Without Python, or with neither PyPI nor that folder, the test says that it skips.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use armature_controlplane::cache_root;
use armature_simulator::{OperationRule, Options, Settings, Simulator};

const PACKAGES: &str = include_str!("requirements.txt");
const PYTHON: &str = "python3";

/// Runs a command; why it failed otherwise.
fn run(command: &mut Command) -> Result<Output, String> {
    let output = command.output();
    let output = output.map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{said}", output.status))
}

/// Folder of the repository's tests in which this one stands.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python_sdk")
}

/// The interpreter that has the packages.
fn python() -> Result<PathBuf, String> {
    let version = run(Command::new(PYTHON).arg("--version"))?;
    let mut hasher = DefaultHasher::new();
    (PACKAGES, version.stdout).hash(&mut hasher);
    let root = cache_root().map_err(|error| error.to_string())?;
    let root = root.join("python");
    let place = root.join(format!("{:016x}", hasher.finish()));
    let python = place.join("bin").join(PYTHON);
    fs::create_dir_all(&root).map_err(|error| error.to_string())?;
    // Two test runs may start at once.
    let lock = File::create(root.join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    let finished = place.join("finished");
    if !finished.exists() {
        run(Command::new(PYTHON)
            .args(["-m", "venv", "--clear"])
            .arg(&place))?;
        let install = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "-r",
        ];
        run(Command::new(&python)
            .args(install)
            .arg(folder().join("requirements.txt")))?;
        File::create(finished).map_err(|error| error.to_string())?;
    }
    Ok(python)
}

#[tokio::test]
async fn microsofts_sdk_for_python_understands_the_simulator() {
    let python = match tokio::task::spawn_blocking(python).await.unwrap() {
        Ok(python) => python,
        Err(why) => {
            println!("skipped: the SDK for Python cannot be installed: {why}");
            return;
        }
    };
    let settings = Settings {
        operations: OperationRule {
            polls: Some(2),
            ..OperationRule::default()
        },
        ..Settings::default()
    };
    let (tenant, subscription) = (settings.tenant.clone(), settings.subscriptions[0].clone());
    let options = Options {
        settings,
        ..Options::new(armature_generated::KINDS)
    };
    let running = Simulator::start(options).await.unwrap();
    let ca = tempfile::tempdir().unwrap();
    let ca_file = ca.path().join("ca.pem");
    fs::write(&ca_file, running.ca_pem()).unwrap();
    let mut check = Command::new(python);
    check
        .arg(folder().join("check.py"))
        .args([running.endpoint(), &tenant, &subscription])
        .env("REQUESTS_CA_BUNDLE", ca_file);
    let checked = tokio::task::spawn_blocking(move || run(&mut check))
        .await
        .unwrap();
    match checked {
        Ok(output) => print!("{}", String::from_utf8_lossy(&output.stdout)),
        Err(why) => panic!("{why}"),
    }
    running.stop().await;
}
