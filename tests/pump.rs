//! The transport keeps its promises against editors that are slow, rude or broken.
fn main() {}
