//! PUT and PATCH.

use armature_runtime::kind::{NameRule, VersionInfo};
use armature_runtime::shape::Rules;
use serde_json::{Map, Value, json};

use super::read::resource_answer;
use crate::behaviour::Scene;
use crate::error::ArmError;
use crate::exchange::Answer;
use crate::id::ResourceId;
use crate::json;
use crate::operation::{Operation, OperationRule, Style, Verb};
use crate::schema::{self, Mode};
use crate::state::{Call, Handled, State};
use crate::store::Resource;

/// A write that has passed every check and is about to be stored.
struct Write {
    id: ResourceId,
    version: &'static VersionInfo,
    verb: Verb,
    rule: OperationRule,
    style: Style,
    previous: Option<Resource>,
}

impl State {
    pub(super) fn put(&mut self, call: &Call<'_>, id: &ResourceId) -> Handled {
        let version = self.admitted(call, id, "write")?;
        if !version.verbs.put {
            return Err(ArmError::method_not_allowed("PUT", &id.arm_type()));
        }
        self.check_name(id)?;
        let Some(body) = call.request.json()? else {
            return Err(ArmError::gateway(
                400,
                "MissingRequestBody",
                "The request body is required and is missing.",
            ));
        };
        let rule = self.write_rule(id);
        let by_spec = match version.verbs.put_long_running {
            true => Style::AsyncOperation,
            false => Style::Immediate,
        };
        let style = rule.put.unwrap_or(by_spec);
        self.apply(call, id, version, body, (rule, style))
    }

    pub(super) fn patch(&mut self, call: &Call<'_>, id: &ResourceId) -> Handled {
        let version = self.admitted(call, id, "write")?;
        if !version.verbs.patch {
            return Err(ArmError::method_not_allowed("PATCH", &id.arm_type()));
        }
        let Some(existing) = self.store.visible(id) else {
            return Err(ArmError::resource_not_found(&self.spell(id)));
        };
        let patch = call.request.json()?.unwrap_or_else(|| json!({}));
        let problems = schema::check(version, &patch, Mode::Part);
        if !problems.is_empty() {
            return Err(schema::refusal(&problems));
        }
        let mut whole = self.with_children(id, version, existing.desired.clone());
        json::merge_patch(&mut whole, &patch);
        let rule = self.write_rule(id);
        let style = rule.patch.unwrap_or(Style::Immediate);
        self.apply(call, id, version, whole, (rule, style))
    }

    /// The checks that PUT, PATCH and DELETE share; returns the api-version's descriptor.
    pub(super) fn admitted(
        &self,
        call: &Call<'_>,
        id: &ResourceId,
        action: &str,
    ) -> Result<&'static VersionInfo, ArmError> {
        let api_version = call.request.api_version()?;
        let arm_type = id.arm_type();
        let version = self
            .catalog
            .find(&arm_type, api_version)?
            .version(api_version)?;
        self.check_ancestors(id, action)?;
        self.check_condition(call, id)?;
        self.check_idle(call, id)?;
        Ok(version)
    }

    /// `If-Match` and `If-None-Match`.
    fn check_condition(&self, call: &Call<'_>, id: &ResourceId) -> Result<(), ArmError> {
        let etag = self.store.visible(id).map(Resource::etag);
        let etag = etag.as_deref();
        if let Some(wanted) = call.request.header("if-match")
            && (etag.is_none() || (wanted != "*" && etag != Some(wanted)))
        {
            return Err(ArmError::precondition_failed(
                &format!("If-Match: {wanted}"),
                etag,
            ));
        }
        if let Some(unwanted) = call.request.header("if-none-match")
            && (etag == Some(unwanted) || (unwanted == "*" && etag.is_some()))
        {
            return Err(ArmError::precondition_failed(
                &format!("If-None-Match: {unwanted}"),
                etag,
            ));
        }
        Ok(())
    }

    /// The operation that runs on a resource.
    fn running(&self, id: &ResourceId) -> Option<&Operation> {
        let name = self.store.get(id)?.operation.as_ref()?;
        self.operations.get(name).filter(|found| found.is_running())
    }

    /// Refuses a write while an operation runs that the resource's provider does not let it run beside.
    fn check_others(&self, call: &Call<'_>, id: &ResourceId) -> Result<(), ArmError> {
        let arm_type = id.arm_type();
        let mut behaviours = self.behaviours.of(&arm_type);
        let other = behaviours.find_map(|behaviour| behaviour.waits_for(&self.store, id));
        match other.and_then(|other| self.running(&other)) {
            Some(operation) => Err(ArmError::operation_in_progress(&operation.url(call))),
            None => Ok(()),
        }
    }

    /// Refuses a write while an operation on the resource, or the deletion of its group, runs.
    pub(super) fn check_idle(&self, call: &Call<'_>, id: &ResourceId) -> Result<(), ArmError> {
        if let Some(operation) = self.running(id) {
            if id.is_group() && operation.verb == Verb::Delete {
                return Err(ArmError::group_being_deleted(id.name()));
            }
            return Err(ArmError::operation_in_progress(&operation.url(call)));
        }
        let mut above = id.parent();
        while let Some(ancestor) = above {
            if ancestor.is_group()
                && self
                    .running(&ancestor)
                    .is_some_and(|found| found.verb == Verb::Delete)
            {
                return Err(ArmError::group_being_deleted(ancestor.name()));
            }
            above = ancestor.parent();
        }
        Ok(())
    }

    fn check_name(&self, id: &ResourceId) -> Result<(), ArmError> {
        let Some(entry) = self.catalog.get(&id.arm_type()) else {
            return Ok(());
        };
        let name = id.name();
        let allowed = match entry.kind.name {
            NameRule::Free(rules) | NameRule::Uuid { rules, .. } => name_fits(rules, name),
            NameRule::Fixed(fixed) => fixed.eq_ignore_ascii_case(name),
            NameRule::OneOf(names) => names.iter().any(|known| known.eq_ignore_ascii_case(name)),
        };
        if allowed {
            return Ok(());
        }
        Err(ArmError::new(
            400,
            "InvalidResourceName",
            format!(
                "Resource name '{name}' is invalid for '{}': {}.",
                entry.name,
                name_rule(&entry.kind.name)
            ),
        ))
    }

    /// How writes to a resource run: as settings say, else as its provider does.
    fn write_rule(&self, id: &ResourceId) -> OperationRule {
        let arm_type = id.arm_type();
        let mut rule = self.settings.operation_rule(&arm_type);
        for behaviour in self.behaviours.of(&arm_type) {
            rule = rule.or(&behaviour.operations());
        }
        rule
    }

    fn apply(
        &mut self,
        call: &Call<'_>,
        id: &ResourceId,
        version: &'static VersionInfo,
        mut body: Value,
        (rule, style): (OperationRule, Style),
    ) -> Handled {
        let problems = schema::check(version, &body, Mode::Whole);
        if !problems.is_empty() {
            return Err(schema::refusal(&problems));
        }
        self.check_others(call, id)?;
        let previous = self.store.get(id).cloned();
        if let Some(previous) = previous
            .as_ref()
            .filter(|_| self.settings.keeps(&id.arm_type()))
        {
            let mut whole = previous.desired.clone();
            json::merge_patch(&mut whole, &body);
            body = whole;
        }
        json::drop_nulls(&mut body);
        check_location(id, previous.as_ref(), &body)?;
        let write = Write {
            id: self.spell(id),
            version,
            verb: match previous {
                Some(_) => Verb::Update,
                None => Verb::Create,
            },
            style,
            rule,
            previous,
        };
        let stored = self.compose(call, &write, &body)?;
        Ok(self.commit(call, write, stored))
    }

    /// The resource as it will be stored, or a behaviour's refusal.
    fn compose(&self, call: &Call<'_>, write: &Write, body: &Value) -> Result<Resource, ArmError> {
        let arm_type = write.id.arm_type();
        let scene = Scene {
            store: &self.store,
            settings: &self.settings,
            now: call.now,
            id: &write.id,
            version: write.version,
            verb: write.verb,
            long_running: write.style != Style::Immediate,
        };
        for behaviour in self.behaviours.of(&arm_type) {
            behaviour.admit(&scene, body)?;
        }
        let desired = schema::writable(write.version, body);
        let mut shown = envelope(&write.id, &arm_type_name(self, &arm_type));
        let members = json::object(&mut shown);
        if let Value::Object(sent) = schema::returned(write.version, &desired) {
            for (name, value) in sent {
                members.entry(name).or_insert(value);
            }
        }
        let old = write.previous.as_ref().map(|previous| &previous.body);
        if let Some(old) = old {
            schema::carry_read_only(write.version, old, &mut shown);
        }
        for behaviour in self.behaviours.of(&arm_type) {
            behaviour.stored(&scene, old, &mut shown);
        }
        let revision = write.previous.as_ref().map_or(0, |old| old.revision) + 1;
        let mut resource = Resource {
            id: write.id.clone(),
            api_version: write.version.api_version.to_owned(),
            body: shown,
            desired,
            visible: true,
            revision,
            operation: None,
        };
        if schema::has_status_path(write.version, &["etag"]) {
            resource.body["etag"] = json!(resource.etag());
        }
        Ok(resource)
    }

    /// Stores the resource, starts its operation and answers.
    fn commit(&mut self, call: &Call<'_>, write: Write, mut resource: Resource) -> Answer {
        let is_new = write.previous.as_ref().is_none_or(|old| !old.visible);
        let status = if is_new { 201 } else { 200 };
        let hidden = matches!(write.style, Style::Location | Style::Both);
        resource.visible = !(hidden && is_new);
        let id = resource.id.clone();
        self.store.remember(&id);
        self.store.insert(resource);
        for behaviour in self.behaviours.of(&id.arm_type()) {
            behaviour.written(&mut self.store, &id);
        }
        self.sync_children(call, &id, write.version);
        if write.verb == Verb::Create {
            self.add_implicit_children(call, &id);
        }
        self.refresh_parent(&id);
        let headers = match write.style {
            Style::Immediate => Vec::new(),
            style => {
                let before = write.previous.map(|old| (old.body, old.desired));
                let operation =
                    self.start_operation(call, &id, write.verb, style, &write.rule, before);
                operation.announce(call)
            }
        };
        let mut answer = match (hidden, self.store.get(&id)) {
            (false, Some(stored)) => resource_answer(status, stored),
            _ => Answer::empty(202),
        };
        answer.headers.extend(headers);
        answer
    }

    fn add_implicit_children(&mut self, call: &Call<'_>, parent: &ResourceId) {
        let arm_type = parent.arm_type();
        let children: Vec<(&str, &str)> = self
            .behaviours
            .of(&arm_type)
            .flat_map(|behaviour| behaviour.implicit_children())
            .copied()
            .collect();
        for (segment, name) in children {
            let id = self.spell(&parent.child(segment, name));
            let newest = self
                .catalog
                .get(&id.arm_type())
                .and_then(|entry| entry.newest());
            if let Some(version) = newest {
                self.put_quietly(call, &id, version, &json!({}));
            }
        }
    }

    /// Stores a resource that came into being with another one, without an operation of its own.
    pub(super) fn put_quietly(
        &mut self,
        call: &Call<'_>,
        id: &ResourceId,
        version: &'static VersionInfo,
        body: &Value,
    ) {
        let previous = self.store.get(id).cloned();
        let write = Write {
            id: self.spell(id),
            version,
            verb: match previous {
                Some(_) => Verb::Update,
                None => Verb::Create,
            },
            rule: OperationRule::default(),
            style: Style::Immediate,
            previous,
        };
        // A behaviour that refuses the child leaves the parent as it is.
        if let Ok(resource) = self.compose(call, &write, body) {
            self.store.insert(resource);
        }
    }
}

fn arm_type_name(state: &State, arm_type: &str) -> String {
    state
        .catalog
        .get(arm_type)
        .map_or_else(|| arm_type.to_owned(), |entry| entry.name.to_owned())
}

fn envelope(id: &ResourceId, arm_type: &str) -> Value {
    let mut members = Map::new();
    members.insert("id".to_owned(), json!(id.to_string()));
    members.insert("name".to_owned(), json!(id.name()));
    members.insert("type".to_owned(), json!(arm_type));
    Value::Object(members)
}

fn check_location(
    id: &ResourceId,
    previous: Option<&Resource>,
    body: &Value,
) -> Result<(), ArmError> {
    let squeeze = |text: &str| text.to_ascii_lowercase().replace(' ', "");
    let old = previous.and_then(|resource| json::text(&resource.body, &["location"]));
    let new = json::text(body, &["location"]);
    let (Some(old), Some(new)) = (old, new) else {
        return Ok(());
    };
    if squeeze(old) == squeeze(new) {
        return Ok(());
    }
    let (code, what) = match id.is_group() {
        true => ("InvalidResourceGroupLocation", "resource group"),
        false => ("InvalidResourceLocation", "resource"),
    };
    Err(ArmError::gateway(
        409,
        code,
        format!(
            "The {what} '{}' already exists in location '{old}'. A {what} with the same name cannot be \
             created in location '{new}'. Please select a new name.",
            id.name()
        ),
    ))
}

fn name_fits(rules: &Rules, name: &str) -> bool {
    let length = name.chars().count() as u64;
    // Some specs have patterns with look-around, which this engine does not know: they decide nothing.
    let matches = |pattern| regex::Regex::new(pattern).map_or(true, |found| found.is_match(name));
    rules.min_length.is_none_or(|least| length >= least)
        && rules.max_length.is_none_or(|most| length <= most)
        && rules.pattern.is_none_or(matches)
}

fn name_rule(rule: &NameRule) -> String {
    match rule {
        NameRule::Fixed(name) => format!("it must be '{name}'"),
        NameRule::OneOf(names) => format!("it must be one of {}", names.join(", ")),
        NameRule::Free(rules) | NameRule::Uuid { rules, .. } => format!(
            "between {} and {} characters{}",
            rules.min_length.unwrap_or(1),
            rules.max_length.unwrap_or(260),
            rules
                .pattern
                .map(|pattern| format!(", matching {pattern}"))
                .unwrap_or_default()
        ),
    }
}
