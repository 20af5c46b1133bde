//! What the black-box tests stand on: a scripted editor, a scripted model, a temporary workspace, and
//! a stage with all three.

pub mod editor;
pub mod model;
#[path = "../server/engine/src/rounds.rs"]
pub mod rounds;
pub mod stage;
pub mod web;
pub mod witness;
pub mod workspace;

use std::time::Duration;

/// No wait is longer. Generous, because a loaded machine is not a fault; only a failing test takes it.
pub const PATIENCE: Duration = Duration::from_secs(10);
