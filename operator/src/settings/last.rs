//! What counted at the last start, kept in a ConfigMap beside the operator: a start that behaves otherwise says so, and what an
//! upgrade would widen without a word waits.
//!
//! Releases before this one read the credential alone from the Secret. When one of them was here, keys that narrow what is managed
//! count at once; those that widen it, or send tokens elsewhere, wait until a flag or value says the same, or somebody edits them.
//!
//! A Secret that is not there says nothing new: what it said at the last start goes on to count.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Context;

use armature_runtime::azure::Cloud;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Client;
use kube::api::{Api, PartialObjectMeta, Patch, PatchParams};
use serde_json::json;

use super::chosen::{Chosen, Given, Source, in_words};
use super::keys::{ANY_CLOUD, MODE, SECRET, SETTINGS};
use super::secret::{SecretSettings, comparable};

/// The ConfigMap with what counted at the last start.
pub const CONFIG_MAP: &str = "armature-settings";

/// Before the names of keys that wait, in the ConfigMap.
const WAITS: &str = "waiting.";

/// The settings that the Secret gave, in the ConfigMap.
const OF_SECRET: &str = "from-secret";

/// On the Secret that an operator of ours leaves in its namespace: a release that keeps the ConfigMap was here.
const MARK: &str = "armature.azure.com/keeps-settings";

/// Who writes it.
const FIELD_MANAGER: &str = "armature";

/// Seconds before the ConfigMap is read again, when it could not be read.
const PAUSES: [u64; 6] = [0, 1, 2, 4, 8, 16];

/// What was here before this start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Last {
    /// No operator of ours: a new one, or that of a takeover.
    None,
    /// One that read the credential alone from the Secret.
    Earlier,
    /// This one may not read what counted: one was here whose chart gave no right to.
    Forbidden,
    /// One that wrote down what counted.
    Known {
        /// Settings as they are compared.
        counted: BTreeMap<String, String>,
        /// Keys that waited, with their values.
        waiting: BTreeMap<String, String>,
        /// Settings that the Secret gave.
        of_secret: BTreeSet<String>,
    },
}

impl Last {
    /// Looks into the operator's namespace. Where that stays forbidden, an earlier release was here, with its rights: nothing is widened
    /// by mistake, and nothing is written down. `kept` is a Secret that an operator of ours with this part leaves in its namespace, whatever its release.
    ///
    /// # Errors
    /// When it cannot be read for another reason, although it was tried for half a minute: a start that takes an unreadable record
    /// for none could move the operator to another cloud.
    pub async fn read(client: &Client, namespace: &str, kept: &str) -> anyhow::Result<Self> {
        let mut pauses = PAUSES.into_iter();
        loop {
            tokio::time::sleep(Duration::from_secs(pauses.next().unwrap_or_default())).await;
            let error = match Self::find(client, namespace, kept).await {
                Ok(found) => return Ok(found),
                Err(error) => error,
            };
            let what = format!(
                "what counted at the last start cannot be read from ConfigMap {namespace}/{CONFIG_MAP}"
            );
            if pauses.len() == 0 {
                if is_forbidden(&error) {
                    tracing::warn!(%error, "{what}: what would widen what is managed waits");
                    return Ok(Self::Forbidden);
                }
                return Err(error).context(what);
            }
            tracing::warn!(%error, "{what}; trying again");
        }
    }

    async fn find(client: &Client, namespace: &str, kept: &str) -> kube::Result<Self> {
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
        // Where there is a record, nothing else is asked: it also says which part this operator was, and so which Secret it may read.
        if let Some(map) = maps.get_opt(CONFIG_MAP).await? {
            return Ok(Self::of(map.data.unwrap_or_default()));
        }
        let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
        let kept = secrets.get_metadata_opt(kept).await?;
        // Again after the Secret: another replica of a new release writes this first, and its Secret then.
        let map = maps.get_opt(CONFIG_MAP).await?;
        let is_marked = |kept: &PartialObjectMeta<Secret>| {
            let annotations = kept.metadata.annotations.as_ref();
            annotations.is_some_and(|annotations| annotations.contains_key(MARK))
        };
        Ok(match (map, kept) {
            (Some(map), _) => Self::of(map.data.unwrap_or_default()),
            // Somebody has deleted what such a release wrote: it begins anew.
            (None, Some(kept)) if is_marked(&kept) => Self::None,
            (None, Some(_)) => Self::Earlier,
            (None, None) => Self::None,
        })
    }

    fn of(mut data: BTreeMap<String, String>) -> Self {
        let of_secret = data.remove(OF_SECRET).unwrap_or_default();
        let (waiting, counted): (BTreeMap<_, _>, BTreeMap<_, _>) = data
            .into_iter()
            .partition(|(key, _)| key.starts_with(WAITS));
        let waiting = waiting.into_iter();
        let waiting = waiting.map(|(key, value)| (key[WAITS.len()..].to_owned(), value));
        Self::Known {
            counted,
            waiting: waiting.collect(),
            of_secret: of_secret.split_whitespace().map(str::to_owned).collect(),
        }
    }

    /// The Secret as it counts now: where it is not there, what it said at the last start.
    pub fn standing_in(&self, secret: SecretSettings) -> SecretSettings {
        let Self::Known {
            counted,
            of_secret,
            waiting,
        } = self
        else {
            return secret;
        };
        if secret.is_there() {
            return secret;
        }
        let kept = of_secret
            .iter()
            .filter_map(|key| Some((key.clone(), counted.get(key)?.clone())));
        // What waited goes on to wait.
        let waiting = waiting.iter();
        let waiting = waiting.map(|(key, value)| (key.clone(), value.clone()));
        let kept = kept.chain(waiting);
        let kept = kept.map(|(key, value)| (key, value.into_bytes()));
        SecretSettings::of(kept.collect())
    }

    /// The keys of the Secret that wait.
    pub fn waiting(&self, given: &Given, secret: &SecretSettings) -> BTreeSet<&'static str> {
        let keys = SETTINGS.into_iter().filter(|key| {
            let Some(value) = secret.get(key) else {
                return false;
            };
            // Whoever says the same has answered; whoever says something else has not.
            if given
                .get(key)
                .is_some_and(|it| comparable(key, it) == comparable(key, value))
            {
                return false;
            }
            match self {
                Self::None => false,
                Self::Earlier | Self::Forbidden => {
                    let widens =
                        *key == MODE || *key == ANY_CLOUD || Cloud::VARIABLES.contains(key);
                    widens
                        && comparable(key, value) != comparable(key, super::chosen::default_of(key))
                }
                Self::Known { waiting, .. } => waiting
                    .get(*key)
                    .is_some_and(|it| *it == comparable(key, value)),
            }
        });
        keys.collect()
    }

    /// How this start behaves otherwise than the last one, a sentence for each setting.
    pub fn differences(&self, given: &Given, chosen: &Chosen) -> Vec<String> {
        let counted = match self {
            Self::None => return Vec::new(),
            // It had the same flags and nothing else.
            Self::Earlier | Self::Forbidden => {
                Chosen::of(given, &SecretSettings::default(), &BTreeSet::new()).comparable()
            }
            Self::Known { counted, .. } => counted.clone(),
        };
        let now = chosen.comparable();
        let differing = SETTINGS.iter().filter_map(|key| {
            let (before, now) = (counted.get(*key)?, now.get(*key)?);
            (before != now).then(|| {
                format!(
                    "{key}: {} at the last start, now {} ({})",
                    in_words(key, before),
                    in_words(key, now),
                    chosen.source(key)
                )
            })
        });
        differing.collect()
    }

    /// Writes down what counts now, where that is not there yet.
    pub async fn write(
        &self,
        client: &Client,
        (namespace, kept): (&str, &str),
        chosen: &Chosen,
        (secret, waiting): (&SecretSettings, &BTreeSet<&'static str>),
    ) {
        if *self == Self::Forbidden {
            return;
        }
        let data = data(chosen, secret, waiting);
        if *self != Self::of(data.clone()) {
            let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
            let body = json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": CONFIG_MAP},
                "data": data,
            });
            let parameters = PatchParams::apply(FIELD_MANAGER).force();
            let written = maps
                .patch(CONFIG_MAP, &parameters, &Patch::Apply(body))
                .await;
            if let Err(error) = written {
                tracing::warn!(
                    %error,
                    "what counts cannot be written down in ConfigMap {namespace}/{CONFIG_MAP}: the next start does not say what has changed"
                );
                return;
            }
        }
        let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
        let mark = json!({"metadata": {"annotations": {MARK: "true"}}});
        let marked = secrets
            .patch_metadata(kept, &PatchParams::default(), &Patch::Merge(mark))
            .await;
        if let Err(error) = marked {
            // At the first start there is no such Secret yet.
            tracing::debug!(%error, "Secret {namespace}/{kept} is not marked");
        }
    }
}

/// Whether the operator may not read it: an earlier release of the chart gave no such right.
fn is_forbidden(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 403)
}

/// The ConfigMap's data.
fn data(
    chosen: &Chosen,
    secret: &SecretSettings,
    waiting: &BTreeSet<&'static str>,
) -> BTreeMap<String, String> {
    let mut data = chosen.comparable();
    data.extend(waiting.iter().filter_map(|key| {
        let value = comparable(key, secret.get(key)?);
        Some((format!("{WAITS}{key}"), value))
    }));
    let of_secret = SETTINGS
        .into_iter()
        .filter(|key| chosen.source(key) == Source::Secret);
    let of_secret: Vec<&str> = of_secret.collect();
    if !of_secret.is_empty() {
        data.insert(OF_SECRET.to_owned(), of_secret.join(" "));
    }
    data
}

/// What is told of keys that wait.
pub fn told_of_waiting(secret: &SecretSettings, waiting: &BTreeSet<&'static str>) -> Vec<String> {
    let told = waiting.iter().filter_map(|key| {
        let value = secret.get(key)?;
        Some(format!(
            "{key} is {value} in Secret {SECRET}, which earlier releases did not read; it waits, since it would widen or move what \
             the operator does: give the chart's value or the flag, or edit the key"
        ))
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::keys::{NAMESPACES, POLICY, SYNC_PERIOD};
    use super::*;
    use crate::fake_api;

    fn secret(pairs: &[(&str, &str)]) -> SecretSettings {
        let pairs = pairs.iter();
        let pairs = pairs.map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()));
        SecretSettings::of(pairs.collect())
    }

    /// An API server with this Secret, or a code for it, and with what each reading of the ConfigMap finds.
    fn cluster(secret: Result<Value, u16>, maps: Vec<Option<Value>>) -> Client {
        let maps = std::sync::Mutex::new(maps.into_iter());
        fake_api::client(move |path| {
            match path.contains("/secrets/") {
            true => secret.clone().map(|annotations| {
                let metadata = json!({"name": "kept", "annotations": annotations});
                json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metadata})
            }),
            false => maps.lock().unwrap().next().unwrap().ok_or(404),
        }
        })
    }

    #[tokio::test]
    async fn a_record_needs_no_secret_and_comes_before_one() {
        let (marked, bare) = (json!({MARK: "true"}), json!(null));
        let map = json!({"metadata": {"name": CONFIG_MAP}, "data": {MODE: "watchers", POLICY: "skip", OF_SECRET: POLICY}});
        let known = Last::of(serde_json::from_value(map["data"].clone()).unwrap());
        for (secret, maps, expected) in [
            // That of another part, which may not be read: of which part it was is not known where the settings' Secret is away.
            (Err(403), vec![Some(map.clone())], &known),
            (Err(404), vec![Some(map.clone())], &known),
            (Ok(bare.clone()), vec![None, Some(map)], &known),
            (Ok(bare), vec![None, None], &Last::Earlier),
            (Ok(marked), vec![None, None], &Last::None),
            (Err(404), vec![None, None], &Last::None),
        ] {
            let shown = format!("{secret:?} {maps:?}");
            let client = cluster(secret, maps);
            let last = Last::find(&client, "operator", "kept").await.unwrap();
            assert_eq!(&last, expected, "{shown}");
        }
        let client = cluster(Err(403), vec![None]);
        let error = Last::find(&client, "operator", "kept").await.unwrap_err();
        assert!(is_forbidden(&error), "{error}");
    }

    /// One start: what waits, what differs, and what the next one finds.
    fn start(
        last: &Last,
        given: &Given,
        secret: &SecretSettings,
    ) -> (Vec<&'static str>, Vec<String>, Last) {
        let secret = last.standing_in(secret.clone());
        let waiting = last.waiting(given, &secret);
        let chosen = Chosen::of(given, &secret, &waiting);
        let differences = last.differences(given, &chosen);
        let data = data(&chosen, &secret, &waiting);
        (waiting.into_iter().collect(), differences, Last::of(data))
    }

    #[test]
    fn after_an_upgrade_what_narrows_counts_and_what_widens_waits() {
        let keys = secret(&[
            (POLICY, "skip"),
            (NAMESPACES, "b, a"),
            (ANY_CLOUD, "true"),
            (MODE, "watchers"),
            (SYNC_PERIOD, "15m"),
        ]);
        let none = Given::new();
        let (waiting, differences, last) = start(&Last::Earlier, &none, &keys);
        assert_eq!(waiting, [ANY_CLOUD, MODE]);
        assert_eq!(
            differences,
            [
                "AZURE_TARGET_NAMESPACES: all namespaces at the last start, now a,b (Secret aso-controller-settings)",
                "DEFAULT_RECONCILE_POLICY: manage at the last start, now skip (Secret aso-controller-settings)",
                "AZURE_SYNC_PERIOD: as usual (once a day what Azure Resource Graph tells of, else every hour) at the last start, now 15m (Secret \
                 aso-controller-settings)",
            ]
        );
        // It waits at each start, until somebody edits it or a flag says it.
        let (waiting, differences, _) = start(&last, &none, &keys);
        assert_eq!((waiting.len(), differences.len()), (2, 0));
        let by_flag = Given::from([(ANY_CLOUD, "true".to_owned())]);
        let (waiting, differences, _) = start(&last, &by_flag, &keys);
        assert_eq!((waiting, differences.len()), (vec![MODE], 1));
        let edited = secret(&[(POLICY, "skip"), (MODE, "webhooks")]);
        let (waiting, differences, _) = start(&last, &none, &edited);
        assert_eq!((waiting.len(), differences.len()), (0, 3));
    }

    #[test]
    fn of_a_takeover_all_counts() {
        let keys = secret(&[(ANY_CLOUD, "true"), (MODE, "watchers")]);
        let (waiting, differences, last) = start(&Last::None, &Given::new(), &keys);
        assert_eq!((waiting.len(), differences.len()), (0, 0));
        let (_, differences, _) = start(&last, &Given::new(), &keys);
        assert_eq!(differences, Vec::<String>::new());
    }

    #[test]
    fn a_secret_that_is_not_there_goes_on_to_count_and_one_that_is_there_says_it_all() {
        let keys = secret(&[(POLICY, "skip"), (NAMESPACES, "b, a"), (SYNC_PERIOD, "15m")]);
        let flags = Given::from([(SYNC_PERIOD, "2h".to_owned())]);
        let (_, _, last) = start(&Last::None, &flags, &keys);
        let none = secret(&[]);
        // The flag is gone, too: it was never the Secret's.
        let (_, differences, again) = start(&last, &Given::new(), &none);
        assert_eq!(
            differences,
            [
                "AZURE_SYNC_PERIOD: 2h at the last start, now as usual (once a day what Azure Resource Graph tells of, else every hour) (default)"
            ]
        );
        assert_eq!(
            again.standing_in(none),
            secret(&[(POLICY, "skip"), (NAMESPACES, "a,b")])
        );
        let other = secret(&[("AZURE_CLIENT_ID", "id")]);
        let (_, differences, _) = start(&again, &Given::new(), &other);
        assert_eq!(differences.len(), 2, "{differences:?}");
    }

    #[test]
    fn a_key_that_waits_does_so_until_somebody_says_the_same_or_edits_it() {
        let keys = secret(&[(ANY_CLOUD, "true")]);
        let (waiting, _, mut last) = start(&Last::Earlier, &Given::new(), &keys);
        assert_eq!(waiting, [ANY_CLOUD]);
        // Neither does it when the Secret was away meanwhile.
        let (waiting, _, after) = start(&last, &Given::new(), &secret(&[]));
        assert_eq!((waiting, &after), (vec![ANY_CLOUD], &last));
        for (given, expected) in [
            (Some("false"), true),
            (None, true),
            (Some("true"), false),
            (None, false),
        ] {
            let given = given.map(|it| (ANY_CLOUD, it.to_owned()));
            let (waiting, _, next) = start(&last, &given.clone().into_iter().collect(), &keys);
            assert_eq!(!waiting.is_empty(), expected, "{given:?}");
            last = next;
        }
    }
}
