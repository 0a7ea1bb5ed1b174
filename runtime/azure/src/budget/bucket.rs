//! One of ARM's token buckets, as far as it can be known from here: what is left, what is promised to whom, and
//! when it is closed. Pure: the time is given.

use jiff::{SignedDuration, Timestamp};

use super::Urgency;
use super::line::{Line, Place};

/// Size and flow of a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Requests that a full bucket holds.
    pub size: f64,
    /// Requests that flow back per second.
    pub per_second: f64,
}

/// Below this share of a bucket, by ARM's own count, somebody else is drawing from it too: stop until it has
/// filled to that share.
const LOW: f64 = 0.05;

/// What is lacking of a request because times are rounded is there.
const ROUNDING: f64 = 1e-7;

/// A part of the bucket.
#[derive(Debug)]
struct Lane {
    limit: Limit,
    /// Requests left; below zero are those that are promised.
    level: f64,
    /// Who they are promised to.
    line: Line,
}

impl Lane {
    fn new(limit: Limit, share: f64) -> Self {
        let limit = Limit {
            size: limit.size * share,
            per_second: limit.per_second * share,
        };
        Self {
            limit,
            level: limit.size,
            line: Line::default(),
        }
    }

    fn fill(&mut self, seconds: f64) {
        self.give(seconds * self.limit.per_second);
    }

    fn give(&mut self, requests: f64) {
        self.level = (self.level + requests).min(self.limit.size);
    }

    /// Seconds until `requests` more could be taken after what is promised.
    fn seconds_until(&self, requests: f64) -> f64 {
        let lacking = requests - self.level;
        if lacking <= ROUNDING {
            0.0
        } else if self.limit.per_second > 0.0 {
            lacking / self.limit.per_second
        } else {
            f64::INFINITY
        }
    }

    /// Seconds until all is there that is promised up to a place.
    fn seconds_until_place(&self, place: Place) -> f64 {
        self.seconds_until(-(self.line.behind(place) as f64))
    }

    /// Gives away what is above zero, up to `excess`; what is left of `excess`.
    fn cut(&mut self, excess: f64) -> f64 {
        let cut = excess.min(self.level.max(0.0));
        self.level -= cut;
        excess - cut
    }
}

/// Requests that were promised to a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Booking {
    /// How many are left.
    pub count: u32,
    urgency: Urgency,
    lane: Urgency,
    place: Place,
}

/// The bucket. Waiting periodic looks have their own part of it, which other requests use only while nobody
/// waits there.
#[derive(Debug)]
pub(super) struct Bucket {
    limit: Limit,
    foreground: Lane,
    background: Lane,
    /// Both parts are filled up to this moment.
    filled: Timestamp,
    /// Nothing flows and nothing is taken before.
    closed_until: Timestamp,
    /// Requests promised to periodic looks.
    waiting: u32,
    /// What ARM said last that is left.
    pub remaining: Option<u32>,
}

impl Bucket {
    /// A full bucket of which `share` is for periodic looks.
    pub fn new(limit: Limit, share: f64, now: Timestamp) -> Self {
        Self {
            limit,
            foreground: Lane::new(limit, 1.0 - share),
            background: Lane::new(limit, share),
            filled: now,
            closed_until: now,
            waiting: 0,
            remaining: None,
        }
    }

    /// Takes one request now, if there is one that is not promised to somebody else.
    pub fn take(&mut self, urgency: Urgency, now: Timestamp) -> bool {
        self.fill(now);
        if now < self.closed_until {
            return false;
        }
        let lane = self.best_lane(urgency, 1.0);
        let lane = self.lane_mut(lane);
        let is_left = lane.level >= 1.0;
        if is_left {
            lane.level -= 1.0;
        }
        is_left
    }

    /// Takes one request that must be sent whatever is left; those after it wait longer.
    pub fn overdraw(&mut self, urgency: Urgency, now: Timestamp) {
        self.fill(now);
        let lane = self.best_lane(urgency, 1.0);
        self.lane_mut(lane).level -= 1.0;
    }

    /// Promises this many requests for the first moment at which they can be had, in the turn of the namespace.
    pub fn book(
        &mut self,
        namespace: &str,
        (urgency, count): (Urgency, u32),
        now: Timestamp,
    ) -> Booking {
        self.fill(now);
        let requests = f64::from(count);
        let lane = self.best_lane(urgency, requests);
        let part = self.lane_mut(lane);
        part.level -= requests;
        let place = part.line.join(namespace, count);
        if urgency == Urgency::Background {
            self.waiting += count;
        }
        Booking {
            count,
            urgency,
            lane,
            place,
        }
    }

    /// When a booking can be used. Who comes later moves it only where it is that one's turn before; so does closing the
    /// bucket.
    pub fn due(&self, booking: &Booking) -> Timestamp {
        let seconds = self.lane(booking.lane).seconds_until_place(booking.place);
        later(self.filled.max(self.closed_until), seconds)
    }

    /// One request of a booking was used.
    pub fn used(&mut self, booking: &mut Booking) {
        booking.count -= 1;
        self.lane_mut(booking.lane).line.serve(booking.place);
        if booking.urgency == Urgency::Background {
            self.waiting = self.waiting.saturating_sub(1);
        }
    }

    /// What is left of a booking is free again.
    pub fn give_back(&mut self, booking: &Booking, now: Timestamp) {
        self.fill(now);
        let lane = self.lane_mut(booking.lane);
        lane.give(f64::from(booking.count));
        lane.line.leave(booking.place);
        if booking.urgency == Urgency::Background {
            self.waiting = self.waiting.saturating_sub(booking.count);
        }
    }

    /// ARM says how many requests are left: never more than that are taken, periodic looks wait first.
    pub fn learn(&mut self, remaining: u32, now: Timestamp) {
        self.fill(now);
        self.remaining = Some(remaining);
        let left = f64::from(remaining);
        let known = self.foreground.level.max(0.0) + self.background.level.max(0.0);
        let excess = self.background.cut((known - left).max(0.0));
        self.foreground.cut(excess);
        let low = self.limit.size * LOW;
        if left < low {
            self.close(later(now, (low - left) / self.limit.per_second), now);
        }
    }

    /// Takes and fills nothing until then; promises move by the time that adds.
    pub fn close(&mut self, until: Timestamp, now: Timestamp) {
        self.fill(now);
        self.closed_until = self.closed_until.max(until);
    }

    /// What was there when ARM said that nothing is left.
    pub fn empty(&mut self, now: Timestamp) {
        self.fill(now);
        self.background.cut(f64::INFINITY);
        self.foreground.cut(f64::INFINITY);
    }

    /// How long an empty bucket takes to be full.
    pub fn filling_time(&self) -> f64 {
        self.limit.size / self.limit.per_second
    }

    /// Requests that could be sent at once.
    pub fn left(&mut self, now: Timestamp) -> f64 {
        self.fill(now);
        if now < self.closed_until {
            return 0.0;
        }
        self.foreground.level.max(0.0) + self.background.level.max(0.0)
    }

    fn fill(&mut self, now: Timestamp) {
        let from = self.filled.max(self.closed_until);
        if now > from {
            let seconds = now.duration_since(from).as_secs_f64();
            self.foreground.fill(seconds);
            self.background.fill(seconds);
        }
        self.filled = self.filled.max(now);
    }

    /// The part that gives soonest. Periodic looks have theirs; others use that too while nobody waits there.
    fn best_lane(&self, urgency: Urgency, requests: f64) -> Urgency {
        let own = self.foreground.seconds_until(requests);
        let borrowed = self.background.seconds_until(requests);
        match urgency {
            Urgency::Background if self.background.limit.size > 0.0 => Urgency::Background,
            Urgency::Foreground if self.waiting == 0 && borrowed < own => Urgency::Background,
            _ => Urgency::Foreground,
        }
    }

    fn lane(&self, lane: Urgency) -> &Lane {
        match lane {
            Urgency::Foreground => &self.foreground,
            Urgency::Background => &self.background,
        }
    }

    fn lane_mut(&mut self, lane: Urgency) -> &mut Lane {
        match lane {
            Urgency::Foreground => &mut self.foreground,
            Urgency::Background => &mut self.background,
        }
    }
}

/// A moment some seconds later; the end of time when that is too far.
fn later(moment: Timestamp, seconds: f64) -> Timestamp {
    SignedDuration::try_from_secs_f64(seconds)
        .ok()
        .and_then(|duration| moment.checked_add(duration).ok())
        .unwrap_or(Timestamp::MAX)
}
