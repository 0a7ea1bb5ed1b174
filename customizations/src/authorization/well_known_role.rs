//! RoleAssignment: the id of a built-in role that is called by its name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use armature_generated::authorization::hub::{RoleAssignment, RoleAssignmentKind};
use armature_runtime::arm::ArmContext;
use armature_runtime::extension::{ArmResourceModifier, Context, ExtensionError, Next};
use armature_runtime::quote::shortened;
use async_trait::async_trait;
use serde_json::{Value, json};

/// All role definitions that hold everywhere, in an api-version of their own whatever the assignment's is.
const LIST: &str = "/providers/Microsoft.Authorization/roleDefinitions?api-version=2022-04-01";
/// Azure adds a role now and then, and takes none away.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How soon the list is read again for a name that is not in it: it may be a new role's, or a mistake.
const KEPT_FOR_UNKNOWN: Duration = Duration::from_secs(5 * 60);
/// Most Azures whose lists are kept; those of others are read each time.
const ENDPOINTS: usize = 16;
/// Most pages of the list; there is one today.
const PAGES: usize = 20;

/// Puts the id of the built-in role into the body where the spec has `wellKnownName` (ASO behaviour §2.2). Names are compared in
/// any casing. Only roles that Azure itself made count: a role of the tenant could be called like one of them.
#[derive(Debug, Default)]
pub struct WellKnownRole {
    /// By the Azure that was asked: a namespace's Secret may name another one.
    read: Mutex<BTreeMap<String, Read>>,
}

/// The list as it was read.
#[derive(Clone, Debug)]
struct Read {
    at: Instant,
    roles: Arc<Roles>,
}

/// Names of roles in lower case, and the last segments of their ids.
type Roles = BTreeMap<String, String>;

#[async_trait]
impl ArmResourceModifier for WellKnownRole {
    type Hub = RoleAssignmentKind;

    async fn modify(
        &self,
        context: &Context,
        assignment: &RoleAssignment,
        mut body: Value,
        next: Next<'_, Value, Value>,
    ) -> Result<Value, ExtensionError> {
        if let Some(name) = wanted(assignment)
            && let Some(role) = self.role(context, name).await?
        {
            let subscription = context.id.as_ref().and_then(|id| id.subscription());
            body["properties"]["roleDefinitionId"] = json!(id(subscription, &role));
        }
        next.call_with(body).await
    }
}

impl WellKnownRole {
    /// The last segment of the role's id; `None` where there is no Azure that has roles, as when manifests are rendered.
    async fn role(&self, context: &Context, name: &str) -> Result<Option<String>, ExtensionError> {
        let known = name.trim().to_lowercase();
        let endpoint = context.arm().endpoint().await;
        let kept = self.kept(&endpoint);
        let now = Instant::now();
        if let Some(role) = kept.and_then(|read| answer(&read, now, &known)) {
            return role.map(Some).ok_or_else(|| unknown(name));
        }
        let Some(roles) = list(context).await?.map(Arc::new) else {
            return Ok(None);
        };
        let role = roles.get(&known).cloned();
        let read = Read { at: now, roles };
        self.keep(endpoint, read);
        role.map(Some).ok_or_else(|| unknown(name))
    }

    fn kept(&self, endpoint: &str) -> Option<Read> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.get(endpoint).cloned()
    }

    fn keep(&self, endpoint: String, read: Read) {
        let mut all = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let now = read.at;
        all.retain(|_, read| now.saturating_duration_since(read.at) < KEPT);
        if all.len() < ENDPOINTS || all.contains_key(&endpoint) {
            all.insert(endpoint, read);
        }
    }
}

/// What a list that was read earlier tells of a name: its role, that there is none, or nothing that counts any more.
fn answer(read: &Read, now: Instant, name: &str) -> Option<Option<String>> {
    let age = now.saturating_duration_since(read.at);
    match read.roles.get(name) {
        Some(role) => (age < KEPT).then(|| Some(role.clone())),
        None => (age < KEPT_FOR_UNKNOWN).then_some(None),
    }
}

fn wanted(assignment: &RoleAssignment) -> Option<&str> {
    let reference = assignment.spec.role_definition_reference.as_ref()?;
    reference.well_known_name.as_deref()
}

/// Azure shows a role of a subscription's assignments with that subscription.
fn id(subscription: Option<&str>, role: &str) -> String {
    let scope = subscription.map(|subscription| format!("/subscriptions/{subscription}"));
    format!(
        "{}/providers/Microsoft.Authorization/roleDefinitions/{role}",
        scope.unwrap_or_default()
    )
}

async fn list(context: &Context) -> Result<Option<Roles>, ExtensionError> {
    let mut roles = Roles::new();
    let mut url = LIST.to_owned();
    for _ in 0..PAGES {
        let Some(page) = context.arm().get(&url).await? else {
            return Ok(None);
        };
        let items = page.get("value").and_then(Value::as_array);
        let items = items.ok_or_else(|| no_list("the answer has no `value`"))?;
        roles.extend(items.iter().filter_map(built_in));
        let Some(next) = page.get("nextLink").and_then(Value::as_str) else {
            return Ok(Some(roles));
        };
        url = path_of(next).ok_or_else(|| no_list("the link to its next page is no URL"))?;
    }
    Err(no_list("it has too many pages"))
}

/// Name in lower case and last segment of the id.
fn built_in(definition: &Value) -> Option<(String, String)> {
    let text = |path: &str| definition.pointer(path).and_then(Value::as_str);
    if text("/properties/type") != Some("BuiltInRole") {
        return None;
    }
    Some((
        text("/properties/roleName")?.to_lowercase(),
        text("/name")?.to_owned(),
    ))
}

/// Path and query of an absolute URL.
fn path_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    Some(rest[rest.find('/')?..].to_owned())
}

fn no_list(why: &str) -> ExtensionError {
    ExtensionError::Other(format!(
        "the built-in roles cannot be read from Azure: {why}; name the role by its armId until they can"
    ))
}

fn unknown(name: &str) -> ExtensionError {
    let name = shortened(name);
    ExtensionError::Other(format!(
        "spec.roleDefinitionReference.wellKnownName: Azure has no built-in role '{name}'; write its name as Azure does, such as \
         Reader, or refer to a role definition by armId, or by group, kind and name"
    ))
}

#[cfg(test)]
mod tests {
    use armature_generated::authorization::hub::RoleAssignmentSpec;
    use armature_runtime::id::ResourceId;
    use armature_runtime::resource::WellKnownResourceReference;

    use super::*;
    use crate::testing::Doubles;

    const READER: &str = "acdd72a7-3385-48ef-bd42-f606fba81ae7";

    fn definition(name: &str, role: &str, origin: &str) -> Value {
        json!({"name": role, "properties": {"roleName": name, "type": origin}})
    }

    fn azure() -> Doubles {
        Doubles::answering(json!({"value": [
            definition("Reader", "made-by-the-tenant", "CustomRole"),
            definition("Reader", READER, "BuiltInRole"),
        ]}))
    }

    fn assignment(name: Option<&str>) -> RoleAssignment {
        let reference = WellKnownResourceReference {
            well_known_name: name.map(str::to_owned),
            ..WellKnownResourceReference::default()
        };
        let spec = RoleAssignmentSpec {
            role_definition_reference: Some(Box::new(reference)),
            ..RoleAssignmentSpec::default()
        };
        RoleAssignment::new("a", spec)
    }

    async fn sent(
        roles: &WellKnownRole,
        doubles: &Doubles,
        at: &str,
        name: Option<&str>,
    ) -> Result<Value, String> {
        let context = Context {
            id: ResourceId::parse(at).ok(),
            ..doubles.context()
        };
        let next = Next::new(|body| async move { Ok(body) });
        let body = json!({"properties": {"roleDefinitionId": name}});
        let body = roles.modify(&context, &assignment(name), body, next).await;
        let body = body.map_err(|error| error.to_string())?;
        Ok(body["properties"]["roleDefinitionId"].clone())
    }

    const OF_GROUP: &str =
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Authorization/roleAssignments/a";
    const OF_TENANT: &str = "/providers/Microsoft.Authorization/roleAssignments/a";

    #[tokio::test]
    async fn a_name_becomes_the_id_of_the_built_in_role() {
        let id = format!("/providers/Microsoft.Authorization/roleDefinitions/{READER}");
        let of_subscription = format!("/subscriptions/s{id}");
        for (at, name, expected) in [
            (OF_GROUP, "Reader", &of_subscription),
            (OF_GROUP, "rEADER", &of_subscription),
            (OF_TENANT, "Reader", &id),
        ] {
            let found = sent(&WellKnownRole::default(), &azure(), at, Some(name)).await;
            assert_eq!(found, Ok(json!(expected)), "{at} {name}");
        }
        let untouched = Doubles::default();
        let none = sent(&WellKnownRole::default(), &untouched, OF_GROUP, None).await;
        assert_eq!(none, Ok(Value::Null));
        untouched.assert_untouched();
    }

    #[tokio::test]
    async fn the_list_is_read_once_and_a_failure_is_not_kept() {
        let roles = WellKnownRole::default();
        let odd = Doubles::answering(json!({}));
        let refused = sent(&roles, &odd, OF_GROUP, Some("Reader")).await;
        assert!(refused.is_err_and(|message| message.contains("armId until")));
        let nothing = sent(&roles, &Doubles::default(), OF_GROUP, Some("Reader")).await;
        assert_eq!(nothing, Ok(json!("Reader")), "there is no Azure");
        let doubles = azure();
        for _ in 0..2 {
            sent(&roles, &doubles, OF_GROUP, Some("Reader"))
                .await
                .expect("an id");
            let unknown = sent(&roles, &doubles, OF_GROUP, Some("Raeder")).await;
            assert!(unknown.is_err_and(|message| message.contains("no built-in role 'Raeder'")));
            let long = sent(&roles, &doubles, OF_GROUP, Some(&"R".repeat(9_000))).await;
            assert!(
                long.is_err_and(|message| message.len() < 600),
                "quoted whole"
            );
        }
        assert_eq!(doubles.requests(), [format!("GET {LIST}")]);
    }

    /// A Secret of a namespace may name an Azure of its own, in which `Reader` is the id of `Owner`.
    #[tokio::test]
    async fn what_one_azure_says_holds_for_no_other() {
        let roles = WellKnownRole::default();
        let theirs = Doubles::answering(json!({"value": [
            definition("Reader", "owner", "BuiltInRole"),
        ]}));
        let theirs = theirs.at("https://theirs.example.com/");
        let forged = sent(&roles, &theirs, OF_TENANT, Some("Reader")).await;
        let of = |role| {
            json!(format!(
                "/providers/Microsoft.Authorization/roleDefinitions/{role}"
            ))
        };
        assert_eq!(forged, Ok(of("owner")));
        let own = azure();
        let found = sent(&roles, &own, OF_TENANT, Some("Reader")).await;
        assert_eq!(found, Ok(of(READER)));
    }

    #[test]
    fn how_long_a_list_counts() {
        let at = Instant::now();
        let read = Read {
            at,
            roles: Arc::new(Roles::from([("reader".to_owned(), READER.to_owned())])),
        };
        let minute = Duration::from_secs(60);
        let reader = Some(Some(READER.to_owned()));
        for (name, age, expected) in [
            ("reader", minute, reader.clone()),
            ("reader", 60 * minute, reader),
            ("reader", 25 * 60 * minute, None),
            ("raeder", minute, Some(None)),
            ("raeder", 6 * minute, None),
        ] {
            assert_eq!(answer(&read, at + age, name), expected, "{name} {age:?}");
        }
    }

    #[test]
    fn the_path_of_a_link() {
        let link = "https://management.azure.com/providers/x?a=b&$skiptoken=2";
        assert_eq!(
            path_of(link).as_deref(),
            Some("/providers/x?a=b&$skiptoken=2")
        );
        assert_eq!(path_of("no link"), None);
    }
}
