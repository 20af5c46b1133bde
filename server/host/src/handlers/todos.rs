//! `/todos`: the person's side of the checklist (spec 10.6).

use crate::errand::Asker;
use crate::event::SessionKey;
use crate::main_loop::Host;
use engine::checklist::{self, Edit};
use engine::session::Input;
use protocol::checklist::Task;

impl Host {
    /// Shows the checklist or changes it; the model is told of a change with its next request.
    pub(super) fn todos_for(&mut self, session: SessionKey, asker: Asker, rest: &str) {
        let tasks = self.sessions.get(&session).map(|it| it.session.checklist());
        let tasks = tasks.unwrap_or_default().to_vec();
        let said = checklist::read(rest).and_then(|edit| match edit {
            None => Ok(checklist::list(&tasks)),
            Some(edit) => {
                let said = tried(&edit, tasks)?;
                self.step(&session, Input::EditChecklist(edit));
                Ok(said)
            }
        });
        let number = self.begin(session, asker);
        self.end(number, said);
    }
}

/// What a change would make of the list, in words.
fn tried(edit: &Edit, mut tasks: Vec<Task>) -> Result<String, String> {
    let said = edit.make(&mut tasks, 0)?;
    let list = checklist::list(&tasks);
    let mut letters = said.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let sentence: String = first.chain(letters).collect();
    Ok(format!("{sentence}.\n\n{list}"))
}
