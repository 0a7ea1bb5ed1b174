//! What a kind's `ArmResourceModifier` makes of a rendered body, asked the Azure that was recorded.
//!
//! Rendering asks Azure nothing; the operator does, for the few kinds whose body depends on what Azure has.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use armature::render::manifest::Document;
use armature_runtime::azure::CredentialKey;
use armature_runtime::conversion;
use armature_runtime::extension::{ArmAccess, Context, Registry, Resolver};
use armature_runtime::id::ResourceId;
use armature_runtime::kind::{KindInfo, VersionInfo};
use armature_runtime::reconcile::testing::{Journal, MemoryAzure, MemoryCluster};
use armature_runtime::resource::Kind;
use serde_json::Value;

use crate::data::Exchange;
use crate::renaming;

/// One rendered request and the manifest that it is of.
#[derive(Debug)]
pub struct Rendered<'a> {
    /// The manifest.
    pub document: &'a Document,
    /// Its kind.
    pub kind: &'static KindInfo,
    /// The version that it is written in.
    pub version: &'static VersionInfo,
    /// ARM id.
    pub id: &'a ResourceId,
    /// Rendered body.
    pub body: &'a Value,
}

/// The body that the operator would send; `None` where the kind has no modifier. `before` are the exchanges up to the
/// PUT.
///
/// # Errors
/// When the manifest is no object of its kind, or the modifier fails.
pub fn modified(
    registry: &Registry,
    rendered: &Rendered<'_>,
    before: &[Exchange],
) -> Result<Option<Value>> {
    let points = registry.of(Kind(rendered.kind));
    if !points.has_modifier() {
        return Ok(None);
    }
    let subscription = rendered.id.subscription().unwrap_or_default();
    let azure = MemoryAzure::new(Journal::default(), subscription);
    for exchange in before {
        if exchange.method == "GET" && exchange.status == 200 {
            azure.set(renaming::path(&exchange.url), exchange.response.clone());
        }
    }
    let cluster = Arc::new(MemoryCluster::new(Journal::default()));
    let manifest = &rendered.document.value;
    let stored = conversion::to_hub(rendered.kind, rendered.version.name, manifest.clone())?;
    let name = manifest["metadata"]["name"].as_str().unwrap_or_default();
    let key = cluster.apply(rendered.kind, name, &stored["spec"]);
    let object = cluster
        .object(&key)
        .context("the cluster lost the object")?;
    let context = Context {
        resolver: Resolver::new(cluster, key.namespace.clone()),
        arm: ArmAccess::new(Arc::new(azure), CredentialKey::Global),
        id: Some(rendered.id.clone()),
        api_version: rendered.version.api_version,
        owner: None,
        span: tracing::Span::none(),
        cancellation: Default::default(),
    };
    let body = points.modify(&context, &object, rendered.body.clone());
    Ok(Some(futures::executor::block_on(body)?))
}
