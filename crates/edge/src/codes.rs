//! Secrets that open a door once, and the device they were given to.

use std::{
    collections::HashMap,
    io,
    sync::{Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::{devices::Holder, keys::secret};

/// How long the printed login address waits for its first and only use.
const CODE_LIFE: SignedDuration = SignedDuration::from_hours(24);
const TOKEN_LIFE: SignedDuration = SignedDuration::from_secs(60);
/// How many unused codes are remembered.
const CODES: usize = 1000;

#[derive(Default)]
pub struct Codes(Mutex<HashMap<[u8; 32], Code>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Login,
    Socket,
}

struct Code {
    purpose: Purpose,
    expiry: Timestamp,
    /// Whose key it stands for.
    holder: Holder,
}

impl Codes {
    pub fn issue(&self, purpose: Purpose, holder: Holder, now: Timestamp) -> io::Result<String> {
        let secret = secret()?;
        let life = match purpose {
            Purpose::Login => CODE_LIFE,
            Purpose::Socket => TOKEN_LIFE,
        };
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|_, code| now < code.expiry);
        if codes.len() >= CODES {
            return Err(io::Error::other("too many unused codes"));
        }
        let code = Code { purpose, expiry: now + life, holder };
        codes.insert(Sha256::digest(secret.as_bytes()).into(), code);
        Ok(secret)
    }

    /// Whom it was given to; nothing if it opens nothing.
    pub fn redeem(&self, secret: &str, purpose: Purpose, now: Timestamp) -> Option<Holder> {
        let digest: [u8; 32] = Sha256::digest(secret.as_bytes()).into();
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let code = codes.get(&digest)?;
        if code.purpose != purpose || now >= code.expiry {
            return None;
        }
        match codes.remove(&digest)?.holder {
            Holder::Device(device) if *device.revocation().borrow() => None,
            holder => Some(holder),
        }
    }
}
