//! The store as the main loop drives it: laws under random edits, and what a keystroke costs.

use super::shelf::Shelf;
use super::*;
use crate::documents::{Content, Documents};
use crate::event::Written;
use engine::text::{ChangeSet, Edit, Encoding, position};
use fastrand::Rng;
use protocol::lsp;
use protocol::review::Author;
use protocol::session::{CallId, TurnId};
use ropey::Rope;
use serde_json::json;
use std::ops::Range;

const LIMIT: usize = 1 << 30;

/// One open document, an editor that says what happens to it, and the store.
struct Desk {
    documents: Documents,
    reviews: Reviews,
    /// The text as the editor has it.
    text: String,
    path: PathBuf,
    uri: String,
    version: i32,
    rng: Rng,
    turn: u64,
    n_marks: u32,
    /// Marks of the agent that the person has kept.
    kept: HashSet<char>,
}

/// Each typed text has one character that is nowhere else; whose it is can be seen from it.
fn is_agents(mark: char) -> bool {
    ('\u{f0000}'..'\u{f8000}').contains(&mark)
}

fn is_persons(mark: char) -> bool {
    ('\u{f8000}'..='\u{fffff}').contains(&mark)
}

impl Desk {
    fn new(text: &str, seed: u64) -> Self {
        let folder = std::env::temp_dir().canonicalize().unwrap();
        let path = folder.join("undine-desk.txt");
        let uri = format!("file://{}", path.display());
        let mut documents = Documents::default();
        let item = lsp::TextDocumentItem {
            uri: uri.clone().into(),
            language_id: "text".to_owned().into(),
            version: 0,
            text: text.to_owned(),
        };
        documents.opened(item, false, LIMIT).unwrap();
        Self {
            documents,
            reviews: Reviews::default(),
            text: text.to_owned(),
            path,
            uri,
            version: 0,
            rng: Rng::with_seed(seed),
            turn: 0,
            n_marks: 0,
            kept: HashSet::new(),
        }
    }

    fn author(&self) -> Author {
        Author {
            session: "s".into(),
            turn: TurnId(self.turn),
            call: CallId(self.turn),
        }
    }

    /// Says edits of the text as it is as one `didChange`, the last first, as many editors do.
    fn change(&mut self, edits: &[(Range<usize>, String)], expected: bool) {
        let mut events = Vec::new();
        for (range, new) in edits.iter().rev() {
            let rope = Rope::from_str(&self.text);
            let at = |byte| {
                let (line, character) = position::position(&rope, byte, Encoding::Utf16);
                json!({"line": line, "character": character})
            };
            let range_of = json!({"start": at(range.start), "end": at(range.end)});
            events.push(json!({"range": range_of, "text": new}));
            self.text.replace_range(range.clone(), new);
        }
        self.say(json!(events), expected);
    }

    fn say(&mut self, events: serde_json::Value, expected: bool) {
        self.version += 1;
        let params = json!({"textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": events});
        let params = serde_json::from_value(params).unwrap();
        let changed = self
            .documents
            .changed(params, Encoding::Utf16, false, LIMIT)
            .unwrap();
        let document = self.documents.get(&self.path).unwrap();
        self.reviews.changed(&changed, document, expected);
    }

    fn reached(&mut self, whose: &Whose) {
        let document = self.documents.get(&self.path).unwrap();
        self.reviews.reached(&self.path, whose, document);
    }

    fn mark(&mut self, first: u32) -> char {
        self.n_marks += 1;
        char::from_u32(first + self.n_marks % 0x7fff).unwrap()
    }

    /// Some edits that a client can say: no end lies inside of a CRLF.
    fn edits(&mut self, first: u32) -> Vec<(Range<usize>, String)> {
        let mut at = 0;
        let mut edits = Vec::new();
        for _ in 0..self.rng.usize(1..4) {
            let start = self.place(at);
            let end = match self.rng.u8(..3) {
                0 => start,
                1 => self.place(start).min(start + 9),
                _ => self.text[start..]
                    .find('\n')
                    .map_or(start, |it| start + it + 1),
            };
            let end = self.boundary(end.max(start));
            let mut new =
                ["", "x", "a\n", "é\r\n", "😀\nb\n", "}\n"][self.rng.usize(..6)].to_owned();
            if !new.is_empty() {
                new.insert(0, self.mark(first));
            }
            edits.push((start..end, new));
            at = end + 1;
            if at >= self.text.len() {
                break;
            }
        }
        edits
    }

    fn place(&mut self, from: usize) -> usize {
        let from = from.min(self.text.len());
        let at = self.rng.usize(from..=self.text.len());
        let at = match self.rng.u8(..3) {
            0 => at,
            _ => self.text[..self.text.floor_char_boundary(at)]
                .rfind('\n')
                .map_or(0, |it| it + 1)
                .max(from),
        };
        self.boundary(at)
    }

    fn boundary(&self, at: usize) -> usize {
        let at = self.text.ceil_char_boundary(at.min(self.text.len()));
        let is_inside = self.text[..at].ends_with('\r') && self.text[at..].starts_with('\n');
        at + usize::from(is_inside)
    }

    fn step(&mut self) {
        if self.text.len() > 400 {
            let end = self.boundary(200);
            self.change(&[(0..end, String::new())], false);
        }
        match self.rng.u8(..20) {
            0..7 => {
                let edits = self.edits(0xf8000);
                self.change(&edits, false);
            }
            // The agent's, in one part or several.
            7..12 => {
                let edits = self.edits(0xf0000);
                match self.rng.bool() {
                    true => self.change(&edits, true),
                    false => {
                        for edit in edits.iter().rev() {
                            self.change(std::slice::from_ref(edit), true);
                        }
                    }
                }
                let whose = Whose::Agent(self.author());
                self.reached(&whose);
            }
            // An edit was on its way and never came; the person typed meanwhile.
            12 => {
                let edits = self.edits(0xf8000);
                self.change(&edits, true);
                self.reviews.release(&self.path);
            }
            13 => self.turn += 1,
            14 => {
                let text = self.text.clone();
                self.say(json!([{"text": text}]), false);
            }
            15 | 16 => self.keep(),
            17 | 18 => self.revert(),
            _ => self.restart(),
        }
    }

    fn some_hunks(&mut self) -> Wish {
        let path = self.path.clone();
        let ids: Vec<String> = match self.reviews.get(&path) {
            Some(it) => it
                .ledger
                .hunks()
                .iter()
                .map(|it| wire_id(&path, &it.id))
                .collect(),
            None => Vec::new(),
        };
        let scope = match self.rng.u8(..3) {
            0 => Scope::All,
            1 => Scope::Turn {
                session: "s".into(),
                turn: TurnId(self.turn),
            },
            _ => Scope::Hunks(ids.into_iter().filter(|_| self.rng.bool()).collect()),
        };
        Wish { file: None, scope }
    }

    fn keep(&mut self) {
        let wish = self.some_hunks();
        let before = self.text.clone();
        self.reviews.keep(&wish);
        assert_eq!(self.text, before);
        let path = self.path.clone();
        if let Some(review) = self.reviews.get(&path) {
            let base = review.ledger.base().to_string();
            self.kept.extend(base.chars().filter(|it| is_agents(*it)));
        }
    }

    fn revert(&mut self) {
        let wish = self.some_hunks();
        let plan = self.reviews.plan(std::slice::from_ref(&wish));
        let [reversal] = &plan.files[..] else {
            return;
        };
        self.reviews.intend(&plan.files);
        let new = reversal.new.clone().unwrap();
        assert_eq!(reversal.old.as_deref(), Some(self.text.as_str()));
        // No wish but one for this very hunk takes what the person wrote.
        if !matches!(wish.scope, Scope::Hunks(_)) {
            for mark in self.text.chars().filter(|it| is_persons(*it)) {
                assert!(new.contains(mark), "a person's text would be gone");
            }
        }
        let edits: Vec<(Range<usize>, String)> = ChangeSet::between(&self.text, &new)
            .edits()
            .into_iter()
            .map(|Edit { range, text }| (range, text))
            .collect();
        self.change(&edits, true);
        assert_eq!(self.text, new);
        self.reached(&Whose::Review);
        let remaining = self.reviews.remaining(&plan.hunks);
        assert!(remaining.is_empty(), "{remaining:?} of {:?}", plan.hunks);
    }

    /// Another store reads what this one wrote.
    fn restart(&mut self) {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(folder.path().join("review"));
        let Some(review) = self.reviews.files.get_mut(&self.path) else {
            return;
        };
        let before = review.ledger.hunks();
        shelf.write(&self.path, &review.ledger, None).unwrap();
        drop(shelf);
        let shelf = Shelf::new(folder.path().join("review"));
        let mut next = Reviews {
            shelf: Some(shelf),
            ..Reviews::default()
        };
        let recall = next.recall(&self.path).unwrap();
        let text = self.text.clone();
        let found = recall.read(move || Some(text)).unwrap();
        next.recalled(&self.path, found);
        self.reviews = next;
        let document = self.documents.get(&self.path).unwrap();
        self.reviews.document(&self.path, document);
        let after = self.reviews.files.get_mut(&self.path).unwrap();
        assert_eq!(after.ledger.hunks(), before);
        // Whose turn it was at the time of writing is not in it.
        self.turn += 1;
    }

    fn check(&mut self) {
        let path = self.path.clone();
        let Some(review) = self.reviews.get(&path) else {
            let is_any = self.text.contains(is_agents);
            assert!(!is_any, "the agent's text counts as the person's");
            return;
        };
        assert_eq!(*review.ledger.live(), self.text.as_str());
        let Some(Content::Text(rope)) = self.documents.get(&path).map(|it| &it.content) else {
            panic!("the text is known")
        };
        assert_eq!(*rope, self.text.as_str());
        let review = self.reviews.files.get_mut(&path).unwrap();
        let base = review.ledger.base().to_string();
        for mark in base.chars().filter(|it| is_agents(*it)) {
            assert!(self.kept.contains(&mark), "nobody accepted this");
        }
        let mixed: String = review
            .ledger
            .hunks()
            .into_iter()
            .filter(|it| it.state == HunkState::Mixed)
            .map(|it| it.live_text)
            .collect();
        for mark in self.text.chars().filter(|it| is_persons(*it)) {
            assert!(
                base.contains(mark) || mixed.contains(mark),
                "the person's text counts as the agent's"
            );
        }
    }
}

#[test]
fn two_hands_in_a_document_are_told_apart() {
    for seed in 0..60 {
        let mut desk = Desk::new("a\nb\r\n  x\n}\n\nlast", seed);
        for step in 0..60 {
            let before = desk.text.clone();
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                desk.step();
                desk.check();
            }));
            if let Err(panic) = done {
                eprintln!(
                    "seed {seed}, step {step}: {before:?} became {:?}",
                    desk.text
                );
                std::panic::resume_unwind(panic);
            }
        }
    }
}

#[test]
fn what_moves_no_hunk_is_no_news() {
    let mut desk = Desk::new("a\nb\nc\n", 0);
    desk.change(&[(2..3, "B".into())], true);
    desk.reached(&Whose::Agent(desk.author()));
    let path = desk.path.clone();
    assert_eq!(desk.reviews.news(), Some(true));
    assert_eq!(desk.reviews.take_moved(), std::slice::from_ref(&path));
    desk.change(&[(5..5, "d".into())], false);
    assert_eq!(desk.reviews.news(), Some(false));
    assert_eq!(desk.reviews.take_moved(), Vec::<PathBuf>::new());
    desk.change(&[(0..0, "z\n".into())], false);
    assert_eq!(desk.reviews.take_moved(), [path]);
}

#[test]
fn a_file_that_only_the_person_changes_has_no_ledger() {
    let mut desk = Desk::new("a\n", 0);
    desk.change(&[(0..0, "b".into())], true);
    desk.reviews.release(&desk.path.clone());
    desk.change(&[(0..0, "c".into())], false);
    desk.reached(&Whose::Person);
    let written = Written::new("/x".into(), None, Some("y"), Whose::Person);
    desk.reviews.written(&written);
    assert_eq!(desk.reviews.iter().count(), 0);
}

fn records(folder: &Path, path: &Path) -> Vec<PathBuf> {
    let all = folder.join("files").join(crate::store::hash(path));
    let entries = std::fs::read_dir(all).into_iter().flatten().flatten();
    entries.map(|it| it.path().join("record.json")).collect()
}

#[test]
fn records_over_the_limit_are_dropped_the_oldest_first() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = Shelf::new(folder.path().to_path_buf());
    let own = Desk::new("", 0).author();
    let paths: Vec<PathBuf> = (0..3).map(|it| PathBuf::from(format!("/p/{it}"))).collect();
    for (index, path) in paths.iter().enumerate() {
        let ledger = Ledger::created(&"text\n".repeat(1000), &own);
        shelf.write(path, &ledger, None).unwrap();
        let record = &records(folder.path(), path)[0];
        let file = std::fs::File::options().write(true).open(record);
        let time = std::time::UNIX_EPOCH + Duration::from_secs(1000 + index as u64);
        file.unwrap().set_modified(time).unwrap();
    }
    assert_eq!(shelf.sweep(1 << 20), Vec::<PathBuf>::new());
    assert_eq!(shelf.sweep(14_000), paths[..1]);
    drop(shelf);
    let next = Shelf::new(folder.path().to_path_buf());
    assert_eq!(next.take(&paths[0]), Ok(Vec::new()));
    assert_eq!(next.take(&paths[2]).unwrap().len(), 1);
}

#[test]
fn a_record_of_a_newer_version_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = Path::new("/p/a");
    Shelf::new(folder.path().to_path_buf())
        .write(
            path,
            &Ledger::created("a\n", &Desk::new("", 0).author()),
            None,
        )
        .unwrap();
    let record = &records(folder.path(), path)[0];
    let text = std::fs::read_to_string(record).unwrap();
    std::fs::write(record, text.replace("\"v\":1", "\"v\":9")).unwrap();
    let mut reviews = Reviews {
        shelf: Some(Shelf::new(folder.path().to_path_buf())),
        ..Reviews::default()
    };
    let recall = reviews.recall(path).unwrap();
    let error = recall.read(|| Some("a\n".into())).unwrap_err();
    assert!(error.contains("newer Undine"), "{error}");
    reviews.recalled(path, None);
    assert_eq!(reviews.iter().count(), 0);
    // Once.
    assert!(reviews.recall(path).is_none());
}

#[test]
fn what_a_server_that_lives_has_written_is_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = Path::new("/p/a");
    let author = Desk::new("", 0).author();
    let mut first = Ledger::new(Rope::from_str("a\nb\nc\nd\n"));
    let mut second = Ledger::new(Rope::from_str("A\nb\nc\nd\n"));
    first.replaced("A\nb\nc\nd\n", By::Agent(&author));
    first.replaced("A\nb\nc\nD\n", By::Person);
    second.replaced("A\nb\nc\nD\n", By::Agent(&author));
    let [one, two, three] = [(); 3].map(|()| Shelf::new(folder.path().to_path_buf()));
    one.write(path, &first, None).unwrap();
    assert_eq!(two.take(path), Ok(Vec::new()));
    assert_eq!(two.paths(), Vec::<PathBuf>::new());
    two.write(path, &second, None).unwrap();
    drop((one, two));
    assert_eq!(three.paths(), [path]);
    let mut reviews = Reviews {
        shelf: Some(three.clone()),
        ..Reviews::default()
    };
    let recall = reviews.recall(path).unwrap();
    let found = recall.read(|| Some("A\nb\nc\nD\n".into())).unwrap();
    let base = found.as_ref().unwrap().0.base();
    assert_eq!(base, "a\nb\nc\nd\n");
    // A server that dies before it has written what it took over loses nothing.
    drop((three, reviews));
    let four = Shelf::new(folder.path().to_path_buf());
    assert_eq!(four.take(path).unwrap().len(), 2);
    four.write(path, &found.unwrap().0, None).unwrap();
    assert_eq!(records(folder.path(), path).len(), 1);
    four.remove(path).unwrap();
    assert_eq!(records(folder.path(), path).len(), 0);
}

#[test]
fn what_happens_to_a_file_while_its_record_is_read_is_not_lost() {
    for seed in 0..20 {
        let mut desk = Desk::new("a\nb\nc\nd\n", seed);
        desk.change(&[(2..3, "\u{f0001}B".into())], true);
        desk.reached(&Whose::Agent(desk.author()));
        let folder = tempfile::tempdir().unwrap();
        let path = desk.path.clone();
        Shelf::new(folder.path().to_path_buf())
            .write(&path, &desk.reviews.files[&path].ledger, None)
            .unwrap();
        desk.reviews = Reviews {
            shelf: Some(Shelf::new(folder.path().to_path_buf())),
            ..Reviews::default()
        };
        let recall = desk.reviews.recall(&path).unwrap();
        let text = desk.text.clone();
        desk.turn = 1;
        for _ in 0..3 {
            let edits = desk.edits(0xf8000);
            desk.change(&edits, false);
            let edits = desk.edits(0xf0100);
            desk.change(&edits, true);
            desk.reached(&Whose::Agent(desk.author()));
        }
        assert_eq!(desk.reviews.iter().count(), 0);
        let found = recall.read(move || Some(text)).unwrap();
        assert!(desk.reviews.recalled(&path, found), "seed {seed}");
        desk.check();
    }
}

/// Run with `cargo test -p host -- --ignored --nocapture keystroke`, best with `--release`.
#[test]
#[ignore = "a measurement"]
#[allow(clippy::disallowed_types, reason = "time is measured")]
fn a_keystroke_in_ten_megabytes_with_500_hunks_stays_below_a_millisecond() {
    use std::time::Instant;
    let line = |it: usize| format!("    let line_{it:06} = compute({it:06}, \"é漢😀\");\n");
    let text: String = (0..200_000).map(line).collect();
    let mut desk = Desk::new(&text, 0);
    let edits: Vec<serde_json::Value> = (0..500)
        .rev()
        .map(|it| {
            let [start, end] = [200, 201].map(|at| json!({"line": it * 400 + at, "character": 0}));
            json!({"range": {"start": start, "end": end}, "text": "    // the agent's\n"})
        })
        .collect();
    desk.say(json!(edits), true);
    desk.reached(&Whose::Agent(desk.author()));
    desk.reviews.take_moved();
    let mut keys = Vec::new();
    for key in 0..2_000 {
        desk.version += 1;
        let at = json!({"line": (key * 977) % 190_000, "character": 0});
        let change = json!([{"range": {"start": at, "end": at}, "text": "x"}]);
        let params = json!({"textDocument": {"uri": desk.uri, "version": desk.version}, "contentChanges": change});
        let params = serde_json::from_value(params).unwrap();
        let begun = Instant::now();
        let changed = desk
            .documents
            .changed(params, Encoding::Utf16, false, LIMIT)
            .unwrap();
        let document = desk.documents.get(&desk.path).unwrap();
        desk.reviews.changed(&changed, document, false);
        keys.push(begun.elapsed());
    }
    keys.sort();
    let begun = Instant::now();
    desk.reviews.take_moved();
    let told = begun.elapsed();
    let half = keys[keys.len() / 2];
    eprintln!(
        "a keystroke: half {half:?}, 99 of 100 {:?}; a report {told:?}",
        keys[keys.len() * 99 / 100]
    );
    assert!(half < Duration::from_millis(1), "{half:?}");
}
