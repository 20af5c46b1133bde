//! The price of looking. Run with `cargo test --release -p engine -- --ignored --nocapture price`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement needs a clock"
)]

use super::super::{Stream, redact};
use std::time::Instant;

fn best(n: usize, mut work: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..7 {
        let begun = Instant::now();
        (0..n).for_each(|_| work());
        best = best.min(begun.elapsed().as_secs_f64() / n as f64);
    }
    best * 1e9
}

#[test]
#[ignore = "a measurement, for release builds"]
fn price_of_redacting() {
    let delta = best(200_000, || drop(std::hint::black_box(redact(" word, and"))));
    eprintln!("a delta of 10 bytes: {delta:.0} ns");
    let mut stream = Stream::default();
    let pushed = best(200_000, || {
        drop(std::hint::black_box(stream.push(" word, and")))
    });
    eprintln!("the same in a stream: {pushed:.0} ns");
    let code = include_str!("../assign.rs");
    let whole = best(200, || drop(std::hint::black_box(redact(code))));
    eprintln!(
        "source code: {:.2} ns a byte, {} bytes",
        whole / code.len() as f64,
        code.len()
    );
}
