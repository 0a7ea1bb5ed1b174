//! The one model that every pass reads or writes.
//!
//! Front ends (Swagger 2.0, OpenAPI 3.0, Bicep types) end here and nothing after them knows which
//! one it was. The model holds facts about Azure's API and our choices; it holds no Rust and no CRD.

pub(crate) mod facts;
mod identity;
mod name;
mod origin;
mod resource;
mod ty;

pub use identity::{Digest, Identity, MissingType, OperatorPart, Side, TypeId};
pub use name::{ApiVersion, TypeName};
pub use origin::{DecidedBy, Decision, LeftOut, Origin};
pub use resource::{
    AnswerStep, ErrorClass, ErrorRule, Group, NameRule, Owner, Resource, Retirement, Scope,
    SecretSource, SourceFile, UuidText, ValueRules, Verbs, Version,
};
pub use ty::{
    Absent, ArmPlace, CommonType, ConfigMapImport, Discriminated, EnumType, Meaning, ObjectType,
    Property, Rules, TypeDef, TypeRef, TypeTable, VariantType, reachable,
};
