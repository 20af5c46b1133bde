//! How much of the window a conversation fills, and from where on it is too much (spec 12.3). All sizes are tokens.
//!
//! What a provider has counted is taken as it is; what came after that, and all that nobody has counted, is estimated from its
//! bytes.

use super::{Asked, Entry, Held, Said, Sight};
use crate::provider::{Content, Feature, Message, ModelRequest, ToolSpec};
use crate::session::Settings;

/// Bytes of a token, as texts of programs and of languages with Latin letters have them.
const BYTES_A_TOKEN: u64 = 4;
/// What a message takes beside its text.
const A_MESSAGE: u64 = 4;
/// What a picture takes; providers make all of them about this large.
const A_PICTURE: u64 = 1_500;
/// The least and the most that is kept free for the answer.
const RESERVE: std::ops::RangeInclusive<u64> = 4_000..=20_000;
/// The least that `auto_threshold_tokens` can be.
const LEAST_TOKENS: u64 = 50_000;
/// Percent of the window from where on a provider that was to summarise by itself is not waited for any more.
const PATIENCE_PERCENT: u64 = 95;

/// Tokens of a text.
pub fn of_text(text: &str) -> u64 {
    size(text.len()).div_ceil(BYTES_A_TOKEN)
}

/// Bytes of a text that has so many tokens.
pub fn bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(BYTES_A_TOKEN)).unwrap_or(usize::MAX)
}

fn size(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Tokens of a step of the history.
pub fn of_entry(entry: &Entry) -> u64 {
    match entry {
        Entry::User(Said { text, pictures }) => A_MESSAGE + of_text(text) + of_pictures(pictures),
        Entry::Told(text) | Entry::Summary(text) => A_MESSAGE + of_text(text),
        Entry::Answer(answer) => {
            // Thoughts go back only within the provider's own items.
            let thought = match answer.raw {
                Some(_) => of_text(&answer.thought),
                None => 0,
            };
            let calls = answer
                .calls
                .iter()
                .map(|it| of_text(&it.call.name) + of_text(&it.call.arguments) + of_result(it));
            A_MESSAGE + of_text(&answer.text) + thought + calls.sum::<u64>()
        }
    }
}

/// Tokens of a call's result.
pub fn of_result(asked: &Asked) -> u64 {
    let text = asked.result.as_ref().map_or(0, |it| of_text(&it.text));
    A_MESSAGE + text + of_pictures(&asked.pictures)
}

/// Tokens of pictures, as far as they are sent.
pub fn of_pictures<'a>(pictures: impl IntoIterator<Item = &'a Held>) -> u64 {
    let seen = pictures.into_iter().map(|it| match it.sight {
        Sight::Seen(_) => A_PICTURE,
        Sight::Past | Sight::Refused => 0,
    });
    seen.sum()
}

/// Tokens of a tool as the model is told of it.
pub fn of_tool(tool: &ToolSpec) -> u64 {
    let parameters = tool.parameters.to_string();
    A_MESSAGE + of_text(&tool.name) + of_text(&tool.description) + of_text(&parameters)
}

/// Tokens of what every request has beside the conversation.
pub fn of_frame(settings: &Settings) -> u64 {
    let tools: u64 = settings.tools.iter().map(of_tool).sum();
    of_text(&settings.system.text(&[])) + tools
}

/// Tokens of the texts of a request's conversation that are not the model's own.
pub fn of_said(request: &ModelRequest) -> u64 {
    let messages = request.messages.iter().map(|it| match it {
        Message::User(content) => content
            .iter()
            .map(|it| match it {
                Content::Text(text) => of_text(text),
                Content::Image(_) => A_PICTURE,
            })
            .sum::<u64>(),
        Message::Results(results) => results.iter().map(|it| of_text(&it.text)).sum(),
        Message::Assistant { .. } => 0,
    });
    messages.sum()
}

/// What the provider counted when it gave an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The answer's number.
    pub answer: u64,
    /// All that was read and written.
    pub tokens: u64,
}

/// Tokens that the next request would have.
pub fn filled(settings: &Settings, history: &[Entry], measured: Option<Measured>) -> u64 {
    let counted = measured.filter(|it| it.tokens > 0).and_then(|measured| {
        let is_it = |it: &Entry| matches!(it, Entry::Answer(it) if it.number == measured.answer && it.is_said());
        Some((measured.tokens, history.iter().rposition(is_it)?))
    });
    let Some((tokens, at)) = counted else {
        return of_frame(settings) + history.iter().map(of_entry).sum::<u64>();
    };
    let results: u64 = match &history[at] {
        Entry::Answer(answer) => answer.calls.iter().map(of_result).sum(),
        Entry::User(_) | Entry::Told(_) | Entry::Summary(_) => 0,
    };
    let since: u64 = history[at + 1..].iter().map(of_entry).sum();
    tokens.saturating_add(results + since)
}

/// What is kept free for the answer.
pub fn reserve(settings: &Settings) -> u64 {
    let window = settings.window.unwrap_or(u64::MAX);
    let wanted = settings.max_tokens.map_or(window / 10, u64::from);
    // A window that is so small that the reserve would be most of it.
    wanted
        .clamp(*RESERVE.start(), *RESERVE.end())
        .min(window / 4)
}

/// How full the window may be, percent.
pub fn percent(settings: &Settings) -> u64 {
    let options = &settings.compaction;
    let own = options
        .threshold_percent_per_model
        .get(&settings.model_id());
    u64::from(*own.unwrap_or(&options.auto_threshold_percent)).clamp(1, 100)
}

/// From how many tokens on older history is summarised; none: never by itself.
pub fn threshold(settings: &Settings) -> Option<u64> {
    let options = &settings.compaction;
    if !options.auto_enabled {
        return None;
    }
    let tokens = options.auto_threshold_tokens.map(|it| it.max(LEAST_TOKENS));
    let of_window = settings.window.map(|window| {
        let by_percent = share(window, percent(settings));
        by_percent.min(window - reserve(settings))
    });
    match (tokens, of_window) {
        (Some(one), Some(two)) => Some(one.min(two)),
        (one, two) => one.or(two),
    }
}

/// From how many tokens on the provider is asked to summarise by itself; none: it is not asked.
pub fn native_threshold(settings: &Settings) -> Option<u64> {
    let may = settings.compacts_itself
        && settings.compaction.provider_native
        && settings.learned.takes(Feature::Compaction);
    threshold(settings).filter(|_| may)
}

/// From how many tokens on Undine summarises. Where the provider does, it is left the time to do it: some servers take
/// the wish and do nothing.
pub fn own_threshold(settings: &Settings) -> Option<u64> {
    let Some(native) = native_threshold(settings) else {
        return threshold(settings);
    };
    let late = match settings.window {
        Some(window) => share(window, PATIENCE_PERCENT),
        None => native.saturating_add(native / 10),
    };
    Some(native.max(late))
}

fn share(of: u64, percent: u64) -> u64 {
    let part = u128::from(of) * u128::from(percent) / 100;
    u64::try_from(part).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Answer;
    use crate::provider::{ToolCall, ToolResult};
    use crate::session::settings_of_tests;
    use protocol::config::Compaction;
    use protocol::session::CallId;

    fn with(window: Option<u64>, compaction: Compaction) -> Settings {
        Settings {
            window,
            compaction,
            ..settings_of_tests()
        }
    }

    #[test]
    fn the_threshold_is_a_percentage_of_a_known_window_within_1_and_100() {
        let percent = |it| Compaction {
            auto_threshold_percent: it,
            ..Compaction::default()
        };
        let of = |window, it| threshold(&with(Some(window), percent(it)));
        assert_eq!(of(200_000, 85), Some(170_000));
        assert_eq!(of(200_000, 50), Some(100_000));
        assert_eq!(of(200_000, 0), Some(2_000));
        // What remains would be less than an answer needs.
        assert_eq!(of(200_000, 4_000), Some(180_000));
        assert_eq!(of(20_000, 85), Some(16_000));
        assert_eq!(of(8_000, 85), Some(6_000));
        assert_eq!(threshold(&with(None, percent(85))), None);
    }

    #[test]
    fn a_model_s_own_percentage_counts_over_that_of_all() {
        let mut settings = with(Some(100_000), Compaction::default());
        let table = &mut settings.compaction.threshold_percent_per_model;
        table.insert("p/m".to_owned(), 30);
        assert_eq!(threshold(&settings), Some(30_000));
        settings.model = "other".to_owned();
        assert_eq!(threshold(&settings), Some(85_000));
    }

    #[test]
    fn a_number_of_tokens_works_without_a_window_and_is_never_less_than_50_000() {
        let tokens = |it| Compaction {
            auto_threshold_tokens: Some(it),
            ..Compaction::default()
        };
        assert_eq!(threshold(&with(None, tokens(70_000))), Some(70_000));
        assert_eq!(threshold(&with(None, tokens(10))), Some(50_000));
        // Whatever comes first.
        assert_eq!(threshold(&with(Some(40_000), tokens(70_000))), Some(34_000));
        let off = Compaction {
            auto_enabled: false,
            ..tokens(70_000)
        };
        assert_eq!(threshold(&with(Some(40_000), off)), None);
    }

    #[test]
    fn a_provider_that_summarises_by_itself_is_asked_at_the_threshold_and_waited_for_up_to_95_percent()
     {
        let mut settings = with(Some(200_000), Compaction::default());
        assert_eq!(native_threshold(&settings), None);
        settings.compacts_itself = true;
        assert_eq!(native_threshold(&settings), Some(170_000));
        assert_eq!(own_threshold(&settings), Some(190_000));
        settings.learned.refused.insert(Feature::Compaction);
        assert_eq!(native_threshold(&settings), None);
        assert_eq!(own_threshold(&settings), Some(170_000));
    }

    #[test]
    fn what_was_counted_stands_and_what_came_after_it_is_estimated() {
        let settings = with(None, Compaction::default());
        let mut answer = Answer::new(7, "p/m");
        answer.text = "x".repeat(4_000);
        let call = ToolCall {
            id: "c".to_owned(),
            name: "t".to_owned(),
            arguments: "{}".to_owned(),
            native: None,
        };
        let mut asked = Asked::new(CallId(0), call);
        asked.result = Some(ToolResult {
            id: "c".to_owned(),
            text: "r".repeat(400),
            is_error: false,
            images: Vec::new(),
        });
        answer.calls.push(asked);
        let history = [
            Entry::User("go".into()),
            Entry::Answer(answer),
            Entry::User("x".repeat(40).into()),
        ];
        let measured = |answer| {
            Some(Measured {
                answer,
                tokens: 500,
            })
        };
        assert_eq!(filled(&settings, &history, measured(7)), 500 + 104 + 14);
        // Of an answer that is gone nothing is known.
        let whole = filled(&settings, &history, None);
        assert!(whole > 1_100);
        assert_eq!(filled(&settings, &history, measured(8)), whole);
    }
}
