//! What the Graph answers.

use std::time::Duration;

use armature_shapes::quote::shortened;
use jiff::Timestamp;
use serde_json::Value;

use crate::{CloudError, Response, operation};

/// Wait after a refusal that names none.
const USUAL_WAIT: Duration = Duration::from_secs(60);

/// Bytes of the longest word that a next page is asked for with: it goes into a request.
const LONGEST_TOKEN: usize = 64 << 10;

/// One line of an answer.
pub trait Row: Sized {
    /// Reads it; nothing where it is not as expected.
    fn read(row: &Value) -> Option<Self>;
}

/// A resource that the Graph has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its ARM id, in any casing.
    pub id: String,
}

/// A change that the Graph has noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Id of the note.
    pub id: String,
    /// ARM id of what changed, in any casing.
    pub target: String,
    /// When it changed, by Azure's clock.
    pub at: Timestamp,
    /// The correlation id of the request that changed it, where one did and Azure says so.
    pub correlation: Option<String>,
    /// Who sent that: an application, a principal or a user.
    pub actor: Option<String>,
    /// Which of these: `changedByType`.
    pub actor_type: Option<String>,
    /// By what: `clientType`.
    pub client: Option<String>,
}

impl Change {
    /// Who made it, by what and when, for people; nothing where Azure does not say who.
    pub fn who(&self) -> Option<String> {
        let actor = shortened(self.actor.as_deref()?);
        let of = [&self.actor_type, &self.client].map(Option::as_deref);
        let of: Vec<_> = of.into_iter().flatten().map(shortened).collect();
        let of = match of.is_empty() {
            true => String::new(),
            false => format!(" ({})", of.join(", ")),
        };
        Some(format!("{actor}{of} at {:.0}", self.at))
    }
}

impl Row for Shown {
    fn read(row: &Value) -> Option<Self> {
        let id = text(row, "id")?;
        Some(Self { id })
    }
}

impl Row for Change {
    fn read(row: &Value) -> Option<Self> {
        Some(Self {
            id: text(row, "id")?,
            target: text(row, "target")?,
            at: text(row, "at")?.parse().ok()?,
            correlation: told(row, "correlation"),
            actor: told(row, "actor"),
            actor_type: told(row, "actorType"),
            client: told(row, "client"),
        })
    }
}

/// A column that not every row has a word in.
fn told(row: &Value, name: &str) -> Option<String> {
    text(row, name).filter(|word| !word.is_empty())
}

fn text(row: &Value, name: &str) -> Option<String> {
    row.get(name)?.as_str().map(str::to_owned)
}

/// One page of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<R> {
    /// Its rows.
    pub rows: Vec<R>,
    /// What the next page is asked for with, where there is one.
    pub next: Option<String>,
    /// There is more, which cannot be asked for.
    pub is_cut: bool,
    /// What may still be asked.
    pub quota: Quota,
}

/// How many queries Azure still takes of this principal, by `x-ms-user-quota-remaining` and
/// `x-ms-user-quota-resets-after`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// Queries left.
    pub remaining: Option<u32>,
    /// Time until there are as many as at first.
    pub resets_after: Option<Duration>,
}

/// Why there is no page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// This credential may not read any of the subscriptions.
    #[error("{0}")]
    Forbidden(String),
    /// This Azure has no Graph, or one that understands other questions.
    #[error("{0}")]
    Unsupported(String),
    /// Too many queries: not before this time has passed.
    #[error("Azure Resource Graph takes no more queries for {} s", .0.as_secs())]
    Throttled(Duration),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Quota {
    /// What the headers of an answer say.
    pub fn of(answer: &Response) -> Self {
        let remaining = answer.header("x-ms-user-quota-remaining");
        let resets_after = answer.header("x-ms-user-quota-resets-after");
        Self {
            remaining: remaining.and_then(|text| text.trim().parse().ok()),
            resets_after: resets_after.and_then(|text| clock(text.trim())),
        }
    }

    /// How long the next query has to wait.
    pub fn wait(&self) -> Duration {
        match self.remaining {
            Some(0) => self.resets_after.unwrap_or(USUAL_WAIT),
            _ => Duration::ZERO,
        }
    }
}

fn reason(answer: &Response) -> String {
    CloudError::from_response(answer).to_string()
}

/// Hours, minutes and seconds: `00:00:05`.
fn clock(text: &str) -> Option<Duration> {
    let mut seconds = 0;
    let mut parts = 0;
    for part in text.split(':') {
        // Fractions of a second are rounded up.
        let (whole, fraction) = part.split_once('.').unwrap_or((part, ""));
        let whole: u64 = whole.parse().ok()?;
        seconds = (seconds * 60) + whole + u64::from(!fraction.is_empty());
        parts += 1;
    }
    (parts == 3 && seconds < 24 * 3600).then(|| Duration::from_secs(seconds))
}

impl<R: Row> Page<R> {
    /// Reads an answer.
    ///
    /// # Errors
    /// When there is no page in it.
    pub fn read(answer: &Response, now: Timestamp) -> Result<Self, Refusal> {
        let quota = Quota::of(answer);
        match answer.status {
            200 => {}
            403 => return Err(Refusal::Forbidden(reason(answer))),
            400 | 404 | 405 => return Err(Refusal::Unsupported(reason(answer))),
            429 => {
                let wait = operation::retry_after(answer, now).or(quota.resets_after);
                return Err(Refusal::Throttled(wait.unwrap_or(USUAL_WAIT)));
            }
            _ => return Err(Refusal::Other(reason(answer))),
        }
        let unexpected = || Refusal::Other("Azure Resource Graph answered without rows".to_owned());
        let body = answer.body.as_ref().ok_or_else(unexpected)?;
        let rows = body.get("data").and_then(Value::as_array);
        let rows = rows.ok_or_else(unexpected)?;
        let next = text(body, "$skipToken").filter(|token| !token.is_empty());
        let has_more = next.is_some();
        let next = next.filter(|token| token.len() <= LONGEST_TOKEN);
        // The Graph writes it as text.
        let is_truncated = match body.get("resultTruncated") {
            Some(Value::String(word)) => word.eq_ignore_ascii_case("true"),
            Some(Value::Bool(word)) => *word,
            _ => false,
        };
        let read: Vec<R> = rows.iter().filter_map(R::read).collect();
        Ok(Self {
            // A row that cannot be read is one that is missing.
            is_cut: ((is_truncated || has_more) && next.is_none()) || read.len() < rows.len(),
            rows: read,
            next,
            quota,
        })
    }
}
