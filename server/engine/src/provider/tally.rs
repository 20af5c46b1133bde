//! From the sums that OpenAI and those who follow it report to parts that do not overlap (spec 26).

use super::Usage;

/// Tokens as they are reported. What is read includes what came from the cache and what went into it; what is written
/// includes thinking, except with xAI.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub read: u64,
    pub written: u64,
    pub total: Option<u64>,
    pub cached: u64,
    pub cache_write: u64,
    pub reasoning: u64,
}

impl Sums {
    pub fn parts(self) -> Usage {
        let Sums {
            read,
            written,
            total,
            cached,
            cache_write,
            reasoning,
        } = self;
        let cached = cached.min(read);
        let cache_write = cache_write.min(read - cached);
        // xAI counts thinking beside what is written in Chat Completions; the total tells.
        let sum = read.saturating_add(written).saturating_add(reasoning);
        let is_beside = reasoning > written || (reasoning > 0 && total == Some(sum));
        Usage {
            input: read - cached - cache_write,
            cached,
            cache_write,
            output: match is_beside {
                true => written,
                false => written - reasoning,
            },
            reasoning,
        }
    }
}
