//! What `context_archive` answers of a session's numbered messages (spec 12.1): one whole, those that hold a text, or the list.

use crate::archive::{Message, messages};
use crate::redact::redact;
use protocol::record::Record;

/// The most characters of an answer, its headings aside.
const MOST: usize = 32_000;
/// Messages in one answer: as a rule, and at most.
const LIMIT: u64 = 20;
const MOST_LIMIT: u64 = 200;
/// Characters of a message in the list.
const LISTED: usize = 200;
/// Characters on each side of what was found.
const AROUND: usize = 160;

/// What the model wants to know. A message wins over a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    pub query: Option<String>,
    /// A message's number, and from which character on.
    pub message: Option<u64>,
    pub char_offset: Option<u64>,
    /// The first message that is listed or searched.
    pub from: Option<u64>,
    /// Messages that are answered at most.
    pub limit: Option<u64>,
}

/// The answer. The error is for the model.
///
/// # Errors
/// If there is no such message or no such place in it, or the query is empty.
pub fn answer(records: &[Record], question: &Question) -> Result<String, String> {
    let all = messages(records.iter());
    if all.is_empty() {
        return Ok("Nothing was said in this session yet.".to_owned());
    }
    if let Some(number) = question.message {
        return whole(&all, number, question.char_offset.unwrap_or(0));
    }
    let from = question.from.unwrap_or(1).max(1);
    match question.query.as_deref().map(str::trim) {
        None => Ok(list(&all, from, question)),
        Some("") => Err("The query is empty; leave it out to list the messages.".to_owned()),
        Some(query) => Ok(found(&all, query, from, question)),
    }
}

/// A message from a character on. Behind the first line stands its text and nothing else.
fn whole(all: &[Message], number: u64, offset: u64) -> Result<String, String> {
    let at = usize::try_from(number.wrapping_sub(1)).unwrap_or(usize::MAX);
    let message = all.get(at).ok_or_else(|| {
        format!(
            "There is no message {number}; they are numbered from 1 to {}.",
            all.len()
        )
    })?;
    let text = redact(&message.text);
    let n_chars = text.chars().count();
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    if start > n_chars || (start == n_chars && start > 0) {
        return Err(format!(
            "Message {number} has {n_chars} characters, so none stands at char_offset {offset}."
        ));
    }
    let end = n_chars.min(start + MOST);
    let window: String = text.chars().skip(start).take(MOST).collect();
    let next = match end < n_chars {
        true => format!("; go on with char_offset {end}"),
        false => String::new(),
    };
    Ok(format!(
        "{}: {n_chars} characters, here {start} to {end}{next}\n{window}",
        heading(message)
    ))
}

fn list(all: &[Message], from: u64, question: &Question) -> String {
    let listed = all.iter().filter(|it| it.number >= from).map(|it| {
        let text = one_line(&redact(&it.text));
        let n_chars = text.chars().count();
        let start: String = text.chars().take(LISTED).collect();
        let more = if n_chars > LISTED { " ..." } else { "" };
        (it.number, format!("{}\n  {start}{more}", heading(it)))
    });
    let headline = format!("{} messages:", all.len());
    page(headline, listed.collect(), question)
}

fn found(all: &[Message], query: &str, from: u64, question: &Question) -> String {
    let needle = query.to_lowercase();
    let hits = all.iter().filter(|it| it.number >= from).filter_map(|it| {
        let text = redact(&it.text);
        let (n, first) = hits(&text, &needle)?;
        let times = match n {
            1 => "1 hit".to_owned(),
            n => format!("{n} hits"),
        };
        let snippet = snippet(&text, first, query.chars().count());
        Some((it.number, format!("{}, {times}\n  {snippet}", heading(it))))
    });
    let hits: Vec<(u64, String)> = hits.collect();
    let headline = match hits.len() {
        0 => return format!("None of {} messages holds {query:?}.", all.len()),
        n => format!("{n} of {} messages hold {query:?}:", all.len()),
    };
    page(headline, hits, question)
}

/// As many of the entries as are wanted and fit, and from where on there are more.
fn page(headline: String, entries: Vec<(u64, String)>, question: &Question) -> String {
    let limit = question.limit.unwrap_or(LIMIT).clamp(1, MOST_LIMIT);
    let mut text = headline;
    let mut n_chars = 0;
    for (at, (number, entry)) in entries.iter().enumerate() {
        n_chars += entry.chars().count() + 1;
        if at as u64 >= limit || n_chars > MOST {
            text.push_str(&format!("\n[There are more; go on with from {number}.]"));
            break;
        }
        text.push('\n');
        text.push_str(entry);
    }
    text
}

fn heading(message: &Message) -> String {
    let tool = message.tool.as_ref().map(|it| format!(" {it}"));
    let by = message
        .compacted_by
        .map(|it| format!(" (compacted by {})", super::summary::name(it)));
    let void = match message.is_void {
        true => " (broke off and was asked for again)",
        false => "",
    };
    format!(
        "#{} {}{}{}{void}",
        message.number,
        message.role.name(),
        tool.unwrap_or_default(),
        by.unwrap_or_default()
    )
}

/// How often a text holds another one in whatever case, and at which character first.
fn hits(text: &str, needle: &str) -> Option<(usize, usize)> {
    let lower = text.to_lowercase();
    let at = lower.find(needle)?;
    let n = lower.matches(needle).count();
    // A character may have another length in lower case.
    let mut passed = 0;
    let first = text.chars().take_while(|it| {
        passed += it.to_lowercase().map(char::len_utf8).sum::<usize>();
        passed <= at
    });
    Some((n, first.count()))
}

fn snippet(text: &str, at: usize, length: usize) -> String {
    let start = at.saturating_sub(AROUND);
    let n = at - start + length + AROUND;
    let shown: String = text.chars().skip(start).take(n).collect();
    let before = if start > 0 { "... " } else { "" };
    let after = match text.chars().nth(start + n) {
        Some(_) => " ...",
        None => "",
    };
    format!("{before}{}{after}", one_line(&shown))
}

fn one_line(text: &str) -> String {
    let chars = text.trim().chars();
    chars
        .map(|it| if it.is_control() { ' ' } else { it })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use protocol::record::{Kept, Trigger};
    use protocol::session::{CallId, TurnId};
    use protocol::tool::Outcome;

    fn user(text: &str) -> Record {
        Record::User {
            turn: TurnId(0),
            text: text.to_owned(),
            pictures: Vec::new(),
        }
    }

    fn said(answer: u64, text: &str) -> Record {
        Record::Assistant {
            answer,
            text: text.to_owned(),
            thought: String::new(),
            raw: None,
            cut: false,
        }
    }

    fn read(answer: u64, call: u64, text: &str) -> [Record; 2] {
        let called = Record::Call {
            answer,
            call: CallId(call),
            id: "x".to_owned(),
            tool: "read_file".to_owned(),
            arguments: r#"{"path":"Needle.rs"}"#.to_owned(),
            native: None,
        };
        let result = Record::Result {
            call: CallId(call),
            outcome: Outcome::Success,
            text: text.to_owned(),
            shown: None,
            title: None,
            duration_ms: None,
            exit_code: None,
            pictures: Vec::new(),
            fuzzy: false,
        };
        [called, result]
    }

    fn log() -> Vec<Record> {
        let mut log = vec![user("find the needle\nplease"), said(0, "I look.")];
        log.extend(read(0, 0, &"hay ".repeat(200)));
        log.push(said(1, "Found."));
        log.push(Record::Compacted {
            id: 1,
            trigger: Trigger::Person,
            summary: "s".to_owned(),
            kept: Kept::Answer(1),
        });
        log.push(user("and now?"));
        log
    }

    fn asked(question: Question) -> String {
        answer(&log(), &question).unwrap_or_else(|it| it)
    }

    #[test]
    fn without_a_question_all_messages_are_listed() {
        let text = asked(Question::default());
        expect![[r##"
            5 messages:
            #1 user (compacted by c1)
              find the needle please
            #2 assistant (compacted by c1)
              I look. [read_file {"path":"Needle.rs"}]
            #3 tool read_file (compacted by c1)
              hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay hay  ...
            #4 assistant
              Found.
            #5 user
              and now?"##]]
        .assert_eq(&text);
        let text = asked(Question {
            from: Some(2),
            limit: Some(1),
            ..Question::default()
        });
        expect![[r##"
            5 messages:
            #2 assistant (compacted by c1)
              I look. [read_file {"path":"Needle.rs"}]
            [There are more; go on with from 3.]"##]]
        .assert_eq(&text);
    }

    #[test]
    fn a_query_ignores_case_and_looks_into_calls() {
        let query = |it: &str| {
            asked(Question {
                query: Some(it.to_owned()),
                ..Question::default()
            })
        };
        expect![[r##"
            2 of 5 messages hold "NEEDLE":
            #1 user (compacted by c1), 1 hit
              find the needle please
            #2 assistant (compacted by c1), 1 hit
              I look. [read_file {"path":"Needle.rs"}]"##]]
        .assert_eq(&query("NEEDLE"));
        assert_eq!(query("pin"), "None of 5 messages holds \"pin\".");
        assert!(query("hay").contains("#3 tool read_file (compacted by c1), 200 hits\n  hay "));
        assert!(query(" ").contains("query is empty"));
    }

    #[test]
    fn a_long_message_is_rebuilt_from_its_windows() {
        let long: String = ('a'..='z').cycle().take(69_999).chain(['ä']).collect();
        let log = [user(&long)];
        let mut rebuilt = String::new();
        let mut offset = 0;
        let mut n_reads = 0;
        while rebuilt.chars().count() < 70_000 {
            let question = Question {
                message: Some(1),
                query: Some("it does not count".to_owned()),
                char_offset: Some(offset),
                ..Question::default()
            };
            let text = answer(&log, &question).unwrap();
            let (head, body) = text.split_once('\n').unwrap();
            assert!(
                head.starts_with("#1 user: 70000 characters, here "),
                "{head}"
            );
            rebuilt.push_str(body);
            n_reads += 1;
            offset = match head.split_once("char_offset ") {
                Some((_, next)) => next.parse().unwrap(),
                None => 0,
            };
        }
        assert_eq!((rebuilt == long, n_reads, offset), (true, 3, 0));
    }

    #[test]
    fn a_number_or_a_place_that_is_not_there_is_told_with_the_range() {
        let of = |message, char_offset| {
            asked(Question {
                message: Some(message),
                char_offset: Some(char_offset),
                ..Question::default()
            })
        };
        let none = |it: &str| format!("There is no message {it}; they are numbered from 1 to 5.");
        assert_eq!(of(0, 0), none("0"));
        assert_eq!(of(6, 0), none("6"));
        assert!(of(4, 6).contains("has 6 characters"));
        assert_eq!(
            answer(&[], &Question::default()).unwrap(),
            "Nothing was said in this session yet."
        );
    }

    #[test]
    fn what_is_answered_has_an_end_and_no_secrets() {
        let secret = concat!("gh", "p_abcdefghijklmnopqrstuvwxyz0123456789");
        let log: Vec<Record> = (0..300)
            .map(|_| user(&format!("{secret} {}", "x".repeat(400))))
            .collect();
        let question = Question {
            query: Some("x".to_owned()),
            limit: Some(1_000),
            ..Question::default()
        };
        let text = answer(&log, &question).unwrap();
        assert!(
            text.len() < MOST + 200 && text.contains("go on with from "),
            "{}",
            text.len()
        );
        assert!(!text.contains(secret));
    }
}
