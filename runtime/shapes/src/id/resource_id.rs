//! ARM resource ids: reading, building from an owner, and the URL of a request.

use std::fmt;
use std::hash::{Hash, Hasher};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::kind::{KindInfo, Remote, Scope};
use crate::quote::shortened;
use crate::segment::{MisleadingSegment, check_path};

/// ARM's own type of resource groups; the only type whose id has no `providers` segment of its own.
const RESOURCE_GROUP_TYPE: &str = "Microsoft.Resources/resourceGroups";
/// ARM's own type of subscriptions.
const SUBSCRIPTION_TYPE: &str = "Microsoft.Resources/subscriptions";
/// What must be escaped in the path of a URL; `/` stays, because it separates the segments of an id.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Bytes of the longest text that is read as an id. ARM takes no longer URL.
pub const LONGEST_ID: usize = 4096;
pub(super) const TOO_LONG: &str = "it is longer than 4096 bytes";

/// Why a text is no ARM id, or an id cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text is no ARM id.
    #[error("'{}' is no ARM resource id: {reason}", shortened(id))]
    Malformed {
        /// The text.
        id: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The kind's resources do not live in ARM.
    #[error("{kind} has no ARM id: its resources live elsewhere")]
    NoArm {
        /// Kind.
        kind: &'static str,
    },
    /// The kind needs an owner.
    #[error("{kind} needs an owner: set spec.owner.name or spec.owner.armId")]
    OwnerMissing {
        /// Kind.
        kind: &'static str,
    },
    /// The owner has another type than the kind is a child of.
    #[error("the owner of {kind} must be a {expected}, but '{owner}' is a {found}")]
    OwnerType {
        /// Kind.
        kind: &'static str,
        /// ARM type that the owner must have.
        expected: String,
        /// ARM id of the owner.
        owner: String,
        /// ARM type of the owner.
        found: String,
    },
    /// The name is empty or holds a separator.
    #[error(
        "'{}' cannot be the last segment of an ARM id: it must not be empty or hold '/'",
        shortened(name)
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A segment would lead to another resource.
    #[error("'{}' is refused as an ARM resource id: {segment}", shortened(id))]
    Misleading {
        /// The id.
        id: String,
        /// The segment.
        segment: MisleadingSegment,
    },
}

/// An ARM resource id: a subscription, a resource group or a resource of any provider. Keeps the casing it
/// was made with; equality and hash ignore it, as ARM does. No segment of it leads elsewhere in a URL.
#[derive(Clone)]
pub struct ResourceId(String);

impl ResourceId {
    /// Reads an id. A trailing `/` is dropped, everything else stays as it is.
    ///
    /// # Errors
    /// [`IdError::Malformed`] when the text is no path of an ARM resource, [`IdError::Misleading`] when a URL would not keep
    /// a segment.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let malformed = |reason| IdError::Malformed {
            id: text.to_owned(),
            reason,
        };
        if text.len() > LONGEST_ID {
            return Err(malformed(TOO_LONG));
        }
        let trimmed = text.trim().trim_end_matches('/');
        let path = trimmed
            .strip_prefix('/')
            .ok_or_else(|| malformed("it must begin with '/'"))?;
        let segments: Vec<&str> = path.split('/').collect();
        if segments.iter().any(|segment| segment.is_empty()) {
            return Err(malformed("it has an empty segment"));
        }
        check_segments(&segments).map_err(malformed)?;
        Self(trimmed.to_owned()).checked()
    }

    /// The id, if it is short enough and each of its segments is still there in a URL.
    fn checked(self) -> Result<Self, IdError> {
        if self.0.len() > LONGEST_ID {
            return Err(IdError::Malformed {
                id: self.0,
                reason: TOO_LONG,
            });
        }
        match check_path(&self.0) {
            Ok(()) => Ok(self),
            Err(segment) => Err(IdError::Misleading {
                id: self.0,
                segment,
            }),
        }
    }

    /// The id of a subscription.
    pub fn subscription_of(subscription: &str) -> Self {
        Self(format!("/subscriptions/{subscription}"))
    }

    /// The id that a resource of the kind has (ASO behaviour §1.5): below its owner, or below the
    /// subscription, or below nothing.
    ///
    /// `name` is the Azure name of the resource, the last segment of the id.
    ///
    /// # Errors
    /// When the owner is missing or of the wrong type, or the name is no segment that leads to the resource.
    pub fn of(
        kind: &KindInfo,
        owner: Option<&ResourceId>,
        subscription: &str,
        name: &str,
    ) -> Result<Self, IdError> {
        if name.is_empty() || name.contains('/') {
            return Err(IdError::Name {
                name: name.to_owned(),
            });
        }
        Self::below_owner(kind, owner, subscription, name)?.checked()
    }

    fn below_owner(
        kind: &KindInfo,
        owner: Option<&ResourceId>,
        subscription: &str,
        name: &str,
    ) -> Result<Self, IdError> {
        let Remote::Arm { arm_type, scope } = kind.remote else {
            return Err(IdError::NoArm { kind: kind.kind });
        };
        if arm_type.eq_ignore_ascii_case(RESOURCE_GROUP_TYPE) {
            return Ok(Self(format!(
                "/subscriptions/{subscription}/resourceGroups/{name}"
            )));
        }
        let parent_type = parent_type(arm_type);
        let missing = || IdError::OwnerMissing { kind: kind.kind };
        let below = |owner: &ResourceId| Self(format!("{owner}/providers/{arm_type}/{name}"));
        if scope == Scope::Extension {
            // A child of an extension resource hangs below that resource; the top one hangs below any.
            let owner = owner.ok_or_else(missing)?;
            return Ok(match parent_type {
                Some(parent) if owner.has_type(parent) => owner.child(kind, name),
                _ => below(owner),
            });
        }
        match (parent_type, scope) {
            (Some(parent), _) => {
                let owner = owner.ok_or_else(missing)?;
                owner.require_type(kind, parent)?;
                Ok(owner.child(kind, name))
            }
            (None, Scope::ResourceGroup) => {
                let owner = owner.ok_or_else(missing)?;
                owner.require_type(kind, RESOURCE_GROUP_TYPE)?;
                Ok(below(owner))
            }
            (None, Scope::Subscription) => Ok(below(&Self::subscription_of(subscription))),
            (None, _) => Ok(Self(format!("/providers/{arm_type}/{name}"))),
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Path and query of a request to the resource: `/subscriptions/…?api-version=…`.
    pub fn url(&self, api_version: &str) -> String {
        format!(
            "{}?api-version={api_version}",
            utf8_percent_encode(&self.0, PATH)
        )
    }

    /// The subscription, if the id is below one.
    pub fn subscription(&self) -> Option<&str> {
        let mut segments = self.segments();
        segments
            .next()?
            .eq_ignore_ascii_case("subscriptions")
            .then(|| segments.next())?
    }

    /// The resource group, if the id is one or is below one.
    pub fn resource_group(&self) -> Option<&str> {
        self.subscription()?;
        let mut segments = self.segments().skip(2);
        segments
            .next()?
            .eq_ignore_ascii_case("resourceGroups")
            .then(|| segments.next())?
    }

    /// The last segment: the Azure name.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The ARM type with the casing of the id: `Microsoft.Storage/storageAccounts/blobServices`.
    pub fn arm_type(&self) -> String {
        let segments: Vec<&str> = self.segments().collect();
        let provider = segments
            .iter()
            .rposition(|segment| segment.eq_ignore_ascii_case("providers"));
        let Some(provider) = provider else {
            return if segments.len() > 2 {
                RESOURCE_GROUP_TYPE.to_owned()
            } else {
                SUBSCRIPTION_TYPE.to_owned()
            };
        };
        let mut arm_type = segments
            .get(provider + 1)
            .map(|namespace| (*namespace).to_owned())
            .unwrap_or_default();
        for name in segments.iter().skip(provider + 2).step_by(2) {
            arm_type.push('/');
            arm_type.push_str(name);
        }
        arm_type
    }

    /// Whether the id is of this ARM type; casing does not count.
    pub fn has_type(&self, arm_type: &str) -> bool {
        self.arm_type().eq_ignore_ascii_case(arm_type)
    }

    fn child(&self, kind: &KindInfo, name: &str) -> Self {
        Self(format!("{self}/{}/{name}", kind.arm_type_segment()))
    }

    fn require_type(&self, kind: &KindInfo, expected: &str) -> Result<(), IdError> {
        let found = self.arm_type();
        if found.eq_ignore_ascii_case(expected) {
            return Ok(());
        }
        Err(IdError::OwnerType {
            kind: kind.kind,
            expected: expected.to_owned(),
            owner: self.0.clone(),
            found,
        })
    }

    fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').skip(1)
    }
}

/// The ARM type without its last segment; `None` for a type that has no parent type.
fn parent_type(arm_type: &str) -> Option<&str> {
    let (parent, _) = arm_type.rsplit_once('/')?;
    parent.contains('/').then_some(parent)
}

/// Subscription, then resource group, then providers, each followed by pairs of type and name.
fn check_segments(segments: &[&str]) -> Result<(), &'static str> {
    let is = |index: usize, text: &str| {
        segments
            .get(index)
            .is_some_and(|segment| segment.eq_ignore_ascii_case(text))
    };
    let mut at = 0;
    if is(at, "subscriptions") {
        at += 2;
        if is(at, "resourceGroups") {
            at += 2;
        }
    }
    if at > segments.len() {
        return Err("the last segment has no name");
    }
    if at == segments.len() {
        return Ok(());
    }
    if !is(at, "providers") {
        return Err(
            "expected '/subscriptions/…', '/subscriptions/…/resourceGroups/…' or '…/providers/…'",
        );
    }
    while at < segments.len() {
        if is(at, "providers") {
            // The namespace, then at least one pair of type and name.
            at += 2;
            if at + 1 >= segments.len() {
                return Err("a provider must be followed by a type and a name");
            }
        }
        at += 2;
    }
    if at > segments.len() {
        return Err("the last segment has no name");
    }
    Ok(())
}

impl fmt::Display for ResourceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for ResourceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

impl PartialEq for ResourceId {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for ResourceId {}

impl Hash for ResourceId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_ascii_lowercase().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plain::kind;

    const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000001";

    #[test]
    fn no_id_is_longer_than_a_url_may_be_and_none_is_quoted_whole() {
        let of = |bytes: usize| "/subscriptions/".to_owned() + &"s".repeat(bytes - 15);
        assert!(ResourceId::parse(&of(LONGEST_ID)).is_ok());
        let long = of(LONGEST_ID + 1);
        let refused = ResourceId::parse(&long).unwrap_err().to_string();
        let kind = kind("Microsoft.A/bs", Scope::Subscription);
        let built = ResourceId::of(&kind, None, &long, "b").unwrap_err();
        for told in [refused, built.to_string()] {
            assert!(told.len() < 400 && told.ends_with(TOO_LONG), "{told}");
        }
    }

    #[test]
    fn parses_ids_and_their_parts() {
        const GROUP: &str = "/subscriptions/s/resourceGroups/g";
        let inner = format!("{GROUP}/providers/Microsoft.A/bs/b");
        let parse = |text: &str| ResourceId::parse(text).expect(text);
        // (id, type, name)
        let table: [(&str, &str, &str); 8] = [
            ("/subscriptions/s", SUBSCRIPTION_TYPE, "s"),
            (GROUP, RESOURCE_GROUP_TYPE, "g"),
            (
                "/SUBSCRIPTIONS/s/RESOURCEgroups/g/",
                RESOURCE_GROUP_TYPE,
                "g",
            ),
            (&inner, "Microsoft.A/bs", "b"),
            (&format!("{inner}/cs/c"), "Microsoft.A/bs/cs", "c"),
            (
                &format!("{inner}/providers/Microsoft.E/es/e"),
                "Microsoft.E/es",
                "e",
            ),
            ("/providers/Microsoft.M/ms/m", "Microsoft.M/ms", "m"),
            (
                "/subscriptions/s/providers/Microsoft.A/bs/b",
                "Microsoft.A/bs",
                "b",
            ),
        ];
        for (text, arm_type, name) in table {
            let id = parse(text);
            assert_eq!(
                (id.arm_type().as_str(), id.name()),
                (arm_type, name),
                "{text}"
            );
            let subscription = (!text.starts_with("/providers")).then_some("s");
            assert_eq!(id.subscription(), subscription, "{text}");
            let group = text
                .to_lowercase()
                .contains("resourcegroups")
                .then_some("g");
            assert_eq!(id.resource_group(), group, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_id() {
        let table = [
            ("", "begin with"),
            ("subscriptions/s", "begin with"),
            ("/", "begin with"),
            ("/subscriptions", "no name"),
            ("/subscriptions/s/resourceGroups", "no name"),
            ("/subscriptions/s//resourceGroups/g", "empty segment"),
            ("/subscriptions/s/things/t", "expected"),
            ("/subscriptions/s/providers/Microsoft.A", "type and a name"),
            (
                "/subscriptions/s/providers/Microsoft.A/bs",
                "type and a name",
            ),
            ("/subscriptions/s/providers/Microsoft.A/bs/b/cs", "no name"),
            ("/subscriptions/s/resourceGroups/..", "lead to another"),
            ("/subscriptions/%2e%2e/resourceGroups/g", "lead to another"),
            (
                "/subscriptions/s/providers/Microsoft.A/bs/b/../c",
                "lead to another",
            ),
        ];
        for (text, reason) in table {
            let error = ResourceId::parse(text).expect_err(text).to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    /// The id of `n`, which is of this type and scope and has this owner.
    fn id_of(arm_type: &'static str, scope: Scope, owner: Option<&str>) -> String {
        let owner = owner.map(|owner| ResourceId::parse(owner).expect(owner));
        let id = ResourceId::of(&kind(arm_type, scope), owner.as_ref(), SUBSCRIPTION, "n");
        id.expect("an id").0
    }

    #[test]
    fn builds_ids_without_owners() {
        let subscription = format!("/subscriptions/{SUBSCRIPTION}");
        for (arm_type, scope, expected) in [
            (
                RESOURCE_GROUP_TYPE,
                Scope::Subscription,
                format!("{subscription}/resourceGroups/n"),
            ),
            (
                "Microsoft.A/subs",
                Scope::Subscription,
                format!("{subscription}/providers/Microsoft.A/subs/n"),
            ),
            (
                "Microsoft.A/tenants",
                Scope::Tenant,
                "/providers/Microsoft.A/tenants/n".to_owned(),
            ),
        ] {
            assert_eq!(id_of(arm_type, scope, None), expected);
        }
    }

    #[test]
    fn builds_ids_from_owners() {
        use Scope::{Extension, ResourceGroup};
        let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/g");
        let parent = format!("{group}/providers/microsoft.a/BS/b");
        let extension = format!("{parent}/providers/Microsoft.E/es/e");
        // (type, scope, owner, what comes after the owner's id)
        let table = [
            (
                "Microsoft.A/bs",
                ResourceGroup,
                &group,
                "providers/Microsoft.A/bs/n",
            ),
            ("Microsoft.A/bs/cs", ResourceGroup, &parent, "cs/n"),
            (
                "Microsoft.E/es",
                Extension,
                &parent,
                "providers/Microsoft.E/es/n",
            ),
            (
                "Microsoft.E/es",
                Extension,
                &group,
                "providers/Microsoft.E/es/n",
            ),
            ("Microsoft.E/es/fs", Extension, &extension, "fs/n"),
            (
                "Microsoft.E/es",
                Extension,
                &extension,
                "providers/Microsoft.E/es/n",
            ),
        ];
        for (arm_type, scope, owner, below) in table {
            assert_eq!(
                id_of(arm_type, scope, Some(owner)),
                format!("{owner}/{below}")
            );
        }
    }

    #[test]
    fn refuses_wrong_owners_and_names() {
        let group = ResourceId::parse("/subscriptions/s/resourceGroups/g").expect("id");
        let child = kind("Microsoft.A/bs/cs", Scope::ResourceGroup);
        let top = kind("Microsoft.A/bs", Scope::ResourceGroup);
        let subscription = ResourceId::subscription_of("s");
        for (kind, owner, name, reason) in [
            (&child, Some(&group), "n", "must be a Microsoft.A/bs"),
            (&child, None, "n", "needs an owner"),
            (
                &top,
                Some(&subscription),
                "n",
                "must be a Microsoft.Resources/resourceGroups",
            ),
            (&top, Some(&group), "", "last segment"),
            (&top, Some(&group), "a/b", "last segment"),
            (&top, Some(&group), "..", "lead to another resource"),
            (&top, Some(&group), "%2e%2E", "lead to another resource"),
            (&top, Some(&group), "..%2fc", "lead to another resource"),
        ] {
            let error = ResourceId::of(kind, owner, "s", name)
                .expect_err(reason)
                .to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn compares_without_casing_and_escapes_urls() {
        let lower = ResourceId::parse("/subscriptions/s/resourcegroups/my group").expect("id");
        let upper = ResourceId::parse("/SUBSCRIPTIONS/S/resourceGroups/MY GROUP").expect("id");
        assert_eq!(lower, upper);
        assert_eq!(
            lower.url("2020-06-01"),
            "/subscriptions/s/resourcegroups/my%20group?api-version=2020-06-01"
        );
    }
}
