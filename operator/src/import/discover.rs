//! What there is: in a subscription, in a resource group, below a resource and on it.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use armature_customizations::listing::{Listing, listing};
use armature_runtime::azure::graph::{Query, Table};
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, NameRule};
use serde_json::Value;

use super::known::{Known, is_extension, version};
use super::reader::{Reader, Refused};

/// api-version of ARM's own lists of what a subscription or a resource group has.
const LISTS: &str = "2021-04-01";
/// ARM type of resource groups.
const GROUP: &str = "Microsoft.Resources/resourceGroups";

/// Which types are wanted: those, and what is below them.
#[derive(Clone, Debug, Default)]
pub struct Types(Vec<String>);

impl Types {
    /// These; all, where there are none.
    pub fn new(types: impl IntoIterator<Item = String>) -> Self {
        Self(types.into_iter().map(|name| name.to_lowercase()).collect())
    }

    /// Whether resources of a type are wanted.
    pub fn keep(&self, arm_type: &str) -> bool {
        let name = arm_type.to_lowercase();
        self.0.is_empty() || self.0.iter().any(|wanted| is_within(&name, wanted))
    }

    /// Whether wanted resources may be below or on one of a type.
    pub fn lead(&self, arm_type: &str, known: &Known) -> bool {
        let name = arm_type.to_lowercase();
        let is_extension = |wanted: &String| known.of_type(wanted).is_some_and(is_extension);
        self.keep(arm_type)
            || self
                .0
                .iter()
                .any(|wanted| is_within(wanted, &name) || is_extension(wanted))
    }
}

fn is_within(name: &str, above: &str) -> bool {
    let rest = name.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What was found, and what kept more from being found.
#[derive(Debug, Default)]
pub struct Found {
    /// Ids.
    pub ids: Vec<ResourceId>,
    /// Lists that could not be read, and why.
    pub unread: Vec<(String, String)>,
}

impl Found {
    fn add<'t>(&mut self, ids: impl IntoIterator<Item = &'t str>) {
        let ids = ids.into_iter().map(ResourceId::parse);
        self.ids.extend(ids.filter_map(Result::ok));
    }

    fn unread(&mut self, what: impl Into<String>, why: &Refused) {
        self.unread.push((what.into(), why.to_string()));
    }
}

/// Finds what there is.
pub struct Finder<'a> {
    /// The kinds that there are.
    pub known: &'a Known,
    /// Which of them are wanted.
    pub types: &'a Types,
    /// Reads.
    pub reader: &'a Reader,
    /// What Azure has said about lists.
    pub refusals: Refusals,
}

/// Types of resources in lower case, and types that do not stand on any of them.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<HashSet<(String, &'static str)>>);

impl Refusals {
    fn add(&self, on: &str, kind: &'static KindInfo) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert((on.to_lowercase(), kind.remote_type()));
    }

    fn has(&self, on: &str, kind: &'static KindInfo) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains(&(on.to_lowercase(), kind.remote_type()))
    }
}

impl Finder<'_> {
    /// What is directly below a subscription, a resource group or a resource, or on it. What was named is where lists begin that
    /// tell of everything below, too.
    pub async fn below(&self, id: &ResourceId, is_named: bool) -> Found {
        let mut found = Found::default();
        let arm_type = id.arm_type();
        let is_group = arm_type.eq_ignore_ascii_case(GROUP);
        let is_scope = is_group || id.as_str().matches('/').count() == 2;
        if is_scope && is_named {
            self.within(id, is_group, &mut found).await;
        }
        for kind in self.known.below(&arm_type) {
            if self.types.lead(kind.remote_type(), self.known) {
                self.children(id, kind, &mut found).await;
            }
        }
        let stands_on_another = self.known.of(id).is_some_and(is_extension);
        for kind in self.known.extensions() {
            if !stands_on_another && self.types.lead(kind.remote_type(), self.known) {
                self.on(id, kind, is_named, &mut found).await;
            }
        }
        found
    }

    /// What a subscription or a resource group has: by the Graph, else by ARM's own lists.
    async fn within(&self, scope: &ResourceId, is_group: bool, found: &mut Found) {
        match self.by_graph(scope, is_group).await {
            Ok(ids) => found.add(ids.iter().map(String::as_str)),
            Err(_) => {
                self.by_list(scope, "resources", found).await;
                if !is_group {
                    self.by_list(scope, "resourcegroups", found).await;
                }
            }
        }
        found.ids.retain(|id| self.is_in(id, scope));
    }

    async fn by_graph(&self, scope: &ResourceId, is_group: bool) -> Result<Vec<String>, Refused> {
        let subscriptions = [scope.subscription().unwrap_or_default().to_owned()];
        let mut types = self.known.top_types();
        types.retain(|name| self.types.lead(name, self.known));
        let mut ids = Vec::new();
        for table in Table::ALL {
            let of_table = types.iter().filter(|name| Table::of(name) == table);
            let of_table: Vec<&str> = of_table.copied().collect();
            let is_asked = !is_group || table == Table::Resources;
            if is_asked && !of_table.is_empty() {
                let query = Query::shown(table, &subscriptions, &of_table);
                ids.extend(self.reader.shown(&query).await?);
            }
        }
        Ok(ids)
    }

    async fn by_list(&self, scope: &ResourceId, list: &str, found: &mut Found) {
        let url = format!("{scope}/{list}?api-version={LISTS}");
        match self.reader.list(&url).await {
            Ok(items) => found.add(ids_of(&items)),
            Err(why) => found.unread(format!("{scope}/{list}"), &why),
        }
    }

    /// Whether a resource is directly in a scope, of a kind that is known and wanted. What is in the resources comes with them.
    fn is_in(&self, id: &ResourceId, scope: &ResourceId) -> bool {
        let (own, scope) = (id.as_str().to_lowercase(), scope.as_str().to_lowercase());
        let arm_type = id.arm_type();
        is_within(&own, &scope)
            && own != scope
            && arm_type.matches('/').count() == 1
            && self.known.of_type(&arm_type).is_some()
            && self.types.lead(&arm_type, self.known)
    }

    /// Resources of a kind directly below another.
    async fn children(&self, id: &ResourceId, kind: &'static KindInfo, found: &mut Found) {
        let Some(version) = version(kind) else { return };
        let list = format!("{id}/{}", kind.arm_type_segment());
        let url = format!("{}?api-version={}", path(&list), version.api_version);
        match self.reader.list(&url).await {
            Ok(items) => {
                let before = found.ids.len();
                found.add(ids_of(&items));
                let mut position = 0;
                found.ids.retain(|child| {
                    position += 1;
                    position <= before || is_below(child, &list)
                });
            }
            Err(Refused::Gone | Refused::NoSuchList(_) | Refused::NotOfType(_)) => {
                // There is one at most, and it can be asked for.
                if let NameRule::Fixed(name) = kind.name {
                    found.add([format!("{list}/{name}").as_str()]);
                }
            }
            Err(why) => found.unread(list, &why),
        }
    }

    /// Resources of a kind that stand on another.
    async fn on(
        &self,
        id: &ResourceId,
        kind: &'static KindInfo,
        is_named: bool,
        found: &mut Found,
    ) {
        let Some(version) = version(kind) else { return };
        let (arm_type, listing) = (id.arm_type(), listing(kind.remote_type()));
        let (is_asked, query) = match listing {
            Some(Listing::WithAllBelow { query }) => (is_named, query),
            Some(Listing::On(types)) => {
                let mut types = types.iter();
                (types.any(|name| name.eq_ignore_ascii_case(&arm_type)), "")
            }
            None => (!self.refusals.has(&arm_type, kind), ""),
        };
        if !is_asked {
            return;
        }
        let list = format!("{id}/providers/{}", kind.remote_type());
        let url = format!("{}?api-version={}", path(&list), version.api_version);
        let url = match query {
            "" => url,
            query => format!("{url}&{query}"),
        };
        // Few resources take all kinds of extensions, and the error of one that does not says nothing to anybody.
        match self.reader.list(&url).await {
            Ok(items) => {
                let ids = ids_of(&items).filter_map(|id| ResourceId::parse(id).ok());
                // Those of what is above are in the list too, and those of what is below in some.
                let is_wanted = |child: &ResourceId| match listing {
                    Some(Listing::WithAllBelow { .. }) => is_within_or_on(child, id),
                    _ => is_below(child, &list),
                };
                found.ids.extend(ids.filter(is_wanted));
            }
            Err(Refused::NotOfType(_)) => self.refusals.add(&arm_type, kind),
            Err(Refused::Gone | Refused::NoSuchList(_)) => {}
            // It would have told of more than one resource.
            Err(why) if matches!(listing, Some(Listing::WithAllBelow { .. })) => {
                found.unread(list, &why);
            }
            Err(_) => {}
        }
    }
}

/// Whether an extension stands on a resource, or on anything below it.
fn is_within_or_on(extension: &ResourceId, scope: &ResourceId) -> bool {
    let (extension, scope) = (
        extension.as_str().to_lowercase(),
        scope.as_str().to_lowercase(),
    );
    is_within(&extension, &scope)
}

/// Whether an id is that of a list and a name.
fn is_below(id: &ResourceId, list: &str) -> bool {
    let above = id.as_str().rsplit_once('/').map(|(above, _)| above);
    above.is_some_and(|above| above.eq_ignore_ascii_case(list))
}

fn ids_of(items: &[Value]) -> impl Iterator<Item = &str> {
    items.iter().filter_map(|item| item.get("id")?.as_str())
}

/// A path as it stands in a URL.
fn path(text: &str) -> String {
    let url = ResourceId::parse(&format!("{text}/x")).map(|id| id.url(""));
    let url = url.unwrap_or_else(|_| text.to_owned());
    let end = url.find("/x?").unwrap_or(url.len());
    url[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_types_bring_what_is_below_and_lead_from_what_is_above() {
        let known = Known::new(armature_generated::KINDS);
        let blobs = Types::new(["Microsoft.Storage/storageAccounts/blobServices".to_owned()]);
        for (name, keep, lead) in [
            ("Microsoft.Storage/storageAccounts", false, true),
            ("microsoft.storage/storageaccounts/BlobServices", true, true),
            (
                "Microsoft.Storage/storageAccounts/blobServices/containers",
                true,
                true,
            ),
            (
                "Microsoft.Storage/storageAccounts/queueServices",
                false,
                false,
            ),
            ("Microsoft.Storage/storageAccountsX", false, false),
        ] {
            assert_eq!(
                (blobs.keep(name), blobs.lead(name, &known)),
                (keep, lead),
                "{name}"
            );
        }
        let roles = Types::new(["Microsoft.Authorization/roleAssignments".to_owned()]);
        assert!(roles.lead("Microsoft.Storage/storageAccounts", &known));
        assert!(!roles.keep("Microsoft.Storage/storageAccounts"));
        assert!(Types::default().keep("Any.Thing/x"));
    }

    #[test]
    fn paths_are_those_of_urls() {
        assert_eq!(
            path("/subscriptions/s/resourceGroups/a b/providers/P.Q/r"),
            "/subscriptions/s/resourceGroups/a%20b/providers/P.Q/r"
        );
    }
}
