//! What the person makes of the checklist: `/todos` (spec 10.6).

use super::{next_id, set};
use protocol::checklist::{Task, TaskStatus};
use serde::{Deserialize, Serialize};

/// A change by the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Edit {
    Add(String),
    Remove(u64),
    Done(u64),
    Clear,
}

/// What stands behind `/todos`; none: the list is to be shown. The error is for the person.
pub fn read(words: &str) -> Result<Option<Edit>, String> {
    let words = words.trim();
    let (verb, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let rest = rest.trim();
    let id = || {
        let number = rest.trim_start_matches('#').parse();
        number
            .map_err(|_| format!("`/todos {verb}` needs a task's number, as in `/todos {verb} 2`."))
    };
    Ok(Some(match (verb, rest) {
        ("", _) => return Ok(None),
        ("add", "") => return Err("`/todos add` needs what is to be done.".to_owned()),
        ("add", text) => Edit::Add(text.to_owned()),
        ("rm", _) => Edit::Remove(id()?),
        ("done", _) => Edit::Done(id()?),
        ("clear", "") => Edit::Clear,
        (_, _) => {
            return Err(
                "`/todos` shows the checklist; `/todos add <text>`, `/todos rm <number>`, `/todos done <number>` and `/todos clear` change it."
                    .to_owned(),
            );
        }
    }))
}

impl Edit {
    /// Makes the change; answers it in words, which are true of the person's doing. The error is for the person.
    pub fn make(&self, tasks: &mut Vec<Task>, now: u64) -> Result<String, String> {
        let mut with = |id: u64, status| {
            let found = tasks.iter_mut().find(|it| it.id == id);
            let Some(task) = found.filter(|it| it.status != TaskStatus::Deleted) else {
                return Err(format!("There is no task #{id}; `/todos` shows them."));
            };
            set(task, status, now);
            Ok(format!("#{id} \"{}\"", task.subject))
        };
        match self {
            Self::Add(subject) => {
                let id = next_id(tasks);
                tasks.push(Task {
                    id,
                    subject: subject.clone(),
                    active_form: subject.clone(),
                    description: String::new(),
                    status: TaskStatus::Pending,
                    started: None,
                    completed: None,
                    tokens: 0,
                    evidence: Vec::new(),
                });
                Ok(format!("added #{id} \"{subject}\""))
            }
            Self::Remove(id) => Ok(format!("removed {}", with(*id, TaskStatus::Deleted)?)),
            Self::Done(id) => Ok(format!(
                "marked {} as completed",
                with(*id, TaskStatus::Completed)?
            )),
            Self::Clear => {
                for task in tasks {
                    set(task, TaskStatus::Deleted, now);
                }
                Ok("cleared the checklist".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_person_adds_removes_completes_and_clears() {
        let mut tasks = Vec::new();
        let mut go = |words: &str| read(words)?.ok_or("shown")?.make(&mut tasks, 5);
        assert_eq!(go("add Write tests"), Ok("added #1 \"Write tests\"".into()));
        assert_eq!(go("add Run them"), Ok("added #2 \"Run them\"".into()));
        assert_eq!(
            go("done #1"),
            Ok("marked #1 \"Write tests\" as completed".into())
        );
        assert_eq!(go("rm 2"), Ok("removed #2 \"Run them\"".into()));
        assert!(go("rm 2").is_err() && go("done x").is_err() && go("add").is_err());
        assert!(go("what").is_err() && go("clear all").is_err());
        assert_eq!(go("clear"), Ok("cleared the checklist".into()));
        assert_eq!(go("add Again"), Ok("added #3 \"Again\"".into()));
        assert_eq!(read(" "), Ok(None));
    }
}
