//! The command line as people find it: names of the program, completions, pages of the manual, the installation, CRDs and the flags
//! for a cluster, as the pages in `docs/` show them; `ARMATURE_WRITE_DOCS=1` writes them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use std::path::Path;
use std::process::Output;

use armature_controlplane::waiting::{until_ended, until_ok};
use armature_controlplane::{ControlPlane, program};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_armature");

/// A folder with the links that the page makes.
fn links() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["armature", "kubectl-armature", "kubectl_complete-armature"] {
        std::os::unix::fs::symlink(program(PROGRAM), folder.path().join(name)).unwrap();
    }
    folder
}

/// Runs a line in a shell, the plugin as kubectl does.
async fn run(links: &TempDir, kubeconfig: &Path, line: &str) -> Output {
    Command::new("/bin/sh")
        .args(["-c", &line.replace("kubectl armature", "kubectl-armature")])
        .env_clear()
        .env("KUBECONFIG", kubeconfig)
        .env("PATH", format!("{}:/usr/bin:/bin", links.path().display()))
        .output()
        .await
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_show_what_is_printed() {
    let plane = ControlPlane::start(Default::default()).await.unwrap();
    let links = links();
    install(&plane, &["StorageAccount"]).await;
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for page in ["command-line.md", "crds.md", "export.md"] {
        let page = docs.join(page);
        let shown = std::fs::read_to_string(&page).unwrap();
        let printed = as_printed(&shown, &links, plane.kubeconfig()).await;
        if std::env::var_os("ARMATURE_WRITE_DOCS").is_some() {
            std::fs::write(&page, printed).unwrap();
        } else {
            assert_eq!(shown, printed, "ARMATURE_WRITE_DOCS=1 writes the page");
        }
    }
}

/// A page with what its lines print now.
async fn as_printed(shown: &str, links: &TempDir, kubeconfig: &Path) -> String {
    let begin = "```console\n$ ";
    let mut page = String::new();
    let mut rest = shown;
    while let Some((before, block)) = rest.split_once(begin) {
        let (line, block) = block.split_once('\n').unwrap();
        let (_, after) = format!("\n{block}")
            .split_once("\n```\n")
            .map(|(inner, after)| (inner.to_owned(), after.len()))
            .unwrap();
        let output = run(links, kubeconfig, line).await;
        let printed = text(&output.stdout) + &text(&output.stderr);
        page.push_str(&format!("{before}{begin}{line}\n{printed}```\n"));
        rest = &rest[rest.len() - after..];
    }
    page + rest
}

/// Installs the CRDs of kinds.
async fn install(plane: &ControlPlane, names: &[&str]) {
    use armature_runtime::engine::crd::{CrdOptions, custom_resource_definition};
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    use kube::api::{Api, PostParams};

    let crds: Api<CustomResourceDefinition> = Api::all(plane.client().await.unwrap());
    for kind in armature_generated::KINDS {
        let with_group = format!("{}/{}", kind.category, kind.kind);
        if names.contains(&kind.kind) || names.contains(&with_group.as_str()) {
            let crd = custom_resource_definition(kind, &CrdOptions::default());
            let crd = serde_json::from_value(crd).unwrap();
            crds.create(&PostParams::default(), &crd).await.unwrap();
            let name = format!("{}.{}", kind.plural, kind.group);
            until_ok(&format!("{name} to be served"), async || {
                let found = serde_json::to_value(crds.get(&name).await.unwrap()).unwrap();
                let conditions = found["status"]["conditions"].as_array();
                let is_served =
                    |one: &Value| one["type"] == "Established" && one["status"] == "True";
                match conditions.into_iter().flatten().any(is_served) {
                    true => Ok(()),
                    false => Err(format!("{found:#}")),
                }
            })
            .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_reached_as_the_flags_of_kubectl_say() {
    let plane = ControlPlane::start(Default::default()).await.unwrap();
    let links = links();
    let folder = tempfile::tempdir().unwrap();
    install(&plane, &["StorageAccount"]).await;

    // What the kubeconfig has inline, as files.
    let kubeconfig: Value =
        serde_saphyr::from_str(&std::fs::read_to_string(plane.kubeconfig()).unwrap()).unwrap();
    let file = |name: &str, pointer: &str| {
        let data = kubeconfig.pointer(pointer).and_then(Value::as_str).unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, STANDARD.decode(data).unwrap()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let ca = file("ca.pem", "/clusters/0/cluster/certificate-authority-data");
    let certificate = file("client.pem", "/users/0/user/client-certificate-data");
    let key = file("client.key", "/users/0/user/client-key-data");
    let (url, known) = (plane.url(), plane.kubeconfig().to_owned());
    let nowhere = folder.path().join("no-kubeconfig");
    let proof = format!("--client-certificate {certificate} --client-key {key}");
    let rows = [
        (&known, String::new(), true, ""),
        (
            &known,
            "--context armature --cluster armature --user admin".to_owned(),
            true,
            "",
        ),
        (&known, "--cluster another".to_owned(), false, "another"),
        (&known, "--as eve".to_owned(), false, "\"eve\" cannot list"),
        (
            &known,
            "--as eve --as-group system:masters".to_owned(),
            true,
            "",
        ),
        (
            &nowhere,
            format!("--kubeconfig {}", known.display()),
            true,
            "",
        ),
        (
            &nowhere,
            format!("--server {url} --certificate-authority {ca} {proof}"),
            true,
            "",
        ),
        (
            &nowhere,
            format!("-s {url} --insecure-skip-tls-verify {proof}"),
            true,
            "",
        ),
        (
            &nowhere,
            format!("--server {url} {proof}"),
            false,
            "of an authority that is not trusted",
        ),
        (
            &nowhere,
            format!("--server {url} --certificate-authority {ca} --token nonsense"),
            false,
            "(401)",
        ),
    ];
    for (kubeconfig, flags, is_good, told) in &rows {
        for command in ["status", "plan --cluster"] {
            // There `--cluster` takes the name behind a `=`.
            let line = match command {
                "status" => format!("armature status {flags}"),
                _ => format!("armature plan --cluster {flags}")
                    .replace("plan --cluster --cluster ", "plan --cluster=")
                    .replace(
                        "plan --cluster --context armature --cluster ",
                        "plan --context armature --cluster=",
                    ),
            };
            let output = run(&links, kubeconfig, &line).await;
            let errors = text(&output.stderr) + &text(&output.stdout);
            assert_eq!(output.status.success(), *is_good, "{line}: {errors}");
            assert!(errors.contains(told), "{line}: {errors}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_installed_decides_what_is_meant() {
    let plane = ControlPlane::start(Default::default()).await.unwrap();
    let links = links();
    let errors = async |line: &str| {
        let output = run(&links, plane.kubeconfig(), line).await;
        assert_eq!(output.status.code(), Some(1), "{line}");
        text(&output.stderr)
    };
    for line in ["armature crds status", "armature crds migrate"] {
        let told = errors(line).await;
        assert!(told.contains("no CRD of Armature is installed"), "{told}");
    }
    let tree = run(&links, plane.kubeconfig(), "armature tree").await;
    assert_eq!(
        text(&tree.stdout),
        "There is no object of Armature's kinds here.\n"
    );
    let ambiguous = errors("armature why Server/srvx").await;
    assert!(ambiguous.contains("several groups have a kind 'Server'"));
    install(&plane, &["sql/Server"]).await;
    let told = errors("armature why Server/srvx").await;
    assert!(told.contains("there is no Server default/srvx"), "{told}");

    // What is missing on the command line is named.
    let told = errors("armature graph").await;
    assert!(told.contains("-f") && told.contains("--cluster"), "{told}");
    let told = run(
        &links,
        Path::new(""),
        "printf '' | armature plan --offline -f -",
    )
    .await;
    let told = text(&told.stdout) + &text(&told.stderr);
    assert!(told.contains("standard input: holds no manifest"), "{told}");
    for line in [
        "armature plan -f x -n ''",
        "armature export operator -n 'Bad NS'",
        "armature export operator --image ''",
    ] {
        let output = run(&links, Path::new(""), line).await;
        assert_eq!(output.status.code(), Some(2), "{line}");
    }
}

/// Keys of a Secret that are empty make such variables.
#[tokio::test]
async fn variables_that_are_set_to_nothing_say_nothing() {
    let run = |value: &'static str| async move {
        let variables = [
            "AZURE_SYNC_PERIOD",
            "DEFAULT_RECONCILE_POLICY",
            "AZURE_OPERATOR_MODE",
            "MAX_CONCURRENT_RECONCILES",
            "ARMATURE_WORKERS",
            "ALLOWED_SCOPES_MODE",
        ];
        let output = Command::new(PROGRAM)
            .args(["run", "--namespace", "operator"])
            .env_clear()
            .env("KUBECONFIG", "/absent")
            .envs(variables.map(|name| (name, value)))
            .output();
        text(&output.await.unwrap().stderr)
    };
    let nothing = run("").await;
    assert!(nothing.contains("how to reach Kubernetes"), "{nothing}");
    let wrong = run("odd").await;
    assert!(wrong.contains("invalid value 'odd'"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_answers_is_given_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let line = format!("armature status --server http://{address} --request-timeout 1s");
    let links = links();
    let asked = run(&links, Path::new("no-kubeconfig"), &line);
    let output = until_ended("the end of who gets no answer", asked).await;
    assert!(!output.status.success(), "{}", text(&output.stderr));
}

#[tokio::test]
async fn bash_completes_by_the_script() {
    let links = links();
    let script = run(&links, Path::new(""), "armature completions bash").await;
    let path = links.path().join("completions");
    std::fs::write(&path, script.stdout).unwrap();
    let complete = format!(
        "source {}; COMP_WORDS=(armature pl); COMP_CWORD=1; _armature armature pl armature; echo \"${{COMPREPLY[@]}}\"",
        path.display()
    );
    let output = Command::new("bash").args(["-c", &complete]).output().await;
    assert_eq!(text(&output.unwrap().stdout), "plan\n");
}

/// What kubectl prints of a line when it finds the links in its path; `None` where there is no kubectl.
async fn kubectl(links: &TempDir, words: &[&str]) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(links.path().to_owned()).chain(std::env::split_paths(&path));
    let output = Command::new("kubectl")
        .args(words)
        .env("PATH", std::env::join_paths(folders).unwrap())
        .output()
        .await
        .ok()?;
    assert!(
        output.status.success(),
        "{words:?}: {}",
        text(&output.stderr)
    );
    Some(text(&output.stdout))
}

#[tokio::test]
async fn kubectl_itself_runs_and_completes_the_plugin() {
    let links = links();
    let Some(version) = kubectl(&links, &["armature", "version"]).await else {
        eprintln!("skipped: there is no kubectl in PATH");
        return;
    };
    assert!(version.starts_with("armature "), "{version}");
    let commands = kubectl(&links, &["__complete", "armature", "pl"])
        .await
        .unwrap();
    assert!(commands.starts_with("plan\tShow what"), "{commands}");
    assert!(commands.ends_with("\n:4\n"), "{commands}");
    let line = ["__complete", "armature", "plan", "--output", "m"];
    assert_eq!(kubectl(&links, &line).await.unwrap(), "markdown\n:4\n");
    let line = ["__complete", "armature", "tree", "--kubec"];
    let flags = kubectl(&links, &line).await.unwrap();
    assert!(flags.starts_with("--kubeconfig\t"), "{flags}");
}

#[tokio::test]
async fn pages_of_the_manual_are_written() {
    let (links, folder) = (links(), tempfile::tempdir().unwrap());
    let line = format!(
        "armature man --output-folder {}/man1",
        folder.path().display()
    );
    let output = run(&links, Path::new(""), &line).await;
    assert!(output.status.success(), "{}", text(&output.stderr));
    for (name, title) in [
        ("armature.1", ".TH armature 1"),
        ("armature-plan.1", ".TH armature-plan 1"),
    ] {
        let page = std::fs::read_to_string(folder.path().join("man1").join(name)).unwrap();
        assert!(page.contains(title), "{page}");
    }
    let output = run(&links, Path::new(""), "armature man nothing").await;
    assert!(text(&output.stderr).contains("there is no command 'nothing'"));
}

/// Words of a shell's line.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if open == c => quote = None,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Calls of the program in a page: in blocks for a shell, in what is typed in a console, and in sentences.
fn calls(page: &str) -> Vec<String> {
    let joined = page.replace("\\\n", " ");
    let (mut calls, mut block) = (Vec::new(), None);
    let mut lines = joined.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            block = match block {
                None => Some(language),
                Some(_) => None,
            };
            continue;
        }
        // What is shown to be refused is no call.
        let is_refused = lines.peek().is_some_and(|it| it.starts_with("error: "));
        let typed = line.trim_start().strip_prefix("$ ");
        let typed = typed.filter(|_| !is_refused);
        let parts: Vec<&str> = match block {
            None => {
                // In tables a bar is written with a backslash.
                let spoken = line.split('`').skip(1).step_by(2);
                spoken.filter_map(|it| it.split("\\|").next()).collect()
            }
            Some("sh") => line.split(['|', ';', '&', '$', '(', '#']).collect(),
            Some("console") => typed.into_iter().flat_map(|it| it.split('|')).collect(),
            Some(_) => Vec::new(),
        };
        let called = parts.iter().filter_map(|part| {
            let part = part.trim().trim_start_matches("kubectl ");
            let part = part
                .strip_prefix("cargo run -p armature -- ")
                .or_else(|| part.strip_prefix("armature "))?;
            // Without a command: how somebody else calls it.
            (!part.starts_with("--")).then(|| part.trim_end_matches(')').to_owned())
        });
        calls.extend(called);
    }
    calls
}

/// Whether the program has such a command with such flags; values do not count, since pages have words in their place.
fn refused(call: &str) -> Option<String> {
    use clap::error::ErrorKind::{InvalidSubcommand, UnknownArgument};

    let words = std::iter::once("armature".to_owned()).chain(words(call));
    let words = words.take_while(|word| word != ">" && word != "<" && word != "2>");
    let words = words.filter(|word| word != "…" && word != "...");
    let matches = <armature::command::Cli as clap::CommandFactory>::command();
    let error = matches.try_get_matches_from(words).err()?;
    matches!(error.kind(), InvalidSubcommand | UnknownArgument).then(|| error.to_string())
}

#[test]
fn every_command_on_every_page_is_one() {
    assert_eq!(
        calls(
            "`armature why X` is\n```sh\nx=$(armature plan -f 'a b') | armature status \\\n  -n a\n```\n"
        ),
        ["why X", "plan -f 'a b'", "status    -n a"]
    );
    assert!(refused("status --all").is_some() && refused("takover check").is_some());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![root.join("docs"), root.join("samples")];
    let mut pages = vec![root.join("README.md"), root.join("SECURITY.md")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|it| it == "md") => pages.push(path),
                false => {}
            }
        }
    }
    let (mut found, mut wrong) = (0, Vec::new());
    for page in pages {
        for call in calls(&std::fs::read_to_string(&page).unwrap()) {
            found += 1;
            let error = refused(&call);
            wrong
                .extend(error.map(|error| format!("{}: armature {call}: {error}", page.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found > 100, "{found}");
}
