//! A key to somebody's account, which cannot be shown by accident.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What stands in its place.
const HIDDEN: &str = "[key]";
/// Anything shorter is a placeholder such as `x`, and would be found in ordinary words.
const SHORTEST: usize = 4;

#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    value: Arc<str>,
}

/// What came of it when somebody else looked for a key, and where that was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub secret: Result<Secret, SecretError>,
    pub from: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    #[error("the environment variable {0} is not set; put the key there and start again")]
    Unset(String),
    #[error("the key file {path} cannot be read: {reason}", path = .0.display(), reason = .1)]
    Unreadable(PathBuf, String),
    #[error("others can read the key file {path}; run `chmod 600 {path}`", path = .0.display())]
    Exposed(PathBuf),
    #[error("the key file {path} holds no key", path = .0.display())]
    Empty(PathBuf),
    #[error("the key from {0} has characters that no key has; copy it again")]
    Malformed(String),
    /// In the words of whoever looked for it.
    #[error("{0}")]
    NotGiven(String),
}

impl Given {
    pub fn new(found: Result<&str, String>, from: &str) -> Self {
        let secret = match found {
            Ok(value) => Secret::new(value).checked(from),
            Err(why) => Err(SecretError::NotGiven(why)),
        };
        Self { secret, from: from.to_owned() }
    }
}

impl Secret {
    pub fn new(value: &str) -> Self {
        Self { value: value.trim().into() }
    }

    pub fn from_env(
        name: &str,
        env: &impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SecretError> {
        let value = env(name).filter(|value| !value.trim().is_empty());
        let value = value.ok_or_else(|| SecretError::Unset(name.to_owned()))?;
        Self::new(&value).checked(name)
    }

    /// Reads a file that nobody else can read.
    pub fn from_file(path: &Path) -> Result<Self, SecretError> {
        let unreadable =
            |error: std::io::Error| SecretError::Unreadable(path.to_owned(), error.to_string());
        let found = fs::metadata(path).map_err(unreadable)?;
        if !is_private(&found) {
            return Err(SecretError::Exposed(path.to_owned()));
        }
        let value = fs::read_to_string(path).map_err(unreadable)?;
        if value.trim().is_empty() {
            return Err(SecretError::Empty(path.to_owned()));
        }
        Self::new(&value).checked(&path.display().to_string())
    }

    /// A key travels in a header, where nothing else is allowed.
    fn checked(self, from: &str) -> Result<Self, SecretError> {
        let is_plain = self.value.bytes().all(|byte| byte.is_ascii_graphic());
        if is_plain { Ok(self) } else { Err(SecretError::Malformed(from.to_owned())) }
    }

    pub(crate) fn expose(&self) -> &str {
        &self.value
    }

    /// The text without the key.
    pub fn redact(&self, text: &str) -> String {
        if self.value.len() < SHORTEST {
            return text.to_owned();
        }
        text.replace(&*self.value, HIDDEN)
    }
}

#[cfg(unix)]
fn is_private(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let others = found.permissions().mode() & 0o077;
    others == 0
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown() {
        let secret = Secret::new(" sk-very-secret\n");
        assert_eq!(format!("{secret} {secret:?} {:?}", Some(&secret)), "[key] [key] Some([key])");
        assert_eq!(secret.redact("no such key: sk-very-secret!"), "no such key: [key]!");
        assert_eq!(Secret::new("x").redact("exact"), "exact");
    }

    #[test]
    fn an_unset_variable_is_named() {
        let error = Secret::from_env("MY_KEY", &|_| Some("  ".into())).unwrap_err();
        assert_eq!(error, SecretError::Unset("MY_KEY".into()));
        let error = Secret::from_env("MY_KEY", &|_| Some("two words".into())).unwrap_err();
        assert!(!error.to_string().contains("two words"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        fs::write(&path, "sk-very-secret\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = Secret::from_file(&path).unwrap_err().to_string();
        assert!(error.contains("chmod 600") && !error.contains("sk-very"), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Secret::from_file(&path).unwrap().expose(), "sk-very-secret");
        fs::write(&path, "\n").unwrap();
        assert_eq!(Secret::from_file(&path).unwrap_err(), SecretError::Empty(path.clone()));
        fs::remove_file(&path).unwrap();
        assert!(matches!(Secret::from_file(&path), Err(SecretError::Unreadable(..))));
    }
}
