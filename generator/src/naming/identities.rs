//! Words for identities: how types are called by the specs alone, before kinds claim names.

use std::collections::BTreeSet;

use super::claims::Claims;
use super::endings::{UNROLLED, VALUES, of_part, of_root, of_side};
use super::words::pascal;
use crate::model::{ApiVersion, Digest, Identity, OperatorPart, Side, TypeId};

/// A schema's type on its way, before what is around it is known: what its members are called after.
#[derive(Clone, Debug)]
pub struct Stem {
    schema: String,
    is_unrolled: bool,
    word: String,
}

impl Stem {
    /// What a schema gives by itself.
    pub fn of_schema(schema: String) -> Self {
        Self {
            word: schema.clone(),
            schema,
            is_unrolled: false,
        }
    }

    /// The same within itself.
    #[must_use]
    pub fn unrolled(self, claims: &Claims) -> Self {
        Self {
            word: claims.free(format!("{}{UNROLLED}", self.word)),
            is_unrolled: true,
            ..self
        }
    }

    /// The word for what users write, if nothing around it made another type of it.
    pub fn word(&self) -> &str {
        &self.word
    }

    /// The type of a side, with its structure where what is around it made it another one.
    pub fn on(&self, side: Side, made: Option<Digest>, claims: &Claims) -> TypeId {
        let word = match &made {
            Some(structure) => marked(&self.word, structure),
            None => self.word.clone(),
        };
        let word = match side {
            Side::Spec => word,
            Side::Status => claims.other(format!("{word}{}", of_side(side))),
        };
        let identity = Identity::Schema {
            schema: self.schema.clone(),
            side,
            is_unrolled: self.is_unrolled,
            made,
        };
        TypeId::new(identity, word)
    }
}

/// What stands for a whole resource of the kind that discovery proposes.
pub fn root(kind: &str, side: Side) -> TypeId {
    let identity = Identity::Root {
        kind: kind.to_owned(),
        side,
    };
    TypeId::new(identity, format!("{kind}{}", of_root(side)))
}

/// What `owner` holds under `property`, and no schema stands for.
pub fn member(owner: &str, property: &str, claims: &Claims) -> TypeId {
    let identity = Identity::Member {
        owner: owner.to_owned(),
        property: property.to_owned(),
    };
    TypeId::new(identity, claims.free(place(owner, property)))
}

/// A word for what stands at a place.
pub fn place(owner: &str, property: &str) -> String {
    format!("{owner}{}", pascal(property))
}

/// The values that a rule gives to a property. They take the place of the enum that the specs have just there, `now`, and
/// leave any other type of the specs, which have `words`, as it is.
pub fn values(
    owner: &TypeId,
    property: &str,
    words: &BTreeSet<String>,
    now: Option<&TypeId>,
) -> TypeId {
    let mut word = place(owner.word(), property);
    loop {
        if let Some(now) = now.filter(|now| now.word() == word) {
            return now.clone();
        }
        if !words.contains(&word) {
            break;
        }
        word.push_str(VALUES);
    }
    let identity = Identity::Values {
        owner: owner.clone(),
        property: property.to_owned(),
    };
    TypeId::new(identity, word)
}

/// What has another structure than a type of the same word.
pub fn apart(of: &TypeId, structure: Digest) -> TypeId {
    let word = marked(of.word(), &structure);
    let of = of.clone();
    TypeId::new(Identity::Apart { of, structure }, word)
}

/// One of the operator's own types: of a kind, or of all that need no more.
pub fn operator(kind: Option<&str>, part: OperatorPart) -> TypeId {
    let word = format!("{}{}", kind.unwrap_or_default(), of_part(part));
    let kind = kind.map(str::to_owned);
    TypeId::new(Identity::Operator { kind, part }, word)
}

/// What is one over a kind's versions.
pub fn hub(kind: &str, version: &ApiVersion, newest: &TypeId) -> TypeId {
    // No word of a type has such a line, so this is the word of one kind's.
    let word = format!("{kind}_{newest}");
    let identity = Identity::Hub {
        kind: kind.to_owned(),
        version: version.clone(),
        newest: newest.clone(),
    };
    TypeId::new(identity, word)
}

/// A word that also tells a structure, so that it does not depend on what else there is.
fn marked(word: &str, structure: &Digest) -> String {
    format!("{word}X{:02X}{:02X}", structure[0], structure[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_a_type_is() {
        let mut claims = Claims::default();
        for taken in ["Sku", "SkuStatus", "ThingMode"] {
            claims.claim(taken.to_owned());
        }
        let stem = |schema: &str| Stem::of_schema(schema.to_owned());
        let unrolled = stem("Sku").unrolled(&claims);
        let structure = [0x1A; 32];
        let version = ApiVersion::new("2024-01-01");
        let sku = stem("Sku").on(Side::Spec, None, &claims);
        for (id, word) in [
            (sku.clone(), "Sku"),
            (
                stem("Sku").on(Side::Status, None, &claims),
                "SkuStatusValue",
            ),
            (
                unrolled.on(Side::Status, None, &claims),
                "SkuUnrolledStatus",
            ),
            (
                unrolled.on(Side::Status, Some(structure), &claims),
                "SkuUnrolledX1A1AStatus",
            ),
            (root("Thing", Side::Spec), "ThingSpec"),
            (root("Thing", Side::Status), "ThingStatus"),
            (member("Thing", "mode", &claims), "ThingModeValue"),
            (apart(&sku, structure), "SkuX1A1A"),
            (operator(None, OperatorPart::Spec), "OperatorSpec"),
            (
                operator(Some("Thing"), OperatorPart::AzureName),
                "ThingAzureName",
            ),
            (hub("Thing", &version, &sku), "Thing_Sku"),
        ] {
            assert_eq!(id.word(), word);
        }
        assert_eq!(sku, TypeId::of_schema("Sku"));
    }

    #[test]
    fn values_of_a_rule_replace_the_enum_of_their_place_and_no_other_type() {
        let owner = TypeId::of_schema("Thing");
        let words = ["ThingMode", "ThingModeValues"].map(str::to_owned);
        let of = |words: &[String], now: Option<&str>| {
            let words = words.iter().cloned().collect();
            let now = now.map(TypeId::of_schema);
            values(&owner, "mode", &words, now.as_ref()).to_string()
        };
        for (known, now, expected) in [
            (&words[..0], None, "ThingMode"),
            (&words[..1], None, "ThingModeValues"),
            (&words[..1], Some("Mode"), "ThingModeValues"),
            (&words[..1], Some("ThingMode"), "ThingMode"),
            (&words[..2], Some("Mode"), "ThingModeValuesValues"),
        ] {
            assert_eq!(of(known, now), expected, "{known:?}, now {now:?}");
        }
    }
}
