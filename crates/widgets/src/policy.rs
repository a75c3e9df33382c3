//! Where a widget may load from and whom it may reach, as browsers are told.

/// What a widget declared, in the words of its server.
#[derive(Clone, Copy, Debug, Default)]
pub struct Declared<'a> {
    pub connect: &'a [String],
    pub resource: &'a [String],
    pub frame: &'a [String],
    pub base_uri: &'a [String],
}

/// A policy, and what of the declared is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub header: String,
    pub dropped: Vec<String>,
}

/// The policy for a document whose own files are at `own`, and which `ancestor` alone may frame. Without
/// a declaration it reaches nobody.
pub fn policy(own: &str, declared: Option<Declared<'_>>, ancestor: &str) -> Policy {
    let wanted = declared.unwrap_or_default();
    let (loads, connects) = (listed(wanted.resource), listed(wanted.connect));
    let (frames, bases) = (listed(wanted.frame), listed(wanted.base_uri));
    let fonts = if declared.is_some() { format!("font-src {own}{loads}; ") } else { String::new() };
    let header = format!(
        "default-src 'none'; script-src {own} 'unsafe-inline'{loads}; \
         style-src {own} 'unsafe-inline'{loads}; img-src {own} data:{loads}; {fonts}\
         media-src {own} data:{loads}; connect-src{}; frame-src{}; base-uri{}; object-src 'none'; \
         form-action 'none'; frame-ancestors {ancestor}; sandbox allow-scripts allow-forms",
        or(connects, "'none'"),
        or(frames, "'none'"),
        or(bases, own),
    );
    let all = [wanted.connect, wanted.resource, wanted.frame, wanted.base_uri];
    let dropped = all.into_iter().flatten().filter(|source| !is_source(source)).cloned().collect();
    Policy { header, dropped }
}

fn or(list: String, otherwise: &str) -> String {
    if list.is_empty() { format!(" {otherwise}") } else { list }
}

/// Those that name a host and nothing else, each with a blank in front.
fn listed(sources: &[String]) -> String {
    let good = sources.iter().filter(|source| is_source(source));
    good.fold(String::new(), |list, source| list + " " + source)
}

/// Whether it names a host. Whatever could begin another directive, or stands for more than hosts,
/// does not.
pub fn is_source(text: &str) -> bool {
    let schemes = ["https://", "http://", "wss://", "ws://"];
    let place = schemes.iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
    let host = place.split(['/', ':']).next().unwrap_or_default();
    let named = host.strip_prefix("*.").unwrap_or(host);
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"-._~:/*%".contains(&it);
    let is_host = named == "localhost" || (named.contains('.') && !named.contains('*'));
    is_host && place.bytes().all(plain) && !place.contains("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn without_a_declaration_nothing_is_reached() {
        let Policy { header, dropped } = policy("h:1/f/t/", None, "http://h:0");
        assert_eq!(
            header,
            "default-src 'none'; script-src h:1/f/t/ 'unsafe-inline'; style-src h:1/f/t/ \
             'unsafe-inline'; img-src h:1/f/t/ data:; media-src h:1/f/t/ data:; connect-src 'none'; \
             frame-src 'none'; base-uri h:1/f/t/; object-src 'none'; form-action 'none'; \
             frame-ancestors http://h:0; sandbox allow-scripts allow-forms"
        );
        assert_eq!(dropped, texts(&[]));
    }

    #[test]
    fn each_list_reaches_its_directives_and_no_others() {
        let here = texts(&["https://*.x.example"]);
        let with = |declared| policy("o", Some(declared), "a").header;
        let bare = with(Declared::default());
        let named = |header: &str| -> Vec<String> {
            let parts = header.split("; ").filter(|part| part.contains("x.example"));
            parts.map(|part| part.split(' ').next().unwrap().to_owned()).collect()
        };
        assert_eq!(named(&bare), texts(&[]));
        let resource = with(Declared { resource: &here, ..Declared::default() });
        let loading = ["script-src", "style-src", "img-src", "font-src", "media-src"];
        assert_eq!(named(&resource), texts(&loading));
        let connect = with(Declared { connect: &here, ..Declared::default() });
        assert_eq!(named(&connect), texts(&["connect-src"]));
        let frame = with(Declared { frame: &here, ..Declared::default() });
        assert_eq!(named(&frame), texts(&["frame-src"]));
        let base = with(Declared { base_uri: &here, ..Declared::default() });
        assert_eq!(named(&base), texts(&["base-uri"]));
    }

    #[test]
    fn whatever_is_no_host_is_dropped_and_said_to_be() {
        let good = [
            "https://a.example",
            "wss://*.b.example:8443/x",
            "cdn.example.com",
            "http://localhost:3",
        ];
        let bad = [
            "*",
            "https:",
            "https://",
            "data:",
            "blob:",
            "'unsafe-eval'",
            "https://a.com; script-src *",
            "https://a.example script-src",
            "https://a.example\r\nset-cookie: a",
            "https://a.example,https://b.example",
            "https://*",
            "https://*.*",
            "javascript://a.example",
            "",
        ];
        let both = texts(&[&good[..], &bad[..]].concat());
        let declared = Declared { connect: &both, ..Declared::default() };
        let Policy { header, dropped } = policy("o", Some(declared), "a");
        assert_eq!(dropped, texts(&bad));
        let expected = format!("connect-src {}; ", good.join(" "));
        assert!(header.contains(&expected), "{header}");
    }
}
