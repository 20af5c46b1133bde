//! The text of `permissions.toml`: what its entries mean, and how one is added or taken out while all else in it stays
//! byte for byte.

use engine::policy::shell::{self, Surroundings};
use engine::text::visible;
use protocol::approval::Rule;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The folder in which it was given, and counts. None: it counts in every project.
    pub project: Option<PathBuf>,
    pub rule: Rule,
}

impl Answer {
    /// Whether it counts in a project, whose folder is resolved.
    pub fn counts_in(&self, project: &Path) -> bool {
        self.project.as_deref().is_none_or(|it| it == project)
    }

    /// The same answer with its command spelled as commands are compared. None: it is spelled so, or there is none.
    pub fn respelled(&self) -> Option<Self> {
        let Rule::Run { command, cwd } = &self.rule else {
            return None;
        };
        let spelled = canonical(command).filter(|it| it != command)?;
        Some(Self {
            project: self.project.clone(),
            rule: Rule::Run {
                command: spelled,
                cwd: cwd.clone(),
            },
        })
    }
}

/// What a new file begins with.
pub const HEAD: &str = "\
# What you have allowed Undine for always. It does this without asking.
#
# Each [[allow]] is one answer of yours. To take one back, delete it here, or say `/permissions forget` with its id in a chat
# (`/permissions` lists them). An edit counts from the agent's next action on.
#
# `project` is the folder where the answer was given; without that line it counts in every project.
# Beside it stands exactly one of these:
#
#   edit = true           edits of the project's files
#   run = \"make test\"     this command and no other, in the folder that `folder = \"/home/me/project\"` names
#   read = \"/a/folder\"    reading files directly in this folder
#   write = \"/a/folder\"   reading and editing files directly in this folder
#
# Folders are written whole, with no link on the way. An entry that says anything else does not count.
";

/// The entries of a text.
pub struct Entries {
    all: Vec<Entry>,
    /// What stands in the file beside them and means nothing.
    strange: Vec<String>,
}

struct Entry {
    /// From its header to the end of its last value.
    at: Range<usize>,
    /// The error is a part of a sentence.
    answer: Result<Answer, String>,
}

impl Entries {
    pub fn holds(&self, answer: &Answer) -> bool {
        self.all.iter().any(|it| it.answer.as_ref() == Ok(answer))
    }

    /// What counts, and why the rest does not.
    pub fn split(self) -> (Vec<Answer>, Vec<String>) {
        let (mut good, mut bad) = (Vec::new(), self.strange);
        for it in self.all {
            match it.answer {
                Ok(answer) => good.push(answer),
                Err(fault) => bad.push(fault),
            }
        }
        (good, bad)
    }
}

/// Reads a text. The error says why nothing in it counts.
pub fn read(text: &str) -> Result<Entries, String> {
    let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |it| it.start);
        let what = error.message().lines().next().unwrap_or("it is no TOML");
        format!(
            "line {}: {what}. Mend it; until then every such question comes again.",
            line(at)
        )
    })?;
    let (mut all, mut strange) = (Vec::new(), Vec::new());
    for (key, value) in table.get_ref() {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("allow", DeValue::Array(array)) => {
                for it in array.iter() {
                    let at = it.span();
                    // An array that is written in another way cannot be edited entry by entry.
                    let (DeValue::Table(table), true) =
                        (it.get_ref(), text[at.start..].starts_with("[["))
                    else {
                        return Err(format!(
                            "line {}: write each answer as [[allow]].",
                            line(at.start)
                        ));
                    };
                    let answer = answer(table).map_err(|fault| {
                        format!(
                            "line {}: this answer does not count, because {fault}.",
                            line(at.start)
                        )
                    });
                    let ends = table.values().map(|it| it.span().end);
                    let end = ends.max().unwrap_or(at.end).max(at.end);
                    let at = at.start..end;
                    all.push(Entry { at, answer });
                }
            }
            ("allow", _) => {
                let at = value.span().start;
                return Err(format!(
                    "line {}: write each answer as [[allow]].",
                    line(at)
                ));
            }
            (other, _) => strange.push(format!(
                "line {}: `{}` means nothing here.",
                line(key.span().start),
                visible(other)
            )),
        }
    }
    Ok(Entries { all, strange })
}

/// What an entry means, or why nothing.
fn answer(table: &DeTable<'_>) -> Result<Answer, String> {
    let known = ["project", "edit", "run", "folder", "read", "write"];
    if let Some(it) = table
        .keys()
        .find(|it| !known.contains(&it.get_ref().as_ref()))
    {
        return Err(format!("there is no `{}`", visible(it.get_ref())));
    }
    let get = |name: &str| {
        table
            .iter()
            .find(|it| it.0.get_ref() == name)
            .map(|it| it.1)
    };
    let text = |name: &str| match get(name).map(Spanned::get_ref) {
        None => Ok(None),
        Some(DeValue::String(it)) if !it.trim().is_empty() => Ok(Some(it.to_string())),
        Some(_) => Err(format!("`{name}` must be a text that is not empty")),
    };
    let folder = |name: &str| text(name)?.map(|it| folder(name, &it)).transpose();
    let kinds = ["edit", "run", "read", "write"];
    let given: Vec<&str> = kinds.into_iter().filter(|it| get(it).is_some()).collect();
    let [kind] = given[..] else {
        return Err("it must have exactly one of `edit`, `run`, `read` and `write`".to_owned());
    };
    if kind != "run" && get("folder").is_some() {
        return Err("`folder` goes with `run` only".to_owned());
    }
    let path = |it: Option<PathBuf>| it.ok_or_else(|| "`folder` is missing".to_owned());
    let rule = match kind {
        "run" => Rule::Run {
            command: command(text("run")?.unwrap_or_default())?,
            cwd: path(folder("folder")?)?,
        },
        "read" | "write" => Rule::ExternalFolder {
            folder: path(folder(kind)?)?,
            writes: kind == "write",
        },
        _ => match get("edit").map(Spanned::get_ref) {
            Some(DeValue::Boolean(true)) => Rule::EditProject,
            Some(_) | None => return Err("`edit` can only be true".to_owned()),
        },
    };
    Ok(Answer {
        project: folder("project")?,
        rule,
    })
}

/// A command that can be read at all: no other is ever found equal.
fn command(line: String) -> Result<String, String> {
    match canonical(&line) {
        Some(_) => Ok(line),
        None => Err("the command in `run` cannot be read".to_owned()),
    }
}

/// A command line as its parts say, in which form commands are compared.
fn canonical(line: &str) -> Option<String> {
    shell::read(line, &Surroundings::default()).canonical
}

/// A folder as it is compared later: exactly. What leads over a link would mean another folder when the link is
/// turned, which can happen in the project.
fn folder(name: &str, text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    let is_plain = |it: Component<'_>| matches!(it, Component::RootDir | Component::Normal(_));
    if !path.is_absolute() || !path.components().all(is_plain) {
        return Err(format!("`{name}` must be a whole path, from `/` on"));
    }
    match path.canonicalize() {
        Ok(real) if real != path => Err(format!(
            "`{name}` leads over a link; write {}",
            visible(&real.display().to_string())
        )),
        // Also one that does not exist: nothing is in it.
        Ok(_) | Err(_) => Ok(path.components().collect()),
    }
}

/// An answer as an entry. The error ends a sentence.
pub fn write(answer: &Answer) -> Result<String, String> {
    let mut entry = "[[allow]]\n".to_owned();
    let mut line = |name: &str, value: &Path| match value.to_str() {
        Some(text) => {
            entry.push_str(&format!("{name} = {}\n", quoted(text)));
            Ok(())
        }
        None => Err(format!("the name of {} is no text.", value.display())),
    };
    if let Some(project) = &answer.project {
        line("project", project)?;
    }
    match &answer.rule {
        Rule::EditProject => entry.push_str("edit = true\n"),
        Rule::Run { command, cwd } => {
            line("run", Path::new(command))?;
            line("folder", cwd)?;
        }
        Rule::ExternalFolder { folder, writes } => match writes {
            true => line("write", folder)?,
            false => line("read", folder)?,
        },
    }
    Ok(entry)
}

/// A text with an entry more.
pub fn append(text: &str, entry: &str) -> String {
    let end = line_end(text);
    let mut longer = text.to_owned();
    if !longer.is_empty() && !longer.ends_with('\n') {
        longer.push_str(end);
    }
    if !longer.is_empty() {
        longer.push_str(end);
    }
    longer + &entry.replace('\n', end)
}

/// A text without an answer, and without the comment right above it. None: it is not there. The error says why it
/// cannot be taken out.
pub fn without(text: &str, answer: &Answer) -> Result<Option<String>, String> {
    let mut left = text.to_owned();
    // From the end on, so that what is to come stays where it is.
    let entries = read(text)?.all.into_iter().rev();
    for it in entries.filter(|it| it.answer.as_ref() == Ok(answer)) {
        left.replace_range(block(&left, &it.at), "");
    }
    let is_left = read(&left).is_ok_and(|it| !it.holds(answer));
    match (left == text, is_left) {
        (true, _) => Ok(None),
        (false, true) => Ok(Some(left)),
        (false, false) => Err("what would be left cannot be read; delete it by hand.".to_owned()),
    }
}

/// The whole lines of an entry, with the comment right above it and the blank line above that. A comment that goes up
/// to the file's beginning is the file's.
fn block(text: &str, at: &Range<usize>) -> Range<usize> {
    let start = text[..at.start].rfind('\n').map_or(0, |it| it + 1);
    let end = text[at.end..]
        .find('\n')
        .map_or(text.len(), |it| at.end + it + 1);
    let above = |from: usize| {
        let line = text[..from].strip_suffix('\n')?;
        let begin = line.rfind('\n').map_or(0, |it| it + 1);
        Some((begin, line[begin..].trim()))
    };
    let mut top = start;
    while let Some((begin, line)) = above(top) {
        if !line.starts_with('#') {
            break;
        }
        top = begin;
    }
    if top == 0 {
        top = start;
    }
    match above(top) {
        Some((begin, "")) => begin..end,
        Some(_) | None => top..end,
    }
}

fn line_end(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((line, _)) if line.ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// A TOML string in which nothing hides.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for it in text.chars() {
        let mut bytes = [0; 4];
        let is_hidden = visible(it.encode_utf8(&mut bytes)).len() != it.len_utf8();
        match it {
            '"' | '\\' => out.extend(['\\', it]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            it if is_hidden || it.is_control() => {
                out.push_str(&format!("\\U{:08x}", u32::from(it)))
            }
            it => out.push(it),
        }
    }
    out.push('"');
    out
}
