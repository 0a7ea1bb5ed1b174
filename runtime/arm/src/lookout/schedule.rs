//! How often it pays to ask. Pure.
//!
//! Reading takes a request for each object and sync period. What the lookout adds is at most a share of that, and what
//! it saves is more, so that all together is never more than reading: of each ten reads that are left out
//!
//! | what for | reads |
//! |---|--:|
//! | asking what changed | 4 |
//! | asking what the Graph has | ½ |
//! | reading what was hinted at (`hint`), over a day and by the hour | 4¼ |
//! | reading in full once a day, where a sync is every hour | ½ |
//!
//! Where the sync period is set, no read is left out; then asking costs a tenth of the reads at most.

use std::time::Duration;

/// Share of the reads that asking what changed may cost.
const LOOKS: f64 = 0.4;

/// The same where no read is left out.
const LOOKS_BESIDE_READS: f64 = 0.1;

/// Share of the reads that asking what the Graph has may cost.
const COVERS: f64 = 0.05;

/// What the Graph has is asked for once in so many sync periods, or more rarely.
const SYNCS_PER_COVER: u32 = 4;

/// Pages of what the Graph has, at least, that are read.
const FEWEST_PAGES: usize = 20;

/// Objects for each further page: resources of others are among what the Graph has.
const OBJECTS_PER_PAGE: usize = 100;

/// How often a resource is looked at, and asked about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Time between two looks at a resource that the Graph does not show.
    pub sync: Duration,
    /// Longest time between two looks at one that the Graph shows; the same as others where absent.
    pub rest: Option<Duration>,
    /// Shortest time between two questions what changed.
    pub shortest: Duration,
}

impl Terms {
    /// Time between two questions what changed, of so many requests each; nothing where asking does not pay. `objects` are
    /// those that rest because of the answers, or all of them where none does.
    pub fn look_period(&self, objects: usize, requests: usize) -> Option<Duration> {
        let share = match self.rest {
            Some(_) => LOOKS,
            None => LOOKS_BESIDE_READS,
        };
        let period = self.period(objects, requests, share)?.max(self.shortest);
        // What is found no sooner than by reading is not worth asking for.
        (period <= self.sync / 2).then_some(period)
    }

    /// Time between two questions what the Graph has, whose answer has so many pages; nothing where it is never asked.
    /// `objects` are those that may rest.
    pub fn cover_period(&self, objects: usize, pages: usize) -> Option<Duration> {
        self.rest?;
        // With fewer objects than that nobody would ask what changed.
        self.look_period(objects, 1)?;
        let period = self.period(objects, pages, COVERS)?;
        Some(period.max(self.sync * SYNCS_PER_COVER))
    }

    /// Time until what the Graph has is asked for again, when so many requests brought no answer.
    pub fn cover_again(&self, objects: usize, requests: usize) -> Option<Duration> {
        self.period(objects, requests, COVERS)
    }

    /// Pages of what the Graph has that are read at most.
    pub fn most_pages(objects: usize) -> usize {
        FEWEST_PAGES + objects / OBJECTS_PER_PAGE
    }

    fn period(&self, objects: usize, requests: usize, share: f64) -> Option<Duration> {
        if objects == 0 {
            return None;
        }
        let syncs = requests as f64 / (objects as f64 * share);
        Some(self.sync.mul_f64(syncs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lookout::hint::{BURST, SYNCS_PER_HINT};

    const HOUR: f64 = 3600.0;

    fn usual() -> Terms {
        Terms {
            sync: Duration::from_secs(3600),
            rest: Some(Duration::from_secs(24 * 3600)),
            shortest: Duration::from_secs(100),
        }
    }

    #[test]
    fn few_objects_are_asked_about_more_rarely_or_not_at_all() {
        let seconds = |objects, requests| {
            let period = usual().look_period(objects, requests);
            period.map(|period| period.as_secs())
        };
        for (objects, requests, expected) in [
            (0, 1, None),
            (4, 1, None),
            (5, 1, Some(1800)),
            (5, 2, None),
            (10, 2, Some(1800)),
            (45, 1, Some(200)),
            (90, 1, Some(100)),
            (10_000, 2, Some(100)),
        ] {
            assert_eq!(seconds(objects, requests), expected, "{objects} {requests}");
        }
    }

    #[test]
    fn where_a_sync_period_is_set_asking_costs_a_tenth_of_the_reads() {
        let terms = Terms {
            rest: None,
            ..usual()
        };
        assert_eq!(terms.look_period(19, 1), None);
        let period = terms.look_period(20, 1).unwrap();
        assert_eq!(period, Duration::from_secs(1800));
        assert_eq!(terms.cover_period(10_000, 1), None);
    }

    #[test]
    fn what_the_graph_has_is_asked_for_as_rarely_as_its_answer_is_long() {
        let hours = |objects, pages| {
            let period = usual().cover_period(objects, pages);
            period.map(|period| period.as_secs() / 3600)
        };
        assert_eq!(hours(4, 1), None);
        assert_eq!(hours(5, 1), Some(4));
        assert_eq!(hours(5, 20), Some(80));
        assert_eq!(hours(10_000, 12), Some(4));
    }

    /// Requests in a day at worst: everything that rests is hinted at as often as hints count.
    fn at_worst(terms: &Terms, objects: usize, requests: usize, pages: usize) -> Option<f64> {
        let day = 24.0 * HOUR;
        let per_day = |period: Duration| day / period.as_secs_f64();
        let looks = per_day(terms.look_period(objects, requests)?) * requests as f64;
        let covers = per_day(terms.cover_period(objects, pages)?) * pages as f64;
        let hints = BURST + per_day(terms.sync) / f64::from(SYNCS_PER_HINT);
        let reads = per_day(terms.rest?);
        Some(looks + covers + (hints + reads) * objects as f64)
    }

    #[test]
    fn all_together_is_never_more_than_reading() {
        for objects in (1..400).chain([1_000, 10_000, 100_000]) {
            for requests in [1, 2, 8] {
                let pages = Terms::most_pages(objects);
                for pages in [1, objects.div_ceil(1000), pages] {
                    if let Some(requests) = at_worst(&usual(), objects, requests, pages) {
                        let reading = 24.0 * objects as f64;
                        assert!(requests <= reading, "{objects}: {requests} > {reading}");
                    }
                }
            }
        }
    }

    /// Requests in an idle hour for each object, of so many objects and principals, of which a share is shown.
    fn idle(objects: usize, principals: usize, shown: f64) -> f64 {
        let (terms, each) = (usual(), objects / principals);
        let resting = (each as f64 * shown) as usize;
        // Resource groups are in a table of their own.
        let looks = HOUR / terms.look_period(resting, 2).unwrap().as_secs_f64() * 2.0;
        let pages = each.div_ceil(1000) + 1;
        let covers = pages as f64 * HOUR / terms.cover_period(each, pages).unwrap().as_secs_f64();
        // A sync that is due within a day is left out: reads are up to a sync period and a quarter apart from that.
        let reads = resting as f64 / 24.0 + (each - resting) as f64;
        (looks + covers + reads) / each as f64
    }

    #[test]
    fn an_idle_hour_of_ten_thousand_objects_in_twenty_subscriptions() {
        // One principal for all subscriptions, and one for each.
        for (principals, most) in [(1, 0.055), (20, 0.2)] {
            let requests = idle(10_000, principals, 1.0);
            assert!(requests <= most, "{principals}: {requests}");
        }
        // What the Graph does not show is read as ever.
        let requests = idle(10_000, 1, 0.9);
        assert!((0.1..=0.2).contains(&requests), "{requests}");
    }
}
