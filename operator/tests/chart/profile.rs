//! CPU profiles of a running pod, as Go's tools take them.

use std::process::Output;

use serde_json::Value;

use crate::chart::{deployment, find, manifests};
use crate::cluster::Cluster;
use crate::metrics::{bind, client, token};
use crate::pod::Pod;

async fn take(client: &reqwest::Client, pod: &Pod, query: &str, token: &str) -> (u16, Vec<u8>) {
    let port = pod.ports().metrics;
    let url = format!("https://127.0.0.1:{port}/debug/pprof/profile{query}");
    let answer = client.get(url).bearer_auth(token).send().await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.bytes().await.unwrap().to_vec())
}

/// What Go's own tool says of a profile; nothing where there is no Go.
async fn tool(profile: &[u8], flags: &[&str]) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cpu.pb.gz");
    std::fs::write(&file, profile).unwrap();
    let mut command = tokio::process::Command::new("go");
    command.args(["tool", "pprof"]).args(flags).arg(&file);
    match command.output().await {
        Ok(output) => Some(output),
        Err(_) => {
            eprintln!("no Go on this machine: `go tool pprof` was not asked");
            None
        }
    }
}

/// The right to read metrics gives no profiles, and the other way round.
pub async fn are_taken_by_whom_the_roles_allow(
    cluster: &Cluster,
    pod: &Pod,
    manifests: &[Value],
    prometheus: &str,
) {
    let client = client(cluster, "armature-webhook-certificate").await;
    let client = client.build().unwrap();
    for (token, expected) in [(prometheus, 403), ("no token of this cluster", 401)] {
        let (status, _) = take(&client, pod, "?seconds=1", token).await;
        assert_eq!(status, expected);
    }
    let role = find(manifests, "ClusterRole", "armature-profile-reader");
    let profiler = token(cluster, "profiler").await;
    bind(cluster, role, "profiler").await;
    cluster
        .until("the binding counts", async |_| {
            take(&client, pod, "?seconds=0", &profiler).await.0 == 400
        })
        .await;
    let (status, message) = take(&client, pod, "?seconds=999", &profiler).await;
    let message = String::from_utf8(message).unwrap();
    assert_eq!(status, 400);
    assert!(
        message.contains("expected a whole number from 1 to 120"),
        "{message}"
    );

    let url = format!("https://127.0.0.1:{}/metrics", pod.ports().metrics);
    let metrics = client.get(url).bearer_auth(&profiler).send().await.unwrap();
    assert_eq!(metrics.status().as_u16(), 403);
    let both = async {
        tokio::join!(take(&client, pod, "?seconds=4", &profiler), async {
            tokio::time::sleep(std::time::Duration::from_secs(2)).await;
            take(&client, pod, "?seconds=1", &profiler).await
        })
    };
    let (first, second) = tokio::select! {
        both = both => both,
        () = give_it_work(&client, pod, prometheus) => unreachable!("it works until then"),
    };
    assert_eq!(second.0, 409, "one at a time");
    assert_eq!(first.0, 200, "{}", String::from_utf8_lossy(&first.1));
    let Some(output) = tool(
        &first.1,
        &["-top", "-cum", "-nodecount=100000", "-nodefraction=0"],
    )
    .await
    else {
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(text.contains("Type: cpu"), "{text}");
    // What answers requests, by its name.
    assert!(
        text.contains("armature_kubernetes::serving::https::"),
        "{text}\n{errors}"
    );
    is_whole(&text);
    let (status, again) = take(&client, pod, "?seconds=1", &profiler).await;
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&again));
}

/// Stacks go down to where threads begin: most samples have that. Where the files in memory are taken for moved by another number, what
/// walks stacks finds no callers, and only names of what ran itself are right.
fn is_whole(top: &str) {
    let mut lines = top.lines().map(str::trim);
    let root = lines.find(|line| line.contains("::thread_start"));
    let root = root.unwrap_or_else(|| panic!("no stack begins where a thread does: {top}"));
    // flat, flat%, sum%, cum, cum%, name
    let share = root.split_whitespace().nth(4).unwrap();
    let share: f64 = share.trim_end_matches('%').parse().unwrap();
    assert!(share > 50.0, "{root}\n{top}");
}

/// Asks for something again and again, of which the profile tells.
async fn give_it_work(client: &reqwest::Client, pod: &Pod, token: &str) {
    let url = format!("https://127.0.0.1:{}/metrics", pod.ports().metrics);
    loop {
        client.get(&url).bearer_auth(token).send().await.ok();
    }
}

/// There is no profile for those who prove nothing.
#[tokio::test]
async fn profiles_need_authentication_and_a_folder_for_temporary_files() {
    for (settings, expected) in [
        (&["metrics.profiling=true"][..], true),
        (
            &["metrics.profiling=true", "metrics.authentication=false"],
            false,
        ),
        (&["metrics.profiling=true", "metrics.secure=false"], false),
        (&["metrics.profiling=true", "metrics.enable=false"], false),
        (&[], false),
    ] {
        let made = manifests(settings).await;
        let pod = &deployment(&made)["spec"]["template"]["spec"];
        let has = |list: &Value, member: &str, value: &str| {
            let mut list = list.as_array().unwrap().iter();
            list.any(|one| one[member] == value)
        };
        let container = &pod["containers"][0];
        let arguments = container["args"].as_array().unwrap();
        let is_on = arguments.iter().any(|flag| flag == "--profiling-metrics");
        assert_eq!(is_on, expected, "{settings:?}");
        assert_eq!(
            has(&container["volumeMounts"], "mountPath", "/tmp"),
            expected
        );
        assert_eq!(has(&pod["volumes"], "name", "temporary"), expected);
        let is_role = |one: &&Value| one["metadata"]["name"] == "armature-profile-reader";
        assert_eq!(made.iter().any(|one| is_role(&one)), expected);
    }
}
