//! Bringing the hub types of a group's kinds into one table.

use std::collections::BTreeMap;

use super::{Hubs, KindHub};
use crate::model::{TypeDef, TypeName, TypeRef, TypeTable};
use crate::share::fingerprints;

/// Each type goes by its kind and by its own name, so that no kind's types depend on what other kinds there are. Roots
/// name their kind already.
pub(super) fn combine(hubs: BTreeMap<String, (KindHub, TypeTable)>) -> Hubs {
    let mut combined = Hubs::default();
    for (kind, (hub, types)) in hubs {
        let roots = [hub.spec.clone(), hub.status.clone()];
        let of_kind = |name: &TypeName| {
            if roots.contains(name) {
                name.clone()
            } else {
                // No name of a type has such a line, so this is the name of one type.
                TypeName::new(format!("{kind}_{name}"))
            }
        };
        for (name, print) in fingerprints(&types) {
            combined.origins.insert(of_kind(&name), (name, print));
        }
        let types = types.into_iter().map(|(name, mut definition)| {
            if let TypeDef::Object(object) = &mut definition {
                for property in &mut object.properties {
                    if let Some(core) = property.ty.named() {
                        property.ty = property.ty.with_core(TypeRef::Named(of_kind(core)));
                    }
                }
            }
            (of_kind(&name), definition)
        });
        combined.types.extend(types);
        combined.kinds.insert(kind, hub);
    }
    combined
}
