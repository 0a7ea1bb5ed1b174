//! What a pass would write, without writing it: the same decisions and the same steps, up to the first that changes
//! something in Azure or writes a Secret or ConfigMap.
//!
//! What the steps before it write to objects goes to the port, which is one that keeps it to itself (a world of its own). What
//! does not live here: what a pass says to Azure, which is up to the transport; one that lets reads pass will do.

use std::time::Duration;

use armature_engine::compare::LeftOut;
use armature_engine::owned::Moved;
use armature_shapes::id::RemoteId;
use armature_shapes::resource::ObjectKey;

use super::compare::Changes;
use super::items::Item;
use super::pass::Pass;
use super::{Reconciler, STEPS};
use crate::action::{Action, Finish};
use crate::backoff::Requeue;
use crate::claim;
use crate::condition::reason;
use crate::decide::decide;
use crate::observed::{Comparison, Resource};
use crate::outcome::Failure;
use crate::port::KubernetesError;
use crate::remote::CredentialRef;

/// Most passes until the one that would write: the first one claims the object, and a claim may have to be read again.
const PASSES: usize = 4;

/// What a pass would do next.
#[derive(Clone, Debug, PartialEq)]
pub struct Foresight {
    /// What it would do.
    pub next: Next,
    /// What the remote calls the resource, where that is known.
    pub id: Option<RemoteId>,
    /// Whose credential it would do it with.
    pub credential: CredentialRef,
    /// Name of the version that it would do it in, where the object can be read.
    pub version: Option<&'static str>,
    /// What Azure has and a PUT leaves out: the one that would be sent, or the next one where there is nothing to send now.
    pub left_out: Vec<LeftOut>,
    /// Values that are Azure's, and stay although the spec says something else.
    pub left_alone: Vec<Moved>,
    /// Items that are resources of their own and that the spec has dropped.
    pub items: Vec<Item>,
    /// What of a PUT is outside of the scopes, and sent all the same as the operator's setting has it.
    pub outside: Option<String>,
}

/// The step at which a pass was stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// A PUT.
    Put {
        /// Whether Azure has the resource.
        exists: bool,
        /// What the operator would tell the user about it.
        message: String,
        /// What it would change.
        changes: Changes,
    },
    /// Something that has to come before the PUT.
    Prepare {
        /// Whether Azure has the resource.
        exists: bool,
        /// What it is for.
        message: String,
    },
    /// A DELETE.
    Delete,
    /// The object is let go, and Azure keeps what it has.
    Release {
        /// Azure has nothing for it.
        is_gone: bool,
    },
    /// Nothing: Azure has all that is desired.
    Nothing {
        /// It was there before the object, or another operator has made it: the object takes it over as it is.
        adopts: bool,
        /// Another object writes it, or the user lets the operator only read it.
        only_reads: bool,
    },
    /// Nothing: the pass ends before that. Its verdict says why, where it has one.
    Ended(Finish),
    /// The budget has no request left: to be asked again after this time.
    PutOff(Duration),
    /// There is no such object.
    Absent,
}

impl Reconciler {
    /// What the next passes over an object would write to Azure first. Nothing is sent but reads; the port is written to.
    ///
    /// # Errors
    /// When Kubernetes refuses.
    pub async fn foresee(&self, key: &ObjectKey) -> Result<Foresight, KubernetesError> {
        let mut is_recorded = None;
        for _ in 0..PASSES {
            let Some(object) = self.kubernetes.get(key).await? else {
                break;
            };
            let namespace = self.kubernetes.namespace_annotations(&key.namespace);
            let keys = self.kubernetes.note_keys().await?;
            let mut pass = match Pass::new(self, object, namespace.await?, keys) {
                Ok(pass) => pass,
                Err(unreadable) => return Ok(Foresight::ended(&unreadable.failure)),
            };
            let is_recorded = *is_recorded.get_or_insert_with(|| pass.book.is_recorded());
            let next = pass.foresee(is_recorded).await?;
            if !is_again(&next) {
                let (left_out, left_alone, items) = match next {
                    Next::Put { exists: true, .. }
                    | Next::Nothing {
                        only_reads: false, ..
                    } => (
                        pass.left_out().await?,
                        pass.left_alone().await?,
                        pass.items().await?,
                    ),
                    _ => Default::default(),
                };
                return Ok(Foresight {
                    id: pass.id().cloned(),
                    credential: pass.findings.credential().clone(),
                    version: Some(pass.version().name),
                    left_out,
                    left_alone,
                    items,
                    outside: pass.outside_body(),
                    ..Foresight::of(next)
                });
            }
        }
        Ok(Foresight::of(Next::Absent))
    }
}

impl Foresight {
    /// A step of which nothing more is known.
    pub fn of(next: Next) -> Self {
        Self {
            next,
            id: None,
            credential: CredentialRef::Global,
            version: None,
            left_out: Vec::new(),
            left_alone: Vec::new(),
            items: Vec::new(),
            outside: None,
        }
    }

    fn ended(failure: &Failure) -> Self {
        Self::of(Next::Ended(Finish::failed(failure)))
    }
}

/// Whether the pass asks for another one at once.
fn is_again(next: &Next) -> bool {
    matches!(next, Next::Ended(finish) if finish.requeue == Requeue::Now)
}

impl Pass<'_> {
    async fn foresee(&mut self, is_recorded: bool) -> Result<Next, KubernetesError> {
        for _ in 0..STEPS {
            let (view, observed) = (self.view(), self.observed());
            let only_reads = !view.policy.allows_put() || view.observe;
            let action = match decide(&view, &observed) {
                Action::Put { event } => {
                    return Ok(Next::Put {
                        exists: self.findings.seen.answer.is_some(),
                        message: event.message,
                        changes: self.changes().await?,
                    });
                }
                Action::Prepare(first) => {
                    return Ok(Next::Prepare {
                        exists: self.findings.seen.answer.is_some(),
                        message: first.message,
                    });
                }
                Action::Delete => return Ok(Next::Delete),
                Action::RemoveFinalizer => {
                    let is_gone = matches!(observed.resource, Some(Ok(Resource::Missing)));
                    return Ok(Next::Release { is_gone });
                }
                Action::PostCheck | Action::Export | Action::SuccessHook => {
                    return Ok(self.nothing(is_recorded, only_reads));
                }
                Action::Finish(finish) if is_success(&finish) => {
                    return Ok(self.nothing(is_recorded, only_reads));
                }
                Action::Finish(finish) => return Ok(Next::Ended(finish)),
                action => action,
            };
            self.perform(action).await?;
            if let Some(wait) = self.ways.session.put_off() {
                return Ok(Next::PutOff(wait));
            }
        }
        let message = "a pass came to no end; this is a defect of the operator";
        let failure = Failure::error(reason::FAILED, message);
        Ok(Next::Ended(Finish::failed(&failure)))
    }

    fn nothing(&self, is_recorded: bool, only_reads: bool) -> Next {
        let comparison = self.findings.payload.comparison.as_ref();
        let is_new = matches!(comparison, Some(Comparison::Unrecorded));
        Next::Nothing {
            adopts: is_new && !is_recorded && claim::is_claimed(&self.object),
            only_reads: only_reads || comparison.is_none(),
        }
    }
}

fn is_success(finish: &Finish) -> bool {
    let verdict = finish.verdict.as_ref();
    verdict.is_some_and(|verdict| verdict.ready)
}
