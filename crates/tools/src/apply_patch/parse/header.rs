//! What a patch says of a file before its lines: names, renames and modes.

use super::Reader;

#[derive(Debug, Default, PartialEq)]
pub struct Header {
    pub old: Option<String>,
    pub new: Option<String>,
    pub executable: Option<bool>,
}

/// What stands between `diff --git` and the names.
#[derive(Default)]
struct Extended {
    named: Option<String>,
    created: bool,
    deleted: bool,
    executable: Option<bool>,
    from: Option<String>,
    to: Option<String>,
}

type Names = (Option<String>, Option<String>);

impl Reader<'_> {
    pub fn header(&mut self) -> Result<Header, String> {
        let extended = self.extended()?;
        let names = self.names()?;
        let executable = extended.executable;
        let (old, new) = match (names, extended.from, extended.to) {
            (None, Some(from), Some(to)) => (Some(from), Some(to)),
            (Some((Some(old), Some(new))), Some(from), Some(to)) => {
                if (&old, &new) != (&from, &to) {
                    return self.wrong(&format!("`{from}` is renamed to `{to}`, not this one"));
                }
                (Some(old), Some(new))
            }
            (Some((Some(old), Some(new))), None, None) if old != new => {
                return self.wrong(&format!(
                    "these are two files, `{old}` and `{new}`; \
                     to rename one needs `rename from` and `rename to`"
                ));
            }
            (Some(names), None, None) => names,
            (None, None, None) => match extended.named {
                Some(name) if extended.created => (None, Some(name)),
                Some(name) if extended.deleted => (Some(name), None),
                Some(name) if executable.is_some() => (Some(name.clone()), Some(name)),
                _ => return self.wrong("nothing is said here about the file named before"),
            },
            _ => return self.wrong("`rename from` and `rename to` belong together"),
        };
        Ok(Header { old, new, executable })
    }

    fn extended(&mut self) -> Result<Extended, String> {
        let mut extended = Extended::default();
        let Some(names) = self.line().and_then(|line| line.strip_prefix("diff --git ")) else {
            return Ok(extended);
        };
        extended.named = same_name(names.trim_end());
        self.at += 1;
        while let Some(line) = self.line() {
            let line = line.trim_end_matches('\r');
            let after = |words: &str| line.strip_prefix(words);
            if let Some(mode) = after("new file mode ") {
                extended.created = true;
                extended.executable = self.mode(mode)?.then_some(true);
            } else if let Some(mode) = after("new mode ") {
                extended.executable = Some(self.mode(mode)?);
            } else if after("deleted file mode ").is_some() {
                extended.deleted = true;
            } else if let Some(name) = after("rename from ") {
                extended.from = Some(self.name(name)?);
            } else if let Some(name) = after("rename to ") {
                extended.to = Some(self.name(name)?);
            } else if after("copy ").is_some() {
                return self.wrong("files cannot be copied; add the new one with all its lines");
            } else if after("GIT binary ").or(after("Binary files ")).is_some() {
                return self.wrong("only text can be patched");
            } else if !["old mode ", "index ", "similarity ", "dissimilarity "]
                .iter()
                .any(|words| line.starts_with(words))
            {
                break;
            }
            self.at += 1;
        }
        Ok(extended)
    }

    /// Whether a file of this mode is executable.
    fn mode(&self, mode: &str) -> Result<bool, String> {
        match mode.trim() {
            "100644" | "100664" => Ok(false),
            "100755" | "100775" => Ok(true),
            _ => self.wrong("only regular files can be made, of mode 100644 or 100755"),
        }
    }

    /// The lines `---` and `+++`, if they are there.
    fn names(&mut self) -> Result<Option<Names>, String> {
        let old = self.line().and_then(|line| line.strip_prefix("--- "));
        let new = self.lines.get(self.at + 1).and_then(|line| line.strip_prefix("+++ "));
        let (Some(old), Some(new)) = (old, new) else { return Ok(None) };
        let old = self.side(old)?;
        self.at += 1;
        let new = self.side(new)?;
        if old.is_none() && new.is_none() {
            return self.wrong("`/dev/null` is no file");
        }
        self.at += 1;
        let bare = |name: &Option<String>, with: &str| match name {
            Some(name) => name.strip_prefix(with).map(|name| Some(name.to_owned())),
            None => Some(None),
        };
        match (bare(&old, "a/"), bare(&new, "b/")) {
            (Some(old), Some(new)) => Ok(Some((old, new))),
            _ => Ok(Some((old, new))),
        }
    }

    fn side(&self, name: &str) -> Result<Option<String>, String> {
        // A date may stand behind a tab.
        let name = name.split('\t').next().unwrap_or_default();
        let name = self.name(name.trim_end_matches('\r'))?;
        Ok((name != "/dev/null").then_some(name))
    }

    fn name(&self, name: &str) -> Result<String, String> {
        let Some(quoted) = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else {
            return Ok(name.to_owned());
        };
        match unquoted(quoted) {
            Some(name) => Ok(name),
            None => self.wrong("what is in quotation marks cannot be read"),
        }
    }
}

/// The name in `a/name b/name`.
fn same_name(names: &str) -> Option<String> {
    let (old, new) = if let Some((old, new)) = names.split_once("\" \"") {
        (unquoted(old.strip_prefix('"')?)?, unquoted(new.strip_suffix('"')?)?)
    } else {
        let (old, new) = names.split_at_checked(names.len() / 2)?;
        (old.to_owned(), new.strip_prefix(' ')?.to_owned())
    };
    let name = old.strip_prefix("a/")?;
    (new.strip_prefix("b/")? == name).then(|| name.to_owned())
}

/// Undoes what Git does to names with odd characters.
fn unquoted(name: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), name.bytes());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            quoted @ (b'"' | b'\\') => quoted,
            first => {
                let digits = [first, rest.next()?, rest.next()?];
                u8::from_str_radix(str::from_utf8(&digits).ok()?, 8).ok()?
            }
        });
    }
    String::from_utf8(bytes).ok()
}
