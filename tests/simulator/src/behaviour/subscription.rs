//! Subscriptions that aliases stand for: there from the alias on, until somebody cancels them. The alias may go before.
//!
//! Source: spec
//! `specification/subscription/resource-manager/Microsoft.Subscription/stable/2021-10-01/subscriptions.json`.

use serde_json::{Value, json};

use super::{Behaviour, Scene};
use crate::id::ResourceId;
use crate::json;
use crate::store::{Resource, Store, stable_uuid};

/// Where an alias names its subscription.
const NAMED: [&str; 2] = ["properties", "subscriptionId"];

/// `Microsoft.Subscription/aliases`.
#[derive(Debug)]
pub struct Alias;

impl Behaviour for Alias {
    fn applies_to(&self, arm_type: &str) -> bool {
        arm_type.eq_ignore_ascii_case("Microsoft.Subscription/aliases")
    }

    fn stored(&self, scene: &Scene<'_>, _previous: Option<&Value>, body: &mut Value) {
        let subscription = stable_uuid(&format!("{}#subscription", scene.id.key()));
        json::set_default(body, &NAMED, json!(subscription));
    }

    fn written(&self, store: &mut Store, id: &ResourceId) {
        let alias = store
            .get(id)
            .and_then(|alias| json::text(&alias.body, &NAMED));
        let subscription =
            alias.and_then(|name| ResourceId::parse(&format!("/subscriptions/{name}")));
        if let Some(subscription) = subscription.filter(|id| store.get(id).is_none()) {
            store.insert(made(subscription));
        }
    }
}

fn made(id: ResourceId) -> Resource {
    Resource {
        id,
        api_version: String::new(),
        body: json!({"state": "Enabled"}),
        desired: Value::Null,
        visible: true,
        revision: 1,
        operation: None,
    }
}
