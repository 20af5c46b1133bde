//! The price of a delta. Run with `cargo test --release -p engine -- --ignored --nocapture price`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement needs a clock"
)]

use std::time::Instant;

use super::ChatCompletions;
use crate::provider::{ModelEvent, Provider as _};

#[test]
#[ignore = "a measurement, for release builds"]
fn price_of_a_text_delta() {
    const N_DELTAS: usize = 200_000;
    // As OpenAI sends it, with everything around the five bytes that count.
    let chunk = "data: {\"id\":\"chatcmpl-D8Z5oo6uDh67AD85p73ksdT1KxhE0\",\"object\":\"chat.completion.chunk\",\
        \"created\":1770933892,\"model\":\"gpt-4.1-nano-2025-04-14\",\"service_tier\":\"default\",\
        \"system_fingerprint\":\"fp_de604bd877\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\
        \"logprobs\":null,\"finish_reason\":null}],\"usage\":null,\"obfuscation\":\"yhjoJbEF\"}\n\n";
    let body = chunk.repeat(N_DELTAS);
    for (name, size) in [
        ("one read a delta", chunk.len()),
        ("reads of 16 KiB", 16 << 10),
        ("reads of 100 bytes", 100),
    ] {
        let mut best = f64::MAX;
        for _ in 0..5 {
            let mut decoder = ChatCompletions.decoder();
            let mut events = Vec::new();
            let mut n_events = 0;
            let start = Instant::now();
            for piece in body.as_bytes().chunks(size) {
                decoder.feed(piece, &mut events);
                n_events += events.len();
                events.clear();
            }
            best = best.min(start.elapsed().as_secs_f64());
            assert_eq!(n_events, N_DELTAS);
            decoder.end(&mut events);
            assert!(matches!(events[..], [ModelEvent::Failed(_)]));
        }
        eprintln!(
            "{name}: {:.0} ns a delta of {} bytes",
            best * 1e9 / N_DELTAS as f64,
            chunk.len()
        );
    }
}
