//! Files of values, Azure Service Operator's own among them, mean what they say: with the real helm against a real API server, by the
//! table in `meanings.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use armature_controlplane::KUBERNETES_VERSION;
use serde_json::{Value, json};

use crate::chart::{NAMESPACE, deployment, find, helm, manifests, template};
use crate::cluster::{Cluster, namespace};
use crate::meanings::{Half, MEANINGS, Meaning, THEIRS};
use crate::metrics::THEIR_SERVICE;
use crate::rights::given;

/// Settings that a Secret may hold, the CRDs, and the version of TLS.
const SETTINGS: [&str; 13] = [
    "ALLOW_MULTI_ENV_MANAGEMENT",
    "AZURE_AUTHORITY_HOST",
    "AZURE_OPERATOR_MODE",
    "AZURE_RESOURCE_MANAGER_AUDIENCE",
    "AZURE_RESOURCE_MANAGER_ENDPOINT",
    "AZURE_SYNC_PERIOD",
    "AZURE_TARGET_NAMESPACES",
    "AZURE_USER_AGENT_SUFFIX",
    "CRD_PATTERN",
    "DEFAULT_RECONCILE_POLICY",
    "MAX_CONCURRENT_RECONCILES",
    "TLS_MIN_VERSION",
    "USE_WORKLOAD_IDENTITY_AUTH",
];

/// What helm makes of values: manifests, and the lines of its notes.
struct Made {
    manifests: Vec<Value>,
    notes: Vec<String>,
}

/// Where a file of the table is; nothing for Azure Service Operator's where its chart is not on this machine.
pub fn path(file: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if file != THEIRS {
        return Some(root.join("tests/chart/values").join(file));
    }
    let beside = root.join("../../shared/azure");
    let folder = std::env::var_os("ARMATURE_AZURE_DATA").map_or(beside, PathBuf::from);
    let path = folder.join("aso-chart").join(file);
    path.is_file().then_some(path)
}

/// What helm would install in the cluster.
async fn make(cluster: &Cluster, file: &Path, more: &[&str]) -> Made {
    let kubeconfig = cluster.admin_kubeconfig();
    let arguments = [
        "install",
        "armature",
        "--namespace",
        NAMESPACE,
        "--dry-run=server",
        "--output=json",
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
        "--values",
        file.to_str().unwrap(),
    ];
    let output = helm(&arguments, more).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", file.display());
    let release: Value = serde_json::from_slice(&output.stdout).unwrap();
    let notes = release["info"]["notes"].as_str().unwrap().lines();
    let notes = notes.filter_map(|line| line.strip_prefix("- "));
    Made {
        manifests: serde_saphyr::from_multiple(release["manifest"].as_str().unwrap()).unwrap(),
        notes: notes.map(str::to_owned).collect(),
    }
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn named<'m>(manifests: &'m [Value], kind: &str, name: &str) -> Vec<&'m Value> {
    let is_it = |one: &&Value| one["kind"] == kind && one["metadata"]["name"] == name;
    manifests.iter().filter(is_it).collect()
}

/// The settings that the Deployment has; each variable is there once.
fn settings(manifests: &[Value]) -> BTreeMap<&str, &str> {
    let container = &deployment(manifests)["spec"]["template"]["spec"]["containers"][0];
    let variables = container["env"].as_array().unwrap().iter();
    let mut names = BTreeSet::new();
    let mut found = BTreeMap::new();
    for variable in variables {
        let name = variable["name"].as_str().unwrap();
        assert!(names.insert(name), "{name} is there twice");
        if SETTINGS.contains(&name) {
            found.insert(name, variable["value"].as_str().unwrap());
        }
    }
    let flags = texts(&container["args"]).filter_map(|flag| flag.split_once('='));
    found.extend(flags.filter(|(flag, _)| ["--crd-labels", "--operator-mode"].contains(flag)));
    found
}

/// Keys of the Secret that the chart makes.
fn secret(manifests: &[Value]) -> Option<Vec<&str>> {
    let found = named(manifests, "Secret", "aso-controller-settings");
    let data = &found.first()?["stringData"];
    let keys = data.as_object().into_iter().flatten();
    Some(keys.map(|(key, _)| key.as_str()).collect())
}

/// The half whose rights, policies and Services there are.
fn half(manifests: &[Value]) -> Half {
    let rights = given(manifests);
    let has = |group: &str, resource: &str, verb: &str| {
        rights.contains(&(group.to_owned(), resource.to_owned(), verb.to_owned()))
    };
    let manages = has("*.azure.com", "*", "watch");
    let keeps = has("apiextensions.k8s.io", "customresourcedefinitions", "patch");
    let is_policy = |one: &&Value| one["kind"] == "ValidatingAdmissionPolicy";
    let policies = manifests.iter().filter(is_policy).count();
    assert_eq!(policies, if keeps { 3 } else { 0 });
    let services = named(manifests, "Service", "armature-webhook").len();
    assert_eq!(services, usize::from(keeps));
    match (manages, keeps) {
        (true, true) => Half::Both,
        (true, false) => Half::Watchers,
        (false, true) => Half::Webhooks,
        (false, false) => panic!("it has no rights"),
    }
}

/// The namespaces with rights on objects; everywhere when empty.
fn namespaces(manifests: &[Value]) -> Vec<&str> {
    let everywhere = named(manifests, "ClusterRoleBinding", "armature-objects");
    let bindings = named(manifests, "RoleBinding", "armature-objects");
    assert_ne!(everywhere.is_empty(), bindings.is_empty());
    let namespaces = bindings.iter().map(|one| &one["metadata"]["namespace"]);
    namespaces.map(|name| name.as_str().unwrap()).collect()
}

/// Where metrics are, and whether readers prove themselves. Who reaches them finds them as Azure Service Operator's.
fn metrics(manifests: &[Value]) -> String {
    let container = &deployment(manifests)["spec"]["template"]["spec"]["containers"][0];
    let mut flags = texts(&container["args"]);
    let address = flags.find_map(|flag| flag.strip_prefix("--metrics-addr="));
    let address = address.unwrap();
    let services = named(manifests, "Service", THEIR_SERVICE);
    assert_eq!(services.is_empty(), address == "0");
    let labels = &deployment(manifests)["spec"]["template"]["metadata"]["labels"];
    for service in services {
        assert_eq!(
            service["metadata"]["labels"]["control-plane"],
            "controller-manager"
        );
        let port = service["spec"]["ports"][0]["port"].to_string();
        assert_eq!(address.rsplit_once(':').unwrap().1, port);
        for (label, value) in service["spec"]["selector"].as_object().unwrap() {
            assert_eq!(&labels[label], value, "{label}");
        }
    }
    let guarded = texts(&container["args"]).any(|flag| flag == "--metrics-authentication");
    let given = given(manifests)
        .iter()
        .any(|right| right.1 == "tokenreviews");
    assert_eq!(guarded, given, "the right to review tokens");
    let guarded = if guarded { " https" } else { "" };
    format!("{address}{guarded}")
}

/// What the pods may reach: ports of each rule, and addresses; anything when empty.
fn egress(manifests: &[Value]) -> Vec<String> {
    let policies = named(manifests, "NetworkPolicy", "armature-egress");
    let ingress = named(manifests, "NetworkPolicy", "armature");
    assert_eq!(policies.len(), ingress.len(), "both ways");
    let rules = policies
        .iter()
        .flat_map(|policy| policy["spec"]["egress"].as_array());
    let rules = rules.flatten().map(|rule| {
        let ports = rule["ports"].as_array().unwrap().iter().map(|port| {
            let other = if port["protocol"] == "UDP" {
                "/UDP"
            } else {
                ""
            };
            format!("{}{other}", port["port"])
        });
        let ports: Vec<String> = ports.collect();
        let to = rule["to"][0]["ipBlock"]["cidr"].as_str();
        let to = to.map(|to| format!(" to {to}")).unwrap_or_default();
        format!("{}{to}", ports.join(" "))
    });
    rules.collect()
}

/// The service account's token for Azure is in the pod, where the operator looks for it.
fn has_the_token(manifests: &[Value]) {
    let pod = &deployment(manifests)["spec"]["template"]["spec"];
    let item = |list: &Value, member: &str, value: &str| {
        let mut list = list.as_array().unwrap().iter();
        list.find(|one| one[member] == value).unwrap().clone()
    };
    let volume = item(&pod["volumes"], "name", "azure-identity");
    let token = &volume["projected"]["sources"][0]["serviceAccountToken"];
    assert_eq!(token["audience"], "api://AzureADTokenExchange");
    let container = &pod["containers"][0];
    let mount = item(&container["volumeMounts"], "name", "azure-identity");
    let file = item(&container["env"], "name", "AZURE_FEDERATED_TOKEN_FILE");
    let [folder, name] = [&mount["mountPath"], &token["path"]].map(|one| one.as_str().unwrap());
    assert_eq!(file["value"], format!("{folder}/{name}"));
}

fn check(meaning: &Meaning, made: &Made) {
    let file = meaning.file;
    let Made { manifests, notes } = made;
    let expected: BTreeMap<_, _> = meaning.settings.iter().copied().collect();
    assert_eq!(settings(manifests), expected, "{file}");
    let container = &deployment(manifests)["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], meaning.image, "{file}");
    assert_eq!(secret(manifests).as_deref(), meaning.secret, "{file}");
    assert_eq!(half(manifests), meaning.half, "{file}");
    assert_eq!(namespaces(manifests), meaning.namespaces, "{file}");
    assert_eq!(metrics(manifests), meaning.metrics, "{file}");
    assert_eq!(egress(manifests), meaning.egress, "{file}");
    has_the_token(manifests);
    for (kind, pointer, expected) in meaning.more {
        let found = manifests.iter().find(|one| one["kind"] == *kind);
        let found = found.unwrap().pointer(pointer).unwrap_or(&Value::Null);
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(*found, expected, "{file}: {kind}{pointer}");
    }
    let begin = |(line, beginning): (&String, &&str)| line.starts_with(beginning);
    assert!(
        notes.len() == meaning.notes.len() && notes.iter().zip(meaning.notes).all(begin),
        "{file}: {notes:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn each_file_means_what_the_table_says() {
    let cluster = Cluster::start().await;
    for meaning in &MEANINGS {
        let Some(path) = path(meaning.file) else {
            eprintln!(
                "skipped {}: there is no aso-chart in ../shared/azure or $ARMATURE_AZURE_DATA",
                meaning.file
            );
            continue;
        };
        check(meaning, &make(&cluster, &path, &[]).await);
    }
    let folder = path(MEANINGS[1].file).unwrap();
    let files = std::fs::read_dir(folder.parent().unwrap()).unwrap();
    for file in files {
        let name = file.unwrap().file_name();
        let mut meanings = MEANINGS.iter();
        assert!(
            meanings.any(|one| name == one.file),
            "{name:?} is in no row"
        );
    }
}

/// What is left blank counts as if it was not said.
#[tokio::test]
async fn a_file_of_blanks_is_no_file() {
    let file = path("blanks.yaml").unwrap();
    let values = ["--values", file.to_str().unwrap()];
    let blank = template("armature", &values, &[]).await;
    assert_eq!(blank, manifests(&[]).await);
}

/// Where a cluster has aad-pod-identity, its objects are made as by Azure Service Operator's chart.
#[tokio::test]
async fn pod_identity_is_bound_where_the_cluster_has_it() {
    let file = path("pod-identity.yaml").unwrap();
    let apis = ["--api-versions", "aadpodidentity.k8s.io/v1"];
    let values = ["--values", file.to_str().unwrap()];
    let made = template("armature", &[apis, values].concat(), &[]).await;
    let identity = find(&made, "AzureIdentity", "aso-identity");
    let resource = identity["spec"]["resourceID"].as_str().unwrap();
    assert!(
        resource.ends_with("/userAssignedIdentities/aso"),
        "{resource}"
    );
    let binding = find(&made, "AzureIdentityBinding", "aso-identity-binding");
    let labels = &deployment(&made)["spec"]["template"]["metadata"]["labels"];
    assert_eq!(binding["spec"]["selector"], labels["aadpodidbinding"]);
}

/// Settings of a Secret that somebody else makes decide on rights; what values say comes before it.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_of_ones_own_decides_on_rights_where_values_say_nothing() {
    let cluster = Cluster::start().await;
    cluster.apply(&namespace(NAMESPACE)).await;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "aso-controller-settings", "namespace": NAMESPACE},
        "stringData": {
            "AZURE_OPERATOR_MODE": "watchers",
            "AZURE_TARGET_NAMESPACES": "web, api",
            "AZURE_SYNC_PERIOD": "15m",
        },
    });
    cluster.apply(&secret).await;
    let file = path("own-secret.yaml").unwrap();
    let made = make(&cluster, &file, &[]).await;
    assert_eq!(half(&made.manifests), Half::Watchers);
    assert_eq!(namespaces(&made.manifests), ["web", "api"]);
    let said = settings(&made.manifests);
    assert_eq!(
        said,
        BTreeMap::from([("AZURE_OPERATOR_MODE", "watchers"), ("CRD_PATTERN", "*")]),
        "the Secret says the rest; what the pods do goes with their rights"
    );
    let notes = made.notes.join("\n");
    assert!(
        notes.contains("AZURE_OPERATOR_MODE=watchers is in Secret"),
        "{notes}"
    );
    assert!(
        notes.contains("AZURE_TARGET_NAMESPACES=web, api is in"),
        "{notes}"
    );

    let values = [
        "azureOperatorMode=watchers-and-webhooks",
        "azureTargetNamespaces={team}",
        "azureSyncPeriod=1h",
        "azureClientID=somebody",
    ];
    let made = make(&cluster, &file, &values).await;
    assert_eq!(half(&made.manifests), Half::Both);
    assert_eq!(namespaces(&made.manifests), ["team"]);
    assert_eq!(settings(&made.manifests)["AZURE_SYNC_PERIOD"], "1h");
    let notes = made.notes.join("\n");
    for part in [
        "AZURE_SYNC_PERIOD is 1h, as the values say; 15m in Secret",
        "AZURE_OPERATOR_MODE is watchers-and-webhooks, as the values say; watchers in",
        "azureClientID: without effect",
    ] {
        assert!(notes.contains(part), "{notes}");
    }
}

/// Releases before this one did not read the mode there: it waits, and rights with it, until it is in the Deployment.
#[tokio::test(flavor = "multi_thread")]
async fn a_mode_of_the_secret_that_was_not_read_before_an_upgrade_waits() {
    let cluster = Cluster::start().await;
    cluster.apply(&namespace(NAMESPACE)).await;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "aso-controller-settings", "namespace": NAMESPACE},
        "stringData": {"AZURE_OPERATOR_MODE": "watchers", "AZURE_CLIENT_ID": "id"},
    });
    cluster.apply(&secret).await;
    let file = path("own-secret.yaml").unwrap();
    let kubeconfig = cluster.admin_kubeconfig();
    let upgrade = [
        "--is-upgrade",
        "--dry-run=server",
        "--kubeconfig",
        kubeconfig.to_str().unwrap(),
        "--values",
        file.to_str().unwrap(),
    ];
    let upgrade = async |settings: &[&str]| template("armature", &upgrade, settings).await;
    let before = upgrade(&[]).await;
    assert_eq!(half(&before), Half::Both, "nothing is known");
    cluster.apply(deployment(&before)).await;
    let again = upgrade(&[]).await;
    assert_eq!(half(&again), Half::Both);
    assert!(!settings(&again).contains_key("AZURE_OPERATOR_MODE"));

    let said = upgrade(&["azureOperatorMode=watchers"]).await;
    assert_eq!(half(&said), Half::Watchers);
    cluster.apply(deployment(&said)).await;
    assert_eq!(half(&upgrade(&[]).await), Half::Watchers);
}

/// What extraEnv says decides on rights and traffic as values do, or is refused where nobody can know it.
#[tokio::test]
async fn variables_of_ones_own_are_known_or_refused() {
    let ports = |manifests: &[Value]| -> Vec<u64> {
        let policy = find(manifests, "NetworkPolicy", "armature-egress");
        let rules = policy["spec"]["egress"].as_array().unwrap().iter();
        let ports = rules.flat_map(|rule| rule["ports"].as_array().unwrap());
        ports.map(|port| port["port"].as_u64().unwrap()).collect()
    };
    let set = [
        "extraEnv[0].name=AZURE_RESOURCE_MANAGER_ENDPOINT",
        "extraEnv[0].value=https://arm.stack.local:30005",
        "extraEnv[1].name=ARMATURE_ALLOWED_CLOUDS",
        "extraEnv[1].value=https://m.test:8443 https://m.test:8444 https://m.test",
        "extraEnv[2].name=AZURE_OPERATOR_MODE",
        "extraEnv[2].value=",
        "azureOperatorMode=watchers",
    ];
    let made = template("armature", &[], &set).await;
    let found = ports(&made);
    for port in [53, 5353, 443, 6443, 30005, 8443, 8444] {
        assert!(found.contains(&port), "{port}: {found:?}");
    }
    assert_eq!(half(&made), Half::Watchers);
    assert_eq!(settings(&made)["AZURE_OPERATOR_MODE"], "watchers");

    let set = [
        "extraEnv[0].name=AZURE_TARGET_NAMESPACES",
        "extraEnv[0].valueFrom.configMapKeyRef.name=map",
        "extraEnv[0].valueFrom.configMapKeyRef.key=key",
    ];
    let refused = helm(
        &["template", "armature", "--kube-version", KUBERNETES_VERSION],
        &set,
    )
    .await;
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && errors.contains("set the value azureTargetNamespaces"),
        "{errors}"
    );
}
