//! Documents that are not saved when a command is about to run: it would see the disk and not the editor.

use super::Session;
use super::call::{Planned, Stage};
use super::effect::{CallChange, CallContent, Effect, Update};
use crate::policy::{Hold, Verdict};
use crate::text::visible_line;
use protocol::approval::{ApprovalOption, OptionId};
use protocol::session::CallId;
use serde::{Deserialize, Serialize};

/// Documents were not saved although the person wanted it. Nothing has run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

impl Session {
    /// The person wants them saved before the call runs.
    pub(super) fn save_first(
        &mut self,
        id: CallId,
        plan: Planned,
        reason: Option<String>,
        out: &mut Vec<Effect>,
    ) {
        if let Some(call) = self.call_mut(id) {
            call.stage = Stage::Saving { plan, reason };
            out.push(Effect::SaveFirst(id));
        }
    }

    /// The call runs when all is saved; else the question is put again.
    pub(super) fn saved(&mut self, id: CallId, end: Result<(), NotSaved>, out: &mut Vec<Effect>) {
        let Some(call) = self.call(id) else {
            return;
        };
        let Stage::Saving { plan, reason } = &call.stage else {
            return;
        };
        let (mut plan, reason) = (plan.clone(), reason.clone());
        let tool = call.call.name.clone();
        // The mode may be another than when the person said yes.
        let hold = match self.judge(self.mode, &tool, &plan.accesses) {
            Verdict::Allow(hold) => hold,
            Verdict::Ask(_) | Verdict::Classify => Hold::AsConfigured,
            Verdict::Deny(why) => {
                self.refuse(id, &why, out);
                return self.advance(out);
            }
        };
        match end {
            Ok(()) => {
                // In the place of what was waited for.
                let content = plan.preview.into_iter().map(CallContent::Preview);
                let change = CallChange {
                    content: content.collect(),
                    ..CallChange::default()
                };
                out.push(Effect::Show(Update::CallChanged(id, change)));
                self.run(id, plan.shown, hold, out);
            }
            Err(NotSaved { why, left }) => {
                if let Some(call) = self.call_mut(id) {
                    call.not_saved.push(why);
                }
                plan.unsaved = left;
                self.ask_somebody(id, plan, reason, out);
            }
        }
    }
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
