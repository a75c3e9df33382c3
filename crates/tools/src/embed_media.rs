//! Shows media of a known site in the conversation.

mod provider;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use futures::{FutureExt as _, future::BoxFuture};
use kernel::{
    host::Host,
    outputs::{self, Embed, Output},
    toolbox::{Call, Risk},
};
use reqwest::Url;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    agents::House,
    typed::{Adapter, Typed, shorten},
    web_fetch::Fetcher,
};
use provider::{Media, recognise};

/// How long a site may think about what something is called.
const PATIENCE: Duration = Duration::from_secs(5);
const MOST_BYTES: usize = 64 << 10;
const TITLE_CHARS: usize = 200;

/// How a text is had from the web.
type Asking = Arc<dyn Fn(Url) -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// Gives the house the tool.
pub fn add(host: &Arc<Host>, fetcher: Arc<Fetcher>) {
    let house = House(Arc::downgrade(host));
    let asking: Asking = Arc::new(move |url| {
        let fetcher = fetcher.clone();
        async move { fetcher.text(url, MOST_BYTES).await }.boxed()
    });
    host.ports.tools.add(Adapter::new(EmbedMedia { house, asking }));
}

/// What plays the media at this address, if it can be embedded.
pub fn player(url: &str) -> Option<String> {
    recognise(url).map(|media| media.player)
}

/// Shows a video, a piece of music or a post in the conversation, where the person can play it. Knows
/// `YouTube`, `SoundCloud`, `Vimeo`, `Spotify` and X (Twitter).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The address of what is to be shown, as a browser has it.
    url: String,
}

struct EmbedMedia {
    house: House,
    asking: Asking,
}

impl Typed for EmbedMedia {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "embed_media";
    // It asks five known sites for a title, and changes nothing but what the person sees.
    const RISK: Risk = Risk::Reads;

    fn title(&self, input: &Input) -> String {
        format!("Embedding {}", shorten(&input.url, 100))
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        let media = recognise(&input.url).ok_or_else(|| {
            "this address cannot be embedded; supported are a YouTube or Vimeo video, a SoundCloud \
             track, a Spotify track, album, playlist, episode or show, and a post on X (Twitter)"
                .to_owned()
        })?;
        let told = tokio::time::timeout(PATIENCE, self.ask(&media)).await;
        // Whoever cannot be asked shows it all the same.
        let told = told.ok().and_then(Result::ok).unwrap_or_default();
        let host = self.house.host()?;
        let output = output(&host, &call, &media, &told);
        let failed = |error: String| format!("Error embedding media: {error}");
        host.outputs.keep(&output).await.map_err(|error| failed(error.to_string()))?;
        let (name, title) = (media.provider.name(), told.title(&media));
        let embed =
            Embed { output: output.id.clone(), provider: name.to_owned(), title: title.clone() };
        match call.session.show(embed).await {
            Ok(Ok(())) => (),
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(error) => return Err(failed(error.to_string())),
        }
        let by = told.author.map(|author| format!(" by {author}")).unwrap_or_default();
        Ok(format!(
            "[output:{}] Embedded from {name}: {title}{by}. It is shown in the conversation; \
             whether it plays cannot be seen from here.",
            output.id
        ))
    }
}

/// What a site says of something of its own. Its markup is not looked at.
#[derive(Debug, Default)]
struct Told {
    title: Option<String>,
    author: Option<String>,
    thumbnail: Option<String>,
}

impl Told {
    fn title(&self, media: &Media) -> String {
        let otherwise = || format!("{} {}", media.provider.name(), media.kind);
        self.title.clone().unwrap_or_else(otherwise)
    }
}

impl EmbedMedia {
    async fn ask(&self, media: &Media) -> Result<Told, String> {
        let mut url = Url::parse(media.provider.teller()).map_err(|error| error.to_string())?;
        url.query_pairs_mut().append_pair("url", &media.url);
        let text = (self.asking)(url).await?;
        let told: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let said = |name: &str| {
            let text = told.get(name)?.as_str()?.trim();
            let plain: String = text.chars().filter(|it| !it.is_control()).collect();
            (!plain.is_empty()).then(|| shorten(&plain, TITLE_CHARS))
        };
        let is_address = |it: &String| it.starts_with("https://");
        let thumbnail = told.get("thumbnail_url").and_then(Value::as_str).map(str::to_owned);
        Ok(Told {
            title: said("title"),
            author: said("author_name"),
            thumbnail: thumbnail.filter(is_address),
        })
    }
}

fn output(host: &Host, call: &Call, media: &Media, told: &Told) -> Output {
    let clock = host.ports.clock.as_ref();
    let created_at = clock.now();
    let Media { provider, url, player, .. } = media;
    let title = told.title(media);
    let metadata = json!({
        "type": "embed",
        "provider": provider.name(),
        "providerKey": provider.key(),
        "title": title,
        "author": told.author,
        "url": url,
        "thumbnailUrl": told.thumbnail,
        "playerUrl": player,
        "createdAt": format!("{created_at:.3}"),
        "sessionCwd": call.cwd,
    });
    let metadata = metadata.as_object().cloned().unwrap_or_default();
    let data = format!(
        "<iframe src=\"{}\" title=\"{}\" width=\"560\" height=\"315\" loading=\"lazy\" \
         allow=\"encrypted-media; fullscreen; picture-in-picture\"></iframe>",
        escaped(player),
        escaped(&title)
    );
    let (id, session) = (outputs::name(clock), call.session.id());
    Output { id, session, data, binary: false, metadata, created_at }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
