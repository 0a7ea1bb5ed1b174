//! The keys of one Secret: mounted as files, or read from the cluster.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;
use armature_runtime::azure::credential::is_true;

use super::keys::{ANY_CLOUD, CONCURRENCY, NAMESPACES, SETTINGS, SYNC_PERIOD, USER_AGENT, note};

/// What Azure Service Operator's chart writes where nobody chose anything: it means the default here, too.
const DEFAULTS: [(&str, &str); 2] = [(SYNC_PERIOD, "1h"), (CONCURRENCY, "4")];

/// Longest value that is looked at, in bytes: settings are words, and a certificate is not read here.
const LONGEST: usize = 64 << 10;

/// The keys of one Secret with their values, but for those that are set to nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretSettings {
    values: BTreeMap<String, String>,
    is_there: bool,
}

impl SecretSettings {
    /// The files of a folder; none where it is not there.
    ///
    /// # Errors
    /// When folder or file cannot be read.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                return Err(error).with_context(|| {
                    format!(
                        "the credential folder {} cannot be listed",
                        folder.display()
                    )
                });
            }
        };
        let mut files = BTreeMap::new();
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // A mounted Secret has its files in folders that begin so, too.
            if name.starts_with("..") || !entry.path().is_file() {
                continue;
            }
            let path = entry.path();
            let content = std::fs::read(&path)
                .with_context(|| format!("the setting {} cannot be read", path.display()))?;
            files.insert(name, content);
        }
        Ok(Self::of(files))
    }

    /// The keys of a Secret.
    pub fn of(data: BTreeMap<String, Vec<u8>>) -> Self {
        let is_there = !data.is_empty();
        let values = data.into_iter().filter_map(|(key, value)| {
            let value = match value.len() > LONGEST {
                true => String::new(),
                false => String::from_utf8_lossy(&value).trim().to_owned(),
            };
            (!value.is_empty()).then_some((key, value))
        });
        Self {
            values: values.collect(),
            is_there,
        }
    }

    /// Whether there is such a Secret, with a key.
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// The settings as they are written there.
    pub fn settings(&self) -> BTreeMap<String, Option<String>> {
        let all = SETTINGS.into_iter();
        all.map(|key| (key.to_owned(), self.values.get(key).cloned()))
            .collect()
    }

    /// The value of a key, where it has one that is no default of Azure Service Operator.
    pub fn get(&self, key: &str) -> Option<&str> {
        let value = self.values.get(key)?;
        let is_default = DEFAULTS
            .iter()
            .any(|(name, default)| *name == key && is_same_default(key, value, default));
        (!is_default).then_some(value.as_str())
    }

    /// The value of a key as it is written there.
    pub fn written(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// The keys that have a value.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// What is told of keys that mean nothing here. `variables` are those of the program.
    pub fn notes(&self, variables: &[&str]) -> Vec<String> {
        let notes = self
            .keys()
            .filter_map(|key| note(key, variables.iter().copied()));
        notes.collect()
    }
}

/// Whether a value is the default: an hour has several spellings.
fn is_same_default(key: &str, value: &str, default: &str) -> bool {
    if key != SYNC_PERIOD {
        return value == default;
    }
    let period = |text: &str| text.parse::<jiff::SignedDuration>().ok();
    period(value).is_some() && period(value) == period(default)
}

/// The names in a list with commas, in order and each once. The chart gives rights for the same ones: it takes semicolons and spaces,
/// too.
pub fn names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = text
        .split([',', ';'])
        .flat_map(str::split_whitespace)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

/// A value as it is compared: names of namespaces have no order, and words no case.
pub fn comparable(key: &str, value: &str) -> String {
    match key {
        NAMESPACES => names(value).join(","),
        ANY_CLOUD => is_true(value).to_string(),
        USER_AGENT => value.trim().to_owned(),
        _ => value.trim().trim_end_matches('/').to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> SecretSettings {
        let pairs = pairs.iter();
        let pairs = pairs.map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()));
        SecretSettings::of(pairs.collect())
    }

    #[test]
    fn defaults_that_nobody_chose_mean_ours() {
        for (key, value, expected) in [
            (SYNC_PERIOD, "1h", None),
            (SYNC_PERIOD, "60m", None),
            (SYNC_PERIOD, "1h0m0s", None),
            (SYNC_PERIOD, "15m\n", Some("15m")),
            (SYNC_PERIOD, "never", Some("never")),
            (CONCURRENCY, "4", None),
            (CONCURRENCY, "8", Some("8")),
            (NAMESPACES, "  ", None),
        ] {
            assert_eq!(of(&[(key, value)]).get(key), expected, "{key} {value}");
        }
    }

    #[test]
    fn namespaces_are_those_that_the_chart_gives_rights_for() {
        for text in ["b,a", "a, b", "a;b", " a b ", "b,,a,b"] {
            assert_eq!(names(text), ["a", "b"], "{text}");
        }
    }

    #[test]
    fn files_of_a_mounted_secret_are_its_keys() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| folder.path().join(name);
        std::fs::create_dir(of("..2026_01")).unwrap();
        std::fs::write(of("..2026_01/AZURE_SYNC_PERIOD"), "15m").unwrap();
        std::os::unix::fs::symlink("..2026_01", of("..data")).unwrap();
        let link = of("AZURE_SYNC_PERIOD");
        std::os::unix::fs::symlink("..data/AZURE_SYNC_PERIOD", link).unwrap();
        std::fs::write(of("RATE_LIMIT_QPS"), "5").unwrap();
        let read = SecretSettings::read(folder.path()).unwrap();
        let keys: Vec<&str> = read.keys().collect();
        assert_eq!(keys, [SYNC_PERIOD, "RATE_LIMIT_QPS"]);
        assert_eq!(read.get(SYNC_PERIOD), Some("15m"));
        assert_eq!(read.notes(&[]).len(), 1);
        let none = SecretSettings::read(&of("absent")).unwrap();
        assert_eq!(none, SecretSettings::default());
    }
}
