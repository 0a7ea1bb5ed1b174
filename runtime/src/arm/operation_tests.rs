use super::*;

const URL: &str =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.A/bs/b?api-version=2020-01-01";
const ASYNC: &str =
    "https://arm.test/subscriptions/s/providers/Microsoft.A/operations/1?api-version=1";

fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().expect("a time")
}

fn resource() -> ResourceId {
    ResourceId::parse(URL.split('?').next().expect("a path")).expect("an id")
}

fn answer(status: u16, headers: &[(&str, &str)], body: Value) -> Response {
    Response {
        status,
        headers: headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        body: (!body.is_null()).then_some(body),
    }
}

fn state(state: &str) -> Value {
    json!({"properties": {"provisioningState": state}})
}

fn name_begun(begun: &Begun) -> String {
    match begun {
        Begun::Done => "done".to_owned(),
        Begun::Running { operation, .. } => format!("{:?} {}", operation.style, operation.url),
        Begun::Failed { error, .. } => format!("failed {}", error.code()),
    }
}

fn name_progress(progress: &Progress) -> String {
    match progress {
        Progress::Running { operation, .. } => format!("running {}", operation.url),
        Progress::Succeeded => "succeeded".to_owned(),
        Progress::Failed(error) => format!("failed {}", error.code()),
        Progress::Canceled(error) => format!("canceled {}", error.code()),
        Progress::Lost => "lost".to_owned(),
    }
}

#[test]
fn beginnings() {
    use Method::{Delete, Put};
    let asynchronous = ("azure-asyncoperation", ASYNC);
    let location = ("location", "https://arm.test/l");
    let resource_poll = format!("Resource {URL}");
    let table: Vec<(Method, Response, String)> = vec![
        (Put, answer(200, &[], json!({})), "done".into()),
        (Put, answer(201, &[], state("Succeeded")), "done".into()),
        (
            Put,
            answer(200, &[], state("RegisteringDns")),
            resource_poll.clone(),
        ),
        (
            Put,
            answer(201, &[location], state("Creating")),
            resource_poll.clone(),
        ),
        (Put, answer(201, &[location], json!({})), "done".into()),
        (Put, answer(202, &[], Value::Null), resource_poll.clone()),
        (
            Put,
            answer(202, &[location], Value::Null),
            "Location https://arm.test/l".into(),
        ),
        (
            Put,
            answer(201, &[asynchronous, location], state("Creating")),
            format!("AsyncOperation {ASYNC}"),
        ),
        // Finished resource, unfinished operation: the header wins.
        (
            Put,
            answer(200, &[asynchronous], state("Succeeded")),
            format!("AsyncOperation {ASYNC}"),
        ),
        (
            Put,
            answer(202, &[("operation-location", ASYNC), location], Value::Null),
            format!("OperationLocation {ASYNC}"),
        ),
        (
            Put,
            answer(200, &[], state("Failed")),
            "failed OperationFailed".into(),
        ),
        (
            Put,
            answer(200, &[], state("canceled")),
            "failed OperationCanceled".into(),
        ),
        (
            Put,
            answer(
                409,
                &[],
                json!({"error": {"code": "Conflict", "message": "m"}}),
            ),
            "failed Conflict".into(),
        ),
        (
            Put,
            answer(404, &[], Value::Null),
            "failed UnknownError".into(),
        ),
        (Delete, answer(200, &[], Value::Null), "done".into()),
        (Delete, answer(204, &[], Value::Null), "done".into()),
        (Delete, answer(404, &[], Value::Null), "done".into()),
        (
            Delete,
            answer(202, &[location], Value::Null),
            "Location https://arm.test/l".into(),
        ),
        (Delete, answer(202, &[], Value::Null), resource_poll.clone()),
        (Delete, answer(200, &[], state("Deleting")), resource_poll),
        (
            Delete,
            answer(202, &[asynchronous, location], Value::Null),
            format!("AsyncOperation {ASYNC}"),
        ),
        (
            Delete,
            answer(409, &[], json!({"code": "ScopeLocked"})),
            "failed ScopeLocked".into(),
        ),
    ];
    for (method, response, expected) in table {
        let begun = begin(method, URL, &response, now());
        assert_eq!(name_begun(&begun), expected, "{method} {response:?}");
    }
}

#[test]
fn polls() {
    use Method::{Delete, Put};
    use Style::{AsyncOperation, Location, Resource};
    let own = "https://arm.test/SUBSCRIPTIONS/s/resourcegroups/g/providers/Microsoft.A/bs/b/operations/1?x=y";
    let error = json!({"status": "Failed", "error": {"code": "ServerIsBusy", "message": "m"}});
    let busy = json!({"error": {"code": "Busy", "message": "m"}});
    let running = format!("running {ASYNC}");
    let table: Vec<(Method, Style, &str, Response, &str)> = vec![
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(200, &[], json!({"status": "InProgress"})),
            &running,
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(202, &[], json!({"status": "InProgress"})),
            &running,
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(202, &[], Value::Null),
            &running,
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(200, &[], json!({"status": "CreatingAgentPool: 0/1"})),
            &running,
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(200, &[], json!({"status": "succeeded"})),
            "succeeded",
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(200, &[], error),
            "failed ServerIsBusy",
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(200, &[], json!({"status": "Failed", "error": null})),
            "failed OperationFailed",
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(
                200,
                &[],
                json!({"status": "Canceled", "error": {"code": "By", "message": "m"}}),
            ),
            "canceled By",
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(200, &[], state("Creating")),
            &running,
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(200, &[], json!({"id": "x", "properties": {}})),
            "succeeded",
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(204, &[], Value::Null),
            "succeeded",
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(
                200,
                &[("azure-asyncoperation", "https://arm.test/2")],
                json!({"status": "Running"}),
            ),
            "running https://arm.test/2",
        ),
        // A status that cannot be read says nothing about the operation.
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(500, &[], Value::Null),
            &running,
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(503, &[], busy.clone()),
            &running,
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(429, &[], busy.clone()),
            &running,
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(400, &[], busy.clone()),
            "lost",
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(403, &[], busy.clone()),
            "lost",
        ),
        (
            Put,
            AsyncOperation,
            ASYNC,
            answer(404, &[], Value::Null),
            "lost",
        ),
        (
            Delete,
            AsyncOperation,
            ASYNC,
            answer(404, &[], Value::Null),
            "lost",
        ),
        (
            Put,
            Location,
            ASYNC,
            answer(202, &[], Value::Null),
            &running,
        ),
        (
            Put,
            Location,
            ASYNC,
            answer(202, &[("location", "https://arm.test/2")], Value::Null),
            "running https://arm.test/2",
        ),
        (
            Put,
            Location,
            ASYNC,
            answer(200, &[], json!({})),
            "succeeded",
        ),
        (
            Put,
            Location,
            ASYNC,
            answer(409, &[], busy.clone()),
            "failed Busy",
        ),
        (Put, Location, own, answer(404, &[], Value::Null), "lost"),
        (
            Delete,
            Location,
            ASYNC,
            answer(200, &[], Value::Null),
            "succeeded",
        ),
        (
            Delete,
            Location,
            ASYNC,
            answer(204, &[], Value::Null),
            "succeeded",
        ),
        (
            Delete,
            Location,
            ASYNC,
            answer(404, &[], Value::Null),
            "lost",
        ),
        (
            Delete,
            Location,
            own,
            answer(404, &[], Value::Null),
            "succeeded",
        ),
        (
            Put,
            Resource,
            URL,
            answer(200, &[], state("Updating")),
            "running /subscriptions/s/resourceGroups/g/providers/Microsoft.A/bs/b?api-version=2020-01-01",
        ),
        (
            Put,
            Resource,
            URL,
            answer(404, &[], Value::Null),
            "running /subscriptions/s/resourceGroups/g/providers/Microsoft.A/bs/b?api-version=2020-01-01",
        ),
        (
            Put,
            Resource,
            URL,
            answer(200, &[], state("Succeeded")),
            "succeeded",
        ),
        (Put, Resource, URL, answer(200, &[], json!({})), "succeeded"),
        (
            Put,
            Resource,
            URL,
            answer(200, &[], state("Failed")),
            "failed OperationFailed",
        ),
        (
            Delete,
            Resource,
            URL,
            answer(404, &[], Value::Null),
            "succeeded",
        ),
        (
            Delete,
            Resource,
            URL,
            answer(200, &[], state("Succeeded")),
            "running /subscriptions/s/resourceGroups/g/providers/Microsoft.A/bs/b?api-version=2020-01-01",
        ),
        (
            Delete,
            Resource,
            URL,
            answer(200, &[], state("Failed")),
            "failed OperationFailed",
        ),
    ];
    for (method, style, url, response, expected) in table {
        let operation = Operation {
            method,
            style,
            url: url.to_owned(),
        };
        let progress = poll(&operation, &resource(), &response, now());
        assert_eq!(
            name_progress(&progress),
            expected,
            "{operation:?} {response:?}"
        );
    }
}

#[test]
fn waits() {
    for (text, seconds) in [
        ("15", Some(15)),
        (" 0 ", Some(0)),
        ("999999", Some(3600)),
        ("Thu, 01 Jan 2026 00:00:30 GMT", Some(30)),
        ("Wed, 31 Dec 2025 00:00:00 GMT", Some(0)),
        ("soon", None),
        ("-5", None),
    ] {
        let response = answer(202, &[("retry-after", text)], Value::Null);
        let expected = seconds.map(Duration::from_secs);
        assert_eq!(retry_after(&response, now()), expected, "{text}");
    }
}

#[test]
fn states_survive_in_annotations() {
    for method in [Method::Put, Method::Delete] {
        for style in [
            Style::AsyncOperation,
            Style::OperationLocation,
            Style::Location,
            Style::Resource,
        ] {
            let operation = Operation {
                method,
                style,
                url: ASYNC.to_owned(),
            };
            let read = Operation::resume(operation.resume_id(), &operation.resume_token());
            assert_eq!(read, Ok(operation));
        }
    }
    for (id, token) in [
        ("Other", "{}"),
        (PUT_ID, "not json"),
        (PUT_ID, "{}"),
        (
            DELETE_ID,
            r#"{"type":"GenericDeleteResponse","token":{"pollURL":""}}"#,
        ),
    ] {
        assert!(Operation::resume(id, token).is_err(), "{id} {token}");
    }
}

/// Follows the operations in recorded traffic: each that was accepted must end as its last poll was recorded.
#[test]
fn recorded_operations_end_as_recorded() {
    let Some(folder) = recordings() else {
        eprintln!("skipped: no recorded traffic ($ARMATURE_AZURE_DATA)");
        return;
    };
    let mut follower = Follower::default();
    for entry in std::fs::read_dir(folder).expect("the folder of recordings") {
        let file = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&file).expect("a recording");
        follower.running.clear();
        for line in text.lines() {
            follower.see(&serde_json::from_str(line).expect("JSON"));
        }
    }
    let Follower { begun, ended, .. } = follower;
    println!("{begun} operations begun, {ended} ended");
    assert!(ended > 400 && ended <= begun, "{ended} of {begun}");
}

/// Operations of a recording, as a reconciler would follow them.
#[derive(Default)]
struct Follower {
    running: Vec<(Operation, ResourceId)>,
    begun: usize,
    ended: usize,
}

impl Follower {
    fn see(&mut self, exchange: &Value) {
        let url = exchange["url"].as_str().expect("a URL");
        match exchange["method"].as_str() {
            Some("GET") => self.see_poll(url, exchange),
            Some("PUT") => self.see_write(Method::Put, url, exchange),
            Some("DELETE") => self.see_write(Method::Delete, url, exchange),
            _ => {}
        }
    }

    fn see_write(&mut self, method: Method, url: &str, exchange: &Value) {
        let path = url.trim_start_matches("https://management.azure.com");
        let begun = begin(method, path, &recorded_response(exchange), now());
        if let Begun::Running { operation, .. } = begun
            && operation.style != Style::Resource
        {
            let id = ResourceId::parse(path.split('?').next().expect("a path"));
            self.running.push((operation, id.expect("an id")));
            self.begun += 1;
        }
    }

    fn see_poll(&mut self, url: &str, exchange: &Value) {
        let mut running = self.running.iter();
        let Some(at) = running.position(|(operation, _)| operation.url == url) else {
            return;
        };
        let (operation, id) = self.running.remove(at);
        let response = recorded_response(exchange);
        match poll(&operation, &id, &response, now()) {
            Progress::Running { operation, .. } => self.running.push((operation, id)),
            Progress::Lost => assert_eq!(response.status, 404, "{url}"),
            outcome => {
                let recorded = exchange.pointer("/response/status").and_then(Value::as_str);
                let recorded = recorded.unwrap_or("Succeeded").to_ascii_lowercase();
                let read = name_progress(&outcome);
                assert!(
                    read.starts_with(&recorded),
                    "{url}: {recorded}, read as {read}"
                );
                self.ended += 1;
            }
        }
    }
}

fn recorded_response(exchange: &Value) -> Response {
    let headers = exchange["headers"].as_object().cloned().unwrap_or_default();
    Response {
        status: exchange["status"]
            .as_u64()
            .and_then(|status| status.try_into().ok())
            .expect("a status"),
        headers: headers
            .into_iter()
            .map(|(name, value)| (name, value.as_str().unwrap_or_default().to_owned()))
            .collect(),
        body: Some(exchange["response"].clone()).filter(|body| body.is_object()),
    }
}

fn recordings() -> Option<std::path::PathBuf> {
    let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let near = manifest
        .ancestors()
        .map(|folder| folder.join("shared/azure"));
    std::env::var_os("ARMATURE_AZURE_DATA")
        .map(std::path::PathBuf::from)
        .into_iter()
        .chain(near)
        .map(|data| data.join("recordings"))
        .find(|folder| folder.is_dir())
}
