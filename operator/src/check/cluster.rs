//! From a cluster to what was found.

use std::sync::Arc;

use armature_runtime::azure::budget::Budget;
use armature_runtime::azure::credential::{NamespaceBounds, SecretReader};
use armature_runtime::engine::compare::DigestKey;
use armature_runtime::extension::Registry;
use armature_runtime::kind::KindInfo;
use armature_runtime::kubernetes::installed_crds;
use armature_runtime::reconcile::allowed_scopes::{AllowedScopes, Enforcement};
use armature_runtime::reconcile::time::Time;
use armature_runtime::resource::{Kind, Object};
use futures::{StreamExt, stream};
use kube::Client;

use super::credentials::{Rules, named};
use super::finding::{Checked, Finding};
use super::left::left;
use super::nobody::{Nobody, SUBSCRIPTION};
use crate::installation::Found;
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
    /// Namespace of the operator; where its Deployment is, if nobody says so.
    pub operator_namespace: Option<String>,
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
    let named = setting.operator_namespace.as_deref();
    let operator = Found::read(live, named).await.with_credential(live).await;
    checked.notes.extend(operator.notes());
    let rules = Rules::of(&operator.variables)?;
    let elsewhere = of_crds(client, setting, &mut checked).await;
    let (mut objects, problems) = live.objects(setting.kinds).await?;
    checked.problems.extend(problems);
    for (kind, version) in elsewhere {
        match live.objects_at(kind, &version).await {
            Ok(more) => objects.extend(more),
            Err(error) => checked.problems.push(error.to_string()),
        }
    }
    let world = world(live, setting, objects.clone()).await?;
    let targets = operator.variables.target_namespaces();
    let left = left(objects, &operator.namespace, &targets);
    checked.notes.extend(left.notes);
    of_secrets(&world, &rules, &left.objects, &mut checked).await;
    let looker = looker(&world, &rules, &operator, setting)?;
    of_objects(&looker, &left.objects, &mut checked).await?;
    checked.findings.sort();
    checked.unseen.sort();
    Ok(checked)
}

/// CRDs with versions that this release does not have. Who may read no CRDs learns of objects alone. Returned are those whose objects
/// are served at no version in which this release stores them, but at one in which they are stored now.
async fn of_crds(client: &Client, setting: &Setting, checked: &mut Checked) -> Vec<(Kind, String)> {
    let mut elsewhere = Vec::new();
    let crds = match installed_crds(client).await {
        Ok(crds) => crds,
        Err(error) => {
            checked.problems.push(error.to_string());
            return elsewhere;
        }
    };
    for crd in &crds {
        let Some(kind) = setting.kinds.iter().find(|kind| crd.is_of(kind)) else {
            continue;
        };
        match crd.readable_version(kind) {
            Some(version) if version == kind.hub.storage_version => {}
            Some(version) => elsewhere.push((Kind(kind), version.to_owned())),
            None => checked.problems.push(format!(
                "the cluster serves {} at no version that this release can read all of: its objects were not looked at",
                crd.metadata.name.as_deref().unwrap_or_default(),
            )),
        }
        let stored = crd.check_stored(kind).err();
        let served = crd.check_served(kind).err();
        let findings = [
            stored.map(|error| Finding::of_crd(crd, "status.storedVersions", error)),
            served.map(|error| Finding::of_crd(crd, "spec.versions", error)),
        ];
        checked.findings.extend(findings.into_iter().flatten());
    }
    elsewhere
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
                let bounds = NamespaceBounds::of(&world.namespace(&namespace));
                if let Err(error) = rules.check(&namespace, &name, &secret, &bounds) {
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
    operator: &Found,
    setting: &Setting,
) -> anyhow::Result<Looker> {
    let variables = &operator.variables;
    let mut settings = settings(&operator.namespace);
    variables.set(&mut settings)?;
    if let Some(scopes) = &setting.default_scopes {
        settings.default_scopes = Some(scopes.clone());
    }
    // Whatever the operator's mode is.
    settings.scopes_enforcement = Enforcement::Enforce;
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
