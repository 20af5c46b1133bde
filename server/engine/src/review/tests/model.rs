//! The rules once more, slowly: strings instead of ropes, whole texts put together and looked through instead of
//! places that move along. The ledger must say the same after every step.

use std::ops::Range;

use crate::text::ChangeSet;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Row {
    /// A line that all versions share.
    Same(String),
    Hunk(Hunk),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hunk {
    /// When, the text before, whether mixed, whose turns.
    pub(super) layers: Vec<(u64, String, bool, Vec<u64>)>,
    pub(super) wrote: Option<String>,
    pub(super) live: String,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    pub(super) rows: Vec<Row>,
    stint: u64,
    at_work: Option<u64>,
}

#[derive(Clone, Copy)]
enum Version {
    Before(u64),
    Wrote,
}

const LIVE: Version = Version::Before(u64::MAX);

impl Row {
    fn text(&self, version: Version) -> &str {
        match (self, version) {
            (Row::Same(text), _) => text,
            (Row::Hunk(it), Version::Wrote) => it.wrote.as_deref().unwrap_or(&it.live),
            (Row::Hunk(it), Version::Before(stint)) => {
                let layer = it.layers.iter().find(|it| it.0 >= stint);
                layer.map_or(&it.live, |it| &it.1)
            }
        }
    }

    fn is_hunk(&self) -> bool {
        matches!(self, Row::Hunk(_))
    }
}

impl Hunk {
    pub(super) fn is_mixed(&self) -> bool {
        self.layers.iter().any(|it| it.2)
    }
}

impl Model {
    pub(super) fn new(text: &str) -> Model {
        Model {
            rows: same(text),
            ..Model::default()
        }
    }

    /// All is as it was at another time; what comes next is a new piece of work.
    pub(super) fn return_to(&mut self, then: &Model) {
        self.rows.clone_from(&then.rows);
        self.stint = self.stint.max(then.stint);
        self.at_work = None;
    }

    fn text(&self, version: Version) -> String {
        self.rows.iter().map(|it| it.text(version)).collect()
    }

    pub(super) fn live(&self) -> String {
        self.text(LIVE)
    }

    pub(super) fn base(&self) -> String {
        self.text(Version::Before(0))
    }

    pub(super) fn hunks(&self) -> Vec<(&Hunk, Range<usize>)> {
        let mut all = Vec::new();
        let mut before = String::new();
        for row in &self.rows {
            let start = lines(&before).len();
            before.push_str(row.text(LIVE));
            if let Row::Hunk(hunk) = row {
                all.push((hunk, start..lines(&before).len()));
            }
        }
        all
    }

    /// `turn` is missing when it is the person's.
    pub(super) fn edit(&mut self, range: Range<usize>, text: &str, turn: Option<u64>) {
        if range.is_empty() && text.is_empty() {
            return;
        }
        if turn.is_none() && self.set_back(&range, text) {
            return self.normalise();
        }
        if range.is_empty() || text.is_empty() {
            return self.small_edit(range, text, turn);
        }
        let old = self.live()[range.clone()].to_owned();
        let edits = ChangeSet::between(&old, text).edits();
        let mut shift = 0;
        for edit in edits {
            let start = (range.start + edit.range.start).strict_add_signed(shift);
            self.small_edit(start..start + edit.range.len(), &edit.text, turn);
            shift += edit.text.len() as isize - edit.range.len() as isize;
        }
    }

    /// Whether the edit made all hunks that it reaches what they were before some turn.
    fn set_back(&mut self, range: &Range<usize>, text: &str) -> bool {
        let mut new = self.live();
        new.replace_range(range.clone(), text);
        let spans = self.spans();
        let is_reached = |it: usize| spans[it].start <= range.end && range.start <= spans[it].end;
        let stints = self.rows.iter().enumerate().filter(|it| is_reached(it.0));
        let mut stints: Vec<u64> = stints
            .flat_map(|it| match it.1 {
                Row::Same(_) => Vec::new(),
                Row::Hunk(hunk) => hunk.layers.iter().map(|it| it.0).collect(),
            })
            .collect();
        stints.sort_unstable();
        for stint in stints {
            let mut other = self.clone();
            for (i, row) in other.rows.iter_mut().enumerate() {
                if let (true, Row::Hunk(hunk)) = (is_reached(i), row) {
                    hunk.live = self.rows[i].text(Version::Before(stint)).to_owned();
                    hunk.layers.retain(|it| it.0 < stint);
                }
            }
            if other.live() == new {
                *self = other;
                for row in &mut self.rows {
                    if let Row::Hunk(hunk) = row
                        && hunk.layers.is_empty()
                    {
                        *row = Row::Same(std::mem::take(&mut hunk.live));
                    }
                }
                return true;
            }
        }
        false
    }

    fn small_edit(&mut self, range: Range<usize>, text: &str, turn: Option<u64>) {
        let mut touched = self.touched(&range, text);
        let beside = touched.is_none();
        // The rows that the edit is in.
        let first = match &touched {
            Some(it) if self.spans()[it.start].start <= range.start => it.start,
            Some(_) | None => self.row_at(&range, beside),
        };
        let spans = self.spans();
        if let Some(it) = &mut touched
            && first < it.start
        {
            // An empty row may have come before them.
            *it = self.touched(&range, text).unwrap_or(it.clone());
        }
        let mut last = first;
        while last < spans.len()
            && (spans[last].end < range.end || touched.as_ref().is_some_and(|it| last + 1 < it.end))
        {
            last += 1;
        }
        let rows = first..(last + 1).min(self.rows.len());
        let start = spans.get(first).map_or(self.live().len(), |it| it.start);
        let part: Vec<Row> = self.rows[rows.clone()].to_vec();
        let old: String = part.iter().map(|it| it.text(LIVE)).collect();
        let mut new = old.clone();
        new.replace_range(range.start - start..range.end - start, text);

        if turn.is_none() && beside {
            self.rows.splice(rows, [Row::Same(new)]);
            return self.normalise();
        }
        let stint = match turn {
            None => {
                self.at_work = None;
                None
            }
            Some(_) => {
                if self.at_work != turn {
                    self.stint += 1;
                    self.at_work = turn;
                }
                Some(self.stint)
            }
        };
        let mut hunk = glue(&part, stint.zip(turn));
        if turn.is_none() {
            let mut turns: Vec<u64> = hunk.layers.iter().flat_map(|it| it.3.clone()).collect();
            turns.sort_unstable();
            turns.dedup();
            hunk.layers.truncate(1);
            hunk.layers[0].2 = true;
            hunk.layers[0].3 = turns;
            hunk.wrote.get_or_insert(old);
        }
        hunk.live = new;
        self.rows.splice(rows, [Row::Hunk(hunk)]);
        self.normalise();
    }

    /// The rows, from the first hunk that the edit changes to the last.
    fn touched(&self, range: &Range<usize>, text: &str) -> Option<Range<usize>> {
        let mut found: Option<Range<usize>> = None;
        for (i, span) in self.spans().into_iter().enumerate() {
            if !self.rows[i].is_hunk() {
                continue;
            }
            let inside = range.start < span.end && range.end > span.start;
            let after = range.start == span.end;
            let before = !after && range.end == span.start;
            let borders = after || before;
            if inside
                || borders && self.breaks(i, range, text, after)
                || borders
                    && range.is_empty()
                    && self.takes_back(i, text, range.start == span.start)
            {
                let start = found.map_or(i, |it| it.start);
                found = Some(start..i + 1);
            }
        }
        found
    }

    /// Makes the edit beside a hunk, in all versions, and looks whether the hunk still is whole lines in each.
    fn breaks(&self, hunk: usize, range: &Range<usize>, text: &str, after: bool) -> bool {
        let joined =
            |it: &[Row], version| -> String { it.iter().map(|it| it.text(version)).collect() };
        let spans = self.spans();
        let (left, right) = (&self.rows[..hunk], &self.rows[hunk + 1..]);
        let live = self.live();
        // What the edit eats beyond the next hunk's start is that one's affair.
        let other = match after {
            true => (hunk + 1..self.rows.len()).find(|it| self.rows[*it].is_hunk()),
            false => (0..hunk).rev().find(|it| self.rows[*it].is_hunk()),
        };
        if text.is_empty() {
            let meets = match (after, other) {
                (true, Some(it)) => range.end == spans[it].start,
                (false, Some(it)) => range.start == spans[it].end,
                (_, None) => false,
            };
            if meets {
                return false;
            }
        }
        self.versions(&self.rows[hunk]).into_iter().any(|version| {
            let own = self.rows[hunk].text(version);
            let (mut previous, mut next) = (joined(left, LIVE), joined(right, LIVE));
            if after {
                next = format!("{text}{}", &live[range.end..]);
            } else {
                previous = format!("{}{text}", &live[..range.start]);
            }
            let start = previous.len();
            let end = start + own.len();
            let whole = format!("{previous}{own}{next}");
            !(is_line_start(&whole, start) && is_line_start(&whole, end))
        })
    }

    /// Whether the lines were in the hunk, at this end, before the agent came.
    fn takes_back(&self, hunk: usize, text: &str, at_start: bool) -> bool {
        let row = &self.rows[hunk];
        let (live, base) = (row.text(LIVE), row.text(Version::Before(0)));
        let new = if at_start {
            format!("{text}{live}")
        } else {
            format!("{live}{text}")
        };
        let mut versions = self.versions(row).into_iter();
        let is_blank = text.chars().all(char::is_whitespace);
        versions.any(|it| row.text(it) == new)
            || !is_blank && (at_start || live.is_empty()) && base.starts_with(text)
            || !is_blank && (!at_start || live.is_empty()) && base.ends_with(text)
    }

    fn versions(&self, row: &Row) -> Vec<Version> {
        match row {
            Row::Same(_) => Vec::new(),
            Row::Hunk(it) => {
                let stints = it.layers.iter().map(|it| Version::Before(it.0));
                stints.chain([LIVE, Version::Wrote]).collect()
            }
        }
    }

    fn spans(&self) -> Vec<Range<usize>> {
        let mut at = 0;
        let spans = self.rows.iter().map(|it| {
            at += it.text(LIVE).len();
            at - it.text(LIVE).len()..at
        });
        spans.collect()
    }

    /// The row in which an edit starts; an empty one is added for what goes between two rows.
    fn row_at(&mut self, range: &Range<usize>, beside: bool) -> usize {
        let at = range.start;
        let spans = self.spans();
        let found = (0..spans.len()).find(|it| {
            let inside = spans[*it].start < at || spans[*it].start == at && !range.is_empty();
            inside && at < spans[*it].end && !(beside && self.rows[*it].is_hunk())
        });
        found.unwrap_or_else(|| {
            let index = spans.iter().take_while(|it| it.end <= at).count();
            self.rows.insert(index, Row::Same(String::new()));
            index
        })
    }

    pub(super) fn normalise(&mut self) {
        loop {
            let mut rows: Vec<Row> = Vec::new();
            for row in std::mem::take(&mut self.rows) {
                match (rows.last_mut(), row) {
                    (Some(Row::Same(last)), Row::Same(text)) => last.push_str(&text),
                    (_, Row::Same(text)) if text.is_empty() => {}
                    (Some(Row::Hunk(last)), Row::Hunk(next)) => {
                        *last = glue(&[Row::Hunk(last.clone()), Row::Hunk(next)], None);
                    }
                    (_, row) => rows.push(row),
                }
            }
            self.rows = rows
                .into_iter()
                .flat_map(|it| match it {
                    Row::Same(text) => same(&text),
                    Row::Hunk(hunk) => vec![Row::Hunk(hunk)],
                })
                .collect();
            if !self.glue_broken() {
                break;
            }
        }
        let rows = std::mem::take(&mut self.rows);
        for row in rows {
            match row {
                Row::Same(text) => self.rows.push(Row::Same(text)),
                Row::Hunk(hunk) => self.rows.extend(shrunk(hunk)),
            }
        }
        let mut shared = String::new();
        let mut rows = Vec::new();
        for row in self.rows.drain(..) {
            match row {
                Row::Same(text) => shared.push_str(&text),
                Row::Hunk(hunk) => {
                    rows.extend(same(&std::mem::take(&mut shared)));
                    rows.push(Row::Hunk(hunk));
                }
            }
        }
        rows.extend(same(&shared));
        self.rows = rows;
    }

    /// Takes a neighbouring line into a hunk that isn't whole lines in some version.
    fn glue_broken(&mut self) -> bool {
        for i in 0..self.rows.len() {
            for version in self.versions(&self.rows[i]) {
                let joined = |it: &[Row], version| -> String {
                    it.iter().map(|it| it.text(version)).collect()
                };
                let start = joined(&self.rows[..i], LIVE);
                let own = self.rows[i].text(version);
                let whole = format!("{start}{own}{}", joined(&self.rows[i + 1..], LIVE));
                let pair = if !is_line_start(&whole, start.len()) {
                    i - 1..i + 1
                } else if !is_line_start(&whole, start.len() + own.len()) {
                    i..i + 2
                } else {
                    continue;
                };
                let hunk = glue(&self.rows[pair.clone()], None);
                self.rows.splice(pair, [Row::Hunk(hunk)]);
                return true;
            }
        }
        false
    }

    /// What a revert of the whole file leaves.
    pub(super) fn revert_all(&mut self) {
        for row in &mut self.rows {
            if let Row::Hunk(hunk) = row {
                while let Some(top) = hunk.layers.pop_if(|it| !it.2) {
                    hunk.live = top.1;
                }
                if hunk.layers.is_empty() {
                    *row = Row::Same(std::mem::take(&mut hunk.live));
                }
            }
        }
        self.normalise();
    }

    pub(super) fn settle(&mut self, hunk: usize, keep: bool) {
        let row = self
            .rows
            .iter_mut()
            .filter(|it| it.is_hunk())
            .nth(hunk)
            .unwrap();
        let version = if keep { LIVE } else { Version::Before(0) };
        *row = Row::Same(row.text(version).to_owned());
        self.normalise();
    }
}

fn glue(rows: &[Row], top: Option<(u64, u64)>) -> Hunk {
    let all = |version| -> String { rows.iter().map(|it| it.text(version)).collect() };
    let hunks = || {
        rows.iter().filter_map(|it| match it {
            Row::Same(_) => None,
            Row::Hunk(it) => Some(it),
        })
    };
    let layers = || hunks().flat_map(|it| &it.layers);
    let mut stints: Vec<u64> = layers().map(|it| it.0).chain(top.map(|it| it.0)).collect();
    stints.sort_unstable();
    stints.dedup();
    Hunk {
        layers: stints
            .into_iter()
            .map(|stint| {
                let own = || layers().filter(move |it| it.0 == stint);
                let by = top.filter(|it| it.0 == stint).map(|it| it.1);
                let mut turns: Vec<u64> = own().flat_map(|it| it.3.clone()).chain(by).collect();
                turns.sort_unstable();
                turns.dedup();
                (
                    stint,
                    all(Version::Before(stint)),
                    own().any(|it| it.2),
                    turns,
                )
            })
            .collect(),
        wrote: hunks()
            .any(|it| it.wrote.is_some())
            .then(|| all(Version::Wrote)),
        live: all(LIVE),
    }
}

/// Without the lines at both ends that are the same in all versions; nothing if there is no change.
fn shrunk(mut hunk: Hunk) -> Vec<Row> {
    if hunk.layers[0].1 == hunk.live {
        return vec![Row::Same(hunk.live)];
    }
    fn texts(hunk: &mut Hunk) -> Vec<&mut String> {
        let befores = hunk.layers.iter_mut().map(|it| &mut it.1);
        befores
            .chain(&mut hunk.wrote)
            .chain([&mut hunk.live])
            .collect()
    }
    let mut before = String::new();
    while let Some(end) = hunk.live.find('\n') {
        let line = hunk.live[..=end].to_owned();
        if !texts(&mut hunk).iter().all(|it| it.starts_with(&line)) {
            break;
        }
        for text in texts(&mut hunk) {
            text.replace_range(..line.len(), "");
        }
        before.push_str(&line);
    }
    let mut after = String::new();
    for at in 0..=hunk.live.len() {
        let Some(end) = hunk.live.get(at..).map(str::to_owned) else {
            continue;
        };
        let fits = |it: &&mut String| match it.strip_suffix(&end) {
            Some(rest) => rest.is_empty() || rest.ends_with('\n'),
            None => false,
        };
        if texts(&mut hunk).iter().all(fits) {
            for text in texts(&mut hunk) {
                text.truncate(text.len() - end.len());
            }
            after = end;
            break;
        }
    }
    let one = hunk.layers.len() == 1;
    if one && hunk.wrote.as_ref() == Some(&hunk.live) || !hunk.is_mixed() {
        if one {
            hunk.layers[0].2 = false;
        }
        hunk.wrote = None;
    }
    let mut rows = same(&before);
    rows.push(Row::Hunk(hunk));
    rows.extend(same(&after));
    rows
}

fn same(text: &str) -> Vec<Row> {
    lines(text)
        .into_iter()
        .map(|it| Row::Same(it.to_owned()))
        .collect()
}

/// Line by line, by looking at every place.
pub(super) fn lines(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for at in 1..=text.len() {
        if at == text.len() || is_line_start(text, at) {
            found.push(&text[start..at]);
            start = at;
        }
    }
    found
}

/// Also at both ends of the text.
fn is_line_start(text: &str, at: usize) -> bool {
    let (before, after) = (&text.as_bytes()[..at], &text.as_bytes()[at..]);
    match (before.last(), after.first()) {
        (None, _) | (_, None) | (Some(b'\n'), _) => true,
        (Some(b'\r'), Some(next)) => *next != b'\n',
        (Some(_), Some(_)) => false,
    }
}
