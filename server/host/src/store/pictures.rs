//! Pictures that tools and the person gave, beside a session's log: each by its hash, so once, and read back only where the session
//! goes on to send them.

use crate::regular;
use base64::{Engine, engine::general_purpose::STANDARD};
use engine::provider::Image;
use protocol::tool::Picture;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most bytes of a picture: 5 MiB once it is base64 (spec 18.1).
pub const MAX_PICTURE: u64 = 3_932_160;

/// The media type of a picture, told by its first bytes (spec 18.1). None: they are of no picture that models look at.
pub fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'\x89', b'P', b'N', b'G', b'\r', b'\n', b'\x1a', b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [..] if bytes.starts_with(b"RIFF") && bytes[4..].get(4..8) == Some(b"WEBP") => {
            Some("image/webp")
        }
        [..] => None,
    }
}

/// The pictures of a folder of logs.
#[derive(Clone, Debug)]
pub struct Pictures {
    folder: PathBuf,
}

impl Pictures {
    /// Those of a log and its neighbours.
    pub fn beside(log: &Path) -> Self {
        Self {
            folder: log.with_file_name("pictures"),
        }
    }

    /// Names a picture's bytes and makes them ready to be sent.
    pub fn image(name: String, media_type: &str, bytes: &[u8]) -> Image {
        let picture = Picture {
            name,
            media_type: media_type.to_owned(),
            bytes: bytes.len() as u64,
            sha256: hash(bytes),
        };
        Image {
            picture,
            data: STANDARD.encode(bytes).into(),
        }
    }

    /// Keeps a picture. A cut-off writing leaves nothing under its name.
    pub fn save(&self, image: &Image) -> io::Result<()> {
        let path = self
            .path(&image.picture)
            .ok_or(io::ErrorKind::InvalidInput)?;
        if path.exists() {
            return Ok(());
        }
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        let bytes = STANDARD.decode(&*image.data).map_err(io::Error::other)?;
        let mut beside = tempfile::NamedTempFile::new_in(&self.folder)?;
        beside.write_all(&bytes)?;
        beside.persist(&path)?;
        Ok(())
    }

    /// A picture's bytes in base64. `None`: they are gone, or are others than the log says.
    pub fn load(&self, picture: &Picture) -> Option<Arc<str>> {
        let bytes = regular::read_capped(&self.path(picture)?, picture.bytes).ok()??;
        (hash(&bytes) == picture.sha256).then(|| STANDARD.encode(bytes).into())
    }

    /// Removes a picture by its hash.
    pub fn remove(&self, hash: &str) -> io::Result<()> {
        let path = self.path_of(hash).ok_or(io::ErrorKind::InvalidInput)?;
        fs::remove_file(path)
    }

    fn path(&self, picture: &Picture) -> Option<PathBuf> {
        self.path_of(&picture.sha256)
    }

    /// A log may come from anybody, so its hash is no path before it is seen to be a hash.
    fn path_of(&self, hash: &str) -> Option<PathBuf> {
        let is_hash = hash.len() == 64 && hash.bytes().all(|it| it.is_ascii_hexdigit());
        is_hash.then(|| self.folder.join(hash))
    }
}

fn hash(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|it| format!("{it:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_loaded_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let pictures = Pictures::beside(&folder.path().join("x.jsonl"));
        let image = Pictures::image("a.png".to_owned(), "image/png", b"\x89PNG and more");
        assert_eq!(pictures.load(&image.picture), None);
        pictures.save(&image).unwrap();
        pictures.save(&image).unwrap();
        assert_eq!(pictures.load(&image.picture), Some(image.data.clone()));

        let path = folder.path().join("pictures").join(&image.picture.sha256);
        fs::write(&path, b"\x89PNG and less").unwrap();
        assert_eq!(pictures.load(&image.picture), None);
        fs::write(folder.path().join("secret"), b"s").unwrap();
        let elsewhere = Picture {
            sha256: "../secret".to_owned(),
            bytes: 1,
            ..image.picture
        };
        assert_eq!(pictures.load(&elsewhere), None);
    }
}
