//! What servers must be shown and nobody else may see: a sealed file each, for its owner alone.

use std::{
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom as _, SystemRandom},
};
use serde::{Serialize, de::DeserializeOwned};

const KEY_LEN: usize = 32;

/// The files are sealed with a key that lies beside their folder, so that one that gets into other
/// hands, as in a backup of the folder, says nothing.
#[derive(Clone)]
pub struct Vault {
    folder: PathBuf,
}

impl Vault {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// What was kept under this name; what can no longer be read counts as absent.
    pub fn load<T: DeserializeOwned>(&self, name: &str) -> io::Result<Option<T>> {
        let Some(sealed) = found(&self.folder.join(name))? else { return Ok(None) };
        let Some(key) = found(&self.key_file())? else { return Ok(None) };
        Ok(open(&key, name, sealed).and_then(|text| serde_json::from_slice(&text).ok()))
    }

    pub fn save(&self, name: &str, value: &impl Serialize) -> io::Result<()> {
        private_folder(&self.folder)?;
        let sealed = seal(&self.key()?, name, serde_json::to_vec(value)?)?;
        write(&self.folder.join(name), &sealed)
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn key_file(&self) -> PathBuf {
        self.folder.with_extension("seal")
    }

    /// The key; makes one the first time.
    fn key(&self) -> io::Result<Vec<u8>> {
        if let Some(key) = found(&self.key_file())?.filter(|key| key.len() == KEY_LEN) {
            return Ok(key);
        }
        let key = random::<KEY_LEN>()?.to_vec();
        write(&self.key_file(), &key)?;
        Ok(key)
    }
}

fn found(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}

/// Whole or not at all, for its owner alone.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(bytes)?;
    // Else a power cut could leave the new name without its content.
    file.sync_all()?;
    fs::rename(draft, path)
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| io::Error::other("this machine gives no random numbers"))?;
    Ok(bytes)
}

fn sealing(key: &[u8]) -> Option<LessSafeKey> {
    Some(LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, key).ok()?))
}

/// A nonce and what it was sealed with; bound to its name, so that files cannot be swapped.
fn seal(key: &[u8], name: &str, mut text: Vec<u8>) -> io::Result<Vec<u8>> {
    let nonce = random::<NONCE_LEN>()?;
    let sealed = sealing(key).and_then(|key| {
        let nonce = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(nonce, Aad::from(name.as_bytes()), &mut text).ok()
    });
    sealed.ok_or_else(|| io::Error::other("it cannot be sealed"))?;
    Ok([nonce.to_vec(), text].concat())
}

fn open(key: &[u8], name: &str, mut sealed: Vec<u8>) -> Option<Vec<u8>> {
    let (nonce, text) = sealed.split_at_mut_checked(NONCE_LEN)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let text = sealing(key)?.open_in_place(nonce, Aad::from(name.as_bytes()), text).ok()?;
    Some(text.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::new(dir.path().join("secrets/mcp"));
        assert_eq!(vault.load::<String>("a").unwrap(), None);
        vault.save("a", &"s3cret").unwrap();
        assert_eq!(vault.load::<String>("a").unwrap(), Some("s3cret".into()));
        let sealed = fs::read(dir.path().join("secrets/mcp/a")).unwrap();
        assert!(!sealed.windows(6).any(|it| it == b"s3cret"), "it is sealed");
        let mode =
            |path: &str| fs::metadata(dir.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("secrets/mcp/a"), mode("secrets/mcp")), (0o600, 0o700));
        assert_eq!(mode("secrets/mcp.seal"), 0o600);
        vault.remove("a").unwrap();
        vault.remove("a").unwrap();
        assert_eq!(fs::read_dir(dir.path().join("secrets/mcp")).unwrap().count(), 0);
    }

    #[test]
    fn what_was_tampered_with_or_belongs_elsewhere_counts_as_absent() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::new(dir.path().join("mcp"));
        vault.save("a", &"s3cret").unwrap();
        let file = |name: &str| dir.path().join("mcp").join(name);
        fs::copy(file("a"), file("b")).unwrap();
        assert_eq!(vault.load::<String>("b").unwrap(), None, "another's");
        let mut sealed = fs::read(file("a")).unwrap();
        for at in 0..sealed.len() {
            sealed[at] ^= 1;
            fs::write(file("a"), &sealed).unwrap();
            assert_eq!(vault.load::<String>("a").unwrap(), None, "changed at {at}");
            sealed[at] ^= 1;
        }
        fs::write(file("a"), b"short").unwrap();
        assert_eq!(vault.load::<String>("a").unwrap(), None);
        fs::write(file("a"), &sealed).unwrap();
        fs::remove_file(dir.path().join("mcp.seal")).unwrap();
        assert_eq!(vault.load::<String>("a").unwrap(), None, "without its key");
    }
}
