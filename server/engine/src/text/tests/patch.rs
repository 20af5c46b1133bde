//! Patches: how they are read, where they go, and what a refusal tells the model.

mod place;
mod read;
mod table;

use crate::text::patch::{FileKind, parse, place};

/// What a patch of one file makes of a text, or what it tells the model.
fn apply(patch: &str, text: &str) -> Result<String, String> {
    let patch = parse(patch).map_err(|it| it.to_string())?;
    let [file] = &patch.files[..] else {
        return Err(format!("{} files", patch.files.len()));
    };
    if file.kind == FileKind::Create {
        return Ok(file.content());
    }
    let placed = place(file, text).map_err(|it| it.to_string())?;
    Ok(placed.changes.apply(text).unwrap())
}

/// A patch of the file `f` in an envelope.
fn update(body: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n")
}

#[track_caller]
fn check(body: &str, text: &str, expected: &str) {
    assert_eq!(apply(&update(body), text).as_deref(), Ok(expected));
}

#[track_caller]
fn check_refused(body: &str, text: &str, expected: &str) {
    let error = apply(&update(body), text).unwrap_err();
    assert!(error.contains(expected), "{error}");
}
