//! Looks up what a prompt mentions: files from the editor's buffers, what git has, and what the editor shows.
//!
//! What lies outside the session's folders is named and not read: a person who wants it there lets the model read it.

use crate::files;
use crate::git;
use crate::plan::World;
use crate::workspace::{FilePath, path_of};
use engine::mentions::{Mention, head_and_tail, quoted, range};
use engine::problems;
use protocol::lsp;
use protocol::methods::{Diagnostics, Selection, Symbols};
use protocol::seen::{DiagnosticsParams, SelectionParams, SymbolsParams};
use protocol::tool::Place;
use std::fs;
use std::time::Duration;

/// The most names of a folder, and symbols and problems of one mention.
const MOST_NAMES: usize = 200;
const MOST_SYMBOLS: usize = 4;
const MOST_PROBLEMS: usize = 100;

/// Bytes of a file that are read to find some of its lines, and of git's answer.
const MOST_READ: u64 = 16 << 20;

/// What stands behind the prompt: a block for each mention that stands for something.
pub async fn look_up(world: &World, mentions: Vec<Mention>) -> String {
    let limit = |it: u64| usize::try_from(it).unwrap_or(usize::MAX);
    let one = limit(world.limits.mention_bytes);
    let mut left = limit(world.limits.mentions_bytes);
    let mut text = String::new();
    for mention in mentions {
        let Some((name, found)) = of(world, &mention).await else {
            continue;
        };
        let block = match (found, left) {
            (Found::Note(note), _) => format!("{name}: {note}"),
            (Found::Text(_), 0) => {
                format!("{name}: not put here, because the prompt mentions too much")
            }
            (Found::Text(it), _) => {
                let it = head_and_tail(&it, one.min(left));
                left = left.saturating_sub(it.len());
                quoted(&name, &it)
            }
        };
        text.push_str(&format!("\n\n{block}"));
    }
    text
}

enum Found {
    Text(String),
    /// What the model is told instead.
    Note(String),
}

fn note(text: &str) -> Found {
    Found::Note(text.to_owned())
}

/// The name of what was found, and what it is. None: it stands for nothing, and is a word like others.
async fn of(world: &World, mention: &Mention) -> Option<(String, Found)> {
    let patience = Duration::from_millis(world.limits.mention_ms);
    match mention {
        Mention::Path { path, lines } => of_path(world, path, *lines).await,
        Mention::Selection => {
            let params = SelectionParams {};
            let answer = world.editor.seen::<Selection>(params, patience).await;
            let Some(selection) = answer.and_then(|it| it.selection) else {
                return Some((
                    "@selection".to_owned(),
                    note("nothing is selected in the editor"),
                ));
            };
            let (first, last) = selection.lines;
            let name = format!(
                "Selected: {}, lines {first} to {last}",
                shown(world, &selection.uri)
            );
            Some((name, Found::Text(selection.text)))
        }
        Mention::Diagnostics => {
            let params = DiagnosticsParams::default();
            let answer = world.editor.seen::<Diagnostics>(params, patience).await;
            let files = answer.map(|it| it.files).unwrap_or_default();
            let files = files.into_iter().filter(|it| !it.problems.is_empty());
            let lists =
                files.map(|it| problems::list(&shown(world, &it.uri), &it.problems, MOST_PROBLEMS));
            let lists: Vec<String> = lists.collect();
            let found = match lists.is_empty() {
                true => note("the editor shows no problems"),
                false => Found::Text(lists.join("\n")),
            };
            Some(("Problems that the editor shows".to_owned(), found))
        }
        Mention::Diff => {
            let changes =
                tokio::time::timeout(patience, git::changes(world.workspace.root(), MOST_READ))
                    .await;
            let found = match changes.ok().flatten() {
                Some(text) if text.trim().is_empty() => {
                    note("nothing has changed since the last commit")
                }
                Some(text) => Found::Text(text),
                None => note("git has no answer here"),
            };
            Some((
                "Changes since the last commit (git diff HEAD)".to_owned(),
                found,
            ))
        }
        Mention::Symbol(query) => {
            let params = SymbolsParams {
                query: query.clone(),
            };
            let answer = world.editor.seen::<Symbols>(params, patience).await?;
            let mut parts = Vec::new();
            for symbol in answer.symbols.into_iter().take(MOST_SYMBOLS) {
                let file = world.workspace.classify(path_of(&symbol.uri)?);
                let text = text_of(world, &file).await;
                let (first, last) = symbol.lines;
                let name = format!("{}, lines {first} to {last}", file.shown);
                let text = text.ok().flatten().filter(|_| is_near(world, &file));
                let text = text.map(|it| range(&it, (first.max(1), last.max(first.max(1)))));
                parts.push(format!(
                    "{} in {name}\n{}",
                    symbol.name,
                    text.unwrap_or_default()
                ));
            }
            let found = match parts.is_empty() {
                true => note("the editor knows no such symbol"),
                false => Found::Text(parts.join("\n")),
            };
            Some((format!("Symbol {query}"), found))
        }
    }
}

async fn of_path(world: &World, path: &str, lines: Option<(u32, u32)>) -> Option<(String, Found)> {
    let file = world.workspace.resolve(path).ok()?;
    let is_open = world.documents.contains_key(&file.real);
    if !is_open && fs::symlink_metadata(&file.real).is_err() {
        return None;
    }
    if !is_near(world, &file) {
        let why = "it lies outside the project and was not read; read_file asks the person";
        return Some((file.shown, note(why)));
    }
    if file.real.is_dir() {
        let names = names(&file);
        return Some((format!("{}, a folder", file.shown), Found::Text(names)));
    }
    let text = match text_of(world, &file).await {
        Ok(text) => text?,
        Err(why) => return Some((file.shown, Found::Note(why))),
    };
    if text.contains('\0') {
        return Some((file.shown, note("it is no text; read_file may show it")));
    }
    Some(match lines {
        None => (file.shown, Found::Text(text)),
        Some((first, last)) => {
            let name = format!("{}, lines {first} to {last}", file.shown);
            (name, Found::Text(range(&text, (first, last))))
        }
    })
}

/// Whether a file may be put before the model unasked.
fn is_near(world: &World, file: &FilePath) -> bool {
    match world.place_to_read(file) {
        Place::Project | Place::AddedDir | Place::Scratchpad | Place::Memory => true,
        Place::Protected | Place::External => false,
    }
}

async fn text_of(world: &World, file: &FilePath) -> Result<Option<String>, String> {
    let live = files::live(&world.documents, file, MOST_READ).await?;
    Ok(live.map(|it| it.text))
}

fn names(file: &FilePath) -> String {
    let entries = fs::read_dir(&file.real).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .take(MOST_NAMES)
        .map(|it| {
            let end = if it.path().is_dir() { "/" } else { "" };
            format!("{}{end}", it.file_name().to_string_lossy())
        })
        .collect();
    names.sort();
    names.join("\n")
}

/// A document's name as the session says it.
pub fn shown(world: &World, uri: &lsp::Uri) -> String {
    match path_of(uri) {
        Some(path) => world.workspace.classify(path).shown,
        None => uri.as_ref().to_owned(),
    }
}
