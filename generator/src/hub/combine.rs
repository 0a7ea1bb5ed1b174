//! Bringing the hub types of a group's kinds into one table.

use std::collections::BTreeMap;

use super::{Hubs, KindHub};
use crate::model::{TypeDef, TypeName, TypeRef, TypeTable};
use crate::share::{Fingerprint, fingerprints};

/// Equal types become one. Of different ones with the same name, the first kind's keeps it and the others take
/// their kind as prefix.
pub(super) fn combine(hubs: BTreeMap<String, (KindHub, TypeTable)>) -> Hubs {
    let mut combined = Hubs::default();
    let mut chosen = BTreeMap::<(TypeName, Fingerprint), TypeName>::new();
    for (kind, (mut hub, types)) in hubs {
        let prints = fingerprints(&types);
        let mut names = BTreeMap::new();
        for (name, print) in &prints {
            let key = (name.clone(), *print);
            let is_taken = chosen.values().any(|taken| taken == name);
            let final_name = chosen.entry(key.clone()).or_insert_with(|| {
                let free = if is_taken {
                    TypeName::new(format!("{kind}{name}"))
                } else {
                    name.clone()
                };
                // Also of a type that keeps its name: one that it leads to may not.
                combined.origins.insert(free.clone(), key);
                free
            });
            names.insert(name.clone(), final_name.clone());
        }
        let renamed = |name: &TypeName| names.get(name).unwrap_or(name).clone();
        for (name, mut definition) in types {
            if let TypeDef::Object(object) = &mut definition {
                for property in &mut object.properties {
                    if let Some(core) = property.ty.named() {
                        property.ty = property.ty.with_core(TypeRef::Named(renamed(core)));
                    }
                }
            }
            combined.types.entry(renamed(&name)).or_insert(definition);
        }
        hub.spec = renamed(&hub.spec);
        hub.status = renamed(&hub.status);
        combined.kinds.insert(kind, hub);
    }
    combined
}
