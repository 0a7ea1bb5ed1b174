//! Progress for a person: a spinner or bar on a terminal, a plain line now and then elsewhere. Always on stderr.
//!
//! What does not live here: what a command does, and what it prints for other programs.

use std::{
    io::IsTerminal,
    sync::Mutex,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

/// How often a plain line is printed for a step that keeps changing.
const PLAIN_EVERY: Duration = Duration::from_secs(15);

/// One running step of work, such as a build. Cleared from the terminal when dropped.
#[derive(Debug)]
pub struct Progress(Output);

#[derive(Debug)]
enum Output {
    Terminal(ProgressBar),
    Plain(Mutex<Instant>),
    Silent,
}

impl Progress {
    /// A spinner if stderr is a terminal, plain lines otherwise.
    #[must_use]
    pub fn new() -> Self {
        if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(Duration::from_millis(120));
            Self(Output::Terminal(bar))
        } else {
            Self::plain()
        }
    }

    /// Plain lines, on a terminal too.
    #[must_use]
    pub fn plain() -> Self {
        Self(Output::Plain(Mutex::new(Instant::now())))
    }

    /// Shows nothing.
    #[must_use]
    pub fn silent() -> Self {
        Self(Output::Silent)
    }

    /// Whether there is a terminal to draw on.
    #[must_use]
    pub fn on_terminal(&self) -> bool {
        matches!(self.0, Output::Terminal(_))
    }

    /// Something that should stay visible, such as the start or end of a step.
    pub fn line(&self, text: &str) {
        match &self.0 {
            Output::Terminal(bar) => bar.println(text),
            Output::Plain(_) => eprintln!("{text}"),
            Output::Silent => {}
        }
    }

    /// What is going on right now. Plain output prints it only every 15 seconds.
    pub fn update(&self, text: &str) {
        match &self.0 {
            Output::Terminal(bar) => bar.set_message(text.to_owned()),
            Output::Plain(last) => {
                let Ok(mut last) = last.lock() else { return };
                if last.elapsed() >= PLAIN_EVERY {
                    *last = Instant::now();
                    eprintln!("{text}");
                }
            }
            Output::Silent => {}
        }
    }

    /// As [`Progress::update`], with a bar of `done` out of `total` bytes.
    pub fn bytes(&self, text: &str, done: u64, total: Option<u64>) {
        match (&self.0, total) {
            (Output::Terminal(bar), Some(total)) => {
                if bar.length() != Some(total) {
                    let template = "{spinner} {msg} [{bar:30}] {bytes}/{total_bytes}";
                    if let Ok(style) = ProgressStyle::with_template(template) {
                        bar.set_style(style);
                    }
                    bar.set_length(total);
                }
                bar.set_message(text.to_owned());
                bar.set_position(done);
            }
            _ => self.update(&format!("{text}: {} MB", done / 1_000_000)),
        }
    }

    /// As [`Progress::update`], with a bar of `done` out of `total` steps.
    pub fn steps(&self, text: &str, done: usize, total: usize) {
        let Output::Terminal(bar) = &self.0 else {
            return self.update(&format!("{done}/{total} {text}"));
        };
        if bar.length() != Some(total as u64) {
            if let Ok(style) =
                ProgressStyle::with_template("{spinner} [{bar:30}] {pos}/{len} {msg}")
            {
                bar.set_style(style);
            }
            bar.set_length(total as u64);
        }
        bar.set_message(text.to_owned());
        bar.set_position(done as u64);
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Output::Terminal(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
