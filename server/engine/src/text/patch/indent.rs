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
        self.computed(patch)
    }

    /// Indentation that no known line has. With two or more that lie on one line, steps are as wide as these tell;
    /// with one alone, all lines were shifted, or tabs stand for so many blanks.
    fn computed(&self, patch: &str) -> Option<String> {
        let one_kind = |all: &[&str]| -> Option<Option<char>> {
            let all: String = all.concat();
            match all.is_empty() {
                true => Some(None),
                false => kind(&all).map(Some),
            }
        };
        let patches: Vec<&str> = self
            .pairs
            .iter()
            .map(|(it, _)| *it)
            .chain([patch])
            .collect();
        let files: Vec<&str> = self.pairs.iter().map(|(_, it)| *it).collect();
        let from = one_kind(&patches)?;
        let to = one_kind(&files)?;
        let width = |it: &str| it.len() as isize;
        let (first, first_file) = self.pairs.first().map(|(a, b)| (width(a), width(b)))?;
        let wanted = match self.pairs.get(1) {
            Some((second, second_file)) => {
                let (run, rise) = (width(second) - first, width(second_file) - first_file);
                let is_on_line = |(it, file): &(&str, &str)| {
                    (width(file) - first_file) * run == rise * (width(it) - first)
                };
                let scaled = rise * (width(patch) - first);
                (self.pairs.iter().all(is_on_line) && scaled % run == 0)
                    .then(|| first_file + scaled / run)?
            }
            None if from != to && to.is_some() => {
                let scaled = width(patch) * first_file;
                (first > 0 && scaled % first == 0).then(|| scaled / first)?
            }
            // Twice as much or half of it may be another width of a step as well as a shift.
            None if first > 0 && (first_file == 2 * first || first == 2 * first_file) => {
                return None;
            }
            None => width(patch) + first_file - first,
        };
        let character = to.or(from).unwrap_or(' ').to_string();
        Some(character.repeat(usize::try_from(wanted).ok()?))
    }
}

/// The one character of which an indentation is made.
fn kind(indentation: &str) -> Option<char> {
    let first = indentation.chars().next()?;
    indentation.chars().all(|it| it == first).then_some(first)
}
