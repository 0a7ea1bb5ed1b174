//! Azure Cosmos DB: accounts that have endpoints when they are made, their keys, and what is below them.
//!
//! Source: recordings `sqldatabase-v1api20240815` and `mongodb-v1api20240815`; the answer of `listKeys` of spec
//! `specification/cosmos-db/resource-manager/Microsoft.DocumentDB`.

use serde_json::{Value, json};

use super::{ActionOutcome, Behaviour, Scene, is_below, keys};
use crate::error::ArmError;
use crate::json;
use crate::operation::{OperationRule, Style};
use crate::store::Resource;

const ACCOUNT: &str = "Microsoft.DocumentDB/databaseAccounts";

const KEYS: [&str; 4] = [
    "primaryMasterKey",
    "secondaryMasterKey",
    "primaryReadonlyMasterKey",
    "secondaryReadonlyMasterKey",
];

/// `Microsoft.DocumentDB/databaseAccounts`.
#[derive(Debug)]
pub struct Account;

impl Behaviour for Account {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case(ACCOUNT)
    }

    fn operations(&self) -> OperationRule {
        OperationRule {
            put: Some(Style::AsyncOperation),
            delete: Some(Style::Both),
            ..OperationRule::default()
        }
    }

    fn completed(&self, scene: &Scene<'_>, body: &mut Value) {
        let name = scene.id.name().to_ascii_lowercase();
        let endpoint = json!(format!("https://{name}.documents.azure.com:443/"));
        json::set(body, &["properties", "documentEndpoint"], endpoint);
    }

    fn action(
        &self,
        _scene: &Scene<'_>,
        resource: &Resource,
        action: &str,
        _body: &Value,
    ) -> Option<Result<ActionOutcome, ArmError>> {
        if !action.eq_ignore_ascii_case("listKeys") {
            return None;
        }
        let keys = KEYS.iter().map(|name| {
            let key = keys::base64(&format!("{}/{name}", resource.id.key()), 4);
            ((*name).to_owned(), json!(key))
        });
        Some(Ok(ActionOutcome {
            answer: Some(Value::Object(keys.collect())),
            resource: None,
        }))
    }
}

/// Databases, containers, roles and all else below an account.
#[derive(Debug)]
pub struct Part;

impl Behaviour for Part {
    fn applies_to(&self, arm_type: &str) -> bool {
        is_below(arm_type, ACCOUNT)
    }

    fn operations(&self) -> OperationRule {
        OperationRule {
            put: Some(Style::Both),
            delete: Some(Style::Both),
            ..OperationRule::default()
        }
    }

    fn stored(&self, _scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        // Options are for the making alone; what came of them is asked at `throughputSettings`.
        json::remove(body, &["properties", "options"]);
    }
}
