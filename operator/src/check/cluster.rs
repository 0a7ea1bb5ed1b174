//! From a cluster to what was found.

use std::collections::BTreeMap;
use std::sync::Arc;

use armature_runtime::azure::budget::Budget;
use armature_runtime::azure::credential::SecretReader;
use armature_runtime::engine::compare::DigestKey;
use armature_runtime::extension::Registry;
use armature_runtime::kind::KindInfo;
use armature_runtime::kubernetes::installed_crds;
use armature_runtime::names;
use armature_runtime::reconcile::allowed_scopes::AllowedScopes;
use armature_runtime::reconcile::time::Time;
use armature_runtime::resource::Object;
use futures::{StreamExt, stream};
use kube::Client;

use super::credentials::{Rules, named};
use super::finding::{Checked, Finding};
use super::nobody::{Nobody, SUBSCRIPTION};
use super::variables::Variables;
use crate::plan::look::{Azure, Looker, settings};
use crate::plan::order::{Order, exported};
use crate::plan::planner::UNLIMITED;
use crate::transports::reading::Reading;
use crate::worlds::applied::state::Parts;
use crate::worlds::applied::{Applied, Live};
use crate::worlds::manifests::inventory::Manifests;

/// Objects that are looked at at a time.
const AT_A_TIME: usize = 16;

/// What is known beside the cluster.
pub struct Setting {
    /// The kinds that there are.
    pub kinds: &'static [&'static KindInfo],
    /// Extensions of the kinds.
    pub extensions: Registry,
    /// Namespace of the operator.
    pub operator_namespace: String,
    /// Scopes of namespaces that name none, where somebody says so beside the operator.
    pub default_scopes: Option<AllowedScopes>,
    /// The subscription of the operator's own credential, where the operator's Secret does not say it.
    pub subscription: Option<String>,
}

/// What of a cluster this release refuses.
///
/// # Errors
/// When the cluster cannot be read, or the operator's settings make no sense.
pub async fn check(client: &Client, live: &Live, setting: &Setting) -> anyhow::Result<Checked> {
    let mut checked = Checked::default();
    of_crds(client, setting, &mut checked).await;
    let variables = Variables::read(client, live, &setting.operator_namespace).await;
    checked.notes.extend(variables.note.clone());
    let rules = Rules::of(&variables)?;
    let (objects, problems) = live.objects(setting.kinds).await?;
    checked.problems.extend(problems);
    let world = world(live, setting, objects.clone()).await?;
    let objects = left(objects, &setting.operator_namespace, &mut checked);
    of_secrets(&world, &rules, &objects, &mut checked).await;
    let looker = looker(&world, &rules, &variables, setting)?;
    of_objects(&looker, &objects, &mut checked).await?;
    checked.findings.sort();
    checked.unseen.sort();
    Ok(checked)
}

/// The objects without those of operators in other namespaces, which have settings of their own.
fn left(objects: Vec<Object>, operator: &str, checked: &mut Checked) -> Vec<Object> {
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    let mut left = Vec::new();
    for object in objects {
        let annotations = object.metadata.annotations.as_ref();
        let of = annotations.and_then(|entries| entries.get(names::OPERATOR_NAMESPACE));
        // Without a word it is for whoever comes first.
        match of.filter(|of| !of.is_empty() && *of != operator) {
            Some(other) => *others.entry(other.clone()).or_default() += 1,
            None => left.push(object),
        }
    }
    let told = others.into_iter().map(|(namespace, count)| {
        format!(
            "{count} objects of the operator in namespace {namespace} were left out: look at them with --operator-namespace {namespace}"
        )
    });
    // They are looked at apart, so that this check can come out well.
    checked.notes.extend(told);
    left
}

/// CRDs with versions that this release does not have. Who may read no CRDs learns of objects alone.
async fn of_crds(client: &Client, setting: &Setting, checked: &mut Checked) {
    let crds = match installed_crds(client).await {
        Ok(crds) => crds,
        Err(error) => {
            checked.problems.push(error.to_string());
            return;
        }
    };
    for crd in &crds {
        let Some(kind) = setting.kinds.iter().find(|kind| crd.is_of(kind)) else {
            continue;
        };
        if !crd.serves(kind) {
            checked.problems.push(format!(
                "the cluster does not serve {} at {}, in which this release stores objects: they were not looked at",
                crd.metadata.name.as_deref().unwrap_or_default(),
                kind.hub.storage_version
            ));
        }
        let stored = crd.check_stored(kind).err();
        let served = crd.check_served(kind).err();
        let findings = [
            stored.map(|error| Finding::of_crd(crd, "status.storedVersions", error)),
            served.map(|error| Finding::of_crd(crd, "spec.versions", error)),
        ];
        checked.findings.extend(findings.into_iter().flatten());
    }
}

async fn world(
    live: &Live,
    setting: &Setting,
    objects: Vec<Object>,
) -> anyhow::Result<Arc<Applied>> {
    let parts = Parts {
        kinds: setting.kinds.to_vec(),
        manifests: Manifests::default(),
        live: Some(live.clone()),
        exported: exported(&objects),
        objects,
        // Nothing is compared with what was sent before.
        digest_key: DigestKey::random(),
    };
    Ok(Arc::new(Applied::new(parts).await?))
}

async fn of_secrets(world: &Applied, rules: &Rules, objects: &[Object], checked: &mut Checked) {
    for (namespace, name) in named(objects) {
        match world.read_secret(&namespace, &name).await {
            Ok(Some(secret)) => {
                checked.secrets += 1;
                if let Err(error) = rules.check(&namespace, &name, &secret) {
                    let finding = Finding::of_secret(&namespace, &name, &error);
                    checked.findings.push(finding);
                }
            }
            // An object that names it is not ready, and says so.
            Ok(None) => {}
            Err(error) => checked.problems.push(error),
        }
    }
}

fn looker(
    world: &Arc<Applied>,
    rules: &Rules,
    variables: &Variables,
    setting: &Setting,
) -> anyhow::Result<Looker> {
    let mut settings = settings(&setting.operator_namespace);
    settings.default_scopes = match (&setting.default_scopes, variables.get("ALLOWED_SCOPES")) {
        (Some(scopes), _) => Some(scopes.clone()),
        (None, Some(text)) => Some(AllowedScopes::parse(&text)?),
        (None, None) => None,
    };
    let own = variables.get(SUBSCRIPTION);
    let nobody = Nobody {
        secrets: world.clone(),
        subscription: own.or_else(|| setting.subscription.clone()),
        endpoint: rules.cloud.endpoint.to_string(),
    };
    Ok(Looker {
        world: world.clone(),
        azure: Azure::Asked(Arc::new(Reading::new(Arc::new(nobody)))),
        extensions: setting.extensions.clone(),
        budget: Arc::new(Budget::new(UNLIMITED)),
        time: Time::default(),
        settings,
    })
}

/// Each object, with all others as if they were ready: what stands against one says nothing of those that need it.
async fn of_objects(
    looker: &Looker,
    objects: &[Object],
    checked: &mut Checked,
) -> anyhow::Result<()> {
    looker
        .find_places(objects, &Order::of(objects), AT_A_TIME)
        .await;
    let looks = objects.iter().map(async |object| {
        let key = object.key();
        looker.check_stored(&key).await.map(|found| (key, found))
    });
    let mut looks = stream::iter(looks).buffer_unordered(AT_A_TIME);
    while let Some(look) = looks.next().await {
        let (key, found) = look?;
        checked.objects += 1;
        let refused = found.refused.iter();
        let refused = refused.map(|failure| Finding::of_object(&key, failure));
        checked.findings.extend(refused);
        let unseen = found.unseen.iter();
        let unseen = unseen.map(|failure| Finding::of_object(&key, failure));
        checked.unseen.extend(unseen);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use armature_runtime::resource::Kind;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    use super::*;

    #[test]
    fn objects_of_other_operators_are_left_out_and_told_of() {
        let of = |operator: Option<&str>| Object {
            kind: Kind(armature_generated::KINDS[0]),
            metadata: ObjectMeta {
                annotations: operator
                    .map(|name| [(names::OPERATOR_NAMESPACE.to_owned(), name.to_owned())].into()),
                ..ObjectMeta::default()
            },
            spec: None,
            status: None,
        };
        let operators = [None, Some(""), Some("ours"), Some("web"), Some("web")];
        let mut checked = Checked::default();
        let left = left(operators.map(of).into(), "ours", &mut checked);
        assert_eq!(left.len(), 3, "whoever comes first takes the others");
        let [note] = checked.notes.as_slice() else {
            panic!("{:?}", checked.notes);
        };
        assert!(note.starts_with("2 objects of the operator in namespace web"));
        assert!(checked.problems.is_empty(), "that is no failure");
    }
}
