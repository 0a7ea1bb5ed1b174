//! Samples of one quantity: unit, bar, median and spread.

use serde::Serialize;

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Millions of bytes.
    Megabytes,
}

impl Unit {
    /// As printed.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Megabytes => "MB",
        }
    }
}

/// One quantity over all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it is, for example `wall`.
    pub name: &'static str,
    /// What it is counted in.
    pub unit: Unit,
    /// Most that the design allows, where it says so.
    pub at_most: Option<f64>,
    /// One value for each run, at least one.
    pub samples: Vec<f64>,
}

/// A figure as machines read it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// What it is.
    pub figure: &'static str,
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
    /// Median, spread and whether the bar is met.
    pub fn summary(&self) -> Summary {
        let mut sorted = self.samples.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        let at = |index: usize| round(sorted.get(index).copied().unwrap_or_default());
        // Of an even number of samples, the mean of the two in the middle.
        let median = round(f64::midpoint(at(last / 2), at(last.div_ceil(2))));
        Summary {
            figure: self.name,
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
        let figure = Figure {
            name: "wall",
            unit: Unit::Seconds,
            at_most,
            samples: samples.to_vec(),
        };
        figure.summary()
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
