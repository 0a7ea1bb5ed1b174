//! A question with all pages of its answer, within the budget and Azure's quota.

use std::time::Duration;

use armature_azure::budget::{Account, Sort, Urgency};
use armature_azure::graph::{Page, Query, Refusal, Row};
use armature_azure::{CredentialKey, TransportError, operation};
use jiff::SignedDuration;

use super::Parts;
use super::hint::skew;

/// Wait when the budget has no room.
const BUSY: Duration = Duration::from_secs(30);

/// Longest wait for Azure's quota between two pages. Longer ones end the round.
const PATIENCE: Duration = Duration::from_secs(15);

/// Who asks.
pub struct Asker<'a> {
    pub parts: &'a Parts,
    pub account: Account,
    pub credential: &'a CredentialKey,
    /// Requests that were answered with a page, and others.
    pub requests: [u64; 2],
}

/// All rows of an answer.
pub struct Answer<R> {
    pub rows: Vec<R>,
    /// How many pages they came on.
    pub pages: usize,
    /// There are more than were read.
    pub is_cut: bool,
    /// By how much Azure's clock may be another one than ours.
    pub skew: SignedDuration,
}

impl Asker<'_> {
    /// Asks, and reads so many pages at most.
    ///
    /// # Errors
    /// When a page cannot be had; nothing of the answer counts then.
    pub async fn ask<R: Row>(&mut self, query: &Query, most: usize) -> Result<Answer<R>, Refusal> {
        let mut answer = Answer {
            rows: Vec::new(),
            pages: 0,
            is_cut: false,
            skew: SignedDuration::ZERO,
        };
        let mut next: Option<String> = None;
        loop {
            let (page, skew) = self.page::<R>(query, next.as_deref()).await?;
            answer.skew = answer.skew.max(skew);
            answer.pages += 1;
            answer.rows.extend(page.rows);
            answer.is_cut |= page.is_cut;
            next = page.next;
            if next.is_none() {
                return Ok(answer);
            }
            if answer.pages >= most {
                answer.is_cut = true;
                return Ok(answer);
            }
            let wait = page.quota.wait();
            if wait > PATIENCE {
                return Err(Refusal::Throttled(wait));
            }
            // The quota is by Azure's clock, not by one that a test makes faster; no worker waits here.
            tokio::time::sleep(wait).await;
        }
    }

    async fn page<R: Row>(
        &mut self,
        query: &Query,
        next: Option<&str>,
    ) -> Result<(Page<R>, SignedDuration), Refusal> {
        let (parts, now) = (self.parts, self.parts.clock.now());
        let what = (Sort::Reads, Urgency::Background);
        if !parts.budget.take_if_left(&self.account, what, now) {
            return Err(Refusal::Throttled(BUSY));
        }
        let sent = parts.arm.send(query.request(self.credential, next)).await;
        let now = parts.clock.now();
        let page = match &sent {
            Ok(answer) => {
                parts.budget.learn(&self.account, what.0, answer, now);
                let skew = skew(operation::clock_ahead(answer, now));
                Page::read(answer, now).map(|page| (page, skew))
            }
            Err(error) => Err(no_answer(error)),
        };
        self.requests[usize::from(page.is_err())] += 1;
        page
    }
}

fn no_answer(error: &TransportError) -> Refusal {
    match error.retry_after {
        Some(wait) => Refusal::Throttled(wait),
        None => Refusal::Other(error.to_string()),
    }
}
