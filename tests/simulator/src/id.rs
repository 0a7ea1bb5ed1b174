//! ARM paths: which resource, collection or action a path names (ARM RPC, resource ids).
//!
//! ARM compares ids without regard to case and answers with the casing it was given first.

use std::fmt;

/// The id of a subscription, a resource group or a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceId {
    segments: Vec<String>,
    /// Index of the last provider namespace; `None` for subscriptions and resource groups.
    namespace: Option<usize>,
}

/// What a path below an ARM scope names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// One subscription, resource group or resource.
    Item(ResourceId),
    /// The path ends with a type segment: a collection for GET, an action of `parent` for POST.
    Collection {
        /// What the collection hangs under; `None` for the tenant.
        parent: Option<ResourceId>,
        /// ARM type of the members: `Microsoft.Storage/storageAccounts`.
        arm_type: String,
    },
}

impl Target {
    /// Reads a path without query. `None` when the path is not of ARM's form.
    pub fn parse(path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let mut parsed = 0;
        if is(&segments, 0, "subscriptions") && segments.len() >= 2 {
            parsed = 2;
            if is(&segments, 2, "resourceGroups") && segments.len() >= 4 {
                parsed = 4;
            }
        }
        let mut namespace = None;
        while parsed < segments.len() {
            if !is(&segments, parsed, "providers") || parsed + 2 >= segments.len() {
                return trailing_collection(&segments, parsed);
            }
            namespace = Some(parsed + 1);
            parsed += 2;
            while parsed < segments.len() && !is(&segments, parsed, "providers") {
                if parsed + 1 == segments.len() {
                    return Some(collection(&segments, parsed, namespace));
                }
                parsed += 2;
            }
        }
        (parsed > 0).then(|| Self::Item(ResourceId::new(&segments, namespace)))
    }
}

fn is(segments: &[&str], index: usize, word: &str) -> bool {
    segments
        .get(index)
        .is_some_and(|segment| segment.eq_ignore_ascii_case(word))
}

/// `/subscriptions` and `/subscriptions/{id}/resourceGroups`, which have no provider in their path.
fn trailing_collection(segments: &[&str], parsed: usize) -> Option<Target> {
    if parsed + 1 != segments.len() {
        return None;
    }
    let arm_type = match parsed {
        0 if is(segments, 0, "subscriptions") => "Microsoft.Resources/subscriptions",
        2 if is(segments, 2, "resourceGroups") => "Microsoft.Resources/resourceGroups",
        _ => return None,
    };
    Some(Target::Collection {
        parent: (parsed > 0).then(|| ResourceId::new(&segments[..parsed], None)),
        arm_type: arm_type.to_owned(),
    })
}

fn collection(segments: &[&str], last: usize, namespace: Option<usize>) -> Target {
    let start = namespace.unwrap_or(last);
    let mut arm_type = segments[start].to_owned();
    for segment in segments[start + 1..].iter().step_by(2) {
        arm_type.push('/');
        arm_type.push_str(segment);
    }
    // The first type of a provider hangs under the scope before `/providers/`, later ones under a resource.
    let parent = if last == start + 1 {
        match Target::parse(&segments[..start - 1].join("/")) {
            Some(Target::Item(id)) => Some(id),
            _ => None,
        }
    } else {
        Some(ResourceId::new(&segments[..last], namespace))
    };
    Target::Collection { parent, arm_type }
}

impl ResourceId {
    fn new(segments: &[&str], namespace: Option<usize>) -> Self {
        Self {
            segments: segments.iter().map(|part| (*part).to_owned()).collect(),
            namespace,
        }
    }

    /// Reads the id of one subscription, resource group or resource.
    pub fn parse(path: &str) -> Option<Self> {
        match Target::parse(path)? {
            Target::Item(id) => Some(id),
            Target::Collection { .. } => None,
        }
    }

    /// The form under which two spellings of one id are equal.
    pub fn key(&self) -> String {
        self.to_string().to_ascii_lowercase()
    }

    /// ARM type: `Microsoft.Storage/storageAccounts/blobServices`.
    pub fn arm_type(&self) -> String {
        match self.namespace {
            Some(start) => {
                let mut arm_type = self.segments[start].clone();
                for segment in self.segments[start + 1..].iter().step_by(2) {
                    arm_type.push('/');
                    arm_type.push_str(segment);
                }
                arm_type
            }
            None if self.segments.len() == 4 => "Microsoft.Resources/resourceGroups".to_owned(),
            None => "Microsoft.Resources/subscriptions".to_owned(),
        }
    }

    /// ARM type with the names between its segments: `Microsoft.Storage/storageAccounts/x`.
    pub fn type_and_names(&self) -> String {
        match self.namespace {
            Some(start) => self.segments[start..].join("/"),
            None => format!("{}/{}", self.arm_type(), self.name()),
        }
    }

    /// The last segment.
    pub fn name(&self) -> &str {
        self.segments.last().map_or("", String::as_str)
    }

    /// What the resource hangs under: its parent resource, scope, resource group or subscription.
    pub fn parent(&self) -> Option<Self> {
        let keep = match self.namespace {
            Some(start) if self.segments.len() - start > 3 => self.segments.len() - 2,
            Some(start) => start - 1,
            None => self.segments.len() - 2,
        };
        Self::parse(&self.segments[..keep].join("/"))
    }

    /// The resource below this one with a type segment and a name.
    pub fn child(&self, segment: &str, name: &str) -> Self {
        let mut child = self.clone();
        child.segments.push(segment.to_owned());
        child.segments.push(name.to_owned());
        child
    }

    /// The same id below another spelling of its parent and with another spelling of its type.
    pub fn spelled(&self, parent: Option<&Self>, arm_type: &str) -> Self {
        let mut spelled = self.clone();
        if let Some(parent) = parent {
            spelled.segments[..parent.segments.len()].clone_from_slice(&parent.segments);
        }
        if let Some(start) = self.namespace {
            let mut words = arm_type.split('/');
            if let Some(namespace) = words.next() {
                spelled.segments[start] = namespace.to_owned();
            }
            for (index, word) in words.enumerate() {
                if let Some(segment) = spelled.segments.get_mut(start + 1 + 2 * index) {
                    *segment = word.to_owned();
                }
            }
        } else if spelled.segments.len() == 4 {
            spelled.segments[2] = "resourceGroups".to_owned();
        }
        spelled
    }

    /// Name of the subscription.
    pub fn subscription(&self) -> Option<&str> {
        (self.segments.len() >= 2 && self.segments[0].eq_ignore_ascii_case("subscriptions"))
            .then(|| self.segments[1].as_str())
    }

    /// Name of the resource group.
    pub fn resource_group(&self) -> Option<&str> {
        (self.segments.len() >= 4 && self.segments[2].eq_ignore_ascii_case("resourceGroups"))
            .then(|| self.segments[3].as_str())
    }

    /// Whether this is a subscription.
    pub fn is_subscription(&self) -> bool {
        self.namespace.is_none() && self.segments.len() == 2
    }

    /// Whether this is a resource group.
    pub fn is_group(&self) -> bool {
        self.namespace.is_none() && self.segments.len() == 4
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "/{}", self.segments.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: &str =
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/a";

    #[test]
    fn items_know_their_type_and_parent() {
        let table = [
            (
                "/subscriptions/s",
                "Microsoft.Resources/subscriptions",
                None,
            ),
            (
                "/subscriptions/s/resourcegroups/g",
                "Microsoft.Resources/resourceGroups",
                Some("/subscriptions/s"),
            ),
            (
                ACCOUNT,
                "Microsoft.Storage/storageAccounts",
                Some("/subscriptions/s/resourceGroups/g"),
            ),
            (
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/a/blobServices/default",
                "Microsoft.Storage/storageAccounts/blobServices",
                Some(ACCOUNT),
            ),
            (
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/a/providers/Microsoft.Authorization/roleAssignments/r",
                "Microsoft.Authorization/roleAssignments",
                Some(ACCOUNT),
            ),
            (
                "/providers/Microsoft.Management/managementGroups/m",
                "Microsoft.Management/managementGroups",
                None,
            ),
        ];
        for (path, arm_type, parent) in table {
            let id = ResourceId::parse(path).unwrap();
            assert_eq!(id.arm_type(), arm_type, "{path}");
            assert_eq!(
                id.parent().map(|id| id.to_string()).as_deref(),
                parent,
                "{path}"
            );
        }
    }

    #[test]
    fn collections_know_what_they_hang_under() {
        let table = [
            ("/subscriptions", "Microsoft.Resources/subscriptions", None),
            (
                "/subscriptions/s/resourceGroups",
                "Microsoft.Resources/resourceGroups",
                Some("/subscriptions/s"),
            ),
            (
                "/subscriptions/s/providers/Microsoft.Storage/storageAccounts",
                "Microsoft.Storage/storageAccounts",
                Some("/subscriptions/s"),
            ),
            (
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/a/blobServices",
                "Microsoft.Storage/storageAccounts/blobServices",
                Some(ACCOUNT),
            ),
        ];
        for (path, expected, expected_parent) in table {
            let Some(Target::Collection { parent, arm_type }) = Target::parse(path) else {
                panic!("{path} is a collection");
            };
            assert_eq!(arm_type, expected, "{path}");
            assert_eq!(
                parent.map(|id| id.to_string()).as_deref(),
                expected_parent,
                "{path}"
            );
        }
    }

    #[test]
    fn paths_that_are_not_arms_are_refused() {
        for path in [
            "/",
            "/favicon.ico",
            "/subscriptions/s/nonsense",
            "/subscriptions/s/providers",
        ] {
            assert_eq!(Target::parse(path), None, "{path}");
        }
    }

    #[test]
    fn spelling_follows_the_parent_and_the_catalog() {
        let parent = ResourceId::parse("/subscriptions/s/resourceGroups/Group").unwrap();
        let id = ResourceId::parse(
            "/subscriptions/s/resourcegroups/GROUP/providers/microsoft.storage/STORAGEaccounts/A",
        )
        .unwrap();
        assert_eq!(
            id.spelled(Some(&parent), "Microsoft.Storage/storageAccounts")
                .to_string(),
            "/subscriptions/s/resourceGroups/Group/providers/Microsoft.Storage/storageAccounts/A"
        );
    }
}
