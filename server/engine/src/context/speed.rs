//! The price of a long history: making a request of it, and writing that in each wire format. Run with
//! `cargo test --release -p engine -- --ignored --nocapture price_of_a_long_history`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement needs a clock"
)]

use super::{Answer, Entry, build};
use crate::provider::{Endpoint, Wire};
use crate::session::Settings;
use std::hint::black_box;
use std::time::Instant;

#[test]
#[ignore = "a measurement, for release builds"]
fn price_of_a_long_history() {
    let settings = Settings {
        model: "m".to_owned(),
        ..Settings::default()
    };
    let endpoint = Endpoint {
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        key: None,
        extra_headers: Vec::new(),
    };
    for n in [20, 5_000] {
        let text =
            "please look at the function parse_header and tell me why it reads the length twice";
        let history: Vec<Entry> = (0..n / 2)
            .flat_map(|number| {
                let mut answer = Answer::new(number, "m");
                answer.say(text, "", None);
                [Entry::User(text.into()), Entry::Answer(answer)]
            })
            .collect();
        for &wire in Wire::ALL {
            let (mut built, mut written, mut bytes) = (Vec::new(), Vec::new(), 0);
            for _ in 0..50 {
                let start = Instant::now();
                let request = build(&settings, &history);
                built.push(start.elapsed());
                let start = Instant::now();
                let http = wire.provider().request(&endpoint, &request);
                bytes = black_box(http).body.len();
                drop(request);
                written.push(start.elapsed());
            }
            let median = |times: &mut Vec<std::time::Duration>| {
                times.sort();
                times[times.len() / 2]
            };
            eprintln!(
                "{n} messages, {}: built in {:?}, written in {:?}, {bytes} bytes",
                wire.name(),
                median(&mut built),
                median(&mut written)
            );
        }
    }
}
