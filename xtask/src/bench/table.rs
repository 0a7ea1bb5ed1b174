//! Every benchmark by name. A new one is a row here.

use super::Context;
use super::figure::Figure;
use super::process::{Bars, figures};

/// One benchmark.
pub struct Benchmark {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is measured, as a sentence.
    pub about: &'static str,
    /// Measures it.
    pub run: fn(&Context) -> anyhow::Result<Vec<Figure>>,
}

/// All, in order of printing.
pub const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "gen",
        about: "Generating every group and comparing with the tree (`cargo xtask gen --check`).",
        run: |context| {
            let bars = Bars {
                wall: Some(2.0),
                peak: Some(1000.0),
            };
            figures(context, &context.xtask, &["gen", "--check"], bars)
        },
    },
    Benchmark {
        name: "survey",
        about: "Loading, discovering and typing every spec file on the machine (`cargo xtask survey`).",
        run: |context| {
            let bars = Bars {
                wall: Some(60.0),
                ..Bars::default()
            };
            figures(context, &context.xtask, &["survey", "-o", "json"], bars)
        },
    },
];
