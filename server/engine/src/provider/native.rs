//! A provider's own tools, and the tools of ours that they stand for (spec 17).
//!
//! A model is offered its provider's own tool only while all of ours that it stands for are there. Its calls are rewritten
//! onto ours as they arrive, so that policy, sandbox, checkpoints and the person see the tool they always do; the
//! history keeps beside it what the model wrote, and sends that back while the tool is on offer.

mod apply_patch;
mod bash;
mod text_editor;

use super::{Feature, Learned, ToolCall, ToolSpec};
use serde::{Deserialize, Serialize};

/// A tool that a provider defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum NativeTool {
    /// Anthropic's `text_editor_20250728`.
    TextEditor,
    /// Anthropic's `bash_20250124`.
    Bash,
    /// OpenAI's `apply_patch`.
    ApplyPatch,
}

/// A call of such a tool, as the model wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NativeCall {
    pub tool: NativeTool,
    /// JSON text, which need not be valid.
    pub input: String,
}

/// What a call of a provider's own tool becomes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rewritten {
    /// A call of ours: its name and arguments.
    Call(&'static str, serde_json::Value),
    /// Nothing runs; this is the result.
    Answer(Answer),
}

/// The result of a call that nothing is run for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    pub is_error: bool,
}

impl NativeTool {
    pub const ALL: [NativeTool; 3] = [
        NativeTool::TextEditor,
        NativeTool::Bash,
        NativeTool::ApplyPatch,
    ];

    /// The name its calls have on the wire, and in the log.
    pub fn name(self) -> &'static str {
        match self {
            NativeTool::TextEditor => "str_replace_based_edit_tool",
            NativeTool::Bash => "bash",
            NativeTool::ApplyPatch => "apply_patch_call",
        }
    }

    /// The tool with this name.
    pub fn from_name(name: &str) -> Option<NativeTool> {
        NativeTool::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The tools of ours that must be there for it to be offered.
    pub fn needs(self) -> &'static [&'static str] {
        match self {
            NativeTool::TextEditor => &["read_file", "write_file", "edit_file"],
            NativeTool::Bash => &["execute_command"],
            NativeTool::ApplyPatch => &["apply_patch"],
        }
    }

    /// The tools of ours that are not offered beside it. Bash stands beside `execute_command`, which has a time-out and a
    /// background mode.
    pub fn stands_for(self) -> &'static [&'static str] {
        match self {
            NativeTool::TextEditor | NativeTool::ApplyPatch => self.needs(),
            NativeTool::Bash => &[],
        }
    }

    /// What a model refuses when it refuses it.
    pub fn feature(self) -> Feature {
        match self {
            NativeTool::TextEditor => Feature::TextEditor,
            NativeTool::Bash => Feature::Bash,
            NativeTool::ApplyPatch => Feature::ApplyPatch,
        }
    }

    fn rewrite(self, input: &str) -> Rewritten {
        match self {
            NativeTool::TextEditor => text_editor::rewrite(input),
            NativeTool::Bash => bash::rewrite(input),
            NativeTool::ApplyPatch => apply_patch::rewrite(input),
        }
    }
}

/// Which of `possible` are on offer beside `tools` to a model that refuses what is learned of it.
pub fn on_offer(possible: &[NativeTool], tools: &[ToolSpec], learned: &Learned) -> Vec<NativeTool> {
    let is_there = |name: &&str| tools.iter().any(|it| it.name == *name);
    let is_on = |it: &NativeTool| learned.takes(it.feature()) && it.needs().iter().all(is_there);
    possible.iter().copied().filter(is_on).collect()
}

/// The tools of ours that are declared beside these.
pub fn beside<'a>(
    natives: &[NativeTool],
    tools: &'a [ToolSpec],
) -> impl Iterator<Item = &'a ToolSpec> {
    let replaced: Vec<&str> = natives
        .iter()
        .flat_map(|it| it.stands_for())
        .copied()
        .collect();
    tools
        .iter()
        .filter(move |it| !replaced.contains(&it.name.as_str()))
}

/// A call that the model made of a provider's own tool, rewritten onto ours. A call that nothing is run for keeps the
/// provider's name, and [`answer`] has its result.
pub fn call(id: String, tool: NativeTool, input: String) -> ToolCall {
    let (name, arguments) = match tool.rewrite(&input) {
        Rewritten::Call(name, arguments) => (name.to_owned(), arguments.to_string()),
        Rewritten::Answer(_) => (tool.name().to_owned(), String::new()),
    };
    let native = Some(NativeCall { tool, input });
    ToolCall {
        id,
        name,
        arguments,
        native,
    }
}

/// The result of a call that nothing is run for; none for every other call.
pub fn answer(call: &ToolCall) -> Option<Answer> {
    let native = call.native.as_ref()?;
    match native.tool.rewrite(&native.input) {
        Rewritten::Answer(answer) => Some(answer),
        Rewritten::Call(..) => None,
    }
}
