//! Samples of one quantity: unit, bar, median and spread.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Unit {
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Thousandths of a second.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Millionths of a second.
    #[serde(rename = "µs")]
    Microseconds,
    /// Millions of bytes.
    #[serde(rename = "MB")]
    Megabytes,
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
    /// Hundredths of one processor.
    #[serde(rename = "% of a core")]
    Share,
    /// How many.
    #[serde(rename = "")]
    Count,
}

impl Unit {
    /// As printed.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "µs",
            Self::Megabytes => "MB",
            Self::Bytes => "bytes",
            Self::Share => "% of a core",
            Self::Count => "",
        }
    }
}

/// One quantity over all runs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Figure {
    /// What it is, for example `wall`.
    pub name: Cow<'static, str>,
    /// What it is counted in.
    pub unit: Unit,
    /// Most that the design allows, where it says so.
    #[serde(default)]
    pub at_most: Option<f64>,
    /// One value for each run, at least one.
    pub samples: Vec<f64>,
}

/// A figure as machines read it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// What it is.
    pub figure: Cow<'static, str>,
    /// What it is counted in.
    pub unit: &'static str,
    /// Middle of the samples.
    pub median: f64,
    /// Smallest sample.
    pub min: f64,
    /// Largest sample.
    pub max: f64,
    /// Most that the design allows, where it says so.
    pub at_most: Option<f64>,
    /// Whether the median is within it; nothing where there is no bar.
    pub met: Option<bool>,
}

impl Figure {
    /// A figure without a bar.
    pub fn new(name: impl Into<Cow<'static, str>>, unit: Unit, samples: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            unit,
            at_most: None,
            samples,
        }
    }

    /// The figure with a bar.
    #[must_use]
    pub fn at_most(self, bar: impl Into<Option<f64>>) -> Self {
        Self {
            at_most: bar.into(),
            ..self
        }
    }

    /// Median, spread and whether the bar is met.
    pub fn summary(&self) -> Summary {
        let mut sorted = self.samples.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        let at = |index: usize| round(sorted.get(index).copied().unwrap_or_default());
        // Of an even number of samples, the mean of the two in the middle.
        let median = round(f64::midpoint(at(last / 2), at(last.div_ceil(2))));
        Summary {
            figure: self.name.clone(),
            unit: self.unit.symbol(),
            median,
            min: at(0),
            max: at(last),
            at_most: self.at_most,
            met: self.at_most.map(|bar| median <= bar),
        }
    }
}

/// To a thousandth: what is below is noise.
fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(samples: &[f64], at_most: Option<f64>) -> Summary {
        Figure::new("wall", Unit::Seconds, samples.to_vec())
            .at_most(at_most)
            .summary()
    }

    #[test]
    fn median_and_spread() {
        for (samples, expected) in [
            (&[2.0][..], (2.0, 2.0, 2.0)),
            (&[3.0, 1.0, 2.0], (1.0, 2.0, 3.0)),
            (&[4.0, 1.0, 2.0, 3.0], (1.0, 2.5, 4.0)),
        ] {
            let found = figure(samples, None);
            assert_eq!((found.min, found.median, found.max), expected);
        }
    }

    #[test]
    fn the_median_is_held_against_the_bar() {
        assert_eq!(figure(&[1.0, 1.0, 9.0], Some(1.0)).met, Some(true));
        assert_eq!(figure(&[1.1, 1.1, 0.1], Some(1.0)).met, Some(false));
        assert_eq!(figure(&[1.0], None).met, None);
    }
}
