//! The words of curation files. Each stands once, here: its table gives the value that it is read as, the form that files
//! are checked against, and what `docs/curation.md` says of it.

use serde::{Deserialize, Deserializer, de};

/// An enum of which each value has a word.
macro_rules! words {
    (
        $(#[$about:meta])*
        $name:ident {
            $($word:literal => $value:ident: $meaning:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $(
                #[doc = $meaning]
                $value,
            )+
        }

        impl $name {
            /// All words.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
            /// Each word with what it means.
            pub const MEANINGS: &'static [(&'static str, &'static str)] = &[$(($word, $meaning)),+];

            /// The word that stands for it in a file.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = String::deserialize(deserializer)?;
                match word.as_str() {
                    $($word => Ok(Self::$value),)+
                    other => Err(de::Error::unknown_variant(other, Self::WORDS)),
                }
            }
        }
    };
}

words! {
    /// What a value stands for in Kubernetes.
    Treatment {
        "reference" => Reference: "reference to a resource; `fooId` becomes `fooReference`, `id` becomes `reference`",
        "well-known-reference" => WellKnownReference: "the same, or a well-known name",
        "reference-or-plain" => ReferenceOrPlain: "`fooId` beside `fooReference`, which says the same by reference",
        "plain" => Plain: "a string, whatever the generator would make of it; keeps a kind's own `id`, `name` or `type` in the spec",
        "secret" => Secret: "key of a Secret",
        "secret-or-plain" => SecretOrPlain: "`foo` beside `fooFromSecret`, which takes the value from a key of a Secret",
        "secret-map" => SecretMap: "all keys of a Secret",
        "config-map" => ConfigMap: "`foo` beside `fooFromConfig`",
        "config-map-required" => ConfigMapRequired: "only `fooFromConfig`",
        "child-kind" => ChildKind: "left out: its items are kinds of their own, and a PUT carries what Azure has",
        "remove" => Remove: "left out",
        "flatten" => Flatten: "left out, and the members of the object stand in its place",
    }
}

words! {
    /// What Azure gets where a list or map is absent.
    AbsentWord {
        "nothing" => Nothing: "nothing",
        "null" => Null: "`null`",
        "empty" => Empty: "`[]` or `{}`",
    }
}

words! {
    /// A side of a resource.
    Side {
        "spec" => Spec: "desired state",
        "status" => Status: "observed state",
    }
}

words! {
    /// A type that a rule can put in place of the spec's.
    PlainType {
        "boolean" => Boolean: "`true` or `false`",
        "integer" => Integer: "integer",
        "number" => Number: "number",
        "string" => String: "string",
        "json" => Json: "any JSON",
        "string-map" => StringMap: "map of strings",
        "json-map" => JsonMap: "map of any JSON",
    }
}

impl PlainType {
    /// Whether it is one value, and can hold no list or map.
    pub fn is_single(self) -> bool {
        !matches!(self, Self::Json | Self::StringMap | Self::JsonMap)
    }
}

words! {
    /// How the versions of a group are named (ASO behaviour §3.1).
    Naming {
        "legacy" => Legacy: "`v1api20230101`",
        "hybrid" => Hybrid: "`v1api20230101` and `v20230101`",
        "new" => New: "`v20230101`",
    }
}

words! {
    /// What a resource is called in Azure where the user gives no name.
    NameWord {
        "uuid" => Uuid: "a UUID of what the object and its owner are called, or a random one where `operatorSpec.namingConvention` says so",
        "uuid-without-owner-id" => UuidWithoutOwnerId: "a UUID of the same, in which an owner that is named by its ARM id does not count; there is no choice",
    }
}

words! {
    /// What becomes of ARM's envelope, `properties`.
    EnvelopeWord {
        "keep" => Keep: "`properties` stays, in the kind and in all that is in it",
    }
}

words! {
    /// A format in which Azure publishes an api-version.
    SpecFormat {
        "openapi" => OpenApi: "the specs, by `files` of the source",
        "bicep" => Bicep: "Bicep types, and what these leave out from the nearest api-version that is read from specs",
    }
}

words! {
    /// What to do about an error.
    ErrorWord {
        "fatal" => Fatal: "when the object changes",
        "retry-fast" => RetryFast: "after 1 s, doubling up to 30 s",
        "retry-slow" => RetrySlow: "after 1 s, doubling up to 3 min",
        "retry-very-slow" => RetryVerySlow: "after the sync period",
    }
}

words! {
    /// How an answer has a value.
    Encoding {
        "base64" => Base64: "in Base64",
    }
}

words! {
    /// Parts of an ARM id.
    IdPart {
        "subscription" => Subscription: "the id of the subscription",
    }
}
