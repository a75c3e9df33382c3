//! The key that push services know this house by: RFC 8292. Made when it is first needed.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use serde_json::json;

/// How long what we sign is good for; a push service takes a day at most.
const SECONDS: i64 = 12 * 60 * 60;
/// Whom to write to about us, where the owner names nobody: services ask for an address all the same.
const CONTACT: &str = "mailto:nobody@example.com";
const FILE: &str = "push-key";

pub struct Vapid {
    path: PathBuf,
    /// An address of mail, or of a page.
    contact: String,
    known: Mutex<Option<Vec<u8>>>,
}

impl Vapid {
    pub fn new(data_dir: &Path, contact: Option<String>) -> Self {
        let contact = contact.unwrap_or_else(|| CONTACT.to_owned());
        Self { path: data_dir.join(FILE), contact, known: Mutex::default() }
    }

    /// What a browser is told, so that nobody else can send to its subscription.
    pub fn public(&self) -> io::Result<String> {
        Ok(URL_SAFE_NO_PAD.encode(self.pair()?.public_key()))
    }

    /// The `Authorization` of a request to a push service of this origin.
    pub fn authorization(&self, origin: &str, now: Timestamp) -> io::Result<String> {
        let pair = self.pair()?;
        let expiry = now.as_second() + SECONDS;
        let claims = json!({ "aud": origin, "exp": expiry, "sub": self.contact });
        let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let said = format!("{}.{}", part(&json!({ "typ": "JWT", "alg": "ES256" })), part(&claims));
        let signature = pair.sign(&SystemRandom::new(), said.as_bytes());
        let signature = signature.map_err(|_| io::Error::other("nothing can be signed"))?;
        let signature = URL_SAFE_NO_PAD.encode(signature);
        let public = URL_SAFE_NO_PAD.encode(pair.public_key());
        Ok(format!("vapid t={said}.{signature}, k={public}"))
    }

    fn pair(&self) -> io::Result<EcdsaKeyPair> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = match known.take() {
            Some(bytes) => bytes,
            None => self.read_or_make()?,
        };
        let pair = EcdsaKeyPair::from_pkcs8(
            &ECDSA_P256_SHA256_FIXED_SIGNING,
            &bytes,
            &SystemRandom::new(),
        );
        let pair = pair.map_err(|_| {
            io::Error::other(format!(
                "{} holds no key; remove it for a new one",
                self.path.display()
            ))
        })?;
        *known = Some(bytes);
        Ok(pair)
    }

    fn read_or_make(&self) -> io::Result<Vec<u8>> {
        match fs::read_to_string(&self.path) {
            Ok(text) => return URL_SAFE_NO_PAD.decode(text.trim()).map_err(io::Error::other),
            Err(error) if error.kind() == ErrorKind::NotFound => (),
            Err(error) => return Err(error),
        }
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        let made = made.map_err(|_| io::Error::other("no key can be made"))?;
        // Moved into place: never half written, never readable by others.
        let temporary = self.path.with_extension(format!("{}.new", std::process::id()));
        let mut options = OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(format!("{}\n", URL_SAFE_NO_PAD.encode(&made)).as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, &self.path)?;
        Ok(made.as_ref().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_key_is_made_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let public = Vapid::new(folder.path(), None).public().unwrap();
        assert_eq!(Vapid::new(folder.path(), None).public().unwrap(), public);
        let mode = fs::metadata(folder.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(folder.path().join(FILE), "nonsense").unwrap();
        let broken = Vapid::new(folder.path(), None).public().unwrap_err().to_string();
        assert!(broken.ends_with("holds no key; remove it for a new one"), "{broken}");
    }
}
