//! What servers must be shown and nobody else may see: a file each, for its owner alone.

use std::{
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::PathBuf,
};

use serde::{Serialize, de::DeserializeOwned};

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
        match fs::read(self.folder.join(name)) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn save(&self, name: &str, value: &impl Serialize) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        fs::set_permissions(&self.folder, Permissions::from_mode(0o700))?;
        let draft = self.folder.join(format!(".{name}.{}", std::process::id()));
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(&serde_json::to_vec(value)?)?;
        // Else a power cut could leave the new name without its content.
        file.sync_all()?;
        fs::rename(draft, self.folder.join(name))
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
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
        let mode =
            |path: &str| fs::metadata(dir.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("secrets/mcp/a"), mode("secrets/mcp")), (0o600, 0o700));
        vault.remove("a").unwrap();
        vault.remove("a").unwrap();
        assert_eq!(fs::read_dir(dir.path().join("secrets/mcp")).unwrap().count(), 0);
    }
}
