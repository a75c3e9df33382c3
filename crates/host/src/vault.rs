//! The keyring of this machine, asked on a thread of its own so that nobody waits for it for long.

use std::{collections::BTreeMap, path::Path, sync::mpsc, thread, time::Duration};

use keyring::{Entry, Error};

/// A keyring that is there answers at once, unless it waits for somebody to unlock it.
const PATIENCE: Duration = Duration::from_secs(3);
const SERVICE: &str = "megaron";

/// How the place is called.
pub const NAME: &str = "the keyring";

#[derive(Debug, thiserror::Error)]
#[error("the keyring of this machine cannot be used: {0}")]
pub struct Unusable(String);

/// Whether there is one.
pub fn reach() -> Result<(), Unusable> {
    bounded(status)?
}

pub fn keep(data_dir: &Path, name: &str, secret: &str) -> Result<(), Unusable> {
    let (user, secret) = (user(data_dir, name), secret.to_owned());
    bounded(move || entry(&user)?.set_password(&secret).map_err(|error| unusable(&error)))?
}

/// Says whether there was one.
pub fn forget(data_dir: &Path, name: &str) -> Result<bool, Unusable> {
    let user = user(data_dir, name);
    bounded(move || match entry(&user)?.delete_credential() {
        Ok(()) => Ok(true),
        Err(Error::NoEntry) => Ok(false),
        Err(error) => Err(unusable(&error)),
    })?
}

/// What is kept for these, or why it cannot be had; in words that say what to do.
pub fn read(data_dir: &Path, names: &[&String]) -> BTreeMap<String, Result<String, String>> {
    if names.is_empty() {
        return BTreeMap::new();
    }
    let wanted: Vec<(String, String)> =
        names.iter().map(|name| ((*name).clone(), user(data_dir, name))).collect();
    let look = move || {
        let found = wanted.into_iter().map(|(name, user)| {
            let found = find(&user);
            (name, found)
        });
        found.collect::<Vec<_>>()
    };
    // All of them within one wait: a keyring that is silent is silent for everybody.
    let found = bounded(look);
    let found = found.unwrap_or_else(|silent| {
        let failed = |name: &&String| ((*name).clone(), Err(Unusable(silent.0.clone())));
        names.iter().map(failed).collect()
    });
    let told = |(name, found): (String, Result<Option<String>, Unusable>)| {
        let told = match found {
            Ok(Some(secret)) => Ok(secret),
            Ok(None) => Err(format!(
                "the keyring holds none for `{name}`; `megaron key set {name} --keyring` puts one there"
            )),
            Err(error) => Err(format!("{error}; {}", instead(&name))),
        };
        (name, told)
    };
    found.into_iter().map(told).collect()
}

/// What to do without one.
pub fn instead(name: &str) -> String {
    format!("`megaron key set {name}` keeps the key in a file instead")
}

fn find(user: &str) -> Result<Option<String>, Unusable> {
    match entry(user)?.get_password() {
        Ok(secret) => Ok(Some(secret)),
        Err(Error::NoEntry) => Ok(None),
        Err(error) => Err(unusable(&error)),
    }
}

/// Two data directories do not share a key, as they share nothing else.
fn user(data_dir: &Path, name: &str) -> String {
    let data_dir = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
    format!("{name} ({})", data_dir.display())
}

fn status() -> Result<(), Unusable> {
    Entry::store_status().as_ref().map_err(unusable).copied()
}

fn entry(user: &str) -> Result<Entry, Unusable> {
    status()?;
    Entry::new(SERVICE, user).map_err(|error| unusable(&error))
}

/// Some of these errors hold what was read, so only those are shown that do not.
fn unusable(error: &Error) -> Unusable {
    Unusable(match error {
        Error::PlatformFailure(cause) => format!("there is none, or it fails ({cause})"),
        Error::NoStorageAccess(_) => "it is locked".to_owned(),
        Error::TooLong(..) | Error::Invalid(..) | Error::NotSupportedByStore(_) => {
            error.to_string()
        }
        Error::Ambiguous(_) => "it holds more than one such key".to_owned(),
        _ => "what it holds is not a key".to_owned(),
    })
}

/// A thread that is never answered is left behind.
fn bounded<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Unusable> {
    let (done, answer) = mpsc::channel();
    let begun = thread::Builder::new().name(SERVICE.into()).spawn(move || {
        // Whoever asked may have given up.
        done.send(work()).ok();
    });
    begun.map_err(|error| Unusable(error.to_string()))?;
    answer.recv_timeout(PATIENCE).map_err(|_| {
        let seconds = PATIENCE.as_secs();
        Unusable(format!("it does not answer within {seconds} s; if it is locked, unlock it"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_holds_what_was_read_does_not_show_it() {
        let read = Error::BadDataFormat(b"s3cret".to_vec(), "s3cret is odd".into());
        for error in [read, Error::BadEncoding(b"s3cret".to_vec())] {
            let told = unusable(&error).to_string();
            assert!(!told.contains("s3cret"), "{told}");
        }
    }

    #[test]
    fn homes_do_not_share_their_keys() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert_ne!(user(one.path(), "mine"), user(other.path(), "mine"));
        let link = other.path().join("link");
        std::os::unix::fs::symlink(one.path(), &link).unwrap();
        assert_eq!(user(one.path(), "mine"), user(&link, "mine"), "one home by two names");
    }

    #[test]
    fn nothing_is_asked_for_nobody() {
        assert_eq!(read(Path::new("/"), &[]), BTreeMap::new());
    }
}
