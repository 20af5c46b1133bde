//! The checklist in a session: its tools, what the person makes of it, and what is counted for it (spec 10).

use super::Session;
use super::effect::{Effect, Update};
use super::own_tools::{Answered, read};
use crate::checklist::{self, Edit, Made};
use crate::context::Entry;
use crate::provider::Usage;
use protocol::checklist::{Task, TaskCreate, TaskList, TaskUpdate};
use protocol::record::Record;
use protocol::session::CallId;
use protocol::tool::Outcome;
use serde_json::Value;

/// Answers in a row that leave an open checklist as it is, before the model is reminded of it.
const STALE_AFTER: u32 = 8;

const STALE: &str = "The checklist has not been updated for a while. If it is still what you do, bring it up to date with task_update; \
else delete what is left of it. Do not mention this to the user.";

impl Session {
    /// The tasks, in their order; those that were deleted are among them.
    pub fn checklist(&self) -> &[Task] {
        &self.checklist
    }

    pub(super) fn create_tasks(&mut self, arguments: &Value, out: &mut Vec<Effect>) -> Answered {
        let (now, guidance) = (self.now, self.settings.guidance);
        let call: Result<TaskCreate, String> = read(TaskCreate::NAME, arguments);
        let n = call.as_ref().map_or(0, |it| it.tasks.len());
        let made = call.and_then(|it| checklist::create(&mut self.checklist, it, now, guidance));
        let tasks = if n == 1 { "task" } else { "tasks" };
        self.made(format!("Plan {n} {tasks}"), made, out)
    }

    pub(super) fn update_tasks(&mut self, arguments: &Value, out: &mut Vec<Effect>) -> Answered {
        let (now, guidance) = (self.now, self.settings.guidance);
        let call: Result<TaskUpdate, String> = read(TaskUpdate::NAME, arguments);
        let made =
            call.and_then(|it| checklist::update(&mut self.checklist, &it.updates, now, guidance));
        self.made("Update the checklist".to_owned(), made, out)
    }

    pub(super) fn list_tasks(&mut self, arguments: &Value, out: &mut Vec<Effect>) -> Answered {
        let call: Result<TaskList, String> = read(TaskList::NAME, arguments);
        let made = call.map(|TaskList {}| Made {
            text: checklist::list(&self.checklist),
            is_changed: false,
        });
        self.made("Look at the checklist".to_owned(), made, out)
    }

    fn made(
        &mut self,
        title: String,
        made: Result<Made, String>,
        out: &mut Vec<Effect>,
    ) -> Answered {
        self.stale = 0;
        let (outcome, text) = match made {
            Ok(made) => {
                if made.is_changed {
                    self.checklist_changed(out);
                }
                (Outcome::Success, made.text)
            }
            Err(text) => (Outcome::Error, text),
        };
        Answered {
            outcome,
            text,
            title,
        }
    }

    /// The person changed the list. What cannot be done by now is left.
    pub(super) fn edit_checklist(&mut self, edit: &Edit, out: &mut Vec<Effect>) {
        let now = self.now;
        let Ok(said) = edit.make(&mut self.checklist, now) else {
            return;
        };
        self.checklist_changed(out);
        self.tell_next(format!("The user changed the checklist: {said}."), out);
    }

    fn checklist_changed(&mut self, out: &mut Vec<Effect>) {
        let tasks = self.checklist.clone();
        out.push(Effect::Append(Record::Checklist {
            tasks: tasks.clone(),
        }));
        out.push(Effect::Show(Update::Checklist(tasks)));
    }

    /// A call that ran has ended: that says how far the task in progress is.
    pub(super) fn note_evidence(&mut self, call: CallId, title: Option<&str>, outcome: Outcome) {
        let mut answers = self.history.iter().rev();
        let asked = answers.find_map(|it| match it {
            Entry::Answer(answer) => answer.calls.iter().find(|it| it.id == call),
            Entry::User(_) | Entry::Told(_) | Entry::Summary(_) => None,
        });
        let Some(tool) = asked.map(|it| it.call.name.clone()) else {
            return;
        };
        let ok = outcome == Outcome::Success;
        checklist::note(&mut self.checklist, &tool, title.unwrap_or(""), ok);
    }

    /// Counts what an answer took for the task in progress.
    pub(super) fn spend_on_tasks(&mut self, tokens: &Usage) {
        let Usage {
            input,
            cached,
            cache_write,
            output,
            reasoning,
        } = tokens;
        let all = [*input, *cached, *cache_write, *output, *reasoning];
        checklist::spend(&mut self.checklist, all.iter().sum());
    }

    /// Before the model is asked: reminds one that is guided of a list that it has forgotten.
    pub(super) fn remind_of_checklist(&mut self, out: &mut Vec<Effect>) {
        if !checklist::is_open(&self.checklist) {
            self.stale = 0;
            return;
        }
        self.stale += 1;
        if self.stale > STALE_AFTER {
            self.stale = 0;
            if self.settings.guidance {
                self.tell_next(STALE.to_owned(), out);
            }
        }
    }
}
