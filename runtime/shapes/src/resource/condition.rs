//! The condition of ASO's objects (ASO behaviour §1.7). Beside `Ready` the operator writes `Reconciling` and
//! `Stalled` in the same form (kstatus).

use crate::shape::{IntegerFormat, Rules};
use crate::shaped;

static DATE_TIME: Rules = Rules {
    format: Some("date-time"),
    ..Rules::NONE
};

shaped! {
    /// One condition.
    Condition {
        /// When the status last changed; UTC, whole seconds.
        last_transition_time: String = "lastTransitionTime".required().rules(&DATE_TIME);
        /// Text for people.
        message: String = "message";
        /// Generation that the condition is about.
        observed_generation: i64 = "observedGeneration".integer(IntegerFormat::Int64);
        /// Why, in one word.
        reason: String = "reason".required();
        /// `Error`, `Warning`, `Info` or empty.
        severity: String = "severity";
        /// `True`, `False` or `Unknown`.
        status: String = "status".required();
        /// `Ready`, `Reconciling` or `Stalled`.
        condition_type: String = "type".required();
    }
}
