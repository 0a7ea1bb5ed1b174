//! What a container is told: variables that it spells out, those from Secrets and ConfigMaps, and the flags that come before them.

use std::collections::{BTreeMap, BTreeSet};

use armature_runtime::azure::Cloud;
use armature_runtime::azure::credential::OPERATOR_VARIABLES;
use armature_runtime::reconcile::allowed_scopes::{AllowedScopes, Enforcement};
use armature_runtime::reconcile::driver::Settings;
use armature_runtime::reconcile::policy::Policy;
use armature_runtime::reconcile::port::DataKind;
use k8s_openapi::api::core::v1::{Container, EnvVar};

use crate::settings::SecretSettings;
use crate::settings::keys::{ANY_CLOUD, NAMESPACES, POLICY, SETTINGS};
use crate::settings::secret::names;

/// Flags of `armature run`, and the variables that they come before.
const FLAGS: [(&str, &str); 4] = [
    ("--allowed-scopes", "ALLOWED_SCOPES"),
    ("--allowed-scopes-mode", "ALLOWED_SCOPES_MODE"),
    ("--default-reconcile-policy", POLICY),
    ("--target-namespaces", NAMESPACES),
];

/// Variables, beside those of [`FLAGS`] and of the credential, on which it depends what is refused.
const COUNTING: [&str; 4] = [
    ANY_CLOUD,
    "ARMATURE_ALLOWED_CLOUDS",
    "ARMATURE_SECRET_PROOFS",
    "ARMATURE_IDENTITY_FILE_FOLDERS",
];

/// A Secret or ConfigMap of the container's namespace.
pub type DataName = (DataKind, String);

/// What a Secret or ConfigMap holds; nothing where nobody could read it.
pub type Sources = BTreeMap<DataName, Option<BTreeMap<String, Vec<u8>>>>;

/// Variables by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    values: BTreeMap<String, String>,
    /// What could not be read, as parts of sentences.
    pub unread: BTreeSet<String>,
}

/// The Secrets and ConfigMaps that a container has variables from.
pub fn sources(container: &Container) -> BTreeSet<DataName> {
    let whole = container.env_from.iter().flatten().flat_map(|from| {
        let secret = from.secret_ref.as_ref().map(|it| &it.name);
        let map = from.config_map_ref.as_ref().map(|it| &it.name);
        named(secret, map)
    });
    let single = container.env.iter().flatten().filter_map(source_of);
    whole.chain(single.map(|(name, _)| name)).collect()
}

fn named(secret: Option<&String>, map: Option<&String>) -> impl Iterator<Item = DataName> {
    let secret = secret.map(|name| (DataKind::Secret, name.clone()));
    let map = map.map(|name| (DataKind::ConfigMap, name.clone()));
    secret.into_iter().chain(map)
}

/// The key that a variable is from.
fn source_of(variable: &EnvVar) -> Option<(DataName, &str)> {
    let from = variable.value_from.as_ref()?;
    let secret = from.secret_key_ref.as_ref();
    let secret = secret.map(|it| ((DataKind::Secret, it.name.clone()), it.key.as_str()));
    let map = from.config_map_key_ref.as_ref();
    let map = map.map(|it| ((DataKind::ConfigMap, it.name.clone()), it.key.as_str()));
    secret.or(map)
}

impl Variables {
    /// Those of a container.
    pub fn of(container: &Container, sources: &Sources) -> Self {
        let mut found = Self::default();
        found.take_whole(container, sources);
        for variable in container.env.iter().flatten() {
            found.single(variable, sources);
        }
        let words = container.command.iter().chain(&container.args).flatten();
        let words: Vec<String> = words.map(|word| found.expanded(word)).collect();
        for (flag, variable) in FLAGS {
            if let Some(value) = of_flag(&words, flag) {
                found.values.insert(variable.to_owned(), value);
            }
        }
        found
    }

    /// The same with the files of the credential's folder: those of the credential come before variables, and settings after
    /// them. `counted` is what counted of settings at the last start of an operator that reads them; an earlier one heeds what
    /// narrows what is managed alone.
    pub fn with_files(
        mut self,
        files: BTreeMap<String, Vec<u8>>,
        counted: Option<&BTreeMap<String, String>>,
    ) -> Self {
        let secret = SecretSettings::of(files.clone());
        for key in SETTINGS {
            let value = match counted {
                Some(counted) => counted.get(key).map(String::as_str),
                None if [NAMESPACES, POLICY].contains(&key) => secret.get(key),
                None => None,
            };
            let value = value.filter(|value| !value.is_empty());
            if let (Some(value), None) = (value, self.get(key)) {
                self.values.insert(key.to_owned(), value.to_owned());
            }
        }
        let files = files.into_iter();
        let counting = files.filter(|(name, _)| OPERATOR_VARIABLES.contains(&name.as_str()));
        self.values
            .extend(counting.map(|(name, value)| (name, text(&value))));
        self
    }

    /// The value of a variable, where it has one.
    pub fn get(&self, name: &str) -> Option<String> {
        self.values
            .get(name)
            .filter(|value| !value.is_empty())
            .cloned()
    }

    /// The namespaces whose objects the operator manages; all where there are none.
    pub fn target_namespaces(&self) -> BTreeSet<String> {
        let text = self.get(NAMESPACES).unwrap_or_default();
        names(&text).into_iter().collect()
    }

    /// Puts what counts for each pass into its settings.
    ///
    /// # Errors
    /// When a variable means nothing: the operator does not start with it.
    pub fn set(&self, settings: &mut Settings) -> anyhow::Result<()> {
        let of = |name: &'static str| move |message: String| anyhow::anyhow!("{name}: {message}");
        if let Some(text) = self.get("ALLOWED_SCOPES") {
            let scopes = AllowedScopes::parse(&text).map_err(|error| error.to_string());
            settings.default_scopes = Some(scopes.map_err(of("ALLOWED_SCOPES"))?);
        }
        if let Some(text) = self.get("ALLOWED_SCOPES_MODE") {
            let mode = Enforcement::parse(&text);
            settings.scopes_enforcement = mode.map_err(of("ALLOWED_SCOPES_MODE"))?;
        }
        settings.default_policy = self.default_policy()?;
        Ok(())
    }

    /// The policy of objects that have none, nor their namespaces.
    ///
    /// # Errors
    /// When the variable means nothing: the operator does not start with it.
    pub fn default_policy(&self) -> anyhow::Result<Policy> {
        let Some(text) = self.get(POLICY) else {
            return Ok(Policy::default());
        };
        Policy::parse(&text).ok_or_else(|| {
            anyhow::anyhow!("{POLICY} is {text}: expected manage, skip or detach-on-delete")
        })
    }

    fn take_whole(&mut self, container: &Container, sources: &Sources) {
        for from in container.env_from.iter().flatten() {
            let prefix = from.prefix.clone().unwrap_or_default();
            let secret = from.secret_ref.as_ref().map(|it| &it.name);
            let map = from.config_map_ref.as_ref().map(|it| &it.name);
            for name in named(secret, map) {
                match sources.get(&name).and_then(Option::as_ref) {
                    Some(values) => {
                        let values = values.iter();
                        let values =
                            values.map(|(key, value)| (format!("{prefix}{key}"), text(value)));
                        self.values.extend(values);
                    }
                    None => {
                        self.unread.insert(format!("all of {} {}", name.0, name.1));
                    }
                }
            }
        }
    }

    fn single(&mut self, variable: &EnvVar, sources: &Sources) {
        let name = &variable.name;
        let value = match (&variable.value_from, source_of(variable)) {
            (None, _) => Some(self.expanded(variable.value.as_deref().unwrap_or_default())),
            (Some(_), Some((source, key))) => {
                let values = sources.get(&source).and_then(Option::as_ref);
                // A key that is not there sets nothing, or keeps the pod from starting.
                let value = values.map(|values| values.get(key).map(|it| text(it)));
                match value {
                    Some(value) => value,
                    None => {
                        self.cannot_read(name, &format!("{} {}", source.0, source.1));
                        None
                    }
                }
            }
            (Some(_), None) => {
                self.cannot_read(name, "the pod itself");
                None
            }
        };
        match value {
            Some(value) => self.values.insert(name.clone(), value),
            None => self.values.remove(name),
        };
    }

    fn cannot_read(&mut self, variable: &str, source: &str) {
        let mut flags = FLAGS.iter().map(|(_, variable)| *variable);
        let counts = flags.any(|it| it == variable)
            || COUNTING.contains(&variable)
            || OPERATOR_VARIABLES.contains(&variable)
            || Cloud::VARIABLES.contains(&variable);
        if counts {
            self.unread.insert(format!("{variable} of {source}"));
        }
    }

    /// A text with the variables that are known so far, as Kubernetes expands them.
    fn expanded(&self, text: &str) -> String {
        let mut parts = text.split("$(");
        let mut expanded = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let known = part.split_once(')');
            let known = known.and_then(|(name, rest)| Some((self.values.get(name)?, rest)));
            match known {
                Some((value, rest)) => expanded.extend([value, rest]),
                None => expanded.extend(["$(", part]),
            }
        }
        expanded
    }
}

/// The value of a flag, with commas between those of one that is given several times.
fn of_flag(words: &[String], flag: &str) -> Option<String> {
    let given = words.iter().enumerate().filter_map(|(at, word)| {
        let rest = word.strip_prefix(flag)?;
        match rest.strip_prefix('=') {
            Some(value) => Some(value),
            None if rest.is_empty() => words.get(at + 1).map(String::as_str),
            None => None,
        }
    });
    let given: Vec<&str> = given.collect();
    (!given.is_empty()).then(|| given.join(","))
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn told(container: Value, sources: &[(DataKind, &str, Option<Value>)]) -> Variables {
        let mut container = container;
        container["name"] = json!("operator");
        let container: Container = serde_json::from_value(container).unwrap();
        let values = |values: &Value| {
            let values = values.as_object().unwrap().iter();
            let values = values.map(|(key, value)| (key.clone(), value.as_str().unwrap().into()));
            values.collect()
        };
        let read = sources
            .iter()
            .map(|(kind, name, read)| ((*kind, (*name).to_owned()), read.as_ref().map(values)));
        let read: Sources = read.collect();
        let referred: BTreeSet<DataName> = read.keys().cloned().collect();
        assert_eq!(super::sources(&container), referred);
        Variables::of(&container, &read)
    }

    #[test]
    fn whatever_way_a_setting_takes_it_counts() {
        use DataKind::{ConfigMap, Secret};
        let scopes = |value: Value| json!({"name": "ALLOWED_SCOPES", "valueFrom": value});
        let of_map = scopes(json!({"configMapKeyRef": {"name": "m", "key": "k"}}));
        let of_secret = scopes(json!({"secretKeyRef": {"name": "s", "key": "k"}}));
        let whole = json!([{"configMapRef": {"name": "m"}}, {"secretRef": {"name": "s"}, "prefix": "ALLOWED_"}]);
        let spelled = json!({"name": "ALLOWED_SCOPES", "value": "/a"});
        let expands = json!([{"name": "X", "value": "b"}, {"name": "ALLOWED_SCOPES", "value": "/a/$(X)$(Y)"}]);
        let map = |value: Option<Value>| (ConfigMap, "m", value);
        let secret = |value: Option<Value>| (Secret, "s", value);
        for (container, sources, expected, unread) in [
            (json!({}), vec![], None, ""),
            (json!({"env": [spelled]}), vec![], Some("/a"), ""),
            (json!({"env": expands}), vec![], Some("/a/b$(Y)"), ""),
            (
                json!({"env": [of_map]}),
                vec![map(Some(json!({"k": "/m"})))],
                Some("/m"),
                "",
            ),
            (
                json!({"env": [of_map]}),
                vec![map(Some(json!({})))],
                None,
                "",
            ),
            (
                json!({"env": [of_map]}),
                vec![map(None)],
                None,
                "ALLOWED_SCOPES of ConfigMap m",
            ),
            (
                json!({"env": [of_secret]}),
                vec![secret(Some(json!({"k": "/s\n"})))],
                Some("/s"),
                "",
            ),
            (
                json!({"env": [of_secret]}),
                vec![secret(None)],
                None,
                "ALLOWED_SCOPES of Secret s",
            ),
            (
                json!({"env": [scopes(json!({"fieldRef": {"fieldPath": "metadata.name"}}))]}),
                vec![],
                None,
                "ALLOWED_SCOPES of the pod itself",
            ),
            // Of what nothing depends on, nothing is told.
            (
                json!({"env": [{"name": "HOSTNAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}),
                vec![],
                None,
                "",
            ),
            (
                json!({"envFrom": whole}),
                vec![
                    map(Some(json!({"ALLOWED_SCOPES": "/m"}))),
                    secret(Some(json!({"SCOPES": "/s"}))),
                ],
                Some("/s"),
                "",
            ),
            (
                json!({"envFrom": whole}),
                vec![map(None), secret(Some(json!({})))],
                None,
                "all of ConfigMap m",
            ),
            (
                json!({"envFrom": whole, "env": [spelled]}),
                vec![
                    map(Some(json!({"ALLOWED_SCOPES": "/m"}))),
                    secret(Some(json!({}))),
                ],
                Some("/a"),
                "",
            ),
            (
                json!({"env": [spelled], "args": ["run", "--allowed-scopes=/f"]}),
                vec![],
                Some("/f"),
                "",
            ),
            (
                json!({"command": ["armature", "run", "--allowed-scopes", "/f"]}),
                vec![],
                Some("/f"),
                "",
            ),
            (
                json!({"env": [spelled], "args": ["--allowed-scopes-mode=warn"]}),
                vec![],
                Some("/a"),
                "",
            ),
        ] {
            let told = told(container.clone(), &sources);
            assert_eq!(
                told.get("ALLOWED_SCOPES").as_deref(),
                expected,
                "{container}"
            );
            let found: Vec<&str> = told.unread.iter().map(String::as_str).collect();
            assert_eq!(found.join("; "), unread, "{container}");
        }
    }

    #[test]
    fn files_come_before_variables_and_namespaces_are_listed() {
        let env = json!([{"name": "AZURE_CLIENT_ID", "value": "variable"}, {"name": "ALLOWED_SCOPES", "value": "/a"}]);
        let args = json!(["--target-namespaces=a, b", "--target-namespaces", "c"]);
        let told = told(json!({"env": env, "args": args}), &[]);
        let files = [("AZURE_CLIENT_ID", "file"), ("ALLOWED_SCOPES", "/file")];
        let files = files.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
        let told = told.with_files(files.into(), None);
        assert_eq!(told.get("AZURE_CLIENT_ID").as_deref(), Some("file"));
        // No file of the folder is read for anything but the credential.
        assert_eq!(told.get("ALLOWED_SCOPES").as_deref(), Some("/a"));
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(told.target_namespaces(), BTreeSet::from(names));
    }

    #[test]
    fn settings_of_the_secret_come_after_variables() {
        let files = [(POLICY, "skip"), (NAMESPACES, "x"), (ANY_CLOUD, "true")];
        let files = files.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
        let files = BTreeMap::from(files);
        let of = |counted| {
            let args = json!(["--target-namespaces=a"]);
            told(json!({"args": args}), &[]).with_files(files.clone(), counted)
        };
        let earlier = of(None);
        assert_eq!(earlier.get(POLICY).as_deref(), Some("skip"));
        assert_eq!(earlier.get(NAMESPACES).as_deref(), Some("a"));
        assert_eq!(earlier.get(ANY_CLOUD), None);
        let counted = BTreeMap::from([(ANY_CLOUD.to_owned(), "true".to_owned())]);
        let now = of(Some(&counted));
        assert_eq!(now.get(ANY_CLOUD).as_deref(), Some("true"));
        assert_eq!(now.get(POLICY), None);
    }
}
