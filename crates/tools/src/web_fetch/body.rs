//! What a page holds, as text that can be read.

use encoding_rs::{Encoding, UTF_8};

use super::depth::depth;

/// As wide as lines are made.
const WIDTH: usize = 100;
/// A page that is nested more deeply than anything written for people is shown as it is.
const DEEPEST: usize = 1000;

pub struct Kind {
    pub mime: String,
    encoding: &'static Encoding,
}

impl Kind {
    /// What a `Content-Type` says; an error if that is not text.
    pub fn read(header: Option<&str>) -> Result<Self, String> {
        let mut parts = header.unwrap_or("text/plain").split(';').map(str::trim);
        let mime = parts.next().unwrap_or_default().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
        });
        let encoding = charset.and_then(|name| Encoding::for_label(name.as_bytes()));
        if !is_text(&mime) {
            let mime: String = mime.chars().take(80).collect();
            return Err(format!("it is `{mime}`, and only text can be read"));
        }
        Ok(Self { mime, encoding: encoding.unwrap_or(UTF_8) })
    }

    pub fn text(&self, bytes: &[u8], raw: bool) -> String {
        let (text, ..) = self.encoding.decode(bytes);
        if raw || !matches!(self.mime.as_str(), "text/html" | "application/xhtml+xml") {
            return text.into_owned();
        }
        if depth(&text) > DEEPEST {
            return format!("[nested too deeply to be read as a page; this is its source]\n{text}");
        }
        let page = html2text::config::plain().link_footnotes(true).no_table_borders();
        let page = page.allow_width_overflow().string_from_read(text.as_bytes(), WIDTH);
        page.unwrap_or_else(|_| text.into_owned())
    }
}

fn is_text(mime: &str) -> bool {
    let Some((family, kind)) = mime.split_once('/') else { return false };
    let known =
        ["json", "xml", "javascript", "ecmascript", "yaml", "x-yaml", "toml", "x-sh", "sql"];
    let based_on = |suffix| kind.ends_with(suffix);
    family == "text"
        || family == "application"
            && (known.contains(&kind) || ["+json", "+xml", "x-ndjson"].into_iter().any(based_on))
        || mime == "image/svg+xml"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_in_its_own_letters() {
        let latin = Kind::read(Some("text/plain; charset=\"ISO-8859-1\"")).unwrap();
        assert_eq!(latin.text(b"gr\xfc\xdfe", false), "grüße");
        assert_eq!(Kind::read(None).unwrap().text("grüße".as_bytes(), false), "grüße");
        for mime in ["text/css", "application/json", "application/ld+json", "image/svg+xml"] {
            assert!(Kind::read(Some(mime)).is_ok(), "{mime}");
        }
        for mime in ["application/pdf", "image/png", "application/octet-stream", "nonsense", ""] {
            let refused = format!("it is `{mime}`, and only text can be read");
            assert_eq!(Kind::read(Some(mime)).err(), Some(refused));
        }
    }

    #[test]
    fn a_page_becomes_what_a_person_reads() {
        let html = Kind::read(Some("text/html; charset=utf-8")).unwrap();
        let page = "<html><head><title>t</title><script>alert(1)</script><style>x{}</style></head>\
                    <body><h1>Hello</h1><p>See <a href='/there'>there</a>.</p></body></html>";
        assert_eq!(
            html.text(page.as_bytes(), false),
            "# Hello\n\nSee [there][1].\n\n[1]: /there\n"
        );
        assert_eq!(html.text(page.as_bytes(), true), page);
    }

    /// Nobody's page may bring the server down, or keep it busy.
    #[test]
    fn a_page_may_be_as_deep_as_it_likes() {
        let html = Kind::read(Some("text/html")).unwrap();
        for tag in ["div", "b", "ul><li", "table><tr><td", "blockquote", "pre", "div></x"] {
            let page = |times| format!("<{tag}>").repeat(times) + "Q";
            let read = html.text(page(DEEPEST / 2).as_bytes(), false);
            assert!(read.contains('Q') && !read.starts_with("[nested"), "{tag}");
            let source = html.text(page(200_000).as_bytes(), false);
            assert!(source.starts_with("[nested too deeply") && source.ends_with('Q'), "{tag}");
        }
    }
}
