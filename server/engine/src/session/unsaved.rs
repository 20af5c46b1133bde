//! Documents that are not saved when a command is about to run: it would see the disk and not the editor.

use crate::text::visible_line;
use protocol::approval::{ApprovalOption, OptionId};

/// Documents were not saved although the person wanted it. Nothing has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSaved {
    /// A sentence for the person.
    pub why: String,
    /// Names of those that are still not saved.
    pub left: Vec<String>,
}

/// The most names in a sentence.
const MOST_NAMES: usize = 3;

/// The most characters of a name: it may hold anything.
const MAX_NAME: usize = 120;

fn shown(name: &str) -> String {
    visible_line(name, MAX_NAME)
}

/// Names in a sentence: the first few, and how many more there are.
pub fn named(names: &[String]) -> String {
    let (last, before) = match names.split_last() {
        None => return String::new(),
        Some((last, [])) => return shown(last),
        Some((_, _)) if names.len() > MOST_NAMES => {
            let n_more = names.len() - MOST_NAMES;
            (format!("{n_more} more"), &names[..MOST_NAMES])
        }
        Some((last, before)) => (shown(last), before),
    };
    let before: Vec<String> = before.iter().map(|it| shown(it)).collect();
    format!("{} and {last}", before.join(", "))
}

/// What a question says of them. `failed` is what became of saving them before.
pub(super) fn note(failed: Option<&str>, unsaved: &[String]) -> Option<String> {
    let stands = match unsaved {
        [] => None,
        [one] => Some(format!(
            "{} has unsaved edits, which the command does not see unless it is saved.",
            shown(one)
        )),
        several => Some(format!(
            "{} have unsaved edits, which the command does not see unless they are saved.",
            named(several)
        )),
    };
    let said: Vec<String> = failed
        .map(str::to_owned)
        .into_iter()
        .chain(stands)
        .collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// Makes of the plain Yes the choice between saving first and not. Saving stands first: it is what can't surprise.
pub(super) fn offer(options: &mut Vec<ApprovalOption>) {
    for option in options.iter_mut().filter(|it| it.id == OptionId::Once) {
        option.label = "Run anyway".to_owned();
    }
    let save = ApprovalOption {
        id: OptionId::Save,
        label: "Save and run".to_owned(),
        rule: None,
    };
    options.insert(0, save);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_named_and_the_rest_is_counted() {
        let names: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        let said: Vec<String> = (0..=5).map(|it| named(&names[..it])).collect();
        assert_eq!(
            said,
            [
                "",
                "a",
                "a and b",
                "a, b and c",
                "a, b, c and 1 more",
                "a, b, c and 2 more"
            ]
        );
    }

    #[test]
    fn a_name_that_hides_something_is_shown_as_it_is() {
        let note = note(None, &["a\u{202e}b".to_owned()]).unwrap();
        assert!(!note.contains('\u{202e}'), "{note:?}");
    }
}
