//! Resources that take no changes for a while, and so nothing below them either.

use serde_json::{Value, json};

use crate::world::World;

/// What a check says of something busy.
pub const WAITS: &str = "waiting for";

/// What is sent to it where nothing checks.
pub const SENT: &str = "PUT ";

/// A resource of the kind is changed while Azure says that it is in this state.
pub async fn changed(
    world: World,
    kind: &str,
    (property, state): (&str, &str),
    spec: Value,
) -> String {
    world.group().await;
    let key = world
        .settle(kind, "busy", owned("shop", spec.clone()))
        .await;
    world.change(&key, property, json!(state));
    let mut changed = owned("shop", spec);
    changed["tags"] = json!({"changed": "yes"});
    world.apply(kind, "busy", changed);
    world.look(&key).await
}

/// Something is made below a resource while Azure says that it is in this state.
pub async fn filled(
    world: World,
    (owner, owner_spec): (&str, Value),
    (property, state): (&str, &str),
    (kind, spec): (&str, Value),
) -> String {
    world.group().await;
    let above = world.settle(owner, "busy", owned("shop", owner_spec)).await;
    world.change(&above, property, json!(state));
    let key = world.apply(kind, "inside", owned("busy", spec));
    world.look(&key).await
}

/// The spec with an owner.
pub fn owned(owner: &str, mut spec: Value) -> Value {
    spec["owner"] = json!({"name": owner});
    spec
}
