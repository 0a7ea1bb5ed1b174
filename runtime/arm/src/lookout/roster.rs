//! Which objects there are, and by whom they are asked about.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hasher};

use armature_azure::graph::Table;
use armature_azure::{CredentialKey, Transport};
use armature_reconcile::annotations::needs_own_credential;
use armature_reconcile::claim;
use armature_reconcile::inventory::Inventory;
use armature_shapes::id::segment;
use armature_shapes::kind::{KindInfo, Remote};
use armature_shapes::names;
use armature_shapes::resource::{Object, ObjectKey};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Stands for an ARM id, whatever its casing. Of 100,000 ids two have the same one with a chance of one in four billion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdMark(u64);

impl IdMark {
    /// That of an id.
    pub fn of(id: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        for byte in id.trim_end_matches('/').bytes() {
            hasher.write_u8(byte.to_ascii_lowercase());
        }
        Self(hasher.finish())
    }
}

/// An object that stands for something in a subscription.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The object. Its text is not kept: there may be tens of thousands, and a look takes its time.
    pub key: ObjectKey,
    /// Its ARM id.
    pub id: IdMark,
    /// Whether its syncs may be left out when the Graph shows it.
    pub may_rest: bool,
}

/// Objects that one principal asks about.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// A credential of the principal.
    pub credential: Option<CredentialKey>,
    /// Its objects.
    pub entries: Vec<Entry>,
    /// Their ARM types, by where the Graph would have them.
    pub types: BTreeMap<Table, BTreeSet<&'static str>>,
    /// Their subscriptions.
    pub subscriptions: BTreeSet<String>,
}

impl Group {
    /// Objects whose syncs may be left out.
    pub fn resting(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.may_rest)
    }

    fn join(&mut self, other: Self) {
        self.credential = self.credential.take().or(other.credential);
        self.entries.extend(other.entries);
        for (table, types) in other.types {
            self.types.entry(table).or_default().extend(types);
        }
        self.subscriptions.extend(other.subscriptions);
    }
}

/// All objects that somebody can ask about, by credential.
#[derive(Debug, Default)]
pub struct Roster(BTreeMap<CredentialKey, Group>);

impl Roster {
    /// Those of an inventory.
    pub fn of(inventory: &dyn Inventory) -> Self {
        let mut roster = Self::default();
        let mut namespaces: HashMap<String, Namespace> = HashMap::new();
        for object in inventory.all() {
            let name = object.metadata.namespace.clone().unwrap_or_default();
            let namespace = namespaces.entry(name).or_insert_with_key(|name| {
                let annotations = inventory.namespace(name);
                Namespace {
                    has_period: annotations.contains_key(names::SYNC_PERIOD),
                    has_credential: inventory.has_credential(name),
                    needs_own: needs_own_credential(&annotations),
                }
            });
            roster.add(&object, namespace);
        }
        roster
    }

    fn add(&mut self, object: &Object, namespace: &Namespace) {
        let Remote::Arm { arm_type, .. } = object.kind.0.remote else {
            return;
        };
        let is_going = object.metadata.deletion_timestamp.is_some();
        let Some(id) = claim::resource_id(object).filter(|_| !is_going) else {
            return;
        };
        let subscription = segment::subscription_of(id).filter(|name| !name.is_empty());
        let (Some(subscription), Some(credential)) = (subscription, credential(object, namespace))
        else {
            return;
        };
        let group = self.0.entry(credential.clone()).or_default();
        group.credential.get_or_insert(credential);
        let types = group.types.entry(Table::of(arm_type)).or_default();
        types.insert(arm_type);
        group
            .subscriptions
            .insert(subscription.to_ascii_lowercase());
        group.entries.push(Entry {
            key: object.key(),
            id: IdMark::of(id),
            may_rest: !namespace.has_period && may_rest(object),
        });
    }

    /// The same by who the credentials stand for: Azure counts questions by that.
    pub async fn by_principal(self, arm: &dyn Transport) -> BTreeMap<String, Group> {
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        for (credential, group) in self.0 {
            let principal = arm.principal(&credential).await;
            groups.entry(principal).or_default().join(group);
        }
        groups
    }
}

/// What counts of an object's namespace.
struct Namespace {
    has_period: bool,
    has_credential: Option<bool>,
    /// It may not use the operator's.
    needs_own: bool,
}

/// The credential that the object's passes use (ASO behaviour §1.8); nothing where that is not known.
fn credential(object: &Object, namespace: &Namespace) -> Option<CredentialKey> {
    let name = match annotation(object, names::CREDENTIAL_FROM) {
        Some(name) if name.is_empty() || name.contains('/') => return None,
        Some(name) => name,
        None if namespace.has_credential? => names::NAMESPACE_CREDENTIAL,
        None if namespace.needs_own => return None,
        None => return Some(CredentialKey::Global),
    };
    Some(CredentialKey::Secret {
        namespace: object.metadata.namespace.clone()?,
        name: name.to_owned(),
    })
}

/// Whether nothing but what the Graph shows counts for an object: it has no sync period of its own, is not sent at every sync,
/// and exports nothing that changes in Azure without the resource.
pub fn may_rest(object: &Object) -> bool {
    let is_always_sent = annotation(object, names::ALWAYS_PUT).is_some_and(|word| word != "false");
    annotation(object, names::SYNC_PERIOD).is_none()
        && !is_always_sent
        && !exports_from_elsewhere(object)
}

fn annotation<'o>(object: &'o Object, name: &str) -> Option<&'o str> {
    let annotations = object.metadata.annotations.as_ref()?;
    annotations.get(name).map(String::as_str)
}

/// The part of a spec that says what is exported.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Exporting {
    operator_spec: Option<OperatorSpec>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OperatorSpec {
    secrets: Option<IgnoredAny>,
    secret_expressions: Option<IgnoredAny>,
    config_maps: Option<BTreeMap<String, Option<IgnoredAny>>>,
}

impl OperatorSpec {
    /// Whether something is exported that is not in the resource: a secret, or what an exporter finds by itself.
    fn is_from_elsewhere(&self, kind: &KindInfo) -> bool {
        let mut config_maps = kind.config_maps.iter();
        let is_asked_for = |key: &str| {
            let destinations = self.config_maps.as_ref();
            destinations.is_some_and(|it| it.get(key).is_some_and(Option::is_some))
        };
        self.secrets.is_some()
            || self.secret_expressions.is_some()
            || config_maps.any(|it| it.status_path.is_empty() && is_asked_for(it.key))
    }
}

fn exports_from_elsewhere(object: &Object) -> bool {
    let spec = object.spec.as_ref().map_or("{}", |spec| spec.get());
    // The specs of most objects say nothing of the kind, and need not be parsed.
    if !spec.contains("\"operatorSpec\"") {
        return false;
    }
    match serde_json::from_str::<Exporting>(spec) {
        Ok(spec) => {
            let operator = spec.operator_spec;
            operator.is_some_and(|operator| operator.is_from_elsewhere(object.kind.0))
        }
        Err(_) => true,
    }
}
