//! Answers to the model's questions that the person wants to count for later ones too (spec 11.1b): `answers.json` in the config folder.
//!
//! It is theirs to read and to edit; no tool writes there. It is replaced whole.

use super::{beside, lock, put};
use crate::regular;
use engine::redact::redact;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file's name in the config folder.
const NAME: &str = "answers.json";

/// The most bytes of the file.
const MAX_BYTES: u64 = 1 << 20;

/// The file of kept answers.
#[derive(Clone, Debug)]
pub struct Answers {
    folder: PathBuf,
}

/// A kept answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptAnswer {
    /// What was asked, for the person who reads the file.
    pub question: String,
    /// Several where several were chosen.
    pub answer: Vec<String>,
}

impl Answers {
    /// Those in a config folder.
    pub fn new(folder: &Path) -> Self {
        let folder = folder.to_path_buf();
        Self { folder }
    }

    /// All of them, by the names that the model gave the questions. A file that cannot be read holds none.
    pub fn read(&self) -> BTreeMap<String, KeptAnswer> {
        self.load().unwrap_or_else(|error| {
            tracing::warn!(%error, "the kept answers cannot be read");
            BTreeMap::new()
        })
    }

    /// Keeps answers. One with a secret is not written down. The error is for the model, which tells the person.
    pub fn keep(&self, new: Vec<(String, KeptAnswer)>, patience: Duration) -> Result<(), String> {
        let mut new = new;
        new.retain(|(_, it)| it.answer.iter().all(|it| *redact(it) == **it));
        if new.is_empty() {
            return Ok(());
        }
        let failed = |error: io::Error| {
            format!(
                "The answer could not be kept in {} ({error}).",
                self.folder.join(NAME).display()
            )
        };
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder);
        made.map_err(failed)?;
        let _lock = lock(&self.folder, patience)?;
        let mut all = self.load().map_err(failed)?;
        all.extend(new);
        let text = serde_json::to_string_pretty(&all).map_err(|it| failed(it.into()))?;
        let file = beside(&self.folder, ".answers-", format!("{text}\n").as_bytes());
        file.and_then(|it| put(it, &self.folder.join(NAME)))
            .map_err(failed)
    }

    fn load(&self) -> io::Result<BTreeMap<String, KeptAnswer>> {
        let path = self.folder.join(NAME);
        let bytes = match regular::read_capped(&path, MAX_BYTES) {
            Ok(bytes) => bytes.ok_or_else(|| io::Error::other("it is too large"))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(error),
        };
        Ok(serde_json::from_slice(&bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn kept(answer: &str) -> KeptAnswer {
        KeptAnswer {
            question: "Which?".into(),
            answer: vec![answer.into()],
        }
    }

    #[test]
    fn what_is_kept_is_read_back_and_a_secret_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let answers = Answers::new(&folder.path().join("config"));
        assert!(answers.read().is_empty());
        let secret = &["ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"].concat();
        let all = vec![("a".into(), kept("red")), ("b".into(), kept(secret))];
        answers.keep(all, PATIENCE).unwrap();
        answers
            .keep(vec![("c".into(), kept("blue"))], PATIENCE)
            .unwrap();
        let read = answers.read();
        assert_eq!(read.keys().collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(read["a"], kept("red"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), "{broken").unwrap();
        let answers = Answers::new(folder.path());
        assert!(answers.read().is_empty());
        assert!(
            answers
                .keep(vec![("a".into(), kept("red"))], PATIENCE)
                .is_err()
        );
        assert_eq!(
            fs::read_to_string(folder.path().join(NAME)).unwrap(),
            "{broken"
        );
    }
}
