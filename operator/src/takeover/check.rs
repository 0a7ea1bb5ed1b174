//! What the first passes over the objects of a cluster would do, and what is no ordinary takeover.

use std::collections::{BTreeMap, BTreeSet};

use armature_runtime::names;
use armature_runtime::reconcile::annotations::{Annotations, Directives, needs_own_credential};
use armature_runtime::reconcile::policy::Policy;
use armature_runtime::reconcile::port::DataKind;
use armature_runtime::resource::Object;
use serde::Serialize;
use serde_json::Value;

use super::exception::Exception;
use super::found::{Found, Workload, kind_of};
use super::settings::Settings;
use crate::installation::{CREDENTIAL, Variables};
use crate::plan::{Action, Name, Plan};
use crate::relations::Node;
use crate::worlds::applied::Live;

/// Instead of a policy, where the settings leave a namespace out.
const NO_TARGET: &str = "none: not a target namespace";

/// What a check has come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Deployments of Azure Service Operator.
    pub former: Vec<Workload>,
    /// What they are told, and what becomes of it here.
    pub settings: Vec<Settings>,
    /// CRDs of kinds that Armature has.
    pub crds: usize,
    /// The objects.
    pub objects: Vec<Row>,
    /// What is no ordinary takeover, each with its reason.
    pub exceptions: Vec<Exception>,
    /// Requests to Azure that were sent, all of them reads.
    pub requests: usize,
    /// Azure was not asked.
    pub offline: bool,
}

/// One object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Which.
    #[serde(flatten)]
    pub name: Name,
    /// The version in which it was applied.
    pub version: String,
    /// Where its credential is.
    pub credential: String,
    /// Its policy, where it has one or its namespace does.
    pub policy: String,
    /// Whether it is ready now.
    pub ready: bool,
    /// What the first pass would do.
    pub action: Action,
}

/// Namespaces, as far as they matter for their objects.
#[derive(Clone, Debug, Default)]
pub struct Namespaces {
    managed: Managed,
    annotations: BTreeMap<String, Annotations>,
    with_credential: BTreeSet<String>,
}

/// What of an operator's settings says which objects it manages, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Managed {
    /// The namespaces; all where there are none.
    pub namespaces: BTreeSet<String>,
    /// Policy of objects that have none, in namespaces that have none.
    pub policy: Policy,
}

impl Managed {
    /// What variables say.
    ///
    /// # Errors
    /// When the policy means nothing.
    pub fn of(told: &Variables) -> anyhow::Result<Self> {
        Ok(Self {
            namespaces: told.target_namespaces(),
            policy: told.default_policy()?,
        })
    }
}

impl Namespaces {
    /// Looks at the namespaces of these objects.
    ///
    /// # Errors
    /// When one cannot be read.
    pub async fn read(live: &Live, objects: &[Object], managed: Managed) -> anyhow::Result<Self> {
        let names: BTreeSet<String> = objects
            .iter()
            .map(|object| object.key().namespace)
            .collect();
        let mut found = Self {
            managed,
            ..Self::default()
        };
        for name in names {
            let annotations = live.namespace(&name).await?;
            let credential = names::NAMESPACE_CREDENTIAL;
            if live
                .data(DataKind::Secret, &name, credential)
                .await?
                .is_some()
            {
                found.with_credential.insert(name.clone());
            }
            found.annotations.insert(name, annotations);
        }
        Ok(found)
    }

    fn credential(&self, object: &Object) -> String {
        let namespace = object.key().namespace;
        match annotation(object, names::CREDENTIAL_FROM) {
            Some(name) => format!("Secret {namespace}/{name}"),
            None if self.with_credential.contains(&namespace) => {
                format!("Secret {namespace}/{}", names::NAMESPACE_CREDENTIAL)
            }
            None if self
                .annotations
                .get(&namespace)
                .is_some_and(needs_own_credential) =>
            {
                format!("none: namespace {namespace} may not use the operator's")
            }
            None => "the operator's".to_owned(),
        }
    }

    fn policy(&self, object: &Object) -> String {
        let none = Annotations::new();
        let namespace = object.key().namespace;
        let targets = &self.managed.namespaces;
        if !targets.is_empty() && !targets.contains(&namespace) {
            return NO_TARGET.to_owned();
        }
        let of_namespace = self.annotations.get(&namespace).unwrap_or(&none);
        let own = object.metadata.annotations.as_ref().unwrap_or(&none);
        match Directives::read(own, (&namespace, of_namespace), self.managed.policy) {
            Ok(directives) => directives.policy.as_str().to_owned(),
            // As it is written: what means nothing is told elsewhere.
            Err(_) => own
                .get(names::RECONCILE_POLICY)
                .or_else(|| of_namespace.get(names::RECONCILE_POLICY))
                .map_or(self.managed.policy.as_str(), String::as_str)
                .to_owned(),
        }
    }
}

fn annotation<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    let annotations = object.metadata.annotations.as_ref()?;
    annotations.get(name).map(String::as_str)
}

/// Objects that are not ready.
pub fn not_ready(objects: &[Object]) -> BTreeSet<String> {
    let nodes = objects.iter().map(Node::of);
    let unready = nodes.filter(|node| !node.is_fine());
    unready
        .map(|node| format!("{} {}/{}", node.kind, node.namespace, node.name))
        .collect()
}

/// Puts together what was found.
pub fn check(
    found: &Found,
    settings: Vec<Settings>,
    objects: &[Object],
    namespaces: &Namespaces,
    plan: &Plan,
) -> Check {
    let actions: BTreeMap<&Name, &crate::plan::Resource> = plan
        .resources
        .iter()
        .map(|resource| (&resource.name, resource))
        .collect();
    let rows: Vec<Row> = objects
        .iter()
        .map(|object| row(object, namespaces, &actions))
        .collect();
    let mut exceptions = of_crds(found);
    exceptions.extend(of_operators(found, objects, &rows));
    exceptions.extend(settings.iter().flat_map(|it| it.exceptions.clone()));
    exceptions.extend(of_objects(&rows, &actions));
    let problems = plan
        .problems
        .iter()
        .map(|problem| Exception::new("the cluster".to_owned(), problem.clone()));
    exceptions.extend(problems);
    Check {
        former: found.former.clone(),
        settings,
        crds: found.crds.len(),
        objects: rows,
        exceptions,
        requests: plan.requests,
        offline: plan.offline,
    }
}

fn row(
    object: &Object,
    namespaces: &Namespaces,
    actions: &BTreeMap<&Name, &crate::plan::Resource>,
) -> Row {
    let node = Node::of(object);
    let is_ready = node.is_fine();
    let name = Name {
        group: node.group,
        kind: node.kind,
        namespace: node.namespace,
        name: node.name,
    };
    let spec = object.spec.as_deref().map(serde_json::value::RawValue::get);
    let spec: Value = spec
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    Row {
        version: spec["originalVersion"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        credential: namespaces.credential(object),
        policy: namespaces.policy(object),
        ready: is_ready,
        action: actions
            .get(&name)
            .map_or(Action::Held, |resource| resource.action),
        name,
    }
}

fn of_crds(found: &Found) -> Vec<Exception> {
    let stored = found.crds.iter().filter_map(|crd| {
        let error = crd.check_stored(kind_of(crd)?).err()?;
        Some(Exception::new(
            format!("CRD {}", crd.metadata.name.as_deref().unwrap_or_default()),
            error.to_string(),
        ))
    });
    let unknown = found.unknown.iter().map(|name| Exception::new(
        format!("CRD {name}"),
        "Armature does not have this kind: its objects stay as they are, and cannot be read or changed at other than \
                  the stored version when Azure Service Operator is gone"
            .to_owned(),
    ));
    let served = found.crds.iter().filter_map(|crd| {
        let error = crd.check_served(kind_of(crd)?).err()?;
        Some(Exception::new(
            format!("CRD {}", crd.metadata.name.as_deref().unwrap_or_default()),
            format!("requests at a version that it serves would fail: {error}"),
        ))
    });
    stored.chain(served).chain(unknown).collect()
}

fn of_operators(found: &Found, objects: &[Object], rows: &[Row]) -> Vec<Exception> {
    let mut exceptions = Vec::new();
    if found.former.is_empty() {
        exceptions.push(Exception::new(
            "Azure Service Operator".to_owned(),
            "no Deployment runs its image; if it runs all the same, stop it before Armature starts"
                .to_owned(),
        ));
    }
    let needs_own = rows.iter().any(|row| row.credential == "the operator's");
    let has_own = found
        .namespaces()
        .iter()
        .any(|name| found.credentials.contains(name));
    if needs_own && !has_own {
        exceptions.push(Exception::new(
            format!("Secret {CREDENTIAL}"),
            "objects use the operator's own credential, and no namespace with an operator has this Secret; give \
                      Armature's chart the credential"
                .to_owned(),
        ));
    }
    let owners = objects
        .iter()
        .filter_map(|object| annotation(object, names::OPERATOR_NAMESPACE));
    let owners: BTreeSet<&str> = owners.collect();
    let known = found.namespaces();
    for owner in owners {
        if !found.former.is_empty() && !known.iter().any(|name| name == owner) {
            exceptions.push(Exception::new(
                format!("objects of the operator in namespace {owner}"),
                "there is no such operator; an Armature in that namespace manages them, and no other one".to_owned(),
            ));
        }
    }
    exceptions
}

fn of_objects(rows: &[Row], actions: &BTreeMap<&Name, &crate::plan::Resource>) -> Vec<Exception> {
    let exception = |row: &Row| {
        let resource = actions.get(&row.name);
        let message = match (row.action, row.ready) {
            (Action::Unchanged | Action::Adopt | Action::Held, true) => return None,
            (Action::Unchanged | Action::Adopt | Action::Held, false) => {
                "it is not ready now".to_owned()
            }
            (action, _) => {
                let told = resource.and_then(|resource| resource.message.clone());
                let changed = resource.map(|resource| {
                    let paths = resource
                        .properties
                        .iter()
                        .map(|property| property.path.clone());
                    paths.collect::<Vec<_>>().join(", ")
                });
                let details = [told, changed]
                    .into_iter()
                    .flatten()
                    .filter(|text| !text.is_empty());
                let details: Vec<String> = details.collect();
                match details.is_empty() {
                    true => format!("the first pass would {}", verb(action)),
                    false => format!(
                        "the first pass would {}: {}",
                        verb(action),
                        details.join("; ")
                    ),
                }
            }
        };
        Some(Exception::new(row.name.to_string(), message))
    };
    rows.iter().filter_map(exception).collect()
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Create => "create it in Azure",
        Action::Update => "change it in Azure",
        Action::Replace => "be refused by Azure",
        Action::Send => "send it",
        Action::Delete => "delete it in Azure",
        Action::Release => "let it go",
        Action::Blocked => "do nothing",
        Action::Waiting => "wait for Azure",
        Action::Adopt | Action::Held | Action::Unchanged => "change nothing",
    }
}

#[cfg(test)]
mod tests {
    use armature_runtime::resource::Kind;
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn the_policy_of_an_object_is_that_which_the_settings_leave() {
        let managed = |policy, targets: &[&str]| Managed {
            namespaces: targets.iter().map(|name| (*name).to_owned()).collect(),
            policy,
        };
        let policy = |own: Option<&str>, of_namespace: Option<&str>, managed: Managed| {
            let annotations = |policy: Option<&str>| {
                let named =
                    policy.map(|policy| (names::RECONCILE_POLICY.to_owned(), policy.to_owned()));
                named.into_iter().collect::<Annotations>()
            };
            let metadata =
                json!({"name": "a", "namespace": "web", "annotations": annotations(own)});
            let object = Object {
                kind: Kind(armature_generated::KINDS[0]),
                metadata: from_value(metadata).unwrap(),
                spec: None,
                status: None,
            };
            let namespaces = Namespaces {
                managed,
                annotations: BTreeMap::from([("web".to_owned(), annotations(of_namespace))]),
                ..Namespaces::default()
            };
            namespaces.policy(&object)
        };
        let (manage, skip, detach) = (Policy::Manage, Policy::Skip, Policy::DetachOnDelete);
        for (own, of_namespace, managed, expected) in [
            (None, None, managed(manage, &[]), "manage"),
            (None, None, managed(skip, &[]), "skip"),
            (None, Some("manage"), managed(skip, &["web"]), "manage"),
            (
                Some("detach-on-delete"),
                None,
                managed(skip, &[]),
                "detach-on-delete",
            ),
            (None, None, managed(detach, &[]), "detach-on-delete"),
            (None, None, managed(manage, &["api"]), NO_TARGET),
            (Some("manage"), None, managed(manage, &["api"]), NO_TARGET),
        ] {
            let found = policy(own, of_namespace, managed.clone());
            assert_eq!(found, expected, "{own:?} {of_namespace:?} {managed:?}");
        }
    }
}
