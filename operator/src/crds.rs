//! Keeps the CRDs: installs and updates them, and keeps their conversion and their trust in the webhook current.

use std::collections::{BTreeSet, HashSet};
use std::pin::pin;
use std::time::Duration;

use armature_runtime::engine::crd::ServedVersions;
use armature_runtime::kind::KindInfo;
use armature_runtime::kubernetes::{
    AppliedCrds, Conversion, CrdInstaller, CrdVersions, InstalledCrd, Replica, Strangers,
    UnknownVersions, applied_digest,
};
use armature_runtime::resource::Kind;
use futures::StreamExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::runtime::watcher::Event;
use serde_json::json;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::build_id::build_id;
use crate::config::{CrdManagement, OperatorConfig, VersionChoice};
use crate::crd_report::LACK_STATUS;
use crate::health::Readiness;
use crate::start_error::StartError;
use crate::webhook::Certificates;

/// Longest wait for new CRDs to be served.
const ESTABLISH_LIMIT: Duration = Duration::from_secs(120);

/// Time between two looks whether other replicas are gone.
const STRANGERS_CHECK: Duration = Duration::from_secs(1);

/// Time after which CRDs that could not be installed are tried again.
const INSTALL_RETRY: Duration = Duration::from_secs(15);

/// Keeper of the CRDs.
pub struct CrdKeeper {
    config: OperatorConfig,
    installer: CrdInstaller,
    certificates: Certificates,
    replica: Replica,
    strangers: Strangers,
    /// What was applied last, by whom ever.
    applied: AppliedCrds,
    /// This build of the program; nothing where it is not known.
    build: Option<String>,
    /// Kinds of CRDs that convert here.
    converted: HashSet<Kind>,
    /// CRDs that serve versions which this program does not have.
    unknown: UnknownServed,
    /// When to install CRDs; never when that is done or not ours to do.
    install_at: Option<Instant>,
    /// Who migrates objects that may be stored at older versions, if anybody here does.
    migrator: Option<UnboundedSender<Kind>>,
}

impl CrdKeeper {
    /// A keeper that has done nothing yet.
    pub fn new(
        config: &OperatorConfig,
        installer: CrdInstaller,
        applied: AppliedCrds,
        certificates: Certificates,
        replica: Replica,
        migrator: Option<UnboundedSender<Kind>>,
    ) -> Self {
        Self {
            config: config.clone(),
            installer,
            applied,
            build: build_id(),
            certificates,
            replica,
            strangers: Strangers::default(),
            converted: HashSet::new(),
            unknown: UnknownServed::default(),
            install_at: None,
            migrator,
        }
    }

    /// Looks at what is installed and installs CRDs where there are none. Where there are some, that is left to
    /// [`CrdKeeper::run`]: replicas with other versions may convert their objects.
    pub async fn begin(&mut self, readiness: &Readiness) -> Result<(), StartError> {
        readiness.waits_for("the list of installed CRDs");
        let named = self.config.crd_pattern.select(self.config.kinds)?;
        let installed = self.installer.installed().await?;
        let mut is_fresh = true;
        for crd in &installed {
            if let Some(kind) = self.kind_of(crd) {
                crd.check_stored(kind)?;
                is_fresh = false;
            }
        }
        if self.config.crd_management == CrdManagement::None {
            self.tell_of_lacks(&installed);
            return Ok(());
        }
        if !is_fresh {
            self.install_at = Some(Instant::now());
            return Ok(());
        }
        if named.is_empty() {
            return Err(StartError::NoKinds);
        }
        readiness.waits_for(format!("the API server to serve {} CRDs", named.len()));
        self.install().await
    }

    /// Tells those who keep CRDs themselves what theirs lack, and what they have that this program has not.
    fn tell_of_lacks(&mut self, installed: &[InstalledCrd]) {
        let ours = installed.iter().filter(|crd| self.kind_of(crd).is_some());
        let lacking = ours.filter(|crd| !crd.gives_status());
        let names: Vec<&str> = lacking
            .filter_map(|crd| crd.metadata.name.as_deref())
            .collect();
        if let [first, ..] = names[..] {
            tracing::warn!(crds = names.len(), first, "some CRDs {LACK_STATUS}");
        }
        let here = installed.iter().filter_map(|crd| {
            let is_here = self.conversion(crd) != Conversion::Elsewhere;
            self.kind_of(crd)
                .filter(|_| is_here)
                .map(|kind| (crd, kind))
        });
        let here: Vec<_> = here.collect();
        let unknown = here.into_iter();
        let unknown = unknown.filter_map(|(crd, kind)| self.unknown.newly(crd, kind));
        let unknown: Vec<UnknownVersions> = unknown.collect();
        if let [first, ..] = &unknown[..] {
            tracing::error!(crds = unknown.len(), %first, "{REQUESTS_FAIL}");
        }
    }

    /// Keeps the CRDs until told to stop.
    pub async fn run(self, stop: CancellationToken) {
        stop.run_until_cancelled(self.keep()).await;
    }

    async fn keep(mut self) {
        let mut events = pin!(self.installer.watch());
        let period = self.config.certificate_check;
        let mut check = tokio::time::interval_at(Instant::now() + period, period);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // CRDs that convert elsewhere when we come are taken over; what others do later stays theirs.
        let mut take_over = true;
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(Ok(Event::InitApply(crd) | Event::Apply(crd))) => {
                        self.look_at(&crd, take_over).await;
                    }
                    Some(Ok(Event::InitDone)) => take_over = false,
                    Some(Ok(Event::Init | Event::Delete(_))) => {}
                    Some(Err(error)) => tracing::debug!(%error, "the watch of CRDs was interrupted"),
                    None => return,
                },
                _ = check.tick() => self.renew().await,
                () = due(self.install_at) => self.install_at = self.try_install().await,
            }
        }
    }

    fn kind_of(&self, crd: &InstalledCrd) -> Option<&'static KindInfo> {
        let mut kinds = self.config.kinds.iter();
        kinds.find(|kind| crd.is_of(kind)).copied()
    }

    /// Installs or updates CRDs as soon as no other replica would be sent what it cannot convert. Returns when
    /// to try again.
    async fn try_install(&mut self) -> Option<Instant> {
        match self.strangers.present(&self.replica).await {
            Ok(present) if present.is_empty() => {}
            Ok(present) => {
                tracing::debug!(
                    ?present,
                    "CRDs wait for replicas with other versions to end"
                );
                return Some(Instant::now() + STRANGERS_CHECK);
            }
            Err(error) => {
                tracing::warn!(%error, "cannot see which replicas there are; CRDs wait");
                return Some(Instant::now() + STRANGERS_CHECK);
            }
        }
        match self.install().await {
            Ok(()) => None,
            Err(error) => {
                tracing::error!(%error, "CRDs were not updated; trying again");
                Some(Instant::now() + INSTALL_RETRY)
            }
        }
    }

    /// Installs the CRDs that the pattern names and updates those that are there.
    async fn install(&mut self) -> Result<(), StartError> {
        let installed = self.installer.installed().await?;
        let mut crds = Vec::new();
        for kind in self.config.kinds {
            let known = installed.iter().find(|crd| crd.is_of(kind));
            if known.is_some() || self.config.crd_pattern.names(kind) {
                crds.push((*kind, self.versions(kind, known).await?));
            }
        }
        let kinds: Vec<_> = crds.iter().map(|(kind, _)| *kind).collect();
        if self.is_applied(&crds, &installed).await {
            tracing::info!(
                count = crds.len(),
                "the CRDs are as this program has applied them"
            );
            self.converted.extend(kinds.into_iter().map(Kind));
            return Ok(());
        }
        tracing::info!(count = crds.len(), "installing CRDs");
        let bundle = &self.certificates.current.bundle;
        // Else another bundle is back as soon as ours is there.
        let injected = installed.iter().filter(|crd| crd.is_injected());
        let injected: Vec<_> = injected.filter_map(|crd| self.kind_of(crd)).collect();
        self.installer.point_conversion(&injected, bundle).await?;
        let became = self.installer.apply(&crds, bundle).await?;
        self.installer
            .wait_established(&kinds, ESTABLISH_LIMIT)
            .await?;
        self.converted.extend(kinds.into_iter().map(Kind));
        if let Some(digest) = self.digest(&crds, became.iter())
            && let Err(error) = self.applied.note(digest).await
        {
            tracing::debug!(%error, "what was applied is not noted; it is applied again next time");
        }
        Ok(())
    }

    /// Stands for CRDs that this program has applied, as they are now; nothing where it is not known which program this is.
    fn digest<'m>(
        &self,
        crds: &[(&'static KindInfo, CrdVersions)],
        now: impl Iterator<Item = &'m ObjectMeta>,
    ) -> Option<String> {
        let bundle = &self.certificates.current.bundle;
        let settings = self.installer.decided_by(crds, bundle);
        let program = self.build.as_ref()?;
        Some(applied_digest(&json!([program, settings]), now))
    }

    /// Whether these CRDs are there, served, and as this very program has left them.
    async fn is_applied(
        &self,
        crds: &[(&'static KindInfo, CrdVersions)],
        installed: &[InstalledCrd],
    ) -> bool {
        let mut now = Vec::new();
        for (kind, _) in crds {
            match installed.iter().find(|crd| crd.is_of(kind)) {
                Some(crd) if crd.serves(kind) && !crd.is_injected() => now.push(&crd.metadata),
                _ => return false,
            }
        }
        let digest = self.digest(crds, now.into_iter());
        digest.is_some() && self.applied.last().await == digest
    }

    /// The versions that the CRD of a kind gets.
    async fn versions(
        &self,
        kind: &'static KindInfo,
        installed: Option<&InstalledCrd>,
    ) -> Result<CrdVersions, StartError> {
        let latest_only = self.config.crd_versions == VersionChoice::Latest;
        let asked = self.config.crd_pattern.versions(kind);
        let Some(crd) = installed else {
            return Ok(CrdVersions {
                served: match latest_only {
                    false => ServedVersions::All { also: asked },
                    true => ServedVersions::Latest { also: asked },
                },
                ..CrdVersions::default()
            });
        };
        let written = match crd.depends_on_objects(kind, latest_only) {
            true => self.installer.written_versions(kind, crd).await?,
            false => BTreeSet::new(),
        };
        Ok(crd.updated_versions(kind, latest_only, &asked, &written)?)
    }

    /// Makes a CRD convert here and trust us, unless it converts elsewhere and is not to be taken
    /// over. One that converts here and names older versions is to be migrated.
    async fn look_at(&mut self, crd: &InstalledCrd, take_over: bool) {
        let Some(kind) = self.kind_of(crd) else {
            return;
        };
        if self.conversion(crd) == Conversion::HereOutdated {
            // Another replica has renewed the certificate, most likely.
            self.renew().await;
        }
        match self.conversion(crd) {
            Conversion::Here if !crd.is_injected() => {}
            Conversion::Elsewhere if !take_over => {
                self.converted.remove(&Kind(kind));
                return;
            }
            Conversion::Elsewhere if let Err(error) = crd.check_served(kind) => {
                // Whoever converts there now may have them.
                tracing::error!(%error, "a CRD does not convert here");
                return;
            }
            _ => {
                let bundle = &self.certificates.current.bundle;
                if let Err(error) = self.installer.point_conversion(&[kind], bundle).await {
                    tracing::error!(%error, "a CRD does not convert here");
                    return;
                }
                tracing::info!(
                    kind = kind.kind,
                    group = kind.group,
                    "the CRD converts here now"
                );
            }
        }
        self.converted.insert(Kind(kind));
        // CRDs that are to be installed get other versions.
        if self.install_at.is_none()
            && let Some(error) = self.unknown.newly(crd, kind)
        {
            tracing::error!(crds = 1, first = %error, "{REQUESTS_FAIL}");
        }
        if let Some(migrator) = &self.migrator
            && crd.needs_migration(kind)
        {
            // Nobody listens any more when the operator ends.
            migrator.send(Kind(kind)).ok();
        }
    }

    fn conversion(&self, crd: &InstalledCrd) -> Conversion {
        let bundle = &self.certificates.current.bundle;
        self.installer.conversion(crd, bundle)
    }

    /// Looks at the stored certificate: it may expire soon, or another replica may have renewed it.
    async fn renew(&mut self) {
        if let Err(error) = self.renewed().await {
            tracing::error!(%error, "the webhook's certificate was not renewed; trying again");
        }
    }

    async fn renewed(&mut self) -> Result<(), StartError> {
        let certificates = &mut self.certificates;
        let stored = certificates
            .store
            .ensure((certificates.today)(), Some(&certificates.current.bundle))
            .await?;
        // Trust comes first.
        if stored.bundle != certificates.current.bundle {
            let kinds: Vec<_> = self.converted.iter().map(|kind| kind.0).collect();
            self.installer
                .point_conversion(&kinds, &stored.bundle)
                .await?;
        }
        if stored.certificate != certificates.current.certificate {
            certificates.serving.replace(&stored)?;
            tracing::info!("the webhook serves a new certificate");
        }
        certificates.current = stored;
        Ok(())
    }
}

/// What is wrong with CRDs that serve versions which nobody converts.
const REQUESTS_FAIL: &str = "some CRDs convert here and serve versions that this operator does not have: requests at those versions, and \
                             all lists at them, fail";

/// Kinds whose CRDs serve versions that this program does not have, each told once.
#[derive(Default)]
struct UnknownServed(HashSet<Kind>);

impl UnknownServed {
    /// The versions, where it was not told yet that there are some.
    fn newly(&mut self, crd: &InstalledCrd, kind: &'static KindInfo) -> Option<UnknownVersions> {
        let Err(unknown) = crd.check_served(kind) else {
            self.0.remove(&Kind(kind));
            return None;
        };
        self.0.insert(Kind(kind)).then_some(unknown)
    }
}

/// Waits for a moment, for ever if there is none.
pub async fn due(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use armature_runtime::testing::gadget::MODEL;

    use super::*;

    fn crd(served: &[&str]) -> InstalledCrd {
        let versions = served
            .iter()
            .map(|name| json!({"name": name, "served": true, "storage": false}));
        let crd = json!({
            "metadata": {"name": "gadgets.toys.azure.com"},
            "spec": {
                "group": MODEL.group, "names": {"kind": MODEL.kind},
                "versions": versions.collect::<Vec<_>>(),
            },
        });
        serde_json::from_str(&crd.to_string()).unwrap()
    }

    #[test]
    fn versions_that_nobody_converts_are_told_once_until_they_are_gone() {
        let mut unknown = UnknownServed::default();
        let known = crd(&["v1api20200101", "v20210101"]);
        let newer = crd(&["v1api20200101", "v20990101"]);
        assert_eq!(unknown.newly(&known, &MODEL), None);
        let told = unknown.newly(&newer, &MODEL).unwrap();
        assert_eq!(told.versions, "v20990101");
        assert_eq!(unknown.newly(&newer, &MODEL), None);
        assert_eq!(unknown.newly(&known, &MODEL), None);
        assert!(unknown.newly(&newer, &MODEL).is_some());
    }
}
