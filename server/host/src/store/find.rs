//! Looking for words in the sessions of a folder.

use super::list::{self, Listed};
use super::log::read;
use engine::archive::{self, Hit, Words};
use protocol::record::Record;
use std::collections::HashSet;
use std::path::Path;

/// The sessions that have the words, newest first, at most `most`. What cannot be read is left out.
pub fn search(folder: &Path, words: &Words, most: usize) -> Vec<(Listed, Hit)> {
    let mut found = Vec::new();
    for session in list::list(folder) {
        if found.len() >= most {
            break;
        }
        let messages = archive::messages(records(folder, &session.id).iter());
        if let Some(hit) = archive::search(words, &session.title, &messages) {
            found.push((session, hit));
        }
    }
    found
}

/// What the person wrote that has the words, newest first and none twice, each with its session: that of `first`, then that of the
/// newest `sessions` of the folder (spec 13.4a).
pub fn prompts(
    folder: &Path,
    first: Option<&str>,
    words: &Words,
    (sessions, most): (usize, usize),
) -> Vec<(String, String)> {
    let others = list::list(folder).into_iter().map(|it| it.id);
    let others = others
        .filter(|it| Some(it.as_str()) != first)
        .take(sessions);
    let ids = first.map(str::to_owned).into_iter().chain(others);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for id in ids {
        for record in records(folder, &id).into_iter().rev() {
            if found.len() >= most {
                return found;
            }
            if let Record::User { text, .. } = record
                && words.are_in(&text)
                && seen.insert(text.clone())
            {
                found.push((id.clone(), text));
            }
        }
    }
    found
}

fn records(folder: &Path, id: &str) -> Vec<Record> {
    let path = list::path(folder, id);
    let read = path.and_then(|it| read(&it));
    read.map_or_else(|_| Vec::new(), |it| it.0)
}
