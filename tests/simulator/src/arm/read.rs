//! GET, HEAD and lists.

use http::Method;
use serde_json::{Value, json};

use crate::error::ArmError;
use crate::exchange::Answer;
use crate::id::ResourceId;
use crate::operation::Style;
use crate::schema;
use crate::state::{Call, Handled, State};
use crate::store::Resource;

impl State {
    pub(super) fn get(&mut self, call: &Call<'_>, id: &ResourceId) -> Handled {
        self.found(call, id, Method::GET)
    }

    /// What a GET or HEAD finds.
    fn found(&mut self, call: &Call<'_>, id: &ResourceId, method: Method) -> Handled {
        let api_version = call.request.api_version()?;
        if id.is_subscription() {
            return self.subscription(id.name());
        }
        let arm_type = id.arm_type();
        // What a provider makes itself can be read, though no kind describes it.
        if self.catalog.get(&arm_type).is_none()
            && let Some(made) = self.store.visible(id)
        {
            return Ok(resource_answer(200, made));
        }
        let (entry, version) = self.catalog.find_to_read(&arm_type, api_version)?;
        let is_offered = match method {
            Method::HEAD => version.verbs.head || version.verbs.get,
            _ => version.verbs.get,
        };
        if !is_offered {
            return Err(ArmError::method_not_allowed(method.as_str(), entry.name));
        }
        self.check_ancestors(id, "read")?;
        let answer = |resource: &Resource| {
            let mut answer = resource_answer(200, resource);
            let body = answer.body.take();
            answer.body = body.map(|body| schema::shown(version, entry.versions(), &body));
            answer
        };
        let not_found = || match id.is_group() {
            true => ArmError::group_not_found(id.name()),
            false => ArmError::resource_not_found(&self.spell(id)),
        };
        if let Some(before) = self.store.before(id).filter(|_| call.effect.stale) {
            return before.map_or_else(|| Err(not_found()), |old| Ok(answer(old)));
        }
        let Some(resource) = self.store.visible(id) else {
            let mut built_in = self.behaviours.built_in(&arm_type).into_iter();
            let found = built_in.find(|body| is_named(body, id.name()));
            return found.map_or_else(|| Err(not_found()), |body| Ok(Answer::json(200, body)));
        };
        let answer = answer(resource);
        let operation = resource.operation.clone();
        self.count_resource_poll(operation.as_deref());
        Ok(answer)
    }

    /// In the style where the client polls the resource, reading it is a poll.
    fn count_resource_poll(&mut self, operation: Option<&str>) {
        if let Some(operation) = operation.and_then(|name| self.operations.get_mut(name))
            && operation.style == Style::ProvisioningState
        {
            operation.polls_left = operation.polls_left.saturating_sub(1);
        }
    }

    pub(super) fn head(&mut self, call: &Call<'_>, id: &ResourceId) -> Handled {
        // An answer to HEAD has no body; the status says it.
        Ok(match self.found(call, id, Method::HEAD) {
            Ok(_) => Answer::empty(204),
            Err(error) => Answer::empty(error.status),
        })
    }

    pub(super) fn list(
        &self,
        call: &Call<'_>,
        parent: Option<&ResourceId>,
        arm_type: &str,
    ) -> Handled {
        let api_version = call.request.api_version()?;
        if arm_type.eq_ignore_ascii_case("Microsoft.Resources/subscriptions") {
            let all = self.settings.subscriptions.iter();
            let values = all.map(|name| self.subscription_body(name)).collect();
            return Ok(Answer::json(200, json!({"value": Value::Array(values)})));
        }
        self.catalog
            .find(arm_type, api_version)?
            .version(api_version)?;
        if let Some(parent) = parent {
            self.check_ancestors(&parent.child("any", "any"), "read")?;
        }
        let members = self.store.all().filter(|resource| {
            resource.visible
                && resource.id.arm_type().eq_ignore_ascii_case(arm_type)
                && parent.is_none_or(|parent| is_below(&resource.id, parent))
        });
        let built_in = self.behaviours.built_in(arm_type).into_iter();
        let members = members.map(|member| member.body.clone());
        Ok(self.page(call, built_in.chain(members).collect()))
    }

    /// One page of a list, with a link to the next.
    pub(super) fn page(&self, call: &Call<'_>, items: Vec<Value>) -> Answer {
        let start = call
            .request
            .parameter("$skiptoken")
            .and_then(|token| token.parse::<usize>().ok())
            .unwrap_or(0);
        let size = call
            .request
            .parameter("$top")
            .and_then(|top| top.parse::<usize>().ok())
            .map_or(self.settings.page_size, |top| {
                top.min(self.settings.page_size)
            })
            .max(1);
        let total = items.len();
        let page: Vec<Value> = items.into_iter().skip(start).take(size).collect();
        let end = start + page.len();
        let mut body = json!({ "value": page });
        if end < total {
            let version = call.request.parameter("api-version").unwrap_or_default();
            body["nextLink"] = json!(format!(
                "{}{}?api-version={version}&$skiptoken={end}",
                call.request.origin, call.request.path
            ));
        }
        Answer::json(200, body)
    }
}

fn is_named(body: &Value, name: &str) -> bool {
    let found = body.get("name").and_then(Value::as_str);
    found.is_some_and(|found| found.eq_ignore_ascii_case(name))
}

fn is_below(id: &ResourceId, parent: &ResourceId) -> bool {
    id.key().starts_with(&format!("{}/", parent.key()))
}

/// The answer that shows a resource.
pub(super) fn resource_answer(status: u16, resource: &Resource) -> Answer {
    let etag = resource.body.get("etag").and_then(Value::as_str);
    Answer::json(status, resource.body.clone()).with_some("etag", etag)
}
