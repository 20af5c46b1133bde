//! Steering a run: what waits, cut and empty replies, pictures, goals, side questions, styles, and the line at its end.

mod asides;
mod goals;
mod pictures;
mod queue;
mod styles;

use crate::support::editor::Pending;
use crate::support::stage::Stage;
use protocol::methods::Prompt;
use serde_json::Value;

/// The whole answer to a prompt.
#[track_caller]
fn answer(stage: &Stage, prompt: &Pending<Prompt>) -> Value {
    stage.editor.raw_answer(prompt.id).unwrap()
}

/// Waits for a notice that has this in it.
#[track_caller]
fn notice(stage: &Stage, text: &str) {
    stage.editor.updates_until(text, |it| {
        it["_meta"]["undine"]["notice"] == true
            && it["content"]["text"]
                .as_str()
                .is_some_and(|it| it.contains(text))
    });
}
