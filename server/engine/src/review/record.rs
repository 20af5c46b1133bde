//! The ledger over a restart.

use protocol::review::{FileRecord, HunkRecord, LayerRecord, LedgerRecord, VERSION};
use ropey::Rope;

use super::{
    By, FileChange, HunkId, Ledger,
    list::text_hash,
    region::{Layer, Region},
};

/// A record that can't be read; then there is nothing to review and the file stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damaged {
    #[error("the review record has version {0}, which a newer Undine wrote; update Undine")]
    Version(u32),
    #[error("the review record does not fit together; delete it to go on without its hunks")]
    Content,
}

impl Ledger {
    /// All that a restart needs, but not what the model was not told yet.
    pub fn to_record(&self) -> LedgerRecord {
        let base = self.base();
        let mut grown: i128 = 0;
        let hunks = self
            .regions
            .iter()
            .zip(self.spans())
            .map(|(region, span)| {
                let base_start = (span.start as i128 - grown) as u64;
                grown += region.live as i128 - region.base().len_bytes() as i128;
                HunkRecord {
                    id: region.id.as_ref().map(|it| it.0.clone()),
                    base_start,
                    live: self.slice(&span).to_string(),
                    wrote: region.wrote.as_ref().map(Rope::to_string),
                    layers: region.layers.iter().map(layer_record).collect(),
                    untold: region.untold,
                }
            })
            .collect();
        LedgerRecord {
            v: VERSION,
            base_hash: text_hash(&base),
            base: base.to_string(),
            live_hash: text_hash(&self.live),
            file: self.file.as_ref().map(|it| match it.clone() {
                FileChange::Created(author) => FileRecord::Created { author },
                FileChange::Deleted(author) => FileRecord::Deleted { author },
            }),
            hunks,
        }
    }

    /// The ledger as it was, brought up to `live`, the text as it is now. What changed meanwhile counts as the
    /// person's: hunks are found again by a diff, and one that was changed is mixed.
    pub fn from_record(record: &LedgerRecord, live: &str) -> Result<Ledger, Damaged> {
        if record.v > VERSION {
            return Err(Damaged::Version(record.v));
        }
        let mut ledger = rebuilt(record).ok_or(Damaged::Content)?;
        if ledger.live != live {
            ledger.replaced(live, By::Person);
        }
        Ok(ledger)
    }
}

fn layer_record(layer: &Layer) -> LayerRecord {
    LayerRecord {
        number: layer.stint,
        before: layer.before.to_string(),
        mixed: layer.mixed,
        authors: layer.authors.clone(),
    }
}

/// `None` if the parts contradict each other.
fn rebuilt(record: &LedgerRecord) -> Option<Ledger> {
    if text_hash(&Rope::from_str(&record.base)) != record.base_hash {
        return None;
    }
    let mut live = String::new();
    let mut regions = Vec::new();
    let mut at = 0;
    for hunk in &record.hunks {
        let start = usize::try_from(hunk.base_start).ok()?;
        let before = &hunk.layers.first()?.before;
        let end = start.checked_add(before.len())?;
        if record.base.get(start..end)? != before || !regions.is_empty() && start == at {
            return None;
        }
        let numbers = hunk.layers.iter().map(|it| it.number);
        if !numbers.is_sorted_by(|a, b| a < b) {
            return None;
        }
        let shared = record.base.get(at..start)?;
        live.push_str(shared);
        live.push_str(&hunk.live);
        at = end;
        regions.push(Region {
            common: shared.len(),
            live: hunk.live.len(),
            layers: hunk.layers.iter().map(layer).collect(),
            wrote: hunk.wrote.as_deref().map(Rope::from_str),
            untold: hunk.untold,
            id: hunk.id.clone().map(HunkId),
        });
    }
    live.push_str(record.base.get(at..)?);
    let live = Rope::from_str(&live);
    if text_hash(&live) != record.live_hash {
        return None;
    }
    let layers = regions.iter().flat_map(|it| &it.layers);
    let stint = layers.map(|it| it.stint).max().unwrap_or(0);
    let mut ledger = Ledger::new(live);
    ledger.regions = regions;
    ledger.stint = stint;
    ledger.file = record.file.clone().map(|it| match it {
        FileRecord::Created { author } => FileChange::Created(author),
        FileRecord::Deleted { author } => FileChange::Deleted(author),
    });
    Some(ledger)
}

fn layer(record: &LayerRecord) -> Layer {
    Layer {
        stint: record.number,
        before: Rope::from_str(&record.before),
        mixed: record.mixed,
        authors: record.authors.clone(),
    }
}
