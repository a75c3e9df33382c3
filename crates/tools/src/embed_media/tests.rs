//! Media shown in a conversation, with sites that answer as the test says.

use std::sync::Mutex;

use futures::future;
use kernel::{
    toolbox::ToolError,
    update::{Fact, Seq},
};

use super::*;
use crate::agents::tests::Home;

const URL: &str = "https://youtu.be/dQw4w9WgXcQ";

async fn home(asking: Asking) -> Home {
    let home = Home::new([]).await;
    let house = House(Arc::downgrade(&home.host));
    home.host.ports.tools.add(Adapter::new(EmbedMedia { house, asking }));
    home
}

fn answering(text: &'static str) -> (Asking, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = asked.clone();
    let asking: Asking = Arc::new(move |url| {
        noted.lock().unwrap().push(url.to_string());
        future::ready(Ok(text.to_owned())).boxed()
    });
    (asking, asked)
}

/// What the log says was shown last, with what is kept of it.
async fn shown(home: &Home) -> (Embed, Output) {
    let log = home.host.ports.log.read(home.session, Seq(0), 100).await.unwrap();
    let embed = log.into_iter().rev().find_map(|entry| match entry.fact {
        Fact::Embedded(embed) => Some(embed),
        _ => None,
    });
    let embed = embed.unwrap();
    let output = home.host.outputs.get(&embed.output).await.unwrap().unwrap();
    (embed, output)
}

#[tokio::test]
async fn what_a_site_says_of_it_is_kept_and_its_markup_is_not() {
    let (asking, asked) = answering(
        r#"{"title":"A \"song\" <b>","author_name":"Some\u0000one","html":"<script>evil()</script>",
            "thumbnail_url":"https://i.ytimg.com/x.jpg"}"#,
    );
    let home = home(asking).await;
    let said = home.text("embed_media", json!({ "url": URL })).await.unwrap();
    let (embed, output) = shown(&home).await;
    let id = output.id.clone();
    let begin = format!("[output:{id}] Embedded from YouTube: A \"song\" <b> by Someone.");
    assert!(said.starts_with(&begin), "{said}");
    let teller = "https://www.youtube.com/oembed?format=json&url=https%3A%2F%2Fwww.youtube.com%2F\
                  watch%3Fv%3DdQw4w9WgXcQ";
    assert_eq!(*asked.lock().unwrap(), [teller]);
    let title = "A \"song\" <b>".to_owned();
    assert_eq!(embed, Embed { output: id, provider: "YouTube".into(), title });
    assert_eq!(output.session, home.session);
    let known = |name: &str| output.metadata[name].as_str().unwrap().to_owned();
    assert_eq!(known("type"), "embed");
    assert_eq!(known("providerKey"), "youtube");
    assert_eq!(known("url"), "https://www.youtube.com/watch?v=dQw4w9WgXcQ");
    assert_eq!(known("thumbnailUrl"), "https://i.ytimg.com/x.jpg");
    assert_eq!(known("playerUrl"), "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ");
    assert!(output.data.contains(r#"title="A &quot;song&quot; &lt;b&gt;""#), "{}", output.data);
    assert!(!output.data.contains("script"), "{}", output.data);
}

#[tokio::test(start_paused = true)]
async fn a_site_that_cannot_be_asked_does_not_keep_it_from_being_shown() {
    let hanging: Asking = Arc::new(|_| future::pending().boxed());
    let failing: Asking = Arc::new(|_| future::ready(Err("no network".to_owned())).boxed());
    for asking in [hanging, failing, answering("<html>").0, answering("[1]").0] {
        let home = home(asking).await;
        let said = home.text("embed_media", json!({ "url": URL })).await.unwrap();
        assert!(said.contains("Embedded from YouTube: YouTube video. "), "{said}");
        assert_eq!(shown(&home).await.0.title, "YouTube video");
    }
}

#[tokio::test]
async fn other_addresses_are_refused_with_those_that_are_not() {
    let (asking, asked) = answering("{}");
    let home = home(asking).await;
    let refused =
        home.call("embed_media", json!({ "url": "https://youtube.com.evil.test/" })).await;
    let Err(ToolError::Failed(text)) = refused else { panic!("{refused:?}") };
    assert!(text.contains("YouTube") && text.contains("Spotify"), "{text}");
    assert!(asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_was_shown_goes_with_its_session() {
    let home = home(answering("{}").0).await;
    home.text("embed_media", json!({ "url": URL })).await.unwrap();
    let (_, output) = shown(&home).await;
    let session = home.host.create(home.folder.path(), "test", "").await.unwrap();
    let other = Output { id: "out_1_other0".into(), session, ..output.clone() };
    home.host.outputs.keep(&other).await.unwrap();
    home.host.delete(home.session).await.unwrap();
    assert_eq!(home.host.outputs.get(&output.id).await.unwrap(), None);
    assert_eq!(home.host.outputs.get(&other.id).await.unwrap(), Some(other));
}
