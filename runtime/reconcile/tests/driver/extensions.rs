//! Test doubles for every extension point, and the order in which they are called.

use std::collections::{BTreeMap, BTreeSet};

use armature_arm::ArmAccess;
use armature_azure::Method;
use armature_reconcile::extension::*;
use armature_reconcile::outcome::{Failure, Write};
use armature_reconcile::port::{DataKind, MetadataPatch};
use armature_reconcile::remote::RemoteError;
use armature_shapes::resource::TypedObject;
use armature_shapes::testing::kinds::{HubBox, HubGroup, HubStore};
use async_trait::async_trait;

use super::*;

/// Notes its calls and otherwise does what `next` does.
#[derive(Clone)]
struct Double(Journal);

type Answer<T> = Result<T, ExtensionError>;

#[async_trait]
impl PreReconciliationOwnerChecker for Double {
    type Hub = HubStore;
    type Owner = HubGroup;
    async fn check(
        &self,
        _: &Context,
        owner: &TypedObject<HubGroup>,
        next: Next<'_, PreCheck>,
    ) -> Answer<PreCheck> {
        let status = owner.status.as_ref();
        let state = status.and_then(|status| status.provisioning_state.as_deref());
        self.0
            .note(format!("owner check: {}", state.unwrap_or("absent")));
        next.call().await
    }
}

#[async_trait]
impl PreReconciliationChecker for Double {
    type Hub = HubStore;
    async fn check(
        &self,
        context: &Context,
        object: &TypedObject<HubStore>,
        next: Next<'_, PreCheck>,
    ) -> Answer<PreCheck> {
        let owner = context.owner::<HubGroup>()?;
        let located = owner.and_then(|owner| owner.spec.location);
        assert_eq!(located.as_deref(), Some("westus"));
        self.0
            .note(format!("pre-check: {}", object.status.is_some()));
        next.call().await
    }
}

#[async_trait]
impl PostReconciliationChecker for Double {
    type Hub = HubStore;
    async fn check(
        &self,
        _: &Context,
        object: &TypedObject<HubStore>,
        next: Next<'_, PostCheck>,
    ) -> Answer<PostCheck> {
        let capacity = object.status.as_ref().and_then(|status| status.capacity);
        self.0
            .note(format!("post-check: {}", capacity.unwrap_or(0)));
        next.call().await
    }
}

#[async_trait]
impl ArmResourceModifier for Double {
    type Hub = HubStore;
    async fn modify(
        &self,
        _: &Context,
        _: &TypedObject<HubStore>,
        body: Value,
        next: Next<'_, Value, Value>,
    ) -> Answer<Value> {
        self.0.note("modify");
        let mut body = next.call_with(body).await?;
        body["properties"]["tier"] = json!("modified");
        Ok(body)
    }
}

#[async_trait]
impl Claimer for Double {
    type Hub = HubStore;
    async fn claim(
        &self,
        _: &Context,
        _: &TypedObject<HubStore>,
        next: Next<'_, MetadataPatch>,
    ) -> Answer<MetadataPatch> {
        self.0.note("claim");
        let mut patch = next.call().await?;
        let labels = &mut patch.labels;
        labels.insert("claimed".to_owned(), Some("yes".to_owned()));
        Ok(patch)
    }
}

#[async_trait]
impl Deleter for Double {
    type Hub = HubStore;
    async fn delete(
        &self,
        context: &Context,
        _: &TypedObject<HubStore>,
        next: Next<'_, Write>,
    ) -> Answer<Write> {
        self.0.note("delete");
        context
            .arm()
            .post(&format!("{STORE}/stop"), None)
            .await
            .ok();
        next.call().await
    }
}

#[async_trait]
impl ErrorClassifier for Double {
    type Hub = HubStore;
    async fn classify(
        &self,
        _: &Context,
        _: &TypedObject<HubStore>,
        error: &dyn RemoteError,
        next: Next<'_, Failure>,
    ) -> Answer<Failure> {
        self.0.note(format!("classify {}", error.code()));
        let mut failure = next.call().await?;
        if error.has_code("BadRequest") {
            failure.retry = RetryClass::Slow;
        }
        Ok(failure)
    }
}

#[async_trait]
impl Importer for Double {
    type Hub = HubStore;
    async fn import(
        &self,
        _: &Context,
        object: &TypedObject<HubStore>,
        next: Next<'_, Import>,
    ) -> Answer<Import> {
        match object.metadata.name.as_deref() {
            Some("default") => Ok(Import::Skipped("it is built in".to_owned())),
            _ => next.call().await,
        }
    }
}

#[async_trait]
impl SuccessfulCreationHandler for Double {
    type Hub = HubStore;
    async fn succeeded(
        &self,
        _: &Context,
        _: &TypedObject<HubStore>,
        next: Next<'_, BTreeMap<String, String>>,
    ) -> Answer<BTreeMap<String, String>> {
        self.0.note("succeeded");
        let mut annotations = next.call().await?;
        annotations.insert("done".to_owned(), "yes".to_owned());
        Ok(annotations)
    }
}

#[async_trait]
impl KubernetesSecretExporter for Double {
    type Hub = HubStore;
    async fn export(
        &self,
        context: &Context,
        _: &TypedObject<HubStore>,
        wanted: &BTreeSet<String>,
        next: Next<'_, SecretValues>,
    ) -> Answer<SecretValues> {
        self.0.note("export secrets");
        let mut values = next.call().await?;
        for key in wanted {
            let url = context.action_url("listKeys")?;
            assert!(
                url.ends_with("/stores/s/listKeys?api-version=2020-01-01"),
                "{url}"
            );
            let answer = context.arm().post(&url, None).await?;
            let value = answer.and_then(|body| Some(body["value"].as_str()?.to_owned()));
            values.0.insert(key.clone(), value.unwrap_or_default());
        }
        Ok(values)
    }
}

#[async_trait]
impl KubernetesConfigExporter for Double {
    type Hub = HubStore;
    async fn export(
        &self,
        _: &Context,
        _: &TypedObject<HubStore>,
        _: &BTreeSet<String>,
        next: Next<'_, BTreeMap<String, String>>,
    ) -> Answer<BTreeMap<String, String>> {
        self.0.note("export config maps");
        let mut values = next.call().await?;
        values.insert("region".to_owned(), "west".to_owned());
        Ok(values)
    }
}

fn all(double: &Double) -> Registry {
    Registry::builder()
        .register_owner_checker(double.clone())
        .register_pre_checker(double.clone())
        .register_post_checker(double.clone())
        .register_modifier(double.clone())
        .register_claimer(double.clone())
        .register_deleter(double.clone())
        .register_error_classifier(double.clone())
        .register_importer(double.clone())
        .register_success_handler(double.clone())
        .register_secret_exporter(double.clone())
        .register_config_exporter(double.clone())
        .build()
        .expect("one of each")
}

/// A world with every point taken, and a store whose first PUT Azure refuses.
async fn with_all_points() -> (World, ObjectKey) {
    let mut world = World::with_group().await;
    world.extensions = all(&Double(world.journal.clone()));
    let store = world.store(json!({"capacity": 5, "operatorSpec": {
        "secrets": {"key": {"name": "secret", "key": "key"}},
        "configMaps": {"region": {"name": "config", "key": "region"}},
    }}));
    let keys = response(200, &[], Some(json!({"value": "hunter2"})));
    let list_keys = format!("{STORE}/listKeys");
    world.azure.script(Method::Post, &list_keys, keys);
    world
        .azure
        .script(Method::Put, STORE, error(400, "BadRequest"));
    (world, store)
}

/// Lines of the journal, with short names for the resources.
fn lines(world: &World) -> Vec<String> {
    let lines = world.journal.take().into_iter();
    lines
        .map(|line| line.replace(STORE, "store").replace(GROUP, "group"))
        .collect()
}

#[tokio::test]
async fn points_before_the_put_in_order() {
    let (world, store) = with_all_points().await;
    assert_eq!(world.pass(&store).await, Requeue::Backoff(RetryClass::Slow));
    let expected = [
        "claim",
        "metadata Store default/s",
        "GET group",
        "owner check: Succeeded",
        "GET store",
        "modify",
        "pre-check: false",
        "PUT store",
        "classify BadRequest",
        "status Store default/s",
    ];
    assert_eq!(lines(&world), expected);
    let metadata = world.cluster.object(&store).unwrap().metadata;
    assert_eq!(metadata.labels.unwrap()["claimed"], "yes");
}

#[tokio::test]
async fn points_after_the_put_in_order() {
    let (world, store) = with_all_points().await;
    world.pass(&store).await;
    world.forget();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    let expected = [
        "GET group",
        "owner check: Succeeded",
        "GET store",
        "modify",
        "pre-check: false",
        "PUT store",
        "GET store",
        "metadata Store default/s",
        "post-check: 5",
        "export secrets",
        "POST store/listKeys",
        "export config maps",
        "export Secret secret",
        "export ConfigMap config",
        "succeeded",
        "metadata Store default/s",
        "status Store default/s",
    ];
    assert_eq!(lines(&world), expected);
    let secret = world.cluster.data(DataKind::Secret, "secret", "key");
    assert_eq!(secret.as_deref(), Some("hunter2"));
    let config = world.cluster.data(DataKind::ConfigMap, "config", "region");
    assert_eq!(config.as_deref(), Some("west"));
    let done = world.cluster.annotation(&store, "done");
    assert_eq!(done.as_deref(), Some("yes"));
    let azure = world.azure.get(STORE).unwrap();
    assert_eq!(azure["properties"]["tier"], "modified");
}

#[tokio::test]
async fn the_deleter_wraps_the_delete() {
    let (world, store) = with_all_points().await;
    world.pass(&store).await;
    world.pass(&store).await;
    world.forget();
    world.cluster.delete(&store);
    assert_eq!(world.pass(&store).await, Requeue::Never);
    let expected = [
        "GET store",
        "delete",
        "POST store/stop",
        "DELETE store",
        "metadata Store default/s",
    ];
    assert_eq!(lines(&world), expected);
}

#[tokio::test]
async fn the_importer_is_asked_by_kind() {
    let world = World::new();
    let points =
        all(&Double(world.journal.clone())).of(armature_shapes::resource::Kind(&kinds::STORE));
    let context = Context {
        resolver: Resolver::new(world.cluster.clone(), "default".to_owned()),
        access: ArmAccess::new(world.azure.clone(), armature_azure::CredentialKey::Global).into(),
        id: None,
        api_version: "2020-01-01",
        owner: None,
        span: tracing::Span::none(),
        cancellation: CancellationToken::new(),
    };
    for (name, expected) in [
        ("default", Import::Skipped("it is built in".to_owned())),
        ("mine", Import::Succeeded),
    ] {
        let key = world.cluster.apply(&kinds::STORE, name, &json!({}));
        let object = world.cluster.object(&key).unwrap();
        let import = points.import(&context, &object).await;
        assert_eq!(import.unwrap(), expected);
    }
}

#[test]
fn two_extensions_for_one_point_are_refused() {
    let double = Double(Journal::default());
    let error = Registry::builder()
        .register_deleter(double.clone())
        .register_deleter(double)
        .build()
        .err()
        .expect("refused");
    assert_eq!(
        error.to_string(),
        "Store.toys.azure.com has two extensions for Deleter; register one"
    );
}

/// Blocks boxes unless their store has settled.
struct StoreSettled;

#[async_trait]
impl PreReconciliationOwnerChecker for StoreSettled {
    type Hub = HubBox;
    type Owner = HubStore;
    async fn check(
        &self,
        _: &Context,
        owner: &TypedObject<HubStore>,
        next: Next<'_, PreCheck>,
    ) -> Answer<PreCheck> {
        let status = owner.status.as_ref();
        match status.and_then(|status| status.provisioning_state.as_deref()) {
            Some("Updating") => Ok(PreCheck::Block("the store is Updating".to_owned())),
            _ => next.call().await,
        }
    }
}

/// While the owner blocks, nothing is asked about the resource itself, a GET included.
#[tokio::test]
async fn a_blocking_owner_keeps_every_request_away() {
    for by_arm_id in [false, true] {
        let (mut world, _) = World::with_store().await;
        let registry = Registry::builder().register_owner_checker(StoreSettled);
        world.extensions = registry.build().expect("one");
        let mut store = world.azure.get(STORE).unwrap();
        store["properties"]["provisioningState"] = json!("Updating");
        world.azure.set(STORE, store.clone());
        let boxed = if by_arm_id {
            let spec = json!({"owner": {"armId": STORE}, "size": 3});
            world.cluster.apply(&kinds::BOX, "b", &spec)
        } else {
            world.boxed()
        };
        for _ in 0..2 {
            assert_eq!(world.pass(&boxed).await, Requeue::Backoff(RetryClass::Slow));
            assert_eq!(world.ready(&boxed), "False/Warning/ReconciliationBlocked");
            assert_eq!(world.cluster.message(&boxed), "the store is Updating");
            assert_eq!(world.requests(), [format!("GET {STORE}")]);
        }
        store["properties"]["provisioningState"] = json!("Succeeded");
        world.azure.set(STORE, store);
        assert_eq!(world.pass(&boxed).await, Requeue::Sync, "{by_arm_id}");
        assert!(world.azure.get(BOX).is_some());
    }
}

/// Nor under `skip`, which only reads, nor for reading back what a finished operation made.
#[tokio::test]
async fn a_blocking_owner_keeps_later_gets_away_too() {
    const OPERATION: &str = "/subscriptions/s-1/providers/Microsoft.Toys/locations/x/operations/1";
    for skip in [true, false] {
        let (mut world, _) = World::with_store().await;
        let registry = Registry::builder().register_owner_checker(StoreSettled);
        world.extensions = registry.build().expect("one");
        let boxed = world.boxed();
        let headers = [("azure-asyncoperation", OPERATION)];
        let running = response(201, &headers, None);
        world.azure.script(Method::Put, BOX, running);
        assert_eq!(world.pass(&boxed).await, Requeue::Backoff(RetryClass::Poll));
        if skip {
            let annotation = names::RECONCILE_POLICY;
            world.cluster.annotate(&boxed, annotation, Some("skip"));
        }
        let mut store = world.azure.get(STORE).unwrap();
        store["properties"]["provisioningState"] = json!("Updating");
        world.azure.set(STORE, store.clone());
        world.azure.set(BOX, json!({"properties": {"size": 3}}));
        for _ in 0..2 {
            let done = response(200, &[], Some(json!({"status": "Succeeded"})));
            world.azure.script(Method::Get, OPERATION, done);
            world.forget();
            assert_eq!(world.pass(&boxed).await, Requeue::Backoff(RetryClass::Slow));
            assert_eq!(world.ready(&boxed), "False/Warning/ReconciliationBlocked");
            let expected = [format!("GET {OPERATION}"), format!("GET {STORE}")];
            assert_eq!(world.requests(), expected, "skip: {skip}");
        }
        // The operation is over and gone: only the resource is left to be asked.
        for name in [names::POLLER_RESUME_ID, names::POLLER_RESUME_TOKEN] {
            world.cluster.annotate(&boxed, name, None);
        }
        world.forget();
        assert_eq!(world.pass(&boxed).await, Requeue::Backoff(RetryClass::Slow));
        assert_eq!(world.requests(), [format!("GET {STORE}")], "skip: {skip}");
    }
}

/// An owner checker that is written for another kind than the owner turns out to be.
struct WrongOwner;

#[async_trait]
impl PreReconciliationOwnerChecker for WrongOwner {
    type Hub = HubBox;
    type Owner = HubGroup;
    async fn check(
        &self,
        _: &Context,
        _: &TypedObject<HubGroup>,
        next: Next<'_, PreCheck>,
    ) -> Answer<PreCheck> {
        next.call().await
    }
}

#[tokio::test]
async fn a_wrong_owner_kind_is_an_error() {
    let (mut world, _) = World::with_store().await;
    let registry = Registry::builder().register_owner_checker(WrongOwner);
    world.extensions = registry.build().expect("one");
    let boxed = world.boxed();
    assert_eq!(world.pass(&boxed).await, Requeue::Backoff(RetryClass::Slow));
    assert_eq!(world.ready(&boxed), "False/Warning/Failed");
    let message = world.cluster.message(&boxed);
    assert!(message.contains("expected a ResourceGroup"), "{message}");
}

/// Fails as no code should.
struct Defect;

#[async_trait]
impl PreReconciliationChecker for Defect {
    type Hub = HubStore;

    async fn check(
        &self,
        _: &Context,
        _: &TypedObject<HubStore>,
        _: Next<'_, PreCheck>,
    ) -> Answer<PreCheck> {
        panic!("an index is out of bounds, and here is hunter2");
    }
}

#[tokio::test]
async fn a_pass_that_panics_says_so_in_its_object_and_nothing_of_what_was_said() {
    let mut world = World::with_group().await;
    world.extensions = Registry::builder()
        .register_pre_checker(Defect)
        .build()
        .expect("one");
    let store = world.store(json!({"capacity": 5}));
    let requeue = world.pass(&store).await;
    assert_eq!(requeue, Requeue::Backoff(RetryClass::VerySlow));
    assert_eq!(world.ready(&store), "False/Warning/Failed");
    let message = world.message(&store);
    assert!(
        message.starts_with("a defect of the operator:"),
        "{message}"
    );
    assert!(!message.contains("hunter2"), "{message}");
    assert_eq!(world.cluster.take_events().last().unwrap().1, message);

    world.extensions = Registry::default();
    assert_eq!(world.pass(&store).await, Requeue::Sync);
    assert_eq!(world.ready(&store), "True//Succeeded");
}
