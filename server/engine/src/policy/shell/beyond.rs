//! Rates a line anew by what its text does not tell: where its paths lead, and what is sent beside it. Only ever worse.

use protocol::tool::{Place, Reading, Risk};

/// A path that the line names leads here when links are followed (spec 4.3).
pub fn leads_to(reading: &mut Reading, place: Place, is_written: bool) {
    match place {
        Place::Protected | Place::Memory if is_written => {
            reading.forbidden.get_or_insert_with(|| {
                "changing Undine's own settings, history or data, over a link".to_owned()
            });
        }
        Place::Protected | Place::Memory | Place::External => {
            reading.risk = reading.risk.max(Risk::Outside);
            reading.in_scratchpad = false;
        }
        Place::Project | Place::AddedDir | Place::Scratchpad => {}
    }
}

/// The person's browser is to open a page as well (spec 5.8). It takes what stands in the address to another machine: the
/// call is judged by that, and no answer that was given to the command alone covers it.
pub fn opens_page(reading: &mut Reading) {
    reading.risk = reading.risk.max(Risk::Network);
    reading.canonical = None;
    reading.program = None;
    reading.in_scratchpad = false;
}
