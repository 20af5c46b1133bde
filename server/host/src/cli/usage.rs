//! `undine usage`: what the sessions of this folder have used, and what that costs.

use super::settings::{here, print};
use crate::handlers::usage_report;
use crate::layers::CommandLine;
use crate::models::Models;
use crate::store::{self, Folders};
use engine::text::visible;
use engine::usage::Tally;
use std::cell::RefCell;
use std::io::{Write, stderr};
use std::process::ExitCode;

/// Adds them up. A session that cannot be read is named and left out.
pub(super) fn show(as_json: bool, command_line: CommandLine) -> anyhow::Result<ExitCode> {
    let (root, resolved) = here(command_line)?;
    let folders = Folders::from_environment();
    let folder = folders.conversations(&root);
    let mut tally = Tally::default();
    for session in store::list(&folder) {
        let read = store::path(&folder, &session.id).and_then(|it| store::read(&it));
        match read {
            Ok((records, ..)) => records.iter().for_each(|it| tally.take(it)),
            Err(why) => {
                // Nobody to tell if stderr is closed.
                let _ = writeln!(stderr(), "The session {} is left out: {why}", session.id);
            }
        }
    }
    let models = RefCell::new(Models::new(&folders.data));
    let bill = tally.bill(|model| models.borrow_mut().rates(&resolved.config, model));
    match as_json {
        true => {
            let mut report = serde_json::to_value(usage_report(&bill))?;
            // A folder has no window.
            if let Some(fields) = report.as_object_mut() {
                fields.remove("used");
                fields.remove("size");
            }
            print(&serde_json::to_string_pretty(&report)?);
        }
        false => print(&visible(&bill.text())),
    }
    Ok(ExitCode::SUCCESS)
}
