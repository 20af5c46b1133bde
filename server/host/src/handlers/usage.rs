//! What a session has used and what it costs: the update, `undine/usage` and `/usage`.

use super::lifecycle::UPDATE;
use crate::errand::Asker;
use crate::event::SessionKey;
use crate::lsp::Error;
use crate::main_loop::Host;
use crate::show;
use engine::provider::Usage;
use engine::usage::{Bill, Line, filled};
use protocol::acp;
use protocol::usage::{ModelUsage, UsageParams, UsageReport};

impl Host {
    /// Shows how full the window is and what the session has cost.
    pub(crate) fn show_usage(&mut self, session: &SessionKey, last: Usage) {
        if !self.client.takes(UPDATE) {
            return;
        }
        let bill = self.bill(session);
        let Some(open) = self.sessions.get(session) else {
            return;
        };
        let update = show::usage_update(&last, open.session.window(), &bill);
        let params = acp::SessionNotification::new(show::session_id(session), update);
        self.out.notify(UPDATE, &params);
    }

    fn bill(&mut self, session: &SessionKey) -> Bill {
        let Some(open) = self.sessions.get(session) else {
            return Bill::default();
        };
        let config = open.config.clone();
        let tally = open.session.tally();
        let models = std::cell::RefCell::new(&mut self.models);
        tally.bill(|model| models.borrow_mut().rates(&config, model))
    }

    /// `undine/usage`
    pub(crate) fn session_usage(&mut self, params: &UsageParams) -> Result<UsageReport, Error> {
        let key = self.known(&acp::SessionId::new(params.session_id.clone()))?;
        Ok(self.usage_report(&key))
    }

    /// `/usage`
    pub(super) fn usage_for(&mut self, session: SessionKey, asker: Asker) {
        let said = self.usage_report(&session).text;
        let number = self.begin(session, asker);
        self.end(number, Ok(said));
    }

    fn usage_report(&mut self, session: &SessionKey) -> UsageReport {
        let bill = self.bill(session);
        let open = self.sessions.get(session);
        let last = open.and_then(|it| it.session.last_usage());
        let window = open.and_then(|it| it.session.window());
        let used = last.as_ref().map_or(0, filled);
        let mut text = bill.text();
        if let Some(window) = window.filter(|it| used > 0 && *it > 0) {
            let percent = used.saturating_mul(100) / window;
            text.push_str(&format!(
                "\nThe window is filled with {used} of {window} tokens ({percent} %)."
            ));
        }
        UsageReport {
            used,
            size: window.unwrap_or(0),
            text,
            ..report(&bill)
        }
    }
}

/// A bill on the wire, without a window.
pub(crate) fn report(bill: &Bill) -> UsageReport {
    UsageReport {
        models: bill.lines.iter().map(line).collect(),
        cost: bill.total,
        unpriced: bill.unpriced().map(str::to_owned).collect(),
        used: 0,
        size: 0,
        text: bill.text(),
    }
}

fn line(line: &Line) -> ModelUsage {
    let Usage {
        input,
        cached,
        cache_write,
        output,
        reasoning,
    } = line.tokens;
    ModelUsage {
        model: line.model.clone(),
        answers: line.answers,
        input,
        cached,
        cache_write,
        output,
        reasoning,
        cost: line.cost,
    }
}
