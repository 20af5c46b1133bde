//! For how many rounds a law is held, and from which seeds. The black-box tests use this file, too.
//!
//! Left alone, a law is held for the rounds that stand with it, always the same ones. `UNDINE_SOAK=20`
//! holds it for twenty times as many, from a seed that nobody has tried and that is printed;
//! `UNDINE_SEED=7` begins with that one. A round that fails prints the seed which begins with it.

#![allow(clippy::disallowed_methods, reason = "tests are told how long to run")]

use fastrand::Rng;

/// The rounds of one law, each with its own seed and a generator that it alone feeds.
pub struct Rounds {
    next: u64,
    end: u64,
    at_work: Option<u64>,
}

/// `n` rounds from a seed on, unless the environment says otherwise.
pub fn rounds(seed: u64, n: u64) -> Rounds {
    let told = number("UNDINE_SEED");
    let times = soak();
    let next = match (told, times) {
        (Some(told), _) => told,
        (None, None) => seed,
        // Short, so that a person can type it.
        (None, Some(_)) => u64::from(fastrand::u32(..)),
    };
    let n = n * times.unwrap_or(1);
    if times.is_some() {
        eprintln!("{n} rounds from UNDINE_SEED={next}");
    }
    Rounds {
        next,
        end: next.saturating_add(n),
        at_work: None,
    }
}

/// How many times the rounds a long run wants; none: this is no long run.
pub fn soak() -> Option<u64> {
    number("UNDINE_SOAK")
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok().filter(|it| !it.is_empty())?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

impl Iterator for Rounds {
    type Item = (u64, Rng);

    fn next(&mut self) -> Option<Self::Item> {
        self.at_work = (self.next < self.end).then_some(self.next);
        let seed = self.at_work?;
        self.next += 1;
        // Spread, because neighbours begin alike.
        let rng = Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Some((seed, rng))
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(seed) = self.at_work
        {
            eprintln!("this round comes first with UNDINE_SEED={seed}");
        }
    }
}
