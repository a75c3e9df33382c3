//! What a lasting yes could be about, suggested from what is asked.

use std::net::IpAddr;

use kernel::{approvals::fits, toolbox::Detail};

/// Patterns that cover all of these subjects, from narrow to wide.
pub fn suggest(detail: &Detail, subjects: &[String]) -> Vec<String> {
    let Some(first) = subjects.first() else { return Vec::new() };
    let wider = match detail {
        Detail::Command { .. } => first_word(first),
        Detail::Change { .. } => folders(first),
        Detail::Address { .. } => domain(first),
        Detail::Arguments { .. } => Vec::new(),
    };
    // A star in what is asked would stand for anything, and so mean more than was asked.
    let exact = Some(first.clone()).filter(|it| !it.contains('*'));
    let wider = wider.into_iter().filter(|it| it.matches('*').count() == 1);
    let covers = |pattern: &String| subjects.iter().all(|it| fits(pattern, it));
    exact.into_iter().chain(wider).filter(covers).collect()
}

fn first_word(command: &str) -> Vec<String> {
    // A line that is more than plain words stands under `$`, which says nothing about it.
    let word = command.split_whitespace().next().filter(|word| *word != "$");
    word.map(|word| format!("{word} *")).into_iter().collect()
}

/// The folder it lies in, and the outermost of those it names.
fn folders(path: &str) -> Vec<String> {
    let Some((inner, _)) = path.rsplit_once('/').filter(|(inner, _)| !inner.is_empty()) else {
        return Vec::new();
    };
    let outer = inner.split('/').next().filter(|outer| !outer.is_empty() && *outer != inner);
    [Some(inner), outer].into_iter().flatten().map(|folder| format!("{folder}/*")).collect()
}

/// Every name under the same domain, unless that would be names of strangers, too.
fn domain(host: &str) -> Vec<String> {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
        return Vec::new();
    }
    let Some((_, domain)) = host.split_once('.') else { return Vec::new() };
    let owned = domain.split('.').next().is_some_and(|label| label.len() > 3);
    let deep = domain.matches('.').count();
    // Two short labels, as in `co.uk`, are mostly nobody's own.
    let whole = deep > 1 || (deep == 1 && owned);
    whole.then(|| format!("*.{domain}")).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn command(lines: &[&str]) -> Vec<String> {
        let detail = Detail::Command {
            command: String::new(),
            cwd: String::new(),
            sandboxed: false,
            why_not: None,
        };
        suggest(&detail, &lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_line_that_is_not_plain_is_suggested_only_as_it_is() {
        assert_eq!(command(&["$ echo hi > a.txt"]), ["$ echo hi > a.txt"]);
    }

    fn path(path: &str) -> Vec<String> {
        suggest(&Detail::Change { path: String::new(), diff: String::new() }, &[path.to_owned()])
    }

    fn host(host: &str) -> Vec<String> {
        suggest(&Detail::Address { url: String::new() }, &[host.to_owned()])
    }

    #[test]
    fn a_command_is_suggested_exactly_and_by_its_first_word() {
        assert_eq!(command(&["git status --short"]), ["git status --short", "git *"]);
        assert_eq!(command(&["ls"]), ["ls"]);
        assert_eq!(command(&["git add .", "git push"]), ["git *"]);
        assert_eq!(command(&["git add .", "rm a"]), [""; 0], "no one pattern covers both");
        assert_eq!(command(&[]), [""; 0]);
    }

    #[test]
    fn a_star_that_was_asked_for_is_no_wildcard() {
        assert_eq!(command(&["rm *.tmp"]), ["rm *"]);
        assert_eq!(command(&["./* now"]), [""; 0]);
        assert_eq!(path("a*/b"), [""; 0]);
    }

    #[test]
    fn a_file_is_suggested_with_the_folders_around_it() {
        assert_eq!(path("notes.md"), ["notes.md"]);
        assert_eq!(path("src/main.rs"), ["src/main.rs", "src/*"]);
        assert_eq!(path("src/a/b/c.rs"), ["src/a/b/c.rs", "src/a/b/*", "src/*"]);
        assert_eq!(path("/etc/hosts"), ["/etc/hosts", "/etc/*"]);
        assert_eq!(path("/hosts"), ["/hosts"]);
    }

    #[test]
    fn a_host_is_suggested_with_its_domain_if_that_is_somebodys_own() {
        assert_eq!(host("docs.example.com"), ["docs.example.com", "*.example.com"]);
        assert_eq!(host("www.shop.co.uk"), ["www.shop.co.uk", "*.shop.co.uk"]);
        for alone in ["example.com", "shop.co.uk", "localhost", "127.0.0.1:80", "[::1]:80", "::1"] {
            assert_eq!(host(alone), [alone]);
        }
    }

    #[test]
    fn other_arguments_are_suggested_as_they_are() {
        let detail = Detail::Arguments { args: Value::Null };
        assert_eq!(suggest(&detail, &["a b".to_owned()]), ["a b"]);
    }
}
