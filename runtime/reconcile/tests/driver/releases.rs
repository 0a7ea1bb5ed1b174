//! Upgrades and rollbacks: one release with fewer versions of a kind, and one with more, over the same objects.

use std::sync::LazyLock;

use armature_reconcile::port::DataKind;
use armature_shapes::kind::{HubInfo, KindInfo, VersionInfo};

use super::*;

/// The version that only the newer release has.
const NEWEST: &str = "v20250101";

static NEWER: LazyLock<&'static KindInfo> = LazyLock::new(|| {
    let [old] = kinds::STORE.versions else {
        panic!("stores have one version");
    };
    let new = VersionInfo {
        name: NEWEST,
        api_version: "2025-01-01",
        ..*old
    };
    let old = VersionInfo { ..*old };
    Box::leak(Box::new(KindInfo {
        versions: Box::leak(Box::new([old, new])),
        hub: HubInfo {
            storage_version: "v20250101storage",
            ..kinds::STORE.hub
        },
        ..kinds::STORE
    }))
});

#[derive(Clone, Copy, Debug, PartialEq)]
enum Release {
    Older,
    Newer,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Between {
    Nothing,
    Edit,
    Drift,
    Rotation,
}

/// A store under one release after the other.
struct Rollout {
    world: World,
    release: Release,
    /// Version that the user wrote.
    version: &'static str,
}

impl Rollout {
    /// A store that is fine under a release that knows its version.
    async fn begin(release: Release, version: &'static str) -> Self {
        let world = World::with_group().await;
        let mut rollout = Self {
            world,
            release: Release::Older,
            version,
        };
        rollout.hand_over(release);
        rollout.rotate("1");
        rollout.edit(5);
        assert_eq!(rollout.pass().await, Requeue::Sync);
        rollout.world.forget();
        rollout
    }

    fn store_kind(&self) -> &'static KindInfo {
        match self.release {
            Release::Older => &kinds::STORE,
            Release::Newer => *NEWER,
        }
    }

    fn hand_over(&mut self, to: Release) {
        self.release = to;
        let kinds = [&kinds::GROUP, self.store_kind(), &kinds::BOX];
        self.world.cluster = Arc::new(self.world.cluster.handed_over(&kinds));
    }

    fn key(&self) -> ObjectKey {
        ObjectKey {
            kind: armature_shapes::resource::Kind(self.store_kind()),
            namespace: "default".to_owned(),
            name: "s".to_owned(),
        }
    }

    fn edit(&self, capacity: i64) {
        let spec = json!({
            "originalVersion": self.version,
            "owner": {"name": "g"},
            "capacity": capacity,
            "password": {"name": "secret", "key": "password"},
        });
        self.world.cluster.apply(self.store_kind(), "s", &spec);
    }

    fn rotate(&self, password: &str) {
        let data = [("password", password)];
        self.world
            .cluster
            .put_data(DataKind::Secret, "secret", &data);
    }

    fn drift(&self) {
        let mut store = self.world.azure.get(STORE).unwrap();
        store["properties"]["capacity"] = json!(99);
        self.world.azure.set(STORE, store);
    }

    /// Something happens, for the so many-th time; what Azure is to have of it in the end.
    fn happen(&self, between: Between, at: i64) -> (i64, String) {
        match between {
            Between::Nothing => {}
            Between::Edit => self.edit(5 + at),
            Between::Drift => self.drift(),
            Between::Rotation => self.rotate(&format!("1 and {at}")),
        }
        match between {
            Between::Nothing | Between::Drift => (5, "1".to_owned()),
            Between::Edit => (5 + at, "1".to_owned()),
            Between::Rotation => (5, format!("1 and {at}")),
        }
    }

    /// One pass of the release, with nothing in memory.
    async fn pass(&self) -> Requeue {
        let mut reconciler = self.world.reconciler();
        reconciler.settings.operator_version = format!("{:?}", self.release);
        reconciler.reconcile(&self.key()).await
    }

    fn in_azure(&self) -> (i64, String) {
        let store = self.world.azure.get(STORE).unwrap();
        let properties = &store["properties"];
        let password = properties["password"].as_str().unwrap();
        (
            properties["capacity"].as_i64().unwrap(),
            password.to_owned(),
        )
    }

    /// The pass sends what there is to send, once, and writes nothing into the object where there is nothing.
    async fn check(&self, between: Between, expected: (i64, String), what: &str) {
        assert_eq!(self.pass().await, Requeue::Sync, "{what}");
        let lines = self.world.journal.take();
        let sent = usize::from(between != Between::Nothing);
        assert_eq!(self.world.azure.take_bodies().len(), sent, "{what}");
        if between == Between::Nothing {
            assert!(
                lines.iter().all(|line| line.starts_with("GET")),
                "{what}: {lines:?}"
            );
        }
        assert_eq!(self.in_azure(), expected, "{what}");
        assert_eq!(self.world.ready(&self.key()), "True//Succeeded", "{what}");
        assert_eq!(self.pass().await, Requeue::Sync, "{what}");
        let again = self.world.azure.take_bodies().len();
        assert_eq!(again, 0, "{what}: nothing is sent twice");
        self.world.forget();
    }
}

const BETWEEN: [Between; 4] = [
    Between::Nothing,
    Between::Edit,
    Between::Drift,
    Between::Rotation,
];

/// What happened under one release and is seen by the next one first is neither lost nor sent twice; and an upgrade, a rollback
/// and another upgrade by themselves write nothing.
#[tokio::test]
async fn what_happens_at_an_upgrade_or_a_rollback_is_seen_by_who_comes() {
    use Release::{Newer, Older};
    for between in BETWEEN {
        for course in [
            [Older, Newer, Older, Newer],
            [Newer, Older, Newer, Older],
            [Older, Older, Newer, Newer],
        ] {
            let mut rollout = Rollout::begin(course[0], "v20200101").await;
            for (at, to) in (1..).zip(&course[1..]) {
                let what = format!("{between:?} {course:?} at {at}");
                let expected = rollout.happen(between, at);
                // Drift that comes back within days waits.
                rollout.world.clock.advance(30 * 24 * 3600);
                rollout.hand_over(*to);
                rollout.check(between, expected, &what).await;
            }
        }
    }
}

/// An object of a version that the older release lacks is left alone by it, says so, and loses nothing of what happens meanwhile.
#[tokio::test]
async fn a_version_that_a_rollback_lacks_waits_for_the_next_upgrade() {
    for between in BETWEEN {
        let what = format!("{between:?}");
        let mut rollout = Rollout::begin(Release::Newer, NEWEST).await;
        rollout.hand_over(Release::Older);
        let expected = rollout.happen(between, 1);
        for _ in 0..2 {
            rollout.pass().await;
            assert_eq!(rollout.world.requests(), [""; 0], "{what}");
        }
        assert_eq!(
            rollout.world.ready(&rollout.key()),
            "False/Error/Failed",
            "{what}"
        );
        let message = rollout.world.message(&rollout.key());
        assert!(message.contains("has no version `v20250101`"), "{message}");
        rollout.hand_over(Release::Newer);
        assert_eq!(rollout.pass().await, Requeue::Sync, "{what}");
        let sent = usize::from(between != Between::Nothing);
        assert_eq!(rollout.world.azure.take_bodies().len(), sent, "{what}");
        assert_eq!(rollout.in_azure(), expected, "{what}");
        assert_eq!(
            rollout.world.ready(&rollout.key()),
            "True//Succeeded",
            "{what}"
        );
    }
}
