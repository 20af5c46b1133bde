//! The price of a delta. Run with `cargo test --release -p engine -- --ignored --nocapture price`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement needs a clock"
)]

use std::time::Instant;

use crate::provider::anthropic::Messages;
use crate::provider::{ModelEvent, Provider as _};

#[test]
#[ignore = "a measurement, for release builds"]
fn price_of_an_anthropic_text_delta() {
    const N_DELTAS: usize = 200_000;
    let start = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
    let chunk = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" word\"}}\n\n";
    let body = format!("{start}{}", chunk.repeat(N_DELTAS));
    let mut best = f64::MAX;
    for _ in 0..5 {
        let mut decoder = Messages.decoder();
        let mut events = Vec::new();
        let mut n_events = 0;
        let start = Instant::now();
        for piece in body.as_bytes().chunks(chunk.len()) {
            decoder.feed(piece, &mut events);
            n_events += events.len();
            events.clear();
        }
        best = best.min(start.elapsed().as_secs_f64());
        assert_eq!(n_events, N_DELTAS);
        decoder.end(&mut events);
        assert!(matches!(events.last(), Some(ModelEvent::Failed(_))));
    }
    eprintln!(
        "{:.0} ns a delta of {} bytes",
        best * 1e9 / N_DELTAS as f64,
        chunk.len()
    );
}
