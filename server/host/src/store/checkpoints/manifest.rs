//! A checkpoint's manifest on the disk, and the seal on it.

use super::blobs::TEMPORARY;
use super::unsynced::Unsynced;
use crate::regular;
use engine::redact::redact_string;
use hmac::{Hmac, Mac};
use protocol::review::Author;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::Sha256;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The version that this build writes. A manifest with a greater one is refused, not half-read.
pub(super) const VERSION: u32 = 1;

/// The most bytes of a manifest: it holds a call's whole arguments.
const MAX_BYTES: u64 = 64 << 20;

/// What a checkpoint is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format version.
    pub v: u32,
    pub id: String,
    /// The project's resolved folder.
    #[serde(with = "path_text")]
    pub project: PathBuf,
    /// Nanoseconds since the Unix epoch.
    pub time: u64,
    /// What was about to happen, in one line.
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    pub files: Vec<Entry>,
    /// Whether its seal is ours: it is as we wrote it.
    #[serde(skip)]
    pub is_ours: bool,
}

/// What a call asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Action {
    pub tool: String,
    pub arguments: Value,
}

/// One file of a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Relative to the project, or absolute for one outside of it.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
    pub existed: bool,
    /// Permission bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// Where its bytes are, if it existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

/// The file: the manifest as it was written, and its seal.
#[derive(Serialize, Deserialize)]
struct Sealed {
    seal: String,
    manifest: Box<RawValue>,
}

/// Writes a manifest under a new id; answers that and the bytes it took.
pub(super) fn create(
    folder: &Path,
    mut manifest: Manifest,
    seal: &Seal,
    unsynced: &mut Unsynced,
) -> io::Result<(String, u64)> {
    // It is shown. The action and the files are given back as they were.
    redact_string(&mut manifest.title);
    loop {
        manifest.id = new_id(manifest.time)?;
        let raw = serde_json::value::to_raw_value(&manifest)?;
        let sealed = Sealed {
            seal: seal.of(raw.get()),
            manifest: raw,
        };
        let bytes = serde_json::to_vec(&sealed)?;
        let mut beside = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempfile_in(folder)?;
        beside.write_all(&bytes)?;
        match beside.persist_noclobber(path(folder, &manifest.id)) {
            Ok(file) => {
                // As with the blobs: half a manifest cannot be read, and the change that it was made for has not
                // begun.
                unsynced.add(file)?;
                return Ok((manifest.id, bytes.len() as u64));
            }
            // Another server's, with the same random part: another one then.
            Err(it) if it.error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(it) => return Err(it.error),
        }
    }
}

/// Reads a manifest, and says whether its seal is ours.
pub(super) fn read(folder: &Path, id: &str, seal: &Seal) -> io::Result<Manifest> {
    let (mut manifest, sealed) = parse(folder, id)?;
    manifest.is_ours = seal.is_on(sealed.manifest.get(), &sealed.seal);
    Ok(manifest)
}

/// Reads a manifest, whoever sealed it.
pub(super) fn unsealed(folder: &Path, id: &str) -> io::Result<Manifest> {
    parse(folder, id).map(|(manifest, _)| manifest)
}

fn parse(folder: &Path, id: &str) -> io::Result<(Manifest, Sealed)> {
    let bytes = regular::read_capped(&path(folder, id), MAX_BYTES)?
        .ok_or_else(|| io::Error::other("its manifest is too large"))?;
    let sealed: Sealed = serde_json::from_slice(&bytes)?;
    let manifest: Manifest = serde_json::from_str(sealed.manifest.get())?;
    if manifest.v > VERSION {
        let kind = io::ErrorKind::Unsupported;
        return Err(io::Error::new(kind, "a newer Undine wrote it"));
    }
    if manifest.id != id {
        return Err(io::Error::other("its manifest has another id"));
    }
    Ok((manifest, sealed))
}

pub(super) fn path(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.json"))
}

/// The key that says that we wrote something. It lies in the data directory, for its owner only.
pub(super) struct Seal(Hmac<Sha256>);

impl Seal {
    const KEY: usize = 32;

    /// The data directory's own; made if there is none yet.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join("key");
        let key = match regular::read_capped(&path, Self::KEY as u64) {
            Ok(key) => key.filter(|it| it.len() == Self::KEY),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Some(Self::make(folder, &path)?)
            }
            Err(error) => return Err(error),
        };
        let key = key.ok_or_else(|| io::Error::other(format!("{} is no key", path.display())))?;
        let hmac = Hmac::new_from_slice(&key).map_err(other)?;
        Ok(Self(hmac))
    }

    fn make(folder: &Path, path: &Path) -> io::Result<Vec<u8>> {
        let mut key = [0; Self::KEY];
        getrandom::getrandom(&mut key).map_err(other)?;
        let mut beside = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempfile_in(folder)?;
        beside.write_all(&key)?;
        beside.as_file().sync_data()?;
        match beside.persist_noclobber(path) {
            Ok(_) => Ok(key.to_vec()),
            // Another server was faster.
            Err(it) if it.error.kind() == io::ErrorKind::AlreadyExists => std::fs::read(path),
            Err(it) => Err(it.error),
        }
    }

    fn of(&self, text: &str) -> String {
        hex(&self.0.clone().chain_update(text).finalize().into_bytes())
    }

    fn is_on(&self, text: &str, seal: &str) -> bool {
        self.of(text) == seal
    }
}

/// `YYYYMMDD-HHMMSSmmm-xxxxxxxx`: sorted by time, in UTC, and random where that is the same (BUG-24).
fn new_id(ns: u64) -> io::Result<String> {
    let mut random = [0; 4];
    getrandom::getrandom(&mut random).map_err(other)?;
    Ok(format!("{}-{}", time_of(ns), hex(&random)))
}

/// The part of an id that says when it was made; as text, a later one is greater.
pub(super) fn time_of(ns: u64) -> String {
    let time = jiff::Timestamp::from_nanosecond(i128::from(ns)).unwrap_or_default();
    let utc = time.to_zoned(jiff::tz::TimeZone::UTC);
    format!(
        "{:04}{:02}{:02}-{:02}{:02}{:02}{:03}",
        utc.year(),
        utc.month(),
        utc.day(),
        utc.hour(),
        utc.minute(),
        utc.second(),
        utc.millisecond()
    )
}

pub(super) fn is_id(text: &str) -> bool {
    text.len() == 27
        && text.bytes().enumerate().all(|(at, it)| match at {
            8 | 18 => it == b'-',
            0..18 => it.is_ascii_digit(),
            _ => matches!(it, b'0'..=b'9' | b'a'..=b'f'),
        })
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for it in bytes {
        // Writing to a text never fails.
        let _ = write!(text, "{it:02x}");
    }
    text
}

/// Neither of the two is an error of the standard library's kind.
fn other(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

/// A path as text where it is one; else its bytes, in hex, behind a NUL, which no path has.
mod path_text {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => to.serialize_str(text),
            None => to.serialize_str(&format!("\0{}", super::hex(path.as_os_str().as_bytes()))),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(from)?;
        let Some(digits) = text.strip_prefix('\0') else {
            return Ok(PathBuf::from(text));
        };
        let bad = || de::Error::custom("a path is not written as one");
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        let bytes = pairs.iter().map(|it| {
            let pair = std::str::from_utf8(it).ok()?;
            u8::from_str_radix(pair, 16).ok()
        });
        let bytes: Option<Vec<u8>> = bytes.collect();
        let bytes = bytes.filter(|_| rest.is_empty()).ok_or_else(bad)?;
        Ok(PathBuf::from(OsString::from_vec(bytes)))
    }
}
