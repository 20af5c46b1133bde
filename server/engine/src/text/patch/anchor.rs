//! Anchors: lines of the file, named after `@@`, below which a hunk belongs (spec 2.2).

use std::{borrow::Cow, collections::HashMap};

use super::{
    PatchHunk,
    lines::{View, indentation},
    place::Likeness,
    search::{Needle, PASSES, normal, search},
};

/// Where the anchors and headings of a patch stand in a text.
pub(super) struct Anchors<'a> {
    by_text: HashMap<&'a str, Found>,
}

#[derive(Debug, Clone, Default)]
struct Found {
    lines: Vec<usize>,
    is_fuzzy: bool,
}

/// The nearest lines above a place that are its anchors.
struct Scope {
    /// Of the innermost.
    line: usize,
    /// Nothing between them and the place ends their block, going by indentation.
    is_block: bool,
}

impl<'a> Anchors<'a> {
    /// Looks for the anchors in the four passes, and then inside of lines.
    pub(super) fn of(view: &View<'_>, hunks: &'a [PatchHunk]) -> Anchors<'a> {
        let mut by_text: HashMap<&str, Found> = hunks
            .iter()
            .flat_map(|it| it.anchors.iter().chain(&it.heading))
            .map(|it| (it.as_str(), Found::default()))
            .collect();
        let missing = |by_text: &HashMap<&'a str, Found>| -> Vec<&'a str> {
            let missing = by_text.iter().filter(|(_, it)| it.lines.is_empty());
            missing.map(|(text, _)| *text).collect()
        };
        for pass in PASSES {
            let texts = missing(&by_text);
            let needles: Vec<Needle<'_>> = texts
                .iter()
                .map(|it| Needle {
                    lines: vec![Cow::Borrowed(*it)],
                    at_end: false,
                })
                .collect();
            for (text, hits) in texts.iter().zip(search(view, &needles, pass)) {
                by_text.insert(
                    text,
                    Found {
                        lines: hits.starts,
                        // A model cannot know how much of the indentation it is to write here.
                        is_fuzzy: pass == Likeness::Typography,
                    },
                );
            }
        }
        for text in missing(&by_text) {
            let part = normal(text, Likeness::Typography);
            let is_here = |it: &&str| normal(it, Likeness::Typography).contains(&*part);
            let here = view.contents.iter().enumerate();
            let lines = here.filter(|(_, it)| is_here(it)).map(|(at, _)| at);
            by_text.insert(
                text,
                Found {
                    lines: lines.collect(),
                    is_fuzzy: true,
                },
            );
        }
        Anchors { by_text }
    }

    /// The first of these that is nowhere.
    pub(super) fn missing<'b>(&self, anchors: &'b [String]) -> Option<&'b str> {
        anchors
            .iter()
            .map(String::as_str)
            .find(|it| self.lines(it).is_empty())
    }

    pub(super) fn is_fuzzy(&self, anchors: &[String]) -> bool {
        anchors
            .iter()
            .any(|it| self.by_text.get(it.as_str()).is_some_and(|it| it.is_fuzzy))
    }

    /// The line after each occurrence of the anchors, for an insertion.
    pub(super) fn below(&self, view: &View<'_>, anchors: &[String]) -> Vec<usize> {
        let (Some(innermost), outer) =
            (anchors.last(), &anchors[..anchors.len().saturating_sub(1)])
        else {
            return Vec::new();
        };
        let scoped: Vec<(usize, bool)> = self
            .lines(innermost)
            .iter()
            .filter_map(|line| match outer.is_empty() {
                true => Some((line + 1, true)),
                false => Some((line + 1, self.scope(view, outer, *line, *line)?.is_block)),
            })
            .collect();
        preferred(&scoped)
    }

    /// Those of the places that are meant by the anchors: in their block if any is, else clearly nearest below.
    /// More than one if it is not clear. `n_before` lines of a hunk stand in front of what it changes; an anchor
    /// may be among them.
    pub(super) fn narrowed(
        &self,
        view: &View<'_>,
        anchors: &[String],
        places: &[usize],
        n_before: usize,
    ) -> Vec<usize> {
        let scoped: Vec<(usize, Scope)> = places
            .iter()
            .filter_map(|at| Some((*at, self.scope(view, anchors, at + n_before, *at)?)))
            .collect();
        let flags: Vec<(usize, bool)> = scoped.iter().map(|(at, it)| (*at, it.is_block)).collect();
        let left = preferred(&flags);
        if left.len() < 2 || flags.iter().any(|(_, is_block)| *is_block) {
            return left;
        }
        let mut by_distance: Vec<(usize, usize)> = scoped
            .iter()
            .map(|(at, scope)| (at.saturating_sub(scope.line + 1), *at))
            .collect();
        by_distance.sort_unstable();
        match by_distance[..] {
            [(near, at), (next, _), ..] if next >= 3 * near + 2 => vec![at],
            _ => left,
        }
    }

    /// The one place in the block of a heading.
    pub(super) fn hinted(&self, view: &View<'_>, heading: &str, places: &[usize]) -> Option<usize> {
        let heading = [heading.to_owned()];
        let inside: Vec<usize> = places
            .iter()
            .copied()
            .filter(|at| {
                self.scope(view, &heading, *at, *at)
                    .is_some_and(|it| it.is_block)
            })
            .collect();
        match inside[..] {
            [place] => Some(place),
            _ => None,
        }
    }

    fn lines(&self, anchor: &str) -> &[usize] {
        self.by_text.get(anchor).map_or(&[], |it| &it.lines)
    }

    fn scope(
        &self,
        view: &View<'_>,
        anchors: &[String],
        below: usize,
        place: usize,
    ) -> Option<Scope> {
        let (mut below, mut inner) = (below, place);
        let mut scope: Option<Scope> = None;
        for anchor in anchors.iter().rev() {
            let lines = self.lines(anchor);
            let line = lines[..lines.partition_point(|it| *it < below)].last()?;
            let is_block = is_block(view, *line, inner);
            scope = Some(match scope {
                None => Scope {
                    line: *line,
                    is_block,
                },
                Some(it) => Scope {
                    line: it.line,
                    is_block: it.is_block && is_block,
                },
            });
            (below, inner) = (*line, *line);
        }
        scope
    }
}

/// Those in a block if there are any.
fn preferred(places: &[(usize, bool)]) -> Vec<usize> {
    let has_block = places.iter().any(|(_, is_block)| *is_block);
    places
        .iter()
        .filter(|(_, is_block)| *is_block || !has_block)
        .map(|(at, _)| *at)
        .collect()
}

/// Whether all lines between are indented deeper than the anchor.
fn is_block(view: &View<'_>, anchor: usize, place: usize) -> bool {
    let outer = indentation(view.contents[anchor]).len();
    view.contents
        .get(anchor + 1..place)
        .unwrap_or_default()
        .iter()
        .all(|it| it.trim().is_empty() || indentation(it).len() > outer)
}
