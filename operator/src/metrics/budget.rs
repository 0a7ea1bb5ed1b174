//! How many requests Azure still takes, and who waits, looked up when somebody asks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use armature_runtime::azure::budget::{Budget, Headroom, Sort};
use jiff::Timestamp;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Subscriptions with a label of their own.
const SUBSCRIPTIONS: usize = 50;

/// Label of the others together.
const OTHER: &str = "other";

/// Label of requests outside any subscription.
const TENANT: &str = "tenant";

/// A budget whose state is shown.
#[derive(Debug)]
pub struct State(Arc<Budget>);

impl State {
    /// Shows this one.
    pub fn new(budget: Arc<Budget>) -> Self {
        Self(budget)
    }
}

impl Collector for State {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut family = encoder.encode_descriptor(
            "arm_requests_left",
            "Requests that Azure takes at once, by subscription: of the credential that has the fewest",
            None,
            MetricType::Gauge,
        )?;
        for ((subscription, sort), left) in by_subscription(self.0.headroom(Timestamp::now())) {
            let labels = [
                ("subscription", subscription.as_str()),
                ("sort", sort.name()),
            ];
            ConstGauge::new(i64::from(left)).encode(family.encode_family(&labels)?)?;
        }
        let waits = self.0.waits();
        let family = encoder.encode_descriptor(
            "objects_put_off",
            "Objects that wait until Azure takes more requests",
            None,
            MetricType::Gauge,
        )?;
        ConstGauge::new(i64::try_from(waits.waiting).unwrap_or(i64::MAX)).encode(family)?;
        for (name, help, counts) in [
            (
                "arm_requests_put_off",
                "Requests that were not sent yet because Azure would have refused them",
                waits.put_off,
            ),
            (
                "arm_throttled",
                "Requests that Azure refused because there were too many",
                waits.throttled,
            ),
        ] {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (sort, count) in Sort::ALL.into_iter().zip(counts) {
                let labels = [("sort", sort.name())];
                ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

/// The fewest that any credential has left, by subscription. The first subscriptions by name have a label each.
fn by_subscription(all: Vec<Headroom>) -> BTreeMap<(String, Sort), u32> {
    let mut names: Vec<String> = Vec::new();
    let mut fewest = BTreeMap::new();
    for one in all {
        let subscription = one.account.subscription;
        let is_known = names.last() == Some(&subscription);
        let label = if subscription.is_empty() {
            TENANT.to_owned()
        } else if is_known || names.len() < SUBSCRIPTIONS {
            if !is_known {
                names.push(subscription.clone());
            }
            subscription
        } else {
            OTHER.to_owned()
        };
        let left = fewest.entry((label, one.sort)).or_insert(one.left);
        *left = one.left.min(*left);
    }
    fewest
}

#[cfg(test)]
mod tests {
    use armature_runtime::azure::budget::Account;

    use super::*;

    fn headroom(subscription: &str, principal: &str, left: u32) -> Headroom {
        Headroom {
            account: Account {
                subscription: subscription.to_owned(),
                principal: principal.to_owned(),
            },
            sort: Sort::Reads,
            left,
            remaining: None,
        }
    }

    #[test]
    fn labels_are_bounded_and_show_the_scarcest_credential() {
        let mut all = vec![headroom("", "a", 7)];
        for number in 0..70 {
            let name = format!("s-{number:02}");
            all.push(headroom(&name, "a", 100 + number));
            all.push(headroom(&name, "b", 50 + number));
        }
        let shown = by_subscription(all);
        let left = |label: &str| shown.get(&(label.to_owned(), Sort::Reads)).copied();
        assert_eq!(shown.len(), 52);
        assert_eq!(
            (left("tenant"), left("s-00"), left("s-49")),
            (Some(7), Some(50), Some(99))
        );
        assert_eq!((left("s-50"), left("other")), (None, Some(100)));
    }
}
