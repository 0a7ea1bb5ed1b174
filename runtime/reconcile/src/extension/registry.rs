//! Which kind has which extensions, and the points there are as a table: a line for each says where it stands, and
//! everything that is alike for all of them follows from it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use armature_shapes::kind::{KindInfo, TypedKind};
use armature_shapes::resource::{Kind, Object};
use async_trait::async_trait;
use serde_json::Value;

use super::typed::typed;
use super::{
    ArmResourceModifier, Claimer, Context, Deleter, ErrorClassifier, ExtensionError, Import,
    Importer, KubernetesConfigExporter, KubernetesSecretExporter, Next, PostCheck,
    PostReconciliationChecker, PreCheck, PreReconciliationChecker, PreReconciliationOwnerChecker,
    ScaleLookup, SecretValues, SuccessfulCreationHandler,
};
use crate::outcome::{Failure, Write};
use crate::port::MetadataPatch;
use crate::remote::RemoteError;

/// A line: `slot (question, registration): Trait<type of the object>::method(further arguments; next) -> result`.
macro_rules! points {
    ($($slot:ident ($has:ident, $register:ident):
        $trait:ident<$typed:ident>::$method:ident($($argument:ident: $ty:ty)?; $next:ty) -> $result:ty;)*) => {
        /// The extensions of one kind.
        #[derive(Clone, Default)]
        pub struct Points {
            $(pub(crate) $slot: Option<Arc<dyn $slot::Erased>>,)*
        }

        impl Points {
            /// Whether there is any extension.
            pub fn are_any(&self) -> bool {
                $(self.$slot.is_some())||*
            }

            $(
                #[doc = concat!("Whether there is a [`", stringify!($trait), "`].")]
                pub fn $has(&self) -> bool {
                    self.$slot.is_some()
                }
            )*
        }

        impl RegistryBuilder {
            $(
                #[doc = concat!("Registers a [`", stringify!($trait), "`] for its kind.")]
                pub fn $register<T: $trait>(mut self, extension: T) -> Self {
                    let extension = Arc::new(extension) as Arc<dyn $slot::Erased>;
                    self.put(T::Hub::KIND, stringify!($trait), |points| &mut points.$slot, extension);
                    self
                }
            )*
        }

        $(
            pub(crate) mod $slot {
                use super::*;

                /// The trait for any kind.
                #[async_trait]
                pub(crate) trait Erased: Send + Sync {
                    async fn $method(
                        &self,
                        context: &Context,
                        object: &Object,
                        $($argument: $ty,)?
                        next: $next,
                    ) -> Result<$result, ExtensionError>;
                }

                #[async_trait]
                impl<T: $trait> Erased for T {
                    async fn $method(
                        &self,
                        context: &Context,
                        object: &Object,
                        $($argument: $ty,)?
                        next: $next,
                    ) -> Result<$result, ExtensionError> {
                        let object = typed::<T::$typed>(object)?;
                        $trait::$method(self, context, &object, $($argument,)? next).await
                    }
                }
            }
        )*
    };
}

points! {
    claimer (has_claimer, register_claimer):
        Claimer<Hub>::claim(; Next<'_, MetadataPatch>) -> MetadataPatch;
    owner_checker (has_owner_checker, register_owner_checker):
        PreReconciliationOwnerChecker<Owner>::check(; Next<'_, PreCheck>) -> PreCheck;
    pre_checker (has_pre_checker, register_pre_checker):
        PreReconciliationChecker<Hub>::check(; Next<'_, PreCheck>) -> PreCheck;
    modifier (has_modifier, register_modifier):
        ArmResourceModifier<Hub>::modify(body: Value; Next<'_, Value, Value>) -> Value;
    error_classifier (has_error_classifier, register_error_classifier):
        ErrorClassifier<Hub>::classify(error: &dyn RemoteError; Next<'_, Failure>) -> Failure;
    post_checker (has_post_checker, register_post_checker):
        PostReconciliationChecker<Hub>::check(; Next<'_, PostCheck>) -> PostCheck;
    secret_exporter (has_secret_exporter, register_secret_exporter):
        KubernetesSecretExporter<Hub>::export(wanted: &BTreeSet<String>; Next<'_, SecretValues>) -> SecretValues;
    config_exporter (has_config_exporter, register_config_exporter):
        KubernetesConfigExporter<Hub>::export(wanted: &BTreeSet<String>; Next<'_, BTreeMap<String, String>>)
            -> BTreeMap<String, String>;
    success_handler (has_success_handler, register_success_handler):
        SuccessfulCreationHandler<Hub>::succeeded(; Next<'_, BTreeMap<String, String>>) -> BTreeMap<String, String>;
    deleter (has_deleter, register_deleter):
        Deleter<Hub>::delete(; Next<'_, Write>) -> Write;
    importer (has_importer, register_importer):
        Importer<Hub>::import(; Next<'_, Import>) -> Import;
}

impl Points {
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

    /// Asks the kind's importer about an object; imports it where there is none.
    ///
    /// # Errors
    /// When it could not be found out.
    pub async fn import(
        &self,
        context: &Context,
        object: &Object,
    ) -> Result<Import, ExtensionError> {
        let next = Next::value(Import::Succeeded);
        match &self.importer {
            Some(importer) => importer.import(context, object, next).await,
            None => next.call().await,
        }
    }
}

/// Two extensions of one kind want the same point.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} has two extensions for {point}; register one")]
pub struct RegisterError {
    /// Kind and group.
    pub kind: String,
    /// Name of the trait.
    pub point: &'static str,
}

/// All extensions, by kind. Cheap to clone.
#[derive(Clone, Default)]
pub struct Registry {
    kinds: Arc<HashMap<(&'static str, &'static str), Points>>,
    scale_lookup: Option<Arc<dyn ScaleLookup>>,
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

    /// What finds resources that scale others.
    pub fn scale_lookup(&self) -> Option<&Arc<dyn ScaleLookup>> {
        self.scale_lookup.as_ref()
    }
}

/// Collects extensions.
#[derive(Default)]
pub struct RegistryBuilder {
    kinds: HashMap<(&'static str, &'static str), Points>,
    scale_lookup: Option<Arc<dyn ScaleLookup>>,
    error: Option<RegisterError>,
}

impl RegistryBuilder {
    /// The registry.
    ///
    /// # Errors
    /// [`RegisterError`] when two extensions of one kind were registered for the same point.
    pub fn build(self) -> Result<Registry, RegisterError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(Registry {
                kinds: Arc::new(self.kinds),
                scale_lookup: self.scale_lookup,
            }),
        }
    }

    /// Registers what finds resources that scale others.
    pub fn look_for_scaling<T: ScaleLookup>(mut self, lookup: T) -> Self {
        self.scale_lookup = Some(Arc::new(lookup));
        self
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
