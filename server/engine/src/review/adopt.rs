//! Two ledgers of one text become one: two servers had the file, and each took the other's agent for the person.

use std::ops::Range;

use super::{By, Ledger, region::Region};

impl Ledger {
    /// Takes in the hunks of another ledger of the same text. Where both have one at a place, the one that reaches
    /// further is there, or the one that is mixed; it is mixed then, with the authors of both. Does nothing if the
    /// texts differ.
    pub fn adopt(&mut self, other: Ledger) {
        if self.live != other.live {
            return;
        }
        let first = self.stint;
        let spans: Vec<Range<usize>> = other.spans().collect();
        for (mut region, span) in other.regions.into_iter().zip(spans) {
            for layer in &mut region.layers {
                layer.stint += first;
                self.stint = self.stint.max(layer.stint);
            }
            self.take_in(region, span);
        }
        self.at_work = None;
        self.file = self.file.take().or(other.file);
    }

    fn take_in(&mut self, mut region: Region, span: Range<usize>) {
        let spans: Vec<Range<usize>> = self.spans().collect();
        let start = spans.iter().take_while(|it| is_before(it, &span)).count();
        let end = start
            + spans[start..]
                .iter()
                .take_while(|it| !is_before(&span, it))
                .count();
        let met = &spans[start..end];
        let is_wider = met
            .iter()
            .all(|it| span.start <= it.start && it.end <= span.end);
        // The one in which the other's work counted as the person's has the lines from before both.
        let is_own_older = met == [span.clone()] && self.regions[start].is_mixed();
        if !is_wider || is_own_older {
            let authors = region.authors();
            for own in &mut self.regions[start..end] {
                mix(own, &authors);
            }
            return;
        }
        for own in &self.regions[start..end] {
            mix(&mut region, &own.authors());
        }
        let at = start.checked_sub(1).map_or(0, |it| spans[it].end);
        let next = spans.get(end).map(|it| it.start);
        region.common = span.start - at;
        region.live = span.len();
        if let (Some(next), Some(after)) = (next, self.regions.get_mut(end)) {
            after.common = next - span.end;
        }
        self.regions.splice(start..end, [region]);
        self.tidy(start, By::Review);
    }
}

/// Whether one ends before the other begins; two of nothing at one place meet.
fn is_before(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.end <= other.start && one != other
}

fn mix(region: &mut Region, authors: &[super::Author]) {
    region.id = None;
    // There is always one.
    if let Some(layer) = region.layers.first_mut() {
        layer.mixed = true;
        for author in authors {
            if !layer.authors.contains(author) {
                layer.authors.push(author.clone());
            }
        }
    }
}
