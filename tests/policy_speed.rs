//! Times the policy's decision about a command line for `tests/bench`: nanoseconds of each round on stdout.
//!
//!     policy-speed LINE ROUNDS   LINE is a file that holds the command line, as the model wrote it
//!
//! A round is all that stands between the line and its verdict: it is taken apart as `sh` would, and judged in mode
//! `auto` with a person's rule and two hundred remembered answers, none of which fits.

#![allow(clippy::print_stdout, reason = "this program answers on stdout")]

use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use engine::policy::Gate;
use engine::policy::shell::{Shell, Surroundings, read};
use protocol::approval::Rule;
use protocol::config::{RuleVerdict, Safety, SafetyRule};
use protocol::session::Mode;
use protocol::tool::{Access, Place};

/// Answers that a person may have given over years.
const REMEMBERED: usize = 200;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [line, rounds] = &arguments[..] else {
        panic!("policy-speed LINE ROUNDS");
    };
    let line = fs::read_to_string(line).unwrap();
    let cwd = PathBuf::from("/home/ada/project");
    let around = Surroundings {
        shell: Shell::Posix,
        cwd: cwd.clone(),
        home: Some("/home/ada".into()),
        roots: vec![cwd.clone()],
        scratchpad: Some("/tmp/pad".into()),
        protected: vec!["/home/ada/.config/undine".into()],
    };
    let remembered: Vec<Rule> = (0..REMEMBERED)
        .map(|it| Rule::Run {
            command: format!("make target-{it}"),
            cwd: cwd.clone(),
        })
        .collect();
    let safety = Safety {
        rules: vec![SafetyRule {
            category: None,
            tool: None,
            pattern: Some("no such text".to_owned()),
            verdict: RuleVerdict::Deny,
            reason: None,
            checkpoint: None,
        }],
        ..Safety::default()
    };
    let gate = Gate {
        mode: Mode::Auto,
        safety: &safety,
        remembered: &remembered,
        can_hold: true,
    };
    for _ in 0..rounds.parse().unwrap() {
        let begun = Instant::now();
        let access = Access::Run {
            command: line.clone(),
            cwd: cwd.clone(),
            place: Place::Project,
            reading: read(&line, &around),
        };
        black_box(gate.decide("execute_command", &[access]));
        println!("{}", begun.elapsed().as_nanos());
    }
}
