//! What is said of an answer that breaks off or breaks one of our limits: the same in every format.

use super::{ModelError, ModelErrorKind};

/// The most calls in one answer (spec 0.6).
pub const MAX_CALLS: usize = 256;
/// The most bytes of one call's arguments (spec 0.6).
pub const MAX_ARGUMENTS: usize = 4 << 20;

/// The stream has ended before the answer.
pub fn cut() -> ModelError {
    let message = "the model's stream ended before its answer was complete; what had arrived is kept, try again to go on";
    ModelError::new(ModelErrorKind::Cut, message)
}

/// One of our limits is reached, which `what` the model did says.
pub fn limit(what: &str) -> ModelError {
    let message = format!("the model {what}; ask for smaller steps");
    ModelError::new(ModelErrorKind::Limit, message)
}

/// There are more than [`MAX_CALLS`] calls.
pub fn too_many_calls() -> ModelError {
    limit(&format!(
        "made more than {MAX_CALLS} tool calls in one answer"
    ))
}

/// A call has more than [`MAX_ARGUMENTS`] bytes of arguments.
pub fn too_long_arguments() -> ModelError {
    limit(&format!(
        "wrote more than {} MiB of arguments for one tool call",
        MAX_ARGUMENTS >> 20
    ))
}

/// One `unit` of the stream (an event, a line) is longer than `most` bytes.
pub fn too_long(most: usize, unit: &str) -> ModelError {
    let message = format!(
        "the model's server sent more than {} MiB in one {unit}; ask for smaller steps",
        most >> 20
    );
    ModelError::new(ModelErrorKind::Limit, message)
}
