//! Looking for words in the sessions of a folder.

use super::list::{self, Listed};
use super::pages::number_at;
use super::search::{self, Pattern};
use engine::archive::{Hit, Words};
use std::collections::HashSet;
use std::path::Path;

/// The sessions that have the words, newest first, at most `most`. What cannot be read is left out.
pub fn search(folder: &Path, words: &Words, most: usize) -> Vec<(Listed, Hit)> {
    let mut found = Vec::new();
    for session in list::list(folder) {
        if found.len() >= most {
            break;
        }
        let Ok(log) = list::path(folder, &session.id) else {
            continue;
        };
        if let Some(hit) = hit(&log, &session.title, words) {
            found.push((session, hit));
        }
    }
    found
}

/// The newest message with all of the words, else the title that has them; else, where the words are spread over the session,
/// its newest message with one of them.
fn hit(log: &Path, title: &str, words: &Words) -> Option<Hit> {
    let of_title = || Hit {
        message: None,
        excerpt: title.to_owned(),
    };
    let of_message = |it: search::Hit| Hit {
        message: number_at(log, it.at).ok(),
        excerpt: words.excerpt(&it.text),
    };
    let Some(pattern) = Pattern::of(words.each()) else {
        // All fits.
        return Some(of_title());
    };
    if let Some(hit) = search::newest(log, &pattern).ok()? {
        return Some(of_message(hit));
    }
    if words.are_in(title) {
        return Some(of_title());
    }
    let mut newest: Option<search::Hit> = None;
    for word in words.each() {
        match search::newest(log, &Pattern::of([word])?).ok()? {
            Some(hit) if newest.as_ref().is_none_or(|it| it.at < hit.at) => newest = Some(hit),
            Some(_) => {}
            None if Words::new(word).are_in(title) => {}
            None => return None,
        }
    }
    newest.map(of_message)
}

/// What the person wrote that has the words, newest first and none twice, each with its session: that of `first`, then that of the
/// newest `sessions` of the folder (spec 13.4a).
pub fn prompts(
    folder: &Path,
    first: Option<&str>,
    words: &Words,
    (sessions, most): (usize, usize),
) -> Vec<(String, String)> {
    let Some(pattern) = Pattern::of_prompts(words.each()) else {
        return Vec::new();
    };
    let others = list::list(folder).into_iter().map(|it| it.id);
    let others = others
        .filter(|it| Some(it.as_str()) != first)
        .take(sessions);
    let ids = first.map(str::to_owned).into_iter().chain(others);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for id in ids {
        let log = list::path(folder, &id).ok();
        let hits = log.and_then(|log| search::all(&log, &pattern).ok());
        for hit in hits.unwrap_or_default().into_iter().rev() {
            if found.len() >= most {
                return found;
            }
            if seen.insert(hit.text.clone()) {
                found.push((id.clone(), hit.text));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Log;
    use protocol::record::Record;
    use protocol::session::TurnId;

    #[test]
    fn every_word_must_be_there_and_the_newest_message_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let mut log = Log::new(path.clone(), None);
        let user = |text: &str| Record::User {
            turn: TurnId(0),
            text: text.into(),
            pictures: Vec::new(),
        };
        log.append(user("Why is the Total wrong?")).unwrap();
        log.append(Record::Assistant {
            answer: 0,
            text: "The tax was added twice.".into(),
            thought: String::new(),
            raw: None,
            cut: false,
        })
        .unwrap();
        log.append(user("and the TOTAL now?")).unwrap();
        log.append(Record::Command {
            text: "/sessions wrong".into(),
            answer: "total".into(),
        })
        .unwrap();
        let found = |words: &str| hit(&path, "Sums", &Words::new(words)).map(|it| it.message);
        assert_eq!(found("total"), Some(Some(3)));
        assert_eq!(found("WRONG total"), Some(Some(1)));
        assert_eq!(found("sums"), Some(None));
        assert_eq!(found("tax wrong"), Some(Some(2)));
        assert_eq!(found("sums tax"), Some(Some(2)));
        assert_eq!(found("tax missing"), None);
        assert_eq!(found(""), Some(None));
    }
}
