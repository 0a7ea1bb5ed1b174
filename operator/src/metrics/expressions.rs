//! How often expressions are compiled, under Azure Service Operator's names (ASO behaviour §5.4).

use std::time::Duration;

use armature_runtime::engine::expression::CacheObserver;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Figures about the cache of expressions. Clones count together.
#[derive(Clone)]
pub(super) struct Expressions {
    hits: Counter,
    misses: Counter,
    seconds: Histogram,
}

impl Default for Expressions {
    fn default() -> Self {
        Self {
            hits: Counter::default(),
            misses: Counter::default(),
            // From 10 microseconds to a third of a second.
            seconds: Histogram::new(exponential_buckets(0.00001, 2.0, 16)),
        }
    }
}

impl Expressions {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "cel_program_cache_hits",
            "Expressions that were compiled already",
            self.hits.clone(),
        );
        registry.register(
            "cel_program_cache_misses",
            "Expressions that had to be compiled",
            self.misses.clone(),
        );
        registry.register(
            "cel_compilation_time_seconds",
            "Duration of compiling an expression",
            self.seconds.clone(),
        );
    }
}

impl CacheObserver for Expressions {
    fn found(&self) {
        self.hits.inc();
    }

    fn compiled(&self, took: Duration) {
        self.misses.inc();
        self.seconds.observe(took.as_secs_f64());
    }
}
