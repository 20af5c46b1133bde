//! Reads the session's own log (spec 12.1): what was said, also what a summary stands for now. It touches nothing else, so
//! it needs no approval.

use super::Tool;
use crate::plan::{Done, Plan, Run, World};
use crate::store;
use engine::context::archive::{Question, answer};
use protocol::acp::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

pub struct ContextArchive;

/// Look into this session's whole log, also at what was summarised since: search it, read one message whole, or list the messages.
/// Messages are numbered from 1 in the order they happened, and keep their numbers.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Search for this text, in whatever case, in what was said, in calls with their arguments, and in results.
    #[serde(default)]
    query: Option<String>,
    /// Read the message with this number whole. It wins over query.
    #[serde(default)]
    message: Option<u64>,
    /// The character of the message to begin with; an answer has 32000 of them at most and says which comes next.
    #[serde(default)]
    char_offset: Option<u64>,
    /// The number of the first message to list or to search.
    #[serde(default)]
    from: Option<u64>,
    /// The most messages to list.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u64>,
}

impl Tool for ContextArchive {
    const NAME: &'static str = "context_archive";
    const KIND: ToolKind = ToolKind::Search;
    type Input = Input;

    async fn plan(input: Input, world: World) -> Result<Plan, String> {
        let question = Question {
            query: input.query,
            message: input.message,
            char_offset: input.char_offset,
            from: input.from,
            limit: input.limit,
        };
        let title = match (&question.message, &question.query) {
            (Some(number), _) => format!("Read message {number} of this session"),
            (None, Some(query)) => format!("Search this session for {query:?}"),
            (None, None) => "List the messages of this session".to_owned(),
        };
        let log = world
            .log
            .ok_or("This session has no log; nothing of it can be read back.")?;
        Ok(Plan::build(title).then(async move |_: Run| {
            let read = tokio::task::spawn_blocking(move || {
                let (records, _) = store::read(&log).map_err(|it| it.to_string())?;
                answer(&records, &question)
            });
            let text = read.await.map_err(|it| it.to_string())??;
            Ok(Done::text(text))
        }))
    }
}
