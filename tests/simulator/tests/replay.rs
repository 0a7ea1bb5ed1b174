//! What the real Azure accepted, the simulator accepts too; and it returns what was sent.
//!
//! Replays the recorded PUTs of every generated kind. The recordings are not part of the project: without
//! them (`ARMATURE_AZURE_DATA`, or `shared/azure` beside the workspace) there is nothing to replay.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use armature_runtime::kind::KindInfo;
use armature_simulator::{Answer, Request, Settings, Simulator};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Recorded {
    method: String,
    url: String,
    request: Option<Value>,
    status: u16,
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
        .find(|kind| kind.arm_type.eq_ignore_ascii_case(arm_type))
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

struct Replay {
    simulator: Simulator,
    token: String,
    accepted: usize,
    refused: BTreeMap<String, String>,
    lost: Vec<String>,
}

impl Replay {
    fn new() -> Self {
        let settings = Settings {
            subscriptions: vec!["00000000-0000-0000-0000-000000000000".to_owned()],
            ..Settings::default()
        };
        let tenant = settings.tenant.clone();
        let clock = std::sync::Arc::new(jiff::Timestamp::now);
        let mut replay = Self {
            simulator: Simulator::new(armature_generated::KINDS, settings, clock),
            token: String::new(),
            accepted: 0,
            refused: BTreeMap::new(),
            lost: Vec::new(),
        };
        let form = "grant_type=client_credentials&client_id=a&client_secret=b&\
                    scope=https://management.azure.com/.default";
        let path = format!("/{tenant}/oauth2/v2.0/token");
        let answer = replay.send("POST", &path, "", form.as_bytes().to_vec());
        let body = answer.body.unwrap();
        replay.token = body["access_token"].as_str().unwrap().to_owned();
        replay
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

    fn put(&mut self, file: &str, recorded: &Recorded) {
        let (path, query) = recorded.url.split_once('?').unwrap_or((&recorded.url, ""));
        let path = path.trim_start_matches("https://management.azure.com");
        let api_version = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("api-version="))
            .unwrap_or_default();
        let known = arm_type(path).and_then(|arm_type| kind_of(&arm_type));
        let Some(kind) = known else { return };
        if !kind
            .versions
            .iter()
            .any(|version| version.api_version == api_version)
        {
            return;
        }
        let sent = recorded.request.clone().unwrap_or_default();
        let answer = self.send("PUT", path, api_version, sent.to_string().into_bytes());
        let what = format!("{file}: {path}?api-version={api_version}");
        if answer.status >= 300 {
            let body = answer.body.unwrap_or_default();
            self.refused
                .insert(what, body["error"]["message"].to_string());
            return;
        }
        self.accepted += 1;
        let shown = self
            .send("GET", path, api_version, Vec::new())
            .body
            .unwrap_or_default();
        let mut lost = Vec::new();
        missing(&sent, &shown, "", &mut lost);
        self.lost
            .extend(lost.into_iter().map(|path| format!("{what} {path}")));
    }
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

#[test]
fn what_azure_accepted_is_accepted() {
    let Some(folder) = recordings().filter(|folder| folder.is_dir()) else {
        eprintln!("no recordings found; set ARMATURE_AZURE_DATA to the folder that has them");
        return;
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    files.sort();
    let (mut accepted, mut refused, mut lost) = (0, BTreeMap::new(), Vec::new());
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let mut replay = Replay::new();
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let recorded: Recorded = serde_json::from_str(line).unwrap();
            if recorded.method == "PUT" && recorded.status < 300 {
                replay.put(&name, &recorded);
            }
        }
        accepted += replay.accepted;
        refused.extend(replay.refused);
        lost.extend(replay.lost);
    }
    println!(
        "replay: {accepted} of {} PUTs accepted",
        accepted + refused.len()
    );
    for (what, why) in &refused {
        println!("  refused {what}\n    {why}");
    }
    for what in &lost {
        println!("  not returned {what}");
    }
    assert!(
        accepted > 0,
        "no recorded PUT is of a generated kind and version"
    );
    assert!(refused.is_empty(), "see the refusals above");
}
