//! One change: what it is, and what it does to users.

use serde::Serialize;

use super::Side;

/// What changed. In machine-readable output the name in kebab case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A group is gone.
    GroupRemoved,
    /// A group is new.
    GroupAdded,
    /// A kind is gone.
    KindRemoved,
    /// A kind is new.
    KindAdded,
    /// A served version is gone.
    VersionRemoved,
    /// A served version is new.
    VersionAdded,
    /// Objects are stored in another version.
    StorageVersion,
    /// Name of the API group.
    ApiGroup,
    /// Plural of the kind, and so the name of its CRD.
    Plural,
    /// ARM type of the kind.
    ArmType,
    /// Path of the resource in ARM.
    ArmPath,
    /// Where the resource hangs in ARM.
    Scope,
    /// What the resource belongs to.
    Owner,
    /// The one name that the resource may have.
    Name,
    /// HTTP verbs.
    Verbs,
    /// Whether PUT or DELETE may be long-running.
    LongRunning,
    /// Where exported secrets and config map values come from.
    Exports,
    /// Which lists Azure's answer fills because their items are kinds.
    ChildLists,
    /// Where a PUT keeps what others add.
    KeepUnknown,
    /// The end of an api-version that Azure has told of.
    Retirement,
    /// A property is gone.
    Removed,
    /// A property is new.
    Added,
    /// A property of the same place in ARM has another name.
    Renamed,
    /// A value has another type.
    Retyped,
    /// A property must be present, or need not be any more.
    Required,
    /// An enum lost values.
    ValuesRemoved,
    /// An enum gained values.
    ValuesAdded,
    /// A constraint of the value.
    Rule,
    /// Whether the value may change after creation.
    CreateOnly,
    /// Whether at most one property of the object may be set.
    OneOf,
    /// Where the value is in ARM's JSON.
    ArmName,
    /// Whether an absent list or map is sent as null.
    Explicit,
    /// Whether Azure returns the value.
    WriteOnly,
    /// By which properties the operator knows an item of a list again.
    Identifiers,
    /// Name of the type in Rust.
    TypeName,
}

/// A change without its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Whether somebody has to do something: manifests, stored objects or readers of the status stop working.
    pub breaking: bool,
    /// What changed.
    pub what: What,
    /// How it was; absent where there was nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// How it is; absent where there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// What it means for users; empty where the words of the change say it.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub effect: &'static str,
}

const REFUSED: &str = "manifests that set it are refused";
const UNREAD: &str = "what reads it finds nothing";

impl Change {
    /// A change that breaks users.
    pub(super) fn breaking(what: What, effect: &'static str) -> Self {
        Self {
            breaking: true,
            what,
            before: None,
            after: None,
            effect,
        }
    }

    /// A change that users need not act on.
    pub(super) fn compatible(what: What, effect: &'static str) -> Self {
        Self {
            breaking: false,
            ..Self::breaking(what, effect)
        }
    }

    /// Says how it was and how it is; nothing is said of what is empty.
    pub(super) fn saying(self, before: impl Into<String>, after: impl Into<String>) -> Self {
        let said = |text: String| Some(text).filter(|text| !text.is_empty());
        Self {
            before: said(before.into()),
            after: said(after.into()),
            ..self
        }
    }

    pub(super) fn group_removed(kinds: &str) -> Self {
        let effect = "its manifests are refused";
        Self::breaking(What::GroupRemoved, effect).saying(kinds, "")
    }

    pub(super) fn group_added(kinds: &str) -> Self {
        Self::compatible(What::GroupAdded, "").saying("", kinds)
    }

    pub(super) fn removed(side: Side, ty: &str) -> Self {
        let effect = match side {
            Side::Spec => REFUSED,
            Side::Status => UNREAD,
        };
        Self::breaking(What::Removed, effect).saying(ty, "")
    }

    pub(super) fn added(side: Side, ty: &str, required: bool) -> Self {
        if required && side == Side::Spec {
            let effect = "manifests without it are refused";
            return Self::breaking(What::Added, effect).saying("", format!("{ty}, required"));
        }
        Self::compatible(What::Added, "").saying("", ty)
    }

    pub(super) fn renamed(side: Side, before: String, after: String) -> Self {
        let effect = match side {
            Side::Spec => "manifests that set the old name are refused",
            Side::Status => "what reads the old name finds nothing",
        };
        Self::breaking(What::Renamed, effect).saying(before, after)
    }

    pub(super) fn called(before: &str, after: &str) -> Self {
        let effect = "manifests stay as they are, code that names it does not";
        let quoted = |name: &str| format!("`{name}`");
        Self::compatible(What::TypeName, effect).saying(quoted(before), quoted(after))
    }

    pub(super) fn required(before: bool) -> Self {
        if before {
            Self::compatible(What::Required, "manifests may leave it out")
                .saying("required", "optional")
        } else {
            Self::breaking(What::Required, "manifests without it are refused")
                .saying("optional", "required")
        }
    }

    /// The change as words that follow the name of the place: `removed (string)`.
    pub fn words(&self) -> String {
        let before = self.before.as_deref().unwrap_or("none");
        let after = self.after.as_deref().unwrap_or("none");
        let changed = |what: &str| match (&self.before, &self.after) {
            (None, _) => format!("{what} is now {after}"),
            (_, None) => format!("{what} is no longer {before}"),
            _ => format!("{what} is now {after}, was {before}"),
        };
        match self.what {
            What::GroupRemoved => format!("group removed ({before})"),
            What::GroupAdded => format!("group added ({after})"),
            What::KindRemoved => match &self.after {
                Some(kind) => format!("kind removed ({before}); its ARM type is now `{kind}`"),
                None => format!("kind removed ({before})"),
            },
            What::KindAdded => format!("kind added ({after})"),
            What::VersionRemoved => format!("version {before} removed"),
            What::VersionAdded => format!("version {after} added"),
            What::StorageVersion => changed("the storage version"),
            What::ApiGroup => changed("the API group"),
            What::Plural => changed("the plural"),
            What::ArmType => changed("the ARM type"),
            What::ArmPath => changed("the path in ARM"),
            What::Scope => changed("the scope"),
            What::Owner => changed("the owner"),
            What::Name => changed("the only name"),
            What::Verbs => changed("the list of verbs"),
            What::LongRunning => changed("long-running"),
            What::Exports => changed("the source of an export"),
            What::ChildLists => changed("the list of children that are kinds of their own"),
            What::KeepUnknown => changed("where a PUT keeps what others add"),
            What::Retirement => changed("the end that Azure has told of"),
            What::Removed => format!("removed ({before})"),
            What::Added => format!("added ({after})"),
            What::ValuesRemoved => format!("values removed: {before}"),
            What::ValuesAdded => format!("values added: {after}"),
            What::Rule => changed("the rule"),
            What::Renamed
            | What::Retyped
            | What::Required
            | What::CreateOnly
            | What::OneOf
            | What::WriteOnly
            | What::Explicit => format!("is now {after}, was {before}"),
            What::ArmName => changed("the place in ARM"),
            What::Identifiers => changed("what tells its items apart"),
            What::TypeName => changed("the type in Rust"),
        }
    }
}
