//! What is kept over sessions (spec 8): facts, one Markdown file each, for all projects, for one, or in its repository.
//!
//! Pure: the files' texts come in, what is to be written goes out. The host reads and writes (host/src/memory.rs).

mod change;
mod consolidate;
mod front_matter;
mod index;
mod search;
mod slug;

pub use change::{Change, Text, Wish, forget, remember, update, wish};
pub use consolidate::{Outdated, plan, request};
pub use index::index;
pub use search::search;
pub use slug::{slug, title};

use crate::redact::redact;
use crate::text::visible_line;
use protocol::memory::MemoryScope;
use std::path::PathBuf;

/// The most bytes that are read of a file; what is behind them is left out (spec 8.4).
pub const MAX_FILE_BYTES: u64 = 64_000;

/// The most bytes of a fact that is written, so that it is read whole again with its front matter.
const MAX_CONTENT_BYTES: usize = 60_000;

/// The most files of a folder that are read, the first by name. More are no memory but an archive.
pub const MAX_FILES: usize = 1_000;

/// The most characters of a name.
const MAX_NAME: usize = 120;

/// The most characters of a description.
const MAX_DESCRIPTION: usize = 300;

/// A fact, as its file says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fact {
    pub name: String,
    /// In one line.
    pub description: String,
    /// RFC 3339.
    pub created: Option<String>,
    pub tags: Vec<String>,
    /// Lines of the front matter that we do not know: a person wrote them.
    further: Vec<String>,
    pub body: String,
}

impl Fact {
    /// A file's fact. `stem` is its name without `.md`, which names the fact where its text does not.
    pub fn read(stem: &str, text: &str) -> Self {
        front_matter::read(stem, text)
    }
}

/// A fact and where it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub scope: MemoryScope,
    /// The file's name without `.md`.
    pub stem: String,
    pub path: PathBuf,
    /// The path for people and the model: relative to the project where it lies in it.
    pub shown: String,
    pub fact: Fact,
}

impl Kept {
    fn is_called(&self, id: &str) -> bool {
        self.fact.name == id || self.stem == id
    }
}

/// The first fact of this name or file name: global ones are looked at first, then private ones, then shared ones (spec 8.1).
/// The error is for whoever asked.
pub fn find<'a>(
    kept: &'a [Kept],
    id: &str,
    scope: Option<MemoryScope>,
) -> Result<&'a Kept, String> {
    let id = id.trim();
    // As it is written, secrets masked, and as a file.
    let name = redact(id);
    let file = id.strip_suffix(".md").unwrap_or(id);
    let of_scope = |it: &MemoryScope| scope.is_none_or(|wanted| wanted == *it);
    let found = MemoryScope::ALL
        .into_iter()
        .filter(of_scope)
        .find_map(|scope| {
            let mut here = kept.iter().filter(|it| it.scope == scope);
            here.find(|it| it.is_called(&name) || it.is_called(file))
        });
    found.ok_or_else(|| {
        format!(
            "Nothing in memory is called {:?}. Search for it, or look at the names in the list.",
            visible_line(&name, MAX_NAME)
        )
    })
}

/// In the order of lists: by scope, then by name.
pub fn sort(kept: &mut [Kept]) {
    kept.sort_by(|a, b| {
        let key = |it: &Kept| (it.scope, it.fact.name.to_lowercase(), it.stem.clone());
        key(a).cmp(&key(b))
    });
}

/// The first line that says something.
fn first_line(text: &str) -> &str {
    let lines = text.lines().map(str::trim);
    { lines }.find(|it| !it.is_empty()).unwrap_or("")
}

/// In one line, without secrets and what hides.
fn line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    visible_line(&redact(&words.join(" ")), most)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A fact in a file of this name.
    pub fn kept(scope: MemoryScope, stem: &str, text: &str) -> Kept {
        let path = PathBuf::from(format!("/m/{}/{stem}.md", scope.id()));
        Kept {
            scope,
            stem: stem.to_owned(),
            shown: path.display().to_string(),
            path,
            fact: Fact::read(stem, text),
        }
    }

    #[test]
    fn a_name_is_looked_for_in_global_then_private_then_shared() {
        let all = [
            kept(MemoryScope::Shared, "build", "shared"),
            kept(MemoryScope::Private, "build", "private"),
            kept(
                MemoryScope::Global,
                "other",
                "---\nname: Build\n---\nglobal",
            ),
        ];
        let body = |id: &str, scope| find(&all, id, scope).map(|it| it.fact.body.as_str());
        assert_eq!(body("build", None), Ok("private"));
        assert_eq!(body("build.md", Some(MemoryScope::Shared)), Ok("shared"));
        assert_eq!(body("Build", None), Ok("global"));
        assert_eq!(body("other", None), Ok("global"));
        assert!(body("none", None).is_err());
    }
}
