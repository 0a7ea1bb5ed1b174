//! One member of a shared map or list, and what it is called.

use armature_shapes::shape::path::Path;
use armature_shapes::shape::{Field, Type};
use serde_json::Value;

use super::leaves::{identities, identity};

/// Of what the items of a list are.
pub(super) type Items = (Type, &'static Field);

/// A member of a shared map or list that Azure has.
#[derive(Clone, Copy)]
pub struct Member<'m> {
    /// Where, as comparisons write it.
    pub(super) path: &'m str,
    /// The shared map or list.
    pub(super) list: &'m str,
    /// Of a list, of what its items are.
    pub(super) items: Option<Items>,
    /// What Azure has.
    pub(super) value: &'m Value,
}

impl Member<'_> {
    /// Where, as comparisons write it.
    pub fn path(&self) -> &str {
        self.path
    }

    /// Whether a path below it is that of something that it is called.
    pub(super) fn is_identity(&self, below: &str) -> bool {
        let names = self
            .items
            .into_iter()
            .flat_map(|(_, field)| identities(field));
        let mut names = names.flatten();
        names.any(|name| below.strip_prefix('.') == Some(name.replace('/', ".").as_str()))
    }

    /// Paths of a list's item, by each of its identities; of a map's member its own.
    pub(super) fn paths(&self) -> Vec<String> {
        match self.items {
            Some((_, field)) => {
                let all = identities(field).filter_map(|names| identity(self.value, names));
                let root = Path::Root(self.list);
                all.map(|it| root.key(&it).to_string()).collect()
            }
            None => vec![self.path.to_owned()],
        }
    }
}
