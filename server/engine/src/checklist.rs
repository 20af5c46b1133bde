//! The checklist of a session (spec 10): what calls and the person make of it. Rules are soft: they become notes, never refusals.

mod edit;

pub use edit::{Edit, read};

use protocol::checklist::{Evidence, NewStatus, Task, TaskChange, TaskCreate, TaskStatus};

/// The most evidence that is kept of a task: the newest.
const MAX_EVIDENCE: usize = 20;

/// How much of it a list shows.
const SHOWN_EVIDENCE: usize = 3;

/// The most characters of what evidence is about.
const MAX_TARGET: usize = 100;

/// What came of a call, for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub text: String,
    /// Something is another than before.
    pub is_changed: bool,
}

/// Puts tasks on the list; `now` is in milliseconds since the Unix epoch. The error is for the model, and nothing was done then.
pub fn create(
    tasks: &mut Vec<Task>,
    call: TaskCreate,
    now: u64,
    guidance: bool,
) -> Result<Made, String> {
    if call.tasks.is_empty() {
        return Err("tasks is empty; give one task or more. Nothing was done.".to_owned());
    }
    for (at, it) in call.tasks.iter().enumerate() {
        for (name, text) in [("subject", &it.subject), ("active_form", &it.active_form)] {
            if text.trim().is_empty() {
                return Err(format!(
                    "Task {} of the call has a blank {name}. Nothing was done.",
                    at + 1
                ));
            }
        }
    }
    let mut lines = Vec::new();
    for it in call.tasks {
        let mut task = Task {
            id: next_id(tasks),
            subject: it.subject.trim().to_owned(),
            active_form: it.active_form.trim().to_owned(),
            description: it.description.trim().to_owned(),
            status: TaskStatus::Pending,
            started: None,
            completed: None,
            tokens: 0,
            evidence: Vec::new(),
        };
        match it.status {
            NewStatus::Pending => {}
            NewStatus::InProgress => set(&mut task, TaskStatus::InProgress, now),
        }
        lines.push(format!("Created {}", line(&task)));
        tasks.push(task);
    }
    lines.extend(several(tasks, guidance));
    Ok(Made {
        text: lines.join("\n"),
        is_changed: true,
    })
}

/// Changes tasks, each change by itself (spec 10.2). An error only where none of them could be made.
pub fn update(
    tasks: &mut [Task],
    changes: &[TaskChange],
    now: u64,
    guidance: bool,
) -> Result<Made, String> {
    if changes.is_empty() {
        return Err("updates is empty; name one task or more. Nothing was done.".to_owned());
    }
    let (mut lines, mut n_made) = (Vec::new(), 0);
    for change in changes {
        match update_one(tasks, change, now) {
            Ok(said) => {
                n_made += 1;
                lines.push(said);
            }
            Err(why) => lines.push(format!("Not done: {why}")),
        }
    }
    if n_made == 0 {
        return Err(lines.join("\n"));
    }
    lines.extend(several(tasks, guidance));
    lines.push(total(tasks));
    Ok(Made {
        text: lines.join("\n"),
        is_changed: true,
    })
}

fn update_one(tasks: &mut [Task], change: &TaskChange, now: u64) -> Result<String, String> {
    let id = change.id.number();
    let found = tasks.iter_mut().find(|it| Some(it.id) == id);
    let Some(task) = found else {
        let name = match id {
            Some(id) => format!("#{id}"),
            None => "of that id".to_owned(),
        };
        return Err(format!("there is no task {name}; task_list shows them."));
    };
    let id = task.id;
    if task.status == TaskStatus::Deleted {
        return Err(format!(
            "task #{id} was deleted and stays so; create another."
        ));
    }
    let texts = [
        ("subject", &change.subject),
        ("active_form", &change.active_form),
    ];
    let is_blank = |it: &&Option<String>| it.as_ref().is_some_and(|it| it.trim().is_empty());
    if let Some((name, _)) = texts.iter().find(|(_, it)| is_blank(it)) {
        return Err(format!("the {name} of task #{id} would be blank."));
    }
    if change.status.is_none()
        && change.description.is_none()
        && texts.iter().all(|(_, it)| it.is_none())
    {
        return Err(format!(
            "nothing was said of task #{id}; give a status or a text."
        ));
    }
    let put = |into: &mut String, from: &Option<String>| {
        if let Some(text) = from {
            text.trim().clone_into(into);
        }
    };
    put(&mut task.subject, &change.subject);
    put(&mut task.active_form, &change.active_form);
    put(&mut task.description, &change.description);
    let before = task.status;
    if let Some(status) = change.status {
        set(task, status, now);
    }
    let mut said = format!("Updated {}", line(task));
    if before == TaskStatus::Pending && task.status == TaskStatus::Completed {
        said += "\nNote: it went from pending to completed in one step; set a task to in_progress before you begin it, so that the person \
                 sees what is being done.";
    }
    Ok(said)
}

/// The list, with what was done last for each task.
pub fn list(tasks: &[Task]) -> String {
    let mut text = String::new();
    for task in shown(tasks) {
        text += &format!("{}\n", line(task));
        if !task.description.is_empty() {
            text += &format!("  {}\n", task.description.replace('\n', "\n  "));
        }
        let first = task.evidence.len().saturating_sub(SHOWN_EVIDENCE);
        for it in &task.evidence[first..] {
            let how = if it.ok { "ok" } else { "failed" };
            text += &format!("  - {}: {} ({how})\n", it.tool, it.target);
        }
    }
    match text.is_empty() {
        true => "No tasks.".to_owned(),
        false => text + &total(tasks),
    }
}

/// Notes a call that has ended, for the task that is in progress. False where none is.
pub fn note(tasks: &mut [Task], tool: &str, target: &str, ok: bool) -> bool {
    let Some(task) = tasks
        .iter_mut()
        .find(|it| it.status == TaskStatus::InProgress)
    else {
        return false;
    };
    if task.evidence.len() >= MAX_EVIDENCE {
        task.evidence.remove(0);
    }
    task.evidence.push(Evidence {
        tool: tool.to_owned(),
        target: crate::text::visible_line(target, MAX_TARGET),
        ok,
    });
    true
}

/// Counts tokens for what is in progress.
pub fn spend(tasks: &mut [Task], tokens: u64) {
    for task in tasks {
        if task.status == TaskStatus::InProgress {
            task.tokens = task.tokens.saturating_add(tokens);
        }
    }
}

/// Whether something is left to be done.
pub fn is_open(tasks: &[Task]) -> bool {
    tasks.iter().any(|it| match it.status {
        TaskStatus::Pending | TaskStatus::InProgress | TaskStatus::Blocked => true,
        TaskStatus::Completed | TaskStatus::Deleted => false,
    })
}

/// Stamps (spec 10.5): begun is begun, also when it is reopened; what is reopened has not ended.
fn set(task: &mut Task, status: TaskStatus, now: u64) {
    match status {
        TaskStatus::InProgress => {
            task.started.get_or_insert(now);
            task.completed = None;
        }
        TaskStatus::Completed => {
            if task.status != TaskStatus::Completed {
                task.completed = Some(now);
            }
        }
        TaskStatus::Pending | TaskStatus::Blocked => task.completed = None,
        TaskStatus::Deleted => {}
    }
    task.status = status;
}

fn next_id(tasks: &[Task]) -> u64 {
    tasks.iter().map(|it| it.id).max().unwrap_or(0) + 1
}

fn shown(tasks: &[Task]) -> impl Iterator<Item = &Task> {
    tasks.iter().filter(|it| it.status != TaskStatus::Deleted)
}

fn line(task: &Task) -> String {
    format!("#{} [{}] {}", task.id, task.status.id(), task.subject)
}

fn total(tasks: &[Task]) -> String {
    let done = tasks.iter().filter(|it| it.status == TaskStatus::Completed);
    format!("Tasks {}/{}", done.count(), shown(tasks).count())
}

/// More than one task at a time is a note, for models that are guided.
fn several(tasks: &[Task], guidance: bool) -> Option<String> {
    let n = tasks
        .iter()
        .filter(|it| it.status == TaskStatus::InProgress);
    let n = n.count();
    (guidance && n > 1).then(|| format!("Note: {n} tasks are in progress; work on one at a time."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::{Value, json};

    fn create_all(tasks: &mut Vec<Task>, call: Value, now: u64) -> Result<Made, String> {
        create(tasks, serde_json::from_value(call).unwrap(), now, true)
    }

    fn update_all(tasks: &mut [Task], updates: Value, now: u64) -> Result<Made, String> {
        let changes: Vec<TaskChange> = serde_json::from_value(updates).unwrap();
        update(tasks, &changes, now, true)
    }

    fn two() -> Vec<Task> {
        let mut tasks = Vec::new();
        let call = json!({"tasks": [
            {"subject": "Look", "active_form": "Looking", "status": "in_progress"},
            {"subject": "Fix", "active_form": "Fixing", "description": "the parser"},
        ]});
        create_all(&mut tasks, call, 10).unwrap();
        tasks
    }

    #[test]
    fn ids_are_counted_and_never_given_again() {
        let mut tasks = two();
        update_all(&mut tasks, json!([{"id": 2, "status": "deleted"}]), 20).unwrap();
        let call = json!({"tasks": [{"subject": "Test", "active_form": "Testing"}]});
        create_all(&mut tasks, call, 30).unwrap();
        let ids: Vec<u64> = tasks.iter().map(|it| it.id).collect();
        assert_eq!(ids, [1, 2, 3]);
        assert_eq!(
            list(&tasks),
            "#1 [in_progress] Look\n#3 [pending] Test\nTasks 0/2"
        );
    }

    #[test]
    fn nothing_is_created_of_a_call_with_a_blank() {
        let mut tasks = Vec::new();
        for call in [
            json!({"tasks": []}),
            json!({"tasks": [{"subject": "a", "active_form": "b"}, {"subject": " ", "active_form": "b"}]}),
        ] {
            assert!(create_all(&mut tasks, call, 0).is_err());
        }
        assert_eq!((tasks.len(), list(&tasks)), (0, "No tasks.".to_owned()));
    }

    #[test]
    fn each_change_is_made_by_itself_and_none_at_all_is_an_error() {
        let mut tasks = two();
        let made = update_all(
            &mut tasks,
            json!([
                {"id": 7, "status": "completed"},
                {"id": "#1", "status": "completed"},
                {"id": 2, "subject": " "},
                {"id": "2", "status": "completed"},
            ]),
            50,
        );
        expect![[r#"
            Not done: there is no task #7; task_list shows them.
            Updated #1 [completed] Look
            Not done: the subject of task #2 would be blank.
            Updated #2 [completed] Fix
            Note: it went from pending to completed in one step; set a task to in_progress before you begin it, so that the person sees what is being done.
            Tasks 2/2"#]]
        .assert_eq(&made.unwrap().text);
        assert!(update_all(&mut tasks, json!([{"id": 7, "status": "completed"}]), 60).is_err());
        assert!(update_all(&mut tasks, json!([]), 60).is_err());
    }

    #[test]
    fn a_deleted_task_stays_deleted() {
        let mut tasks = two();
        update_all(&mut tasks, json!([{"id": 1, "status": "deleted"}]), 20).unwrap();
        let back = update_all(&mut tasks, json!([{"id": 1, "status": "pending"}]), 30);
        assert!(back.unwrap_err().contains("stays so"));
        assert_eq!(tasks[0].status, TaskStatus::Deleted);
    }

    #[test]
    fn stamps_tell_when_a_task_was_begun_first_and_when_it_ended() {
        let mut tasks = two();
        let stamps = |tasks: &[Task]| (tasks[0].started, tasks[0].completed);
        let mut go = |status: &str, now| {
            update_all(&mut tasks, json!([{"id": 1, "status": status}]), now).unwrap();
            stamps(&tasks)
        };
        assert_eq!(go("blocked", 20), (Some(10), None));
        assert_eq!(go("in_progress", 30), (Some(10), None));
        assert_eq!(go("completed", 40), (Some(10), Some(40)));
        assert_eq!(go("completed", 45), (Some(10), Some(40)));
        assert_eq!(go("in_progress", 50), (Some(10), None));
        assert_eq!(go("completed", 60), (Some(10), Some(60)));
    }

    #[test]
    fn several_tasks_at_a_time_are_a_note_and_only_for_who_is_guided() {
        let both: Vec<TaskChange> =
            serde_json::from_value(json!([{"id": 2, "status": "in_progress"}])).unwrap();
        for guidance in [true, false] {
            let made = update(&mut two(), &both, 20, guidance).unwrap();
            assert_eq!(made.text.contains("2 tasks are in progress"), guidance);
        }
    }

    #[test]
    fn evidence_and_tokens_go_to_the_task_in_progress_and_only_the_newest_twenty_stay() {
        let mut tasks = two();
        for at in 0..25 {
            assert!(note(
                &mut tasks,
                "execute_command",
                &format!("Run {at}"),
                at % 2 == 0
            ));
        }
        spend(&mut tasks, 100);
        assert_eq!((tasks[0].evidence.len(), tasks[0].tokens), (20, 100));
        assert_eq!((tasks[1].evidence.len(), tasks[1].tokens), (0, 0));
        expect![[r#"
            #1 [in_progress] Look
              - execute_command: Run 22 (ok)
              - execute_command: Run 23 (failed)
              - execute_command: Run 24 (ok)
            #2 [pending] Fix
              the parser
            Tasks 0/2"#]]
        .assert_eq(&list(&tasks));
        update_all(&mut tasks, json!([{"id": 1, "status": "completed"}]), 0).unwrap();
        assert!(!note(&mut tasks, "x", "y", true));
    }
}
