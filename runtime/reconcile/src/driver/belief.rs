//! Whether the notes in the object are the operator's own, and the signature that tells it.
//!
//! Notes without a signature that fits are those of another operator (see [`crate::signature`]): nothing is sent because of
//! them. They are signed once it is known which resource the object is for, so that nobody gets his own words signed.

use armature_shapes::names;

use super::pass::{Pass, recorded_id};
use crate::action::warning;
use crate::annotations::{Adopt, Adoption, Directives};
use crate::observed::Identity;
use crate::port::MetadataPatch;
use crate::remote::Operation;
use crate::signature::{Belief, NOT_BELIEVED, SIGNATURE};

impl Pass<'_> {
    /// Adds the signature of the notes as the object will have them, where they may be signed.
    pub(super) fn sign(&self, patch: &mut MetadataPatch) {
        let is_ours = |list: &Vec<String>| list.iter().any(|name| name == names::FINALIZER);
        let will_be_claimed = match &patch.finalizers {
            Some(finalizers) => is_ours(finalizers),
            None => self.is_claimed(),
        };
        // A claim says where the object is itself.
        let is_looked_at = patch.annotations.contains_key(names::RESOURCE_ID) || self.may_sign();
        if !will_be_claimed || !is_looked_at {
            return;
        }
        self.leave_out_unsaid(patch);
        let annotations = patch.annotations_of(&self.object);
        let signature = self.keys.sign(&self.uid(), &annotations);
        let Some(signature) = signature else {
            return;
        };
        if self.annotation(SIGNATURE) != Some(&signature) {
            let entries = &mut patch.annotations;
            entries.insert(SIGNATURE.to_owned(), Some(signature));
        } else {
            patch.annotations.remove(SIGNATURE);
        }
    }

    /// Takes out where children are to be, which somebody else may have written, where no extension of the kind says it: of other
    /// kinds nobody but an extension ever writes it.
    fn leave_out_unsaid(&self, patch: &mut MetadataPatch) {
        let name = names::CHILD_RESOURCE_ID_OVERRIDE;
        let is_said = self.points.has_success_handler();
        if self.belief.is_foreign() && !is_said && self.annotation(name).is_some() {
            patch.annotations.entry(name.to_owned()).or_insert(None);
        }
    }

    /// Whether nothing would be signed that somebody else may have written. Of an object older than signatures the notes are
    /// believed, and the id is looked at all the same.
    fn may_sign(&self) -> bool {
        let place = &self.findings.place;
        match self.belief {
            Belief::Signed => true,
            Belief::Unsigned => self.has_known_id() && matches!(place.identity, Some(Ok(_))),
            Belief::Foreign => {
                let is_followed = !self.book.has_operation() || self.operation().is_some();
                place.is_proven && self.has_known_id() && is_followed && !self.is_unvouched()
            }
        }
    }

    /// Whether notes that nobody vouches for say that the resource is the object's own, where `adopt` would ask. Then neither is
    /// believed: that it is, which would take it over or delete it, nor that it is not, which would leave it behind.
    pub(super) fn is_unvouched(&self) -> bool {
        let asks = |directives: &Directives| directives.adopt != Adopt::Always;
        let is_own = matches!(
            self.book.adoption(),
            Some(Adoption::Made | Adoption::Adopted)
        );
        self.belief.is_foreign() && is_own && self.directives().is_ok_and(|it| asks(&it))
    }

    /// Whether the object has the id that this pass works with: somebody may have changed it meanwhile.
    fn has_known_id(&self) -> bool {
        let recorded = recorded_id(&self.object).ok().flatten();
        recorded.is_some() && recorded.as_ref() == self.id()
    }

    /// Whether notes that were not believed are to be signed, so that they are believed from then on.
    pub(super) fn owes_signature(&self) -> bool {
        self.belief.is_foreign() && self.may_sign()
    }

    /// Takes in how far the notes are believed that were just written, and tells of those before that were not.
    pub(super) async fn tell_not_believed(&mut self) {
        let before = self.belief;
        self.belief = self.keys.belief(&self.object);
        let is_over = before.is_foreign() && self.belief == Belief::Signed;
        if is_over && self.had_own_notes {
            let message = "what the operator had noted in the object does not bear its signature: it was changed by somebody \
                           else or by another release, the key was lost, or the object comes from a backup. It was not \
                           believed; the object is taken over as one of another operator, and signed";
            self.record(warning(NOT_BELIEVED, message)).await;
        }
    }

    /// Tells of notes that are not believed and not signed either: nobody can say whether they are right. The condition, which
    /// has just changed, says what to do.
    pub(super) async fn tell_waits(&self) {
        let is_unproven = matches!(self.findings.place.identity, Some(Ok(Identity::Unproven)));
        let waits = self.belief.is_foreign() && (is_unproven || self.is_unvouched());
        if waits && self.had_own_notes {
            let message = "what the operator had noted in the object does not bear its signature: it was changed by somebody \
                           else or by another release, the key was lost, or the object comes from a backup. It is not believed, \
                           and nothing is sent because of it";
            self.record(warning(NOT_BELIEVED, message)).await;
        }
    }

    /// Whether an operation is followed at the object's own resource, or where Azure keeps those of its subscription, which
    /// tells no more than how one went. Where else one is followed that somebody else wrote down is his choice.
    pub(super) fn is_on_own_path(&self, operation: &Operation) -> bool {
        let session = &self.ways.session;
        self.id().is_some_and(|id| session.is_own(id, operation))
    }
}
