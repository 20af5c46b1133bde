//! The editor's buffers: plain strings, positions counted the slow and obvious way.

use super::connection::State;
use protocol::lsp;
use serde_json::{Value, json};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

impl Encoding {
    pub fn named(name: &str) -> Self {
        match name {
            "utf-8" => Self::Utf8,
            "utf-16" => Self::Utf16,
            "utf-32" => Self::Utf32,
            other => panic!("{other} is no encoding"),
        }
    }

    fn len(self, it: char) -> u32 {
        match self {
            Self::Utf8 => it.len_utf8() as u32,
            Self::Utf16 => it.len_utf16() as u32,
            Self::Utf32 => 1,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    pub text: String,
    pub version: i32,
    /// Holds what the disk does not.
    pub dirty: bool,
}

/// How an edit is taken.
#[derive(Clone, Debug, PartialEq)]
pub enum OnEdit {
    /// Applied: first the change, then the answer.
    Apply,
    /// Applied, but the answer comes before the change.
    AnswerFirst,
    /// Answered with `applied: false` and this reason.
    Refuse(Option<&'static str>),
    /// Answered with `applied: true` and skipped.
    Lie,
    /// A person puts this before the text, and then the edit is taken: its version is old by now.
    TypeFirst(&'static str),
    /// Applied, and a person puts this before the text at once: one change says both, as a whole text.
    TypeOn(&'static str),
    /// Kept: the test finds it unread and answers it.
    Hold,
}

type Edits = Vec<(Range<usize>, String)>;

/// One thing that an edit does.
enum Step {
    Text(String, Edits),
    Delete(String),
    Rename(String, String),
}

impl State {
    #[track_caller]
    pub fn buffer(&self, uri: &str) -> &Buffer {
        self.buffers
            .get(uri)
            .unwrap_or_else(|| panic!("{uri} is not open"))
    }

    pub fn open(&mut self, uri: String, text: String) {
        let document = json!({"uri": uri, "languageId": "plaintext", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
        self.buffers.insert(
            uri,
            Buffer {
                text,
                version: 1,
                dirty: false,
            },
        );
    }

    pub fn close(&mut self, uri: &str) {
        self.buffers.remove(uri).unwrap();
        self.notify(
            "textDocument/didClose",
            json!({"textDocument": {"uri": uri}}),
        );
    }

    /// Changes a buffer and says so. The ranges are of the text before, and apart.
    pub fn change(&mut self, uri: &str, edits: &[(Range<usize>, String)]) {
        let mut edits = edits.to_vec();
        edits.sort_by_key(|(range, _)| range.start);
        // From the end, so that each range is good for the text it meets.
        let mut steps = edits.into_iter().rev();
        self.change_in_steps(uri, |_| steps.next());
    }

    /// Changes a buffer step by step and says so in one notification: each step sees the text that the
    /// one before has left.
    pub fn change_in_steps(
        &mut self,
        uri: &str,
        mut step: impl FnMut(&str) -> Option<(Range<usize>, String)>,
    ) {
        let encoding = self.encoding;
        let buffer = self.buffers.get_mut(uri).unwrap();
        let mut changes = Vec::new();
        while let Some((range, new)) = step(&buffer.text) {
            let [start, end] =
                [range.start, range.end].map(|it| position(&buffer.text, it, encoding));
            changes.push(json!({"range": {"start": start, "end": end}, "text": new}));
            buffer.text.replace_range(range, &new);
        }
        buffer.version += 1;
        buffer.dirty = true;
        let document = json!({"uri": uri, "version": buffer.version});
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": changes}),
        );
    }

    /// Writes a buffer to its file; answers whether there is one.
    pub fn save(&mut self, uri: &String) -> bool {
        let Some(buffer) = self.buffers.get_mut(uri) else {
            return false;
        };
        std::fs::write(uri.strip_prefix("file://").unwrap(), &buffer.text).unwrap();
        buffer.dirty = false;
        self.notify(
            "textDocument/didSave",
            json!({"textDocument": {"uri": uri}}),
        );
        true
    }

    /// Takes an edit from the server, by the script.
    pub fn edit(&mut self, id: Value, params: lsp::ApplyWorkspaceEditParams) {
        self.edits.push(params.clone());
        match self.script.pop_front().unwrap_or(OnEdit::Apply) {
            OnEdit::Apply => self.apply_and_answer(&id, &params),
            OnEdit::AnswerFirst => match self.plan(&params) {
                Ok(plan) => {
                    self.answer_edit(&id, Ok(()));
                    plan.into_iter().for_each(|it| self.step(it));
                }
                Err(reason) => self.answer_edit(&id, Err(Some(reason))),
            },
            OnEdit::Refuse(reason) => self.answer_edit(&id, Err(reason.map(str::to_owned))),
            OnEdit::Lie => self.answer_edit(&id, Ok(())),
            OnEdit::TypeFirst(text) => {
                let uris: Vec<String> = self.buffers.keys().cloned().collect();
                uris.iter()
                    .for_each(|it| self.change(it, &[(0..0, text.to_owned())]));
                self.apply_and_answer(&id, &params);
            }
            OnEdit::TypeOn(text) => {
                self.type_on(&params, text);
                self.answer_edit(&id, Ok(()));
            }
            OnEdit::Hold => {
                let params = serde_json::to_value(params).unwrap();
                self.unread.push_back(
                    json!({"id": id, "method": "workspace/applyEdit", "params": params}),
                );
            }
        }
    }

    fn type_on(&mut self, params: &lsp::ApplyWorkspaceEditParams, typed: &str) {
        for step in self.plan(params).unwrap() {
            let Step::Text(uri, mut edits) = step else {
                panic!("only texts are typed on");
            };
            edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
            let buffer = self.buffers.get_mut(&uri).unwrap();
            for (range, new) in edits {
                buffer.text.replace_range(range, &new);
            }
            buffer.text.insert_str(0, typed);
            buffer.version += 1;
            buffer.dirty = true;
            let change = json!({
                "textDocument": {"uri": uri, "version": buffer.version},
                "contentChanges": [{"text": buffer.text}],
            });
            self.notify("textDocument/didChange", change);
        }
    }

    pub fn apply_and_answer(&mut self, id: &Value, params: &lsp::ApplyWorkspaceEditParams) {
        let result = self.apply(params);
        self.answer_edit(id, result);
    }

    fn answer_edit(&mut self, id: &Value, result: Result<(), Option<String>>) {
        let result = match result {
            Ok(()) => json!({"applied": true}),
            Err(None) => json!({"applied": false}),
            Err(Some(reason)) => json!({"applied": false, "failureReason": reason}),
        };
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    pub fn apply(&mut self, params: &lsp::ApplyWorkspaceEditParams) -> Result<(), Option<String>> {
        let plan = self.plan(params).map_err(Some)?;
        plan.into_iter().for_each(|it| self.step(it));
        Ok(())
    }

    fn step(&mut self, step: Step) {
        let path = |uri: &str| uri.strip_prefix("file://").unwrap().to_owned();
        match step {
            Step::Text(uri, edits) => self.change(&uri, &edits),
            Step::Delete(uri) => {
                std::fs::remove_file(path(&uri)).unwrap();
                if self.buffers.contains_key(&uri) {
                    self.close(&uri);
                }
            }
            Step::Rename(old, new) => {
                assert!(!std::fs::exists(path(&new)).unwrap(), "{new} exists");
                std::fs::rename(path(&old), path(&new)).unwrap();
                if let Some(buffer) = self.buffers.get(&old).cloned() {
                    self.close(&old);
                    self.open(new.clone(), buffer.text);
                    self.buffers.get_mut(&new).unwrap().dirty = buffer.dirty;
                }
            }
        }
    }

    /// The edits in bytes, by document; or why this editor does not take them.
    fn plan(&self, params: &lsp::ApplyWorkspaceEditParams) -> Result<Vec<Step>, String> {
        let edit = serde_json::to_value(&params.edit).unwrap();
        let mut plan = Vec::new();
        for change in edit["documentChanges"].as_array().into_iter().flatten() {
            let uri_at = |pointer: &str| change.pointer(pointer)?.as_str().map(str::to_owned);
            match change["kind"].as_str() {
                None => {}
                Some("delete") => {
                    plan.push(Step::Delete(uri_at("/uri").unwrap()));
                    continue;
                }
                Some("rename") => {
                    let [old, new] = ["/oldUri", "/newUri"].map(|it| uri_at(it).unwrap());
                    plan.push(Step::Rename(old, new));
                    continue;
                }
                Some(_) => return Err("no files are made here".to_owned()),
            }
            let uri = change["textDocument"]["uri"].as_str().unwrap();
            let buffer = self
                .buffers
                .get(uri)
                .ok_or_else(|| format!("{uri} is not open"))?;
            if change["textDocument"]["version"] != buffer.version {
                return Err(format!("the document is at version {}", buffer.version));
            }
            let edits = self.edits_in(buffer, &change["edits"]);
            plan.push(Step::Text(uri.to_owned(), edits));
        }
        for (uri, edits) in edit["changes"].as_object().into_iter().flatten() {
            let buffer = self
                .buffers
                .get(uri)
                .ok_or_else(|| format!("{uri} is not open"))?;
            plan.push(Step::Text(uri.clone(), self.edits_in(buffer, edits)));
        }
        Ok(plan)
    }

    fn edits_in(&self, buffer: &Buffer, edits: &Value) -> Edits {
        let at = |position: &Value| {
            let [line, character] =
                ["line", "character"].map(|it| position[it].as_u64().unwrap() as u32);
            offset(&buffer.text, line, character, self.encoding)
        };
        let edits = edits.as_array().unwrap().iter();
        edits
            .map(|it| {
                let range = at(&it["range"]["start"])..at(&it["range"]["end"]);
                (range, it["newText"].as_str().unwrap().to_owned())
            })
            .collect()
    }
}

/// The position of a byte.
fn position(text: &str, offset: usize, encoding: Encoding) -> Value {
    let (mut line, mut character) = (0, 0);
    let mut chars = text[..offset].chars().peekable();
    let follows_cr = text[offset..].starts_with('\n');
    while let Some(it) = chars.next() {
        let ends_line = match it {
            '\n' => true,
            '\r' => chars.peek().map_or(!follows_cr, |next| *next != '\n'),
            _ => false,
        };
        if ends_line {
            (line, character) = (line + 1, 0);
        } else {
            character += encoding.len(it);
        }
    }
    json!({"line": line, "character": character})
}

/// The byte of a position, which must be exactly one: a server may not count on being forgiven.
fn offset(text: &str, line: u32, character: u32, encoding: Encoding) -> usize {
    let wanted = json!({"line": line, "character": character});
    let mut found = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    // The last one: the position between CR and LF is that of neither.
    found
        .find(|at| position(text, *at, encoding) == wanted)
        .unwrap_or_else(|| panic!("there is no {wanted} in {text:?}"))
}

#[test]
fn positions_are_counted_in_all_encodings() {
    let text = "a\r\nb𝄞c\rd\n";
    for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
        let c = text.find('c').unwrap();
        let at = position(text, c, encoding);
        let character = match encoding {
            Encoding::Utf8 => 5,
            Encoding::Utf16 => 3,
            Encoding::Utf32 => 2,
        };
        assert_eq!(at, json!({"line": 1, "character": character}));
        assert_eq!(offset(text, 1, character, encoding), c);
        assert_eq!(offset(text, 3, 0, encoding), text.len());
    }
}
