//! Whose the resource is that exists in Azure: the object's own, one that it takes over, or one that it leaves alone.
//!
//! The answer is kept in the object before anything follows from it, so that it is asked once, and so that the
//! deletion of an object never deletes what the object was not allowed to take over.

use std::ops::ControlFlow::{Break, Continue};

use armature_shapes::names;

use super::{Step, known};
use crate::action::{Action, Finish, normal};
use crate::annotations::{Adopt, Adoption};
use crate::backoff::{Requeue, RetryClass};
use crate::condition::{Verdict, reason};
use crate::observed::{Comparison, Observed};
use crate::outcome::Failure;
use crate::remote::Provisioning;
use crate::view::ResourceView;

/// May the resource that a GET has found be written?
pub(super) fn existing(
    view: &ResourceView,
    observed: &Observed,
    provisioning: &Provisioning,
) -> Step<()> {
    if view.observe || is_own(view) {
        return Continue(());
    }
    match view.adopt {
        Adopt::Always => Break(take_over()),
        Adopt::Never => Break(refuse(view, "the annotation says never".to_owned())),
        Adopt::IfEqual => if_equal(view, observed, provisioning),
    }
}

/// May the resource, which does not exist, be created? What the object makes is its own, and is known to be so even
/// where nobody hears of the PUT again.
pub(super) fn missing(view: &ResourceView) -> Step<()> {
    let is_asked_later = view.adopt != Adopt::Always || view.adoption == Some(Adoption::Refused);
    if view.observe || is_own(view) || !is_asked_later {
        return Continue(());
    }
    Break(Action::NoteAdoption {
        adoption: Adoption::Made,
        event: None,
    })
}

/// Whether the deletion of the object must leave the resource.
pub(super) fn is_of_others(view: &ResourceView) -> bool {
    match view.adoption {
        Some(Adoption::Refused) => true,
        // Where a PUT was allowed, that is noted before it.
        None => view.adopt != Adopt::Always,
        Some(Adoption::Made | Adoption::Adopted) => false,
    }
}

fn is_own(view: &ResourceView) -> bool {
    matches!(view.adoption, Some(Adoption::Made | Adoption::Adopted))
}

fn if_equal(view: &ResourceView, observed: &Observed, provisioning: &Provisioning) -> Step<()> {
    if let Provisioning::Running(state) = provisioning {
        let message = format!(
            "Azure is working on the resource, which existed before: provisioningState is {state}; comparing it after that"
        );
        return Break(Action::Finish(Finish::with(
            Verdict::progress(reason::RECONCILING, message),
            Requeue::Backoff(RetryClass::Poll),
        )));
    }
    known(&observed.payload, Action::BuildPayload, |failure| {
        Action::Finish(Finish::failed(failure))
    })?;
    match &observed.comparison {
        None => Break(Action::Compare),
        Some(Comparison::Same | Comparison::Unrecorded | Comparison::Rebuilt(_)) => {
            Break(take_over())
        }
        // What Azure does not show cannot be compared: it is sent once.
        Some(Comparison::Edited(differences)) if differences.is_empty() => Break(take_over()),
        Some(Comparison::Differs(differences) | Comparison::Edited(differences)) => Break(refuse(
            view,
            format!("it differs from the spec: {differences}"),
        )),
    }
}

fn take_over() -> Action {
    let message = "the resource existed in Azure before; the object manages it from now on";
    Action::NoteAdoption {
        adoption: Adoption::Adopted,
        event: Some(normal(names::event::ADOPTED, message)),
    }
}

fn refuse(view: &ResourceView, why: String) -> Action {
    if view.adoption != Some(Adoption::Refused) {
        return Action::NoteAdoption {
            adoption: Adoption::Refused,
            event: None,
        };
    }
    let message = format!(
        "the resource exists in Azure and is not taken over, nothing is sent: {why} ({})",
        names::ADOPT
    );
    Action::Finish(Finish::failed(&Failure::warning(
        reason::ADOPTION_REFUSED,
        RetryClass::VerySlow,
        message,
    )))
}
