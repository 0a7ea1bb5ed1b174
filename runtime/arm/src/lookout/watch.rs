//! What is known of one principal, and one round of questions.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use armature_azure::budget::Account;
use armature_azure::graph::{Change, MOST_SUBSCRIPTIONS, Query, Refusal, Shown, Table};
use jiff::{SignedDuration, Timestamp};

use super::Parts;
use super::ask::Asker;
use super::coverage::Coverage;
use super::figures::{Figures, Standing};
use super::hint::{Noted, Verdict, is_ours};
use super::roster::{Entry, Group, IdMark};
use super::schedule::Terms;

/// By how much each question reaches back before the one before it. Azure says that changes are told of within five
/// minutes ("get resource changes").
const OVERLAP: SignedDuration = SignedDuration::from_mins(10);

/// A change that was not told of so long after it is late ("get resource changes" says five minutes).
const IN_TIME: SignedDuration = SignedDuration::from_mins(5);

/// Pages of what changed that are read at most.
const MOST_PAGES: usize = 10;

/// Time until a principal that may not ask tries again.
const REFUSED: Duration = Duration::from_secs(6 * 3600);

/// Longest wait after questions without an answer.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// What was seen counts for so many periods: some answers may fail to come.
const PERIODS: u32 = 3;

/// What is known of one principal.
pub struct Watch {
    standing: Standing,
    /// Nothing is asked before.
    quiet_until: Timestamp,
    next_cover: Timestamp,
    next_look: Timestamp,
    /// Beginning of the latest question what changed whose answer came in full.
    looked: Timestamp,
    /// There was such a question.
    has_looked: bool,
    /// What that told of.
    told: HashSet<IdMark>,
    /// Pages of the latest answer what the Graph has.
    pages: usize,
    /// Questions in a row that failed.
    failures: u32,
}

/// What a round is about.
pub struct Round<'a> {
    pub parts: &'a Parts,
    pub coverage: &'a Coverage,
    pub principal: &'a str,
    pub group: &'a Group,
    pub now: Timestamp,
}

impl Round<'_> {
    /// The subscriptions, as many at once as Azure takes, with the types of each table.
    fn scopes(&self) -> Vec<(Table, Vec<String>, Vec<&'static str>)> {
        let subscriptions: Vec<String> = self.group.subscriptions.iter().cloned().collect();
        let mut scopes = Vec::new();
        for (table, types) in &self.group.types {
            for some in subscriptions.chunks(MOST_SUBSCRIPTIONS) {
                scopes.push((*table, some.to_vec(), types.iter().copied().collect()));
            }
        }
        scopes
    }
}

/// What the Graph tells of.
struct News<'a> {
    changes: &'a [Change],
    /// By how much its clock may be another one than ours.
    skew: SignedDuration,
    /// What it calls who asks.
    names: &'a [String],
}

impl Round<'_> {
    /// What becomes of changes of one object's resource.
    fn judge(&self, entry: &Entry, changes: &[&Change], news: &News<'_>) -> Verdict {
        let Entry { key, id, .. } = entry;
        let put = self.parts.written.of(key);
        let others = changes.iter();
        let others = others.filter(|change| !is_ours(change, put.as_ref(), news.names));
        let latest = others.max_by_key(|change| change.at);
        if let Some(who) = latest.and_then(|change| change.who()) {
            self.parts.written.by_another(key, who, self.now);
        }
        let changed = latest.map(|change| change.at);
        let verdict = match changed {
            None => Verdict::Ours,
            Some(at) => {
                let pass = self.parts.readers.latest_pass(key);
                let noted = Noted {
                    at,
                    skew: news.skew,
                };
                self.coverage.judge(*id, noted, pass)
            }
        };
        tracing::debug!(%key, ?changed, ?verdict, "Azure Resource Graph tells of a change");
        verdict
    }
}

impl Watch {
    /// Of a principal whose objects are all looked at after this moment.
    pub fn new(since: Timestamp) -> Self {
        Self {
            standing: Standing::New,
            quiet_until: Timestamp::MIN,
            next_cover: Timestamp::MIN,
            next_look: Timestamp::MIN,
            looked: since,
            has_looked: false,
            told: HashSet::new(),
            pages: 1,
            failures: 0,
        }
    }

    /// Where it stands.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Asks what is due.
    pub async fn look(&mut self, round: &Round<'_>) -> Figures {
        let mut figures = Figures::default();
        let Some(credential) = &round.group.credential else {
            return figures;
        };
        let own = round.group.entries.iter().map(|entry| entry.id).collect();
        round.coverage.limit(round.principal, &own);
        if round.now < self.quiet_until {
            return figures;
        }
        let mut asker = Asker {
            parts: round.parts,
            account: Account {
                subscription: String::new(),
                principal: round.principal.to_owned(),
            },
            credential,
            requests: [0; 2],
        };
        let answered = match self.cover(round, &own, &mut asker).await {
            Ok(()) => self.changes(round, &mut asker, &mut figures).await,
            Err(refusal) => Err(refusal),
        };
        figures.requests = asker.requests;
        match answered {
            Ok(standing) => {
                self.failures = 0;
                self.standing = standing;
            }
            Err(refusal) => self.refused(round, &refusal),
        }
        figures
    }

    /// Asks what the Graph has, where that is due.
    async fn cover(
        &mut self,
        round: &Round<'_>,
        own: &HashSet<IdMark>,
        asker: &mut Asker<'_>,
    ) -> Result<(), Refusal> {
        let objects = round.group.resting().count();
        let terms = round.parts.terms;
        let Some(period) = terms.cover_period(objects, self.pages) else {
            round.coverage.forget(round.principal);
            self.next_cover = Timestamp::MIN;
            return Ok(());
        };
        if round.now < self.next_cover {
            return Ok(());
        }
        let most = Terms::most_pages(objects);
        let seen = seen(round, own, asker, most).await;
        let pages = asker.requests.iter().sum::<u64>() as usize;
        let ids = match seen {
            Ok(ids) => ids,
            Err(refusal) => {
                // What it cost counts all the same.
                let wait = terms.cover_again(objects, pages);
                self.next_cover = later(round.now, wait.unwrap_or(period));
                return Err(refusal);
            }
        };
        let period = terms.cover_period(objects, pages).unwrap_or(period);
        self.pages = pages;
        self.next_cover = later(round.now, period);
        let until = later(round.now, period * PERIODS);
        round.coverage.see(round.principal, ids, until);
        Ok(())
    }

    /// Asks what changed, where that is due and pays; where the principal stands then.
    async fn changes(
        &mut self,
        round: &Round<'_>,
        asker: &mut Asker<'_>,
        figures: &mut Figures,
    ) -> Result<Standing, Refusal> {
        let (parts, coverage, principal) = (round.parts, round.coverage, round.principal);
        let scopes = round.scopes();
        let objects = match parts.terms.rest {
            Some(_) => {
                let resting = round.group.resting().map(|entry| entry.id);
                coverage.resting(principal, resting)
            }
            None => round.group.entries.len(),
        };
        let Some(period) = parts.terms.look_period(objects, scopes.len()) else {
            coverage.hear(principal, Timestamp::MIN);
            return Ok(Standing::TooFew);
        };
        if round.now < self.next_look {
            return Ok(self.standing);
        }
        // What is longer ago was found by reading, since nothing rests without answers.
        let oldest = earlier(round.now, parts.terms.sync * 2);
        let since = self.looked.max(oldest).saturating_sub(OVERLAP);
        let since = since.unwrap_or(Timestamp::MIN);
        let (mut changes, mut is_cut) = (Vec::new(), false);
        let mut skew = SignedDuration::ZERO;
        for (table, subscriptions, types) in scopes {
            let query = Query::changed(table, &subscriptions, &types, since);
            let answer = asker.ask::<Change>(&query, MOST_PAGES).await?;
            changes.extend(answer.rows);
            skew = skew.max(answer.skew);
            is_cut |= answer.is_cut;
        }
        let names = parts.arm.names(asker.credential).await;
        let news = News {
            changes: &changes,
            skew,
            names: &names,
        };
        self.hint(round, &news, figures);
        self.next_look = later(round.now, period);
        self.looked = round.now;
        self.has_looked = true;
        figures.looks += u64::from(!is_cut);
        if is_cut {
            coverage.miss(principal, round.now);
        }
        coverage.hear(principal, later(round.now, period * PERIODS));
        Ok(Standing::Asks)
    }

    /// Has the objects read whose resources changed.
    fn hint(&mut self, round: &Round<'_>, news: &News<'_>, figures: &mut Figures) {
        let told = news.changes.iter().map(|change| IdMark::of(&change.id));
        let before = std::mem::replace(&mut self.told, told.collect());
        let is_new = |change: &&Change| !before.contains(&IdMark::of(&change.id));
        let mut by_target: HashMap<IdMark, Vec<&Change>> = HashMap::new();
        for change in news.changes.iter().filter(is_new) {
            figures.late += u64::from(self.is_late(change, news.skew));
            let target = IdMark::of(&change.target);
            by_target.entry(target).or_default().push(change);
        }
        if figures.late > 0 {
            round.coverage.be_late(round.principal, round.now);
        }
        if by_target.is_empty() {
            return;
        }
        for entry in &round.group.entries {
            let Some(changes) = by_target.get(&entry.id) else {
                continue;
            };
            round.coverage.see_also(round.principal, entry.id);
            let verdict = round.judge(entry, changes, news);
            *figures.hints.entry(verdict).or_default() += 1;
            if verdict == Verdict::Read {
                round.parts.readers.read(entry.key.clone());
            }
        }
    }

    /// Whether the question before should have been told of a change. One that comes later still, after [`OVERLAP`], is seen by
    /// no question: where some are late, others may be missed.
    fn is_late(&self, change: &Change, skew: SignedDuration) -> bool {
        let due = change.at.saturating_add(IN_TIME + skew);
        self.has_looked && due.is_ok_and(|due| due < self.looked)
    }

    /// There was no answer. What was seen counts for a while.
    fn refused(&mut self, round: &Round<'_>, refusal: &Refusal) {
        let principal = round.principal;
        let before = self.standing;
        let wait = match refusal {
            Refusal::Forbidden(_) | Refusal::Unsupported(_) => {
                if before != Standing::Refused {
                    let advice = match refusal {
                        Refusal::Forbidden(_) => {
                            "; give the identity the right to read its subscriptions"
                        }
                        _ => "",
                    };
                    tracing::warn!(
                        principal,
                        "Azure Resource Graph cannot be asked what changed, so resources are read once per sync period\
                         {advice}: {refusal}"
                    );
                }
                self.standing = Standing::Refused;
                round.coverage.forget(principal);
                self.next_cover = Timestamp::MIN;
                REFUSED
            }
            Refusal::Throttled(wait) => {
                tracing::debug!(
                    principal,
                    ?wait,
                    "Azure Resource Graph takes no more queries"
                );
                self.patience(round).max(*wait)
            }
            Refusal::Other(reason) => {
                if before != Standing::Waits {
                    tracing::info!(principal, reason, "Azure Resource Graph does not answer");
                }
                self.patience(round)
            }
        };
        self.quiet_until = later(round.now, wait);
    }

    /// One more question without an answer; the time until the next one.
    fn patience(&mut self, round: &Round<'_>) -> Duration {
        self.standing = Standing::Waits;
        let wait = round.parts.terms.shortest * (1 << self.failures.min(6));
        self.failures = self.failures.saturating_add(1);
        wait.min(LONGEST_WAIT)
    }
}

/// Which of the objects the Graph has, by so many pages at most.
async fn seen(
    round: &Round<'_>,
    own: &HashSet<IdMark>,
    asker: &mut Asker<'_>,
    most: usize,
) -> Result<HashSet<IdMark>, Refusal> {
    let (mut ids, mut pages) = (HashSet::new(), 0);
    for (table, subscriptions, types) in round.scopes() {
        let query = Query::shown(table, &subscriptions, &types);
        let left = most.saturating_sub(pages).max(1);
        let answer = asker.ask::<Shown>(&query, left).await?;
        let shown = answer.rows.iter().map(|row| IdMark::of(&row.id));
        ids.extend(shown.filter(|id| own.contains(id)));
        pages += answer.pages;
    }
    Ok(ids)
}

fn later(now: Timestamp, by: Duration) -> Timestamp {
    now.saturating_add(by).unwrap_or(Timestamp::MAX)
}

fn earlier(now: Timestamp, by: Duration) -> Timestamp {
    now.saturating_sub(by).unwrap_or(Timestamp::MIN)
}
