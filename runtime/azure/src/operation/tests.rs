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

/// An answer of ARM's own.
fn answer(status: u16, headers: &[(&str, &str)], body: Value) -> Response {
    let mut response = foreign(status, body);
    let headers = headers.iter().chain(&[("x-ms-request-id", "r-1")]);
    response.headers = headers
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    response
}

/// An answer of something on the way.
fn foreign(status: u16, body: Value) -> Response {
    Response {
        status,
        body: (!body.is_null()).then_some(body),
        ..Response::default()
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
        Progress::Unreported { .. } => "unreported".to_owned(),
        Progress::Doubtful(error) => format!("doubtful {}", error.code()),
        Progress::Succeeded => "succeeded".to_owned(),
        Progress::Failed(error) => format!("failed {}", error.code()),
        Progress::Canceled(error) => format!("canceled {}", error.code()),
        Progress::Lost => "lost".to_owned(),
    }
}

const NEXT: &str = "https://arm.test/subscriptions/s/operationresults/2";
const ASYNC_HEADER: (&str, &str) = ("azure-asyncoperation", ASYNC);
const LOCATION_HEADER: (&str, &str) = ("location", NEXT);

fn failure(code: &str) -> Value {
    json!({"error": {"code": code, "message": "m"}})
}

/// How a write begins.
fn beginning(method: Method, response: &Response) -> String {
    match name_begun(&begin(method, URL, response, now())) {
        name if name == format!("Resource {URL}") => "Resource".to_owned(),
        name => name,
    }
}

/// What one look at an operation says; `running` alone goes on at the same URL.
fn look(method: Method, style: Style, url: &str, response: &Response) -> String {
    let operation = Operation {
        method,
        style,
        url: url.to_owned(),
    };
    match name_progress(&poll(&operation, &resource(), response, now())) {
        name if name == format!("running {url}") => "running".to_owned(),
        name => name,
    }
}

#[test]
fn beginnings_without_headers() {
    use Method::{Delete, Post, Put};
    let table = [
        (Post, 200, Value::Null, "done"),
        (Post, 202, Value::Null, "done"),
        (Post, 409, failure("Conflict"), "failed Conflict"),
        (Put, 200, json!({}), "done"),
        (Put, 201, state("Succeeded"), "done"),
        (Put, 200, state("RegisteringDns"), "Resource"),
        (Put, 202, Value::Null, "Resource"),
        (Put, 200, state("Failed"), "failed OperationFailed"),
        (Put, 200, state("canceled"), "failed OperationCanceled"),
        (Put, 409, failure("Conflict"), "failed Conflict"),
        (Put, 404, Value::Null, "failed UnknownError"),
        (Delete, 200, Value::Null, "done"),
        (Delete, 204, Value::Null, "done"),
        (Delete, 404, Value::Null, "done"),
        (Delete, 202, Value::Null, "Resource"),
        (Delete, 200, state("Deleting"), "Resource"),
        (Delete, 409, json!({"code": "Locked"}), "failed Locked"),
    ];
    for (method, status, body, expected) in table {
        let response = answer(status, &[], body);
        assert_eq!(beginning(method, &response), expected, "{response:?}");
    }
}

#[test]
fn beginnings_by_headers() {
    use Method::{Delete, Post, Put};
    let both = [ASYNC_HEADER, LOCATION_HEADER];
    let at_operation = format!("AsyncOperation {ASYNC}");
    let at_location = format!("Location {NEXT}");
    let legacy = [("operation-location", ASYNC), LOCATION_HEADER];
    let at_legacy = format!("OperationLocation {ASYNC}");
    let table: [(_, _, &[_], _, &str); 10] = [
        (Post, 202, &both[1..], Value::Null, &at_location),
        (Put, 201, &both[1..], state("Creating"), "Resource"),
        (Put, 201, &both[1..], json!({}), "done"),
        (Put, 202, &both[1..], Value::Null, &at_location),
        (Put, 201, &both, state("Creating"), &at_operation),
        // Finished resource, unfinished operation: the header wins.
        (Put, 200, &both[..1], state("Succeeded"), &at_operation),
        (Put, 202, &legacy, Value::Null, &at_legacy),
        (Delete, 202, &both[1..], Value::Null, &at_location),
        (Delete, 202, &both, Value::Null, &at_operation),
        (Delete, 202, &legacy, Value::Null, &at_legacy),
    ];
    for (method, status, headers, body, expected) in table {
        let response = answer(status, headers, body);
        assert_eq!(beginning(method, &response), expected, "{response:?}");
    }
}

#[test]
fn polls_of_operations() {
    let steps = json!({"status": "CreatingAgentPool: 0/1"});
    let failed = json!({"status": "Failed", "error": {"code": "ServerIsBusy", "message": "m"}});
    let bare = json!({"status": "Failed", "error": null});
    let canceled = json!({"status": "Canceled", "error": {"code": "By", "message": "m"}});
    let table = [
        (200, json!({"status": "InProgress"}), "running"),
        (202, json!({"status": "InProgress"}), "running"),
        (202, Value::Null, "running"),
        (200, steps, "running"),
        (200, json!({"status": "succeeded"}), "succeeded"),
        (200, failed, "failed ServerIsBusy"),
        (200, bare, "failed OperationFailed"),
        (200, canceled, "canceled By"),
        (200, state("Creating"), "running"),
        (200, json!({"id": "x", "properties": {}}), "succeeded"),
        (204, Value::Null, "succeeded"),
        // A status that cannot be read says nothing about the operation.
        (500, Value::Null, "unreported"),
        (503, failure("Busy"), "unreported"),
        (429, failure("Busy"), "unreported"),
        (400, failure("Busy"), "lost"),
        (403, failure("Busy"), "lost"),
        (404, Value::Null, "lost"),
    ];
    for (status, body, expected) in table {
        let response = answer(status, &[], body);
        let seen = look(Method::Put, Style::AsyncOperation, ASYNC, &response);
        assert_eq!(seen, expected, "{response:?}");
    }
    let gone = answer(404, &[], Value::Null);
    let seen = look(Method::Delete, Style::AsyncOperation, ASYNC, &gone);
    assert_eq!(seen, "lost");
    let headers = [("azure-asyncoperation", NEXT)];
    let moved = answer(200, &headers, json!({"status": "Running"}));
    let seen = look(Method::Put, Style::AsyncOperation, ASYNC, &moved);
    assert_eq!(seen, format!("running {NEXT}"));
}

#[test]
fn polls_of_locations() {
    use Method::{Delete, Put};
    let own = "https://arm.test/SUBSCRIPTIONS/s/resourcegroups/g/providers/Microsoft.A/bs/b/operations/1?x=y";
    let table = [
        (Put, ASYNC, 202, Value::Null, "running"),
        (Put, ASYNC, 200, json!({}), "succeeded"),
        (Put, ASYNC, 409, failure("Busy"), "failed Busy"),
        (Put, own, 404, Value::Null, "lost"),
        (Delete, ASYNC, 200, Value::Null, "succeeded"),
        (Delete, ASYNC, 204, Value::Null, "succeeded"),
        (Delete, ASYNC, 404, Value::Null, "lost"),
        (Delete, own, 404, Value::Null, "succeeded"),
    ];
    for (method, url, status, body, expected) in table {
        let response = answer(status, &[], body);
        let seen = look(method, Style::Location, url, &response);
        assert_eq!(seen, expected, "{method} {url} {response:?}");
    }
    let moved = answer(202, &[LOCATION_HEADER], Value::Null);
    let seen = look(Put, Style::Location, ASYNC, &moved);
    assert_eq!(seen, format!("running {NEXT}"));
}

/// ARM signs the URL of an operation anew in every answer: the old one leads to the same place.
#[test]
fn an_url_that_is_only_signed_anew_is_the_same() {
    let signed = "https://arm.test/subscriptions/s/operations/1?api-version=1&t=1&c=A&s=B&h=C";
    let table = [
        (
            format!("{ASYNC}&t=1&c=A&s=B&h=C"),
            ASYNC,
            "running".to_owned(),
        ),
        (signed.replace("t=1", "t=2"), signed, "running".to_owned()),
        (
            signed.replace("s=B&h=C", "s=X&h=Y"),
            signed,
            "running".to_owned(),
        ),
        (
            signed.replace("operations/1", "operations/2"),
            signed,
            format!("running {}", signed.replace("operations/1", "operations/2")),
        ),
        (
            signed.replace("api-version=1", "api-version=2"),
            signed,
            format!(
                "running {}",
                signed.replace("api-version=1", "api-version=2")
            ),
        ),
    ];
    for (next, url, expected) in table {
        for (style, header) in [
            (Style::AsyncOperation, "azure-asyncoperation"),
            (Style::OperationLocation, "operation-location"),
            (Style::Location, "location"),
        ] {
            let response = answer(202, &[(header, next.as_str())], Value::Null);
            let seen = look(Method::Put, style, url, &response);
            assert_eq!(seen, expected, "{style:?} {next}");
        }
    }
}

#[test]
fn polls_of_resources() {
    use Method::{Delete, Put};
    let table = [
        (Put, 200, state("Updating"), "unreported"),
        (Put, 404, Value::Null, "unreported"),
        (Put, 200, state("Succeeded"), "succeeded"),
        (Put, 200, json!({}), "succeeded"),
        (Put, 200, state("Failed"), "failed OperationFailed"),
        (Delete, 404, Value::Null, "succeeded"),
        (Delete, 200, state("Succeeded"), "unreported"),
        (Delete, 200, state("Failed"), "failed OperationFailed"),
    ];
    for (method, status, body, expected) in table {
        let response = answer(status, &[], body);
        let seen = look(method, Style::Resource, URL, &response);
        assert_eq!(seen, expected, "{method} {response:?}");
    }
}

/// What is not there is only believed of ARM itself, and only when it speaks of the resource.
#[test]
fn absences_that_are_no_answer() {
    use Method::{Delete, Put};
    let page = || foreign(404, Value::Null);
    let subscription = || answer(404, &[], failure("SubscriptionNotFound"));
    for response in [page(), subscription()] {
        let name = beginning(Delete, &response);
        assert!(name.starts_with("failed"), "{name}: {response:?}");
        for method in [Put, Delete] {
            for style in [Style::AsyncOperation, Style::Location, Style::Resource] {
                let seen = look(method, style, URL, &response);
                assert!(seen.starts_with("doubtful"), "{seen}: {response:?}");
            }
        }
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
    for method in [Method::Put, Method::Delete, Method::Post] {
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
        (
            PUT_ID,
            r#"{"token":{"asyncURL":"https://arm.test/subscriptions/s/%2e%2e/other/operations/1"}}"#,
        ),
        (
            PUT_ID,
            r#"{"token":{"type":"body","pollURL":"/subscriptions/s/../other"}}"#,
        ),
    ] {
        assert!(Operation::resume(id, token).is_err(), "{id} {token}");
    }
}

/// Each request has an id in its path: what leads elsewhere is neither asked for nor noted, and is not taken for the end.
#[test]
fn urls_that_are_no_path_of_azures_are_not_followed() {
    use Method::{Delete, Post, Put};
    let long = format!("/subscriptions/s/{}", "o".repeat(LONGEST_URL));
    for url in [
        "/etc/passwd",
        "/",
        "",
        "passwd",
        "//evil.test/subscriptions/s",
        "/subscriptions",
        "/subscriptions/",
        "/subscriptions?x=/subscriptions/s",
        "/x/subscriptions/s/operations/1",
        "https://arm.test/etc/passwd",
        "https://arm.test/?/subscriptions/s",
        "https://arm.test",
        "/subscriptions/s/../../etc/passwd",
        "/subscriptions/s/%2e%2e/%2E%2e/etc",
        &long,
    ] {
        for header in ["azure-asyncoperation", "operation-location", "location"] {
            let refused = answer(202, &[(header, url)], Value::Null);
            // It was accepted all the same.
            for method in [Put, Delete, Post] {
                assert_eq!(beginning(method, &refused), "Resource", "{header}: {url}");
            }
            let both = answer(202, &[LOCATION_HEADER, (header, url)], Value::Null);
            let at_other = match header {
                "location" => "Resource".to_owned(),
                _ => format!("Location {NEXT}"),
            };
            assert_eq!(beginning(Put, &both), at_other, "{header}: {url}");
            for style in [
                Style::AsyncOperation,
                Style::OperationLocation,
                Style::Location,
            ] {
                assert_eq!(
                    look(Put, style, ASYNC, &refused),
                    "running",
                    "{header}: {url}"
                );
            }
        }
        let gone = answer(200, &[("location", url)], Value::Null);
        assert_eq!(beginning(Delete, &gone), "Resource", "{url}");
        let created = answer(201, &[("location", url)], json!({}));
        assert_eq!(beginning(Put, &created), "done", "{url}");
        for member in ["asyncURL", "oplocURL", "pollURL"] {
            let token = json!({"token": {member: url}}).to_string();
            assert!(
                Operation::resume(PUT_ID, &token).is_err(),
                "{member}: {url}"
            );
        }
    }
    for url in [
        "/subscriptions/s/operationresults/1?api-version=1",
        "/PROVIDERS/Microsoft.Management/managementGroups/m/providers/Microsoft.A/operations/1",
        "https://westeurope.arm.test/Subscriptions/s/providers/Microsoft.A/locations/w/operations/1?t=/..",
        "https://arm.test/below/providers/Microsoft.A/operations/1",
    ] {
        let accepted = answer(202, &[("location", url)], Value::Null);
        assert_eq!(beginning(Post, &accepted), format!("Location {url}"));
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
    let Follower {
        begun,
        ended,
        named,
        ..
    } = follower;
    println!("{begun} operations begun, {ended} ended, {named} URLs");
    assert!(named > 2000, "{named} URLs");
    assert!(ended > 500 && ended <= begun, "{ended} of {begun}");
}

/// Operations of a recording, as a reconciler would follow them.
#[derive(Default)]
struct Follower {
    running: Vec<(Operation, ResourceId)>,
    begun: usize,
    ended: usize,
    /// URLs of operations, and of created resources.
    named: usize,
}

impl Follower {
    fn see(&mut self, exchange: &Value) {
        let url = exchange["url"].as_str().expect("a URL");
        for (header, _) in HEADERS {
            let named = exchange["headers"][header].as_str();
            assert_eq!(named.map_or(Ok(()), check_url), Ok(()), "{named:?}");
            self.named += usize::from(named.is_some());
        }
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
            Progress::Unreported { .. } => self.running.push((operation, id)),
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

/// Recordings leave request ids out, which are different each time.
fn recorded_response(exchange: &Value) -> Response {
    let mut headers = exchange["headers"].as_object().cloned().unwrap_or_default();
    headers.insert("x-ms-request-id".to_owned(), json!("r-1"));
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
