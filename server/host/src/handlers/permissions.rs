//! Remembered answers: keeping those for always.

use crate::event::SessionKey;
use crate::main_loop::Host;
use engine::policy::describe;
use protocol::approval::Rule;

impl Host {
    /// Keeps an answer that the person gave for always.
    pub(crate) fn keep_rule(&mut self, _session: &SessionKey, rule: &Rule) {
        self.show_error(&format!(
            "The answer counts for this session only, because it could not be kept: {}.",
            describe(rule)
        ));
    }
}
