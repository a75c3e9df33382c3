//! What a command is told of our environment: a short list, and never a secret of ours.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

const KNOWN: &[&str] = &["PATH", "HOME", "LANG", "USER", "LOGNAME", "TMPDIR", "TZ", "SHELL"];

pub type Variables = Vec<(OsString, OsString)>;

/// Of all variables, those on the list and those that the person has `named`.
pub fn clean(all: impl Iterator<Item = (OsString, OsString)>, named: &[String]) -> Variables {
    let kept = all.filter(|(name, _)| {
        let Some(name) = name.to_str() else { return false };
        let listed = KNOWN.contains(&name) || name.starts_with("LC_");
        (listed || named.iter().any(|it| it == name)) && !name.starts_with("MEGARON_")
    });
    kept.map(|(name, value)| {
        let value = if name == "PATH" { absolute(&value) } else { value };
        (name, value)
    })
    .collect()
}

/// Without the places that depend on where one is: a file of the session could pass for a program.
fn absolute(path: &OsStr) -> OsString {
    let places = std::env::split_paths(path).filter(|place: &_| Path::is_absolute(place));
    std::env::join_paths(places).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_or_named_is_passed_on() {
        let all = [
            ("PATH", "/bin:.::/usr/bin:bin"),
            ("LC_ALL", "C"),
            ("OPENAI_API_KEY", "secret"),
            ("MEGARON_TOKEN", "secret"),
            ("BASH_ENV", "/tmp/x"),
            ("FOO", "1"),
            ("FOOD", "2"),
        ];
        let all = all.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let named = ["FOO".to_owned(), "MEGARON_TOKEN".to_owned()];
        let expected = [("PATH", "/bin:/usr/bin"), ("LC_ALL", "C"), ("FOO", "1")];
        let expected = expected.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        assert_eq!(clean(all.into_iter(), &named), expected);
    }
}
