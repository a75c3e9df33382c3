//! The sites whose media can be shown, and what an address there names.

use reqwest::Url;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    YouTube,
    SoundCloud,
    Vimeo,
    Spotify,
    Twitter,
}

/// What is to be shown: made of the parts of an address that were checked, and of nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    pub provider: Provider,
    /// What it is: `video`, `track`.
    pub kind: &'static str,
    /// Where it is looked at.
    pub url: String,
    /// What plays it.
    pub player: String,
}

impl Provider {
    /// For a person.
    pub fn name(self) -> &'static str {
        match self {
            Self::YouTube => "YouTube",
            Self::SoundCloud => "SoundCloud",
            Self::Vimeo => "Vimeo",
            Self::Spotify => "Spotify",
            Self::Twitter => "X",
        }
    }

    /// For a program.
    pub fn key(self) -> &'static str {
        match self {
            Self::YouTube => "youtube",
            Self::SoundCloud => "soundcloud",
            Self::Vimeo => "vimeo",
            Self::Spotify => "spotify",
            Self::Twitter => "twitter",
        }
    }

    /// Where it tells what something is called.
    pub fn teller(self) -> &'static str {
        match self {
            Self::YouTube => "https://www.youtube.com/oembed?format=json",
            Self::SoundCloud => "https://soundcloud.com/oembed?format=json",
            Self::Vimeo => "https://vimeo.com/api/oembed.json",
            Self::Spotify => "https://open.spotify.com/oembed",
            Self::Twitter => "https://publish.twitter.com/oembed?omit_script=1",
        }
    }
}

/// What an address names, if one of the sites has it.
pub fn recognise(text: &str) -> Option<Media> {
    let url = Url::parse(text.trim()).ok()?;
    let plain = url.username().is_empty() && url.password().is_none() && url.port().is_none();
    if !plain || !matches!(url.scheme(), "https" | "http") {
        return None;
    }
    let parts: Vec<&str> = url.path().split('/').filter(|it| !it.is_empty()).collect();
    match url.host_str()? {
        "youtube.com" | "www.youtube.com" | "m.youtube.com" | "music.youtube.com" => {
            let named = || url.query_pairs().find(|(name, _)| name == "v").map(|(_, id)| id.into());
            match parts[..] {
                ["watch"] => youtube(&named().unwrap_or(String::new())),
                ["embed" | "shorts" | "live", id] => youtube(id),
                _ => None,
            }
        }
        "www.youtube-nocookie.com" => match parts[..] {
            ["embed", id] => youtube(id),
            _ => None,
        },
        "youtu.be" => match parts[..] {
            [id] => youtube(id),
            _ => None,
        },
        "vimeo.com" | "www.vimeo.com" => vimeo(parts.last()?),
        "player.vimeo.com" => match parts[..] {
            ["video", id] => vimeo(id),
            _ => None,
        },
        "soundcloud.com" | "www.soundcloud.com" | "m.soundcloud.com" => match parts[..] {
            [user, track] => soundcloud(user, track),
            _ => None,
        },
        "open.spotify.com" => match parts[..] {
            [kind, id] | ["embed", kind, id] => spotify(kind, id),
            [place, kind, id] if place.starts_with("intl-") => spotify(kind, id),
            _ => None,
        },
        "twitter.com" | "www.twitter.com" | "mobile.twitter.com" | "x.com" | "www.x.com" => {
            match parts[..] {
                [user, "status", id] => post(user, id),
                _ => None,
            }
        }
        _ => None,
    }
}

fn youtube(id: &str) -> Option<Media> {
    (id.len() == 11 && is_word(id)).then(|| Media {
        provider: Provider::YouTube,
        kind: "video",
        url: format!("https://www.youtube.com/watch?v={id}"),
        player: format!("https://www.youtube-nocookie.com/embed/{id}"),
    })
}

fn vimeo(id: &str) -> Option<Media> {
    is_number(id).then(|| Media {
        provider: Provider::Vimeo,
        kind: "video",
        url: format!("https://vimeo.com/{id}"),
        player: format!("https://player.vimeo.com/video/{id}"),
    })
}

fn soundcloud(user: &str, track: &str) -> Option<Media> {
    (is_word(user) && is_word(track)).then(|| Media {
        provider: Provider::SoundCloud,
        kind: "track",
        url: format!("https://soundcloud.com/{user}/{track}"),
        player: format!(
            "https://w.soundcloud.com/player/?url=https%3A%2F%2Fsoundcloud.com%2F{user}%2F{track}"
        ),
    })
}

fn spotify(kind: &str, id: &str) -> Option<Media> {
    let kinds = ["track", "album", "playlist", "episode", "show"];
    let kind = kinds.into_iter().find(|it| *it == kind)?;
    let fits = id.len() <= 64 && id.bytes().all(|it| it.is_ascii_alphanumeric());
    fits.then(|| Media {
        provider: Provider::Spotify,
        kind,
        url: format!("https://open.spotify.com/{kind}/{id}"),
        player: format!("https://open.spotify.com/embed/{kind}/{id}"),
    })
}

fn post(user: &str, id: &str) -> Option<Media> {
    (is_word(user) && is_number(id)).then(|| Media {
        provider: Provider::Twitter,
        kind: "post",
        url: format!("https://x.com/{user}/status/{id}"),
        player: format!("https://platform.twitter.com/embed/Tweet.html?id={id}"),
    })
}

fn is_number(text: &str) -> bool {
    (1..=24).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit())
}

fn is_word(text: &str) -> bool {
    let fits = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
    (1..=128).contains(&text.len()) && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_known_by_its_host_and_nothing_that_looks_like_it() {
        let youtube = "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ";
        for (url, player) in [
            ("https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=3", youtube),
            ("http://youtube.com/watch?list=x&v=dQw4w9WgXcQ", youtube),
            ("https://youtu.be/dQw4w9WgXcQ?si=x", youtube),
            ("https://m.youtube.com/shorts/dQw4w9WgXcQ", youtube),
            ("https://www.youtube.com/embed/dQw4w9WgXcQ", youtube),
            ("https://vimeo.com/76979871", "https://player.vimeo.com/video/76979871"),
            ("https://player.vimeo.com/video/76979871", "https://player.vimeo.com/video/76979871"),
            (
                "https://soundcloud.com/some-one/a_song",
                "https://w.soundcloud.com/player/?url=https%3A%2F%2Fsoundcloud.com%2Fsome-one%2Fa_song",
            ),
            (
                "https://open.spotify.com/intl-de/album/4aawyAB9vmqN3uQ7FjRGTy",
                "https://open.spotify.com/embed/album/4aawyAB9vmqN3uQ7FjRGTy",
            ),
            (
                "https://x.com/someone/status/123?s=20",
                "https://platform.twitter.com/embed/Tweet.html?id=123",
            ),
        ] {
            assert_eq!(recognise(url).map(|it| it.player).as_deref(), Some(player), "{url}");
        }
        for url in [
            "https://youtube.com.evil.test/watch?v=dQw4w9WgXcQ",
            "https://evil.test/youtube.com/watch?v=dQw4w9WgXcQ",
            "https://evil.test/?u=https://youtu.be/dQw4w9WgXcQ",
            "https://notyoutube.com/watch?v=dQw4w9WgXcQ",
            "https://youtube.com@evil.test/watch?v=dQw4w9WgXcQ",
            "https://a:b@youtube.com/watch?v=dQw4w9WgXcQ",
            "https://youtube.com:8443/watch?v=dQw4w9WgXcQ",
            "javascript:alert(1)//youtube.com/watch?v=dQw4w9WgXcQ",
            "file://youtube.com/watch?v=dQw4w9WgXcQ",
            "https://youtu.be/dQw4w9WgXcQ%22onload",
            "https://youtu.be/dQw4w9WgXc",
            "https://www.youtube.com/watch",
            "https://vimeo.com/about",
            "https://soundcloud.com/some%2Fone/track",
            "https://soundcloud.com/someone",
            "https://open.spotify.com/user/x",
            "https://x.com/someone/status/12x",
            "https://ｙoutube.com.test/",
            "nonsense",
            "",
        ] {
            assert_eq!(recognise(url), None, "{url}");
        }
    }
}
