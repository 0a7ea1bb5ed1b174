//! What the real Azure answered, the simulator answers too; and it returns what was sent.
//!
//! Replays the recorded requests of every generated kind, and compares whether they succeed, or the ARM error
//! code when they do not. Operations end at once, so refusals while another resource is being made have a test of their own,
//! in which operations run until the recording tells that they have ended. The recordings are not part of the project: without
//! them (`ARMATURE_AZURE_DATA`, or `shared/azure` beside the workspace) there is nothing to replay.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use armature_runtime::kind::KindInfo;
use armature_simulator::{Answer, Clock, OperationRule, Request, Settings, Simulator};
use serde::Deserialize;
use serde_json::Value;

/// Refusals while an operation on another resource runs, or as long as that is not there.
const OF_THE_MOMENT: [&str; 8] = [
    "AnotherOperationInProgress",
    "InvalidResourceReference",
    "ManagedEnvironmentNotFound",
    "ManagedEnvironmentNotProvisioned",
    "NotFound",
    "ReferencedResourceNotProvisioned",
    "RetryableError",
    "StorageProvisioningStateNotSucceeded",
];

/// How long operations run where they do not end at once.
const OPERATION: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
struct Recorded {
    method: String,
    url: String,
    request: Option<Value>,
    status: u16,
    response: Value,
}

impl Recorded {
    /// `ok`, or the ARM error code.
    fn outcome(&self) -> String {
        outcome(self.status, &self.response)
    }

    /// Whether it was refused for the moment.
    fn is_of_the_moment(&self) -> bool {
        self.method == "PUT" && OF_THE_MOMENT.contains(&self.outcome().as_str())
    }

    /// Whether it was refused because of a request that stands behind it, as that was answered later: subnets beside a
    /// peering, and what is made from something that nobody had written yet. `tests/networks.rs` has them.
    fn is_overtaken(&self, written: &BTreeSet<String>) -> bool {
        let detail = &self.response["error"]["details"][0];
        let message = detail["message"].as_str().unwrap_or_default();
        let busy = message.split_once("because resource ");
        let busy = busy.and_then(|(_, rest)| rest.split(' ').next());
        detail["code"] == "RetryableErrorDueToAnotherOperation"
            || busy.is_some_and(|id| !written.contains(&id.to_ascii_lowercase()))
    }

    /// The api-version of the request.
    fn api_version(&self) -> &str {
        let (_, query) = self.url.split_once('?').unwrap_or((&self.url, ""));
        let mut pairs = query.split('&');
        let version = pairs.find_map(|pair| pair.strip_prefix("api-version="));
        version.unwrap_or_default()
    }

    /// Whether it is about a generated kind, in one of its versions.
    fn is_of_kind(&self) -> bool {
        let kind = arm_type(self.path()).and_then(|arm_type| kind_of(&arm_type));
        let mut versions = kind.into_iter().flat_map(|kind| kind.versions);
        versions.any(|version| version.api_version == self.api_version())
    }

    /// Path without host and query.
    fn path(&self) -> &str {
        let path = self.url.split('?').next().unwrap_or_default();
        path.trim_start_matches("https://management.azure.com")
    }
}

fn outcome(status: u16, body: &Value) -> String {
    if status < 300 {
        return "ok".to_owned();
    }
    match body["error"]["code"].as_str() {
        Some(code) => code.to_owned(),
        // AKS and others say in their own words that there is no such resource.
        None if status == 404 => "ResourceNotFound".to_owned(),
        None => status.to_string(),
    }
}

fn recordings() -> Option<PathBuf> {
    let data = match std::env::var_os("ARMATURE_AZURE_DATA") {
        Some(data) => PathBuf::from(data),
        None => Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .skip(1)
            .find_map(|above| {
                let data = above.join("shared/azure");
                data.is_dir().then_some(data)
            })?,
    };
    Some(data.join("recordings"))
}

fn kind_of(arm_type: &str) -> Option<&'static KindInfo> {
    let kinds = armature_generated::KINDS.iter();
    kinds
        .copied()
        .find(|kind| kind.remote_type().eq_ignore_ascii_case(arm_type))
}

/// ARM type of an item's path.
fn arm_type(path: &str) -> Option<String> {
    let Some((_, rest)) = path.rsplit_once("/providers/") else {
        return path
            .to_ascii_lowercase()
            .contains("/resourcegroups/")
            .then(|| "Microsoft.Resources/resourceGroups".to_owned());
    };
    let segments: Vec<&str> = rest.split('/').collect();
    let types = segments[1..].iter().step_by(2);
    Some(types.fold(segments[0].to_owned(), |name, segment| {
        format!("{name}/{segment}")
    }))
}

#[derive(Default)]
struct Found {
    same: usize,
    different: BTreeMap<String, String>,
    lost: Vec<String>,
    /// Groups whose deletion was recorded. It takes Azure minutes, and takes one resource after another.
    leaving: BTreeSet<String>,
}

impl Found {
    /// Whether Azure's answer depends on how far the deletion of the group had come.
    fn is_leaving(&self, path: &str, recorded: &Recorded) -> bool {
        group_of(path).is_some_and(|group| self.leaving.contains(&group))
            && recorded.outcome() != "ResourceGroupNotFound"
    }
}

/// Subscription and resource group of a path, in lower case.
fn group_of(path: &str) -> Option<String> {
    let segments: Vec<&str> = path.split('/').take(5).collect();
    (segments.len() == 5).then(|| segments.join("/").to_ascii_lowercase())
}

struct Replay {
    simulator: Simulator,
    seconds: Arc<AtomicI64>,
    tenant: String,
    token: String,
    /// What Azure showed of each resource in the whole recording, by path in lower case.
    shown: BTreeMap<String, Vec<Value>>,
    /// Paths that were written so far, in lower case.
    written: BTreeSet<String>,
}

impl Replay {
    /// A simulator where operations run as long as this.
    fn new(recorded: &[Recorded], latency: Duration) -> Self {
        let settings = Settings {
            subscriptions: vec!["00000000-0000-0000-0000-000000000000".to_owned()],
            operations: OperationRule {
                latency: Some(latency),
                ..OperationRule::default()
            },
            ..Settings::default()
        };
        let tenant = settings.tenant.clone();
        let seconds = Arc::new(AtomicI64::new(jiff::Timestamp::now().as_second()));
        let shared = seconds.clone();
        let clock: Clock =
            Arc::new(move || jiff::Timestamp::from_second(shared.load(SeqCst)).unwrap());
        let mut replay = Self {
            simulator: Simulator::new(armature_generated::KINDS, settings, clock),
            seconds,
            tenant,
            token: String::new(),
            shown: shown_by_azure(recorded),
            written: BTreeSet::new(),
        };
        replay.sign_in();
        replay
    }

    fn sign_in(&mut self) {
        let form = "grant_type=client_credentials&client_id=a&client_secret=b&\
                    scope=https://management.azure.com/.default";
        let path = format!("/{}/oauth2/v2.0/token", self.tenant);
        let answer = self.send("POST", &path, "", form.as_bytes().to_vec());
        let body = answer.body.unwrap();
        self.token = body["access_token"].as_str().unwrap().to_owned();
    }

    /// Sends what was recorded, again as time passes where Azure took what is refused here: what was in the way had ended by
    /// then. The outcome.
    fn catch_up(&mut self, recorded: &Recorded) -> String {
        self.place_what_was_there(recorded);
        let body = recorded.request.as_ref().map(ToString::to_string);
        let body = body.unwrap_or_default().into_bytes();
        let (path, api_version) = (recorded.path(), recorded.api_version());
        for _ in 0..=OPERATION.as_secs() {
            self.seconds.fetch_add(1, SeqCst);
            self.sign_in();
            let answer = self.send(&recorded.method, path, api_version, body.clone());
            let given = outcome(answer.status, &answer.body.unwrap_or_default());
            if given == "ok" || recorded.outcome() != "ok" {
                return given;
            }
        }
        "refused for longer than any operation runs".to_owned()
    }

    fn send(&self, method: &str, path: &str, api_version: &str, body: Vec<u8>) -> Answer {
        let mut request = Request {
            method: method.parse().unwrap(),
            path: path.to_owned(),
            query: vec![("api-version".to_owned(), api_version.to_owned())],
            headers: Default::default(),
            body,
            origin: "https://localhost".to_owned(),
        };
        let token = format!("Bearer {}", self.token);
        request
            .headers
            .insert("authorization", token.parse().unwrap());
        self.simulator.handle(&request).answer.unwrap()
    }

    /// What Azure showed and the recording does not create was there before, as a deleted vault is.
    fn place_what_was_there(&mut self, recorded: &Recorded) {
        let path = recorded.path();
        if recorded.method == "PUT" {
            self.written.insert(path.to_ascii_lowercase());
        }
        let is_kind = arm_type(path).is_some_and(|arm_type| kind_of(&arm_type).is_some());
        let is_new = is_kind && !self.written.contains(&path.to_ascii_lowercase());
        let was_there = path.contains("/deletedVaults/") || (recorded.method == "GET" && is_new);
        if was_there && recorded.outcome() == "ok" && recorded.response["id"].is_string() {
            let kept = self.simulator.place(path, recorded.response.clone());
            kept.unwrap();
        }
    }

    /// Members of `sent` that Azure returned and `shown` lacks.
    fn lost(&self, path: &str, sent: &Value, shown: &Value) -> Vec<String> {
        let mut lost = Vec::new();
        missing(sent, shown, "", &mut lost);
        // Azure itself never returns passwords, or the options of a database.
        let shown = self.shown.get(&path.to_ascii_lowercase());
        let bodies = shown.map(Vec::as_slice).unwrap_or_default();
        let returned = |body: &Value, member: &str| {
            body.pointer(member)
                .is_some_and(|value| !value.is_null() && value != "")
        };
        lost.retain(|member| bodies.iter().any(|body| returned(body, member)));
        lost
    }

    fn replay(&mut self, file: &str, recorded: &Recorded, found: &mut Found) {
        let (path, api_version) = (recorded.path(), recorded.api_version());
        self.place_what_was_there(recorded);
        if !recorded.is_of_kind() {
            return;
        }
        if recorded.is_of_the_moment() || found.is_leaving(path, recorded) {
            return;
        }
        if recorded.method == "DELETE"
            && group_of(path).as_deref() == Some(&path.to_ascii_lowercase())
        {
            found.leaving.extend(group_of(path));
        }
        let sent = recorded.request.clone().unwrap_or_default();
        let body = match &recorded.request {
            Some(body) => body.to_string().into_bytes(),
            None => Vec::new(),
        };
        let answer = self.send(&recorded.method, path, api_version, body);
        let answer_body = answer.body.unwrap_or_default();
        let (expected, given) = (recorded.outcome(), outcome(answer.status, &answer_body));
        let what = format!(
            "{file}: {} {path}?api-version={api_version}",
            recorded.method
        );
        if expected != given {
            let message = format!(
                "{expected} in Azure, {given} here: {}",
                answer_body["error"]
            );
            found.different.insert(what, message);
            return;
        }
        found.same += 1;
        if recorded.method == "PUT" && given == "ok" {
            let shown = self.send("GET", path, api_version, Vec::new()).body;
            let lost = self.lost(path, &sent, &shown.unwrap_or_default());
            found
                .lost
                .extend(lost.into_iter().map(|path| format!("{what} {path}")));
        }
    }
}

/// Bodies of resources that Azure answered with, by path in lower case.
fn shown_by_azure(recorded: &[Recorded]) -> BTreeMap<String, Vec<Value>> {
    let mut shown: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let answered = recorded
        .iter()
        .filter(|recorded| recorded.response["id"].is_string());
    for recorded in answered {
        let bodies = shown
            .entry(recorded.path().to_ascii_lowercase())
            .or_default();
        bodies.push(recorded.response.clone());
    }
    shown
}

/// Members that were sent and are not returned; null and empty values count as absent.
fn missing(sent: &Value, shown: &Value, path: &str, lost: &mut Vec<String>) {
    let Value::Object(members) = sent else { return };
    for (name, value) in members {
        let here = format!("{path}/{name}");
        if value.is_null() {
            continue;
        }
        match shown.get(name) {
            Some(found) => missing(value, found, &here, lost),
            None => lost.push(here),
        }
    }
}

/// All recordings, by name.
fn read(folder: &Path) -> Vec<(String, Vec<Recorded>)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    files.sort();
    let recording = |file: PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        (name, lines.collect())
    };
    files.into_iter().map(recording).collect()
}

#[test]
fn what_azure_answered_is_answered() {
    let Some(folder) = recordings().filter(|folder| folder.is_dir()) else {
        eprintln!("no recordings found; set ARMATURE_AZURE_DATA to the folder that has them");
        return;
    };
    let mut found = Found::default();
    for (name, recorded) in read(&folder) {
        let mut replay = Replay::new(&recorded, Duration::ZERO);
        for recorded in &recorded {
            replay.replay(&name, recorded, &mut found);
        }
    }
    let total = found.same + found.different.len();
    println!(
        "replay: {} of {total} requests answered as Azure did",
        found.same
    );
    for (what, why) in &found.different {
        println!("  different {what}\n    {why}");
    }
    for what in &found.lost {
        println!("  not returned {what}");
    }
    assert!(
        total > 0,
        "no recorded request is of a generated kind and version"
    );
    assert!(
        found.different.is_empty() && found.lost.is_empty(),
        "see above"
    );
}

#[test]
fn what_azure_refused_for_the_moment_is_refused_as_long() {
    let Some(folder) = recordings().filter(|folder| folder.is_dir()) else {
        eprintln!("no recordings found; set ARMATURE_AZURE_DATA to the folder that has them");
        return;
    };
    let mut same: BTreeMap<String, usize> = BTreeMap::new();
    let mut different = Vec::new();
    let is_of_the_moment =
        |recorded: &Recorded| recorded.is_of_kind() && recorded.is_of_the_moment();
    for (name, recorded) in read(&folder) {
        if !recorded.iter().any(is_of_the_moment) {
            continue;
        }
        let mut replay = Replay::new(&recorded, OPERATION);
        // What was refused is taken in the end, where it was in Azure.
        let mut refused: BTreeSet<String> = BTreeSet::new();
        // Other refusals are the other test's.
        let concerns = |recorded: &&Recorded| {
            recorded.is_of_kind() && (recorded.outcome() == "ok" || is_of_the_moment(recorded))
        };
        for recorded in recorded.iter().filter(concerns) {
            if recorded.is_overtaken(&replay.written) {
                continue;
            }
            let given = replay.catch_up(recorded);
            let what = format!("{name}: {} {}", recorded.method, recorded.path());
            if is_of_the_moment(recorded) {
                match given == recorded.outcome() {
                    true => *same.entry(given).or_default() += 1,
                    false => {
                        different.push(format!("{what}: {given}, and not {}", recorded.outcome()))
                    }
                }
                refused.insert(recorded.path().to_owned());
            } else if recorded.method == "PUT" && recorded.outcome() == "ok" && given == "ok" {
                refused.remove(recorded.path());
            }
        }
        different.extend(
            refused
                .iter()
                .map(|path| format!("{name}: {path} is never taken")),
        );
    }
    println!("refused for the moment as in Azure: {same:?}");
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert_eq!(same.len(), OF_THE_MOMENT.len(), "{same:?}");
}
