//! Puts one tag in front of everything a document of HTML contains, and changes nothing else.

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The document with the tag where its head begins, before whatever could run or load.
pub fn inject(html: &[u8], tag: &str) -> Vec<u8> {
    let (before, after) = html.split_at(place(html));
    [before, tag.as_bytes(), after].concat()
}

/// Behind what may come before the content of a head: a mark of the encoding, comments, the
/// doctype, and the very tags `html` and `head`. Anything else would begin the content.
fn place(html: &[u8]) -> usize {
    let mut at = if html.starts_with(BOM) { BOM.len() } else { 0 };
    // Each may come once, and in this order; a second one would be content.
    let mut expected: &[&[u8]] = &[b"<!doctype", b"<html", b"<head"];
    loop {
        let rest = html.get(at..).unwrap_or_default();
        let blank = rest.iter().take_while(|it| is_blank(**it)).count();
        let rest = rest.get(blank..).unwrap_or_default();
        let length = if let Some(length) = comment(rest) {
            length
        } else if let Some(nth) = expected.iter().position(|name| begins(rest, name)) {
            let length = if expected[nth] == b"<!doctype" { to_bracket(rest) } else { tag(rest) };
            expected = expected.get(nth + 1..).unwrap_or_default();
            // A tag that never ends is no tag: nothing follows that could run.
            match length {
                Some(length) => length,
                None => return at,
            }
        } else {
            return at;
        };
        at += blank + length;
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// Whether a tag of this name begins here, and not one whose name is longer.
fn begins(rest: &[u8], name: &[u8]) -> bool {
    let same = rest.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name));
    // A doctype needs no blank behind it.
    let ends = |byte: &u8| is_blank(*byte) || matches!(byte, b'>' | b'/');
    same && (name.starts_with(b"<!") || rest.get(name.len()).is_some_and(ends))
}

/// How long the comment is that begins here. One that never ends is the rest of the document.
fn comment(rest: &[u8]) -> Option<usize> {
    if rest.starts_with(b"<?") || (rest.starts_with(b"<!") && is_bogus(rest)) {
        return Some(to_bracket(rest).unwrap_or(rest.len()));
    }
    let inner = rest.strip_prefix(b"<!--")?;
    for early in [&b">"[..], b"->"] {
        if inner.starts_with(early) {
            return Some(b"<!--".len() + early.len());
        }
    }
    let ends = |window: &[u8]| window.starts_with(b"-->") || window.starts_with(b"--!>");
    let end = (0..inner.len()).find(|at| ends(&inner[*at..]));
    Some(end.map_or(rest.len(), |end| {
        let length = if inner[end..].starts_with(b"-->") { 3 } else { 4 };
        b"<!--".len() + end + length
    }))
}

/// What begins like a declaration and is none is taken for a comment by every browser.
fn is_bogus(rest: &[u8]) -> bool {
    !rest.starts_with(b"<!--") && !begins(rest, b"<!doctype")
}

fn to_bracket(rest: &[u8]) -> Option<usize> {
    rest.iter().position(|it| *it == b'>').map(|at| at + 1)
}

/// How long the tag is that begins here: a bracket within a quoted value does not end it.
fn tag(rest: &[u8]) -> Option<usize> {
    enum In {
        Names,
        Value,
        Quotes(u8),
        Bare,
    }
    let mut within = In::Names;
    for (at, byte) in rest.iter().enumerate() {
        within = match (within, *byte) {
            (In::Quotes(quote), byte) if byte == quote => In::Names,
            (In::Quotes(quote), _) => In::Quotes(quote),
            (_, b'>') => return Some(at + 1),
            (In::Names, b'=') => In::Value,
            (In::Value, byte) if is_blank(byte) => In::Value,
            (In::Value, quote @ (b'"' | b'\'')) => In::Quotes(quote),
            (In::Bare, byte) if is_blank(byte) => In::Names,
            (In::Value | In::Bare, _) => In::Bare,
            (In::Names, _) => In::Names,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Where the tag goes, shown as `@`.
    fn shown(html: &str) -> String {
        String::from_utf8(inject(html.as_bytes(), "@")).unwrap()
    }

    #[test]
    fn the_tag_comes_before_all_that_could_run() {
        for expected in [
            "@",
            "@hello",
            "@<script>1</script>",
            "@<p>a fragment",
            "<!doctype html>@<title>no head</title>",
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>@\n<meta charset=\"utf-8\">",
            "<html><head>@</head>",
            "<html>@<body><script></script>",
            "<HTML><HEAD class=a>@<script>",
            "<head>@<script>",
            "<head/>@<script>",
            "<!-- <script> --><html><!-- <head> --><head>@<script>",
            "<!--><head>@<script>",
            "<!---><head>@<script>",
            "<!-- a --!><head>@<script>",
            "<!-- never ends <head>@",
            "<?xml version=\"1.0\"?><!doctype html>@<script>",
            "<![CDATA[x]]>@<script>",
            "<html data-a=\"<head>\"><head>@<script>",
            "<html data-a='>' b><head>@<script>",
            "<html a\"b><head>@<script>",
            "<html a = b\"c><head>@<script>",
            "@<html a=\"never ends><head><script>",
            "@<header><head>",
            "<html><head>@<head>",
            "<html>@<html>",
            "<head>@<html>",
            "<!doctype html>@<!doctype html>",
            "<html>@\n text <head>",
            "\u{feff}<!doctype html>@<script>",
            "\u{feff}@<script>",
        ] {
            assert_eq!(shown(&expected.replace('@', "")), expected);
        }
    }

    /// Pieces of which documents are made, and some of which they should not be.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "<!doctype html>",
            "<html>",
            "<html a='",
            "<head",
            "<head>",
            ">",
            "\"",
            "'",
            "=",
            "<!--",
            "-->",
            "--!>",
            "<!",
            "<?",
            "<script>",
            "</script>",
            "<body>",
            "</head>",
            " ",
            "\n",
            "\0",
            "\u{feff}",
            "text",
            "é",
            "/",
        ]);
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn nothing_else_ever_changes(html in pieces()) {
            let tag = "<script src=\"@\"></script>";
            let injected = inject(html.as_bytes(), tag);
            let place = place(html.as_bytes());
            let (before, after) = html.as_bytes().split_at(place);
            prop_assert_eq!(injected, [before, tag.as_bytes(), after].concat());
        }

        #[test]
        fn whatever_bytes_it_is_given_it_only_adds(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
            let injected = inject(&bytes, "@");
            let place = place(&bytes);
            prop_assert_eq!(injected.len(), bytes.len() + 1);
            prop_assert_eq!(&injected[..place], &bytes[..place]);
            prop_assert_eq!(&injected[place + 1..], &bytes[place..]);
        }

        #[test]
        fn a_script_that_a_browser_would_run_is_never_in_front(before in "[ \n]{0,3}", html in pieces()) {
            let html = format!("{before}<script>{html}");
            prop_assert_eq!(place(html.as_bytes()), 0);
        }
    }
}
