//! `/goal`: sets, shows and removes what must hold before the agent stops by itself (spec 23).

use crate::errand::Asker;
use crate::event::SessionKey;
use crate::main_loop::Host;
use crate::session_host::Waiter;
use engine::session::Input;
use engine::session::goals::{self, Wish};

impl Host {
    pub(super) fn goal_for(&mut self, session: SessionKey, asker: Asker, text: &str) {
        let said = match (Wish::read(text), asker) {
            // The request is open until the goal is met or paused.
            (Ok(Wish::Set(condition)), Asker::Prompt { id, reply, .. }) => {
                let prompt = goals::prompt(&condition);
                self.step(&session, Input::Goal(Some(condition)));
                return self.send_prompt(&session, prompt, Waiter::Request { id, reply });
            }
            (Ok(Wish::Set(condition)), asker) => {
                self.step(&session, Input::Goal(Some(condition)));
                (Ok("The goal is set.".to_owned()), asker)
            }
            (Ok(Wish::Show), asker) => {
                let open = self.sessions.get(&session);
                let goal = open.and_then(|it| it.session.goal());
                (Ok(goals::told(goal)), asker)
            }
            (Ok(Wish::Clear), asker) => {
                let open = self.sessions.get(&session);
                let had_one = open.is_some_and(|it| it.session.goal().is_some());
                self.step(&session, Input::Goal(None));
                let text = match had_one {
                    true => "The goal is removed.",
                    false => "There was no goal.",
                };
                (Ok(text.to_owned()), asker)
            }
            (Err(why), asker) => (Err(why), asker),
        };
        let (said, asker) = said;
        let number = self.begin(session, asker);
        self.end(number, said);
    }
}
