//! What counts of each setting, and by what.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::keys::{MODE, NAMESPACES, POLICY, SECRET, SETTINGS};
use super::secret::{SecretSettings, comparable};

/// By what a setting has its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A flag, or a variable of the environment.
    Flag,
    /// A key of the Secret.
    Secret,
    /// Nobody gave one.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => formatter.write_str("flag or variable"),
            Self::Secret => write!(formatter, "Secret {SECRET}"),
            Self::Default => formatter.write_str("default"),
        }
    }
}

/// Settings by key, as flags and variables give them; those that are not given are not there.
pub type Given = BTreeMap<&'static str, String>;

/// What counts of each setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    values: BTreeMap<&'static str, (String, Source)>,
    notes: Vec<String>,
}

impl Chosen {
    /// A flag or variable comes before the Secret, of which the keys in `waiting` do not count.
    pub fn of(given: &Given, secret: &SecretSettings, waiting: &BTreeSet<&'static str>) -> Self {
        let mut chosen = Self::default();
        for key in SETTINGS {
            let kept = secret.get(key).filter(|_| !waiting.contains(key));
            let Some(value) = given.get(key).filter(|value| !value.trim().is_empty()) else {
                if let Some(value) = kept {
                    chosen
                        .values
                        .insert(key, (value.to_owned(), Source::Secret));
                }
                continue;
            };
            let differs = kept.filter(|kept| comparable(key, kept) != comparable(key, value));
            if let Some(kept) = differs {
                chosen.notes.push(format!(
                    "{key} is {value} by a flag or variable (a value of the chart), which comes before {kept} in Secret {SECRET}"
                ));
            }
            chosen.values.insert(key, (value.clone(), Source::Flag));
        }
        chosen
    }

    /// The value of a setting, where somebody gave it one.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|(value, _)| value.as_str())
    }

    /// By what a setting has its value.
    pub fn source(&self, key: &str) -> Source {
        self.values
            .get(key)
            .map_or(Source::Default, |(_, source)| *source)
    }

    /// A setting, read.
    ///
    /// # Errors
    /// When it means nothing; names it and where it is from.
    pub fn parsed<T>(
        &self,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> anyhow::Result<Option<T>> {
        let Some((value, source)) = self.values.get(key) else {
            return Ok(None);
        };
        let parsed = parse(value);
        parsed.map(Some).map_err(|message| {
            anyhow::anyhow!(
                "{key} ({source}) is '{}': {message}",
                value.escape_debug().take(80).collect::<String>()
            )
        })
    }

    /// What is told of settings that two places give.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// All settings as they are compared: of what nobody gave, the default.
    pub fn comparable(&self) -> BTreeMap<String, String> {
        let all = SETTINGS
            .iter()
            .map(|key| ((*key).to_owned(), comparable(key, self.shown(key))));
        all.collect()
    }

    /// The value of a setting, or the word for its default.
    pub fn shown(&self, key: &str) -> &str {
        self.get(key).unwrap_or_else(|| default_of(key))
    }
}

/// What a setting is that nobody gives; empty where that has no word.
pub fn default_of(key: &str) -> &'static str {
    match key {
        MODE => "watchers-and-webhooks",
        POLICY => "manage",
        super::keys::ANY_CLOUD => "false",
        _ => "",
    }
}

/// A value for people: what is empty says what that means.
pub fn in_words<'v>(key: &str, value: &'v str) -> &'v str {
    match (value, key) {
        ("", NAMESPACES) => "all namespaces",
        ("", super::keys::SYNC_PERIOD) => {
            "as usual (once a day what Azure Resource Graph tells of, else every hour)"
        }
        ("" | "0", super::keys::CONCURRENCY) => "no limit of one kind",
        ("", super::keys::USER_AGENT) => "nothing",
        ("", _) => "that of the public cloud",
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::{CONCURRENCY, SYNC_PERIOD};
    use super::*;

    #[test]
    fn a_flag_comes_first_then_the_secret_then_the_default() {
        let secret = [
            (POLICY, "skip"),
            (MODE, "watchers"),
            (SYNC_PERIOD, "15m"),
            (CONCURRENCY, "8"),
        ];
        let secret = secret.map(|(key, value)| (key.to_owned(), value.as_bytes().to_vec()));
        let secret = SecretSettings::of(secret.into());
        let given = Given::from([
            (POLICY, "manage".to_owned()),
            (SYNC_PERIOD, "15m".to_owned()),
            (CONCURRENCY, String::new()),
        ]);
        let chosen = Chosen::of(&given, &secret, &BTreeSet::from([MODE]));
        for (key, value, source) in [
            (POLICY, Some("manage"), Source::Flag),
            (SYNC_PERIOD, Some("15m"), Source::Flag),
            (CONCURRENCY, Some("8"), Source::Secret),
            (MODE, None, Source::Default),
            (NAMESPACES, None, Source::Default),
        ] {
            assert_eq!((chosen.get(key), chosen.source(key)), (value, source));
        }
        // Only where the two differ is that worth a line.
        let [note] = chosen.notes() else {
            panic!("{:?}", chosen.notes())
        };
        assert!(
            note.starts_with("DEFAULT_RECONCILE_POLICY is manage by a flag"),
            "{note}"
        );
        let wrong = chosen.parsed(CONCURRENCY, |_| {
            Err::<(), _>("expected a number".to_owned())
        });
        assert_eq!(
            wrong.expect_err("wrong").to_string(),
            "MAX_CONCURRENT_RECONCILES (Secret aso-controller-settings) is '8': expected a number"
        );
    }
}
