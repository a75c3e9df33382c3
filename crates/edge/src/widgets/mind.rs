//! What a view wants the model to know, as it is kept: its pictures in files, each once.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use kernel::{
    update::Attachment,
    views::fact::{PICTURE, Remembered, WidgetFact, is_picture},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use widgets::{ModelContext, Trouble};

use super::context::House;

/// So many bytes of pictures are kept of one view while it is shown: nobody is asked about them.
const MOST: usize = 32 << 20;

/// What the model knows of a view.
#[derive(Default)]
pub struct Mind {
    known: Option<Remembered>,
    /// What its pictures take up.
    bytes: usize,
}

impl Mind {
    pub fn new(known: Option<Remembered>) -> Self {
        Self { known, bytes: 0 }
    }

    /// A picture that is there already.
    fn find(&self, digest: &str) -> Option<Attachment> {
        let known = self.known.as_ref()?;
        let mut blocks = known.content.iter().flatten().filter(|block| is_picture(block));
        let place = blocks.position(|block| block.get(PICTURE).is_some_and(|it| it == digest))?;
        known.pictures.get(place).cloned()
    }
}

impl House {
    /// One after the other, in the order in which they were told: the last must be the one that stays.
    pub(super) async fn keep_in_mind(&self, context: ModelContext) -> Result<(), Trouble> {
        let mut mind = self.mind.lock().await;
        let ModelContext { version, content, structured } = context;
        let mut pictures = Vec::new();
        let content = match content {
            None => None,
            Some(blocks) => Some(self.filed(&mut mind, blocks, &mut pictures).await?),
        };
        let same = |it: &Remembered| (&it.content, &it.structured) == (&content, &structured);
        if mind.known.as_ref().is_some_and(same) {
            return Ok(());
        }
        let (server, tool) = (self.server.clone(), self.tool.clone());
        let call = String::new();
        let memory = Remembered { call, server, tool, version, content, structured, pictures };
        let noted = self.scribe.note(WidgetFact::Remembered(memory.clone())).await;
        noted.map_err(Trouble::Other)?;
        mind.known = Some(memory);
        Ok(())
    }

    /// The same blocks, with the digests of pictures in the place of their bytes.
    async fn filed(
        &self,
        mind: &mut Mind,
        blocks: Vec<Value>,
        pictures: &mut Vec<Attachment>,
    ) -> Result<Vec<Value>, Trouble> {
        let mut filed = Vec::with_capacity(blocks.len());
        for block in blocks {
            let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
            if text("type") != "image" {
                filed.push(block);
                continue;
            }
            let wrong = || Trouble::Failed("the data of a picture is not base64".into());
            let bytes = BASE64_STANDARD.decode(text("data")).map_err(|_| wrong())?;
            let (mime, digest) = (text("mimeType"), hex(&Sha256::digest(&bytes)));
            filed.push(json!({ "type": "image", "mimeType": mime, PICTURE: digest }));
            let known = mind.find(&digest);
            pictures.push(match known {
                Some(picture) => picture,
                None => self.kept_picture(mind, mime, bytes, pictures.len() + 1).await?,
            });
        }
        Ok(filed)
    }

    async fn kept_picture(
        &self,
        mind: &mut Mind,
        mime: &str,
        bytes: Vec<u8>,
        number: usize,
    ) -> Result<Attachment, Trouble> {
        if mind.bytes + bytes.len() > MOST {
            let why = format!("a view may tell {MOST} bytes of pictures while it is shown");
            return Err(Trouble::Failed(why));
        }
        mind.bytes += bytes.len();
        let extension = mime.strip_prefix("image/").unwrap_or("img");
        let kept = self.host.ports.attic.keep(self.session, extension, bytes).await;
        let path = kept.map_err(|error| Trouble::Other(error.to_string()))?;
        let name = format!("picture-{number}.{extension}");
        Ok(Attachment { path, mime: mime.to_owned(), name })
    }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::with_capacity(64), |text, byte| text + &format!("{byte:02x}"))
}
