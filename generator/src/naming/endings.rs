//! What names of types end with, and what each ending says.

use crate::model::{OperatorPart, Side};

/// What Azure answers of what users write.
pub const STATUS: &str = "Status";

/// A name that would be another's otherwise.
pub const OTHER: &str = "Value";

/// A type within itself.
pub const UNROLLED: &str = "Unrolled";

/// Values that a rule gives, where the specs have another type of the name.
pub const VALUES: &str = "Values";

/// Type of the operator's settings, after the kind where the kind has some of its own.
pub const OPERATOR_SPEC: &str = "OperatorSpec";

/// What stands for the whole of a resource's side.
pub fn of_root(side: Side) -> &'static str {
    match side {
        Side::Spec => "Spec",
        Side::Status => STATUS,
    }
}

/// What stands for less than that.
pub fn of_side(side: Side) -> &'static str {
    match side {
        Side::Spec => "",
        Side::Status => STATUS,
    }
}

/// What the operator adds.
pub fn of_part(part: OperatorPart) -> &'static str {
    match part {
        OperatorPart::Spec => OPERATOR_SPEC,
        OperatorPart::ConfigMaps => "OperatorConfigMaps",
        OperatorPart::Secrets => "OperatorSecrets",
        OperatorPart::AzureName => "AzureName",
        OperatorPart::NamingConvention => "NamingConvention",
    }
}
