//! A file that one command's output goes to, bounded: the newest part stays.
//!
//! Places in it are counted from the first byte the command ever wrote, so that they mean the same after older
//! output has gone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Log {
    /// Missing once nothing more comes: it is then opened for each reading, so that what has ended holds nothing.
    file: Option<File>,
    path: PathBuf,
    /// Where the file's first byte stands in the output.
    start: u64,
    /// Bytes in the file.
    len: u64,
    /// Most bytes in the file.
    most: u64,
    /// Why output is missing, if it is.
    trouble: Option<String>,
}

/// A part of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub bytes: Vec<u8>,
    /// Bytes between the place that was asked for and the first one here.
    pub n_skipped: u64,
    /// Where the output ends; the place to ask for next.
    pub end: u64,
}

impl Log {
    /// Makes a new file for the owner's eyes only, and the folder where it is missing.
    pub(super) fn create(path: PathBuf, most: u64) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true).mode(0o700).create(folder)?;
        }
        // Exclusively: a link that somebody laid there is not followed.
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        Ok(Self {
            file: Some(file),
            path,
            start: 0,
            len: 0,
            most,
            trouble: None,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the output ends.
    pub(super) fn end(&self) -> u64 {
        self.start + self.len
    }

    pub(super) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Nothing more comes.
    pub(super) fn close(&mut self) {
        self.file = None;
    }

    fn file(&self) -> io::Result<File> {
        match &self.file {
            Some(file) => file.try_clone(),
            None => File::open(&self.path),
        }
    }

    /// Adds to the end. A disk that is full costs output and not the command.
    pub(super) fn append(&mut self, chunk: &[u8]) {
        let end = self.end();
        if let Err(error) = self.try_append(chunk) {
            self.trouble = Some(error.to_string());
            // A part of it may be there.
            let end = end + chunk.len() as u64;
            self.len = fs::metadata(&self.path).map_or(self.len, |it| it.len());
            self.start = end.saturating_sub(self.len);
        }
    }

    fn try_append(&mut self, chunk: &[u8]) -> io::Result<()> {
        let mut file = self.file()?;
        self.look(&file)?;
        // Of more than the file may ever hold, the end.
        let n_kept = chunk
            .len()
            .min(usize::try_from(self.most).unwrap_or(usize::MAX));
        if self.len + n_kept as u64 > self.most {
            self.drop_older(&mut file, self.most - n_kept as u64)?;
        }
        let n_lost = chunk.len() - n_kept;
        file.write_all(&chunk[n_lost..])?;
        self.start += n_lost as u64;
        self.len += n_kept as u64;
        Ok(())
    }

    /// The person may have emptied the file meanwhile.
    fn look(&mut self, file: &File) -> io::Result<()> {
        let len = file.metadata()?.len();
        if len < self.len {
            self.start += self.len - len;
            self.len = len;
        }
        Ok(())
    }

    /// Half of the file at most stays, so that this is seldom done, and no more than `room` bytes.
    fn drop_older(&mut self, file: &mut File, room: u64) -> io::Result<()> {
        let n_kept = self.len.min(self.most / 2).min(room);
        let n_kept = usize::try_from(n_kept).unwrap_or(usize::MAX);
        let mut kept = vec![0; n_kept];
        file.read_exact_at(&mut kept, self.len - n_kept as u64)?;
        file.set_len(0)?;
        self.start = self.end() - n_kept as u64;
        self.len = 0;
        file.write_all(&kept)?;
        self.len = n_kept as u64;
        Ok(())
    }

    /// What there is from a place on: the newest `most` bytes of it.
    pub(super) fn newest(&mut self, from: u64, most: usize) -> io::Result<Piece> {
        let file = self.file()?;
        self.look(&file)?;
        let end = self.end();
        let from = from.min(end);
        let begin = from.max(self.start).max(end.saturating_sub(most as u64));
        read(&file, self.start, from, begin, end)
    }

    /// What there is from a place on: the oldest `most` bytes of it.
    pub(super) fn oldest(&mut self, from: u64, most: usize) -> io::Result<Piece> {
        let file = self.file()?;
        self.look(&file)?;
        let from = from.min(self.end());
        let begin = from.max(self.start);
        read(
            &file,
            self.start,
            from,
            begin,
            self.end().min(begin + most as u64),
        )
    }
}

/// What stands between two places of the output in a file that begins with the byte `start` of it.
fn read(file: &File, start: u64, from: u64, begin: u64, end: u64) -> io::Result<Piece> {
    let mut bytes = vec![0; usize::try_from(end - begin).unwrap_or(0)];
    file.read_exact_at(&mut bytes, begin - start)?;
    Ok(Piece {
        bytes,
        n_skipped: begin - from,
        end,
    })
}

#[cfg(test)]
mod tests {
    use super::{Log, Piece};
    use std::os::unix::fs::PermissionsExt;

    fn log(most: u64) -> (tempfile::TempDir, Log) {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::create(folder.path().join("logs/a.log"), most).unwrap();
        (folder, log)
    }

    fn piece(text: &str, n_skipped: u64, end: u64) -> Piece {
        Piece {
            bytes: text.into(),
            n_skipped,
            end,
        }
    }

    #[test]
    fn output_is_read_on_from_where_it_was_read_to() {
        let (_folder, mut log) = log(100);
        log.append(b"one\n");
        assert_eq!(log.newest(0, 50).unwrap(), piece("one\n", 0, 4));
        assert_eq!(log.newest(4, 50).unwrap(), piece("", 0, 4));
        log.append(b"two\nthree\n");
        assert_eq!(log.newest(4, 6).unwrap(), piece("three\n", 4, 14));
        assert_eq!(log.oldest(4, 4).unwrap(), piece("two\n", 0, 8));
    }

    #[test]
    fn what_has_ended_is_read_as_before_and_holds_no_file() {
        let (_folder, mut log) = log(100);
        log.append(b"one\ntwo\n");
        log.close();
        assert!(log.file.is_none());
        assert_eq!(log.newest(4, 50).unwrap(), piece("two\n", 0, 8));
        std::fs::remove_file(log.path()).unwrap();
        assert!(log.newest(4, 50).is_err());
    }

    #[test]
    fn only_the_owner_may_read_it() {
        let (folder, log) = log(100);
        let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(log.path()), 0o600);
        assert_eq!(mode(&folder.path().join("logs")), 0o700);
        assert!(Log::create(log.path().to_owned(), 100).is_err());
    }

    #[test]
    fn the_newest_part_stays_and_places_go_on_meaning_the_same() {
        let (_folder, mut log) = log(10);
        for text in ["abcd", "efgh", "ijkl"] {
            log.append(text.as_bytes());
        }
        assert_eq!(std::fs::read(log.path()).unwrap(), b"defghijkl");
        assert_eq!(log.newest(0, 50).unwrap(), piece("defghijkl", 3, 12));
        assert_eq!(log.newest(8, 50).unwrap(), piece("ijkl", 0, 12));
        log.append(b"0123456789abcdef");
        assert_eq!(log.newest(12, 50).unwrap().end, 28);
        assert!(std::fs::metadata(log.path()).unwrap().len() <= 10);
    }

    #[test]
    fn a_log_that_shrank_is_read_from_its_start() {
        let (_folder, mut log) = log(100);
        log.append(b"before\n");
        let place = log.end();
        std::fs::write(log.path(), "").unwrap();
        log.append(b"after\n");
        assert_eq!(log.newest(place, 50).unwrap(), piece("after\n", 0, 13));
        assert_eq!(log.newest(0, 50).unwrap(), piece("after\n", 7, 13));
    }

    #[test]
    fn any_output_is_bounded_and_its_end_is_there() {
        let seed = 0x106;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..200 {
            let most = random.u64(2..40);
            let (_folder, mut log) = log(most);
            let mut all = Vec::new();
            for _ in 0..random.usize(1..20) {
                let chunk: Vec<u8> = (0..random.usize(0..50)).map(|_| random.u8(..)).collect();
                log.append(&chunk);
                all.extend(chunk);
                let told = format!("seed {seed:#x}, round {round}, at most {most}");
                assert!(
                    std::fs::metadata(log.path()).unwrap().len() <= most,
                    "{told}"
                );
                let newest = log.newest(0, 1000).unwrap();
                assert_eq!(newest.end, all.len() as u64, "{told}");
                assert_eq!(newest.bytes, all[newest.n_skipped as usize..], "{told}");
                assert!(
                    newest.bytes.len() >= all.len().min(most as usize / 2),
                    "{told}"
                );
            }
        }
    }
}
