//! Identities of types: what makes a type the type that it is. What it is called in Rust is said last
//! ([`crate::naming`]), by nothing but its identity and the kinds around it.

use std::fmt;
use std::sync::Arc;

use super::ApiVersion;

/// A side of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Desired state: no read-only properties, all constraints.
    Spec,
    /// Observed state: everything, unchecked.
    Status,
}

/// Digest of a type's structure.
pub type Digest = [u8; 32];

/// What makes a type the type that it is, within its api-version or its kind's hub.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identity {
    /// What a schema of the specs gives.
    Schema {
        /// The word that the specs alone give the schema, and no other one of the api-version.
        schema: String,
        /// Which side of it.
        side: Side,
        /// Within itself: recursion is unrolled once.
        is_unrolled: bool,
        /// Its structure, where what is around it made another one of it than the schema gives by itself.
        made: Option<Digest>,
    },
    /// What stands for a whole resource.
    Root {
        /// The kind that discovery proposes. What curation calls the kind makes no other type of it.
        kind: String,
        /// Which side of it.
        side: Side,
    },
    /// What a type holds under a property, and no schema stands for: the one value of a variant's discriminator.
    Member {
        /// Word for the type.
        owner: String,
        /// Name in ARM of the property.
        property: String,
    },
    /// The values that a rule of curation gives a property.
    Values {
        /// The type that has the property.
        owner: TypeId,
        /// Name in ARM of the property.
        property: String,
    },
    /// What no word tells from another type, told by its structure.
    Apart {
        /// What both would be.
        of: TypeId,
        /// The structure.
        structure: Digest,
    },
    /// One of the operator's own.
    Operator {
        /// The kind; nothing for what is the same in many.
        kind: Option<String>,
        /// Which one.
        part: OperatorPart,
    },
    /// What is one over the versions of a kind: the class of types that stand at one place.
    Hub {
        /// The kind.
        kind: String,
        /// The newest api-version that has a type of the class.
        version: ApiVersion,
        /// The type that it has, the first of several.
        newest: TypeId,
    },
}

/// What the operator adds to kinds (ASO behaviour §3.2, §3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperatorPart {
    /// `operatorSpec`.
    Spec,
    /// `operatorSpec.configMaps`.
    ConfigMaps,
    /// `operatorSpec.secrets`.
    Secrets,
    /// `azureName`, where Azure takes only some names.
    AzureName,
    /// `operatorSpec.namingConvention`.
    NamingConvention,
}

/// Identifies a type; cheap to clone.
///
/// It has a word, too, which follows from the identity and the specs alone: curation files and messages speak of the
/// type under it, and tables are sorted by it. The name in Rust is that word only where nothing else claims it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(Arc<Worded>);

#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Worded {
    word: String,
    identity: Identity,
}

impl TypeId {
    /// The type of this identity. [`crate::naming`] has the words.
    pub fn new(identity: Identity, word: impl Into<String>) -> Self {
        let word = word.into();
        Self(Arc::new(Worded { word, identity }))
    }

    /// What users write of the schema that has this word, wherever it stands.
    pub fn of_schema(word: impl Into<String>) -> Self {
        let word = word.into();
        let identity = Identity::Schema {
            schema: word.clone(),
            side: Side::Spec,
            is_unrolled: false,
            made: None,
        };
        Self::new(identity, word)
    }

    /// What makes it the type that it is.
    pub fn identity(&self) -> &Identity {
        &self.0.identity
    }

    /// The word for it.
    pub fn word(&self) -> &str {
        &self.0.word
    }
}

impl fmt::Display for TypeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl fmt::Debug for TypeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("TypeId").field(&self.word()).finish()
    }
}

/// A type is referred to, and its table does not have it: a fault of the pass that made the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{place} has no type `{ty}`, which something there refers to; this is a fault of the generator: report it with the \
     group's curation file"
)]
pub struct MissingType {
    /// The type.
    pub ty: TypeId,
    /// Where it should be: an api-version, or the hub of a kind.
    pub place: String,
}

#[cfg(test)]
mod tests {
    use super::{Identity, Side, TypeId};

    #[test]
    fn the_word_alone_does_not_make_two_types_one() {
        let of_schema = TypeId::of_schema("ThingStatus");
        let root = Identity::Root {
            kind: "Thing".to_owned(),
            side: Side::Status,
        };
        let root = TypeId::new(root, "ThingStatus");
        assert_ne!(of_schema, root);
        assert!(TypeId::of_schema("Thing") < root && root < TypeId::of_schema("Thong"));
    }
}
