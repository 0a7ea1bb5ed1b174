//! The `armature` binary: see [`armature::command`].

use std::process::ExitCode;

use armature::command::{called, output};

fn main() -> ExitCode {
    // Before anything else: two TLS users in one process must agree on their cryptography.
    if rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .is_err()
    {
        output::print_error("another cryptography provider is installed already");
        return ExitCode::FAILURE;
    }
    match called::run(std::env::args_os()) {
        Ok(code) => code,
        Err(error) => {
            output::print_error(output::message(&error));
            ExitCode::FAILURE
        }
    }
}
