//! `undine/checkpoint/…`: what files were, and giving it back to them.

use crate::lsp::Error;
use crate::main_loop::Host;
use crate::perform::invalid;
use protocol::checkpoint::{
    CreateCheckpointParams, CreateCheckpointResult, ListCheckpointsParams, ListCheckpointsResult,
    RestoreCheckpointParams, RestoreCheckpointResult,
};

impl Host {
    pub(crate) fn list_checkpoints(
        &mut self,
        _: ListCheckpointsParams,
    ) -> Result<ListCheckpointsResult, Error> {
        Err(invalid("Checkpoints are not served yet."))
    }

    pub(crate) fn create_checkpoint(
        &mut self,
        _: CreateCheckpointParams,
    ) -> Result<CreateCheckpointResult, Error> {
        Err(invalid("Checkpoints are not served yet."))
    }

    pub(crate) fn restore_checkpoint(
        &mut self,
        _: RestoreCheckpointParams,
    ) -> Result<RestoreCheckpointResult, Error> {
        Err(invalid("Checkpoints are not served yet."))
    }
}
