//! The public catalogue of windows and prices, in the shape of models.dev's `api.json`.
//!
//! Tolerant: what has another shape than expected is not known, and the rest counts.

use crate::usage::Rates;
use protocol::config::{Price, Reasoning};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What is known of models, by the catalogue's own names of providers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    providers: BTreeMap<String, BTreeMap<String, Model>>,
}

/// What is known of one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// For people.
    pub name: Option<String>,
    /// Tokens that it can read.
    pub window: Option<u64>,
    /// Tokens that it can write in one answer.
    pub output: Option<u64>,
    pub reasoning: Option<bool>,
    /// The levels of reasoning it takes, the least first; empty: not known.
    pub levels: Vec<Reasoning>,
    pub rates: Option<Rates>,
    /// It writes text and calls tools, as far as is known.
    pub is_for_agents: bool,
}

impl Catalogue {
    /// Reads a catalogue. The error says what is wrong with it, for a log.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|it| it.to_string())?;
        let all = value.as_object().ok_or("it is no table")?;
        let providers = all.iter().filter_map(|(provider, it)| {
            let models = it.get("models")?.as_object()?;
            let models = models.iter().map(|(id, it)| (id.clone(), model(it)));
            Some((provider.clone(), models.collect()))
        });
        Ok(Self {
            providers: providers.collect(),
        })
    }

    /// A model by the catalogue's name of its provider and its id there. A dated snapshot is what it is a snapshot of,
    /// and the other way round.
    pub fn find(&self, provider: &str, id: &str) -> Option<&Model> {
        let models = self.providers.get(provider)?;
        let base = undated(id);
        models.get(id).or_else(|| models.get(base)).or_else(|| {
            let mut newest_first = models.iter().rev();
            newest_first
                .find(|(it, _)| undated(it) == base)
                .map(|(_, it)| it)
        })
    }

    /// A provider's models that an agent can use.
    pub fn models(&self, provider: &str) -> impl Iterator<Item = (&str, &Model)> {
        let models = self.providers.get(provider).into_iter().flatten();
        models
            .filter(|(_, it)| it.is_for_agents)
            .map(|(id, it)| (id.as_str(), it))
    }

    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }
}

/// The parts of a catalogue that are worth keeping: these providers, and of their models what is read here.
///
/// # Errors
/// What is wrong with it, for a log: it is no catalogue, or has none of these providers.
pub fn reduce(bytes: &[u8], providers: &[&str]) -> Result<Vec<u8>, String> {
    const FIELDS: [&str; 7] = [
        "name",
        "limit",
        "cost",
        "reasoning",
        "reasoning_options",
        "tool_call",
        "modalities",
    ];
    let value: Value = serde_json::from_slice(bytes).map_err(|it| it.to_string())?;
    let mut kept = Map::new();
    for provider in providers {
        let Some(models) = value[*provider]["models"].as_object() else {
            continue;
        };
        let models = models.iter().map(|(id, it)| {
            let fields = FIELDS.iter().filter_map(|field| {
                let value = it.get(*field)?;
                Some(((*field).to_owned(), value.clone()))
            });
            (id.clone(), Value::Object(fields.collect()))
        });
        let models: Map<String, Value> = models.collect();
        kept.insert((*provider).to_owned(), json!({"models": models}));
    }
    if kept.is_empty() {
        return Err("it has none of the providers that are known here".to_owned());
    }
    serde_json::to_vec(&kept).map_err(|it| it.to_string())
}

fn model(value: &Value) -> Model {
    let limit = &value["limit"];
    // Where both are given, `context` counts the answer in.
    let window = [&limit["context"], &limit["input"]]
        .into_iter()
        .filter_map(tokens)
        .min();
    let writes = value["modalities"]["output"].as_array();
    let options = value["reasoning_options"].as_array().into_iter().flatten();
    let levels = options.filter(|it| it["type"] == "effort");
    let levels = levels.flat_map(|it| it["values"].as_array().into_iter().flatten());
    let mut levels: Vec<Reasoning> = levels
        .filter_map(|it| Reasoning::from_id(it.as_str()?))
        .collect();
    levels.sort();
    levels.dedup();
    Model {
        name: value["name"].as_str().map(str::to_owned),
        window,
        output: tokens(&limit["output"]),
        reasoning: value["reasoning"].as_bool(),
        levels,
        rates: rates(&value["cost"]),
        is_for_agents: value["tool_call"] != false
            && writes.is_none_or(|it| it.iter().any(|it| it == "text")),
    }
}

/// A count of tokens. None has less than one.
fn tokens(value: &Value) -> Option<u64> {
    let n = value.as_u64().or_else(|| {
        let n = value.as_f64()?;
        // More than any window has digits; a fraction is cut.
        (n.is_finite() && (1.0..1e15).contains(&n)).then_some(n as u64)
    });
    n.filter(|it| *it > 0)
}

fn rates(cost: &Value) -> Option<Rates> {
    let base = price(cost)?;
    let mut above: Vec<(u64, Price)> = Vec::new();
    for tier in cost["tiers"].as_array().into_iter().flatten() {
        above.extend(tokens(&tier["tier"]["size"]).zip(price(tier)));
    }
    if above.is_empty() {
        above.extend(price(&cost["context_over_200k"]).map(|it| (200_000, it)));
    }
    above.sort_by_key(|(size, _)| *size);
    Some(Rates { base, above })
}

fn price(value: &Value) -> Option<Price> {
    let number = |name: &str| value[name].as_f64().filter(|it| *it >= 0.0);
    Some(Price {
        input: number("input")?,
        output: number("output")?,
        cache_read: number("cache_read"),
        cache_write: number("cache_write"),
    })
}

/// An id without the date of its snapshot: `claude-opus-5-5-20260901`, `gpt-5-2025-08-07`, `x@20260901`, `x-latest`.
fn undated(id: &str) -> &str {
    if let Some(base) = id.strip_suffix("-latest") {
        return base;
    }
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    if let Some((base, date)) = id.rsplit_once(['-', '@'])
        && date.len() == 8
        && digits(date)
    {
        return base;
    }
    // -2025-08-07
    let Some((base, date)) = id
        .len()
        .checked_sub(11)
        .and_then(|at| id.split_at_checked(at))
    else {
        return id;
    };
    let parts: Vec<&str> = date.split('-').collect();
    match parts.as_slice() {
        ["", year, month, day]
            if [year.len(), month.len(), day.len()] == [4, 2, 2]
                && [year, month, day].iter().all(|it| digits(it)) =>
        {
            base
        }
        _ => id,
    }
}
