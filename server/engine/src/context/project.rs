//! What a project's own files tell the model, as a part of the system prompt (spec 21.1).

use std::fmt::Write;

/// A file in which a project, or its person, says how to work here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFile {
    /// Its path, for the model and people.
    pub path: String,
    pub text: String,
}

/// The most bytes of such files together, with their headers.
pub const MAX_BYTES: usize = 40_000;

/// The files as one text; empty if they say nothing. Later ones win, so that earlier ones are cut first.
pub fn told(files: &[InstructionFile]) -> String {
    let mut room = MAX_BYTES;
    let mut parts: Vec<String> = Vec::new();
    for file in files.iter().rev() {
        if file.text.trim().is_empty() {
            continue;
        }
        let part = part(file, room);
        room -= part.len();
        parts.push(part);
    }
    parts.reverse();
    parts.concat()
}

/// One file under its header, in at most this many bytes; nothing where not even the header fits.
fn part(file: &InstructionFile, room: usize) -> String {
    let mut part = String::new();
    // Writing to a string cannot fail.
    let _ = write!(part, "\n\n# {} says\n\n", file.path);
    let text = file.text.trim_end();
    if part.len() + text.len() <= room {
        part.push_str(text);
        return part;
    }
    let Some(left) = room.checked_sub(part.len() + CUT.len()) else {
        return String::new();
    };
    part.push_str(&text[..text.floor_char_boundary(left)]);
    part.push_str(CUT);
    part
}

/// What stands where a file was cut.
const CUT: &str = "\n[The rest of this file does not fit here; read it when it matters.]";

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> InstructionFile {
        let (path, text) = (path.to_owned(), text.to_owned());
        InstructionFile { path, text }
    }

    #[test]
    fn each_file_stands_under_its_name_and_an_empty_one_nowhere() {
        let files = [
            file("AGENTS.md", "Use tabs.\n"),
            file("x", " \n"),
            file("UNDINE.md", "Use spaces."),
        ];
        expect_test::expect![[r#"


            # AGENTS.md says

            Use tabs.

            # UNDINE.md says

            Use spaces."#]]
        .assert_eq(&told(&files));
        assert_eq!(told(&[]), "");
    }

    #[test]
    fn together_they_fit_and_the_first_is_cut_first() {
        for (first, last) in [
            (50_000, 100),
            (20_000, 30_000),
            (100, 50_000),
            (50_000, 50_000),
            (100, 39_950),
            (MAX_BYTES, MAX_BYTES),
        ] {
            // Two bytes each, so that a cut can fall into one.
            let files = [
                file("A", &"ä".repeat(first / 2)),
                file("U", &"ö".repeat(last / 2)),
            ];
            let told = told(&files);
            assert!(told.len() <= MAX_BYTES, "{first} {last}: {}", told.len());
            let count = |it: char| told.matches(it).count() * 2;
            assert!(count('ö') == last || count('ä') == 0, "{first} {last}");
            if first + last > MAX_BYTES {
                // Where not even the header has room, nothing of the file is there.
                assert!(told.contains(CUT) || count('ä') == 0, "{first} {last}");
                assert!(
                    told.len() > MAX_BYTES - 200,
                    "{first} {last}: {}",
                    told.len()
                );
            }
        }
    }
}
