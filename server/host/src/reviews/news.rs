//! What became of the agent's changes, for the model: short, and only once.

use super::Reviews;
use engine::review::{Author, Fate, Verdict};
use engine::text::ChangeSet;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The most verdicts that are told at once, and the most bytes of a text among them.
const MOST: usize = 30;
const MAX_TEXT: usize = 2_000;
const MAX_WROTE: usize = 200;

/// One verdict on a change, until the session that made it was told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct News {
    path: PathBuf,
    /// Lines at the time, from 0, the end not included.
    start: u32,
    end: u32,
    fate: Word,
    /// What the model had written, shortened.
    wrote: String,
    /// The lines as they were then, where that is another text; shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    now: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Kept,
    Reverted,
    /// It was taken back, and that is undone.
    Restored,
    Changed,
    /// It was told that it had not been made, and then it was.
    Landed,
}

impl News {
    fn of(path: &Path, verdict: Verdict) -> Self {
        let Verdict {
            lines: Range { start, end },
            wrote,
            fate,
            ..
        } = verdict;
        let (fate, now) = match fate {
            Fate::Kept { now } => (Word::Kept, (now != wrote).then(|| cut(&now, MAX_TEXT))),
            Fate::Reverted => (Word::Reverted, None),
            Fate::Restored => (Word::Restored, None),
            Fate::Changed { now } => (Word::Changed, Some(cut(&now, MAX_TEXT))),
        };
        Self {
            path: path.to_path_buf(),
            start,
            end,
            fate,
            wrote: cut(&wrote, MAX_WROTE),
            now,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Reviews {
    /// Notes what a ledger has to say, each for its session.
    pub(super) fn gather(&mut self, path: &Path) {
        let Some(review) = self.files.get_mut(path) else {
            return;
        };
        for (session, verdict) in review.ledger.take_verdicts() {
            self.note(&session, News::of(path, verdict));
        }
    }

    /// An edit that a session was told was not made.
    pub(super) fn note_landed(&mut self, path: &Path, author: &Author, old: &str, new: &str) {
        let edits = ChangeSet::between(old, new).edits();
        let (Some(first), Some(last)) = (edits.first(), edits.last()) else {
            return;
        };
        let end = new.len() - (old.len() - last.range.end);
        let start = new[..first.range.start].rfind('\n').map_or(0, |it| it + 1);
        let line = |at: usize| new[..at].matches('\n').count();
        let is_open = end > start && !new[..end].ends_with('\n');
        let lines = line(start)..line(end) + usize::from(is_open);
        let narrow = |it| u32::try_from(it).unwrap_or(u32::MAX);
        let news = News {
            path: path.to_path_buf(),
            start: narrow(lines.start),
            end: narrow(lines.end),
            fate: Word::Landed,
            wrote: cut(&new[start..end], MAX_TEXT),
            now: None,
        };
        self.note(&author.session, news);
    }

    fn note(&mut self, session: &str, news: News) {
        self.read_news(session);
        let all = self.news.entry(session.to_owned()).or_default();
        // What it became at last is what counts.
        let is_earlier = |it: &News| {
            it.fate == Word::Changed && (&it.path, &it.wrote) == (&news.path, &news.wrote)
        };
        all.retain(|it| !is_earlier(it));
        // An undo before the model has heard of what it undoes.
        let undoes = |it: &News| {
            matches!(
                (it.fate, news.fate),
                (Word::Reverted, Word::Restored) | (Word::Restored, Word::Reverted)
            ) && (&it.path, &it.wrote) == (&news.path, &news.wrote)
        };
        match all.iter().rposition(undoes) {
            Some(index) => drop(all.remove(index)),
            None => all.push(news),
        }
        self.news_moved.insert(session.to_owned());
    }

    /// What an earlier server did not tell.
    fn read_news(&mut self, session: &str) {
        if self.news.contains_key(session) {
            return;
        }
        let shelf = self.shelf.as_ref();
        let old = shelf.map(|it| it.read_news(session)).unwrap_or_default();
        self.news.insert(session.to_owned(), old);
    }

    /// What a session is to be told; from now on it was.
    pub fn take_news(&mut self, session: &str) -> Vec<News> {
        self.read_news(session);
        let reporting = self.files.iter_mut();
        let reporting = reporting.filter(|(_, it)| it.ledger.has_report(session));
        let told: Vec<(PathBuf, Vec<Verdict>)> = reporting
            .map(|(path, it)| (path.clone(), it.ledger.take_report(session)))
            .collect();
        for (path, verdicts) in told {
            for verdict in verdicts {
                self.note(session, News::of(&path, verdict));
            }
            self.gather(&path);
            self.unsaved.insert(path);
        }
        let news = self.news.get_mut(session).map(std::mem::take);
        let news = news.unwrap_or_default();
        if !news.is_empty() {
            self.news_moved.insert(session.to_owned());
        }
        news
    }
}

/// The verdicts in words. `shown` names a file; `unsaved` are those whose text only the editor holds.
pub fn told(news: &[News], shown: impl Fn(&Path) -> String, unsaved: &[PathBuf]) -> String {
    let is_late = |it: &News| it.fate == Word::Landed;
    let mut text = match news.iter().all(is_late) {
        true => "Note from Undine: an edit of yours came late.\n".to_owned(),
        false => "Note from Undine: the person has reviewed changes of yours.\n".to_owned(),
    };
    for it in news.iter().take(MOST) {
        let place = format!("{}, {}", shown(&it.path), lines(it.start, it.end));
        let wrote = it.wrote.trim_end();
        // Writing to a String has no error.
        let _ = match (it.fate, &it.now) {
            (Word::Kept, None) => writeln!(text, "- {place}: kept."),
            (Word::Kept, Some(now)) => {
                writeln!(
                    text,
                    "- {place}: kept as the person has changed it:\n{}",
                    fenced(now)
                )
            }
            (Word::Reverted, _) if wrote.is_empty() => {
                writeln!(
                    text,
                    "- {place}: reverted; the lines that you had removed are back."
                )
            }
            (Word::Reverted, _) => {
                writeln!(
                    text,
                    "- {place}: reverted. You had written:\n{}",
                    fenced(wrote)
                )
            }
            (Word::Restored, _) => {
                writeln!(
                    text,
                    "- {place}: the person has undone the revert, so your change is there again, not yet judged."
                )
            }
            (Word::Landed, _) => {
                writeln!(
                    text,
                    "- {place}: this edit, which did not seem to be made, has come into the editor after all. You had written:\n{}",
                    fenced(wrote)
                )
            }
            (Word::Changed, now) => {
                let now = now.as_deref().unwrap_or_default();
                writeln!(
                    text,
                    "- {place}: changed by the person. It is now:\n{}",
                    fenced(now)
                )
            }
        };
    }
    if news.len() > MOST {
        let _ = writeln!(text, "- and {} more.", news.len() - MOST);
    }
    if !unsaved.is_empty() {
        let names: Vec<String> = unsaved.iter().map(|it| shown(it)).collect();
        let _ = writeln!(
            text,
            "Not saved yet, so commands do not see it: {}.",
            names.join(", ")
        );
    }
    text.push_str("Work with the files as they are now; do not redo what was reverted unasked.\n");
    text
}

fn lines(start: u32, end: u32) -> String {
    match end.saturating_sub(start) {
        0 => format!("before line {}", start.saturating_add(1)),
        1 => format!("line {}", start.saturating_add(1)),
        _ => format!("lines {}-{end}", start.saturating_add(1)),
    }
}

/// In a fence that its own text cannot close.
fn fenced(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}")
}

fn cut(text: &str, limit: usize) -> String {
    match text.len() <= limit {
        true => text.to_owned(),
        false => format!("{}\n[it goes on]", &text[..text.floor_char_boundary(limit)]),
    }
}
