//! The PUT, and what goes along with it that others own.

use armature_azure::{Method, Operation, Transport};
use armature_shapes::id::ResourceId;
use serde_json::Value;

use super::azure::transport_failure;
use super::pass::Pass;
use crate::outcome::Write;
use crate::port::{EventNote, KubernetesError};

/// PUTs of one pass that are begun again because the resource changed after it was read.
const ATTEMPTS: usize = 3;

/// HTTP status for an etag that no longer holds (RFC 9110, section 13.1.1).
const PRECONDITION_FAILED: u16 = 412;

impl Pass<'_> {
    /// Step 13. Where Azure changed the resource since it was read, nothing was sent: the pass looks again.
    pub(super) async fn put(&mut self, event: EventNote) -> Result<(), KubernetesError> {
        let sent = match self.known_id() {
            Ok(id) => self.send_put(&id).await?,
            Err(failure) => Some((Write::Failed(failure), None)),
        };
        let Some((begun, operation)) = sent else {
            self.overtaken += 1;
            self.look_anew();
            return Ok(());
        };
        if self.gate.put_off().is_none() {
            self.record(event).await;
        }
        if let Some(operation) = operation {
            self.save_operation(&operation).await?;
        }
        self.note_unanswered_put().await?;
        if begun == Write::Completed {
            self.observed.resource = None;
        }
        self.observed.put = Some(begun);
        Ok(())
    }

    /// What became of the PUT; nothing where somebody changed the resource first.
    async fn send_put(
        &self,
        id: &ResourceId,
    ) -> Result<Option<(Write, Option<Operation>)>, KubernetesError> {
        let url = id.url(self.version.api_version);
        let body = self.with_children(self.body_to_send().await?);
        let mut request = self.request(Method::Put, url.clone(), Some(body));
        // A child that somebody added or removed meanwhile must not be undone.
        request.if_match = self.etag.clone().filter(|_| self.carries_children());
        let is_conditional = request.if_match.is_some();
        let response = match self.gate.send(request).await {
            Ok(response) => response,
            Err(error) => return Ok(Some((Write::Failed(transport_failure(&error)), None))),
        };
        let is_overtaken = is_conditional && response.status == PRECONDITION_FAILED;
        if is_overtaken && self.overtaken < ATTEMPTS {
            return Ok(None);
        }
        Ok(Some(self.begun(Method::Put, &url, &response).await))
    }

    /// Forgets what was found out from Azure's former answer.
    fn look_anew(&mut self) {
        let observed = &mut self.observed;
        observed.resource = None;
        observed.pre_check = None;
        observed.payload = None;
        observed.comparison = None;
        self.azure = None;
        self.etag = None;
    }

    /// Whether a PUT repeats what Azure has of children that are kinds of their own.
    pub(super) fn carries_children(&self) -> bool {
        self.children().next().is_some()
    }

    /// Where a body has children that are kinds of their own, and those that Azure has there.
    fn children(&self) -> impl Iterator<Item = (&'static [&'static str], &Value)> {
        let paths = self.version.child_lists.iter();
        let azure = self.azure.as_ref();
        paths.filter_map(move |path| {
            let there = azure?.pointer(&pointer(path))?;
            let is_empty = there.as_array().is_some_and(Vec::is_empty);
            (!is_empty && self.desired.pointer(&pointer(path)).is_none()).then_some((*path, there))
        })
    }

    /// A body with the children that Azure has and that are kinds of their own: ARM deletes what a PUT does
    /// not name.
    fn with_children(&self, mut body: Value) -> Value {
        for (path, children) in self.children() {
            insert(&mut body, path, children.clone());
        }
        body
    }
}

fn pointer(path: &[&str]) -> String {
    path.iter().map(|name| format!("/{name}")).collect()
}

/// Writes a value below the body, making the objects on the way.
fn insert(body: &mut Value, path: &[&str], value: Value) {
    let mut at = body;
    for name in path {
        if !at.is_object() {
            *at = Value::Object(serde_json::Map::new());
        }
        at = &mut at[*name];
    }
    *at = value;
}
