//! How the agent writes: styles that are built in, and files of the person's and the project's (spec 22).
//!
//! Pure: the host reads the files. A style that is not there or too large is the default, and the person is told.

use protocol::config::Guidance;

/// The most bytes of a style's file.
pub const MAX_BYTES: u64 = 40_000;

/// The style that says nothing of its own.
pub const DEFAULT: &str = "default";

/// A style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    pub name: String,
    /// One line for whoever chooses; may be empty.
    pub description: String,
    /// For the model; or why there is none, for the person.
    pub text: Result<String, String>,
}

/// Name, description and text of those that are built in.
const BUILT_IN: &[(&str, &str, &str)] = &[
    (DEFAULT, "Brief and exact", ""),
    (
        "proactive",
        "Goes on by itself and asks little",
        "# How to work\nCarry the task through to its end by yourself. Where something is open, choose what a careful colleague would, say what you chose, and go on. \
         Ask only when a wrong choice could not be taken back. Run the checks, mend what they find, and report once at the end: what was done, what was checked, what is left.",
    ),
    (
        "concise",
        "As few words as possible",
        "# How to write\nAnswer in as few words as carry the meaning. No introduction, no summary of what was just done, no praise. \
         One sentence where one is enough; code before prose; a list only where order or number matters. Name files and lines instead of quoting them.",
    ),
    (
        "explanatory",
        "Explains why, while it works",
        "# How to write\nThe user wants to understand the work. Before a change that is not plain, say in two or three sentences why it is made so and what else was possible. \
         Point out what is worth knowing of this code base: its patterns, its traps, where to look next. Explain what is particular to this code, not what every programmer knows.",
    ),
    (
        "learning",
        "Leaves small parts for you to write",
        "# How to work\nThe user wants to learn by doing. Do the routine work yourself, and leave them one small part that needs a decision: five to ten lines, marked with `TODO(human)` in the file, \
         with a sentence on what it must do and what to weigh. Then stop and wait. When they have written it, say what is good and what you would change, and go on. Never more than one open part.",
    ),
];

/// Those that are built in.
pub fn built_in() -> impl Iterator<Item = Style> {
    BUILT_IN.iter().map(|(name, description, text)| Style {
        name: (*name).to_owned(),
        description: (*description).to_owned(),
        text: Ok((*text).to_owned()),
    })
}

/// A file as a style. Its name is the file's without `.md`; a head between two lines `---` may have a `description:`.
pub fn of_file(name: &str, text: Result<&str, String>) -> Style {
    let mut description = "";
    let text = text.map(|text| {
        let text = text.trim_start_matches('\u{feff}');
        let head = text
            .strip_prefix("---\n")
            .and_then(|it| it.split_once("\n---\n"));
        let Some((head, rest)) = head else {
            return text.trim().to_owned();
        };
        let found = head
            .lines()
            .find_map(|it| it.trim().strip_prefix("description:"));
        description = found.unwrap_or_default().trim().trim_matches('"');
        rest.trim().to_owned()
    });
    Style {
        name: name.to_owned(),
        description: description.to_owned(),
        text,
    }
}

/// All that can be chosen, in order: later ones of a name win.
pub fn all(person: Vec<Style>, project: Vec<Style>) -> Vec<Style> {
    let mut all: Vec<Style> = Vec::new();
    for style in built_in().chain(person).chain(project) {
        match all.iter_mut().find(|it| it.name == style.name) {
            Some(it) => *it = style,
            None => all.push(style),
        }
    }
    all
}

/// The text of a style, and what the person is told where it is the default's instead.
pub fn choose(all: &[Style], name: &str) -> (String, Option<String>) {
    match all.iter().find(|it| it.name == name) {
        Some(Style { text: Ok(text), .. }) => (text.clone(), None),
        Some(Style { text: Err(why), .. }) => {
            let why = format!("The output style {name} {why}; the default counts.");
            (String::new(), Some(why))
        }
        None => {
            let why = format!(
                "There is no output style {name:?}; the default counts. There are {}.",
                names(all)
            );
            (String::new(), Some(why))
        }
    }
}

/// For a sentence.
pub fn names(all: &[Style]) -> String {
    let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
    names.join(", ")
}

/// What `/output-style` lists.
pub fn list(all: &[Style], chosen: &str) -> String {
    let lines = all.iter().map(|it| {
        let mark = if it.name == chosen { "*" } else { "-" };
        match it.description.as_str() {
            "" => format!("{mark} {}", it.name),
            description => format!("{mark} {}: {description}", it.name),
        }
    });
    let lines: Vec<String> = lines.collect();
    format!(
        "{}\n\n`/output-style NAME` chooses one, `--project` for everybody who works here.",
        lines.join("\n")
    )
}

/// Whether the model is guided step by step.
pub fn is_guided(guidance: Guidance, is_local: bool) -> bool {
    match guidance {
        Guidance::Auto => is_local,
        Guidance::On => true,
        Guidance::Off => false,
    }
}

/// What a model is told that needs to be guided.
pub const GUIDANCE: &str = "\
# Step by step
1. Look before you change: read the file you are about to edit, and search for what you do not know.
2. Do one thing after the other, and call a tool for it instead of describing what you would do.
3. Read each result. Where it is an error, do what helps against it; do not send the same call again.
4. Write arguments as the tool's schema wants them; copy old text for an edit exactly as the file has it.
5. Go on until the task is done, then say in two or three sentences what was done. Do not say that something is done which no result shows.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_projects_file_wins_over_the_persons_and_that_over_what_is_built_in() {
        let file = |text: &str| of_file("concise", Ok(text));
        let styles = all(vec![file("mine")], vec![file("ours")]);
        assert_eq!(choose(&styles, "concise"), ("ours".into(), None));
        let styles = all(vec![file("mine")], Vec::new());
        assert_eq!(choose(&styles, "concise"), ("mine".into(), None));
        assert_eq!(
            names(&styles),
            "default, proactive, concise, explanatory, learning"
        );
    }

    #[test]
    fn what_is_not_there_or_too_large_is_the_default_with_a_warning() {
        let large = of_file("large", Err("is larger than 40000 bytes".into()));
        let styles = all(vec![large], Vec::new());
        for name in ["large", "none"] {
            let (text, warning) = choose(&styles, name);
            assert_eq!(text, "");
            assert!(warning.unwrap().contains(name));
        }
    }

    #[test]
    fn a_head_tells_what_a_style_is_for() {
        let style = of_file(
            "x",
            Ok("---\nname: x\ndescription: \"For x\"\n---\n\nBe x.\n"),
        );
        assert_eq!(
            (style.description.as_str(), style.text.as_deref()),
            ("For x", Ok("Be x."))
        );
        let plain = of_file("x", Ok("---\nno end"));
        assert_eq!(plain.text.as_deref(), Ok("---\nno end"));
    }

    #[test]
    fn guidance_is_for_models_on_ones_own_machine_unless_the_person_says_otherwise() {
        assert!(is_guided(Guidance::Auto, true) && !is_guided(Guidance::Auto, false));
        assert!(is_guided(Guidance::On, false) && !is_guided(Guidance::Off, true));
    }
}
