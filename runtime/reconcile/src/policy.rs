//! What the user allows the operator to do with a resource (ASO behaviour §1.3 step 6, §1.9 step 1). Where it is said is
//! read in [`super::annotations`].

/// The reconcile policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Create, update and delete.
    #[default]
    Manage,
    /// Only read; deleting the object leaves the resource.
    Skip,
    /// Create and update; deleting the object leaves the resource.
    DetachOnDelete,
}

impl Policy {
    /// From the annotation's text; `None` when the word is unknown.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "manage" => Some(Self::Manage),
            "skip" => Some(Self::Skip),
            "detach-on-delete" => Some(Self::DetachOnDelete),
            _ => None,
        }
    }

    /// As the annotation has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manage => "manage",
            Self::Skip => "skip",
            Self::DetachOnDelete => "detach-on-delete",
        }
    }

    /// Whether a PUT may be sent.
    pub fn allows_put(self) -> bool {
        self != Self::Skip
    }

    /// Whether a DELETE may be sent.
    pub fn allows_delete(self) -> bool {
        self == Self::Manage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_what_they_allow() {
        let rows = [
            ("manage", Some(Policy::Manage), true, true),
            ("skip", Some(Policy::Skip), false, false),
            (
                "detach-on-delete",
                Some(Policy::DetachOnDelete),
                true,
                false,
            ),
            ("Skip", None, true, true),
        ];
        for (text, policy, put, delete) in rows {
            assert_eq!(Policy::parse(text), policy, "{text}");
            assert!(policy.is_none_or(|policy| policy.as_str() == text));
            let policy = policy.unwrap_or_default();
            assert_eq!(
                (policy.allows_put(), policy.allows_delete()),
                (put, delete),
                "{text}"
            );
        }
    }
}
