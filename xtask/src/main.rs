//! `cargo xtask`: what a developer runs in this repository, one module per command.
//!
//! Here is only the command line. What a user needs at run time lives in `operator`; what generates lives in
//! `generator`.

mod bench;
mod book;
mod dev;
mod emulated;
mod fuzz;
mod generate;
mod git;
mod image;
mod new_kind;
mod output;
mod parity;
mod programs;
mod sources;
mod specs;
mod survey;
mod test;
mod workspace;
mod world;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The generator makes millions of small things, and takes them apart.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Commands for developing Armature.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about, long_about = None)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure how fast and how large the built programs are, beside the bars of the design.
    Bench(bench::BenchArguments),
    /// Build the documentation as web pages, into target/book.
    Book(book::BookArguments),
    /// Run a real API server, a simulated Azure, the operator and the samples, and watch them.
    Dev(dev::DevArguments),
    /// Generate `generated/` and the reference pages from Azure's specs and specs/*/group.toml.
    Gen(generate::GenerateArguments),
    /// Propose the lines of specs/*/group.toml that export an ARM type.
    NewKind(new_kind::NewKindArguments),
    /// Build a container image from scratch with the static operator.
    Image(image::ImageArguments),
    /// Look at, fetch and verify the pinned spec files.
    Specs(specs::SpecsArguments),
    /// Compare our CRDs with the schema paths of Azure Service Operator's.
    Parity(parity::ParityArguments),
    /// Read every spec file on this machine and count what the generator understands.
    Survey(survey::SurveyArguments),
    /// Build the program for 64-bit ARM, and run the tests of commands with it under qemu.
    Emulated(emulated::EmulatedArguments),
    /// Feed changed specs to the generator for some minutes; it must answer each with files or with an error.
    Fuzz(fuzz::FuzzArguments),
    /// Run everything: unit, golden, property, real API server, simulator end to end.
    Test(test::TestArguments),
}

#[tokio::main]
async fn main() -> ExitCode {
    let result = match CommandLine::parse().command {
        Command::Bench(arguments) => bench::run(&arguments).await,
        Command::Book(arguments) => book::run(&arguments).await,
        Command::Dev(arguments) => dev::run(&arguments).await,
        Command::Emulated(arguments) => emulated::run(&arguments).await,
        Command::Gen(arguments) => generate::run(&arguments),
        Command::NewKind(arguments) => new_kind::run(&arguments),
        Command::Image(arguments) => image::run(&arguments).await,
        Command::Specs(arguments) => specs::run(arguments).await,
        Command::Parity(arguments) => parity::run(&arguments).await,
        Command::Survey(arguments) => survey::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments).await,
        Command::Test(arguments) => test::run(&arguments).await,
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
