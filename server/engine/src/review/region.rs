//! A stretch of lines that the agent changed: what was there before, layer by layer, and whose each layer is.

use ropey::{Rope, RopeSlice};

use super::{Author, HunkId};

/// Lines of the live text with the agent's unreviewed work in them.
///
/// Regions lie in a row, each with the bytes of shared text before it, so an edit beside them changes one number
/// and every later region moves along. What lies between two regions is the same in every version of the text.
#[derive(Debug, Clone)]
pub(super) struct Region {
    /// Bytes of shared text between the region before, or the start of the file, and this one.
    pub(super) common: usize,
    /// Bytes of the live text that it covers.
    pub(super) live: usize,
    /// Turn by turn, the oldest first; never empty. The first one's `before` is the base's text.
    pub(super) layers: Vec<Layer>,
    /// What the agent had written, since the person has changed it.
    pub(super) wrote: Option<Rope>,
    /// The person changed it and the model was not told.
    pub(super) untold: bool,
    /// The id under which this content was shown last.
    pub(super) id: Option<HunkId>,
}

/// The work of one turn, up to the next one's.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    /// Counts the turns that worked on the file, so that layers of different regions can be put in order.
    pub(super) stint: u64,
    /// The region's text before it.
    pub(super) before: Rope,
    /// The person changed the text after it and before the next.
    pub(super) mixed: bool,
    pub(super) authors: Vec<Author>,
}

impl Region {
    pub(super) fn is_mixed(&self) -> bool {
        self.layers.iter().any(|it| it.mixed)
    }

    /// The base's text for this region.
    pub(super) fn base(&self) -> &Rope {
        &self.layers[0].before
    }

    /// All versions of its text but the live one, the base's first.
    pub(super) fn versions(&self) -> impl Iterator<Item = &Rope> {
        self.layers
            .iter()
            .map(|it| &it.before)
            .chain(self.wrote.as_ref())
    }

    fn versions_mut(&mut self) -> impl Iterator<Item = &mut Rope> {
        self.layers
            .iter_mut()
            .map(|it| &mut it.before)
            .chain(self.wrote.as_mut())
    }

    pub(super) fn authors(&self) -> Vec<Author> {
        let mut all: Vec<Author> = Vec::new();
        for author in self.layers.iter().flat_map(|it| &it.authors) {
            if !all.contains(author) {
                all.push(author.clone());
            }
        }
        all
    }

    /// Whether all versions of the text have a line start at both ends. `previous` and `next` are the bytes around
    /// the region; missing at the file's ends.
    pub(super) fn borders(
        &self,
        live: RopeSlice<'_>,
        previous: Option<u8>,
        next: Option<u8>,
    ) -> Borders {
        let live = (first(live), last(live));
        let ends = self
            .versions()
            .map(|it| (first(it.slice(..)), last(it.slice(..))))
            .chain([live]);
        let mut borders = Borders {
            start: true,
            end: true,
        };
        for (first, last) in ends {
            borders.start &= previous.is_none() || is_line_start(previous, first.or(next));
            borders.end &= next.is_none() || is_line_start(last.or(previous), next);
        }
        borders
    }

    /// Whether lines that come in at its start or end are ones that the agent took from there, as when the person
    /// undoes a deletion. Blank lines are too common for that, unless they make the region what it was.
    pub(super) fn takes_back(&self, live: RopeSlice<'_>, text: &str, at_start: bool) -> bool {
        let is_part = |whole: RopeSlice<'_>, at_start: bool| match whole
            .len_bytes()
            .checked_sub(text.len())
        {
            None => false,
            Some(_) if at_start => starts_with(whole, text),
            Some(rest) => whole.get_byte_slice(rest..).is_some_and(|it| it == text),
        };
        let n_new = live.len_bytes() + text.len();
        let is_version = self.versions().any(|it| {
            let rest = if at_start {
                text.len()..n_new
            } else {
                0..live.len_bytes()
            };
            it.len_bytes() == n_new
                && is_part(it.slice(..), at_start)
                && it.get_byte_slice(rest).is_some_and(|it| it == live)
        });
        let base = self.base().slice(..);
        let at_both = live.len_bytes() == 0;
        let is_lines = !text.trim().is_empty()
            && (is_part(base, at_start) || at_both && is_part(base, !at_start));
        is_version || is_lines
    }

    /// Shared text right before or after it becomes part of it.
    pub(super) fn absorb(&mut self, text: RopeSlice<'_>, side: End) {
        self.live += text.len_bytes();
        self.id = None;
        for version in self.versions_mut() {
            match side {
                End::Start => {
                    let after = std::mem::replace(version, Rope::from(text));
                    version.append(after);
                }
                End::End => version.append(Rope::from(text)),
            }
        }
    }

    /// Gives lines at its start and end that are the same in all versions back to the shared text. Returns the
    /// bytes that come after it now. Cuts only behind a `\n`, which is a line's end whatever follows.
    pub(super) fn trim(&mut self, live: RopeSlice<'_>) -> usize {
        let mut n_same = live.len_bytes();
        for version in self.versions() {
            n_same = same_start(live, version.slice(..), n_same);
        }
        let start = lines_within(live, n_same);
        let mut n_same = live.len_bytes() - start;
        for version in self.versions() {
            n_same = same_end(
                live,
                version.slice(..),
                n_same.min(version.len_bytes() - start),
            );
        }
        let whole = |text: RopeSlice<'_>| {
            let at = text.len_bytes() - n_same;
            at == start || text.byte(at - 1) == b'\n'
        };
        let end = if whole(live) && self.versions().all(|it| whole(it.slice(..))) {
            n_same
        } else {
            let from = live.len_bytes() - n_same;
            match live.bytes_at(from).position(|it| it == b'\n') {
                Some(at) => n_same - at - 1,
                None => 0,
            }
        };
        if start == 0 && end == 0 {
            return 0;
        }
        for version in self.versions_mut() {
            let inner = start..version.len_bytes() - end;
            *version = Rope::from(version.byte_slice(inner));
        }
        self.common += start;
        self.live -= start + end;
        self.id = None;
        end
    }
}

/// Whether a region's ends are ends of lines in every version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Borders {
    pub(super) start: bool,
    pub(super) end: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Start,
    End,
}

/// A part of the text that becomes one region with its neighbours: shared text has no layers.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) live: Rope,
    pub(super) layers: Vec<Layer>,
    pub(super) wrote: Option<Rope>,
    pub(super) untold: bool,
}

impl Piece {
    /// Its text before a turn's work.
    fn before(&self, stint: u64) -> &Rope {
        let layer = self.layers.iter().find(|it| it.stint >= stint);
        layer.map_or(&self.live, |it| &it.before)
    }
}

/// What the pieces are together, by their live texts as they stand, with `top` as a new layer on them.
pub(super) fn join(pieces: &[Piece], top: Option<(u64, &Author)>) -> Region {
    let mut stints: Vec<u64> = pieces
        .iter()
        .flat_map(|it| it.layers.iter().map(|it| it.stint))
        .chain(top.map(|it| it.0))
        .collect();
    stints.sort_unstable();
    stints.dedup();
    let layers = stints
        .into_iter()
        .map(|stint| {
            let mut authors: Vec<Author> = Vec::new();
            let parts = pieces.iter().flat_map(|it| &it.layers);
            let parts: Vec<&Layer> = parts.filter(|it| it.stint == stint).collect();
            let own = top.filter(|it| it.0 == stint).map(|it| it.1);
            for author in parts.iter().flat_map(|it| &it.authors).chain(own) {
                if !authors.contains(author) {
                    authors.push(author.clone());
                }
            }
            Layer {
                stint,
                before: concat(pieces.iter().map(|it| it.before(stint))),
                mixed: parts.iter().any(|it| it.mixed),
                authors,
            }
        })
        .collect();
    let any_wrote = pieces.iter().any(|it| it.wrote.is_some());
    Region {
        common: 0,
        live: pieces.iter().map(|it| it.live.len_bytes()).sum(),
        layers,
        wrote: any_wrote.then(|| {
            concat(
                pieces
                    .iter()
                    .map(|it| it.wrote.as_ref().unwrap_or(&it.live)),
            )
        }),
        untold: pieces.iter().any(|it| it.untold),
        id: None,
    }
}

fn concat<'a>(parts: impl Iterator<Item = &'a Rope>) -> Rope {
    let mut all = Rope::new();
    for part in parts {
        all.append(part.clone());
    }
    all
}

/// Whether a line starts between these two bytes.
fn is_line_start(before: Option<u8>, after: Option<u8>) -> bool {
    match before {
        None | Some(b'\n') => true,
        Some(b'\r') => after != Some(b'\n'),
        Some(_) => false,
    }
}

fn first(text: RopeSlice<'_>) -> Option<u8> {
    text.get_byte(0)
}

fn last(text: RopeSlice<'_>) -> Option<u8> {
    text.get_byte(text.len_bytes().checked_sub(1)?)
}

fn starts_with(whole: RopeSlice<'_>, text: &str) -> bool {
    let start = whole.get_byte_slice(..text.len());
    start.is_some_and(|it| it == text)
}

/// Bytes with which both start, at most `limit`.
fn same_start(a: RopeSlice<'_>, b: RopeSlice<'_>, limit: usize) -> usize {
    let pairs = a.bytes().zip(b.bytes()).take(limit);
    pairs.take_while(|(a, b)| a == b).count()
}

/// Bytes with which both end, at most `limit`.
fn same_end(a: RopeSlice<'_>, b: RopeSlice<'_>, limit: usize) -> usize {
    let a = a.bytes_at(a.len_bytes()).reversed();
    let b = b.bytes_at(b.len_bytes()).reversed();
    let pairs = a.zip(b).take(limit);
    pairs.take_while(|(a, b)| a == b).count()
}

/// The part of the first `n` bytes that is whole lines.
fn lines_within(text: RopeSlice<'_>, n: usize) -> usize {
    let back = text.bytes_at(n).reversed().take(n);
    n - back.take_while(|it| *it != b'\n').count()
}
