//! Changes single keys of a person's `config.toml`, and leaves the rest of it as it was written (spec 20.1).
//!
//! A file that is malformed is never written: what cannot be read cannot be kept (BUG-102). Each change reaches the
//! disk whole or not at all, and not if the file has become another meanwhile.

use crate::layers::{place, read_text};
use engine::config::Removed;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use toml_edit::{Document, DocumentMut, Item, TableLike};

/// Why nothing was changed. One sentence for the person.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("{} is not valid TOML ({at}: {what}); nothing was changed, mend it first.", path.display())]
    Malformed {
        path: PathBuf,
        at: String,
        what: String,
    },
    #[error("{} has {key}, which is no table; nothing was changed, mend it first.", path.display())]
    NoTable { path: PathBuf, key: String },
    #[error("{} has been changed by another meanwhile; nothing was changed, do it again.", path.display())]
    Changed { path: PathBuf },
    #[error("{} cannot be changed so that the rest of it stays; take out {keys} by hand.", path.display())]
    Tangled { path: PathBuf, keys: String },
    #[error("{} cannot be read ({error}); nothing was changed.", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("{} cannot be written ({error}); nothing was changed.", path.display())]
    Write { path: PathBuf, error: io::Error },
}

/// Sets one option, by its path, and makes the file if there is none.
///
/// # Errors
/// If the file is malformed, cannot be read or written, or has something else where a table must be.
pub fn set(path: &Path, key: &[&str], value: impl Into<toml_edit::Value>) -> Result<(), EditError> {
    set_all(path, [(key, value.into())])
}

/// As [`set`], of options that belong together: all of them or none.
///
/// # Errors
/// As [`set`].
pub fn set_all<'a>(
    path: &Path,
    all: impl IntoIterator<Item = (&'a [&'a str], toml_edit::Value)>,
) -> Result<(), EditError> {
    let old = read(path)?;
    let mut document = parse(path, old.as_deref().unwrap_or_default())?;
    // Comments of a file that has nothing else would come to stand behind what is new.
    let comments = match (&old, document.is_empty()) {
        (Some(text), true) if !text.is_empty() => {
            document = DocumentMut::new();
            text.trim_end().to_owned() + "\n\n"
        }
        _ => String::new(),
    };
    for (key, value) in all {
        put_option(path, &mut document, key, value)?;
    }
    write(path, old.as_deref(), &(comments + &document.to_string()))
}

fn put_option(
    path: &Path,
    document: &mut DocumentMut,
    key: &[&str],
    mut value: toml_edit::Value,
) -> Result<(), EditError> {
    let Some((last, tables)) = key.split_last() else {
        return Ok(());
    };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for (at, name) in tables.iter().enumerate() {
        let made = Item::Table(toml_edit::Table::new());
        table = table
            .entry(name)
            .or_insert(made)
            .as_table_like_mut()
            .ok_or_else(|| {
                let (path, key) = (path.to_path_buf(), key[..=at].join("."));
                EditError::NoTable { path, key }
            })?;
    }
    match table.get_mut(last) {
        Some(Item::Value(old)) => {
            // What stands beside it, such as a comment, stays.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        Some(_) | None => drop(table.insert(last, Item::Value(value))),
    }
    Ok(())
}

/// Takes one option out, by its path. Without it nothing is written.
///
/// # Errors
/// If the file is malformed, or cannot be read or written.
pub fn unset(path: &Path, key: &[&str]) -> Result<(), EditError> {
    let Some(old) = read(path)? else {
        return Ok(());
    };
    let mut document = parse(path, &old)?;
    let key: Vec<String> = key.iter().map(|it| (*it).to_owned()).collect();
    match take(document.as_table_mut(), &key) {
        Some(_) => write(path, Some(&old), &document.to_string()),
        None => Ok(()),
    }
}

/// What [`clean`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleaned {
    /// What it took out, by dotted key.
    pub keys: Vec<String>,
    /// The file as it was.
    pub backup: PathBuf,
}

/// Takes removed options out of the file, in profiles too, and keeps the file as it was under a number. `None` if there
/// are none, or no file.
///
/// # Errors
/// If the file is malformed, or cannot be read or written.
pub fn clean(path: &Path, removed: &[Removed]) -> Result<Option<Cleaned>, EditError> {
    let Some(old) = read(path)? else {
        return Ok(None);
    };
    let mut rest = parse(path, &old)?;
    let all = Document::parse(old.as_str()).map_err(|it| malformed(path, &old, &it))?;
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut cuts: Vec<Range<usize>> = Vec::new();
    for key in candidates(&rest, removed) {
        if take(rest.as_table_mut(), &key).is_none() {
            continue;
        }
        if let Some((leaf, item)) = find(&all, &key) {
            collect(&old, leaf, item, &mut cuts);
        }
        found.push(key);
    }
    if found.is_empty() {
        return Ok(None);
    }
    let keys: Vec<String> = found.iter().map(|it| it.join(".")).collect();
    let new = cut(&old, cuts);
    let mut new_document = parse(path, &new).map_err(|_| tangled(path, &keys))?;
    // In a table of one line there is no line to cut.
    let left = found
        .iter()
        .any(|key| take(new_document.as_table_mut(), key).is_some());
    let new = if left { new_document.to_string() } else { new };
    if !is_same(&new, &rest.to_string()) {
        return Err(tangled(path, &keys));
    }
    let backup = back_up(path, &old)?;
    write(path, Some(&old), &new)?;
    Ok(Some(Cleaned { keys, backup }))
}

/// Where removed options can stand.
fn candidates(document: &DocumentMut, removed: &[Removed]) -> Vec<Vec<String>> {
    let own = |it: &Removed| it.key.split('.').map(str::to_owned).collect::<Vec<_>>();
    let mut all: Vec<Vec<String>> = removed.iter().map(own).collect();
    let profiles = document.get("profiles").and_then(Item::as_table_like);
    for (name, _) in profiles.into_iter().flat_map(|it| it.iter()) {
        let prefix = ["profiles".to_owned(), name.to_owned()];
        all.extend(removed.iter().map(|it| [&prefix[..], &own(it)].concat()));
    }
    all
}

fn take(table: &mut dyn TableLike, key: &[String]) -> Option<Item> {
    match key {
        [] => None,
        [last] => table.remove(last),
        [first, rest @ ..] => take(table.get_mut(first)?.as_table_like_mut()?, rest),
    }
}

fn find<'a>(
    document: &'a Document<&str>,
    key: &[String],
) -> Option<(&'a toml_edit::Key, &'a Item)> {
    let (last, tables) = key.split_last()?;
    let mut table: &dyn TableLike = document.as_table();
    for name in tables {
        // In a table of one line nothing has lines of its own.
        table = match table.get(name)? {
            Item::Table(inner) => inner,
            Item::Value(_) | Item::None | Item::ArrayOfTables(_) => return None,
        };
    }
    table.get_key_value(last)
}

/// The lines of an option, and of all that is in it. Comments beside them stay.
fn collect(text: &str, key: &toml_edit::Key, item: &Item, cuts: &mut Vec<Range<usize>>) {
    let table = |table: &toml_edit::Table, cuts: &mut Vec<Range<usize>>| {
        cuts.extend(
            table
                .span()
                .filter(|_| !table.is_dotted())
                .map(|it| lines(text, it)),
        );
        for (name, inner) in table.iter() {
            if let Some(key) = table.key(name) {
                collect(text, key, inner, cuts);
            }
        }
    };
    match item {
        Item::None => {}
        Item::Value(_) => {
            let span = key.span().zip(item.span());
            cuts.extend(span.map(|(key, value)| lines(text, key.start..value.end)));
        }
        Item::Table(it) => table(it, cuts),
        Item::ArrayOfTables(all) => all.iter().for_each(|it| table(it, cuts)),
    }
}

/// The whole lines around a part of a text.
fn lines(text: &str, part: Range<usize>) -> Range<usize> {
    let start = text[..part.start].rfind('\n').map_or(0, |it| it + 1);
    let end = text[part.end..]
        .find('\n')
        .map_or(text.len(), |it| part.end + it + 1);
    start..end
}

fn cut(text: &str, mut cuts: Vec<Range<usize>>) -> String {
    cuts.sort_by_key(|it| it.start);
    let (mut out, mut at) = (String::new(), 0);
    for it in cuts {
        if it.start >= at {
            out.push_str(&text[at..it.start]);
        }
        at = at.max(it.end);
    }
    out + &text[at..]
}

fn is_same(a: &str, b: &str) -> bool {
    let value = |it: &str| toml::from_str::<toml::Value>(it).ok().map(without_empty);
    value(a).is_some_and(|it| value(b) == Some(it))
}

/// Without tables that hold nothing: one may go with the last thing in it.
fn without_empty(value: toml::Value) -> toml::Value {
    match value {
        toml::Value::Table(table) => {
            let full = table.into_iter().map(|(key, it)| (key, without_empty(it)));
            let is_full = |it: &toml::Value| it.as_table().is_none_or(|it| !it.is_empty());
            toml::Value::Table(full.filter(|(_, it)| is_full(it)).collect())
        }
        other => other,
    }
}

fn tangled(path: &Path, keys: &[String]) -> EditError {
    let (path, keys) = (path.to_path_buf(), keys.join(", "));
    EditError::Tangled { path, keys }
}

/// The file's text, if there is a file.
fn read(path: &Path) -> Result<Option<String>, EditError> {
    match read_text(path) {
        Ok(text) => Ok(Some(text)),
        // A link that leads nowhere is the person's, and is not replaced.
        Err(error)
            if error.kind() == io::ErrorKind::NotFound && path.symlink_metadata().is_err() =>
        {
            Ok(None)
        }
        Err(error) => {
            let path = path.to_path_buf();
            Err(EditError::Read { path, error })
        }
    }
}

fn parse(path: &Path, text: &str) -> Result<DocumentMut, EditError> {
    text.parse().map_err(|it| malformed(path, text, &it))
}

fn malformed(path: &Path, text: &str, error: &toml_edit::TomlError) -> EditError {
    EditError::Malformed {
        path: path.to_path_buf(),
        at: place(text, error.span().map_or(0, |it| it.start)),
        what: error.message().to_owned(),
    }
}

/// Puts `new` in the place of a file that had this text, or that was not there; its owner alone can read a new one.
///
/// # Errors
/// If it is another by now, or cannot be written.
pub fn write(path: &Path, old: Option<&str>, new: &str) -> Result<(), EditError> {
    // Behind a link lies the file that the person keeps elsewhere.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if read(&real)?.as_deref() != old {
        let path = path.to_path_buf();
        return Err(EditError::Changed { path });
    }
    put(&real, old.is_none(), new).map_err(|error| {
        let path = path.to_path_buf();
        match error.kind() {
            io::ErrorKind::AlreadyExists => EditError::Changed { path },
            _ => EditError::Write { path, error },
        }
    })
}

fn put(real: &Path, is_new: bool, text: &str) -> io::Result<()> {
    let folder = real.parent().unwrap_or(Path::new("/"));
    if !folder.is_dir() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    let mode = match is_new {
        true => 0o600,
        false => fs::metadata(real)?.permissions().mode() & 0o777,
    };
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    match is_new {
        true => file.persist_noclobber(real)?,
        false => file.persist(real)?,
    };
    Ok(())
}

/// Keeps a file's text beside it, under the first number that is free.
fn back_up(path: &Path, text: &str) -> Result<PathBuf, EditError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for number in 1_u32.. {
        let backup = path.with_file_name(format!("{name}.{number}"));
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&backup)
            .and_then(|mut it| it.write_all(text.as_bytes()));
        match made {
            Ok(()) => return Ok(backup),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(EditError::Write {
                    path: backup,
                    error,
                });
            }
        }
    }
    unreachable!("a folder has fewer files than there are numbers")
}

#[cfg(test)]
mod tests;
