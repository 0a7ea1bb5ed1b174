//! Azure AI Search: keys in the answers of `listAdminKeys` and `listQueryKeys`.
//!
//! Source: spec `specification/search/resource-manager/Microsoft.Search`.

use serde_json::{Value, json};

use super::{ActionOutcome, Behaviour, Scene, keys};
use crate::error::ArmError;
use crate::store::Resource;

/// `Microsoft.Search/searchServices`.
#[derive(Debug)]
pub struct SearchService;

impl Behaviour for SearchService {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.Search/searchServices")
    }

    fn action(
        &self,
        _scene: &Scene<'_>,
        resource: &Resource,
        action: &str,
        _body: &Value,
    ) -> Option<Result<ActionOutcome, ArmError>> {
        let key = |name: &str| keys::hexadecimal(&format!("{}/{name}", resource.id.key()), 1);
        let answer = match action.to_ascii_lowercase().as_str() {
            "listadminkeys" => json!({
                "primaryKey": key("primary"),
                "secondaryKey": key("secondary"),
            }),
            // A service comes with one query key, which has no name.
            "listquerykeys" => json!({"value": [{"name": null, "key": key("query")}]}),
            _ => return None,
        };
        Some(Ok(ActionOutcome {
            answer: Some(answer),
            resource: None,
        }))
    }
}
