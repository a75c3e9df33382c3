//! The API key: one line in a file only its owner may read.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// A key is recognisable wherever it turns up by accident.
const PREFIX: &str = "mgr_";

/// Read anew whenever the file changes, so that a new key or its withdrawal takes effect at once.
pub struct Keys {
    path: PathBuf,
    known: Mutex<Option<Known>>,
}

struct Known {
    stamp: (u64, i64, i64),
    key: Option<String>,
}

impl Keys {
    /// Makes the first key if there has never been a file.
    pub fn open(path: PathBuf) -> io::Result<Self> {
        let keys = Self { path, known: Mutex::default() };
        if let Err(error) = fs::metadata(&keys.path) {
            if error.kind() != ErrorKind::NotFound {
                return Err(error);
            }
            keys.renew()?;
        }
        Ok(keys)
    }

    /// The key in force; none after it was revoked.
    pub fn show(&self) -> io::Result<Option<String>> {
        let text = fs::read_to_string(&self.path)?;
        let key = text.trim();
        Ok((!key.is_empty()).then(|| key.to_owned()))
    }

    /// Replaces the key. Whoever used the old one, or logged in with it, is out.
    pub fn renew(&self) -> io::Result<String> {
        let key = format!("{PREFIX}{}", secret()?);
        self.write(&key)?;
        Ok(key)
    }

    /// Withdraws the key. The empty file stays, so that the next start makes no new one.
    pub fn revoke(&self) -> io::Result<()> {
        self.write("")
    }

    /// Takes the same time whatever is presented.
    pub fn accepts(&self, presented: &str) -> bool {
        let digest = |text: &str| Sha256::digest(text.as_bytes());
        self.with(|key| bool::from(digest(key).ct_eq(&digest(presented)))).unwrap_or(false)
    }

    /// A seal on `message` that only this key makes.
    pub fn seal(&self, message: &str) -> Option<String> {
        self.with(|key| {
            let mac = mac(key, message)?;
            Some(URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
        })?
    }

    pub fn sealed(&self, message: &str, seal: &str) -> bool {
        let Ok(seal) = URL_SAFE_NO_PAD.decode(seal) else { return false };
        let checked = self.with(|key| mac(key, message).map(|mac| mac.verify_slice(&seal).is_ok()));
        checked.flatten().unwrap_or(false)
    }

    fn with<T>(&self, use_key: impl FnOnce(&str) -> T) -> Option<T> {
        let metadata = fs::metadata(&self.path).ok()?;
        let stamp = (metadata.ino(), metadata.mtime(), metadata.mtime_nsec());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|known| known.stamp != stamp) {
            let key = self.show().ok()?;
            *known = Some(Known { stamp, key });
        }
        known.as_ref()?.key.as_deref().map(use_key)
    }

    /// A new file moved into place: never half written, never readable by others.
    fn write(&self, key: &str) -> io::Result<()> {
        let temporary = self.path.with_extension(format!("{}.new", std::process::id()));
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        file.write_all(format!("{key}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, &self.path)
    }
}

fn mac(key: &str, message: &str) -> Option<Hmac<Sha256>> {
    // A key of any length will do: this cannot fail.
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).ok()?;
    mac.update(message.as_bytes());
    Some(mac)
}

/// 256 bits nobody can guess, fit for a URL.
pub fn secret() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn keys() -> (tempfile::TempDir, Keys) {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::open(folder.path().join("key")).unwrap();
        (folder, keys)
    }

    #[test]
    fn the_first_start_makes_a_key_only_its_owner_can_read() {
        let (folder, keys) = keys();
        let key = keys.show().unwrap().unwrap();
        assert!(key.starts_with("mgr_") && key.len() == 47, "{key}");
        let mode = fs::metadata(folder.path().join("key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = Keys::open(folder.path().join("key")).unwrap();
        assert_eq!(again.show().unwrap().unwrap(), key, "the second start keeps it");
    }

    #[test]
    fn a_new_key_replaces_the_old_one_at_once() {
        let (_folder, keys) = keys();
        let old = keys.show().unwrap().unwrap();
        let seal = keys.seal("hello").unwrap();
        assert!(keys.accepts(&old) && keys.sealed("hello", &seal));
        let new = keys.renew().unwrap();
        assert!(keys.accepts(&new) && !keys.accepts(&old) && !keys.sealed("hello", &seal));
        keys.revoke().unwrap();
        assert!(!keys.accepts(&new) && !keys.accepts("") && keys.seal("hello").is_none());
    }

    #[test]
    fn a_seal_is_good_for_one_message() {
        let (_folder, keys) = keys();
        let seal = keys.seal("hello").unwrap();
        for (message, seal) in
            [("hallo", seal.as_str()), ("hello", ""), ("hello", "!"), ("", "AAAA")]
        {
            assert!(!keys.sealed(message, seal), "{message} {seal}");
        }
    }
}
