//! Skills: files that say how a special kind of work is done, of which the model is told so that it reads them when
//! they fit (spec 21.2).
//!
//! Pure: what a file says, and what the model is told of all of them. Finding them is the host's business.

use crate::front_matter;
use crate::text::visible_line;

/// The most that the model is told of.
const MOST: usize = 64;

/// The most bytes of what it is told.
const MOST_BYTES: usize = 8 * 1024;

/// The most characters of a name and of a description.
const MOST_NAME: usize = 64;
const MOST_DESCRIPTION: usize = 400;

/// One skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    /// When it fits, in one line.
    pub description: String,
    /// Where its file is, as read_file takes it.
    pub path: String,
}

impl Skill {
    /// What a file says of its skill. One without a name is called as its folder; one without a description is described
    /// by its first line. None where it says nothing, or is not for the model to choose.
    pub fn read(file: &str, folder: &str, path: String) -> Option<Self> {
        let (fields, body) = front_matter::read(file);
        if fields.flag("disable-model-invocation") == Some(true) {
            return None;
        }
        let first = || {
            let mut lines = body.lines().map(|it| it.trim_start_matches('#').trim());
            lines.find(|it| !it.is_empty()).map(str::to_owned)
        };
        let description = fields.text("description").or_else(first)?;
        let name = fields.text("name").unwrap_or_else(|| folder.to_owned());
        Some(Self {
            name: visible_line(&name, MOST_NAME),
            description: visible_line(&description.replace(['\n', '\r'], " "), MOST_DESCRIPTION),
            path,
        })
    }
}

/// What the model is told of skills; nothing where there are none. Of several with one name the first counts.
pub fn index(skills: &[Skill]) -> String {
    let mut text = ABOUT.to_owned();
    let mut told: Vec<&str> = Vec::new();
    let mut left_out = 0;
    for skill in skills {
        if told.contains(&skill.name.as_str()) {
            continue;
        }
        let line = format!("\n- {}: {} ({})", skill.name, skill.description, skill.path);
        if left_out > 0 || told.len() == MOST || text.len() + line.len() > MOST_BYTES - ROOM {
            left_out += 1;
            continue;
        }
        text.push_str(&line);
        told.push(&skill.name);
    }
    if told.is_empty() && left_out == 0 {
        return String::new();
    }
    if left_out > 0 {
        text.push_str(&format!("\n[{left_out} more skills do not fit here.]"));
    }
    text
}

const ABOUT: &str = "# Skills\n\nEach of these files says how a special kind of work is done. When one fits the task, read it with read_file before \
you begin, and of the files that it names what you need:";

/// Bytes for the line about those that are left out.
const ROOM: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str, description: &str) -> Skill {
        let file = format!("---\nname: {name}\ndescription: {description}\n---\nDo it.\n");
        Skill::read(&file, "folder", format!("skills/{name}/SKILL.md")).unwrap()
    }

    #[test]
    fn the_model_is_told_name_description_and_path() {
        let told = index(&[skill("pdf", "Fills in forms")]);
        assert!(told.starts_with("# Skills\n"));
        assert!(
            told.ends_with("\n- pdf: Fills in forms (skills/pdf/SKILL.md)"),
            "{told}"
        );
        assert_eq!(index(&[]), "");
    }

    #[test]
    fn a_file_without_fields_is_called_as_its_folder_and_described_by_its_first_line() {
        let read = |file| Skill::read(file, "pdf", "p".to_owned());
        let found = read("\n# Fills in forms\n\nSo.\n").unwrap();
        assert_eq!(
            (&*found.name, &*found.description),
            ("pdf", "Fills in forms")
        );
        assert_eq!(read("\n"), None);
        assert_eq!(
            read("---\ndescription: x\ndisable-model-invocation: true\n---\n"),
            None
        );
    }

    #[test]
    fn sixty_four_skills_and_eight_kibibytes_are_told() {
        let many: Vec<Skill> = (0..70).map(|it| skill(&format!("s{it}"), "x")).collect();
        let told = index(&many);
        assert_eq!(told.matches("\n- s").count(), 64);
        assert!(told.ends_with("[6 more skills do not fit here.]"), "{told}");
        let long: Vec<Skill> = (0..60)
            .map(|it| skill(&format!("s{it}"), &"x".repeat(390)))
            .collect();
        let told = index(&long);
        assert!(
            told.len() <= MOST_BYTES && told.len() > MOST_BYTES - 600,
            "{}",
            told.len()
        );
        assert!(told.ends_with("more skills do not fit here.]"));
    }

    #[test]
    fn of_two_with_one_name_the_first_counts() {
        let told = index(&[skill("a", "first"), skill("a", "second")]);
        assert!(told.contains("first") && !told.contains("second"));
    }
}
