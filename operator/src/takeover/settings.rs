//! The settings of Azure Service Operator, as its Deployment and its Secret give them, and what becomes of each here.

use std::collections::BTreeMap;

use armature_runtime::azure::credential::is_true;
use armature_runtime::reconcile::port::DataKind;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Container, PodSpec, ServiceAccount};
use kube::Client;
use kube::api::Api;
use serde::Serialize;

use super::exception::{Answer, Exception};
use super::standing::{bindings, kept_by};
use crate::installation::variables::{Sources, Variables, sources};
use crate::settings::keys::{self, ANY_CLOUD, Purpose, SETTINGS, SYNC_PERIOD, purpose, value_of};
use crate::settings::{SECRET, SecretSettings};
use crate::worlds::applied::Live;

/// The service account that federated credentials name, unless somebody chose another one.
const USUAL_ACCOUNT: &str = "azureserviceoperator-default";

/// Words before labels and annotations by which workload identity is set up.
const WORKLOAD_IDENTITY: &str = "azure.workload.identity/";

/// Flags of Azure Service Operator: what becomes of each. What is [`Flag::Matters`] has to be said to the chart.
pub const FLAGS: [(&str, Flag); 15] = [
    (
        "crd-pattern",
        Flag::Told("CRDs that are there are kept and updated; crdPattern adds others"),
    ),
    (
        "crd-management",
        Flag::Matters("none", ("installCRDs", "false")),
    ),
    (
        "crd-labels",
        Flag::Told("labels that are there stay; crdLabels puts them on new CRDs, too"),
    ),
    (
        "metrics-addr",
        Flag::Told("metrics.enable and metrics.port; see metrics.mode"),
    ),
    (
        "secure-metrics",
        Flag::Matters("false", ("metrics.secure", "false")),
    ),
    (
        "profiling-metrics",
        Flag::Matters("true", ("metrics.profiling", "true")),
    ),
    (
        "tls-min-version",
        Flag::Matters("VersionTLS13", ("tlsMinVersion", "VersionTLS13")),
    ),
    ("webhook-port", Flag::Told("webhook.port")),
    ("enable-leader-election", Flag::Told("always on")),
    ("json-logging", Flag::Told("useJSONLogging")),
    ("v", Flag::Told("logVerbosity")),
    ("verbose", Flag::Told("logVerbosity")),
    ("health-addr", Flag::Told("always :8081")),
    (
        "webhook-cert-dir",
        Flag::Told("no meaning: the operator makes its certificate"),
    ),
    (
        "metrics-cert-dir",
        Flag::Told("no meaning: the operator makes its certificate"),
    ),
];

/// Variables of Azure Service Operator that say the same as a flag, which comes before them, and that no key of the Secret is.
const VARIABLES: [(&str, &str); 1] = [("TLS_MIN_VERSION", "tls-min-version")];

/// What becomes of a flag.
#[derive(Clone, Copy)]
pub enum Flag {
    /// Nothing that matters would change.
    Told(&'static str),
    /// This value has to be said by that value of the chart.
    Matters(&'static str, (&'static str, &'static str)),
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Setting {
    /// Its key, or the flag.
    pub name: String,
    /// What Azure Service Operator is told; of a credential nothing is shown.
    pub value: String,
    /// Where it is told.
    pub source: String,
    /// What becomes of it here.
    pub here: String,
}

/// All settings of one Deployment, and what of them would change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// The Deployment: `namespace/name`.
    pub deployment: String,
    /// The settings.
    pub settings: Vec<Setting>,
    /// Its service account: `namespace/name`. With workload identity that is the subject of federated credentials.
    pub service_account: String,
    /// Annotations of the service account and labels of the pods by which workload identity is set up.
    pub workload_identity: BTreeMap<String, String>,
    /// Bindings that give the service account rights, which stay when it is Armature's: a kind, and a name.
    pub bindings: Vec<String>,
    /// What would change that matters.
    #[serde(skip)]
    pub exceptions: Vec<Exception>,
    /// What the operator is told that comes in its place: what the Deployment says, which the chart has to be told, else the Secret.
    #[serde(skip)]
    pub told: Variables,
}

/// Reads the settings of a Deployment. What may not be read is an exception.
pub async fn read(
    client: &Client,
    live: &Live,
    deployment: &Deployment,
    objects: usize,
) -> Settings {
    let namespace = deployment.metadata.namespace.clone().unwrap_or_default();
    let mut read = Sources::new();
    let of_container = container(deployment).map(sources).unwrap_or_default();
    let secret = (DataKind::Secret, SECRET.to_owned());
    for (kind, name) in of_container.into_iter().chain([secret]) {
        let values = live.data(kind, &namespace, &name).await;
        let values = values
            .ok()
            .map(|found| found.map(|it| it.values).unwrap_or_default());
        read.insert((kind, name), values);
    }
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &namespace);
    let name = account(deployment);
    let found = accounts.get_opt(&name).await;
    let account = found.as_ref().ok().and_then(Option::as_ref);
    let mut settings = of(deployment, &read, account, objects);
    if let Err(error) = &found {
        settings.except(
            format!("service account {namespace}/{name}"),
            format!(
                "it cannot be read, so its annotations for workload identity are not known: {error}"
            ),
        );
    }
    settings.exceptions.extend(kept_by(deployment));
    let bound = bindings(client, (&namespace, &name)).await;
    settings.bindings = bound.unwrap_or_else(|error| {
        settings.except(
            format!("rights of service account {namespace}/{name}"),
            format!("what else it may do is not known, since bindings cannot be listed: {error}"),
        );
        Vec::new()
    });
    settings
}

/// The settings of a Deployment, with what it refers to.
pub fn of(
    deployment: &Deployment,
    sources: &Sources,
    service_account: Option<&ServiceAccount>,
    objects: usize,
) -> Settings {
    let namespace = deployment.metadata.namespace.clone().unwrap_or_default();
    let name = deployment.metadata.name.clone().unwrap_or_default();
    let mut settings = Settings {
        deployment: format!("{namespace}/{name}"),
        service_account: format!("{namespace}/{}", account(deployment)),
        ..Settings::default()
    };
    settings.take_account(deployment, service_account);
    let Some(container) = container(deployment) else {
        return settings;
    };
    let variables = Variables::of(container, sources);
    for unread in &variables.unread {
        settings.except(
            format!("setting {unread}"),
            "it cannot be read, so what it says is not compared".to_owned(),
        );
    }
    let secret = sources.get(&(DataKind::Secret, SECRET.to_owned()));
    settings.told = variables.clone();
    match secret.and_then(Option::as_ref) {
        Some(data) => {
            let secret = SecretSettings::of(data.clone());
            settings.take_keys(&variables, &secret, objects);
            let counted = SETTINGS
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), secret.get(key)?.to_owned())));
            settings.told = variables
                .clone()
                .with_files(data.clone(), Some(&counted.collect()));
        }
        None => settings.except(
            format!("Secret {namespace}/{SECRET}"),
            "it cannot be read, so what it says is not compared".to_owned(),
        ),
    }
    settings.take_flags(container, &variables);
    settings
}

fn pod(deployment: &Deployment) -> Option<&PodSpec> {
    deployment.spec.as_ref()?.template.spec.as_ref()
}

/// The container of the operator: beside it there may be a proxy.
fn container(deployment: &Deployment) -> Option<&Container> {
    let containers = &pod(deployment)?.containers;
    let named = containers.iter().find(|it| it.name == "manager");
    named.or_else(|| containers.first())
}

fn account(deployment: &Deployment) -> String {
    let name = pod(deployment).and_then(|pod| pod.service_account_name.clone());
    name.unwrap_or_else(|| "default".to_owned())
}

impl Settings {
    fn except(&mut self, of: String, message: String) {
        self.exceptions.push(Exception::new(of, message));
    }

    /// One that a value of the chart settles: with this text, or whatever it is.
    fn except_unless(
        &mut self,
        (of, message): (String, String),
        value: &'static str,
        expected: Option<String>,
    ) {
        let answer = Some(Answer { value, expected });
        self.exceptions.push(Exception {
            of,
            message,
            answer,
        });
    }

    fn take_account(&mut self, deployment: &Deployment, found: Option<&ServiceAccount>) {
        let template = deployment.spec.as_ref().map(|spec| &spec.template);
        let labels = template.and_then(|it| it.metadata.as_ref()?.labels.clone());
        let annotations = found.and_then(|it| it.metadata.annotations.clone());
        let all = annotations.into_iter().chain(labels).flatten();
        let of_identity = all.filter(|(name, _)| name.starts_with(WORKLOAD_IDENTITY));
        self.workload_identity = of_identity.collect();
        let name = account(deployment);
        if name != USUAL_ACCOUNT {
            let message = format!(
                "federated credentials name it as their subject: give the chart serviceAccount.name: {name}, or they do not fit any more"
            );
            let of = format!("service account {}", self.service_account);
            self.except_unless((of, message), "serviceAccount.name", Some(name));
        }
    }

    /// Each key that the Deployment or the Secret gives.
    fn take_keys(&mut self, variables: &Variables, secret: &SecretSettings, objects: usize) {
        let credential = armature_runtime::azure::credential::OPERATOR_VARIABLES;
        let known = keys::all().map(|key| -> &str { key });
        let known = known.filter(|key| *key != "AZURE_FEDERATED_TOKEN_FILE");
        let unknown = secret.keys().filter(|key| purpose(key) == Purpose::Unknown);
        for key in known.chain(unknown) {
            let (used, written) = (variables.get(key), secret.written(key));
            let is_hidden = credential.contains(&key) || purpose(key) == Purpose::Unknown;
            let shown = |value: &str| match is_hidden {
                true => "(not shown)".to_owned(),
                false => value.to_owned(),
            };
            let is_unknown = purpose(key) == Purpose::Unknown;
            match (used.as_deref(), written) {
                (None, None) => {}
                (used, Some(written)) if used == Some(written) || is_unknown => {
                    let here = here(key, secret, objects);
                    self.push(key, shown(written), "Secret", here);
                }
                (Some(used), _) => {
                    let value = match is_hidden {
                        true => value_of(key).to_owned(),
                        false => format!("{}: {used}", value_of(key)),
                    };
                    let here = format!("not taken over: give the chart {value}");
                    self.push(key, shown(used), "Deployment", here);
                    if let Purpose::Setting | Purpose::Credential = purpose(key) {
                        let message = format!(
                            "the Deployment gives it, and not Secret {SECRET}: give the chart {value}"
                        );
                        let expected = (!is_hidden).then(|| used.to_owned());
                        let of = format!("setting {key}");
                        self.except_unless((of, message), value_of(key), expected);
                    }
                }
                (None, Some(written)) => {
                    self.push(key, shown(written), "Secret", "counts here".to_owned());
                    if purpose(key) == Purpose::Setting && secret.get(key).is_some() {
                        let message = format!(
                            "Secret {SECRET} has it, and the Deployment does not read it: here it would count; take the key out, or \
                             give the chart {}",
                            value_of(key)
                        );
                        let of = format!("setting {key}");
                        self.except_unless((of, message), value_of(key), None);
                    }
                }
            }
        }
    }

    fn push(&mut self, name: &str, value: String, source: &str, here: String) {
        self.settings.push(Setting {
            name: name.to_owned(),
            value,
            source: source.to_owned(),
            here,
        });
    }

    fn take_flags(&mut self, container: &Container, variables: &Variables) {
        let words: Vec<&String> = container
            .command
            .iter()
            .chain(&container.args)
            .flatten()
            .collect();
        let flags = words.iter().enumerate().filter_map(|(at, word)| {
            let flag = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
            Some(match flag.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None => {
                    let next = words.get(at + 1).filter(|next| !next.starts_with('-'));
                    (
                        flag,
                        next.map_or_else(|| "true".to_owned(), |next| (*next).clone()),
                    )
                }
            })
        });
        let flags: Vec<(&str, String)> = flags.collect();
        let has = |flag: &str| flags.iter().any(|(name, _)| *name == flag);
        for (variable, flag) in VARIABLES {
            if let (Some(value), false) = (variables.get(variable), has(flag)) {
                self.take_flag(variable, flag, value);
            }
        }
        for (name, value) in flags {
            self.take_flag(&format!("--{name}"), name, value);
        }
    }

    /// A flag, under the name by which it is told.
    fn take_flag(&mut self, told: &str, name: &str, value: String) {
        let known = FLAGS.iter().find(|(flag, _)| *flag == name);
        let here = match known.map(|(_, what)| *what) {
            Some(Flag::Told(here)) => here.to_owned(),
            Some(Flag::Matters(matters, (path, expected))) if value == matters => {
                let here = format!("{path}: {expected}");
                let message = format!("the chart has to be told so: {here}");
                let of = if told.starts_with('-') {
                    "flag"
                } else {
                    "variable"
                };
                let of = format!("{of} {told}={value}");
                self.except_unless((of, message), path, Some(expected.to_owned()));
                here
            }
            Some(Flag::Matters(..)) => "as here".to_owned(),
            None => "not known here, nothing is made of it".to_owned(),
        };
        self.push(told, value, "Deployment", here);
    }
}

/// What becomes of a key that the Secret gives to both.
fn here(key: &str, secret: &SecretSettings, objects: usize) -> String {
    if let Some(note) = keys::note(key, VARIABLES.into_iter().map(|(variable, _)| variable)) {
        let told = note.strip_prefix(key).unwrap_or(&note);
        return told
            .trim_start_matches(" has ")
            .trim_start_matches(" is ")
            .to_owned();
    }
    let Some(value) = secret.get(key) else {
        return "the default there, as usual here".to_owned();
    };
    if key == ANY_CLOUD && !is_true(value) {
        return "false, as there: only true and 1 are true".to_owned();
    }
    let period = value.parse::<jiff::SignedDuration>().ok();
    match period.filter(|period| key == SYNC_PERIOD && period.is_positive()) {
        Some(period) => {
            let reads = objects as f64 * 3600.0 / period.as_secs_f64();
            format!(
                "counts: some {reads:.0} reads an hour for {objects} objects; without it once a day what Azure Resource Graph tells of"
            )
        }
        None => "counts".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn deployment(env: Value, args: Value, account: &str) -> Deployment {
        from_value(json!({
            "metadata": {"namespace": "aso", "name": "controller"},
            "spec": {
                "selector": {},
                "template": {
                    "metadata": {"labels": {"azure.workload.identity/use": "true", "app": "x"}},
                    "spec": {
                        "serviceAccountName": account,
                        "containers": [
                            {"name": "proxy", "args": ["--crd-management=none"]},
                            {"name": "manager", "env": env, "args": args},
                        ],
                    },
                },
            },
        }))
        .unwrap()
    }

    fn of_secret(key: &str) -> Value {
        let from = json!({"name": SECRET, "key": key, "optional": true});
        json!({"name": key, "valueFrom": {"secretKeyRef": from}})
    }

    fn read(deployment: &Deployment, secret: &[(&str, &str)]) -> Settings {
        let data = secret.iter();
        let data = data.map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()));
        let name = (DataKind::Secret, SECRET.to_owned());
        let sources = Sources::from([(name, Some(data.collect()))]);
        let account = from_value(json!({
            "metadata": {"annotations": {"azure.workload.identity/client-id": "c", "other": "x"}},
        }));
        of(deployment, &sources, Some(&account.unwrap()), 300)
    }

    fn line(settings: &Settings, name: &str) -> String {
        let found = settings.settings.iter().find(|it| it.name == name);
        found.map_or_else(String::new, |it| {
            format!("{} | {} | {}", it.value, it.source, it.here)
        })
    }

    #[test]
    fn what_the_secret_gives_to_both_is_no_exception() {
        let keys = [
            ("AZURE_CLIENT_SECRET", "hush"),
            ("AZURE_SYNC_PERIOD", "15m"),
            ("MAX_CONCURRENT_RECONCILES", "4"),
            ("DEFAULT_RECONCILE_POLICY", "skip"),
            ("RATE_LIMIT_MODE", "bucket"),
        ];
        let env: Vec<Value> = keys.iter().map(|(key, _)| of_secret(key)).collect();
        let args = json!([
            "--metrics-addr=0.0.0.0:8443",
            "--enable-leader-election",
            "--tls-min-version=VersionTLS12",
            "--v=2"
        ]);
        let deployment = deployment(json!(env), args, USUAL_ACCOUNT);
        let settings = read(&deployment, &keys);
        assert_eq!(settings.exceptions, []);
        for (name, expected) in [
            ("AZURE_CLIENT_SECRET", "(not shown) | Secret | counts"),
            (
                "AZURE_SYNC_PERIOD",
                "15m | Secret | counts: some 1200 reads an hour for 300 objects; without it once a day what Azure Resource Graph \
                 tells of",
            ),
            (
                "MAX_CONCURRENT_RECONCILES",
                "4 | Secret | the default there, as usual here",
            ),
            ("DEFAULT_RECONCILE_POLICY", "skip | Secret | counts"),
            ("--enable-leader-election", "true | Deployment | always on"),
            ("--tls-min-version", "VersionTLS12 | Deployment | as here"),
            ("--v", "2 | Deployment | logVerbosity"),
        ] {
            assert_eq!(line(&settings, name), expected, "{name}");
        }
        let unused = line(&settings, "RATE_LIMIT_MODE");
        assert!(unused.contains("| no meaning here: "), "{unused}");
        assert_eq!(settings.service_account, "aso/azureserviceoperator-default");
        let names: Vec<&String> = settings.workload_identity.keys().collect();
        assert_eq!(
            names,
            [
                "azure.workload.identity/client-id",
                "azure.workload.identity/use"
            ]
        );
    }

    #[test]
    fn what_would_change_is_an_exception() {
        let literal = |key: &str, value: &str| json!({"name": key, "value": value});
        let env = json!([
            literal("AZURE_TARGET_NAMESPACES", "a,b"),
            literal("AZURE_CLIENT_SECRET", "hush"),
            of_secret("AZURE_SYNC_PERIOD"),
            literal("TLS_MIN_VERSION", "VersionTLS13"),
        ]);
        let args = json!([
            "--crd-management",
            "none",
            "--secure-metrics=false",
            "--odd=1"
        ]);
        let deployment = deployment(env, args, "own");
        let keys = [
            ("AZURE_TARGET_NAMESPACES", "c"),
            ("DEFAULT_RECONCILE_POLICY", "skip"),
            ("AZURE_SYNC_PERIODS", "5m"),
        ];
        let settings = read(&deployment, &keys);
        let told = settings.exceptions.iter();
        let told: Vec<String> = told
            .map(|it| format!("{}: {}", it.of, it.message))
            .collect();
        let expected = [
            "service account aso/own: federated credentials name it as their subject: give the chart serviceAccount.name: own",
            "setting AZURE_CLIENT_SECRET: the Deployment gives it, and not Secret aso-controller-settings: give the chart \
             azureClientSecret",
            "setting AZURE_TARGET_NAMESPACES: the Deployment gives it, and not Secret aso-controller-settings: give the chart \
             azureTargetNamespaces: a,b",
            "setting DEFAULT_RECONCILE_POLICY: Secret aso-controller-settings has it, and the Deployment does not read it",
            "variable TLS_MIN_VERSION=VersionTLS13: the chart has to be told so: tlsMinVersion: VersionTLS13",
            "flag --crd-management=none: the chart has to be told so: installCRDs: false",
            "flag --secure-metrics=false: the chart has to be told so: metrics.secure: false",
        ];
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{told}");
        }
        let unknown = line(&settings, "AZURE_SYNC_PERIODS");
        assert!(unknown.contains("AZURE_SYNC_PERIOD is meant?"), "{unknown}");
        assert!(line(&settings, "--odd").contains("not known here"));
        // No part of a credential is shown.
        let shown = serde_json::to_string(&settings).unwrap();
        assert!(!shown.contains("hush"), "{shown}");
    }
}
