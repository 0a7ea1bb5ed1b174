//! The budget of requests: how many ARM takes of one credential in one subscription, shared by all objects.
//!
//! ARM keeps a token bucket for reads, one for writes and one for deletions, for each subscription and principal
//! (Azure Resource Manager, "request limits and throttling"). Here each has a model that starts full, fills as
//! ARM's does, is corrected by the headers of every answer and closes when ARM says "too many requests". A request
//! that the model has no room for is not sent: its pass ends, and gets a promise of everything it needed so far
//! for a moment at which that can be had. So nobody waits inside a pass. Namespaces take turns, and within one who came
//! first is served first: nobody is turned away twice for the same request but for the sake of another namespace, however many
//! requests his own has waiting.
//!
//! Pure but for one lock: the time is given. What does not live here: what a pass does with a refusal (the
//! reconciler's driver), the limits of single resource providers, which ARM tells nobody beforehand.

mod bucket;
mod line;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use armature_shapes::resource::ObjectKey;
use jiff::{SignedDuration, Timestamp};

use self::bucket::{Booking, Bucket};
use super::{CloudError, Method, Response, operation};

pub use self::bucket::Limit;

/// Who is asking ARM for what is limited together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Account {
    /// Subscription id in lower case; empty for requests to the tenant.
    pub subscription: String,
    /// Who the credential stands for, see [`super::Transport::principal`].
    pub principal: String,
}

/// What ARM counts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sort {
    /// GET and HEAD.
    Reads,
    /// PUT, PATCH and POST.
    Writes,
    /// DELETE.
    Deletes,
}

impl Sort {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Reads, Self::Writes, Self::Deletes];

    /// What a request counts as.
    pub fn of(method: Method) -> Self {
        match method {
            Method::Get | Method::Head => Self::Reads,
            Method::Put | Method::Patch | Method::Post => Self::Writes,
            Method::Delete => Self::Deletes,
        }
    }

    /// In one word: `reads`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Deletes => "deletes",
        }
    }
}

/// Whether somebody waits for the outcome. In the order of who comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Urgency {
    /// Something is wanted or going on: a change of the object, an operation, a retry, a deletion.
    Foreground,
    /// A periodic look at a resource that is fine.
    Background,
}

/// Sizes of the buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Reads.
    pub reads: Limit,
    /// Writes.
    pub writes: Limit,
    /// Deletions.
    pub deletes: Limit,
}

impl Default for Limits {
    /// ARM's for one principal in one subscription and region.
    fn default() -> Self {
        let writes = Limit {
            size: 200.0,
            per_second: 10.0,
        };
        Self {
            reads: Limit {
                size: 250.0,
                per_second: 25.0,
            },
            writes,
            deletes: writes,
        }
    }
}

/// Part of the reads that is for periodic looks; the rest is kept for what somebody waits for.
const BACKGROUND_READS: f64 = 0.6;

/// Codes of ARM's own limits. Resource providers answer 429 for other reasons too, for example because another
/// operation holds the resource (`RetryableErrorDueToAnotherOperation`): those say nothing about the budget.
const THROTTLED: &[&str] = &["SubscriptionRequestsThrottled", "TenantRequestsThrottled"];

/// How long after its moment a promise is kept.
const KEPT: SignedDuration = SignedDuration::from_mins(5);

/// Who comes earlier than this comes in time: moments are rounded.
const ROUNDING: SignedDuration = SignedDuration::from_nanos(10);

/// A bucket that nobody used for this long is full: it can be forgotten.
const IDLE: SignedDuration = SignedDuration::from_mins(10);

/// A request that wants to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Where it counts.
    pub account: &'a Account,
    /// The object it is for.
    pub object: &'a ObjectKey,
    /// Whether somebody waits for it.
    pub urgency: Urgency,
    /// What it counts as.
    pub sort: Sort,
    /// What this pass sent before.
    pub sent: &'a Sent,
}

/// Requests of one pass so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent([u32; 3]);

impl Sent {
    /// One more.
    pub fn count(&mut self, sort: Sort) {
        self.0[sort as usize] += 1;
    }

    /// The same but for one that does not count.
    pub fn without(mut self, sort: Sort) -> Self {
        let count = &mut self.0[sort as usize];
        *count = count.saturating_sub(1);
        self
    }
}

/// What is left for one account, for metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// The account.
    pub account: Account,
    /// What it counts.
    pub sort: Sort,
    /// Requests that can be sent at once.
    pub left: u32,
    /// What ARM said last that is left, if it did.
    pub remaining: Option<u32>,
}

/// Figures about waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Objects that wait now.
    pub waiting: usize,
    /// Requests that were put off so far, by [`Sort::ALL`].
    pub put_off: [u64; 3],
    /// Answers of ARM that it was too much, by [`Sort::ALL`].
    pub throttled: [u64; 3],
}

/// The budget of an operator. Shared by all passes.
#[derive(Debug, Default)]
pub struct Budget(Mutex<State>);

impl Budget {
    /// A budget with these limits; [`Budget::default`] has ARM's.
    pub fn new(limits: Limits) -> Self {
        Self(Mutex::new(State {
            limits,
            ..State::default()
        }))
    }

    /// Takes one request. Otherwise says how long the object has to wait, and promises it for then everything that
    /// its pass has needed.
    ///
    /// # Errors
    /// The time to wait.
    pub fn take(&self, call: &Call<'_>, now: Timestamp) -> Result<(), Duration> {
        self.state().take(call, now)
    }

    /// Takes one request that is for no single object, where there is room now; otherwise nothing is promised.
    pub fn take_if_left(
        &self,
        account: &Account,
        (sort, urgency): (Sort, Urgency),
        now: Timestamp,
    ) -> bool {
        self.state().bucket(account, sort, now).take(urgency, now)
    }

    /// Counts one request that is sent whatever is left.
    pub fn overdraw(&self, call: &Call<'_>, now: Timestamp) {
        let mut state = self.state();
        state
            .bucket(call.account, call.sort, now)
            .overdraw(call.urgency, now);
    }

    /// Learns from an answer. Says whether ARM refused it because it was too much.
    pub fn learn(&self, account: &Account, sort: Sort, answer: &Response, now: Timestamp) -> bool {
        self.state().learn(account, sort, answer, now)
    }

    /// Promises what [`Budget::take`] does, for a request that ARM refused; the time to wait.
    pub fn put_off(&self, call: &Call<'_>, now: Timestamp) -> Duration {
        self.state().put_off(call, now)
    }

    /// What is left, by account.
    pub fn headroom(&self, now: Timestamp) -> Vec<Headroom> {
        let mut state = self.state();
        let mut all: Vec<Headroom> = state
            .buckets
            .iter_mut()
            .map(|((account, sort), (bucket, _))| Headroom {
                account: account.clone(),
                sort: *sort,
                left: bucket.left(now) as u32,
                remaining: bucket.remaining,
            })
            .collect();
        all.sort_by(|one, other| (&one.account, one.sort).cmp(&(&other.account, other.sort)));
        all
    }

    /// Figures about waiting.
    pub fn waits(&self) -> Waits {
        let state = self.state();
        Waits {
            waiting: state.tickets.len(),
            ..state.waits
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned state is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was promised to an object.
#[derive(Debug)]
struct Ticket {
    account: Account,
    urgency: Urgency,
    bookings: BTreeMap<Sort, Booking>,
    /// When the object was told to come.
    told: Timestamp,
}

#[derive(Debug, Default)]
struct State {
    limits: Limits,
    /// Each with the moment of its latest use.
    buckets: HashMap<(Account, Sort), (Bucket, Timestamp)>,
    tickets: HashMap<ObjectKey, Ticket>,
    /// Tickets made since the expired ones were thrown away.
    made: usize,
    waits: Waits,
}

impl State {
    fn take(&mut self, call: &Call<'_>, now: Timestamp) -> Result<(), Duration> {
        let fits =
            |ticket: &Ticket| ticket.account == *call.account && ticket.urgency == call.urgency;
        if let Some(ticket) = self.tickets.remove(call.object) {
            if fits(&ticket) {
                if let Some(wait) = self.wait(&ticket, now) {
                    return Err(self.keep(call.object, ticket, wait, now));
                }
                if self.redeem(call, ticket, now) {
                    return Ok(());
                }
            } else {
                self.return_ticket(&ticket, now);
            }
        }
        if self
            .bucket(call.account, call.sort, now)
            .take(call.urgency, now)
        {
            return Ok(());
        }
        Err(self.put_off(call, now))
    }

    /// Moment at which all of the ticket can be used.
    fn due(&self, ticket: &Ticket) -> Option<Timestamp> {
        let dues = ticket.bookings.iter().filter_map(|(sort, booking)| {
            let (bucket, _) = self.buckets.get(&(ticket.account.clone(), *sort))?;
            Some(bucket.due(booking))
        });
        dues.max()
    }

    /// Time until all of the ticket can be used; `None` when that is now.
    fn wait(&self, ticket: &Ticket, now: Timestamp) -> Option<Duration> {
        let due = self.due(ticket)?;
        let wait = due.duration_since(now);
        (wait > ROUNDING).then(|| wait.unsigned_abs())
    }

    /// Uses one request of a ticket that is due. What is left of it is kept.
    fn redeem(&mut self, call: &Call<'_>, mut ticket: Ticket, now: Timestamp) -> bool {
        let booked = ticket.bookings.get_mut(&call.sort);
        let has = booked.is_some();
        if let Some(booking) = booked {
            self.bucket(call.account, call.sort, now).used(booking);
        }
        ticket.bookings.retain(|_, booking| booking.count > 0);
        if !ticket.bookings.is_empty() {
            self.tickets.insert(call.object.clone(), ticket);
        }
        has
    }

    fn put_off(&mut self, call: &Call<'_>, now: Timestamp) -> Duration {
        if let Some(old) = self.tickets.remove(call.object) {
            self.return_ticket(&old, now);
        }
        self.waits.put_off[call.sort as usize] += 1;
        let mut needed = *call.sent;
        needed.count(call.sort);
        let mut ticket = Ticket {
            account: call.account.clone(),
            urgency: call.urgency,
            bookings: BTreeMap::new(),
            told: now,
        };
        for sort in Sort::ALL {
            let count = needed.0[sort as usize];
            if count > 0 {
                let bucket = self.bucket(call.account, sort, now);
                let what = (call.urgency, count);
                let booking = bucket.book(&call.object.namespace, what, now);
                ticket.bookings.insert(sort, booking);
            }
        }
        let wait = self.wait(&ticket, now).unwrap_or_default();
        self.throw_away_expired(now);
        self.keep(call.object, ticket, wait, now)
    }

    /// Keeps a ticket whose object is told to wait.
    fn keep(
        &mut self,
        object: &ObjectKey,
        mut ticket: Ticket,
        wait: Duration,
        now: Timestamp,
    ) -> Duration {
        ticket.told = now.saturating_add(wait).unwrap_or(Timestamp::MAX);
        self.tickets.insert(object.clone(), ticket);
        wait
    }

    fn learn(&mut self, account: &Account, sort: Sort, answer: &Response, now: Timestamp) -> bool {
        let header = format!(
            "x-ms-ratelimit-remaining-{}-{}",
            scope(account),
            sort.name()
        );
        let remaining = answer.header(&header).and_then(|text| text.parse().ok());
        let is_refusal =
            answer.status == 429 && THROTTLED.contains(&CloudError::from_response(answer).code());
        let bucket = self.bucket(account, sort, now);
        if let Some(remaining) = remaining {
            bucket.learn(remaining, now);
        }
        if is_refusal {
            let wait = operation::retry_after(answer, now)
                .and_then(|wait| SignedDuration::try_from(wait).ok())
                .unwrap_or_else(|| SignedDuration::from_secs(bucket.filling_time() as i64));
            bucket.empty(now);
            bucket.close(now.checked_add(wait).unwrap_or(Timestamp::MAX), now);
            self.waits.throttled[sort as usize] += 1;
        }
        is_refusal
    }

    fn bucket(&mut self, account: &Account, sort: Sort, now: Timestamp) -> &mut Bucket {
        let key = (account.clone(), sort);
        if !self.buckets.contains_key(&key) {
            let promised: HashSet<&Account> = self
                .tickets
                .values()
                .map(|ticket| &ticket.account)
                .collect();
            self.buckets.retain(|(account, _), (_, used)| {
                now.duration_since(*used) <= IDLE || promised.contains(account)
            });
        }
        let (limit, share) = match sort {
            Sort::Reads => (self.limits.reads, BACKGROUND_READS),
            Sort::Writes => (self.limits.writes, 0.0),
            Sort::Deletes => (self.limits.deletes, 0.0),
        };
        let full = || (Bucket::new(limit, share, now), now);
        let (bucket, used) = self.buckets.entry(key).or_insert_with(full);
        *used = now;
        bucket
    }

    fn return_ticket(&mut self, ticket: &Ticket, now: Timestamp) {
        for (sort, booking) in &ticket.bookings {
            self.bucket(&ticket.account, *sort, now)
                .give_back(booking, now);
        }
    }

    /// Objects that are gone never come for what they were promised. Looks at all tickets whenever half as many new
    /// ones were made.
    fn throw_away_expired(&mut self, now: Timestamp) {
        self.made += 1;
        if self.made * 2 <= self.tickets.len() {
            return;
        }
        self.made = 0;
        for (object, ticket) in std::mem::take(&mut self.tickets) {
            if now.duration_since(ticket.told) > KEPT {
                self.return_ticket(&ticket, now);
            } else {
                self.tickets.insert(object, ticket);
            }
        }
    }
}

/// Word for the account's scope in ARM's headers.
fn scope(account: &Account) -> &'static str {
    if account.subscription.is_empty() {
        "tenant"
    } else {
        "subscription"
    }
}
