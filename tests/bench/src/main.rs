//! Measures engines of the runtime inside one process, for `cargo xtask bench`: the codec, conversion between versions,
//! and the memory of a cached object.
//!
//! Prints figures as JSON, one sample for each round; what they are held against is xtask's. What needs an API server,
//! Azure or the operator as a process is measured there, too.

mod cache;
mod corpus;
mod engines;
mod figure;

use std::process::ExitCode;

use clap::{Parser, ValueEnum};

/// What to measure, and how often.
#[derive(Debug, Parser)]
#[command(about, long_about = None)]
struct CommandLine {
    /// What to measure.
    #[arg(value_enum)]
    what: What,
    /// Rounds that count, after one that warms caches.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Documents through the Rust types and back.
    Codec,
    /// Served versions to the stored form and back.
    Conversion,
    /// Memory of an object in the cache.
    Cache,
}

fn main() -> ExitCode {
    let arguments = CommandLine::parse();
    let runs = arguments.runs;
    let figures = match arguments.what {
        What::Codec => engines::codec(runs),
        What::Conversion => engines::conversion(runs),
        What::Cache => cache::memory(runs),
    };
    match figures.and_then(|figures| Ok(serde_json::to_string(&figures)?)) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
