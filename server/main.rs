//! The `undine` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before all else: as a launcher this process stays small and single-threaded.
    host::process::launcher::run_if_asked();
    host::pdf::run_if_asked();
    host::cli::main()
}
