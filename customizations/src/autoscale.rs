//! Autoscale settings of Azure Monitor, whether the operator manages them or not: they say between which numbers of units a
//! resource may move. One list per subscription tells of all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armature_runtime::arm::ArmContext;
use armature_runtime::azure::Method;
use armature_runtime::extension::{Context, ExtensionError, ScaleLookup};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// The api-version of the list.
const API_VERSION: &str = "2022-10-01";

/// How long a list counts. A scale set whose setting is new waits as long for it.
const KEPT_FOR: SignedDuration = SignedDuration::from_mins(1);

/// Most lists that are kept, one for each subscription and credential that asks.
const MOST: usize = 64;

/// What scales one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    /// Id of the resource, in lower case.
    target: String,
    least: i64,
    most: i64,
}

type Lists = BTreeMap<(String, String), (Timestamp, Arc<Vec<Setting>>)>;

/// Looks into the autoscale settings of the resource's subscription.
#[derive(Default)]
pub struct AutoscaleSettings {
    lists: Mutex<Lists>,
}

#[async_trait]
impl ScaleLookup for AutoscaleSettings {
    async fn bounds(
        &self,
        context: &Context,
        now: Timestamp,
    ) -> Result<Option<(i64, i64)>, ExtensionError> {
        let Some(id) = &context.id else {
            return Ok(None);
        };
        let Some(subscription) = id.subscription() else {
            return Ok(None);
        };
        let key = (context.arm().owner().await, subscription.to_lowercase());
        let kept = self.lists().get(&key).cloned();
        let kept = kept.filter(|(at, _)| now.duration_since(*at) < KEPT_FOR);
        let settings = match kept {
            Some((_, settings)) => settings,
            None => {
                let settings = Arc::new(list(context, subscription).await?);
                let mut lists = self.lists();
                lists.retain(|_, (at, _)| now.duration_since(*at) < KEPT_FOR);
                if lists.len() < MOST {
                    lists.insert(key, (now, settings.clone()));
                }
                settings
            }
        };
        Ok(bounds(&settings, id.as_str()))
    }
}

impl AutoscaleSettings {
    /// Never held while Azure is asked. Whoever panicked with it left whole lists.
    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All that scale the resource, together.
fn bounds(settings: &[Setting], id: &str) -> Option<(i64, i64)> {
    let of_it = || {
        settings
            .iter()
            .filter(|setting| setting.target.eq_ignore_ascii_case(id))
    };
    let least = of_it().map(|setting| setting.least).min()?;
    let most = of_it().map(|setting| setting.most).max()?;
    Some((least, most))
}

async fn list(context: &Context, subscription: &str) -> Result<Vec<Setting>, ExtensionError> {
    let url = format!(
        "/subscriptions/{subscription}/providers/Microsoft.Insights/autoscalesettings?api-version={API_VERSION}"
    );
    // A namespace that may use one group may know between which numbers its own resources are scaled.
    context.arm().admit_path(Method::Get, &url);
    let answer = context.arm().get_all(&url).await?;
    let items = answer["value"].as_array();
    Ok(items.into_iter().flatten().filter_map(setting).collect())
}

/// What an enabled setting says of its target.
fn setting(item: &Value) -> Option<Setting> {
    let properties = &item["properties"];
    if properties["enabled"] == false {
        return None;
    }
    let target = properties["targetResourceUri"].as_str()?.to_lowercase();
    let profiles = properties["profiles"].as_array()?;
    let number = |profile: &Value, name: &str| {
        let value = &profile["capacity"][name];
        value.as_i64().or_else(|| value.as_str()?.parse().ok())
    };
    let least = profiles
        .iter()
        .filter_map(|it| number(it, "minimum"))
        .min()?;
    let most = profiles
        .iter()
        .filter_map(|it| number(it, "maximum"))
        .max()?;
    Some(Setting {
        target,
        least,
        most,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn enabled_settings_say_between_which_numbers() {
        let profile = |least: &str, most: &str| json!({"capacity": {"minimum": least, "maximum": most, "default": least}});
        let item = |target: &str, enabled: Value, profiles: Value| json!({"properties": {"targetResourceUri": target, "enabled": enabled, "profiles": profiles}});
        let items = [
            item(
                "/subscriptions/s/A",
                json!(true),
                json!([profile("2", "5"), profile("1", "3")]),
            ),
            item(
                "/subscriptions/s/a",
                Value::Null,
                json!([profile("4", "9")]),
            ),
            item(
                "/subscriptions/s/b",
                json!(false),
                json!([profile("1", "2")]),
            ),
            item("/subscriptions/s/c", json!(true), json!([])),
        ];
        let settings: Vec<Setting> = items.iter().filter_map(setting).collect();
        let table = [
            ("/subscriptions/S/a", Some((1, 9))),
            ("/subscriptions/s/b", None),
            ("/subscriptions/s/c", None),
            ("/subscriptions/s/d", None),
        ];
        for (id, expected) in table {
            assert_eq!(bounds(&settings, id), expected, "{id}");
        }
    }
}
