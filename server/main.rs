//! The `undine` binary.

fn main() {
    // Before all else: as a launcher this process stays small and single-threaded.
    host::process::launcher::run_if_asked();
}
