//! The `undine` binary.
fn main() {}
