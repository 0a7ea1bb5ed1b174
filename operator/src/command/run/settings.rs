//! Flags beside the keys of the operator's Secret: what counts of both, and what of it is told.

use std::path::PathBuf;
use std::time::Duration;

use armature_runtime::reconcile::policy::Policy;
use clap::{Args, Command, ValueEnum};

use super::RunArguments;
use super::values::{SyncPeriod, policy, sync_period};
use crate::command::azure::Beside;
use crate::config::OperatorMode;
use crate::settings::chosen::Given;
use crate::settings::keys::{CONCURRENCY, MODE, NAMESPACES, POLICY, SECRET, SETTINGS, SYNC_PERIOD};
use crate::settings::secret::names;
use crate::settings::{Chosen, Last, SecretSettings, last};

/// How often the Secret's folder is looked at.
const LOOK: Duration = Duration::from_secs(5);

/// The settings that an operator starts with.
pub(super) struct StartSettings {
    /// What counts of each setting.
    pub chosen: Chosen,
    /// What the Secret says of settings, with which its credential counts.
    pub beside: Beside,
}

/// Settings that a Secret may give, read.
pub(super) struct Parsed {
    pub mode: OperatorMode,
    pub namespaces: Vec<String>,
    pub policy: Policy,
    pub sync_period: Option<SyncPeriod>,
    pub concurrency: Option<usize>,
}

impl Parsed {
    /// Reads them.
    ///
    /// # Errors
    /// When one means nothing; names it and where it is from.
    pub fn of(told: &Chosen) -> anyhow::Result<Self> {
        let mode = |text: &str| {
            let mode = OperatorMode::from_str(text, true);
            mode.map_err(|_| "expected watchers-and-webhooks, watchers or webhooks".to_owned())
        };
        let number = |text: &str| {
            text.parse::<usize>()
                .map_err(|_| "expected a number, 0 or more".to_owned())
        };
        let names = |text: &str| Ok(names(text));
        Ok(Self {
            mode: told.parsed(MODE, mode)?.unwrap_or_default(),
            namespaces: told.parsed(NAMESPACES, names)?.unwrap_or_default(),
            policy: told.parsed(POLICY, policy)?.unwrap_or(Policy::Manage),
            sync_period: told.parsed(SYNC_PERIOD, sync_period)?,
            concurrency: told.parsed(CONCURRENCY, number)?.filter(|limit| *limit > 0),
        })
    }
}

/// A variable of the environment, or what counts of a setting.
pub(super) fn variable(told: &Chosen, name: &str) -> Option<String> {
    match SETTINGS.contains(&name) {
        true => told.get(name).map(str::to_owned),
        false => std::env::var(name).ok(),
    }
}

/// The variables of `armature run`.
fn variables(command: &Command) -> Vec<&str> {
    let arguments = command.get_arguments();
    arguments.filter_map(|it| it.get_env()?.to_str()).collect()
}

impl RunArguments {
    /// Settings that flags and environment give.
    fn given(&self) -> Given {
        let mode = self.operator_mode.and_then(|mode| mode.to_possible_value());
        let flags = [
            (MODE, mode.map(|mode| mode.get_name().to_owned())),
            (NAMESPACES, Some(self.target_namespaces.join(","))),
            (
                POLICY,
                self.default_reconcile_policy
                    .map(|it| it.as_str().to_owned()),
            ),
            (SYNC_PERIOD, self.sync_period.map(|it| it.to_string())),
            (
                CONCURRENCY,
                self.max_concurrent_reconciles.map(|it| it.to_string()),
            ),
        ];
        let is_flag = |key: &str| flags.iter().any(|(flag, _)| *flag == key);
        let others = SETTINGS.into_iter().filter(|key| !is_flag(key));
        let others = others.map(|key| (key, std::env::var(key).ok()));
        let all: Vec<(&'static str, Option<String>)> = others.chain(flags.clone()).collect();
        let given = all
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        given
            .filter(|(_, value)| !value.trim().is_empty())
            .collect()
    }

    /// The Secret that an operator of this mode leaves in its namespace, and that its rights allow to read.
    fn kept_secret(&self, mode: Option<&str>) -> &str {
        match mode {
            Some(mode) if mode.eq_ignore_ascii_case("watchers") => "armature-digest-key",
            _ => &self.webhook_secret,
        }
    }

    /// What counts of flags and Secret. Where there is a Secret, what means nothing in it is told, and what has changed since the
    /// last start.
    ///
    /// # Errors
    /// When the Secret's folder, or what counted at the last start, cannot be read.
    pub(super) async fn told(&self, kubernetes: &kube::Config) -> anyhow::Result<StartSettings> {
        let given = self.given();
        let Some(folder) = &self.credential_folder else {
            return Ok(StartSettings {
                chosen: Chosen::of(&given, &SecretSettings::default(), &Default::default()),
                beside: Beside::new(),
            });
        };
        let secret = SecretSettings::read(folder)?;
        let client = kube::Client::try_from(kubernetes.clone())?;
        let mode = given.get(MODE).map(String::as_str);
        let kept = self.kept_secret(mode.or_else(|| secret.get(MODE)));
        let last = Last::read(&client, &self.namespace, kept).await?;
        let is_there = secret.is_there();
        let secret = last.standing_in(secret);
        // A Secret that comes is held against what stands in for it.
        let beside = secret.settings();
        if !is_there && secret.is_there() {
            tracing::warn!(
                "Secret {SECRET} is not there, or empty: what it said at the last start goes on to count"
            );
        }
        let waiting = last.waiting(&given, &secret);
        let chosen = Chosen::of(&given, &secret, &waiting);
        let command = Self::augment_args(Command::new("run"));
        for note in secret.notes(&variables(&command)) {
            tracing::warn!("Secret {SECRET}: {note}");
        }
        let waits = last::told_of_waiting(&secret, &waiting);
        for note in chosen.notes().iter().chain(&waits) {
            tracing::warn!("{note}");
        }
        for difference in last.differences(&given, &chosen) {
            tracing::warn!("{difference}");
        }
        // A start that fails is none.
        Parsed::of(&chosen)?;
        // The mode may come from what stands in for the Secret, and one that waits is none.
        let kept = self.kept_secret(chosen.get(MODE));
        let place = (self.namespace.as_str(), kept);
        last.write(&client, place, &chosen, (&secret, &waiting))
            .await;
        Ok(StartSettings { chosen, beside })
    }
}

/// Waits until a setting of the Secret is not what it was, and says which. A Secret that goes says nothing new.
pub(super) async fn changes(folder: Option<PathBuf>, beside: Beside) -> String {
    let Some(folder) = folder else {
        return std::future::pending().await;
    };
    loop {
        tokio::time::sleep(LOOK).await;
        // What cannot be read now is read the next time.
        if let Ok(secret) = SecretSettings::read(&folder)
            && secret.is_there()
            && let Some((key, _)) = secret
                .settings()
                .into_iter()
                .find(|(key, value)| beside.get(key) != Some(value))
        {
            return key;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_setting_that_comes_or_changes_is_seen_and_a_secret_that_goes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let seen = |beside: &Beside| {
            let changes = changes(Some(folder.path().to_owned()), beside.clone());
            tokio::time::timeout(LOOK * 3, changes)
        };
        let none = SecretSettings::read(folder.path()).unwrap().settings();
        assert!(seen(&none).await.is_err());
        std::fs::write(path(POLICY), "skip").unwrap();
        std::fs::write(path("AZURE_CLIENT_SECRET"), "secret").unwrap();
        assert_eq!(seen(&none).await.as_deref(), Ok(POLICY));
        let skip = SecretSettings::read(folder.path()).unwrap().settings();
        std::fs::write(path("AZURE_CLIENT_SECRET"), "rotated").unwrap();
        assert!(
            seen(&skip).await.is_err(),
            "a credential is read for each pass"
        );
        std::fs::remove_file(path(POLICY)).unwrap();
        assert_eq!(seen(&skip).await.as_deref(), Ok(POLICY));
        std::fs::remove_file(path("AZURE_CLIENT_SECRET")).unwrap();
        assert!(seen(&skip).await.is_err(), "it says nothing new");
    }
}
