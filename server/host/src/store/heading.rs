//! What a list says of a session: its title, and what it was forked from.

use super::list::title_of;
use super::log;
use crate::regular;
use protocol::record::{Line, Record};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heading {
    /// What the person called it, else the first thing that they wrote, cut (spec 13.4).
    pub title: String,
    /// The session that it was forked from, and its last message that was taken over.
    pub forked: Option<(String, u64)>,
}

/// Reads a log for it. Only the lines that may say something of it are parsed. `None`: there is no prompt in it, or it cannot be read.
pub fn heading(path: &Path) -> Option<Heading> {
    let mut lines = BufReader::new(regular::open(path).ok()?.take(log::MAX_BYTES));
    let (mut first, mut given, mut forked) = (None, None, None);
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).ok()? == 0 || !line.ends_with(b"\n") {
            break;
        }
        if !may_tell(&line, first.is_some()) {
            continue;
        }
        // What cannot be read here is no reason to list nothing, but before the first prompt it is.
        let record = match serde_json::from_slice::<Line>(&line) {
            Ok(line) => line.record,
            Err(_) if first.is_some() => continue,
            Err(_) => return None,
        };
        if let Record::User { text, .. } = &record {
            first.get_or_insert_with(|| title_of(text));
        } else if let Record::Title { title } = record {
            given = Some(title);
        } else if let Record::Forked { session, message } = record {
            forked = Some((session, message));
        }
    }
    let first = first?;
    Some(Heading {
        title: given.unwrap_or(first),
        forked,
    })
}

/// Whether a line may hold one of the records that count. A quote in a text is written otherwise.
fn may_tell(line: &[u8], has_prompt: bool) -> bool {
    let has = |word: &[u8]| line.windows(word.len()).any(|it| it == word);
    // The record's own kind stands right behind the line's fields.
    let head = &line[..line.len().min(120)];
    let head_has = |word: &[u8]| head.windows(word.len()).any(|it| it == word);
    match has_prompt {
        true => head_has(br#""type":"title""#) || head_has(br#""type":"forked""#),
        false => has(br#""type":""#),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Log;
    use protocol::session::{Mode, TurnId};

    #[test]
    fn the_last_title_given_counts_and_a_prompt_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let user = |text: &str| Record::User {
            turn: TurnId(0),
            text: text.into(),
            pictures: Vec::new(),
        };
        let mut log = Log::new(path.clone(), None);
        let started = Record::Started {
            session: "s".into(),
            cwd: "/p".into(),
            mode: Mode::Ask,
            model: "m".into(),
        };
        log.append(started).unwrap();
        assert_eq!(heading(&path), None);
        let forked = Record::Forked {
            session: "t".into(),
            message: 3,
        };
        log.append(forked).unwrap();
        log.append(user("first")).unwrap();
        log.append(user(r#"{"type":"title","title":"no"}"#))
            .unwrap();
        let found = heading(&path).unwrap();
        assert_eq!(found.title, "first");
        assert_eq!(found.forked, Some(("t".to_owned(), 3)));
        for title in ["one", "two"] {
            log.append(Record::Title {
                title: title.into(),
            })
            .unwrap();
        }
        assert_eq!(heading(&path).unwrap().title, "two");
    }
}
