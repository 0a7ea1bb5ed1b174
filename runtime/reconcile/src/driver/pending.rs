//! What the next write of metadata says beside its own: things that need no write of their own, because the pass comes to
//! one anyway, or because whoever is killed before it finds them out again.

use crate::annotations::Adoption;

/// What the next write of metadata says beside its own.
#[derive(Default)]
pub(super) struct Pending {
    /// The object is ours.
    pub takes_ownership: bool,
    /// The operation of the annotations has ended; they are removed.
    pub forgets_operation: bool,
    /// How many operations failed in a row.
    pub failed_operations: Option<String>,
    /// Whose the resource is. It holds for the rest of the pass, whatever the annotation says.
    pub adoption: Option<Adoption>,
}

impl Pending {
    /// A write has said it.
    pub fn is_said(&mut self) {
        *self = Self {
            adoption: self.adoption,
            ..Self::default()
        };
    }
}
