//! What a person sends: the blocks of a prompt as a text and its pictures.

use crate::session_host::Said;
use crate::store::Pictures;
use crate::store::pictures::{MAX_PICTURE, kind_of};
use base64::{Engine, engine::general_purpose::STANDARD};
use engine::mentions;
use engine::provider::Image;
use protocol::acp::{self, ContentBlock};

impl Said {
    /// The error is for the person.
    pub fn read(blocks: &[ContentBlock]) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut pictures = Vec::new();
        for block in blocks {
            match block {
                ContentBlock::Text(it) => parts.push(it.text.clone()),
                ContentBlock::Image(it) => {
                    let name = it.uri.as_deref().and_then(|it| it.rsplit('/').next());
                    pictures.push(picture(name.unwrap_or_default(), &it.data)?);
                }
                ContentBlock::ResourceLink(it) => parts.push(format!("See {}", it.uri)),
                ContentBlock::Resource(it) => match &it.resource {
                    acp::EmbeddedResourceResource::TextResourceContents(it) => {
                        parts.push(mentions::quoted(&it.uri, &it.text));
                    }
                    other => {
                        tracing::warn!(?other, "an embedded resource that is not text was left out")
                    }
                },
                other => tracing::warn!(?other, "a block of the prompt was left out"),
            }
        }
        let text = parts.join("\n\n");
        Ok(Self { text, pictures })
    }
}

/// A picture of the person's. Its first bytes tell what it is, whatever the editor says (spec 18.1).
fn picture(name: &str, data: &str) -> Result<Image, String> {
    let bytes = STANDARD
        .decode(data)
        .map_err(|_| "The picture is not base64; attach it again.".to_owned())?;
    let n_bytes = bytes.len() as u64;
    if n_bytes > MAX_PICTURE {
        return Err(format!(
            "The picture has {n_bytes} bytes, and a model looks at no more than {MAX_PICTURE}; make it smaller."
        ));
    }
    let kind = kind_of(&bytes).ok_or(
        "The picture is none that models look at; attach a PNG, JPEG, GIF or WebP picture.",
    )?;
    Ok(Pictures::image(name.to_owned(), kind, &bytes))
}
