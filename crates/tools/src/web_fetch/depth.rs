//! How deeply a page is nested, roughly: the time to read one grows with the square of that.

use std::collections::HashMap;

/// Never open for long: they have no end tag, or need none.
const SHALLOW: &[&str] = &[
    "area", "base", "body", "br", "col", "dd", "dt", "embed", "head", "hr", "html", "img", "input",
    "li", "link", "meta", "option", "p", "param", "source", "tbody", "td", "tfoot", "th", "thead",
    "tr", "track", "wbr",
];

/// The most elements that are open at once.
pub fn depth(html: &str) -> usize {
    let mut open: HashMap<String, usize> = HashMap::new();
    let (mut now, mut most) = (0, 0);
    for tag in html.split('<').skip(1) {
        let (name, ends) = tag.strip_prefix('/').map_or((tag, false), |name| (name, true));
        let length = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let name = name[..length.unwrap_or(name.len())].to_ascii_lowercase();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || SHALLOW.contains(&&*name) {
            continue;
        }
        let count = open.entry(name).or_default();
        if !ends {
            *count += 1;
            now += 1;
        } else if *count > 0 {
            // The end of what was never begun ends nothing.
            *count -= 1;
            now -= 1;
        }
        most = most.max(now);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_at_once_is_counted() {
        for (html, expected) in [
            ("", 0),
            ("a < b <3 <!-- x -->", 0),
            ("<div><B>x</b></div><div></div>", 2),
            ("<p>a<p>b<br><img src=x><li>c", 0),
            ("<div></x><div></x><div></x>", 3),
            ("<my-tag a='1'><my-tag>", 2),
        ] {
            assert_eq!(depth(html), expected, "{html}");
        }
    }
}
