//! Rights that roles give, and rights that requests used.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

/// API group, resource, verb. Azure's groups count as one, as do all their resources.
pub type Right = (String, String, String);

fn right(group: &str, resource: &str, verb: &str) -> Right {
    let (group, resource) = match group.ends_with(".azure.com") {
        true => ("*.azure.com", "*"),
        false => (group, resource),
    };
    (group.to_owned(), resource.to_owned(), verb.to_owned())
}

fn words<'v>(rule: &'v Value, member: &str) -> impl Iterator<Item = &'v str> + Clone {
    let list = rule[member].as_array().expect("a list").iter();
    list.map(|word| word.as_str().expect("a word"))
}

/// All that the roles among the manifests allow with resources.
pub fn given(manifests: &[Value]) -> BTreeSet<Right> {
    let mut rights = BTreeSet::new();
    let roles = manifests
        .iter()
        .filter(|manifest| manifest["kind"] == "Role" || manifest["kind"] == "ClusterRole");
    let rules = roles.flat_map(|role| role["rules"].as_array().expect("rules"));
    for rule in rules.filter(|rule| rule["nonResourceURLs"].is_null()) {
        for group in words(rule, "apiGroups") {
            for resource in words(rule, "resources") {
                for verb in words(rule, "verbs") {
                    rights.insert(right(group, resource, verb));
                }
            }
        }
    }
    rights
}

/// Policy under which the API server logs every request once it is answered.
pub const AUDIT_POLICY: &str = "
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
";

/// What an audit log tells.
#[derive(Debug, Default)]
pub struct Used {
    pub rights: BTreeSet<Right>,
    /// Requests that were refused for want of a right.
    pub refused: Vec<String>,
}

/// What requests used that were made by somebody who acted as `user`.
pub fn used(log: &Path, user: &str) -> Used {
    let mut used = Used::default();
    for line in std::fs::read_to_string(log).unwrap().lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let text = |pointer| event.pointer(pointer).and_then(Value::as_str);
        let Some(resource) = text("/objectRef/resource") else {
            continue;
        };
        if text("/impersonatedUser/username") != Some(user) {
            continue;
        }
        let resource = match text("/objectRef/subresource") {
            Some(subresource) => format!("{resource}/{subresource}"),
            None => resource.to_owned(),
        };
        let group = text("/objectRef/apiGroup").unwrap_or_default();
        let verb = text("/verb").unwrap_or_default();
        let code = event["responseStatus"]["code"].as_u64();
        if code == Some(403) {
            let uri = text("/requestURI").unwrap_or_default();
            used.refused.push(format!("{verb} {uri}"));
            continue;
        }
        used.rights.insert(right(group, &resource, verb));
        // Who applies what is not there needs the right to create it.
        if verb == "patch" && code == Some(201) {
            used.rights.insert(right(group, &resource, "create"));
        }
    }
    used
}
