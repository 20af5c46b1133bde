//! Gives lines that a model wrote with its own indentation that of the file.

use super::lines::{lines, split_ending};

/// One step deeper, as a model writes it and as the file has it, where both are known.
pub(super) struct Steps<'a>(Option<(&'a str, &'a str)>);

impl<'a> Steps<'a> {
    /// `text` is the whole file, `model` lines of a model.
    pub(super) fn new(text: &'a str, model: impl Iterator<Item = &'a str>) -> Steps<'a> {
        let file = lines(text).map(|it| split_ending(it).0).take(MAX_LINES);
        Steps(step(model).zip(step(file)))
    }

    /// The file's blanks for blanks of the model.
    fn of_file(&self, mut blanks: &str) -> String {
        let mut out = String::new();
        if let Some((model, file)) = self.0 {
            while let Some(rest) = blanks.strip_prefix(model) {
                out.push_str(file);
                blanks = rest;
            }
        }
        out.push_str(blanks);
        out
    }
}

/// What indentation of the file stands for one of the model, learned from lines that both have.
pub(super) struct Indents<'a> {
    /// The model's and the file's, for each line of the target; `None` for a blank line.
    pairs: Vec<Option<(&'a str, &'a str)>>,
    steps: &'a Steps<'a>,
}

impl<'a> Indents<'a> {
    /// `here` are the lines of the file that `wanted` was found in, one for one.
    pub(super) fn new(here: &[&'a str], wanted: &[&'a str], steps: &'a Steps<'a>) -> Indents<'a> {
        let both = wanted.iter().zip(here);
        let pairs = both
            .map(|(wanted, here)| {
                (!wanted.trim().is_empty()).then(|| (indent(wanted), indent(here)))
            })
            .collect();
        Indents { pairs, steps }
    }

    /// The line as it belongs into the file. It came in place of the target's line `near`, counted from 0.
    pub(super) fn fit(&self, line: &str, near: usize) -> String {
        let rest = line.trim_start();
        if rest.is_empty() {
            return String::new();
        }
        let model = indent(line);
        let known = || {
            let numbered = self.pairs.iter().enumerate();
            numbered
                .filter_map(|(at, it)| it.map(|(wanted, here)| (at.abs_diff(near), wanted, here)))
        };
        // The closest that is not deeper; deeper steps are added to it.
        let shallower = known()
            .filter(|(_, wanted, _)| model.starts_with(wanted))
            .min_by_key(|(away, wanted, _)| (model.len() - wanted.len(), *away));
        if let Some((_, wanted, here)) = shallower {
            return format!("{here}{}{rest}", self.steps.of_file(&model[wanted.len()..]));
        }
        let deeper = known()
            .filter(|(_, wanted, _)| wanted.starts_with(model))
            .min_by_key(|(away, wanted, _)| (wanted.len() - model.len(), *away));
        match deeper {
            Some((_, wanted, here)) => {
                let less = self.steps.of_file(&wanted[model.len()..]);
                let here = here
                    .strip_suffix(less.as_str())
                    // All blanks of an indentation are short; what is not there cannot be taken away.
                    .unwrap_or_else(|| {
                        &here[..here.floor_char_boundary(here.len().saturating_sub(less.len()))]
                    });
                format!("{here}{rest}")
            }
            None => line.to_owned(),
        }
    }
}

/// Enough of a file to see how it is indented.
const MAX_LINES: usize = 5_000;

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// By what most lines are deeper or less deep than the one before; of equals, the least.
fn step<'a>(all: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut steps: Vec<(&str, usize)> = Vec::new();
    let mut before = None;
    for line in all.filter(|it| !it.trim().is_empty()) {
        let here = indent(line);
        let before = before.replace(here).unwrap_or(here);
        let more = here.strip_prefix(before).or(before.strip_prefix(here));
        if let Some(more) = more.filter(|it| !it.is_empty()) {
            match steps.iter().position(|(it, _)| *it == more) {
                Some(at) => steps[at].1 += 1,
                None if steps.len() < MAX_STEPS => steps.push((more, 1)),
                None => {}
            }
        }
    }
    steps
        .into_iter()
        .max_by_key(|(step, n)| (*n, std::cmp::Reverse(step.len())))
        .map(|(step, _)| step)
}

/// A file with more different ones has no step.
const MAX_STEPS: usize = 32;
