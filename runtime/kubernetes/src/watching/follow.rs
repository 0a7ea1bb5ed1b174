//! One watch of the API server, interrupted and begun again until it is told to stop.
//!
//! What does not live here: what is watched, and what a change means ([`crate::watching::watch`]).

use std::fmt::Debug;
use std::pin::pin;

use futures::StreamExt;
use kube::api::Api;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{Config, DefaultBackoff, Error, Event, watcher};
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::client::clients::WatchClient;
use crate::cluster::in_step::{InStep, WatchName};
use crate::error::message;
use crate::stored::item::{Item, Unreadable};

/// What a watch tells.
pub(super) enum ItemEvent<K> {
    /// What kube's watcher tells of objects that can be read.
    Event(Event<K>),
    /// An object that cannot be read has come, changed, or gone.
    Unreadable {
        /// What can be read of it.
        one: Box<Unreadable>,
        /// It is gone.
        is_gone: bool,
    },
    /// The API server was reached, and refuses: for this reason.
    Refused(String),
    /// A first list failed otherwise, for this reason, and not because the API server has too much to do. It is tried again.
    Failed(String),
}

impl<K> ItemEvent<K> {
    fn of(event: Event<Item<K>>) -> Result<Event<K>, (Box<Unreadable>, bool)> {
        let object = |item, is_gone| match item {
            Item::Read(object) => Ok(object),
            Item::Unreadable(one) => Err((one, is_gone)),
        };
        Ok(match event {
            Event::Init => Event::Init,
            Event::InitDone => Event::InitDone,
            Event::InitApply(item) => Event::InitApply(object(item, false)?),
            Event::Apply(item) => Event::Apply(object(item, false)?),
            Event::Delete(item) => Event::Delete(object(item, true)?),
        })
    }
}

/// For watches to which neither an object that cannot be read nor a refusal says anything.
pub(super) fn readable<K>(mut on_event: impl FnMut(Event<K>)) -> impl FnMut(ItemEvent<K>) {
    move |item| {
        if let ItemEvent::Event(event) = item {
            on_event(event);
        }
    }
}

/// What is watched, and by what it is limited.
#[derive(Clone, Copy)]
pub(super) struct Watched<'a> {
    /// Kind of the objects.
    pub what: &'a str,
    /// The namespace, where it is only one.
    pub namespace: Option<&'a str>,
    /// Which watches are in step.
    pub in_step: &'a InStep,
    /// Its place on a connection.
    pub place: &'a WatchClient,
    /// Lists that may run at the same time.
    pub lists: Option<&'a Semaphore>,
}

impl<'a> Watched<'a> {
    /// All objects of a kind, without a limit of lists.
    pub fn all(what: &'a str, in_step: &'a InStep, place: &'a WatchClient) -> Self {
        Self {
            what,
            namespace: None,
            in_step,
            place,
            lists: None,
        }
    }

    fn name(&self) -> WatchName {
        WatchName {
            kind: self.what.to_owned(),
            namespace: self.namespace.map(str::to_owned),
        }
    }
}

/// Hands everything that a watch tells to `on_item` until told to stop. Interruptions are retried with backoff; a list has its
/// place among the others while it runs, and gives it back while it waits for its next try.
pub(super) async fn follow<K>(
    watched: Watched<'_>,
    api: impl FnOnce(kube::Client) -> Api<Item<K>>,
    config: Config,
    stop: &CancellationToken,
    on_item: impl FnMut(ItemEvent<K>),
) where
    K: kube::Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let api = api(watched.place.client().clone());
    stop.run_until_cancelled(tell(watched, api, config, on_item))
        .await;
}

async fn tell<K>(
    watched: Watched<'_>,
    api: Api<Item<K>>,
    config: Config,
    mut on_item: impl FnMut(ItemEvent<K>),
) where
    K: kube::Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let (in_step, name) = (watched.in_step, watched.name());
    let mut events = pin!(watcher(api, config));
    let mut backoff = DefaultBackoff::default();
    let mut permit: Option<SemaphorePermit<'_>> = None;
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                permit = None;
                interrupted(&watched, &name, &error);
                if let Error::InitialListFailed(error) = &error {
                    let why = message(error);
                    if is_refusal(error) {
                        on_item(ItemEvent::Refused(why));
                    } else if !is_busy(error) {
                        on_item(ItemEvent::Failed(why));
                    }
                }
                let wait = backoff.next().unwrap_or_default();
                tokio::time::sleep(wait).await;
                continue;
            }
        };
        // That a list begins says nothing yet: it may fail each time.
        match &event {
            Event::Init => {
                // Nobody waits for a place while he has one.
                drop(permit.take());
                permit = place(watched.lists).await;
            }
            Event::InitApply(_) => {}
            _ => {
                backoff.reset();
                in_step.told(&name);
            }
        }
        if matches!(event, Event::InitDone) {
            permit = None;
        }
        match ItemEvent::of(event) {
            Ok(event) => on_item(ItemEvent::Event(event)),
            Err((one, is_gone)) => {
                in_step.unreadable(watched.what);
                let (namespace, name) = (&one.metadata.namespace, &one.metadata.name);
                let (what, why) = (watched.what, &one.why);
                tracing::warn!(what, ?namespace, ?name, why, "an object cannot be read");
                on_item(ItemEvent::Unreadable { one, is_gone });
            }
        }
    }
    drop(permit);
}

/// A place among the lists that may run.
async fn place(lists: Option<&Semaphore>) -> Option<SemaphorePermit<'_>> {
    // It is never closed.
    lists?.acquire().await.ok()
}

fn interrupted(watched: &Watched<'_>, name: &WatchName, error: &Error) {
    tracing::debug!(what = %name, %error, "a watch was interrupted");
    if let Some(lasts) = watched.in_step.failed(name, Instant::now()) {
        let seconds = lasts.as_secs();
        tracing::warn!(
            what = %name,
            seconds,
            %error,
            "a watch is interrupted, and changes are missed"
        );
    }
}

/// Whether the API server will go on to refuse a list: it knows no such thing, or this operator may not read it.
fn is_refusal(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if matches!(status.code, 401 | 403 | 404))
}

/// Whether the API server has too much to do, which says nothing of the list.
fn is_busy(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 429)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::stored::item::MetadataOf;
    use crate::testing::mock;

    /// Lists that fail are tried again for ever; meanwhile others run in their places.
    #[tokio::test(start_paused = true)]
    async fn a_list_that_waits_for_its_next_try_holds_no_place() {
        let client = mock::client(|request| {
            if request.uri().path().contains("/refused/") {
                return mock::failure(403, "forbidden");
            }
            let list =
                r#"{"apiVersion":"v1","kind":"L","metadata":{"resourceVersion":"1"},"items":[]}"#;
            (200, list.to_owned())
        });
        let (place, in_step, stop) = (client.into(), InStep::default(), CancellationToken::new());
        let lists = Semaphore::new(1);
        let watched = Watched {
            lists: Some(&lists),
            ..Watched::all("ConfigMap", &in_step, &place)
        };
        let told = |namespace: &'static str,
                    on_item: Box<dyn FnMut(ItemEvent<MetadataOf<ConfigMap>>)>| {
            let api =
                move |client| Api::<Item<MetadataOf<ConfigMap>>>::namespaced(client, namespace);
            follow(watched, api, Config::default(), &stop, on_item)
        };
        let refused = told("refused", Box::new(|_| ()));
        let done = CancellationToken::new();
        let is_done = done.clone();
        let listed = told(
            "listed",
            Box::new(move |item| {
                if matches!(item, ItemEvent::Event(Event::InitDone)) {
                    is_done.cancel();
                }
            }),
        );
        let began = Instant::now();
        tokio::select! {
            biased;
            () = refused => panic!("it ended"),
            () = listed => panic!("it ended"),
            () = done.cancelled() => {}
        }
        assert!(
            began.elapsed() < Duration::from_millis(100),
            "{:?}",
            began.elapsed()
        );
    }

    fn failed(code: u16) -> kube::Error {
        let status = kube::core::Status::failure("no", "Reason").with_code(code);
        kube::Error::Api(status.boxed())
    }

    #[test]
    fn a_server_that_is_busy_or_away_does_not_refuse() {
        for (code, refuses, busy) in [
            (403, true, false),
            (404, true, false),
            (429, false, true),
            (500, false, false),
            (503, false, false),
        ] {
            let error = failed(code);
            assert_eq!(
                (is_refusal(&error), is_busy(&error)),
                (refuses, busy),
                "{code}"
            );
        }
    }
}
