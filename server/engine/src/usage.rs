//! Tokens and what they cost (spec 26). Pure: prices come in, sums go out.

use crate::provider::Usage;
use protocol::config::Price;
use protocol::record::{Purpose, Record, Tokens, Used};
use std::collections::BTreeMap;

/// What a model costs. Some cost more for answers that read much.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    pub base: Price,
    /// From more than this many tokens read on, the least first.
    pub above: Vec<(u64, Price)>,
}

impl Rates {
    /// On one's own machine nothing costs anything.
    pub fn free() -> Self {
        Self::default()
    }

    /// The price of an answer that read so many tokens.
    fn at(&self, read: u64) -> &Price {
        let dearer = self.above.iter().rev().find(|(size, _)| read > *size);
        dearer.map_or(&self.base, |(_, it)| it)
    }

    /// US dollars of one answer. Rates for the cache default to that for reading; thoughts are written.
    pub fn cost(&self, usage: &Usage) -> f64 {
        self.cost_at(read_by(usage), usage)
    }

    /// The same of the sum of answers that are priced as one that read so many tokens.
    fn cost_at(&self, read: u64, usage: &Usage) -> f64 {
        let price = self.at(read);
        let parts = [
            (usage.input, price.input),
            (usage.cached, price.cache_read.unwrap_or(price.input)),
            (usage.cache_write, price.cache_write.unwrap_or(price.input)),
            (usage.output, price.output),
            (usage.reasoning, price.output),
        ];
        let millionths: f64 = parts.iter().map(|(n, rate)| *n as f64 * rate).sum();
        millionths / 1e6
    }
}

impl From<Price> for Rates {
    fn from(base: Price) -> Self {
        Self {
            base,
            above: Vec::new(),
        }
    }
}

/// All answers of a session, or of many, by the model that gave them, in sums of those of about one size: a price may depend on it.
/// However many answers there are, there are few sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    answers: BTreeMap<String, BTreeMap<Size, Sum>>,
}

/// How much an answer read, in begun thousands and in begun units of 1,024: where a price changes is a multiple of either, so that
/// answers of one size have one price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Size(u64, u64);

impl Size {
    fn of(read: u64) -> Self {
        Self(read.div_ceil(1_000), read.div_ceil(1_024))
    }
}

/// Answers of one size.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sum {
    answers: u64,
    /// The most tokens that one of them read.
    most_read: u64,
    tokens: Usage,
}

fn read_by(usage: &Usage) -> u64 {
    usage.input + usage.cached + usage.cache_write
}

/// What one model has answered in all.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// provider/model.
    pub model: String,
    pub answers: u64,
    pub tokens: Usage,
    /// US dollars; none where the price is not known.
    pub cost: Option<f64>,
}

/// A tally with its prices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bill {
    /// By model.
    pub lines: Vec<Line>,
    /// US dollars of the models whose price is known; none if there is none.
    pub total: Option<f64>,
}

impl Tally {
    pub fn add(&mut self, model: &str, usage: Usage) {
        self.add_sum(model, 1, read_by(&usage), &usage);
    }

    fn add_sum(&mut self, model: &str, answers: u64, most_read: u64, tokens: &Usage) {
        if !self.answers.contains_key(model) {
            self.answers.insert(model.to_owned(), BTreeMap::new());
        }
        let Some(sizes) = self.answers.get_mut(model) else {
            return;
        };
        let so_far = sizes.entry(Size::of(most_read)).or_default();
        so_far.answers += answers;
        so_far.most_read = so_far.most_read.max(most_read);
        so_far.tokens = sum(so_far.tokens, tokens);
    }

    /// Takes in sums that a snapshot has kept.
    pub fn take_used(&mut self, used: &Used) {
        self.add_sum(
            &used.model,
            used.answers,
            used.most_read,
            &of_tokens(&used.tokens),
        );
    }

    /// The sums as a snapshot keeps them.
    pub fn used(&self) -> impl Iterator<Item = Used> + '_ {
        self.answers.iter().flat_map(|(model, sizes)| {
            sizes.values().map(|it| Used {
                model: model.clone(),
                answers: it.answers,
                most_read: it.most_read,
                tokens: to_tokens(&it.tokens),
            })
        })
    }

    /// Takes in what a log says of an answer.
    pub fn take(&mut self, record: &Record) {
        if let Some((model, _, usage)) = of_record(record) {
            self.add(model, usage);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// With the prices of models, by provider/model.
    pub fn bill(&self, rates: impl Fn(&str) -> Option<Rates>) -> Bill {
        let lines = self.answers.iter().map(|(model, sizes)| {
            let of_size = |rates: &Rates, it: &Sum| rates.cost_at(it.most_read, &it.tokens);
            let cost = rates(model).map(|rates| sizes.values().map(|it| of_size(&rates, it)).sum());
            let tokens = sizes.values().map(|it| &it.tokens);
            Line {
                model: model.clone(),
                answers: sizes.values().map(|it| it.answers).sum(),
                tokens: tokens.fold(Usage::default(), sum),
                cost,
            }
        });
        let lines: Vec<Line> = lines.collect();
        let known: Vec<f64> = lines.iter().filter_map(|it| it.cost).collect();
        Bill {
            total: (!known.is_empty()).then(|| known.iter().sum()),
            lines,
        }
    }
}

impl Bill {
    /// The models whose price is not known: they are left out of the total.
    pub fn unpriced(&self) -> impl Iterator<Item = &str> {
        let unknown = self.lines.iter().filter(|it| it.cost.is_none());
        unknown.map(|it| it.model.as_str())
    }

    /// For a person: a line a model, and the total.
    pub fn text(&self) -> String {
        if self.lines.is_empty() {
            return "Nothing was asked of a model yet.".to_owned();
        }
        let mut lines: Vec<String> = self.lines.iter().map(line).collect();
        let unpriced: Vec<&str> = self.unpriced().collect();
        let total = self.total.map(dollars);
        lines.push(match (total, unpriced.is_empty()) {
            (Some(total), true) => format!("{total} in all."),
            (Some(total), false) => format!(
                "{total} in all, without {}, whose price is not known; set it under [pricing.models] in config.toml.",
                unpriced.join(", ")
            ),
            (None, _) => format!(
                "The price of {} is not known; set it under [pricing.models] in config.toml.",
                unpriced.join(", ")
            ),
        });
        lines.join("\n")
    }
}

/// Tokens as a snapshot keeps them.
pub fn to_tokens(usage: &Usage) -> Tokens {
    let Usage {
        input,
        cached,
        cache_write,
        output,
        reasoning,
    } = *usage;
    Tokens {
        input,
        cached,
        cache_write,
        output,
        reasoning,
    }
}

/// And back.
pub fn of_tokens(tokens: &Tokens) -> Usage {
    let Tokens {
        input,
        cached,
        cache_write,
        output,
        reasoning,
    } = *tokens;
    Usage {
        input,
        cached,
        cache_write,
        output,
        reasoning,
    }
}

fn line(line: &Line) -> String {
    let Usage {
        input,
        cached,
        cache_write,
        output,
        reasoning,
    } = line.tokens;
    let mut parts = vec![format!("{input} read")];
    for (n, what) in [(cached, "from the cache"), (cache_write, "into the cache")] {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    }
    parts.push(format!("{output} written"));
    if reasoning > 0 {
        parts.push(format!("{reasoning} thought"));
    }
    let answers = match line.answers {
        1 => "1 answer".to_owned(),
        n => format!("{n} answers"),
    };
    let cost = line.cost.map_or("price not known".to_owned(), dollars);
    format!("{}: {answers}, {}: {cost}", line.model, parts.join(", "))
}

fn sum(a: Usage, b: &Usage) -> Usage {
    Usage {
        input: a.input + b.input,
        cached: a.cached + b.cached,
        cache_write: a.cache_write + b.cache_write,
        output: a.output + b.output,
        reasoning: a.reasoning + b.reasoning,
    }
}

/// Money for people. Under a cent it has four decimals, else two.
pub fn dollars(amount: f64) -> String {
    match amount > 0.0 && amount < 0.01 {
        true => format!("${amount:.4}"),
        false => format!("${amount:.2}"),
    }
}

/// Tokens that fill the window after an answer.
pub fn filled(usage: &Usage) -> u64 {
    usage.input + usage.cached + usage.cache_write + usage.output + usage.reasoning
}

/// An answer's tokens as the log keeps them.
pub fn record(model: &str, purpose: Purpose, usage: &Usage) -> Record {
    Record::Usage {
        model: model.to_owned(),
        purpose,
        input: usage.input,
        cached: usage.cached,
        cache_write: usage.cache_write,
        output: usage.output,
        reasoning: usage.reasoning,
    }
}

/// And back: model, purpose and tokens, if the record is one of an answer's tokens.
pub fn of_record(record: &Record) -> Option<(&str, Purpose, Usage)> {
    let Record::Usage {
        model,
        purpose,
        input,
        cached,
        cache_write,
        output,
        reasoning,
    } = record
    else {
        return None;
    };
    let usage = Usage {
        input: *input,
        cached: *cached,
        cache_write: *cache_write,
        output: *output,
        reasoning: *reasoning,
    };
    Some((model, *purpose, usage))
}

#[cfg(test)]
mod tests;
