//! What is in a tar file that was packed with gzip.

use std::io::Read as _;

use ::tar::{Archive, EntryType};
use flate2::read::MultiGzDecoder;

use super::{BYTES, FILES, Parcel, odd};

/// Headers and padding come on top of what the files hold.
const STREAM: u64 = BYTES + 4 * FILES as u64 * 1024;

pub fn unpack(bytes: &[u8]) -> Result<Parcel, String> {
    let broken = |error: std::io::Error| format!("the tar file cannot be read: {error}");
    let mut archive = Archive::new(MultiGzDecoder::new(bytes).take(STREAM));
    let mut parcel = Parcel::default();
    for (nth, entry) in archive.entries().map_err(broken)?.enumerate() {
        if nth > 4 * FILES {
            return Err(format!("it holds more than {FILES} files"));
        }
        let mut entry = entry.map_err(broken)?;
        let Ok(path) = std::str::from_utf8(&entry.path_bytes()).map(str::to_owned) else {
            return Err("a path in it is not UTF-8".into());
        };
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => parcel.take(&path, &mut entry)?,
            EntryType::Directory | EntryType::XGlobalHeader => (),
            _ => return Err(odd(&path)),
        }
    }
    Ok(parcel)
}
