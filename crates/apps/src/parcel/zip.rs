//! What is in a zip file.

use std::io::{Cursor, Read as _};

use ::zip::ZipArchive;

use super::{FILES, Parcel, odd, shown};

/// Of every file that is listed, also those that are left out.
const LISTED: usize = 4 * FILES;

pub fn unpack(bytes: &[u8]) -> Result<Parcel, String> {
    let broken = |error: &dyn std::fmt::Display| format!("the zip file cannot be read: {error}");
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    if archive.len() > LISTED {
        return Err(format!("it holds more than {FILES} files"));
    }
    let mut parcel = Parcel::default();
    for nth in 0..archive.len() {
        let mut file = archive.by_index(nth).map_err(|error| broken(&error))?;
        let Ok(path) = std::str::from_utf8(file.name_raw()).map(str::to_owned) else {
            return Err("a path in it is not UTF-8".into());
        };
        if file.is_symlink() {
            return Err(odd(&path));
        }
        let kind = file.unix_mode().map(|mode| mode & 0o17_0000);
        if kind.is_some_and(|kind| !matches!(kind, 0 | 0o10_0000 | 0o04_0000)) {
            return Err(odd(&path));
        }
        if path.ends_with('/') {
            if file.size() > 0 {
                return Err(format!("the folder `{}` has content", shown(&path)));
            }
            continue;
        }
        parcel.take(&path, &mut file.by_ref())?;
    }
    Ok(parcel)
}
