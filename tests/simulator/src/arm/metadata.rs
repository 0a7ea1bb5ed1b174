//! Subscriptions, tenants, providers and lists across types.

use http::Method;
use serde_json::{Value, json};

use crate::catalog::ArmType;
use crate::error::ArmError;
use crate::exchange::Answer;
use crate::id::ResourceId;
use crate::json;
use crate::state::{Call, Handled, State};
use crate::store::Resource;

impl State {
    /// Answers GETs that concern no single type. `None` when the path is another one.
    pub(super) fn metadata(&self, call: &Call<'_>) -> Option<Handled> {
        let path = call.request.path.to_ascii_lowercase();
        let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let is_register = matches!(
            segments.as_slice(),
            ["subscriptions", _, "providers", _, "register"]
        );
        if call.request.method != Method::GET && !is_register {
            return None;
        }
        let answer = match segments.as_slice() {
            ["tenants"] => {
                let tenant = json!({
                    "id": format!("/tenants/{}", self.settings.tenant),
                    "tenantId": self.settings.tenant,
                    "displayName": "Simulated tenant",
                });
                Ok(Answer::json(200, json!({ "value": [tenant] })))
            }
            ["providers"] => Ok(self.providers("")),
            ["subscriptions", name, "providers"] => self
                .known(name)
                .map(|()| self.providers(&format!("/subscriptions/{name}"))),
            ["providers", namespace] => self.provider("", namespace),
            ["subscriptions", name, "providers", namespace] => self
                .known(name)
                .and_then(|()| self.provider(&format!("/subscriptions/{name}"), namespace)),
            ["subscriptions", name, "providers", namespace, "register"]
                if call.request.method == Method::POST =>
            {
                self.known(name)
                    .and_then(|()| self.provider(&format!("/subscriptions/{name}"), namespace))
            }
            ["subscriptions", name, "locations"] => self.known(name).map(|()| locations(name)),
            ["subscriptions", name, "resources"]
            | ["subscriptions", name, "resourcegroups", _, "resources"] => {
                self.known(name).map(|()| self.resources(call))
            }
            _ => return None,
        };
        Some(call.request.api_version().and(answer))
    }

    /// Whether a subscription exists: as the simulator was set up, or since an alias of it was made.
    pub(super) fn has_subscription(&self, name: &str) -> bool {
        self.settings.has_subscription(name) || self.aliased(name).is_some()
    }

    /// What an alias has made.
    fn aliased(&self, subscription: &str) -> Option<&Resource> {
        self.store.get(&subscription_id(subscription)?)
    }

    /// Cancels a subscription that an alias has made. `None` when the request is another one.
    pub(super) fn cancel_subscription(&mut self, call: &Call<'_>) -> Option<Handled> {
        let path = call.request.path.to_ascii_lowercase();
        let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let [
            "subscriptions",
            name,
            "providers",
            "microsoft.subscription",
            "cancel",
        ] = segments.as_slice()
        else {
            return None;
        };
        if call.request.method != Method::POST {
            return None;
        }
        let id = self.aliased(name).map(|made| made.id.clone());
        let Some(id) = id else {
            return Some(Err(ArmError::subscription_not_found(name)));
        };
        self.overwrite(&id, json!({"state": "Disabled"}));
        Some(Ok(Answer::json(200, json!({"subscriptionId": name}))))
    }

    fn known(&self, subscription: &str) -> Result<(), ArmError> {
        match self.has_subscription(subscription) {
            true => Ok(()),
            false => Err(ArmError::subscription_not_found(subscription)),
        }
    }

    fn providers(&self, scope: &str) -> Answer {
        let all: Vec<Value> = self
            .catalog
            .namespaces()
            .into_iter()
            .map(|namespace| self.provider_body(scope, namespace))
            .collect();
        Answer::json(200, json!({ "value": all }))
    }

    fn provider(&self, scope: &str, namespace: &str) -> Handled {
        let known = self.catalog.namespaces();
        let found = known
            .iter()
            .find(|name| name.eq_ignore_ascii_case(namespace));
        match found {
            Some(name) => Ok(Answer::json(200, self.provider_body(scope, name))),
            None => Err(ArmError::unknown_namespace(namespace)),
        }
    }

    fn provider_body(&self, scope: &str, namespace: &str) -> Value {
        let types: Vec<Value> = self
            .catalog
            .in_namespace(namespace)
            .map(type_body)
            .collect();
        json!({
            "id": format!("{scope}/providers/{namespace}"),
            "namespace": namespace,
            "registrationState": "Registered",
            "registrationPolicy": "RegistrationRequired",
            "resourceTypes": types,
        })
    }

    fn resources(&self, call: &Call<'_>) -> Answer {
        let scope = call.request.path.trim_end_matches('/').to_ascii_lowercase();
        let scope = scope.trim_end_matches("resources");
        let listed = self.store.all().filter(|resource| {
            // Only what hangs directly under a group has an entry of its own, as in Azure.
            resource.visible
                && resource.id.key().starts_with(scope)
                && resource.id.parent().is_some_and(|parent| parent.is_group())
        });
        let items = listed.map(|resource| {
            let members = [
                "id", "name", "type", "kind", "location", "sku", "tags", "identity",
            ];
            let shown = members.iter().filter_map(|member| {
                let value = resource.body.get(*member)?;
                Some(((*member).to_owned(), value.clone()))
            });
            Value::Object(shown.collect())
        });
        self.page(call, items.collect())
    }

    pub(super) fn subscription(&self, name: &str) -> Handled {
        self.known(name)?;
        Ok(Answer::json(200, self.subscription_body(name)))
    }

    pub(super) fn subscription_body(&self, name: &str) -> Value {
        let made = self.aliased(name);
        let state = made.and_then(|made| json::text(&made.body, &["state"]));
        json!({
            "id": format!("/subscriptions/{name}"),
            "subscriptionId": name,
            "tenantId": self.settings.tenant,
            "displayName": "Simulated subscription",
            "state": state.unwrap_or("Enabled"),
            "authorizationSource": "RoleBased",
            "managedByTenants": [],
            "subscriptionPolicies": {
                "locationPlacementId": "Public_2014-09-01",
                "quotaId": "PayAsYouGo_2014-09-01",
                "spendingLimit": "Off",
            },
        })
    }
}

fn subscription_id(name: &str) -> Option<ResourceId> {
    ResourceId::parse(&format!("/subscriptions/{name}"))
}

fn type_body(entry: &ArmType) -> Value {
    let relative = entry.name.split_once('/').map_or("", |(_, rest)| rest);
    let versions: Vec<&str> = entry.api_versions().rev().collect();
    json!({
        "resourceType": relative,
        "apiVersions": versions,
        "locations": LOCATIONS.map(|(_, long)| long),
    })
}

const LOCATIONS: [(&str, &str); 4] = [
    ("westus2", "West US 2"),
    ("eastus", "East US"),
    ("westeurope", "West Europe"),
    ("swedencentral", "Sweden Central"),
];

fn locations(subscription: &str) -> Answer {
    let all = LOCATIONS.map(|(name, long)| {
        json!({
            "id": format!("/subscriptions/{subscription}/locations/{name}"),
            "name": name,
            "displayName": long,
            "regionalDisplayName": long,
            "type": "Region",
        })
    });
    Answer::json(200, json!({ "value": all }))
}
