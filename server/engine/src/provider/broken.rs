//! What is said of an answer that breaks off or breaks one of our limits: the same in every format.

use super::{ModelError, ModelErrorKind};

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

/// One `unit` of the stream (an event, a line) is longer than `most` bytes.
pub fn too_long(most: usize, unit: &str) -> ModelError {
    let message = format!(
        "the model's server sent more than {} MiB in one {unit}; ask for smaller steps",
        most >> 20
    );
    ModelError::new(ModelErrorKind::Limit, message)
}
