//! What a model does not take, learned from its refusals (spec 29).
//!
//! A request is sent as it was asked for. A provider that refuses one thing of it by name is asked again without that
//! thing; when it then answers, the session remembers that for this model at this address. Nothing is ever learned from an
//! answer that came: a server may accept what it ignores.

use protocol::config::Reasoning;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The table of what may be refused: a variant and its name in the store.
macro_rules! features {
    ($($(#[$doc:meta])+ $variant:ident = $name:literal,)+) => {
        /// A part of a request that a model may refuse by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Feature { $($(#[$doc])+ $variant,)+ }

        impl Feature {
            /// All of them, in the order of the table.
            pub const ALL: &[Feature] = &[$(Feature::$variant,)+];

            /// The name in the store.
            pub fn name(self) -> &'static str {
                match self { $(Feature::$variant => $name,)+ }
            }

            /// The feature called `name`, if there is one.
            pub fn from_name(name: &str) -> Option<Feature> {
                Feature::ALL.iter().copied().find(|it| it.name() == name)
            }
        }
    };
}

features! {
    /// Sampling temperature.
    Temperature = "temperature",
    /// A limit of the answer's tokens, spelt `max_tokens`.
    MaxTokens = "max_tokens",
    /// The same, spelt `max_completion_tokens`.
    MaxCompletionTokens = "max_completion_tokens",
    /// Any level of reasoning.
    Reasoning = "reasoning",
    /// Whether and how thinking is asked for at all (Anthropic's `thinking`, Gemini's `thinkingConfig`).
    Thinking = "thinking",
    /// That thoughts are shown as they come (Anthropic's `display` and its beta).
    ThoughtDisplay = "thought_display",
    /// That thoughts which do not fit any more are dropped (Anthropic's `block_binding` and its beta).
    ThoughtBinding = "thought_binding",
    /// A summary of the reasoning (OpenAI's `reasoning.summary`).
    ThoughtSummary = "thought_summary",
    /// Reasoning in encrypted form (OpenAI's `include`).
    EncryptedThought = "encrypted_thought",
    /// Marks of what is worth caching.
    CacheMarkers = "cache_markers",
    /// The conversation's key of the cache.
    CacheKey = "cache_key",
    /// Usage at the end of a stream (`stream_options`).
    StreamUsage = "stream_usage",
    /// Anthropic's text editor.
    TextEditor = "text_editor",
    /// Anthropic's bash.
    Bash = "bash",
    /// OpenAI's `apply_patch`.
    ApplyPatch = "apply_patch",
    /// Tools of any kind.
    Tools = "tools",
    /// A tool's parameters as JSON Schema (Gemini's `parametersJsonSchema`).
    JsonSchema = "json_schema",
    /// That the provider summarises by itself (`context_management`).
    Compaction = "compaction",
}

/// What a provider refused, as its error names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// Leave this out.
    Drop(Feature),
    /// Not this level of reasoning. `highest` is the highest that it says it takes, where it says that.
    Level { highest: Option<Reasoning> },
    /// At most so many tokens in an answer.
    MaxTokens(u32),
}

/// What one model at one address does not take. The default: nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    pub refused: BTreeSet<Feature>,
    /// Levels of reasoning that were refused.
    pub levels: BTreeSet<Reasoning>,
    /// The most tokens of an answer.
    pub max_tokens: Option<u32>,
}

impl Learned {
    /// Whether this may be sent.
    pub fn takes(&self, feature: Feature) -> bool {
        !self.refused.contains(&feature)
    }

    /// The highest level up to `wanted` that was not refused; where a model cannot be still, the least that models have
    /// in common.
    pub fn reasoning(&self, wanted: Reasoning) -> Option<Reasoning> {
        if !self.takes(Feature::Reasoning) {
            return None;
        }
        let up_to = Reasoning::ALL.into_iter().filter(|it| *it <= wanted);
        let takes = |it: &Reasoning| !self.levels.contains(it);
        let instead = (wanted == Reasoning::None).then_some(Reasoning::Low);
        up_to.rev().find(takes).or(instead.filter(takes))
    }

    /// Takes in what is known from elsewhere.
    pub fn extend(&mut self, other: &Learned) {
        self.refused.extend(&other.refused);
        self.levels.extend(&other.levels);
        self.max_tokens = match (self.max_tokens, other.max_tokens) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
    }

    /// What is known here and not in `before`.
    pub fn beyond(&self, before: &Learned) -> Learned {
        Learned {
            refused: &self.refused - &before.refused,
            levels: &self.levels - &before.levels,
            max_tokens: self
                .max_tokens
                .filter(|_| self.max_tokens != before.max_tokens),
        }
    }

    /// Takes in a refusal of a request that was sent with `sent` as its level of reasoning. False: it says nothing new, so
    /// that asking again would be refused again.
    pub fn learn(&mut self, refusal: Refusal, sent: Option<Reasoning>) -> bool {
        match refusal {
            Refusal::Drop(feature) => self.refused.insert(feature),
            Refusal::Level { highest } => {
                let Some(sent) = sent else { return false };
                let floor = highest.filter(|it| *it < sent);
                let refused = Reasoning::ALL
                    .into_iter()
                    .filter(|it| *it == sent || floor.is_some_and(|floor| *it > floor));
                let n_before = self.levels.len();
                self.levels.extend(refused);
                self.levels.len() > n_before
            }
            Refusal::MaxTokens(most) => {
                let is_less = most > 0 && self.max_tokens.is_none_or(|it| most < it);
                if is_less {
                    self.max_tokens = Some(most);
                }
                is_less
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_level_steps_down_to_the_next_or_to_the_highest_that_is_named() {
        let mut learned = Learned::default();
        assert!(learned.learn(Refusal::Level { highest: None }, Some(Reasoning::Max)));
        assert_eq!(learned.reasoning(Reasoning::Max), Some(Reasoning::Xhigh));
        let named = Refusal::Level {
            highest: Some(Reasoning::Medium),
        };
        assert!(learned.learn(named, Some(Reasoning::Xhigh)));
        assert_eq!(learned.reasoning(Reasoning::Max), Some(Reasoning::Medium));
        assert_eq!(learned.reasoning(Reasoning::Low), Some(Reasoning::Low));
        assert!(!learned.learn(named, Some(Reasoning::Xhigh)));
    }

    #[test]
    fn a_model_that_cannot_be_still_thinks_little_and_says_if_it_refuses_that_too() {
        let mut learned = Learned::default();
        let level = Refusal::Level { highest: None };
        let refused = [Some(Reasoning::None), Some(Reasoning::Low), None];
        for sent in refused {
            assert_eq!(learned.reasoning(Reasoning::None), sent);
            assert_eq!(learned.learn(level, sent), sent.is_some());
        }
    }

    #[test]
    fn what_is_known_from_two_places_adds_up_and_what_is_news_is_told_from_it() {
        let mut one = Learned::default();
        one.learn(Refusal::Drop(Feature::Temperature), None);
        one.learn(Refusal::MaxTokens(100), None);
        let mut two = one.clone();
        two.learn(Refusal::Drop(Feature::Bash), None);
        two.learn(Refusal::MaxTokens(50), None);
        let news = two.beyond(&one);
        assert_eq!(news.refused, BTreeSet::from([Feature::Bash]));
        assert_eq!(news.max_tokens, Some(50));
        assert_eq!(two.beyond(&two), Learned::default());
        one.extend(&news);
        assert_eq!(one, two);
        one.extend(&Learned::default());
        assert_eq!(one, two);
    }

    #[test]
    fn every_feature_is_found_by_its_name() {
        for feature in Feature::ALL {
            assert_eq!(Feature::from_name(feature.name()), Some(*feature));
        }
    }
}
