//! The helper that locks a command in, as a program of its own, for the tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    tools::sandbox::execute(&arguments)
}
