//! Container Apps: domains of environments, the host of an app's newest revision in them, and apps and jobs that are refused
//! until their environment is there.
//!
//! Source: recordings `app-v20240301`, `app-v1api20240301`, `app-v20250101` and `app-v1api20250101`.

use serde_json::{Value, json};

use super::{Behaviour, Scene, provisioning};
use crate::error::ArmError;
use crate::id::ResourceId;
use crate::json;
use crate::store::{Resource, stable_uuid};

/// `Microsoft.App/managedEnvironments`.
#[derive(Debug)]
pub struct ManagedEnvironment;

const DOMAIN: [&str; 2] = ["properties", "defaultDomain"];

impl Behaviour for ManagedEnvironment {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.App/managedEnvironments")
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let word = hash(scene.id);
        let domain = format!("{word}.{}.azurecontainerapps.io", location(body));
        json::set(body, &DOMAIN, json!(domain));
        set_event_stream(scene.id, body);
    }
}

/// `Microsoft.App/containerApps`.
#[derive(Debug)]
pub struct ContainerApp;

const INGRESS: [&str; 3] = ["properties", "configuration", "ingress"];

impl Behaviour for ContainerApp {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.App/containerApps")
    }

    fn admit(&self, scene: &Scene<'_>, body: &Value) -> Result<(), ArmError> {
        refuse_before_environment(scene, body)
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let revision = format!("{}--{}", scene.id.name(), hash(scene.id));
        json::set(
            body,
            &["properties", "latestRevisionName"],
            json!(revision.clone()),
        );
        // Nothing reaches an app without ingress, so it has no host.
        let domain = domain(scene, body).filter(|_| json::at(body, &INGRESS).is_some());
        let host = domain.map_or_else(String::new, |domain| format!("{revision}.{domain}"));
        json::set(body, &["properties", "latestRevisionFqdn"], json!(host));
        set_event_stream(scene.id, body);
    }
}

/// `Microsoft.App/jobs`.
#[derive(Debug)]
pub struct Job;

impl Behaviour for Job {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.App/jobs")
    }

    fn admit(&self, scene: &Scene<'_>, body: &Value) -> Result<(), ArmError> {
        refuse_before_environment(scene, body)
    }
}

/// Id of the environment of an app or job.
fn environment_id(body: &Value) -> Option<&str> {
    let of = |name| json::text(body, &["properties", name]);
    of("environmentId").or_else(|| of("managedEnvironmentId"))
}

/// The environment of an app or job, as far as Azure has it.
fn environment<'a>(scene: &Scene<'a>, body: &Value) -> Option<&'a Resource> {
    scene.store.get(&ResourceId::parse(environment_id(body)?)?)
}

fn refuse_before_environment(scene: &Scene<'_>, body: &Value) -> Result<(), ArmError> {
    let Some(id) = environment_id(body) else {
        return Ok(());
    };
    let Some(environment) = environment(scene, body) else {
        let message = format!("Environment {id} was not found.");
        return Err(ArmError::new(404, "ManagedEnvironmentNotFound", message));
    };
    match json::text(&environment.body, &provisioning::PATH) {
        None | Some("Succeeded") => Ok(()),
        Some(_) => Err(ArmError::new(
            400,
            "ManagedEnvironmentNotProvisioned",
            format!(
                "The environment '{}' has not been provisioned successfully.",
                environment.id
            ),
        )),
    }
}

/// Domain of an app: that of its environment, or a part of it that only the environment itself reaches.
fn domain(scene: &Scene<'_>, app: &Value) -> Option<String> {
    let environment = environment(scene, app)?;
    let domain = json::text(&environment.body, &DOMAIN)?;
    let external = [&INGRESS[..], &["external"]].concat();
    Some(match json::at(app, &external).and_then(Value::as_bool) {
        Some(true) => domain.to_owned(),
        _ => format!("internal.{domain}"),
    })
}

fn set_event_stream(id: &ResourceId, body: &mut Value) {
    let subscription = id.subscription().unwrap_or_default();
    let group = id.resource_group().unwrap_or_default();
    let own = id.type_and_names();
    let own = own.split_once('/').map_or("", |(_, below)| below);
    let host = format!("https://{}.azurecontainerapps.dev", location(body));
    let stream =
        format!("{host}/subscriptions/{subscription}/resourceGroups/{group}/{own}/eventstream");
    json::set(body, &["properties", "eventStreamEndpoint"], json!(stream));
}

fn location(body: &Value) -> String {
    let location = json::text(body, &["location"]).unwrap_or_default();
    location.replace(' ', "").to_ascii_lowercase()
}

/// Seven letters and digits that depend on the id alone.
fn hash(id: &ResourceId) -> String {
    stable_uuid(&id.key())[..7].to_owned()
}
