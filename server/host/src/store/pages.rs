//! Parts of a session as it is shown: the newest messages, and those before them, without the rest in memory.

use super::lines::{self, At};
use super::log::LogError;
use engine::numbers::{Mark, Numbers};
use engine::session::{Update, replay};
use serde::Deserialize;
use std::collections::VecDeque;
use std::path::Path;

/// A part of a session.
#[derive(Debug, Default, PartialEq)]
pub struct Page {
    /// What is shown, each with the number of the message that it belongs to or comes after; 0 before the first.
    pub updates: Vec<(u64, Update)>,
    /// The number of its first message; 0 if it has none.
    pub first: u64,
    /// Messages of the whole session.
    pub total: u64,
    /// Lines that are damaged and not shown, counted from 1.
    pub damaged: Vec<usize>,
}

/// What was shown of a session that was loaded.
#[derive(Debug, Default)]
pub struct Replayed {
    /// The first message's number and how many there are in all, where only the newest were wanted.
    pub part: Option<(u64, u64)>,
    /// Damaged lines.
    pub damaged: Vec<usize>,
}

/// What of a line its message's number depends on.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
    #[serde(default)]
    answer: Option<u64>,
    #[serde(default)]
    call: Option<u64>,
}

fn mark(line: &[u8]) -> Mark {
    if let Some(mark) = mark_at_once(line) {
        return mark;
    }
    let Ok(head) = serde_json::from_slice::<Head<'_>>(line) else {
        return Mark::Other;
    };
    Mark::of_fields(&head.kind, head.answer, head.call)
}

/// The same of a line as this build writes it, whose rest need not be looked at.
fn mark_at_once(line: &[u8]) -> Option<Mark> {
    /// Bytes in which the fields of a line and the first of its record stand.
    const HEAD: usize = 160;
    const KIND: &str = "\"type\":\"";
    // A character may be cut at the end.
    let head = line.get(..HEAD).unwrap_or(line).utf8_chunks().next()?;
    let (before, rest) = head.valid().split_once(KIND)?;
    if !before.starts_with("{\"v\":") || before[1..].contains('{') {
        return None;
    }
    let (kind, rest) = rest.split_once('"')?;
    let field = |rest: &'_ str, name: &str| -> Option<u64> {
        let rest = rest.strip_prefix(",\"")?.strip_prefix(name)?;
        let rest = rest.strip_prefix("\":")?;
        let end = rest.find([',', '}'])?;
        rest[..end].parse().ok()
    };
    let after = |rest: &'_ str| rest[1..].find(',').map(|at| at + 1);
    Some(match kind {
        "user" | "void" => Mark::of_fields(kind, None, None),
        "assistant" => Mark::of_fields(kind, Some(field(rest, "answer")?), None),
        "call" => {
            let answer = field(rest, "answer")?;
            let call = field(&rest[after(rest)?..], "call")?;
            Mark::of_fields(kind, Some(answer), Some(call))
        }
        "result" => Mark::of_fields(kind, None, Some(field(rest, "call")?)),
        _ => Mark::Other,
    })
}

/// The number of the message to which the line behind so many bytes belongs.
pub fn number_at(log: &Path, bytes: u64) -> Result<u64, LogError> {
    let mut numbers = Numbers::default();
    lines::raw(log, At::default(), u64::MAX, |at, line| {
        numbers.take(mark(line));
        Ok(at.bytes < bytes)
    })?;
    Ok(numbers.count())
}

/// At most `limit` messages before the one of the number `before`, the newest of them; without it, of the session. `until` counts the
/// log's bytes.
pub fn page(log: &Path, until: u64, before: Option<u64>, limit: usize) -> Result<Page, LogError> {
    // Where the wanted messages begin, the newest last, is all that is kept on the way through.
    let mut begins: VecDeque<Begin> = VecDeque::new();
    let (mut numbers, mut end) = (Numbers::default(), None);
    lines::raw(log, At::default(), until, |at, line| {
        let mark = mark(line);
        if numbers.take(mark) {
            let is_result = matches!(mark, Mark::Result(_));
            let number = numbers.count();
            match before {
                Some(before) if number >= before => {
                    end.get_or_insert(at.bytes);
                }
                Some(_) | None => begins.push_back(Begin {
                    number,
                    at,
                    is_result,
                }),
            }
            trim(&mut begins, limit);
        }
        Ok(true)
    })?;
    let mut page = Page {
        total: numbers.count(),
        ..Page::default()
    };
    let Some(&Begin {
        number: first, at, ..
    }) = begins.front()
    else {
        return Ok(page);
    };
    page.first = first;
    // What is shown before the first message comes with it.
    let from = match first {
        1 => At::default(),
        _ => at,
    };
    let mut starts = begins.into_iter().peekable();
    let mut number = first;
    // What belongs to a message of this part may stand behind the next one's begin, as a result's call does.
    lines::raw(log, from, end.unwrap_or(until), |at, line| {
        while let Some(next) = starts.next_if(|it| it.at.bytes <= at.bytes) {
            number = next.number;
        }
        match lines::record(log, at, line) {
            Ok(record) => {
                let updates = replay(std::slice::from_ref(&record));
                page.updates
                    .extend(updates.into_iter().map(|it| (number, it)));
            }
            Err(LogError::Broken { line, .. }) => page.damaged.push(line),
            Err(other) => return Err(other),
        }
        Ok(true)
    })?;
    Ok(page)
}

/// Where a message begins.
struct Begin {
    number: u64,
    at: At,
    /// It is a result, and says nothing without the call before it.
    is_result: bool,
}

/// Leaves the newest `limit` ones, and those before them without which the first would be a result.
fn trim(begins: &mut VecDeque<Begin>, limit: usize) {
    while begins.len() > limit {
        let next = begins.iter().skip(1).position(|it| !it.is_result);
        match next {
            Some(n) if begins.len() - (n + 1) >= limit => drop(begins.drain(..=n)),
            Some(_) | None => return,
        }
    }
}

/// Hands on all that is shown of a log up to so many bytes, in its order. Answers the damaged lines, which are left out.
pub fn all(log: &Path, until: u64, mut take: impl FnMut(Update)) -> Result<Vec<usize>, LogError> {
    let mut damaged = Vec::new();
    lines::raw(log, At::default(), until, |at, line| {
        match lines::record(log, at, line) {
            Ok(record) => replay(std::slice::from_ref(&record))
                .into_iter()
                .for_each(&mut take),
            Err(LogError::Broken { line, .. }) => damaged.push(line),
            Err(other) => return Err(other),
        }
        Ok(true)
    })?;
    Ok(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Log;
    use protocol::record::Record;
    use protocol::session::{CallId, TurnId};

    #[test]
    fn a_line_is_marked_at_once_as_its_record_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let mut log = Log::new(path.clone(), None);
        let text = "\"type\":\"void\" \u{e4}".repeat(40);
        let records = [
            Record::User {
                turn: TurnId(0),
                text: text.clone(),
                pictures: Vec::new(),
            },
            Record::Assistant {
                answer: 12,
                text: text.clone(),
                thought: String::new(),
                raw: None,
                cut: false,
            },
            Record::Call {
                answer: 12,
                call: CallId(34),
                id: text.clone(),
                tool: text.clone(),
                arguments: text.clone(),
                native: None,
            },
            Record::Void { answer: 12 },
            Record::Title { title: text },
        ];
        records
            .iter()
            .for_each(|it| log.append(it.clone()).unwrap());
        let mut n = 0;
        lines::raw(&path, At::default(), log.end().bytes, |_, line| {
            assert_eq!(mark_at_once(line), Some(Mark::of(&records[n])));
            n += 1;
            Ok(true)
        })
        .unwrap();
        assert_eq!(n, records.len());
        let result = br#"{"v":1,"seq":0,"time":0,"type":"result","call":7,"outcome":"success"}"#;
        assert_eq!(mark_at_once(result), Some(Mark::Result(CallId(7))));
        // Whatever order another wrote it in.
        let other = br#"{"call":7,"type":"result"}"#;
        assert_eq!(mark_at_once(other), None);
        assert_eq!(mark(other), Mark::Result(CallId(7)));
    }

    #[test]
    fn pages_from_the_end_make_up_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let mut log = Log::new(path.clone(), None);
        for n in 0..5 {
            let (turn, text) = (TurnId(n), format!("prompt {n}"));
            let pictures = Vec::new();
            log.append(Record::User {
                turn,
                text,
                pictures,
            })
            .unwrap();
            log.append(Record::Assistant {
                answer: n,
                text: format!("answer {n}"),
                thought: String::new(),
                raw: None,
                cut: false,
            })
            .unwrap();
        }
        let until = log.end().bytes;
        let mut whole = Vec::new();
        assert!(all(&path, until, |it| whole.push(it)).unwrap().is_empty());
        assert_eq!(whole.len(), 10);
        let (mut before, mut pages) = (None, Vec::new());
        loop {
            let page = page(&path, until, before, 3).unwrap();
            assert_eq!(page.total, 10);
            if page.updates.is_empty() {
                break;
            }
            assert_eq!(page.updates[0].0, page.first);
            before = Some(page.first);
            pages.splice(0..0, page.updates);
        }
        let numbers: Vec<u64> = pages.iter().map(|it| it.0).collect();
        assert_eq!(numbers, (1..=10).collect::<Vec<u64>>());
        assert!(pages.into_iter().map(|it| it.1).eq(whole));
    }
}
