//! Which kind has which extensions.

use std::collections::HashMap;
use std::sync::Arc;

use super::{
    ArmResourceModifier, Claimer, Context, Deleter, ErrorClassifier, ExtensionError, Importer,
    KubernetesConfigExporter, KubernetesSecretExporter, Next, PostReconciliationChecker,
    PreReconciliationChecker, PreReconciliationOwnerChecker, SuccessfulCreationHandler, claimer,
    classifier, config_exporter, deleter, importer, modifier, owner_check, post_check, pre_check,
    secret_exporter, success_handler,
};
use serde_json::Value;

use armature_shapes::kind::{KindInfo, TypedKind};
use armature_shapes::resource::{Kind, Object};

/// Two extensions of one kind want the same point.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} has two extensions for {point}; register one")]
pub struct RegisterError {
    /// Kind and group.
    pub kind: String,
    /// Name of the trait.
    pub point: &'static str,
}

/// The extensions of one kind.
#[derive(Clone, Default)]
pub struct Points {
    pub(crate) owner_checker: Option<Arc<dyn owner_check::Erased>>,
    pub(crate) pre_checker: Option<Arc<dyn pre_check::Erased>>,
    pub(crate) post_checker: Option<Arc<dyn post_check::Erased>>,
    pub(crate) modifier: Option<Arc<dyn modifier::Erased>>,
    pub(crate) claimer: Option<Arc<dyn claimer::Erased>>,
    pub(crate) deleter: Option<Arc<dyn deleter::Erased>>,
    pub(crate) error_classifier: Option<Arc<dyn classifier::Erased>>,
    pub(crate) importer: Option<Arc<dyn importer::Erased>>,
    pub(crate) success_handler: Option<Arc<dyn success_handler::Erased>>,
    pub(crate) secret_exporter: Option<Arc<dyn secret_exporter::Erased>>,
    pub(crate) config_exporter: Option<Arc<dyn config_exporter::Erased>>,
}

impl Points {
    /// Whether there is any extension.
    pub fn are_any(&self) -> bool {
        self.owner_checker.is_some()
            || self.pre_checker.is_some()
            || self.post_checker.is_some()
            || self.modifier.is_some()
            || self.claimer.is_some()
            || self.deleter.is_some()
            || self.error_classifier.is_some()
            || self.importer.is_some()
            || self.success_handler.is_some()
            || self.secret_exporter.is_some()
            || self.config_exporter.is_some()
    }

    /// Whether there is an [`ArmResourceModifier`].
    pub fn has_modifier(&self) -> bool {
        self.modifier.is_some()
    }

    /// The body as the [`ArmResourceModifier`] changes it; as it is, where there is none.
    ///
    /// # Errors
    /// What the modifier says.
    pub async fn modify(
        &self,
        context: &Context,
        object: &Object,
        body: Value,
    ) -> Result<Value, ExtensionError> {
        let Some(modifier) = &self.modifier else {
            return Ok(body);
        };
        let next = Next::new(|body| async move { Ok(body) });
        modifier.modify(context, object, body, next).await
    }

    /// Whether there is a [`KubernetesSecretExporter`].
    pub fn has_secret_exporter(&self) -> bool {
        self.secret_exporter.is_some()
    }

    /// Whether there is a [`KubernetesConfigExporter`].
    pub fn has_config_exporter(&self) -> bool {
        self.config_exporter.is_some()
    }

    /// Whether there is a [`PreReconciliationOwnerChecker`].
    pub fn has_owner_checker(&self) -> bool {
        self.owner_checker.is_some()
    }

    /// Whether there is a [`PreReconciliationChecker`].
    pub fn has_pre_checker(&self) -> bool {
        self.pre_checker.is_some()
    }

    /// Whether there is a [`PostReconciliationChecker`].
    pub fn has_post_checker(&self) -> bool {
        self.post_checker.is_some()
    }

    /// Whether there is a [`SuccessfulCreationHandler`].
    pub fn has_success_handler(&self) -> bool {
        self.success_handler.is_some()
    }
}

/// All extensions, by kind. Cheap to clone.
#[derive(Clone, Default)]
pub struct Registry {
    kinds: Arc<HashMap<(&'static str, &'static str), Points>>,
}

impl Registry {
    /// An empty builder.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    /// The extensions of a kind.
    pub fn of(&self, kind: Kind) -> Points {
        self.kinds.get(&name(kind.0)).cloned().unwrap_or_default()
    }
}

/// Collects extensions.
#[derive(Default)]
pub struct RegistryBuilder {
    kinds: HashMap<(&'static str, &'static str), Points>,
    error: Option<RegisterError>,
}

impl RegistryBuilder {
    /// Registers a [`PreReconciliationOwnerChecker`] for its kind.
    pub fn register_owner_checker<T: PreReconciliationOwnerChecker>(
        mut self,
        extension: T,
    ) -> Self {
        self.put(
            T::Hub::KIND,
            "PreReconciliationOwnerChecker",
            |points| &mut points.owner_checker,
            Arc::new(extension) as Arc<dyn owner_check::Erased>,
        );
        self
    }

    /// Registers a [`PreReconciliationChecker`] for its kind.
    pub fn register_pre_checker<T: PreReconciliationChecker>(mut self, extension: T) -> Self {
        self.put(
            T::Hub::KIND,
            "PreReconciliationChecker",
            |points| &mut points.pre_checker,
            Arc::new(extension) as Arc<dyn pre_check::Erased>,
        );
        self
    }

    /// Registers a [`PostReconciliationChecker`] for its kind.
    pub fn register_post_checker<T: PostReconciliationChecker>(mut self, extension: T) -> Self {
        self.put(
            T::Hub::KIND,
            "PostReconciliationChecker",
            |points| &mut points.post_checker,
            Arc::new(extension) as Arc<dyn post_check::Erased>,
        );
        self
    }

    /// Registers a [`ArmResourceModifier`] for its kind.
    pub fn register_modifier<T: ArmResourceModifier>(mut self, extension: T) -> Self {
        self.put(
            T::Hub::KIND,
            "ArmResourceModifier",
            |points| &mut points.modifier,
            Arc::new(extension) as Arc<dyn modifier::Erased>,
        );
        self
    }

    /// Registers a [`Claimer`] for its kind.
    pub fn register_claimer<T: Claimer>(mut self, extension: T) -> Self {
        self.put(
            T::Hub::KIND,
            "Claimer",
            |points| &mut points.claimer,
            Arc::new(extension) as Arc<dyn claimer::Erased>,
        );
        self
    }

    /// Registers a [`Deleter`] for its kind.
    pub fn register_deleter<T: Deleter>(mut self, extension: T) -> Self {
        self.put(
            T::Hub::KIND,
            "Deleter",
            |points| &mut points.deleter,
            Arc::new(extension) as Arc<dyn deleter::Erased>,
        );
        self
    }

    /// Registers a [`ErrorClassifier`] for its kind.
    pub fn register_error_classifier<T: ErrorClassifier>(mut self, extension: T) -> Self {
        self.put(
            T::Hub::KIND,
            "ErrorClassifier",
            |points| &mut points.error_classifier,
            Arc::new(extension) as Arc<dyn classifier::Erased>,
        );
        self
    }

    /// Registers a [`Importer`] for its kind.
    pub fn register_importer<T: Importer>(mut self, extension: T) -> Self {
        self.put(
            T::Hub::KIND,
            "Importer",
            |points| &mut points.importer,
            Arc::new(extension) as Arc<dyn importer::Erased>,
        );
        self
    }

    /// Registers a [`SuccessfulCreationHandler`] for its kind.
    pub fn register_success_handler<T: SuccessfulCreationHandler>(mut self, extension: T) -> Self {
        self.put(
            T::Hub::KIND,
            "SuccessfulCreationHandler",
            |points| &mut points.success_handler,
            Arc::new(extension) as Arc<dyn success_handler::Erased>,
        );
        self
    }

    /// Registers a [`KubernetesSecretExporter`] for its kind.
    pub fn register_secret_exporter<T: KubernetesSecretExporter>(mut self, extension: T) -> Self {
        self.put(
            T::Hub::KIND,
            "KubernetesSecretExporter",
            |points| &mut points.secret_exporter,
            Arc::new(extension) as Arc<dyn secret_exporter::Erased>,
        );
        self
    }

    /// Registers a [`KubernetesConfigExporter`] for its kind.
    pub fn register_config_exporter<T: KubernetesConfigExporter>(mut self, extension: T) -> Self {
        self.put(
            T::Hub::KIND,
            "KubernetesConfigExporter",
            |points| &mut points.config_exporter,
            Arc::new(extension) as Arc<dyn config_exporter::Erased>,
        );
        self
    }

    /// The registry.
    ///
    /// # Errors
    /// [`RegisterError`] when two extensions of one kind were registered for the same point.
    pub fn build(self) -> Result<Registry, RegisterError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(Registry {
                kinds: Arc::new(self.kinds),
            }),
        }
    }

    fn put<E: ?Sized>(
        &mut self,
        kind: &'static KindInfo,
        point: &'static str,
        slot: fn(&mut Points) -> &mut Option<Arc<E>>,
        extension: Arc<E>,
    ) {
        let slot = slot(self.kinds.entry(name(kind)).or_default());
        if slot.is_some() {
            self.error.get_or_insert(RegisterError {
                kind: format!("{}.{}", kind.kind, kind.group),
                point,
            });
        }
        *slot = Some(extension);
    }
}

fn name(kind: &KindInfo) -> (&'static str, &'static str) {
    (kind.group, kind.kind)
}
