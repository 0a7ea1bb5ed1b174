//! `armature status`: what runs in a cluster, once or for as long as somebody looks (see [`crate::relations`]).

use std::io::IsTerminal;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use armature_runtime::kubernetes::{Clients, StoredObject};
use armature_runtime::reconcile::plain::plain;
use armature_runtime::resource::Kind;
use clap::Args;
use console::Term;
use futures::stream::{SelectAll, Stream};
use futures::{StreamExt, stream};
use kube::runtime::watcher::{self, Event};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout_at};

use super::cluster::ClusterArguments;
use super::form::Form;
use super::output;
use super::relations::{Place, code, run};
use crate::colour::Colour;
use crate::relations::followed::{Followed, changes};
use crate::relations::screen::{self, Room};
use crate::relations::{Node, text};
use crate::worlds::applied::Live;

/// How long changes are gathered before they are shown: at most some times a second.
const GATHER: Duration = Duration::from_millis(300);

/// How often --watch looks for kinds that were installed in the meantime.
const NEW_KINDS: Duration = Duration::from_secs(60);

/// Clears a terminal and goes to its top.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

/// Arguments of `armature status`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  armature status                        All objects of all namespaces
  armature status -n shop --watch        One namespace, as it changes, until Ctrl-C

The exit code is 1 when an object is not ready, or not all objects could be read.")]
pub struct StatusArguments {
    /// Go on and show what changes: the table again on a terminal, else a line for each change.
    #[arg(short, long)]
    watch: bool,

    /// Form of the output.
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    output: Form,

    #[command(flatten)]
    way: ClusterArguments,
}

impl StatusArguments {
    /// Prints a table of all objects.
    ///
    /// # Errors
    /// When the cluster cannot be read.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.watch {
            true => run(self.follow()),
            false => run(self.show()),
        }
    }

    async fn show(&self) -> anyhow::Result<ExitCode> {
        let place = Place::find(&self.way).await?;
        let (relations, problems) = place.relations_and_problems().await?;
        let nodes = relations.objects();
        output::print(&self.output.of(&nodes, || whole(&nodes))?)?;
        Ok(code(
            problems == 0 && nodes.iter().all(|node| node.is_fine()),
        ))
    }

    /// Shows what there is, and then what changes, for as long as somebody reads it.
    async fn follow(&self) -> anyhow::Result<ExitCode> {
        let config = self.way.config().await?;
        let client = self.way.connect(config.clone())?;
        let namespace = self.way.namespace().map(str::to_owned);
        let live = Live::new(client, namespace);
        let all = armature_generated::KINDS;
        let mut watches = Watches {
            clients: Clients::connect(&config, all.len())?,
            kinds: Vec::new(),
            events: SelectAll::new(),
        };
        watches.add(&live, live.installed(all).await?);
        let mut screen = Screen {
            form: self.output,
            is_drawn: std::io::stdout().is_terminal(),
            before: None,
            problems: Vec::new(),
        };
        let mut followed = Followed::default();
        let mut new_kinds = interval_at(Instant::now() + NEW_KINDS, NEW_KINDS);
        new_kinds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                Some((kind, told)) = watches.events.next() => followed.take(kind, told),
                _ = new_kinds.tick() => {
                    // Where they cannot be seen now, they are the next time.
                    let kinds = live.installed(all).await.unwrap_or_default();
                    watches.add(&live, kinds);
                }
            }
            let until = Instant::now() + GATHER;
            while let Ok(Some((kind, told))) = timeout_at(until, watches.events.next()).await {
                followed.take(kind, told);
            }
            if followed.is_complete(watches.kinds.len()) && !screen.show(&followed)? {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
}

type Told = (Kind, watcher::Result<Event<StoredObject>>);

/// A watch for each kind.
struct Watches {
    clients: Clients,
    kinds: Vec<Kind>,
    events: SelectAll<Pin<Box<dyn Stream<Item = Told> + Send>>>,
}

impl Watches {
    /// Follows those of the kinds that are not followed yet.
    fn add(&mut self, live: &Live, kinds: Vec<Kind>) {
        // Without a kind nothing would ever be told.
        if kinds.is_empty() && self.events.is_empty() {
            self.events.push(stream::pending().boxed());
        }
        for kind in kinds {
            if self.kinds.contains(&kind) {
                continue;
            }
            let place = self.clients.watch();
            let events = live.follow(place.client(), kind);
            let events = events.map(move |told| {
                // The place is taken for as long as the watch runs.
                let _ = &place;
                (kind, told)
            });
            self.events.push(events.boxed());
            self.kinds.push(kind);
        }
    }
}

/// What was shown last.
struct Screen {
    form: Form,
    /// It is a terminal, where the table is drawn anew.
    is_drawn: bool,
    before: Option<Vec<Node>>,
    problems: Vec<String>,
}

/// What the terminal has room for now: people change its size.
fn room() -> Room {
    let (lines, columns) = Term::stdout().size();
    Room {
        lines: lines.into(),
        columns: columns.into(),
        colour: Colour::of(&std::io::stdout()),
    }
}

impl Screen {
    /// Shows what is new; nothing where nothing is. Whether somebody still reads it.
    fn show(&mut self, followed: &Followed) -> anyhow::Result<bool> {
        let nodes = followed.objects();
        let problems: Vec<String> = followed.problems().into_iter().map(str::to_owned).collect();
        let before = self
            .before
            .replace(nodes.iter().copied().cloned().collect());
        let has_changed = before.as_ref().is_none_or(|before| {
            let (changed, gone) = changes(before, &nodes);
            !changed.is_empty() || !gone.is_empty()
        });
        let has_problems = self.problems != problems;
        self.problems = problems;
        let is_text = self.form == Form::Text;
        if is_text && self.is_drawn {
            return match has_changed || has_problems {
                true => {
                    let table = screen::status(&nodes, &self.problems, room());
                    output::print_while_read(&format!("{CLEAR}{table}"))
                }
                false => Ok(true),
            };
        }
        if has_problems {
            self.problems.iter().for_each(output::print_error);
        }
        match (before, has_changed) {
            (_, false) => Ok(true),
            (Some(before), true) if is_text => {
                let (changed, gone) = changes(&before, &nodes);
                let changes = text::status_changes(&changed, &gone);
                output::print_while_read(&plain(&changes))
            }
            (_, true) => output::print_while_read(&self.form.of(&nodes, || whole(&nodes))?),
        }
    }
}

fn whole(nodes: &[&Node]) -> String {
    format!("{}\n{}\n", text::status(nodes), text::summary(nodes))
}
