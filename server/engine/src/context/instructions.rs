//! The system prompt, and the prompts of tasks that start from a place in a file.

use super::project::{InstructionFile, told};
use crate::provider::NativeTool;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The folders that the model is told of, as whole paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folders {
    pub project: String,
    /// Trusted like the project.
    pub others: Vec<String>,
    pub scratchpad: Option<String>,
}

/// What else the model is told, each a text of its own or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Further {
    /// How to write (spec 22.1).
    pub style: String,
    /// How to go on step by step, for models that need it (spec 22.2).
    pub guidance: String,
    /// Skills that can be read when they fit (spec 21.2).
    pub skills: String,
    /// What was kept of earlier sessions (spec 8.5). Last, because it changes most often.
    pub memory: String,
}

impl Further {
    fn text(&self) -> String {
        let parts = [&self.style, &self.guidance, &self.skills, &self.memory];
        let parts = parts.into_iter().map(|it| it.trim());
        let parts = parts.filter(|it| !it.is_empty());
        parts.map(|it| format!("\n\n{it}")).collect()
    }
}

/// What the model is told once. It stays the same over a session, so that providers can cache it; only when the
/// person adds a folder or changes the project's instructions it is another, or when the model takes another tool for
/// its edits. Short on purpose: small local models have small windows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct System {
    before: String,
    /// The name of the tool that edits stands before the rest; not for those who have none.
    edits: bool,
    after: String,
}

impl System {
    pub fn new(folders: &Folders, files: &[InstructionFile], further: &Further) -> Self {
        let further = further.text();
        let project = &folders.project;
        let mut also = String::new();
        // Writing to a string cannot fail.
        if !folders.others.is_empty() {
            let others = folders.others.join(", ");
            let _ = writeln!(
                also,
                "You may work in these folders too, by whole paths: {others}."
            );
        }
        if let Some(scratchpad) = &folders.scratchpad {
            let _ = writeln!(
                also,
                "Throw-away files of your own go into {scratchpad}, by whole paths (in commands: $UNDINE_SCRATCHPAD); \
                 it is removed when the session ends."
            );
        }
        let told = match told(files) {
            told if told.is_empty() => told,
            told => format!("{ABOUT_FILES}{told}"),
        };
        Self {
            before: format!(
                "{ABOUT_US}The project is at {project}; paths are relative to it.\n\
                 {also}\
                 Read before you edit: files are shown as the user sees them, unsaved changes included. "
            ),
            edits: true,
            after: format!(
                "The user may refuse a call; then do not repeat it, and say what you would do instead. \
                 Run the project's own checks when you have changed code. Be brief and exact.{told}{further}"
            ),
        }
    }

    /// What a subagent is told: its own words before the folders. How to write and how to go on is for those who speak with the
    /// person (spec 22.1).
    pub fn for_agent(
        preamble: &str,
        edits: bool,
        folders: &Folders,
        files: &[InstructionFile],
        further: &Further,
    ) -> Self {
        let further = Further {
            style: String::new(),
            guidance: String::new(),
            ..further.clone()
        };
        let of_session = Self::new(folders, files, &further);
        let about = of_session
            .before
            .strip_prefix(ABOUT_US)
            .unwrap_or(&of_session.before);
        Self {
            before: format!("{preamble}\n\n{about}"),
            edits,
            after: of_session.after,
        }
    }

    /// As a model reads it that has these tools of its provider's beside ours.
    pub fn text(&self, natives: &[NativeTool]) -> String {
        let Self {
            before,
            edits,
            after,
        } = self;
        if !edits {
            return format!("{before}{after}");
        }
        let mut own = natives.iter();
        let own = own.find(|it| it.stands_for().contains(&EDIT));
        let tool = own.map_or(EDIT, |it| it.name());
        format!("{before}Edit with {tool} and keep changes small. {after}")
    }
}

/// How the prompt of the person's agent begins.
const ABOUT_US: &str = "You are Undine, a coding agent inside the user's editor. ";

/// The tool of ours that edits.
const EDIT: &str = "edit_file";

/// Stands before what files say. Where they contradict each other, the later one wins.
const ABOUT_FILES: &str = "\n\nWhat follows stands in files of the project. Work as they say; where they differ, the later one counts, and the user's own words over both.";

/// A task that a code action starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Fix,
    Explain,
    Tests,
    Document,
    Todo,
}

impl Task {
    pub const ALL: [Self; 5] = [
        Self::Fix,
        Self::Explain,
        Self::Tests,
        Self::Document,
        Self::Todo,
    ];

    /// Its command for `workspace/executeCommand`.
    pub fn command(self) -> &'static str {
        match self {
            Self::Fix => "undine.task.fix",
            Self::Explain => "undine.task.explain",
            Self::Tests => "undine.task.tests",
            Self::Document => "undine.task.document",
            Self::Todo => "undine.task.todo",
        }
    }

    pub fn from_command(command: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.command() == command)
    }

    /// What the person sees in a menu.
    pub fn title(self) -> &'static str {
        match self {
            Self::Fix => "Fix this with Undine",
            Self::Explain => "Ask Undine about this",
            Self::Tests => "Write tests with Undine",
            Self::Document => "Document with Undine",
            Self::Todo => "Do this TODO with Undine",
        }
    }

    fn wish(self) -> &'static str {
        match self {
            Self::Fix => {
                "Fix the problems named below. Without any, run the project's checks and fix what they find here."
            }
            Self::Explain => {
                "Explain this code: what it does, why, and what to look out for. Change nothing."
            }
            Self::Tests => "Write tests for this code, in the project's own style, and run them.",
            Self::Document => "Document this code in the project's own style.",
            Self::Todo => "Do what the TODO here asks for, and remove it.",
        }
    }
}

/// A place in a file that a task is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub file: String,
    /// First and last line, counted from 1.
    pub lines: (u32, u32),
    pub selection: String,
    /// Messages, each behind its line.
    pub diagnostics: Vec<(u32, String)>,
}

/// The prompt of a task.
pub fn task_prompt(task: Task, place: &Place) -> String {
    let mut text = task.wish().to_owned();
    let (first, last) = place.lines;
    // Writing to a string cannot fail.
    let _ = if first == last {
        write!(text, "\n\n{}, line {first}", place.file)
    } else {
        write!(text, "\n\n{}, lines {first} to {last}", place.file)
    };
    if !place.selection.trim().is_empty() {
        let _ = write!(
            text,
            ":\n```\n{}\n```",
            place.selection.trim_end_matches('\n')
        );
    }
    for (line, message) in &place.diagnostics {
        let _ = write!(text, "\nProblem in line {line}: {message}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_told_of_its_folders() {
        let mut folders = Folders {
            project: "/p".into(),
            ..Folders::default()
        };
        let system = |folders: &Folders| System::new(folders, &[], &Further::default()).text(&[]);
        let lines = |folders: &Folders| system(folders).lines().count();
        assert_eq!(lines(&folders), 2);
        folders.others = vec!["/a".into(), "/b".into()];
        folders.scratchpad = Some("/tmp/s".into());
        let system = system(&folders);
        expect_test::expect![[r#"
            You are Undine, a coding agent inside the user's editor. The project is at /p; paths are relative to it.
            You may work in these folders too, by whole paths: /a, /b.
            Throw-away files of your own go into /tmp/s, by whole paths (in commands: $UNDINE_SCRATCHPAD); it is removed when the session ends."#]]
        .assert_eq(&system.lines().take(3).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn the_model_is_told_to_edit_with_the_tool_that_it_has() {
        let system = System::new(&Folders::default(), &[], &Further::default());
        let tool = |natives: &[NativeTool]| {
            let text = system.text(natives);
            let (_, tool) = text.split_once("Edit with ").unwrap();
            tool.split_once(' ').unwrap().0.to_owned()
        };
        assert_eq!(tool(&[]), "edit_file");
        assert_eq!(tool(&[NativeTool::Bash]), "edit_file");
        let both = [NativeTool::Bash, NativeTool::TextEditor];
        assert_eq!(tool(&both), "str_replace_based_edit_tool");
        // It stands beside our own.
        assert_eq!(tool(&[NativeTool::ApplyPatch]), "edit_file");
    }

    #[test]
    fn a_subagent_is_told_what_it_is_and_of_the_project_but_not_how_to_write() {
        let folders = Folders {
            project: "/p".into(),
            ..Folders::default()
        };
        let further = Further {
            style: "Rhyme.".into(),
            guidance: "Step by step.".into(),
            skills: "Skills.".into(),
            memory: "Memory.".into(),
        };
        let file = InstructionFile {
            path: "AGENTS.md".into(),
            text: "Use tabs.".into(),
        };
        let system = |edits| {
            System::for_agent(
                "You explore.",
                edits,
                &folders,
                std::slice::from_ref(&file),
                &further,
            )
        };
        expect_test::expect![[r#"
            You explore.

            The project is at /p; paths are relative to it.
            Read before you edit: files are shown as the user sees them, unsaved changes included. The user may refuse a call; then do not repeat it, and say what you would do instead. Run the project's own checks when you have changed code. Be brief and exact.

            What follows stands in files of the project. Work as they say; where they differ, the later one counts, and the user's own words over both.

            # AGENTS.md says

            Use tabs.

            Skills.

            Memory."#]].assert_eq(&system(false).text(&[]));
        assert!(system(true).text(&[]).contains(" Edit with edit_file and "));
    }

    #[test]
    fn a_task_names_its_place_and_its_problems() {
        let place = Place {
            file: "src/a.rs".into(),
            lines: (3, 4),
            selection: "let x = 1;\nx\n".into(),
            diagnostics: vec![(3, "unused variable".into())],
        };
        expect_test::expect![[r#"
            Fix the problems named below. Without any, run the project's checks and fix what they find here.

            src/a.rs, lines 3 to 4:
            ```
            let x = 1;
            x
            ```
            Problem in line 3: unused variable"#]]
        .assert_eq(&task_prompt(Task::Fix, &place));
    }
}
