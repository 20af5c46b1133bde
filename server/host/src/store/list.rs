//! The sessions of a project, newest first, and the names of new ones.

use super::heading::heading;
use super::log::{self, LogError};
use super::{Folders, lines, snapshot};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The most bytes of a title (spec 13.4).
const TITLE_BYTES: usize = 60;

#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub id: String,
    pub title: String,
    pub updated: SystemTime,
    /// The session that it was forked from, and its last message that was taken over.
    pub forked: Option<(String, u64)>,
}

impl Listed {
    /// What a page ends with and the next one goes on from.
    fn place(&self) -> (u128, &str) {
        let since = self.updated.duration_since(UNIX_EPOCH);
        (since.map_or(0, |it| it.as_nanos()), &self.id)
    }
}

/// The sessions in a folder. What cannot be read is left out.
pub fn list(folder: &Path) -> Vec<Listed> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut listed: Vec<Listed> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let id = name.strip_suffix(".jsonl").filter(|it| is_id(it))?;
            let heading = heading(&entry.path())?;
            let updated = entry.metadata().and_then(|it| it.modified()).ok()?;
            Some(Listed {
                id: id.to_owned(),
                title: heading.title,
                updated,
                forked: heading.forked,
            })
        })
        .collect();
    listed.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| b.id.cmp(&a.id)));
    listed
}

/// The newest session that can be opened (spec 13.5): a damaged one is passed over.
pub fn newest_valid(folder: &Path, folders: &Folders) -> Option<Listed> {
    list(folder).into_iter().find(|it| {
        let log = folder.join(format!("{}.jsonl", it.id));
        let bytes = lines::len(&log);
        let opened =
            bytes.and_then(|bytes| snapshot::open(&log, Some(&folders.snapshot(&log)), bytes));
        opened.is_ok()
    })
}

/// A page of a list that is ordered as [`list`] orders it, and the cursor of the next one. A cursor names the session that its page
/// ended with: what has changed meanwhile stands before it and is not missed for good. `None`: it is no cursor.
pub fn page(
    all: Vec<Listed>,
    cursor: Option<&str>,
    most: usize,
) -> Option<(Vec<Listed>, Option<String>)> {
    let mut rest = match cursor {
        None => all,
        Some(cursor) => {
            let (time, id) = cursor.split_once('-')?;
            let last = (time.parse::<u128>().ok()?, id);
            let mut all = all;
            all.retain(|it| it.place() < last);
            all
        }
    };
    let is_more = rest.len() > most.max(1);
    rest.truncate(most.max(1));
    let next = rest.last().filter(|_| is_more).map(|it| {
        let (time, id) = it.place();
        format!("{time}-{id}")
    });
    Some((rest, next))
}

/// The first line of a prompt, cut (spec 13.4).
pub fn title_of(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    if line.len() <= TITLE_BYTES {
        return line.to_owned();
    }
    let cut = (0..=TITLE_BYTES)
        .rev()
        .find(|at| line.is_char_boundary(*at))
        .unwrap_or(0);
    format!("{}...", &line[..cut])
}

/// Where a session's log lies. An id that is not one is refused, so that no path can be smuggled in
/// (spec 13.1).
pub fn path(folder: &Path, id: &str) -> Result<PathBuf, LogError> {
    let path = folder.join(format!("{id}.jsonl"));
    if is_id(id) && path.is_file() {
        Ok(path)
    } else {
        Err(LogError::Missing(id.to_owned()))
    }
}

/// A new id, `YYYYMMDD_HHMMSS_mmm`, that no session of the folder or of this process has.
pub fn new_id(folder: &Path, taken: impl Fn(&str) -> bool) -> String {
    let mut time = log::now_ms();
    loop {
        let id = id_at(time);
        if !taken(&id) && !folder.join(format!("{id}.jsonl")).exists() {
            return id;
        }
        time += 1;
    }
}

fn id_at(ms: u64) -> String {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    let utc = time.to_zoned(jiff::tz::TimeZone::UTC);
    format!(
        "{:04}{:02}{:02}_{:02}{:02}{:02}_{:03}",
        utc.year(),
        utc.month(),
        utc.day(),
        utc.hour(),
        utc.minute(),
        utc.second(),
        utc.millisecond()
    )
}

fn is_id(text: &str) -> bool {
    text.len() == 19
        && text.bytes().enumerate().all(|(at, it)| match at {
            8 | 15 => it == b'_',
            _ => it.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_time_in_utc() {
        assert_eq!(id_at(1_764_532_245_007), "20251130_195045_007");
    }

    #[test]
    fn an_id_that_is_a_path_is_refused() {
        for id in [
            "../../../../etc/pw",
            "20251130_195045_00/",
            "",
            "20251130-195045-007",
        ] {
            assert!(
                matches!(path(Path::new("/"), id), Err(LogError::Missing(_))),
                "{id}"
            );
        }
    }

    #[test]
    fn a_title_is_cut_at_a_character() {
        let title = title_of(&"ä".repeat(40));
        assert_eq!(title, format!("{}...", "ä".repeat(30)));
        assert_eq!(title_of("  short\nrest"), "short");
    }

    #[test]
    fn bug_077_the_newest_session_that_is_whole_is_taken_where_a_newer_one_is_damaged() {
        let place = tempfile::tempdir().unwrap();
        let folders = Folders {
            config: place.path().join("config"),
            data: place.path().join("data"),
        };
        let user = "{\"v\":1,\"seq\":0,\"time\":0,\"type\":\"user\",\"turn\":0,\"text\":\"hi\"}\n";
        let folder = place.path().join("c");
        fs::create_dir(&folder).unwrap();
        assert_eq!(newest_valid(&folder, &folders), None);
        let ids = [
            "20250101_000000_000",
            "20250102_000000_000",
            "20250103_000000_000",
        ];
        let damaged = format!("{user}nonsense\n{user}");
        let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(9);
        for (id, text) in ids.iter().zip([user, user, &damaged]) {
            let path = folder.join(format!("{id}.jsonl"));
            fs::write(&path, text).unwrap();
            // The newest id counts among those of one time.
            let file = fs::File::options().append(true).open(path).unwrap();
            file.set_modified(time).unwrap();
        }
        assert_eq!(list(&folder)[0].id, ids[2]);
        assert_eq!(newest_valid(&folder, &folders).unwrap().id, ids[1]);
    }

    #[test]
    fn a_second_session_in_one_millisecond_gets_another_id() {
        let folder = tempfile::tempdir().unwrap();
        let first = new_id(folder.path(), |_| false);
        let second = new_id(folder.path(), |it| it == first);
        assert_ne!(first, second);
    }
}
