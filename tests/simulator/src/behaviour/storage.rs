//! Storage accounts: endpoints, keys, services that exist from the start.
//!
//! Source: recordings `storage-v1api20230101` and `storage-v20250601`, and for what is refused
//! `scenario-operationaccepted_longrunningoperationfails`; keys of spec
//! `specification/storage/resource-manager/Microsoft.Storage/stable/2023-01-01/storage.json`.

use serde_json::{Value, json};

use super::{ActionOutcome, Behaviour, Scene, keys};
use crate::error::ArmError;
use crate::json;
use crate::operation::{OperationRule, Style};
use crate::store::Resource;

/// `Microsoft.Storage/storageAccounts`.
#[derive(Debug)]
pub struct StorageAccount;

/// Services with an endpoint of their own.
const SERVICES: [&str; 6] = ["dfs", "web", "blob", "queue", "table", "file"];

impl Behaviour for StorageAccount {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.Storage/storageAccounts")
    }

    fn operations(&self) -> OperationRule {
        OperationRule {
            put: Some(Style::Location),
            delete: Some(Style::Immediate),
            ..OperationRule::default()
        }
    }

    fn admit(&self, _scene: &Scene<'_>, body: &Value) -> Result<(), ArmError> {
        let path = ["properties", "keyPolicy", "keyExpirationPeriodInDays"];
        match json::at(body, &path).and_then(Value::as_i64) {
            Some(days) if days < 0 => Err(invalid("keyPolicy.keyExpirationPeriodInDays")),
            _ => Ok(()),
        }
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let name = scene.id.name().to_ascii_lowercase();
        let endpoints: serde_json::Map<String, Value> = SERVICES
            .iter()
            .map(|service| {
                let url = format!("https://{name}.{service}.core.windows.net/");
                ((*service).to_owned(), json!(url))
            })
            .collect();
        let tier = match json::text(body, &["sku", "name"]) {
            Some(sku) if sku.starts_with("Premium") => "Premium",
            _ => "Standard",
        };
        let location = body.get("location").cloned().unwrap_or_default();
        let created = json!(scene.now.to_string());
        for (path, value) in [
            (["sku", "tier"].as_slice(), json!(tier)),
            (&["properties", "primaryEndpoints"], json!(endpoints)),
            (&["properties", "primaryLocation"], location),
            (&["properties", "statusOfPrimary"], json!("available")),
            (&["properties", "creationTime"], created.clone()),
            (
                &["properties", "keyCreationTime"],
                json!({"key1": created, "key2": created}),
            ),
        ] {
            json::set_default(body, path, value);
        }
        if json::text(body, &["kind"]) != Some("Storage") {
            json::set_default(body, &["properties", "accessTier"], json!("Hot"));
        }
    }

    fn action(
        &self,
        scene: &Scene<'_>,
        resource: &Resource,
        action: &str,
        body: &Value,
    ) -> Option<Result<ActionOutcome, ArmError>> {
        let answer = if action.eq_ignore_ascii_case("listKeys") {
            keys(resource)
        } else if action.eq_ignore_ascii_case("regenerateKey") {
            let Some(name) = json::text(body, &["keyName"]) else {
                return Some(Err(invalid("keyName")));
            };
            // The time of regeneration is part of what the key is made of.
            let mut renewed = resource.clone();
            let path = ["properties", "keyCreationTime", name];
            json::set(&mut renewed.body, &path, json!(scene.now.to_string()));
            return Some(Ok(ActionOutcome {
                answer: Some(keys(&renewed)),
                resource: Some(renewed.body),
            }));
        } else {
            return None;
        };
        Some(Ok(ActionOutcome {
            answer: Some(answer),
            resource: None,
        }))
    }

    fn implicit_children(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("blobServices", "default"),
            ("fileServices", "default"),
            ("queueServices", "default"),
            ("tableServices", "default"),
        ]
    }
}

fn invalid(parameter: &str) -> ArmError {
    ArmError::new(
        400,
        "InvalidValuesForRequestParameters",
        format!("Values for request parameters are invalid: {parameter}."),
    )
}

fn keys(account: &Resource) -> Value {
    let key = |name: &str| {
        let created = json::text(&account.body, &["properties", "keyCreationTime", name])
            .unwrap_or_default()
            .to_owned();
        // 64 bytes, as real keys have.
        let seed = format!("{}/{name}/{created}", account.id.key());
        json!({
            "creationTime": created,
            "keyName": name,
            "value": keys::base64(&seed, 4),
            "permissions": "FULL",
        })
    };
    json!({"keys": [key("key1"), key("key2")]})
}
