//! Steps at the remote: credential, read, delete, and what runs on.

use armature_shapes::conversion::ConversionError;
use armature_shapes::names;
use armature_shapes::quote::shortened;
use serde_json::Value;

use super::absences::Missing;
use super::findings::{Look, SignIn};
use super::pass::Pass;
use crate::action::normal;
use crate::annotations::{CREDENTIAL, needs_own_credential};
use crate::backoff::RetryClass;
use crate::claim;
use crate::condition::reason;
use crate::extension::{Next, Prerequisite};
use crate::object_name::is_object_name;
use crate::outcome::{Failure, Poll, Write};
use crate::port::{DataKind, KubernetesError};
use crate::remote::{Begun, CredentialRef, Operation, Progress, Reading, Verb};

/// A list of children that an answer of Azure does not have.
struct LackingList {
    path: &'static [&'static str],
    /// Neither has it what the list is in, which every resource of the kind has.
    lacks_all: bool,
}

impl LackingList {
    /// Refuses the answer. Where only the list is missing, it is believed once it was so for a while.
    fn check(self, asks_twice: bool) -> Result<(), Failure> {
        if !self.lacks_all && !asks_twice {
            return Ok(());
        }
        let path = self.path.join(".");
        let message = format!(
            "Azure's answer has no {path}, in which other objects may have made something: a PUT without them would delete them. \
             It is asked again"
        );
        Err(Failure::warning(reason::FAILED, RetryClass::Slow, message))
    }
}

impl Pass<'_> {
    /// Step 4a: the annotation, else the namespace's Secret, else the operator's own (ASO behaviour §1.8).
    pub(super) async fn select_credential(&self) -> Result<SignIn, KubernetesError> {
        let namespace = self.namespace();
        let named = self.annotation(names::CREDENTIAL_FROM).map(str::to_owned);
        let name = match named {
            Some(name) if !is_object_name(&name) => {
                let message = format!(
                    "annotation {}: '{}' must be the name of a Secret in the object's own namespace: lower case letters, digits, '-' and '.'",
                    names::CREDENTIAL_FROM,
                    shortened(&name)
                );
                return Ok(SignIn::refused(Failure::error(reason::FAILED, message)));
            }
            Some(name) => Some(name),
            None => {
                let has_one = self.has_namespace_credential(&namespace).await?;
                has_one.then(|| names::NAMESPACE_CREDENTIAL.to_owned())
            }
        };
        if name.is_none() && needs_own_credential(&self.findings.namespace.annotations) {
            return Ok(SignIn::refused(no_own_credential(&namespace)));
        }
        if name.is_none() && self.is_claimed_with_namespace() {
            return Ok(SignIn::refused(lost_credential(&namespace)));
        }
        let key = match name {
            Some(name) => CredentialRef::Secret { namespace, name },
            None => CredentialRef::Global,
        };
        let account = self.ways.session.sign_in(&key).await;
        Ok(SignIn { key, account })
    }

    /// Until the resource's place in Azure is settled, a watch that shows none is not believed: a Secret that was applied
    /// along with the object must not be overlooked. Else the watch's word will do, and most passes are spared a request.
    async fn has_namespace_credential(&self, namespace: &str) -> Result<bool, KubernetesError> {
        let kubernetes = &self.reconciler.kubernetes;
        let shown = kubernetes.has_namespace_credential(namespace);
        let is_placed = claim::resource_id(&self.object).is_some();
        if let Some(has_one) = shown.filter(|has_one| *has_one || is_placed) {
            return Ok(has_one);
        }
        let name = names::NAMESPACE_CREDENTIAL;
        let read = kubernetes.read_data(DataKind::Secret, namespace, name);
        Ok(read.await?.is_some())
    }

    /// Step 15: one look at what is there. The status is taken over.
    pub(super) async fn get(&mut self) {
        self.findings.seen.look = match self.read().await {
            Ok(()) => Look::Answered,
            Err(failure) => Look::Failed(failure),
        };
    }

    async fn read(&mut self) -> Result<(), Failure> {
        let since = self.reconciler.clock.now();
        let read = self.ways.session.read(self.target()?).await;
        let reading = match read {
            Ok(reading) => reading,
            Err(refusal) => return Err(self.meaning(refusal).await),
        };
        self.findings.seen.answer = None;
        self.note_seen(reading.as_ref());
        let body = reading.as_ref().and_then(|reading| reading.body.as_ref());
        let lacks = body.and_then(|body| self.lacking_list(body));
        let list = lacks.as_ref().map(|lacks| Missing::List(lacks.path));
        self.note_absence(match reading {
            None => Some(Missing::Resource),
            Some(_) => list,
        });
        if let Some(lacks) = lacks {
            lacks.check(self.asks_twice())?;
        }
        if let Some(body) = body {
            self.forms.show(body).map_err(|error| unwritable(&error))?;
        }
        self.findings.seen.answer = reading;
        self.findings.seen.since = Some(since);
        Ok(())
    }

    /// The list of children that Azure's answer lacks although other objects may have made some: a PUT that repeats the answer would
    /// delete them.
    fn lacking_list(&self, body: &Value) -> Option<LackingList> {
        if !self.may_hold_children() {
            return None;
        }
        let lists = self.version().child_lists.iter();
        let is_there = |path: &&&[&str]| {
            let there = path.iter().try_fold(body, |value, name| value.get(name));
            there.is_some_and(Value::is_array)
        };
        let path = lists.filter(|path| !is_there(path)).copied().next()?;
        Some(LackingList {
            path,
            lacks_all: body
                .get(path[0])
                .is_none_or(|value| !value.is_object() && !value.is_array()),
        })
    }

    /// All that was in Azure when the question was sent is seen by its answer.
    fn note_seen(&self, reading: Option<&Reading>) {
        if let Some(at) = reading.and_then(|reading| reading.at) {
            let (key, now) = (self.object.key(), self.reconciler.clock.now());
            self.reconciler.written.read(&key, at, now);
        }
    }

    fn note_absence(&self, missing: Option<Missing>) {
        let reconciler = self.reconciler;
        match missing.filter(|_| self.may_hold_children()) {
            Some(missing) => {
                let now = reconciler.clock.now();
                reconciler.absences.note(&self.object, missing, now);
            }
            None => reconciler.absences.forget(&self.object.key()),
        }
    }

    /// Asks Azure for what has to be done before the PUT.
    pub(super) async fn prepare(
        &mut self,
        prerequisite: &Prerequisite,
    ) -> Result<Write, KubernetesError> {
        let event = normal(names::event::BEGIN_PUT, prerequisite.message.as_str());
        self.record(event).await;
        let (main, credential) = (&self.ways.main, self.findings.credential());
        let begun = main.prepare(credential, &prerequisite.url).await;
        let (begun, operation) = self.begun(begun).await;
        if let Some(operation) = operation {
            self.save_operation(&operation).await?;
        }
        Ok(begun)
    }

    /// What a write has come to, and the operation that follows where the remote works on.
    pub(super) async fn begun(&self, begun: Begun) -> (Write, Option<Operation>) {
        match begun {
            Begun::Done => (Write::Completed, None),
            Begun::Running { operation, after } => (Write::Running(after), Some(operation)),
            Begun::Overtaken(refusal) | Begun::Refused(refusal) | Begun::Unheard(refusal) => {
                (Write::Failed(self.meaning(refusal).await), None)
            }
        }
    }

    /// The operation's state goes into the annotations, so that a restart goes on with it, as soon as the object says anything.
    pub(super) async fn save_operation(
        &mut self,
        operation: &Operation,
    ) -> Result<(), KubernetesError> {
        if matches!(self.findings.writes.poll, Some(Poll::Running(_))) {
            self.book.follow_operation(operation);
        } else {
            let now = self.reconciler.clock.now();
            self.book.begin_operation(operation, now);
            if operation.verb == Verb::Write {
                let sent = self.sent().await?;
                self.book.note_record(&sent, self.generation);
            }
        }
        // Known to the next pass even where the API server does not take it now.
        self.defer();
        if self.may_defer(operation) {
            return Ok(());
        }
        self.write_notes_anyway().await
    }

    /// Asks for what the account lacks for this kind; that takes minutes, so the PUT is tried again later
    /// (ASO behaviour §1.7).
    pub(super) async fn enrol(&self) -> Result<(), Failure> {
        let account = self.findings.account();
        let enrolled = match self.target() {
            Ok(target) => self.ways.session.enrol(target, account).await,
            Err(failure) => Err(failure.into()),
        };
        let enrolled = match enrolled {
            Ok(()) => Ok(()),
            Err(refusal) => Err(self.meaning(refusal).await),
        };
        if let Err(failure) = &enrolled {
            tracing::warn!(
                reason = %failure.reason,
                message = %failure.message,
                "the provider could not be registered"
            );
        }
        enrolled
    }

    /// Step 14: one look.
    pub(super) async fn poll(&mut self) -> Result<(), KubernetesError> {
        let (Some(operation), Ok(target)) = (self.operation(), self.target()) else {
            self.findings.writes.poll = Some(Poll::Lost);
            return Ok(());
        };
        let progress = self.ways.session.follow(target, &operation).await;
        let (poll, moved) = self.look(&operation, progress).await?;
        if !matches!(poll, Poll::Running(_)) {
            // What was seen before the operation ended says nothing any more.
            self.findings.seen.expire();
        }
        self.findings.writes.poll = Some(poll);
        match moved {
            Some(moved) if moved != operation => self.save_operation(&moved).await,
            _ => Ok(()),
        }
    }

    /// What the look has come to, and the operation as it is to be followed next.
    async fn look(
        &mut self,
        operation: &Operation,
        progress: Progress,
    ) -> Result<(Poll, Option<Operation>), KubernetesError> {
        Ok(match progress {
            Progress::Running { operation, after } => (Poll::Running(after), Some(operation)),
            Progress::Unreported { after } => (Poll::Unreported(after), None),
            Progress::Doubtful(refusal) => {
                // The pass that sent the secrets was another one; this one must know them to cover them.
                self.resolve_inputs().await?;
                (Poll::Doubtful(self.meaning(refusal).await), None)
            }
            Progress::Unknown(failure) => (Poll::Unknown(failure), None),
            Progress::Succeeded if operation.verb == Verb::Prepare => (Poll::Prepared, None),
            Progress::Succeeded => (Poll::Succeeded, None),
            Progress::Failed(refusal) => {
                // As above.
                self.resolve_inputs().await?;
                let mut failure = self.meaning(refusal).await;
                failure.retry_after = Some(self.note_failed_operation(operation.verb));
                (Poll::Failed(failure), None)
            }
            Progress::Lost => (Poll::Lost, None),
        })
    }

    /// Deletion, item 3.
    pub(super) async fn delete(&mut self) -> Result<(), KubernetesError> {
        let (outcome, operation) = match self.points.deleter.clone() {
            None => self.send_delete().await,
            Some(deleter) => {
                let started = std::sync::Mutex::new(None);
                let next = Next::new(|()| async {
                    let (outcome, operation) = self.send_delete().await;
                    *started
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner) = operation;
                    Ok(outcome)
                });
                let outcome = deleter.delete(&self.context(), &self.current(), next).await;
                let outcome = match outcome {
                    Ok(outcome) => outcome,
                    Err(error) => Write::Failed(self.extension_failure(error).await),
                };
                let started = started.into_inner();
                (
                    outcome,
                    started.unwrap_or_else(std::sync::PoisonError::into_inner),
                )
            }
        };
        if self.ways.session.put_off().is_none() {
            self.record(normal(names::event::BEGIN_DELETE, "deleting in Azure"))
                .await;
        }
        self.findings.writes.delete = Some(outcome);
        match operation {
            Some(operation) => self.save_operation(&operation).await,
            None => {
                let has_one = self.book.has_operation();
                self.book.end_operation();
                match has_one {
                    true => self.write_notes().await,
                    false => Ok(()),
                }
            }
        }
    }

    async fn send_delete(&self) -> (Write, Option<Operation>) {
        let begun = match self.target() {
            Ok(target) => self.ways.session.remove(target).await,
            Err(failure) => Begun::Refused(failure.into()),
        };
        self.begun(begun).await
    }
}

/// An answer that gives no status.
pub(super) fn unwritable(error: &ConversionError) -> Failure {
    let message = format!("Azure's answer cannot be written as a status: {error}");
    Failure::warning(reason::FAILED, RetryClass::Slow, message)
}

/// The operator's own identity may be able to do more, or something else, than that of the namespace.
fn lost_credential(namespace: &str) -> Failure {
    let secret = names::NAMESPACE_CREDENTIAL;
    let message = format!(
        "the object was claimed with the credential of its namespace, and Secret {namespace}/{secret} is gone: create it \
         again, or name a Secret with {}; to go on with the operator's own credential, remove the annotation {}",
        names::CREDENTIAL_FROM,
        names::CLAIMED_WITH
    );
    Failure::warning(reason::CREDENTIAL_NOT_FOUND, RetryClass::Slow, message)
}

/// The namespace keeps its objects off the operator's own identity.
fn no_own_credential(namespace: &str) -> Failure {
    let message = format!(
        "there is no Azure credential: namespace {namespace} may not use the operator's own (its annotation {CREDENTIAL}); nothing is \
         sent. Create the Secret {} in the namespace, or name a Secret of it in the annotation {}",
        names::NAMESPACE_CREDENTIAL,
        names::CREDENTIAL_FROM
    );
    Failure::warning(reason::CREDENTIAL_NOT_FOUND, RetryClass::Slow, message)
}
