//! A remote that is no Azure: keys and values in memory. It shows all that a remote has to do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use armature_shapes::id::RemoteId;
use armature_shapes::kind::KindInfo;
use armature_shapes::resource::Object;
use async_trait::async_trait;
use serde_json::{Value, json};

use super::{Journal, lock};
use crate::backoff::RetryClass;
use crate::outcome::Failure;
use crate::remote::{
    Begun, Credential, CredentialRef, Operation, Progress, Provisioning, Reading, Refusal, Remote,
    Session, Target, Verb,
};
use crate::time::Clock;
use crate::urgency::Urgency;

/// The name that kinds have for it.
pub const KEY_VALUE: &str = "key-value";

/// When it asks to look again.
const AFTER: Duration = Duration::from_secs(3);

/// Keeps values under keys. Each write and removal takes as many looks as it is told.
#[derive(Clone)]
pub struct KeyValue {
    journal: Journal,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    values: BTreeMap<String, Value>,
    looks: usize,
    /// What is worked on, and for how many looks more.
    work: BTreeMap<String, (Verb, Value, usize)>,
    refuses: bool,
}

impl KeyValue {
    /// One without a value.
    pub fn new(journal: Journal) -> Self {
        Self {
            journal,
            state: Arc::default(),
        }
    }

    /// From now on a write ends with the look of this number; at once with none.
    pub fn take_looks(&self, looks: usize) {
        lock(&self.state).looks = looks;
    }

    /// From now on writes are refused, or no longer.
    pub fn refuse(&self, refuses: bool) {
        lock(&self.state).refuses = refuses;
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<Value> {
        lock(&self.state).values.get(key).cloned()
    }

    /// Sets it behind everybody's back.
    pub fn set(&self, key: &str, value: Value) {
        lock(&self.state).values.insert(key.to_owned(), value);
    }

    fn note(&self, verb: &str, target: Target<'_>) {
        self.journal.note(format!("{verb} {}", target.id));
    }

    fn begin(&self, verb: Verb, target: Target<'_>, body: Value) -> Begun {
        let key = target.id.to_string();
        let mut state = lock(&self.state);
        if state.refuses {
            let failure = Failure::warning("Full", RetryClass::Slow, "there is no room");
            return Begun::Refused(failure.into());
        }
        if state.looks == 0 {
            state.end(verb, &key, body);
            return Begun::Done;
        }
        let looks = state.looks;
        state.work.insert(key.clone(), (verb, body, looks));
        let after = Some(AFTER);
        let operation = operation(verb, &key);
        Begun::Running { operation, after }
    }
}

impl State {
    fn end(&mut self, verb: Verb, key: &str, mut body: Value) {
        if verb == Verb::Remove {
            self.values.remove(key);
            return;
        }
        body["properties"]["endpoint"] = json!(format!("at {key}"));
        self.values.insert(key.to_owned(), body);
    }
}

fn operation(verb: Verb, key: &str) -> Operation {
    Operation {
        verb,
        is_reported: true,
        id: format!("{verb:?}"),
        token: key.to_owned(),
    }
}

impl Remote for KeyValue {
    fn open(&self, _: &Object, _: Urgency, _: &Arc<dyn Clock>) -> Arc<dyn Session> {
        Arc::new(self.clone())
    }
}

#[async_trait]
impl Session for KeyValue {
    async fn sign_in(&self, _: &CredentialRef) -> Result<Credential, Failure> {
        let subscription = "team".to_owned();
        Ok(Credential { subscription })
    }

    fn identify(
        &self,
        _: &'static KindInfo,
        owner: Option<&RemoteId>,
        account: &str,
        name: &str,
    ) -> Result<RemoteId, String> {
        if name.contains(' ') {
            return Err(format!("spec.azureName: '{name}' must not have spaces"));
        }
        let above = owner.map_or(account, RemoteId::as_str);
        Ok(RemoteId::Other {
            remote: KEY_VALUE,
            id: format!("{above}/{name}"),
        })
    }

    async fn read(&self, target: Target<'_>) -> Result<Option<Reading>, Refusal> {
        self.note("read", target);
        let value = self.get(target.id.as_str());
        Ok(value.map(|value| Reading {
            at: None,
            provisioning: Provisioning::Settled,
            body: Some(value),
            etag: None,
        }))
    }

    async fn write(&self, target: Target<'_>, body: Value, _: Option<String>) -> Begun {
        self.note("write", target);
        self.begin(Verb::Write, target, body)
    }

    async fn remove(&self, target: Target<'_>) -> Begun {
        self.note("remove", target);
        self.begin(Verb::Remove, target, Value::Null)
    }

    async fn follow(&self, target: Target<'_>, followed: &Operation) -> Progress {
        self.note("follow", target);
        let mut state = lock(&self.state);
        let Some((verb, body, looks)) = state.work.remove(&followed.token) else {
            return Progress::Lost;
        };
        if looks > 1 {
            let work = (verb, body, looks - 1);
            state.work.insert(followed.token.clone(), work);
            return Progress::Running {
                operation: followed.clone(),
                after: Some(AFTER),
            };
        }
        state.end(verb, &followed.token, body);
        Progress::Succeeded
    }

    fn resume(&self, id: &str, token: &str) -> Option<Operation> {
        let mut verbs = [Verb::Write, Verb::Remove].into_iter();
        let verb = verbs.find(|verb| format!("{verb:?}") == id)?;
        Some(operation(verb, token))
    }
}
