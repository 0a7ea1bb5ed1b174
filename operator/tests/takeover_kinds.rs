//! A cluster with objects of many kinds, as Azure Service Operator leaves it, is taken over without a write, and given back.
//!
//! A first operator brings the samples to an end, so Azure has what it would have of them. Then everything in the cluster becomes
//! what it is under Azure Service Operator: CRDs with its versions, its schemas and its conversion, its annotations, labels and
//! conditions. A part of the samples is taken over so, and all with `cargo xtask test --all`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod aso;
mod commands;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use armature_generated::KINDS;
use armature_runtime::kind::KindInfo;
use armature_simulator::Query;
use aso::every_kind::{self, Folder};
use aso::{NAMESPACE, SERVICE, crds};
use commands::World;
use futures::StreamExt;
use serde_json::{Value, json};

/// Kinds of Azure Service Operator that Armature does not have, with reasons. Their objects stay as they are.
const UNKNOWN: [(&str, &str); 7] = [
    (
        "dbformysql.azure.com/User",
        "no resource of Azure Resource Manager",
    ),
    (
        "dbforpostgresql.azure.com/User",
        "no resource of Azure Resource Manager",
    ),
    (
        "sql.azure.com/User",
        "no resource of Azure Resource Manager",
    ),
    (
        "entra.azure.com/SecurityGroup",
        "no resource of Azure Resource Manager",
    ),
    (
        "redhatopenshift.azure.com/HcpOpenShiftCluster",
        "its version is in no public spec",
    ),
    (
        "redhatopenshift.azure.com/HcpOpenShiftClustersExternalAuth",
        "its version is in no public spec",
    ),
    (
        "redhatopenshift.azure.com/HcpOpenShiftClustersNodePool",
        "its version is in no public spec",
    ),
];

/// Folders of samples that are taken over where not all are asked for: a fifth of the objects, of kinds with and without parents,
/// with Secrets to read and to write, with extensions, and of groups that have kinds Armature does not.
const SOME: [&str; 12] = [
    "compute",
    "containerservice",
    "dbforpostgresql",
    "documentdb",
    "eventhub",
    "keyvault",
    "managedidentity",
    "network.frontdoor",
    "redhatopenshift",
    "search",
    "servicebus",
    "storage",
];

type Shapes = BTreeMap<(String, String), Value>;

/// What is taken over.
struct Part {
    folders: Vec<Folder>,
    /// Versions of the kinds that the samples use.
    used: BTreeMap<(String, String), BTreeSet<String>>,
    kinds: Vec<&'static KindInfo>,
    /// CRDs of Azure Service Operator, those of kinds that Armature does not have among them.
    shapes: Shapes,
}

impl Part {
    /// All samples with `ARMATURE_ALL_VERSIONS`, else those of [`SOME`]. Whatever is chosen, every kind needs a sample or a
    /// reason.
    fn new(mut shapes: Shapes) -> Part {
        let mut folders = every_kind::folders();
        let is_unknown = |(group, kind): &(String, String)| {
            let name = format!("{group}/{kind}");
            UNKNOWN.iter().any(|(unknown, _)| *unknown == name)
        };
        let sampled = versions(&folders);
        for key in shapes.keys() {
            assert!(
                is_unknown(key) != sampled.contains_key(key),
                "{key:?} needs a sample, or a reason"
            );
        }
        if std::env::var_os("ARMATURE_ALL_VERSIONS").is_none() {
            folders.retain(|folder| SOME.contains(&folder.name()));
            assert_eq!(folders.len(), SOME.len());
        }
        let used = versions(&folders);
        shapes.retain(|key, _| is_unknown(key) || used.contains_key(key));
        let is_used =
            |kind: &KindInfo| used.contains_key(&(kind.group.to_owned(), kind.kind.to_owned()));
        let kinds = KINDS.iter().copied().filter(|kind| is_used(kind)).collect();
        Part {
            folders,
            used,
            kinds,
            shapes,
        }
    }

    /// Pattern of the CRDs to install, at the versions that the samples use.
    fn pattern(&self) -> String {
        let versions = self.used.iter().flat_map(|((group, kind), versions)| {
            let versions = versions.iter();
            versions.map(move |version| format!("{group}/{kind};{group}/{version}/{kind}"))
        });
        versions.collect::<Vec<_>>().join(";")
    }
}

/// Versions that samples use, by group and kind.
fn versions(folders: &[Folder]) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut used: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for (group, kind, version) in folders.iter().flat_map(Folder::versions) {
        let key = (group.to_owned(), kind.to_owned());
        used.entry(key).or_default().insert(version.to_owned());
    }
    used
}

/// Writes that Azure was sent, but for questions: a POST asks for keys.
fn writes(world: &World) -> Vec<String> {
    let requests = world.azure().requests(&Query::default());
    let writes = requests
        .iter()
        .filter(|request| ["PUT", "PATCH", "DELETE"].contains(&request.method.as_str()));
    writes
        .map(|request| format!("{} {}", request.method, request.path))
        .collect()
}

fn tell(started: Instant, what: &str) {
    println!("{:6.1} s  {what}", started.elapsed().as_secs_f64());
}

/// Everything as Azure Service Operator leaves it.
async fn leave(world: &mut World, part: &Part, started: Instant) {
    let client = world.client().clone();
    let namespace = json!({"metadata": {"name": NAMESPACE}});
    aso::create(&client, "", "v1", "Namespace", None, &namespace).await;
    world.start_operator_with(NAMESPACE, &part.pattern(), &["--crd-versions=latest"]);
    let applied = part.folders.iter();
    let applied = applied.map(|folder| folder.apply(&client, world.azure()));
    futures::stream::iter(applied)
        .buffer_unordered(4)
        .collect::<Vec<()>>()
        .await;
    tell(started, "samples are applied");
    every_kind::wait_ready(&client, &part.kinds, world.azure(), true).await;
    tell(started, "samples are ready");
    world.stop_operator().await;
    let installed = part.shapes.iter().map(|(key, shape)| {
        // Of a kind without objects no version is used.
        let used = part.used.get(key).cloned().unwrap_or_default();
        let client = &client;
        async move { crds::install(client, &key.0, shape, Some(&used)).await }
    });
    futures::stream::iter(installed)
        .buffer_unordered(4)
        .collect::<Vec<()>>()
        .await;
    tell(started, "CRDs are those of Azure Service Operator");
    every_kind::rewrite(&client, &part.kinds).await;
    every_kind::forget_first_operator(&client).await;
    aso::leave_operator(&client).await;
    tell(started, "objects are those of Azure Service Operator");
}

/// What the check says that is no ordinary takeover, without what is listed with a reason.
fn exceptions(check: &Value) -> Vec<String> {
    let exceptions = check["exceptions"].as_array().unwrap().iter();
    let exceptions = exceptions.map(|one| format!("{}: {}", one["of"], one["message"]));
    exceptions.collect()
}

#[test]
fn the_page_lists_what_is_not_taken_over() {
    let page = include_str!("../../docs/takeover.md");
    for (kind, why) in UNKNOWN {
        let is_row = |line: &&str| line.contains(&format!("`{kind}`")) && line.contains(why);
        assert!(page.lines().any(|line| is_row(&line)), "{kind}: {why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_are_taken_over_without_a_write_and_given_back() {
    let Some(shapes) = crds::shapes() else {
        eprintln!("skipped: there are no CRD shapes in ../shared/azure or $ARMATURE_AZURE_DATA");
        return;
    };
    let started = Instant::now();
    let mut world = World::start_without_operator("takeover.md").await;
    let client = world.client().clone();
    let part = Part::new(shapes);
    leave(&mut world, &part, started).await;
    let before = every_kind::objects(&client, &part.kinds).await;
    let count = format!("{} objects of {} kinds", before.len(), part.kinds.len());
    tell(started, &count);
    world.azure().clear_requests();

    let check = world.run("armature takeover check -o json", 1).await;
    let check: Value = serde_json::from_str(&check).unwrap();
    tell(started, "the check has told of every object");
    assert_eq!(check["objects"].as_array().unwrap().len(), before.len());
    let told = exceptions(&check);
    assert_eq!(told.len(), UNKNOWN.len(), "{}", told.join("\n"));

    world
        .run("armature takeover run --yes --accept-exceptions", 1)
        .await;
    let labels = json!({"app.kubernetes.io/name": "armature"});
    aso::deploy(&client, "armature", &labels, "armature:1").await;
    world.start_operator(NAMESPACE, &part.pattern());
    world
        .run(
            "armature takeover run --yes --accept-exceptions --timeout 300",
            0,
        )
        .await;
    tell(started, "Armature converts the objects");
    every_kind::wait_ready(&client, &part.kinds, world.azure(), false).await;
    tell(started, "every object has been looked at");
    let written = writes(&world);
    assert!(written.is_empty(), "{}", written.join("\n"));
    let after = every_kind::objects(&client, &part.kinds).await;
    assert!(before.keys().eq(after.keys()));
    assert_same(&before, &after);

    world.stop_operator().await;
    world
        .run("armature takeover undo --yes --timeout 300", 0)
        .await;
    tell(started, "the cluster is given back");
    assert_eq!(writes(&world), [""; 0]);
    let services = crds::services(&client).await;
    for ((group, _), shape) in &part.shapes {
        let name = crds::name_of(group, shape);
        assert_eq!(services[&name], SERVICE, "{name}");
    }
    // One kind of each group: the API server takes long to read a kind for the first time after its CRD has changed.
    let mut groups = BTreeSet::new();
    let mut some = part.kinds.clone();
    some.retain(|kind| groups.insert(kind.group));
    let again = every_kind::objects(&client, &some).await;
    assert!(again.len() >= groups.len());
    assert_same(&before, &again);
}

/// Objects are what they were for Azure Service Operator.
fn assert_same(before: &BTreeMap<String, Value>, now: &BTreeMap<String, Value>) {
    for (name, object) in now {
        let (before, now) = (
            every_kind::lasting(&before[name]),
            every_kind::lasting(object),
        );
        assert_eq!(before, now, "{name}");
    }
}
