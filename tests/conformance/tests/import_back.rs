//! The reverse of an import, over every version: a manifest becomes a request, Azure shows what it took, and the import of that
//! is the same manifest; what it leaves out says nothing to Azure. Once Azure is our own word for what it shows, and once it is
//! the simulator, which checks what it is sent and processes it as services do.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests do"
)]

use std::cell::Cell;
use std::sync::Arc;

use armature::descriptions::Descriptions;
use armature::import::defaults::leave_out;
use armature::import::{Draft, Resource, Wanted, draft, manifests};
use armature_conformance::properties::{for_all, same, versions};
use armature_generated::KINDS;
use armature_runtime::engine::collect::inputs;
use armature_runtime::engine::payload::{Resolved, arm_body};
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, NameRule, OwnerRule, Remote, Scope, VersionInfo};
use armature_runtime::shape::{Flags, Semantic, StructShape, Type, check, check_rules};
use armature_runtime::testing::arbitrary::Arbitrary;
use armature_simulator::{OperationRule, Request, Settings, Simulator};
use http::{HeaderMap, Method};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Values per version.
const CASES: u32 = 24;
/// The same with an Azure in between.
const CASES_THROUGH_AZURE: u32 = 24;
/// The value of every Secret.
const SECRET: &str = "hunter2";
/// Words of refusals that say nothing about an import, with reasons.
const REFUSALS: [(&str, &str); 2] = [
    (
        "InvalidResourceName",
        "the rules of the name are those of the kind's newest version",
    ),
    (
        "keyExpirationPeriodInDays",
        "the least number of days is in no spec",
    ),
];
/// Ends of places of which Azure has its own idea, though the specs let a request say it, with reasons.
const AZURES_OWN: [(&str, &str); 10] = [
    ("/etag", "it is another one after each write"),
    ("/type", "it follows from the id"),
    (
        "/properties/options",
        "throughput is a resource of its own, and is shown there",
    ),
    (
        "/properties/provisioningState",
        "it tells of the last operation",
    ),
    ("/identity/principalId", "Azure makes the identity"),
    ("/identity/tenantId", "the same"),
    ("/vaultUri", "it follows from the name"),
    ("/workspaceResourceId", "the spec says that it is a secret"),
    (
        "/privateLinkServiceConnectionState",
        "the owner of the private link service decides",
    ),
    ("/serviceUri", "it has a secret, and is shown to nobody"),
];
/// Kinds that do not come back, with reasons.
const NOT_BACK: [(&str, &str); 2] = [
    (
        "FleetsUpdateRun",
        "a run needs members of the fleet, which a manifest alone does not make",
    ),
    (
        "ServersKey",
        "the spec says that what it requires is never shown",
    ),
];
/// What extensions stand on, and what references of any form lead to.
const SOMETHING: &str = "/subscriptions/s/resourceGroups/g/providers/P.Q/things";

/// The body of the PUT, with a value for everything that the spec refers to.
fn body(version: &VersionInfo, name: &str, spec: &Value) -> Result<Value, String> {
    let used = inputs(version.spec, spec);
    let mut resolved = Resolved::default();
    for (index, used) in used.references.into_iter().enumerate() {
        let is_id = matches!(
            used.target,
            armature_runtime::engine::collect::ReferenceTarget::ArmId(_)
        );
        if !is_id {
            let id = format!("{SOMETHING}/{index}");
            resolved.references.insert(used.target, id);
        }
    }
    for used in used.secrets {
        resolved.secrets.insert(used.target, SECRET.to_owned());
    }
    for used in used.secret_maps {
        let values = [("key".to_owned(), SECRET.to_owned())].into();
        resolved.secret_maps.insert(used.target, values);
    }
    for used in used.config_maps {
        resolved.config_maps.insert(used.target, "text".to_owned());
    }
    arm_body(version, name, spec, &resolved).map_err(|error| error.to_string())
}

/// A name that a resource of the kind can have: that of the spec, where it has one.
fn name(kind: &KindInfo, version: &VersionInfo, spec: &Value) -> Option<String> {
    let own = spec["azureName"].as_str();
    let candidates = match kind.name {
        NameRule::Fixed(name) => vec![name],
        NameRule::OneOf(names) => names.to_vec(),
        _ => vec![
            "name",
            "name12345678",
            "11111111-1111-4111-8111-111111111111",
        ],
    };
    let rules = version.spec.field("azureName").map(|field| field.rules);
    let keeps =
        |name: &&str| rules.is_none_or(|rules| check_rules(rules, &Value::from(*name)).is_empty());
    own.or_else(|| candidates.into_iter().find(keeps))
        .map(str::to_owned)
}

/// An id of a resource of the kind.
fn id(kind: &KindInfo, name: &str) -> Option<ResourceId> {
    let Remote::Arm { arm_type, scope } = kind.remote else {
        return None;
    };
    let (provider, rest) = arm_type.split_once('/')?;
    let segments: Vec<&str> = rest.split('/').collect();
    let (last, above) = segments.split_last()?;
    let mut path = match (scope, kind.owner) {
        (Scope::Tenant, _) => String::new(),
        (Scope::Subscription, OwnerRule::None) => "/subscriptions/s".to_owned(),
        (Scope::Extension, _) => format!("{SOMETHING}/a"),
        _ => "/subscriptions/s/resourceGroups/g".to_owned(),
    };
    if kind.kind == "ResourceGroup" {
        return ResourceId::parse(&format!("/subscriptions/s/resourceGroups/{name}")).ok();
    }
    path.push_str(&format!("/providers/{provider}"));
    for segment in above {
        path.push_str(&format!("/{segment}/parent"));
    }
    ResourceId::parse(&format!("{path}/{last}/{name}")).ok()
}

/// Without secrets that stand in the manifest itself: an import tells of them, and does not show them. Without what Azure never
/// shows, too.
fn without_hidden(shape: &'static StructShape, value: &mut Value) {
    let Value::Object(members) = value else {
        return;
    };
    members.retain(|name, _| {
        let Some(field) = shape.field(name) else {
            return true;
        };
        let is_open = field.flags.has(Flags::SECRET) && !is_reference(field.ty);
        let is_required = field.flags.has(Flags::REQUIRED);
        !is_open && (is_required || !field.flags.has(Flags::WRITE_ONLY))
    });
    for (name, value) in members {
        if let Some(field) = shape.field(name) {
            within(field.ty, value);
        }
    }
}

fn within(ty: Type, value: &mut Value) {
    match (ty, value) {
        (Type::Struct(shape), value) => without_hidden(shape, value),
        (Type::List(list), Value::Array(items)) => {
            for item in items {
                within(list.item, item);
            }
        }
        (Type::Map(map), Value::Object(members)) => {
            for member in members.values_mut() {
                within(map.value, member);
            }
        }
        _ => {}
    }
}

fn is_reference(ty: Type) -> bool {
    match ty {
        Type::Struct(shape) => matches!(
            shape.semantic,
            Semantic::SecretReference | Semantic::SecretMapReference | Semantic::Reference
        ),
        Type::List(list) => is_reference(list.item),
        Type::Map(map) => is_reference(map.value),
        _ => false,
    }
}

/// Without what says nothing.
fn telling(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name, telling(value)));
            let members = members.filter(|(_, value)| !says_nothing(value));
            let members = members.map(|(name, value)| (name.clone(), value));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(telling).collect(),
        value => value.clone(),
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// An id, a name and a spec; `None` where chance made none that anybody could apply.
fn manifest(
    kind: &KindInfo,
    version: &VersionInfo,
    seed: u64,
    size: usize,
) -> Option<(ResourceId, String, Value)> {
    let mut spec = Arbitrary::valid(seed, size).object(version.spec);
    without_hidden(version.spec, &mut spec);
    let name = name(kind, version, &spec)?;
    // Rules that let a name through which no id can have are Azure's own.
    let id = id(kind, &name).filter(|id| id.name() == name)?;
    if !id.has_type(kind.remote_type()) {
        return None;
    }
    spec.as_object_mut()?.shift_remove("azureNameFromConfig");
    // The text of a ConfigMap may be none that the schema takes.
    let takes_text = !inputs(version.spec, &spec).config_maps.is_empty();
    let is_taken = !takes_text && check(version.spec, &spec, "spec").is_empty();
    is_taken.then_some((id, name, spec))
}

#[test]
fn what_was_made_of_a_manifest_is_imported_as_that_manifest() {
    for (kind, version) in versions() {
        for_all(
            &format!("{} {}", kind.kind, version.name),
            CASES,
            |seed, size| {
                let Some((id, name, spec)) = manifest(kind, version, seed, size) else {
                    return Ok(());
                };
                let sent = body(version, &name, &spec)?;
                let resource = Resource {
                    id,
                    kind,
                    version,
                    body: sent.clone(),
                };
                let draft = draft(resource).map_err(|why| format!("{why}: {sent}"))?;
                if let Some(left_out) = draft.left_out.first() {
                    return Err(format!("{}: {}\n{sent}", left_out.path, left_out.why));
                }
                let again = body(version, &name, &draft.spec)?;
                same(&telling(&sent), &telling(&again))?;
                as_written(draft, &name, &telling(&sent))
            },
        );
    }
}

/// The same for the manifest as it is written: with names, and without values that Azure's specs state as the default. What that
/// leaves out are such values and nothing else.
fn as_written(draft: Draft, name: &str, sent: &Value) -> Result<(), String> {
    let Resource { kind, version, .. } = draft.resource;
    let (whole, owner) = (draft.spec.clone(), draft.owner.clone());
    let mut short = draft;
    leave_out(&mut short, &Descriptions::shared(kind.group));
    let has_defaults = short.spec != whole;
    let written = manifests(vec![short], &Wanted::default());
    let [written] = &written[..] else {
        return Err(format!("{} manifests of one resource", written.len()));
    };
    let spec = &written.manifest["spec"];
    let own = json!({"apiVersion": format!("{}/{}", kind.group, version.name), "kind": kind.kind});
    for member in ["apiVersion", "kind"] {
        same(&own[member], &written.manifest[member])?;
    }
    // What the object says of its name in Azure is that name.
    let named = match (&spec["azureName"], kind.name) {
        (Value::String(named), _) => named.as_str(),
        (_, NameRule::Fixed(fixed)) => fixed,
        (_, NameRule::OneOf(_) | NameRule::Free(_) | NameRule::Uuid { .. }) => {
            written.manifest["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
        }
    };
    same(&Value::from(name), &Value::from(named))?;
    // Whoever is not imported stays an ARM id.
    if let Some(owner) = owner {
        same(&json!({ "armId": owner.as_str() }), &spec["owner"])?;
    }
    for secret in &written.secrets {
        if secret.secret.is_empty() {
            return Err(format!("{}: a Secret without a name", secret.path));
        }
    }
    let again = telling(&body(version, name, spec)?);
    match has_defaults {
        false => same(sent, &again),
        // Nothing came in, and nothing else is another value.
        true => lost(&again, sent, "").map_or(Ok(()), Err),
    }
}

/// The simulated Azure, asked without a socket.
struct Azure {
    simulator: Simulator,
    token: String,
}

/// What an answer was.
type Answer = Result<Value, (u16, String)>;

impl Azure {
    /// An Azure with the subscription and the groups of the ids above.
    fn new() -> Self {
        let simulator = Simulator::new(KINDS, Settings::default(), Arc::new(Timestamp::now));
        simulator.set_operation_rule(None, OperationRule::default());
        simulator.add_subscription("s");
        let mut azure = Self {
            simulator,
            token: String::new(),
        };
        let tenant = Settings::default().tenant;
        let form = "grant_type=client_credentials&client_id=tester&client_secret=x\
                    &scope=https://management.azure.com/.default";
        let path = format!("/{tenant}/oauth2/v2.0/token");
        let signed_in = azure.send(Method::POST, &path, "", form.as_bytes().to_vec());
        azure.token = signed_in.unwrap()["access_token"]
            .as_str()
            .unwrap()
            .to_owned();
        azure
    }

    fn send(&self, method: Method, path: &str, api_version: &str, body: Vec<u8>) -> Answer {
        let mut headers = HeaderMap::new();
        let token = format!("Bearer {}", self.token);
        headers.insert("authorization", token.parse().unwrap());
        let reply = self.simulator.handle(&Request {
            method,
            path: path.to_owned(),
            query: vec![("api-version".to_owned(), api_version.to_owned())],
            headers,
            body,
            origin: "https://localhost".to_owned(),
        });
        let answer = reply.answer.unwrap();
        let body = answer.body.unwrap_or_default();
        match answer.status {
            200..300 => Ok(body),
            status => Err((status, body.to_string())),
        }
    }

    /// Makes what a resource is in and on, which nobody checks.
    fn prepare(&self, id: &ResourceId) {
        let segments: Vec<&str> = id.as_str().split('/').collect();
        for end in 3..segments.len() {
            let above = segments[..end].join("/");
            let Ok(above) = ResourceId::parse(&above) else {
                continue;
            };
            let is_made = self.simulator.resource(above.as_str()).is_some();
            if above.arm_type().contains('/') && !is_made && above != *id {
                let body = json!({"location": "westeurope", "properties": {"provisioningState": "Succeeded"}});
                // What is no resource cannot be placed.
                let _ = self.simulator.place(above.as_str(), body);
            }
        }
    }

    /// What Azure shows of a resource after it was made.
    fn made(&self, id: &ResourceId, version: &VersionInfo, body: &Value) -> Answer {
        self.prepare(id);
        let body = body.to_string().into_bytes();
        self.send(Method::PUT, id.as_str(), version.api_version, body)?;
        self.send(Method::GET, id.as_str(), version.api_version, Vec::new())
    }
}

/// What is lost of a request: the first place that another one lacks, or where it has something else. What it has beside that is
/// Azure's own.
fn lost(sent: &Value, again: &Value, place: &str) -> Option<String> {
    if AZURES_OWN.iter().any(|(end, _)| place.ends_with(end)) {
        return None;
    }
    match (sent, again) {
        (Value::Object(sent), Value::Object(again)) => sent.iter().find_map(|(name, value)| {
            let place = format!("{place}/{name}");
            lost(value, again.get(name).unwrap_or(&Value::Null), &place)
        }),
        (Value::Array(sent), Value::Array(again)) if sent.len() == again.len() => {
            let mut pairs = sent.iter().zip(again).enumerate();
            pairs.find_map(|(index, (sent, again))| lost(sent, again, &format!("{place}/{index}")))
        }
        // Some of it may be Azure's own.
        (Value::Object(_), Value::Null) => lost(sent, &json!({}), place),
        _ if sent == again => None,
        _ => Some(format!("{place}: {sent} came back as {again}")),
    }
}

/// Without the values of Secrets, which Azure shows to nobody.
fn without_secrets(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| *value != SECRET);
            let members = members.map(|(name, value)| (name.clone(), without_secrets(value)));
            Value::Object(members.collect())
        }
        Value::Array(items) => items
            .iter()
            .filter(|item| *item != SECRET)
            .map(without_secrets)
            .collect(),
        value => value.clone(),
    }
}

/// One manifest on its way through Azure and back. `None` where it says nothing.
fn through_azure(
    (kind, version): (&'static KindInfo, &'static VersionInfo),
    (seed, size): (u64, usize),
) -> Result<Option<()>, String> {
    let Some((id, name, spec)) = manifest(kind, version, seed, size) else {
        return Ok(None);
    };
    let sent = body(version, &name, &spec)?;
    let shown = match Azure::new().made(&id, version, &sent) {
        Ok(shown) => shown,
        Err((_, why)) if REFUSALS.iter().any(|known| why.contains(known.0)) => return Ok(None),
        // A list or a map without items is not sent, and may be one that Azure wants.
        Err((_, why)) if why.contains("required and missing") && telling(&spec) != spec => {
            return Ok(None);
        }
        Err((status, why)) => return Err(format!("{id}: {status} {why}\n{sent}")),
    };
    let resource = Resource {
        id,
        kind,
        version,
        body: shown.clone(),
    };
    let draft = draft(resource).map_err(|why| format!("{why}: {shown}"))?;
    // What was left out was never sent, or is lost.
    let again = body(version, &name, &draft.spec)?;
    let [sent, again] = [sent, again].map(|body| telling(&without_secrets(&body)));
    match lost(&sent, &again, "") {
        None => Ok(Some(())),
        Some(lost) => Err(format!(
            "{lost}\nsent  {sent}\nshown {shown}\nagain {again}"
        )),
    }
}

/// The same with an Azure in between that checks the request, keeps what it keeps, shows what it shows, and sets defaults of its own.
#[test]
fn what_azure_was_sent_is_imported_as_that_manifest() {
    let mut silent = Vec::new();
    // What Azure does not show cannot be imported.
    let is_shown = |(kind, version): &(&KindInfo, &VersionInfo)| {
        version.verbs.get && NOT_BACK.iter().all(|(known, _)| *known != kind.kind)
    };
    for (kind, version) in versions().filter(is_shown) {
        let told = Cell::new(0);
        let what = format!("{} {} through Azure", kind.kind, version.name);
        for_all(&what, CASES_THROUGH_AZURE, |seed, size| {
            let came_back = through_azure((kind, version), (seed, size))?;
            told.set(told.get() + usize::from(came_back.is_some()));
            Ok(())
        });
        if told.get() == 0 {
            silent.push(format!("{} {}", kind.kind, version.name));
        }
    }
    assert_eq!(
        silent,
        Vec::<String>::new(),
        "versions of which nothing was sent"
    );
}
