//! Gives new lines the indentation of the file where the patch was written with another.

/// What indentation of the patch stands for which of the file, as the lines that both have tell.
pub(super) struct Indents<'a> {
    /// Patch and file, without repetitions.
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Indents<'a> {
    /// `None` when one indentation of the patch stands for two of the file: then its structure is lost.
    pub(super) fn of(lines: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Indents<'a>> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for (patch, file) in lines {
            match pairs.iter().find(|(it, _)| *it == patch) {
                Some((_, known)) if *known != file => return None,
                Some(_) => {}
                None => pairs.push((patch, file)),
            }
        }
        Some(Indents { pairs })
    }

    /// The file's indentation for one of the patch; `None` when it is not clear.
    pub(super) fn file(&self, patch: &str) -> Option<String> {
        if self.pairs.iter().all(|(patch, file)| patch == file) {
            return Some(patch.to_owned());
        }
        if let Some((_, file)) = self.pairs.iter().find(|(it, _)| *it == patch) {
            return Some((*file).to_owned());
        }
        let outer = self
            .pairs
            .iter()
            .filter(|(it, _)| patch.starts_with(it))
            .max_by_key(|(it, _)| it.len());
        if let Some((outer, file)) = outer {
            return Some(format!("{file}{}", self.step(&patch[outer.len()..])?));
        }
        let inner = self
            .pairs
            .iter()
            .filter(|(it, _)| it.starts_with(patch))
            .min_by_key(|(it, _)| it.len());
        let (inner, file) = inner?;
        let step = self.step(&inner[patch.len()..])?;
        file.strip_suffix(&*step).map(str::to_owned)
    }

    /// What a further step of the patch is in the file.
    fn step(&self, patch: &str) -> Option<String> {
        // As two known lines show it: one of them is the other and some more.
        for (short, short_file) in &self.pairs {
            for (long, long_file) in &self.pairs {
                let Some(step) = long.strip_prefix(short).filter(|it| !it.is_empty()) else {
                    continue;
                };
                let n = patch.len() / step.len();
                if let Some(file) = long_file.strip_prefix(short_file)
                    && step.repeat(n) == patch
                {
                    return Some(file.repeat(n));
                }
            }
        }
        // As one known line shows it, where blanks stand for tabs or tabs for blanks.
        for (known, file) in &self.pairs {
            let (from, to) = (kind(known), kind(file));
            let (Some(from), Some(to)) = (from, to) else {
                continue;
            };
            if from != to && kind(patch) == Some(from) {
                let n = patch.len() * file.len() / known.len();
                let is_whole = n * known.len() == patch.len() * file.len();
                return is_whole.then(|| to.to_string().repeat(n));
            }
        }
        let is_foreign = |it: &&(&str, &str)| kind(it.1).is_some_and(|to| kind(patch) != Some(to));
        match self.pairs.iter().find(is_foreign) {
            Some(_) => None,
            None => Some(patch.to_owned()),
        }
    }
}

/// The one character of which an indentation is made.
fn kind(indentation: &str) -> Option<char> {
    let first = indentation.chars().next()?;
    indentation.chars().all(|it| it == first).then_some(first)
}
