//! The price of a piece of text in each wire format. Run with
//! `cargo test --release -p engine -- --ignored --nocapture price_of_a_text_delta`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement needs a clock"
)]

use std::hint::black_box;
use std::time::Instant;

use super::{ModelEvent, Wire};
use crate::redact::Stream;

const N_DELTAS: usize = 200_000;

/// What comes before the pieces, and a piece as the provider sends it, with everything around the five bytes that count.
fn sample(wire: Wire) -> (&'static str, &'static str) {
    match wire {
        Wire::ChatCompletions => (
            "",
            "data: {\"id\":\"chatcmpl-D8Z5oo6uDh67AD85p73ksdT1KxhE0\",\"object\":\"chat.completion.chunk\",\
             \"created\":1770933892,\"model\":\"gpt-4.1-nano-2025-04-14\",\"service_tier\":\"default\",\
             \"system_fingerprint\":\"fp_de604bd877\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\
             \"logprobs\":null,\"finish_reason\":null}],\"usage\":null,\"obfuscation\":\"yhjoJbEF\"}\n\n",
        ),
        Wire::Messages => (
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
             \"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
             \"delta\":{\"type\":\"text_delta\",\"text\":\" word\"}}\n\n",
        ),
        Wire::Responses => (
            "",
            "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\
             \"sequence_number\":104,\"item_id\":\"msg_0e5f3a1c2b4d69780069\",\"output_index\":0,\"content_index\":0,\
             \"delta\":\" word\",\"logprobs\":[],\"obfuscation\":\"yhjoJbEF\"}\n\n",
        ),
        Wire::GenerateContent => (
            "",
            "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \" word\"}],\"role\": \"model\"},\"index\": 0}],\
             \"usageMetadata\": {\"promptTokenCount\": 9,\"candidatesTokenCount\": 23,\"totalTokenCount\": 271,\
             \"promptTokensDetails\": [{\"modality\": \"TEXT\",\"tokenCount\": 9}],\"thoughtsTokenCount\": 239},\
             \"modelVersion\": \"gemini-3-pro-preview\",\"responseId\": \"ALcZabPVE5fT7M8PqtjXkAg\"}\n\n",
        ),
        Wire::Ollama => (
            "",
            "{\"model\":\"qwen3:8b\",\"created_at\":\"2026-11-30T10:00:00.123456789Z\",\
             \"message\":{\"role\":\"assistant\",\"content\":\" word\"},\"done\":false}\n",
        ),
    }
}

#[test]
#[ignore = "a measurement, for release builds"]
fn price_of_a_text_delta() {
    for &wire in Wire::ALL {
        let (head, delta) = sample(wire);
        let body = delta.repeat(N_DELTAS);
        for (how, size) in [
            ("one read a delta", delta.len()),
            ("reads of 16 KiB", 16 << 10),
            ("reads of 100 bytes", 100),
        ] {
            let price = best_of(|| {
                let mut decoder = wire.provider().decoder();
                let mut events = Vec::new();
                let mut n_texts = 0;
                decoder.feed(head.as_bytes(), &mut events);
                for piece in body.as_bytes().chunks(size) {
                    decoder.feed(piece, &mut events);
                    n_texts += events.len();
                    events.clear();
                }
                assert_eq!(n_texts, N_DELTAS);
                decoder.end(&mut events);
                assert!(matches!(events.last(), Some(ModelEvent::Failed(_))));
            });
            let (name, n_bytes) = (wire.name(), delta.len());
            eprintln!("{name}, {how}: {price:.0} ns a delta of {n_bytes} bytes");
        }
    }
}

#[test]
#[ignore = "a measurement, for release builds"]
fn price_of_a_text_deltas_redaction() {
    // A word of prose; a line of code has more places at which a rule may begin.
    for (what, pieces) in [
        ("prose", [" word", " and", " the", " other"]),
        ("code", ["self.", "at(", "a_b == ", "c::d);\n"]),
    ] {
        let price = best_of(|| {
            let mut stream = Stream::default();
            for piece in pieces.iter().cycle().take(N_DELTAS) {
                black_box(stream.push(piece));
            }
        });
        eprintln!("redaction of {what}: {price:.0} ns a delta");
    }
}

/// The least that `work` took for one of its deltas, nanoseconds.
fn best_of(work: impl Fn()) -> f64 {
    let took = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    let best = (0..5).map(took).fold(f64::MAX, f64::min);
    best * 1e9 / N_DELTAS as f64
}
